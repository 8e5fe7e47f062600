#include "dynamics/colliders.h"

#include "base/memory.h"

#include <string.h>

struct SnColliders {
    SnEnsemble *ensemble;
    SnSurface surface;
    size_t count;
    SnSkin *skins;            /* count, owned as all arrays */
    /* Of each, the one that it is: */
    SnEmbeddedSkin *embedded;
    SnPlainSkin *plain;
    SnObstacleSkin *obstacles;
    int32_t *numbers;         /* 0, 1, ...: the points of those that are their own vertices */
    SnContact *contact;
    SnCrossings crossings;
    int has_crossings;
};

/* What carries a surface, for as long as the surface is being made. */
typedef struct Carried {
    int32_t *corners;         /* points x 4 */
    double *weights;
    unsigned char *fixed;
    unsigned char *kinematic; /* points */
} Carried;

static void carried_clear(Carried *carried)
{
    sn_release(carried->corners);
    sn_release(carried->weights);
    sn_release(carried->fixed);
    sn_release(carried->kinematic);
}

static const SnEmbedding *embedding_of(const SnCollider *collider, const SnMember *member)
{
    return collider->embedding != NULL ? collider->embedding : member->embedding;
}

static SnStatus check_collider(SnContext *context, const SnEnsemble *ensemble, const SnCollider *collider)
{
    size_t first, points = collider->part.point_count;
    if (collider->is_obstacle) {
        return SN_OK;
    }
    if (collider->member >= sn_ensemble_size(ensemble)) {
        return sn_context_fail(context, SN_BAD_INPUT, "A colliding surface hangs on simulation %zu, but there are %zu.", collider->member,
                               sn_ensemble_size(ensemble));
    }
    const SnMember *member = sn_ensemble_member(ensemble, collider->member, &first);
    const SnEmbedding *embedding = embedding_of(collider, member);
    size_t carried = embedding != NULL ? embedding->vertex_count : member->world->vertex_count;
    if (points != carried) {
        return sn_context_fail(context, SN_BAD_INPUT, "A colliding surface has %zu vertices, but its simulation carries %zu.", points, carried);
    }
    return SN_OK;
}

/* Which of the world's vertices carry each point, and whether all of them follow the input. */
static SnStatus find_carried(SnContext *context, const SnEnsemble *ensemble, const SnCollider *collider, Carried *carried)
{
    SnStatus status = SN_OK;
    const SnWorld *world = sn_ensemble_world(ensemble);
    size_t first, points = collider->part.point_count;
    const SnMember *member = sn_ensemble_member(ensemble, collider->member, &first);
    const SnEmbedding *embedding = embedding_of(collider, member);
    SN_TRY_NEW(context, carried->corners, 4 * points, int32_t);
    SN_TRY_NEW(context, carried->weights, 4 * points, double);
    SN_TRY_NEW(context, carried->fixed, 4 * points, unsigned char);
    SN_TRY_NEW(context, carried->kinematic, points, unsigned char);
    for (size_t p = 0; p < points; p++) {
        carried->kinematic[p] = 1;
        for (size_t i = 0; i < 4; i++) {
            int32_t vertex = embedding != NULL ? member->cage->tets[4 * (size_t)embedding->tets[p] + i] : (int32_t)p;
            carried->corners[4 * p + i] = (int32_t)first + vertex;
            carried->weights[4 * p + i] = embedding != NULL ? embedding->weights[4 * p + i] : i == 0;
            carried->fixed[4 * p + i] = world->fixed[first + (size_t)vertex];
            carried->kinematic[p] &= carried->fixed[4 * p + i];
        }
    }
cleanup:
    return status;
}

static SnStatus build_surface(SnContext *context, const SnCollidersDef *def, SnColliders *colliders)
{
    SnStatus status = SN_OK;
    SnSurfacePart *parts = NULL;
    Carried *carried = NULL;
    SN_TRY_NEW(context, parts, def->count, SnSurfacePart);
    SN_TRY_NEW(context, carried, def->count, Carried);
    for (size_t k = 0; k < def->count; k++) {
        const SnCollider *collider = def->colliders + k;
        parts[k] = collider->part;
        SN_TRY(check_collider(context, colliders->ensemble, collider));
        if (!collider->is_obstacle) {
            SN_TRY(find_carried(context, colliders->ensemble, collider, carried + k));
            parts[k].corners = carried[k].corners;
            parts[k].weights = carried[k].weights;
            parts[k].fixed = carried[k].fixed;
            parts[k].kinematic = carried[k].kinematic;
        }
    }
    SN_TRY(sn_surface_init(context, def->count, parts, sn_ensemble_world(colliders->ensemble)->vertex_count, &colliders->surface));
    for (size_t k = 0; k < def->count * def->count && def->meets != NULL; k++) {
        sn_surface_set_meets(&colliders->surface, k / def->count, k % def->count, def->meets[k]);
    }
cleanup:
    for (size_t k = 0; carried != NULL && k < def->count; k++) {
        carried_clear(carried + k);
    }
    sn_release(carried);
    sn_release(parts);
    return status;
}

static SnStatus hang(SnContext *context, const SnCollider *collider, size_t number, SnColliders *colliders)
{
    SnStatus status = SN_OK;
    size_t first;
    if (collider->is_obstacle) {
        SnObstacleSkin *skin = colliders->obstacles + number;
        skin->point_count = collider->part.point_count;
        colliders->skins[number] = sn_obstacle_skin(skin);
        goto cleanup;
    }
    const SnMember *member = sn_ensemble_member(colliders->ensemble, collider->member, &first);
    const SnEmbedding *embedding = embedding_of(collider, member);
    if (embedding == NULL) {
        colliders->plain[number] = (SnPlainSkin){collider->part.point_count, colliders->numbers};
        colliders->skins[number] = sn_plain_skin(colliders->plain + number, first);
        goto cleanup;
    }
    SnEmbeddedSkin *skin = colliders->embedded + number;
    SN_TRY(sn_embedded_skin_init(context, member->cage, embedding, skin));
    skin->interpolation = collider->interpolation;
    skin->held = member->held != NULL ? member->held : sn_ensemble_world(colliders->ensemble)->fixed + first;
    colliders->skins[number] = sn_embedded_skin(skin, first);
cleanup:
    return status;
}

SnStatus sn_colliders_create(SnContext *context, SnEnsemble *ensemble, const SnCollidersDef *def, SnColliders **out)
{
    SnStatus status = SN_OK;
    SnColliders *colliders = NULL;
    size_t vertices = sn_ensemble_world(ensemble)->vertex_count;
    *out = NULL;
    SN_TRY_NEW(context, colliders, 1, SnColliders);
    colliders->ensemble = ensemble;
    colliders->count = def->count;
    SN_TRY_NEW(context, colliders->skins, def->count, SnSkin);
    SN_TRY_NEW(context, colliders->embedded, def->count, SnEmbeddedSkin);
    SN_TRY_NEW(context, colliders->plain, def->count, SnPlainSkin);
    SN_TRY_NEW(context, colliders->obstacles, def->count, SnObstacleSkin);
    SN_TRY_NEW(context, colliders->numbers, vertices, int32_t);
    for (size_t v = 0; v < vertices; v++) {
        colliders->numbers[v] = (int32_t)v;
    }
    SN_TRY(build_surface(context, def, colliders));
    for (size_t k = 0; k < def->count; k++) {
        SN_TRY(hang(context, def->colliders + k, k, colliders));
    }
    SN_TRY(sn_contact_create(context, sn_ensemble_world(ensemble), &colliders->surface, colliders->skins, &def->settings,
                             &colliders->contact));
    *out = colliders;
cleanup:
    if (status != SN_OK) {
        sn_colliders_destroy(colliders);
    }
    return status;
}

void sn_colliders_destroy(SnColliders *colliders)
{
    if (colliders == NULL) {
        return;
    }
    sn_crossings_clear(&colliders->crossings);
    sn_contact_destroy(colliders->contact);
    sn_surface_clear(&colliders->surface);
    for (size_t k = 0; colliders->embedded != NULL && k < colliders->count; k++) {
        sn_embedded_skin_clear(colliders->embedded + k);
    }
    sn_release(colliders->skins);
    sn_release(colliders->embedded);
    sn_release(colliders->plain);
    sn_release(colliders->obstacles);
    sn_release(colliders->numbers);
    sn_release(colliders);
}

void sn_colliders_lead(SnColliders *colliders, size_t collider, const SnInputCurve *surface)
{
    colliders->embedded[collider].surface = *surface;
    colliders->obstacles[collider].begin = surface->begin;
    colliders->obstacles[collider].end = surface->end;
}

SnStatus sn_colliders_switch(SnContext *context, SnColliders *colliders, int is_on)
{
    return sn_ensemble_collide(context, colliders->ensemble, is_on ? colliders->contact : NULL);
}

SnStatus sn_colliders_crossings(SnContext *context, SnColliders *colliders, size_t *count)
{
    SnStatus status = SN_OK;
    *count = 0;
    if (!colliders->has_crossings) {
        SN_TRY(sn_crossings_init(context, &colliders->surface, &colliders->crossings));
        colliders->has_crossings = 1;
    }
    SN_TRY(sn_crossings_find(context, &colliders->crossings, sn_contact_points(colliders->contact), 0));
    *count = colliders->crossings.count;
cleanup:
    return status;
}

SnSurface *sn_colliders_surface(SnColliders *colliders)
{
    return &colliders->surface;
}

SnContact *sn_colliders_contact(SnColliders *colliders)
{
    return colliders->contact;
}
