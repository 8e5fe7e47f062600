/* TRACKS: a thin shell that follows a guide on average. Its vertices are those of the mesh itself: membrane and hinges resist (methods,
   2; methods-contact-shells, C), some vertices follow the input exactly, some are driven to it, and exact rows keep weighted means of the
   positions where the guide has them. Everything finer is the material's own. */
#ifndef SN_METHOD_TRACKS_TRACKS_H
#define SN_METHOD_TRACKS_TRACKS_H

#include "dynamics/ensemble.h"
#include "dynamics/input_driver.h"

#define SN_TRACKS_RATE 240.0 /* substeps a second by themselves: a shell with fewer takes more rounds than it saves */

typedef struct SnTracksSettings {
    double poisson;
    double weft;       /* times as stiff across the warp as along it; with threads, as the next two */
    double weft_bend;  /* the same of bending */
    double shear;      /* 0..1: of the stiffness along threads, how stiff it is against shear as that of a body that is the same in all directions */
    double limit;      /* of strain, beyond which it hardly stretches; 0: none */
    double hardening;  /* m: see SnHinges */
    double air;        /* kg/m³ */
    double drag;       /* Rayleigh alpha, 1/s: of velocities against the input's */
    double damping;    /* Rayleigh beta, s: of strain and bending */
    double hold;       /* Hz: how firmly a weight of a half is driven to the input */
    double most_pull;  /* m/s²: what an average may give the mass that it holds, beyond which it lags; 0: any */
    double gravity[3]; /* m/s² */
    double interval;   /* seconds between two input frames */
    double size;       /* metres */
    int substeps;      /* per interval; 0: automatic */
    int newton_rounds; /* 0: until converged */
    double tolerance;  /* fraction of size: how far from its minimum a stage of a step may stop */
    SnScheme scheme;
} SnTracksSettings;
SnTracksSettings sn_tracks_settings_default(void);

/* The shell. Materials are given at its vertices: a triangle takes the mean of its corners, a hinge that of the ends of its edge. */
typedef struct SnShell {
    size_t vertex_count, triangle_count;
    const int32_t *triangles; /* triangle_count x 3 */
    const double *rest;       /* vertex_count x 3: the undeformed shape */
    const double *stretch;    /* vertex_count, N/m: Young's modulus times thickness */
    const double *bend;       /* vertex_count, N m: bending stiffness of the plate */
    const double *weight;     /* vertex_count, kg/m² */
    const double *yield;      /* vertex_count, 1/m: what is bent by more stays bent by the rest; null: nothing does */
    const double *calm;       /* vertex_count: of drag and damping; null: 1 */
    const double *warp;       /* triangle_count x 3: direction of its threads at rest; null: it has none, and is the same in all directions */
    const double *follow;     /* vertex_count: 1 follows exactly, 0 is free, between is driven; null: free */
} SnShell;

typedef struct SnTracksSummary {
    size_t followed_vertices, hinges;
    size_t rows, dependent_rows; /* exact ones; those of them that repeat what others say */
    int substeps;
    double mass; /* kg */
} SnTracksSummary;

typedef struct SnTracks SnTracks;

/* All of it is copied. Takes the exact rows (over vertices), emptying them; those with no free vertex hold nothing. */
SnStatus sn_tracks_create(SnContext *context, const SnShell *shell, const SnTracksSettings *settings, SnRows *rows, SnTracks **tracks);
void sn_tracks_destroy(SnTracks *tracks);
SnTracksSummary sn_tracks_summary(const SnTracks *tracks);
const SnWorld *sn_tracks_world(const SnTracks *tracks);
const int32_t *sn_tracks_dependent(const SnTracks *tracks, size_t *count); /* rows that repeat what those before them say */

/* What hinges carry at the beginning: `inner` (sn_world_inner_count), without creases. */
void sn_tracks_begin(const SnTracks *tracks, double *inner);

/* Acceleration (vertices x 3, m/s²) of outer forces beside gravity, and velocity of the air (vertices x 3, m/s), from now on; null is none, and still air. */
void sn_tracks_push(SnTracks *tracks, const double *acceleration);
void sn_tracks_blow(SnTracks *tracks, const double *wind);

/* The next interval: where the input has the vertices; `targets`, a curve of as many points as there are rows: where the guide has their
   means (null: as the input's vertices have them). Both stay until it is over. `state`: with which it begins, for the air; null: it stands still. */
void sn_tracks_lead(SnTracks *tracks, const SnInputCurve *curve, const SnInputCurve *targets, const SnState *state);

/* The undeformed shape (vertices x 3) at the begin and the end of the next interval; null: as built. Creases stay. */
SnStatus sn_tracks_reshape(SnContext *context, SnTracks *tracks, const double *begin, const double *end);

SnMember sn_tracks_member(SnTracks *tracks);
SnEnsemble *sn_tracks_alone(SnTracks *tracks); /* of it and no other */

/* Moves `positions` to where the shell comes to rest in a pose that stands still (vertices x 3), under gravity and the push; `targets`: of
   the rows (x 3), or null. `inner`: what hinges carry. */
SnStatus sn_tracks_settle(SnContext *context, SnTracks *tracks, const double *pose, const double *targets, const double *inner,
                          double *positions, SnNewtonReport *report);

#endif
