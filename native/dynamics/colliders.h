/* What the members of an ensemble meet: surfaces that they carry (their own, and what they wear), and obstacles. It makes one surface of all
   (contact/surface.h), hangs each on its member by a skin, and has the contact of the ensemble's world. */
#ifndef SN_DYNAMICS_COLLIDERS_H
#define SN_DYNAMICS_COLLIDERS_H

#include "contact/intersections.h"
#include "dynamics/embedded_skin.h"
#include "dynamics/ensemble.h"

typedef struct SnCollider {
    SnSurfacePart part;            /* without corners, weights and kinematic: they follow from what carries it */
    int is_obstacle;
    size_t member;                 /* that carries it, if it is none */
    const SnEmbedding *embedding;  /* in the member's cage; null: the member's own */
    SnInterpolation interpolation;
} SnCollider;

typedef struct SnCollidersDef {
    size_t count;
    const SnCollider *colliders; /* arrays are copied, embeddings are not */
    const unsigned char *meets;  /* count x count, symmetric: who may touch whom, and itself; null: all */
    SnContactSettings settings;
} SnCollidersDef;

typedef struct SnColliders SnColliders;

/* The ensemble must outlive it, and does not collide until it is switched on. */
SnStatus sn_colliders_create(SnContext *context, SnEnsemble *ensemble, const SnCollidersDef *def, SnColliders **colliders);
void sn_colliders_destroy(SnColliders *colliders);

/* The next interval: where the input has a surface in it, or where an obstacle goes, from begin to end. To be told of each before the ensemble
   advances; arrays must stay until then. */
void sn_colliders_lead(SnColliders *colliders, size_t collider, const SnInputCurve *surface);

/* From the next interval on. */
SnStatus sn_colliders_switch(SnContext *context, SnColliders *colliders, int is_on);

/* Edges that run through triangles, where the last interval ended. */
SnStatus sn_colliders_crossings(SnContext *context, SnColliders *colliders, size_t *count);

SnSurface *sn_colliders_surface(SnColliders *colliders);
SnContact *sn_colliders_contact(SnColliders *colliders);

#endif
