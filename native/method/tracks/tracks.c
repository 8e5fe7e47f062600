#include "method/tracks/tracks.h"

#include "base/memory.h"
#include "dynamics/statics.h"
#include "dynamics/weights.h"
#include "energy/hinges.h"
#include "energy/triangles.h"
#include "math/mat3.h"
#include "method/tracks/air.h"

#include <math.h>
#include <string.h>

#define MAX_SUBSTEPS 256
#define SETTLE_ROUNDS 500
#define SETTLE_TOLERANCE 0.1 /* of that of a step */

struct SnTracks {
    SnTracksSettings settings;
    SnTracksSummary summary;
    int32_t *triangles;   /* triangles x 3; owned, as all arrays */
    SnTriangles membrane;
    SnHinges hinges;
    SnWorld world;
    SnInputDriver input;
    SnDriver follow;      /* by the input, ... */
    SnDriver steering;    /* ... and then by the guide and the rest shape */
    const SnInputCurve *targets;
    double *push, *wind;  /* vertices x 3, m/s²; m/s */
    double *felt;         /* vertices x 3, m/s²: the push, and what the air does */
    double *weight;       /* triangles, kg */
    int blows;            /* the air moves */
    double *drive, *drag; /* vertices, N/m and N s/m */
    SnEnsemble *alone;
    /* Only where the rest shape changes: */
    double *shape_begin, *shape_end, *shape; /* vertices x 3 */
    SnTriangles shaped;    /* the membrane of that shape, as far as it changes */
    double *angles;        /* hinges */
    double shaped_at;      /* the fraction that `shaped` is of; NAN: none */
    int is_reshaped;
    SnTriangleInput triangle_input;
    SnHingeInput hinge_input;
};

SnTracksSettings sn_tracks_settings_default(void)
{
    return (SnTracksSettings){
        .poisson = 0.3,
        .weft = 1.0,
        .weft_bend = 1.0,
        .shear = 1.0,
        .drag = 1.0,
        .damping = 2e-3,
        .hold = 2.0,
        .gravity = {0.0, 0.0, -9.81},
        .interval = 1.0 / 24.0,
        .size = 1.0,
        .tolerance = 1e-5,
        .scheme = SN_SCHEME_TR_BDF2,
    };
}

/* The rest shape of the moment in the terms' inputs. */
static SnStatus shape_terms(SnContext *context, SnTracks *tracks, double fraction)
{
    SnStatus status = SN_OK;
    size_t count = 3 * tracks->world.vertex_count;
    SnTriangles next = {0};
    if (tracks->shaped_at == fraction) {
        return SN_OK;
    }
    for (size_t k = 0; k < count; k++) {
        tracks->shape[k] = tracks->shape_begin[k] + fraction * (tracks->shape_end[k] - tracks->shape_begin[k]);
    }
    SN_TRY(sn_triangles_init(context, tracks->membrane.count, tracks->triangles, tracks->shape, &next));
    sn_triangles_clear(&tracks->shaped);
    tracks->shaped = next;
    sn_hinges_angles(&tracks->hinges, tracks->shape, tracks->angles);
    tracks->triangle_input = (SnTriangleInput){.rest = tracks->shaped.inverse_rest, .area = tracks->shaped.area};
    tracks->hinge_input = (SnHingeInput){.rest_angle = tracks->angles};
    tracks->shaped_at = fraction;
cleanup:
    return status;
}

static SnStatus prepare(SnContext *context, void *self, const SnWorld *world, const SnBody *body, double fraction, SnStage *stage)
{
    SnStatus status = SN_OK;
    SnTracks *tracks = self;
    SN_TRY(tracks->follow.prepare(context, tracks->follow.self, world, body, fraction, stage));
    if (tracks->settings.most_pull > 0.0) {
        size_t place = sn_rows_place(&world->constraints.rows, body->first_row);
        for (size_t k = place; k < sn_rows_place(&world->constraints.rows, body->first_row + body->row_count); k++) {
            stage->row_most[k] = tracks->settings.most_pull;
        }
    }
    if (tracks->targets != NULL && body->row_count > 0) {
        size_t place = sn_rows_place(&world->constraints.rows, body->first_row);
        sn_input_curve_evaluate(tracks->targets, fraction, stage->row_targets + place, stage->row_rates + place);
    }
    if (tracks->is_reshaped) {
        SN_TRY(shape_terms(context, tracks, fraction));
        stage->inputs[body->first_term] = &tracks->triangle_input;
        stage->inputs[body->first_term + 1] = &tracks->hinge_input;
    }
cleanup:
    return status;
}

/* Moduli and masses from what is given at the vertices. Of threads the part that resists shear is a body that is the same in all directions, and they have the
   rest. */
static void set_membrane(SnTracks *tracks, const SnShell *shell, double *mass)
{
    const SnTracksSettings *settings = &tracks->settings;
    double *threads = tracks->membrane.threads, alike = threads != NULL ? settings->shear * fmin(1.0, settings->weft) : 1.0;
    for (size_t t = 0; t < shell->triangle_count; t++) {
        const int32_t *corner = tracks->triangles + 3 * t;
        double stretch = 0.0, weight = 0.0;
        for (size_t i = 0; i < 3; i++) {
            stretch += shell->stretch[corner[i]] / 3.0;
            weight += shell->weight[corner[i]] / 3.0;
        }
        sn_triangles_set_material(&tracks->membrane, t, alike * stretch, settings->poisson, 1.0);
        if (threads != NULL) {
            threads[4 * t + 2] = (1.0 - alike) * stretch;
            threads[4 * t + 3] = (settings->weft - alike) * stretch;
        }
        tracks->weight[t] = weight * tracks->membrane.area[t];
        for (size_t i = 0; i < 3; i++) {
            mass[corner[i]] += tracks->weight[t] / 3.0;
        }
    }
    tracks->membrane.limit = settings->limit;
}

/* How much of the stiffness along the warp a hinge has: what bends there lies across its edge. */
static double find_plate_share(const SnTracks *tracks, const SnShell *shell, size_t h)
{
    const int32_t *corner = tracks->hinges.vertices + 4 * h;
    double edge[3], along = 0.0;
    if (tracks->membrane.threads == NULL) {
        return 1.0;
    }
    for (size_t a = 0; a < 3; a++) {
        edge[a] = shell->rest[3 * (size_t)corner[1] + a] - shell->rest[3 * (size_t)corner[0] + a];
    }
    for (size_t i = 0; i < 2; i++) {
        double warp[3];
        sn_triangles_warp(&tracks->membrane, (size_t)tracks->hinges.triangles[2 * h + i], shell->rest, warp);
        double cosine = sn_dot3(warp, edge);
        along += 0.5 * cosine * cosine / sn_dot3(edge, edge);
    }
    double root = 1.0 - along + along * sqrt(tracks->settings.weft_bend);
    return root * root;
}

static void set_hinges(SnTracks *tracks, const SnShell *shell)
{
    for (size_t h = 0; h < tracks->hinges.count; h++) {
        const int32_t *corner = tracks->hinges.vertices + 4 * h;
        double plate = 0.5 * (shell->bend[corner[0]] + shell->bend[corner[1]]);
        sn_hinges_set_plate(&tracks->hinges, h, find_plate_share(tracks, shell, h) * plate);
        if (shell->yield != NULL) {
            tracks->hinges.yield[h] = 0.5 * (shell->yield[corner[0]] + shell->yield[corner[1]]);
        }
    }
    tracks->hinges.hardening = tracks->settings.hardening;
}

/* Drag and damping, more or less of them from place to place. */
static void set_damping(SnTracks *tracks, const SnShell *shell)
{
    SnWorld *world = &tracks->world;
    sn_world_damp(world, tracks->settings.drag, tracks->settings.damping);
    for (size_t v = 0; v < shell->vertex_count && shell->calm != NULL; v++) {
        world->drag[v] *= shell->calm[v];
    }
    for (size_t t = 0; t < world->term_count && shell->calm != NULL; t++) {
        const SnStencils *stencils = &world->terms[t].stencils;
        size_t used = t == 0 ? 3 : 2; /* of a hinge the ends of its edge */
        for (size_t e = 0; e < stencils->count; e++) {
            double sum = 0.0;
            for (size_t i = 0; i < used; i++) {
                sum += shell->calm[stencils->vertices[e * (size_t)stencils->corners + i]];
            }
            world->damping_scale[t][e] = sum / (double)used;
        }
    }
}

/* What draws partly followed vertices to the input, critically damped. */
static void set_drive(SnTracks *tracks, const SnShell *shell)
{
    double omega = 2.0 * SN_PI * tracks->settings.hold;
    for (size_t v = 0; v < shell->vertex_count && shell->follow != NULL; v++) {
        double weight = fmin(fmax(shell->follow[v], 0.0), 1.0);
        if (!tracks->world.fixed[v] && weight > 0.0) {
            double ratio = tan(0.5 * SN_PI * weight);
            tracks->drive[v] = tracks->world.mass[v] * omega * omega * ratio;
            tracks->drag[v] = 2.0 * tracks->world.mass[v] * omega * sqrt(ratio);
        }
    }
}

static SnStatus build(SnContext *context, SnTracks *tracks, const SnShell *shell, SnRows *rows)
{
    SnStatus status = SN_OK;
    const SnTracksSettings *settings = &tracks->settings;
    size_t count = shell->vertex_count;
    double *mass = NULL;
    unsigned char *fixed = NULL;
    SnTerm terms[2];
    sn_context_stage(context, "Preparing the cloth", 3);
    SN_TRY_NEW(context, mass, count, double);
    SN_TRY_NEW(context, fixed, count, unsigned char);
    SN_TRY_NEW(context, tracks->triangles, 3 * shell->triangle_count, int32_t);
    SN_TRY_NEW(context, tracks->weight, shell->triangle_count, double);
    memcpy(tracks->triangles, shell->triangles, 3 * shell->triangle_count * sizeof *shell->triangles);
    SN_TRY(sn_triangles_init(context, shell->triangle_count, tracks->triangles, shell->rest, &tracks->membrane));
    SN_TRY(sn_hinges_init(context, shell->triangle_count, tracks->triangles, shell->rest, &tracks->hinges));
    if (shell->warp != NULL) {
        SN_TRY(sn_triangles_weave(context, &tracks->membrane, shell->rest, shell->warp));
    }
    set_membrane(tracks, shell, mass);
    set_hinges(tracks, shell);
    for (size_t v = 0; v < count; v++) {
        fixed[v] = mass[v] <= 0.0 || (shell->follow != NULL && shell->follow[v] >= SN_WEIGHT_EXACT); /* loose ones go along */
        tracks->summary.followed_vertices += fixed[v];
        tracks->summary.mass += mass[v];
    }
    SN_TRY(sn_context_advance(context, 1));
    terms[0] = sn_triangles_term(&tracks->membrane);
    terms[1] = sn_hinges_term(&tracks->hinges);
    SnWorldDef def = {.vertex_count = count, .mass = mass, .fixed = fixed, .term_count = tracks->hinges.count > 0 ? 2 : 1, .terms = terms};
    SN_TRY(sn_world_init(context, &def, &tracks->world));
    set_damping(tracks, shell);
    tracks->summary.rows = rows->count;
    SN_TRY(sn_context_advance(context, 2));
    if (rows->count > 0) {
        SN_TRY(sn_world_constrain(context, rows, &tracks->world));
    }
    SN_TRY_NEW(context, tracks->push, 3 * count, double);
    SN_TRY_NEW(context, tracks->wind, 3 * count, double);
    SN_TRY_NEW(context, tracks->felt, 3 * count, double);
    SN_TRY_NEW(context, tracks->drive, count, double);
    SN_TRY_NEW(context, tracks->drag, count, double);
    set_drive(tracks, shell);
    tracks->summary.hinges = tracks->hinges.count;
    tracks->summary.dependent_rows = tracks->world.constraints.factor.dependent_count;
    int needed = (int)ceil(settings->interval * SN_TRACKS_RATE - 1e-9);
    tracks->summary.substeps = settings->substeps > 0 ? settings->substeps : needed < 1 ? 1 : needed > MAX_SUBSTEPS ? MAX_SUBSTEPS : needed;
    tracks->input = (SnInputDriver){.push = tracks->felt, .drive = tracks->drive, .drag = tracks->drag};
    memcpy(tracks->input.gravity, settings->gravity, sizeof settings->gravity);
    tracks->follow = sn_input_driver(&tracks->input);
    tracks->steering = (SnDriver){tracks, prepare};
    SnMember member = sn_tracks_member(tracks);
    SN_TRY(sn_ensemble_create(context, 1, &member, &tracks->alone));
cleanup:
    sn_release(mass);
    sn_release(fixed);
    return status;
}

SnStatus sn_tracks_create(SnContext *context, const SnShell *shell, const SnTracksSettings *settings, SnRows *rows, SnTracks **out)
{
    SnStatus status = SN_OK;
    SnTracks *tracks = NULL;
    *out = NULL;
    SN_TRY_NEW(context, tracks, 1, SnTracks);
    tracks->settings = *settings;
    tracks->shaped_at = NAN;
    SN_TRY(build(context, tracks, shell, rows));
    *out = tracks;
cleanup:
    if (status != SN_OK) {
        sn_tracks_destroy(tracks);
    }
    return status;
}

void sn_tracks_destroy(SnTracks *tracks)
{
    if (tracks == NULL) {
        return;
    }
    sn_ensemble_destroy(tracks->alone);
    sn_world_clear(&tracks->world);
    sn_triangles_clear(&tracks->membrane);
    sn_triangles_clear(&tracks->shaped);
    sn_hinges_clear(&tracks->hinges);
    sn_release(tracks->triangles);
    sn_release(tracks->push);
    sn_release(tracks->wind);
    sn_release(tracks->felt);
    sn_release(tracks->weight);
    sn_release(tracks->drive);
    sn_release(tracks->drag);
    sn_release(tracks->shape_begin);
    sn_release(tracks->shape_end);
    sn_release(tracks->shape);
    sn_release(tracks->angles);
    sn_release(tracks);
}

SnTracksSummary sn_tracks_summary(const SnTracks *tracks)
{
    return tracks->summary;
}

const SnWorld *sn_tracks_world(const SnTracks *tracks)
{
    return &tracks->world;
}

const int32_t *sn_tracks_dependent(const SnTracks *tracks, size_t *count)
{
    *count = tracks->world.constraints.factor.dependent_count;
    return tracks->world.constraints.factor.dependent;
}

void sn_tracks_begin(const SnTracks *tracks, double *inner)
{
    if (tracks->hinges.count > 0) {
        tracks->world.terms[1].kind->begin(&tracks->hinges, inner);
    }
}

/* Copies what acts on vertices, or that nothing does. */
static void take(const SnTracks *tracks, const double *from, double *to)
{
    size_t bytes = 3 * tracks->world.vertex_count * sizeof *from;
    if (from != NULL) {
        memcpy(to, from, bytes);
    } else {
        memset(to, 0, bytes);
    }
}

/* What the shell feels in the next substep, which begins with a state; null: it stands still, and the air does. */
static void feel(SnTracks *tracks, const SnState *state)
{
    const SnTracksSettings *settings = &tracks->settings;
    SnAir air = {settings->air, tracks->blows ? tracks->wind : NULL};
    take(tracks, tracks->push, tracks->felt);
    if (state != NULL) {
        SnSail sail = {tracks->membrane.count, tracks->triangles, tracks->weight, tracks->world.mass};
        sn_air_push(&air, &sail, state->positions, state->velocities, settings->interval / tracks->summary.substeps, tracks->felt);
    }
}

static void end_substep(void *self, double end, SnState *state)
{
    (void)end;
    feel(self, state);
}

void sn_tracks_push(SnTracks *tracks, const double *acceleration)
{
    take(tracks, acceleration, tracks->push);
}

void sn_tracks_blow(SnTracks *tracks, const double *wind)
{
    tracks->blows = wind != NULL;
    take(tracks, wind, tracks->wind);
}

void sn_tracks_lead(SnTracks *tracks, const SnInputCurve *curve, const SnInputCurve *targets, const SnState *state)
{
    tracks->input.curve = curve;
    tracks->targets = targets;
    feel(tracks, state);
}

SnStatus sn_tracks_reshape(SnContext *context, SnTracks *tracks, const double *begin, const double *end)
{
    SnStatus status = SN_OK;
    size_t count = 3 * tracks->world.vertex_count;
    tracks->is_reshaped = begin != NULL && end != NULL;
    tracks->shaped_at = NAN;
    if (!tracks->is_reshaped) {
        return SN_OK;
    }
    if (tracks->shape == NULL) {
        SN_TRY_NEW(context, tracks->shape_begin, count, double);
        SN_TRY_NEW(context, tracks->shape_end, count, double);
        SN_TRY_NEW(context, tracks->angles, tracks->hinges.count, double);
        SN_TRY_NEW(context, tracks->shape, count, double);
    }
    memcpy(tracks->shape_begin, begin, count * sizeof *begin);
    memcpy(tracks->shape_end, end, count * sizeof *end);
cleanup:
    return status;
}

SnMember sn_tracks_member(SnTracks *tracks)
{
    const SnTracksSettings *settings = &tracks->settings;
    return (SnMember){
        .world = &tracks->world,
        .drivers = &tracks->steering,
        .step = {.scheme = settings->scheme,
                 .newton_rounds = settings->newton_rounds,
                 .step_tolerance = settings->tolerance * settings->size},
        .substeps = tracks->summary.substeps,
        .interval = settings->interval,
        .self = tracks,
        .end_substep = end_substep,
    };
}

SnEnsemble *sn_tracks_alone(SnTracks *tracks)
{
    return tracks->alone;
}

SnStatus sn_tracks_settle(SnContext *context, SnTracks *tracks, const double *pose, const double *targets, const double *inner,
                          double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    double interval = tracks->settings.interval;
    SnInputCurve still = {tracks->world.vertex_count, NULL, pose, pose, NULL, interval, NULL};
    SnInputCurve held = {tracks->world.constraints.rows.count, NULL, targets, targets, NULL, interval, NULL};
    SnStaticsSettings settings = {.max_rounds = SETTLE_ROUNDS,
                                  .step_tolerance = SETTLE_TOLERANCE * tracks->settings.tolerance * tracks->settings.size};
    sn_tracks_lead(tracks, &still, targets != NULL ? &held : NULL, NULL);
    SN_TRY(sn_statics_settle(context, &tracks->world, &tracks->steering, 0.0, &settings, inner, positions, report));
cleanup:
    sn_tracks_lead(tracks, NULL, NULL, NULL);
    return status;
}
