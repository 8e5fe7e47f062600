#include "method/enrich/enrich.h"

#include "base/memory.h"
#include "dynamics/statics.h"
#include "dynamics/weights.h"
#include "math/mat3.h"
#include "method/enrich/averages.h"
#include "method/enrich/flesh.h"
#include "method/enrich/limit.h"
#include "method/enrich/soften.h"
#include "method/enrich/untangle.h"

#include <math.h>
#include <string.h>

#define MAX_SUBSTEPS 64
#define HELD 1e6            /* drive ratio of an animated weight of 1: what follows exactly, but for the projection at its frame */
#define INNER 1.5           /* of the damping at Jiggle, which is 2, is inner: what swings faster, thin flesh and ripples, rests sooner */
#define DRIVE_DAMPED 1.4    /* times as much as flesh: what is firmly driven would ring far above Jiggle */
#define SETTLE_ROUNDS 300
#define SETTLE_TOLERANCE 0.01 /* of that of a step: it is found once, and what is off swings for long */
#define SETTLE_MENDS 80
#define ROUGH 1e-3     /* of the body's size: so far off may one step be */

struct SnEnrich {
    SnEnrichSettings settings;
    SnEnrichSummary summary;
    SnTetElements tets;    /* the world's one term */
    SnWorld world;
    SnInputDriver driver;
    SnKeepPose keep_pose;
    SnFirmness firmness;
    double *drive;         /* cage vertices, N/m */
    double *drive_drag;    /* cage vertices, N s/m */
    double drive_damping;  /* s */
    double *push;          /* cage vertices x 3, m/s² */
    double *most;          /* cage vertices, m/s²: see method/enrich/limit.h */
    SnDriver steering;     /* by the driver above */
    SnEnsemble *alone;     /* this simulation with no other */
    double *cage_weights;  /* cage vertices, as painted at rest */
    SnCagedBody body;      /* cage and embedding; its areas, our own, only where weights are animated */
    /* Only where weights are animated: */
    double *areas;         /* surface vertices */
    double *cage_follow;   /* cage vertices; null where the surface decides everywhere */
    double *weights_begin, *weights_end; /* cage vertices */
    unsigned char *held_begin, *held_end; /* cage vertices: what follows exactly at the ends of the interval, ... */
    unsigned char *held;   /* ... and at the end of the substep in hand */
    double *pose;          /* cage vertices x 3 */
    double *pose_velocity; /* cage vertices x 3 */
    double *shift;         /* cage vertices x 3: of what has no inertia */
    SnUntangle untangle;
    double *row_targets, *row_work; /* values of the averages */
};

SnEnrichSettings sn_enrich_settings_default(void)
{
    return (SnEnrichSettings){
        .jiggle = 3.0,
        .settle = 0.7,
        .poisson = 0.4,
        .density = 1000.0,
        .keep_pose = 1.0,
        .balance = 1.0,
        .gravity = {0.0, 0.0, -9.81},
        .interval = 1.0 / 24.0,
        .size = 1.0,
        .tolerance = 1e-5,
        .most_strain = 0.2,
        .scheme = SN_SCHEME_TR_BDF2,
        .energy = &sn_density_neo_hookean,
        .stiffness_painted = 1.0,
        .damping_painted = 1.0,
        .density_painted = 1.0,
        .keep_pose_painted = 1.0,
    };
}

/* The drive of a vertex, and its damping. */
static void drive_vertex(SnEnrich *enrich, size_t v, double weight)
{
    double omega = 2.0 * SN_PI * enrich->summary.frequency;
    double ratio = weight >= SN_WEIGHT_EXACT ? HELD : sn_flesh_drive_ratio(weight, enrich->settings.balance);
    enrich->drive[v] = enrich->world.fixed[v] ? 0.0 : enrich->world.mass[v] * omega * omega * ratio;
    enrich->drive_drag[v] = enrich->drive_damping * enrich->drive[v];
}

static void set_forces(SnEnrich *enrich)
{
    const SnEnrichSettings *settings = &enrich->settings;
    SnWorld *world = &enrich->world;
    double omega = 2.0 * SN_PI * enrich->summary.frequency, ratio = log(20.0) / (omega * settings->settle);
    double drag = (2.0 - INNER) * ratio * omega;
    world->damping[0] = INNER * ratio / omega;
    enrich->drive_damping = DRIVE_DAMPED * world->damping[0];
    drag *= settings->free_body ? 0.0 : 1.0; /* it would brake the flight, not the swing */
    if (settings->young > 0.0) {
        drag = settings->damping_mass;
        world->damping[0] = settings->damping_stiffness;
        enrich->drive_damping = 0.0;
    }
    for (size_t v = 0; v < world->vertex_count; v++) {
        drive_vertex(enrich, v, enrich->cage_weights[v]);
        world->drag[v] *= drag; /* its scale lies there */
    }
    enrich->driver = (SnInputDriver){
        .push = enrich->push, .drive = enrich->drive, .drag = enrich->drive_drag, .keep_pose = &enrich->keep_pose,
        .firmness = &enrich->firmness};
    memcpy(enrich->driver.gravity, settings->gravity, sizeof settings->gravity);
}

static int choose_substeps(const SnEnrich *enrich)
{
    const SnEnrichSettings *settings = &enrich->settings;
    if (settings->substeps > 0) {
        return settings->substeps;
    }
    double angle = 2.0 * SN_PI * enrich->summary.frequency * settings->interval;
    return (int)fmin(fmax(ceil(angle / SN_ENRICH_STEP_ANGLE), 1.0), MAX_SUBSTEPS);
}

/* What an animated body needs to find its weights anew. */
static SnStatus prepare_animated(SnContext *context, SnEnrich *enrich, const SnCagedBody *body, const double *cage_follow)
{
    SnStatus status = SN_OK;
    const SnTetMesh *cage = body->cage;
    SN_TRY_NEW(context, enrich->areas, body->embedding->vertex_count, double);
    enrich->body.areas = enrich->areas;
    SN_TRY_NEW(context, enrich->weights_begin, cage->vertex_count, double);
    SN_TRY_NEW(context, enrich->weights_end, cage->vertex_count, double);
    SN_TRY_NEW(context, enrich->held_begin, cage->vertex_count, unsigned char);
    SN_TRY_NEW(context, enrich->held_end, cage->vertex_count, unsigned char);
    SN_TRY_NEW(context, enrich->held, cage->vertex_count, unsigned char);
    SN_TRY_NEW(context, enrich->pose, 3 * cage->vertex_count, double);
    memcpy(enrich->areas, body->areas, body->embedding->vertex_count * sizeof *enrich->areas);
    memcpy(enrich->weights_begin, enrich->cage_weights, cage->vertex_count * sizeof *enrich->cage_weights);
    memcpy(enrich->weights_end, enrich->cage_weights, cage->vertex_count * sizeof *enrich->cage_weights);
    if (cage_follow != NULL) {
        SN_TRY_NEW(context, enrich->cage_follow, cage->vertex_count, double);
        memcpy(enrich->cage_follow, cage_follow, cage->vertex_count * sizeof *cage_follow);
    }
cleanup:
    return status;
}

/* The world of the flesh: its tets, what drives and damps them, the averages, and the limit of what it feels. */
static SnStatus build(SnContext *context, SnEnrich *enrich, const SnCagedBody *body, const SnEnrichPaint *paint,
                      const unsigned char *followed, SnFleshMaterial *material)
{
    SnStatus status = SN_OK;
    const SnEnrichSettings *settings = &enrich->settings;
    const SnTetMesh *cage = body->cage;
    SnWorld *world = &enrich->world;
    SN_TRY(sn_flesh_world(context, settings, cage, material->young, material->mass, followed, &enrich->tets, world));
    SN_TRY_NEW(context, enrich->drive, cage->vertex_count, double);
    SN_TRY_NEW(context, enrich->drive_drag, cage->vertex_count, double);
    SN_TRY_NEW(context, enrich->push, 3 * cage->vertex_count, double);
    SN_TRY_NEW(context, enrich->most, cage->vertex_count, double);
    SN_TRY(sn_keep_pose_init(context, &enrich->tets, cage->vertex_count, settings->keep_pose, &enrich->keep_pose));
    SN_TRY(sn_firmness_init(context, &enrich->tets, cage->vertex_count, settings->tighten, &enrich->firmness));
    SN_TRY(sn_flesh_regions(context, body, paint, settings, &enrich->tets, world, &enrich->keep_pose));
    for (size_t e = 0; e < enrich->tets.count; e++) {
        world->damping_scale[0][e] *= material->calm[enrich->tets.sources[e]];
    }
    set_forces(enrich);
    if (paint->averages != NULL) {
        SN_TRY(sn_averages_constrain(context, paint->averages, world));
        SnSoftening softening = {settings, cage, paint->averages, enrich->drive};
        SN_TRY(sn_soften_regions(context, &softening, world, &enrich->tets, material->young));
    }
    SN_TRY(sn_untangle_init(context, &enrich->tets, cage->vertex_count, &enrich->untangle));
    if (settings->young == 0.0 && !settings->free_body && world->constraints.size == 0) { /* averages limit what they leave by themselves */
        SN_TRY(sn_limit_find(context, world, cage, enrich->drive, enrich->cage_weights, settings->size, enrich->most));
        enrich->driver.most = enrich->most;
    }
    SN_TRY_NEW(context, enrich->row_targets, world->constraints.size, double);
    SN_TRY_NEW(context, enrich->row_work, world->constraints.size, double);
cleanup:
    return status;
}

static void summarise(SnEnrich *enrich, const unsigned char *followed, const SnFleshMaterial *material)
{
    SnEnrichSummary *summary = &enrich->summary;
    summary->regions = material->regions;
    summary->free_tets = enrich->tets.count;
    summary->young_min = INFINITY;
    for (size_t v = 0; v < enrich->world.vertex_count; v++) {
        summary->followed_vertices += followed[v];
    }
    for (size_t e = 0; e < enrich->tets.count; e++) {
        double modulus = material->young[enrich->tets.sources[e]] / material->share[enrich->tets.sources[e]];
        summary->young_min = fmin(summary->young_min, modulus);
        summary->young_max = fmax(summary->young_max, modulus);
    }
}

SnStatus sn_enrich_create(SnContext *context, const SnCagedBody *body, const SnEnrichPaint *paint, const SnEnrichSettings *settings,
                          SnEnrich **out)
{
    SnStatus status = SN_OK;
    SnEnrich *enrich = NULL;
    const SnTetMesh *cage = body->cage;
    SnFleshMaterial material = {0};
    unsigned char *followed = NULL, *fixed = NULL;
    *out = NULL;
    SN_TRY_NEW(context, enrich, 1, SnEnrich);
    enrich->settings = *settings;
    enrich->body = (SnCagedBody){.cage = cage, .embedding = body->embedding};
    SN_TRY_NEW(context, enrich->cage_weights, cage->vertex_count, double);
    SN_TRY_NEW(context, enrich->pose_velocity, 3 * cage->vertex_count, double);
    SN_TRY_NEW(context, enrich->shift, 3 * cage->vertex_count, double);
    SN_TRY_NEW(context, followed, cage->vertex_count, unsigned char);
    SN_TRY_NEW(context, fixed, cage->vertex_count, unsigned char);
    sn_context_stage(context, "Spreading the weights", 1);
    SN_TRY(sn_flesh_weights(context, body, paint, enrich->cage_weights, followed));
    SN_TRY(sn_flesh_material(context, body, paint, settings, enrich->cage_weights, followed, &material));
    if (settings->animated) { /* nothing is eliminated: what follows now may be free later */
        SN_TRY(prepare_animated(context, enrich, body, paint->cage_follow));
    } else {
        memcpy(fixed, followed, cage->vertex_count);
    }
    enrich->summary.frequency = material.frequency;
    SN_TRY(build(context, enrich, body, paint, fixed, &material));
    summarise(enrich, followed, &material);
    enrich->summary.substeps = choose_substeps(enrich);
    enrich->steering = sn_input_driver(&enrich->driver);
    SnMember member = sn_enrich_member(enrich);
    SN_TRY(sn_ensemble_create(context, 1, &member, &enrich->alone));
    *out = enrich;
cleanup:
    sn_flesh_material_clear(&material);
    sn_release(followed);
    sn_release(fixed);
    if (status != SN_OK) {
        sn_enrich_destroy(enrich);
    }
    return status;
}

void sn_enrich_destroy(SnEnrich *enrich)
{
    if (enrich == NULL) {
        return;
    }
    sn_ensemble_destroy(enrich->alone);
    sn_keep_pose_clear(&enrich->keep_pose);
    sn_firmness_clear(&enrich->firmness);
    sn_untangle_clear(&enrich->untangle);
    sn_world_clear(&enrich->world);
    sn_tet_elements_clear(&enrich->tets);
    double *arrays[] = {enrich->cage_weights, enrich->areas, enrich->cage_follow, enrich->weights_begin, enrich->weights_end,
                        enrich->pose,         enrich->pose_velocity, enrich->shift, enrich->row_targets,
                        enrich->row_work, enrich->drive, enrich->drive_drag, enrich->push, enrich->most};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_release(enrich->held_begin);
    sn_release(enrich->held_end);
    sn_release(enrich->held);
    sn_release(enrich);
}

SnEnrichSummary sn_enrich_summary(const SnEnrich *enrich)
{
    return enrich->summary;
}

void sn_enrich_push(SnEnrich *enrich, const double *acceleration)
{
    size_t bytes = 3 * enrich->world.vertex_count * sizeof *acceleration;
    if (acceleration != NULL) {
        memcpy(enrich->push, acceleration, bytes);
    } else {
        memset(enrich->push, 0, bytes);
    }
}

void sn_enrich_firm(SnEnrich *enrich, const double *begin, const double *end)
{
    sn_firmness_lead(&enrich->firmness, enrich->tets.sources, begin, end);
}

const double *sn_enrich_cage_weights(const SnEnrich *enrich)
{
    return enrich->cage_weights;
}

const SnTetElements *sn_enrich_tets(const SnEnrich *enrich)
{
    return &enrich->tets;
}

const SnWorld *sn_enrich_world(const SnEnrich *enrich)
{
    return &enrich->world;
}

SnStatus sn_enrich_follow(SnContext *context, SnEnrich *enrich, const double *begin, const double *end)
{
    SnStatus status = SN_OK;
    size_t count = enrich->world.vertex_count;
    SnEnrichPaint paint = {.follow = begin, .cage_follow = enrich->cage_follow};
    memset(enrich->weights_begin, 0, count * sizeof *begin);
    memset(enrich->weights_end, 0, count * sizeof *end);
    memset(enrich->held_begin, 0, count);
    memset(enrich->held_end, 0, count);
    SN_TRY(sn_flesh_weights(context, &enrich->body, &paint, enrich->weights_begin, enrich->held_begin));
    paint.follow = end;
    SN_TRY(sn_flesh_weights(context, &enrich->body, &paint, enrich->weights_end, enrich->held_end));
cleanup:
    return status;
}

/* Animated weights at a fraction of the interval, and who follows exactly in the substep that ends there. */
static void set_drive(void *self, double fraction)
{
    SnEnrich *enrich = self;
    for (size_t v = 0; v < enrich->world.vertex_count; v++) {
        drive_vertex(enrich, v, enrich->weights_begin[v] + fraction * (enrich->weights_end[v] - enrich->weights_begin[v]));
        enrich->held[v] = enrich->held_end[v] && (enrich->held_begin[v] || fraction == 1.0);
    }
}

/* What follows exactly at a fraction of the interval is there, to the bit. */
static void hold(void *self, double fraction, SnState *state)
{
    SnEnrich *enrich = self;
    sn_input_curve_follow(enrich->driver.curve, fraction, enrich->pose, enrich->pose_velocity, enrich->shift);
    for (size_t k = 0; k < 3 * enrich->world.vertex_count; k++) {
        if (enrich->held[k / 3]) {
            state->positions[k] = enrich->pose[k];
            state->velocities[k] = enrich->pose_velocity[k];
        }
    }
}

/* A little in each call: how many tets there were to mend. */
static size_t mend(SnEnrich *enrich, const double *pose, const double *pose_velocity, SnState *state)
{
    const unsigned char *held[2] = {enrich->world.fixed, enrich->settings.animated ? enrich->held_end : NULL};
    return sn_untangle(&enrich->untangle, held, pose, pose_velocity, state);
}

/* Averages as the input has them. */
static void impose_rows(SnEnrich *enrich, const double *input, double *values)
{
    sn_rows_apply(&enrich->world.constraints.rows, input, enrich->row_targets);
    sn_constraints_impose(&enrich->world.constraints, enrich->row_targets, enrich->row_work, values);
}

/* At rest where the curve begins; or, with `from`, with the same left of all forces where it ends as there is at `from` where it begins. */
static SnStatus find_rest(SnContext *context, SnEnrich *enrich, const double *begin, const double *from, const double *pose,
                          double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    size_t count = 3 * enrich->world.vertex_count;
    SnInputCurve curve = {enrich->world.vertex_count, NULL, begin, pose, NULL, enrich->settings.interval, NULL};
    double tolerance = SETTLE_TOLERANCE * enrich->settings.tolerance * enrich->settings.size;
    SnStaticsSettings settings = {.max_rounds = SETTLE_ROUNDS, .step_tolerance = tolerance};
    SnState still = {.positions = positions};
    enrich->driver.curve = &curve;
    if (enrich->settings.animated) {
        set_drive(enrich, 0.0);
    }
    SN_TRY_NEW(context, still.velocities, count, double);
    if (from == NULL) {
        SN_TRY(sn_statics_settle(context, &enrich->world, &enrich->steering, 0.0, &settings, NULL, positions, report));
    } else {
        SN_TRY(sn_statics_carry(context, &enrich->world, &enrich->steering, &settings, from, positions, report));
    }
    for (size_t k = 0; k < count; k++) {
        positions[k] = enrich->settings.animated && enrich->held_begin[k / 3] ? pose[k] : positions[k];
    }
    memset(enrich->pose_velocity, 0, count * sizeof *enrich->pose_velocity);
    for (int round = 0; round < SETTLE_MENDS && mend(enrich, pose, enrich->pose_velocity, &still) > 0; round++) {
        impose_rows(enrich, pose, positions);
    }
cleanup:
    enrich->driver.curve = NULL;
    sn_release(still.velocities);
    return status;
}

SnStatus sn_enrich_settle(SnContext *context, SnEnrich *enrich, const double *pose, double *positions, SnNewtonReport *report)
{
    return find_rest(context, enrich, pose, NULL, pose, positions, report);
}

SnStatus sn_enrich_carry(SnContext *context, SnEnrich *enrich, const double *before, const double *from, const double *pose,
                         double *positions, SnNewtonReport *report)
{
    return find_rest(context, enrich, before, from, pose, positions, report);
}

SnMember sn_enrich_member(SnEnrich *enrich)
{
    const SnEnrichSettings *settings = &enrich->settings;
    return (SnMember){
        .world = &enrich->world,
        .drivers = &enrich->steering,
        .step = {.scheme = settings->scheme,
                 .expression = settings->expression,
                 .inertia = settings->expression_inertia,
                 .newton_rounds = settings->newton_rounds,
                 .step_tolerance = settings->tolerance * settings->size,
                 .rough = settings->substeps > 0 ? 0.0 : ROUGH * settings->size},
        .substeps = enrich->summary.substeps,
        .interval = settings->interval,
        .self = enrich,
        .begin_substep = settings->animated ? set_drive : NULL,
        .end_substep = settings->animated ? hold : NULL,
        .cage = enrich->body.cage,
        .embedding = enrich->body.embedding,
        .held = enrich->held,
    };
}

SnEnsemble *sn_enrich_alone(SnEnrich *enrich)
{
    return enrich->alone;
}

void sn_enrich_lead(SnEnrich *enrich, const SnInputCurve *curve)
{
    enrich->driver.curve = curve;
}

size_t sn_enrich_finish(SnEnrich *enrich, SnState *state)
{
    const SnInputCurve *curve = enrich->driver.curve;
    sn_input_curve_follow(curve, 1.0, NULL, enrich->pose_velocity, enrich->shift);
    size_t repaired = mend(enrich, curve->end, enrich->pose_velocity, state);
    if (repaired > 0) {
        impose_rows(enrich, curve->end, state->positions);
        impose_rows(enrich, enrich->pose_velocity, state->velocities);
    }
    enrich->driver.curve = NULL; /* the caller's */
    return repaired;
}

SnStatus sn_enrich_advance(SnContext *context, SnEnrich *enrich, const SnInputCurve *curve, SnState *state, SnStepReport *report,
                           size_t *repaired)
{
    SnStatus status = SN_OK;
    sn_enrich_lead(enrich, curve);
    SN_TRY(sn_ensemble_advance(context, enrich->alone, state, report));
    *repaired = sn_enrich_finish(enrich, state);
cleanup:
    return status;
}
