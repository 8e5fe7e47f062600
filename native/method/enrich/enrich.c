#include "method/enrich/enrich.h"

#include "base/memory.h"
#include "dynamics/statics.h"
#include "dynamics/weights.h"
#include "math/mat3.h"
#include "method/enrich/average_mode.h"
#include "method/enrich/averages.h"
#include "method/enrich/flesh.h"
#include "method/enrich/limit.h"

#include <math.h>
#include <string.h>

#define MAX_SUBSTEPS 64
#define HELD 1e6            /* drive ratio of an animated weight of 1: what follows exactly, but for the projection at its frame */
#define INNER 1.5           /* of the damping at Jiggle, which is 2, is inner: what swings faster, thin flesh and ripples, rests sooner */
#define DRIVE_DAMPED 1.4    /* times as much as flesh: what is firmly driven would ring far above Jiggle */
#define SOFTEST 0.005       /* of its stiffness is left to flesh whose averages follow, ... */
#define FIRMEST 20.0        /* ... and so many times as firm it may be */
#define SOFTEN_ROUNDS 4
#define SETTLE_ROUNDS 300
#define SETTLE_TOLERANCE 0.01 /* of that of a step: it is found once, and what is off swings for long */
#define SETTLE_MENDS 80
#define MEND 0.25      /* of the way that a tangled vertex is off is undone in a frame: several frames mend it, and nothing jumps */

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
    unsigned char *tangled; /* cage vertices */
    double *around;        /* cage vertices x 4: sums over their neighbours */
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

/* How much softer flesh must be for the slowest swing that the averages leave to have the frequency of Jiggle. `energy` (cage
   vertices) receives where that swing strains the flesh. */
static SnStatus find_softness(SnContext *context, const SnEnrich *enrich, const SnWorld *world, const SnTetMesh *cage, double *energy,
                              double *softness)
{
    SnStatus status = SN_OK;
    double elastic, driven, omega = 2.0 * SN_PI * enrich->settings.jiggle;
    SN_TRY(sn_average_mode_find(context, world, enrich->drive, cage->positions, &elastic, &driven, energy));
    *softness = fmax((omega * omega - driven) / fmax(elastic, 1e-300), SOFTEST);
    *softness = *softness > FIRMEST ? 1.0 : *softness; /* it only turns, which no stiffness quickens */
cleanup:
    return status;
}

/* A world of the tets of the cage that move where these vertices are fixed. */
static SnStatus make_world(SnContext *context, const SnEnrich *enrich, const SnTetMesh *cage, const double *young, const double *mass,
                           const unsigned char *fixed, SnTetElements *tets, SnWorld *world)
{
    SnStatus status = SN_OK;
    SN_TRY(sn_tet_elements_init_moving(context, cage, fixed, enrich->settings.energy, tets));
    sn_tet_elements_set_materials(tets, young, enrich->settings.poisson);
    SnTerm term = sn_tet_elements_term(tets);
    SnWorldDef def = {.vertex_count = cage->vertex_count, .mass = mass, .fixed = fixed, .term_count = 1, .terms = &term};
    SN_TRY(sn_world_init(context, &def, world));
cleanup:
    return status;
}

/* The same for one region, with all others where the input has them. `held` and `energy` (cage vertices) are scratch. */
static SnStatus find_region_softness(SnContext *context, const SnEnrich *enrich, const SnTetMesh *cage, const int32_t *regions,
                                     int32_t region, const double *young, unsigned char *held, double *energy, double *softness)
{
    SnStatus status = SN_OK;
    SnTetElements tets = {0};
    SnWorld part = {0};
    *softness = 1.0;
    for (size_t v = 0; v < cage->vertex_count; v++) {
        held[v] = enrich->world.fixed[v] || regions[v] != region;
    }
    if (memchr(held, 0, cage->vertex_count) == NULL) {
        goto cleanup;
    }
    SN_TRY(make_world(context, enrich, cage, young, enrich->world.mass, held, &tets, &part));
    SN_TRY(sn_averages_constrain(context, regions, &part));
    SN_TRY(find_softness(context, enrich, &part, cage, energy, softness));
cleanup:
    sn_world_clear(&part);
    sn_tet_elements_clear(&tets);
    return status;
}

/* Multiplies the modulus of each region by softness[region]; tets between regions take the mean. */
static void soften(SnEnrich *enrich, const SnTetMesh *cage, const int32_t *regions, const double *softness, double *young)
{
    for (size_t e = 0; e < enrich->tets.count; e++) {
        size_t source = (size_t)enrich->tets.sources[e];
        double sum = 0.0;
        for (size_t i = 0; i < 4; i++) {
            int32_t region = regions[cage->tets[4 * source + i]];
            sum += region >= 0 ? 0.25 * log(softness[region]) : 0.0;
        }
        young[source] *= exp(sum);
        sn_tet_elements_set_material(&enrich->tets, e, young[source], enrich->settings.poisson);
    }
}

/* Averages that follow leave only the quicker swings. Flesh is softened, region by region, until the slowest of each would have the
   frequency of Jiggle if its neighbours kept still. They do not: what is then slowest of all is made firmer where it strains the
   flesh, a few times over. */
static SnStatus set_averages(SnContext *context, SnEnrich *enrich, const SnTetMesh *cage, const int32_t *regions, double *young)
{
    SnStatus status = SN_OK;
    SnWorld *world = &enrich->world;
    double *energy = NULL, *softness = NULL, *strained = NULL;
    unsigned char *held = NULL;
    int32_t count = 0;
    SN_TRY(sn_averages_constrain(context, regions, world));
    if (enrich->settings.young > 0.0 || world->constraints.size == 0) {
        goto cleanup;
    }
    for (size_t v = 0; v < cage->vertex_count; v++) {
        count = regions[v] >= count ? regions[v] + 1 : count;
    }
    SN_TRY_NEW(context, energy, cage->vertex_count, double);
    SN_TRY_NEW(context, softness, count, double);
    SN_TRY_NEW(context, strained, count, double);
    SN_TRY_NEW(context, held, cage->vertex_count, unsigned char);
    sn_context_stage(context, "Tuning averages", count + SOFTEN_ROUNDS);
    for (int32_t region = 0; region < count; region++) {
        SN_TRY(sn_context_advance(context, region));
        SN_TRY(find_region_softness(context, enrich, cage, regions, region, young, held, energy, softness + region));
    }
    soften(enrich, cage, regions, softness, young);
    for (int round = 0; round < SOFTEN_ROUNDS; round++) {
        double all, most = 0.0;
        SN_TRY(sn_context_advance(context, count + round));
        SN_TRY(find_softness(context, enrich, world, cage, energy, &all));
        memset(strained, 0, (size_t)count * sizeof *strained);
        for (size_t v = 0; v < cage->vertex_count; v++) {
            if (regions[v] >= 0) {
                strained[regions[v]] += energy[v];
            }
        }
        for (int32_t region = 0; region < count; region++) {
            most = fmax(most, strained[region]);
        }
        for (int32_t region = 0; region < count; region++) {
            softness[region] = most > 0.0 ? pow(all, fmax(strained[region], 0.0) / most) : all;
        }
        soften(enrich, cage, regions, softness, young);
    }
cleanup:
    sn_release(energy);
    sn_release(softness);
    sn_release(strained);
    sn_release(held);
    return status;
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
    SN_TRY(make_world(context, enrich, cage, material->young, material->mass, followed, &enrich->tets, world));
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
        SN_TRY(set_averages(context, enrich, cage, paint->averages, material->young));
    }
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
    SN_TRY_NEW(context, enrich->tangled, cage->vertex_count, unsigned char);
    SN_TRY_NEW(context, enrich->around, 4 * cage->vertex_count, double);
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
    sn_world_clear(&enrich->world);
    sn_tet_elements_clear(&enrich->tets);
    double *arrays[] = {enrich->cage_weights, enrich->areas, enrich->cage_follow, enrich->weights_begin, enrich->weights_end,
                        enrich->pose,         enrich->pose_velocity, enrich->shift, enrich->around, enrich->row_targets,
                        enrich->row_work, enrich->drive, enrich->drive_drag, enrich->push, enrich->most};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_release(enrich->held_begin);
    sn_release(enrich->held_end);
    sn_release(enrich->held);
    sn_release(enrich->tangled);
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

/* Signed volume of a tet over its volume at rest. */
static double relative_volume(const SnTetElements *tets, size_t tet, const double *positions)
{
    double edges[9];
    sn_mat3_edges(positions, tets->tets + 4 * tet, edges);
    return sn_mat3_determinant(edges) / (6.0 * tets->volume[tet]);
}

/* Marks the corners of tets that are inside out while the pose has them sound. Returns how many there are. */
static size_t find_tangled(SnEnrich *enrich, const double *pose, const double *positions)
{
    const SnTetElements *tets = &enrich->tets;
    size_t found = 0;
    memset(enrich->tangled, 0, enrich->world.vertex_count);
    for (size_t e = 0; e < tets->count; e++) {
        if (relative_volume(tets, e, positions) < 0.0 && relative_volume(tets, e, pose) > SN_ENRICH_SOUND_VOLUME) {
            for (size_t i = 0; i < 4; i++) {
                enrich->tangled[tets->tets[4 * e + i]] = 1;
            }
            found++;
        }
    }
    return found;
}

/* Draws the offset from the input at marked vertices a part of the way to the mean of those around: what is offset evenly has the shape
   that it has in the input. */
static void even_out(SnEnrich *enrich, const double *input, double *values)
{
    const SnWorld *world = &enrich->world;
    memset(enrich->around, 0, 4 * world->vertex_count * sizeof *enrich->around);
    for (size_t e = 0; e < enrich->tets.count; e++) {
        const int32_t *tet = enrich->tets.tets + 4 * e;
        double sum[3] = {0};
        for (int i = 0; i < 4; i++) {
            for (size_t a = 0; a < 3; a++) {
                sum[a] += values[3 * (size_t)tet[i] + a] - input[3 * (size_t)tet[i] + a];
            }
        }
        for (int i = 0; i < 4; i++) {
            double *at = enrich->around + 4 * (size_t)tet[i];
            for (size_t a = 0; a < 3; a++) {
                at[a] += sum[a] - (values[3 * (size_t)tet[i] + a] - input[3 * (size_t)tet[i] + a]);
            }
            at[3] += 3.0;
        }
    }
    for (size_t k = 0; k < 3 * world->vertex_count; k++) {
        int held = world->fixed[k / 3] || (enrich->settings.animated && enrich->held_end[k / 3]);
        if (enrich->tangled[k / 3] && !held) {
            double mean = enrich->around[4 * (k / 3) + k % 3] / enrich->around[4 * (k / 3) + 3];
            values[k] += MEND * (input[k] + mean - values[k]);
        }
    }
}

/* Mends tets that are inside out while the pose has them sound, a little in each call. Returns how many there are. */
static size_t mend(SnEnrich *enrich, const double *pose, const double *pose_velocity, SnState *state)
{
    size_t found = find_tangled(enrich, pose, state->positions);
    if (found > 0) {
        even_out(enrich, pose, state->positions);
        even_out(enrich, pose_velocity, state->velocities);
    }
    return found;
}

/* Averages as the input has them. */
static void impose_rows(SnEnrich *enrich, const double *input, double *values)
{
    sn_rows_apply(&enrich->world.constraints.rows, input, enrich->row_targets);
    sn_constraints_impose(&enrich->world.constraints, enrich->row_targets, enrich->row_work, values);
}

SnStatus sn_enrich_settle(SnContext *context, SnEnrich *enrich, const double *pose, double *positions, SnNewtonReport *report)
{
    SnStatus status = SN_OK;
    size_t count = 3 * enrich->world.vertex_count;
    SnInputCurve curve = {enrich->world.vertex_count, NULL, pose, pose, NULL, enrich->settings.interval, NULL};
    double tolerance = SETTLE_TOLERANCE * enrich->settings.tolerance * enrich->settings.size;
    SnStaticsSettings settings = {.max_rounds = SETTLE_ROUNDS, .step_tolerance = tolerance};
    SnState still = {.positions = positions};
    enrich->driver.curve = &curve;
    if (enrich->settings.animated) {
        set_drive(enrich, 0.0);
    }
    SN_TRY_NEW(context, still.velocities, count, double);
    SN_TRY(sn_statics_settle(context, &enrich->world, &enrich->steering, 0.0, &settings, NULL, positions, report));
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
                 .step_tolerance = settings->tolerance * settings->size},
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
