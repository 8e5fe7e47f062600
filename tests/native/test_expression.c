/* Expressions without inertia (methods, section 4): what a head does is felt, what a face does is not. */
#include "scenes.h"

#define YOUNG 5e4
#define FRAMES 36
#define SUBSTEPS 6
#define SHAKE 0.1
#define INTERVAL (1.0 / 24.0)
#define DRAG 2.0

/* An animation of a bar that is held at x = 0, as a head would hold it: it bends and swells (expression) while the whole of it is carried and
   turned (head). FRAMES x n each. */
typedef struct Performance {
    Scene scene;
    double *poses; /* of the input */
    double *light; /* E: what the expression has moved since frame 0, in the axes of the world */
    double damping; /* Rayleigh beta, s */
    SnExpression expression;
    double inertia;
} Performance;

/* How far the expression of a frame takes a point; nothing at x = 0. */
static void express(const double *rest, int frame, double strength, double out[3])
{
    double t = frame * INTERVAL, x = rest[0];
    double bend = strength * (0.6 * sin(9.0 * t) + 0.4 * sin(23.0 * t + 1.0) - 0.4 * sin(1.0));
    out[0] = 0.1 * bend * x;
    out[1] = 0.8 * bend * x * x;
    out[2] = 0.3 * strength * sin(13.0 * t) * x * x;
}

/* The head at a time, in frames: turned about z, and carried. */
static void place(double time, double shake, const double local[3], double out[3])
{
    double t = time * INTERVAL, angle = 0.4 * shake * sin(8.0 * t), c = cos(angle), s = sin(angle);
    out[0] = c * local[0] - s * local[1];
    out[1] = s * local[0] + c * local[1] + 0.05 * shake * sin(15.0 * t);
    out[2] = local[2] + 0.04 * shake * (1.0 - cos(11.0 * t));
}

static void turn_only(double time, double shake, const double local[3], double out[3])
{
    double origin[3] = {0}, base[3];
    place(time, shake, origin, base);
    place(time, shake, local, out);
    for (int a = 0; a < 3; a++) {
        out[a] -= base[a];
    }
}

static Performance perform(SnContext *context, double strength, double shake)
{
    Performance p = {.scene = scene_bar(context, 5, 1, YOUNG, &sn_density_neo_hookean), .damping = 2e-3};
    size_t n = p.scene.n;
    p.poses = SN_NEW(context, FRAMES * n, double);
    p.light = SN_NEW(context, FRAMES * n, double);
    for (int f = 0; f < FRAMES; f++) {
        for (size_t k = 0; k < n; k += 3) {
            const double *rest = p.scene.mesh.positions + k;
            double now[3], before[3], local[3], change[3], turned[3];
            express(rest, f, strength, now);
            express(rest, f > 0 ? f - 1 : 0, strength, before);
            for (int a = 0; a < 3; a++) {
                local[a] = rest[a] + now[a];
                change[a] = now[a] - before[a];
            }
            place(f, shake, local, p.poses + (size_t)f * n + k);
            turn_only(f - 0.5, shake, change, turned);
            for (size_t a = 0; a < 3; a++) {
                p.light[(size_t)f * n + k + a] = turned[a] + (f > 0 ? p.light[(size_t)(f - 1) * n + k + a] : 0.0);
            }
        }
    }
    return p;
}

static void performance_clear(Performance *p)
{
    sn_release(p->poses);
    sn_release(p->light);
    scene_clear(&p->scene);
}

static SnInputCurve curve_at(const Performance *p, const double *frames, int f)
{
    size_t n = p->scene.n;
    return (SnInputCurve){.vertex_count = p->scene.mesh.vertex_count,
                          .before = f > 0 ? frames + (size_t)(f - 1) * n : NULL,
                          .begin = frames + (size_t)f * n,
                          .end = frames + (size_t)(f + 1) * n,
                          .after = f + 2 < FRAMES ? frames + (size_t)(f + 2) * n : NULL,
                          .interval = INTERVAL};
}

/* Simulates it; `out` receives FRAMES x n positions. `light`: E of its frames; null: expressions have inertia. */
static void simulate(SnContext *context, Performance *p, SnScheme scheme, const double *light, double *out)
{
    size_t n = p->scene.n;
    SnStepper *stepper;
    SnState state;
    SnStepReport report = {0};
    const SnStepSettings settings = {.scheme = scheme, .expression = p->expression, .inertia = p->inertia, .step_tolerance = 1e-9};
    double *shift = SN_NEW(context, n, double);
    p->scene.driver.gravity[2] = -9.81;
    scene_keep(context, &p->scene, 1.0);
    sn_world_damp(&p->scene.world, DRAG, p->damping);
    CHECK(sn_stepper_create(context, &p->scene.world, &settings, &stepper) == SN_OK);
    CHECK(sn_state_init(context, p->scene.mesh.vertex_count, &state) == SN_OK);
    int failures = 0;
    for (int f = 0; f + 1 < FRAMES; f++) {
        SnInputCurve curve = curve_at(p, p->poses, f), expression = light ? curve_at(p, light, f) : curve;
        curve.light = light ? &expression : NULL;
        if (f == 0) {
            sn_input_curve_follow(&curve, 0.0, state.positions, state.velocities, shift);
            memcpy(out, state.positions, n * sizeof *out);
        }
        for (int k = 0; k < SUBSTEPS; k++) {
            failures += scene_step(context, &p->scene, stepper, &curve, (double)k / SUBSTEPS, (k + 1.0) / SUBSTEPS, &state, &report) != SN_OK;
        }
        memcpy(out + (size_t)(f + 1) * n, state.positions, n * sizeof *out);
    }
    CHECK(failures == 0 && report.unconverged == 0);
    sn_stepper_destroy(stepper);
    sn_state_clear(&state);
    sn_release(shift);
}

static void still_head_gives_back_its_expressions_and_an_ordinary_step_does_not(void)
{
    for (int scheme = 0; scheme < 2; scheme++) {
        SnContext context;
        sn_context_init(&context);
        Performance p = perform(&context, 1.0, 0.0);
        size_t count = FRAMES * p.scene.n;
        double *out = SN_NEW(&context, count, double);
        simulate(&context, &p, scheme ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2, p.light, out);
        double motion = 0.0;
        for (size_t k = 0; k < count; k++) {
            motion = fmax(motion, fabs(p.light[k]));
        }
        CHECK(motion > 0.1);
        CHECK(scene_distance(out, p.poses, count) < 1e-7 * 0.5);
        simulate(&context, &p, scheme ? SN_SCHEME_IMPLICIT_EULER : SN_SCHEME_TR_BDF2, NULL, out);
        CHECK(scene_distance(out, p.poses, count) > 0.05 * motion);
        sn_release(out);
        performance_clear(&p);
    }
}

/* Offsets from the input, turned back into the head's axes. */
static void offsets(const Performance *p, double shake, const double *out, double *offset)
{
    size_t n = p->scene.n;
    for (int f = 0; f < FRAMES; f++) {
        for (size_t k = (size_t)f * n; k < (size_t)(f + 1) * n; k += 3) {
            double angle = -0.4 * shake * sin(8.0 * f * INTERVAL), c = cos(angle), s = sin(angle);
            double d[3] = {out[k] - p->poses[k], out[k + 1] - p->poses[k + 1], out[k + 2] - p->poses[k + 2]};
            offset[k] = c * d[0] - s * d[1];
            offset[k + 1] = s * d[0] + c * d[1];
            offset[k + 2] = d[2];
        }
    }
}

static double root_mean_square(const double *values, size_t count)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        sum += values[k] * values[k];
    }
    return sqrt(sum / (double)count);
}

static void shaken_head_jiggles_alike_whether_it_talks_or_not(void)
{
    SnContext context;
    sn_context_init(&context);
    Performance silent = perform(&context, 0.0, SHAKE), talking = perform(&context, 0.2, SHAKE);
    size_t count = FRAMES * silent.scene.n;
    double *out = SN_NEW(&context, count, double), *quiet = SN_NEW(&context, count, double), *spoken = SN_NEW(&context, count, double);
    simulate(&context, &silent, SN_SCHEME_TR_BDF2, silent.light, out);
    offsets(&silent, SHAKE, out, quiet);
    simulate(&context, &talking, SN_SCHEME_TR_BDF2, talking.light, out);
    offsets(&talking, SHAKE, out, spoken);
    double jiggle = root_mean_square(quiet, count);
    CHECK(jiggle > 0.002);
    CHECK(root_mean_square(spoken, count) > 0.9 * jiggle && root_mean_square(spoken, count) < 1.1 * jiggle);
    for (size_t k = 0; k < count; k++) {
        spoken[k] -= quiet[k];
    }
    CHECK(root_mean_square(spoken, count) < 0.1 * jiggle);
    simulate(&context, &talking, SN_SCHEME_TR_BDF2, NULL, out); /* with inertia, talking adds to it */
    offsets(&talking, SHAKE, out, spoken);
    for (size_t k = 0; k < count; k++) {
        spoken[k] -= quiet[k];
    }
    CHECK(root_mean_square(spoken, count) > 0.5 * jiggle);
    sn_release(out);
    sn_release(quiet);
    sn_release(spoken);
    performance_clear(&silent);
    performance_clear(&talking);
}

static void expression_that_never_moves_leaves_the_bits(void)
{
    SnContext context;
    sn_context_init(&context);
    Performance p = perform(&context, 0.3, 1.0);
    size_t count = FRAMES * p.scene.n;
    double *none = SN_NEW(&context, count, double), *out = SN_NEW(&context, count, double), *same = SN_NEW(&context, count, double);
    simulate(&context, &p, SN_SCHEME_TR_BDF2, NULL, out);
    simulate(&context, &p, SN_SCHEME_TR_BDF2, none, same);
    CHECK(scene_same_bits(out, same, count));
    sn_release(none);
    sn_release(out);
    sn_release(same);
    performance_clear(&p);
}

/* The second way to the same, as an oracle: dynamic rebalancing (methods, section 4 "The paper's step, corrected"), in implicit Euler without inner
   damping. A dynamic solve with the old expression, and a static one with the new, in which the force of the first is a load. */
typedef struct Rebalancing {
    Performance *p;
    SnNewton *dynamic, *still;
    SnKeepPose old, new;                     /* the expression before and after */
    double *pose_old, *pose_new, *light_old, *light_new;
    double *between;                         /* the new head with the old expression */
    double *x, *v;                           /* the state */
    double *diagonal, *targets, *partial, *gradients;
    double *found[2], *force[2];             /* of the dynamic solve with the old expression, and with the new */
} Rebalancing;

/* A dynamic solve with a rest shape, and fixed vertices in a pose: where it leads to and the inner force that is there. */
static void solve_dynamic(SnContext *context, Rebalancing *r, double h, SnKeepPose *rest, const double *pose, double *x, double *force)
{
    Scene *scene = &r->p->scene;
    SnTermInput input = {.data = &rest->input};
    SnNewtonReport report = {0};
    const SnNewtonSettings settings = {.max_rounds = 60, .step_tolerance = 1e-10};
    for (size_t k = 0; k < scene->n; k++) {
        double inertia = scene->mass[k / 3] / (h * h), drag = DRAG * scene->mass[k / 3] / h, carried = r->x[k] + pose[k] - r->pose_old[k];
        r->diagonal[k / 3] = inertia + drag;
        r->targets[k] = (inertia * (r->x[k] + h * r->v[k]) + drag * carried) / (inertia + drag);
        x[k] = scene->fixed[k / 3] ? pose[k] : carried;
    }
    SnObjective objective = {.inputs = &input, .scale = 1.0, .diagonal = r->diagonal, .targets = r->targets};
    CHECK(sn_newton_minimise(context, r->dynamic, &objective, &settings, x, &report) == SN_OK && report.converged);
    (void)sn_terms_value(1, scene->world.terms, &input, x, r->partial, r->gradients);
    sn_assembly_gather_gradient(&scene->world.assembly, r->gradients, force);
}

/* One step; `dial`: 1 rebalances, 0 is an ordinary step. */
static void rebalance(SnContext *context, Rebalancing *r, double h, double dial)
{
    Scene *scene = &r->p->scene;
    SnTermInput input = {.data = &r->new.input};
    SnNewtonReport report = {0};
    const SnNewtonSettings settings = {.max_rounds = 60, .step_tolerance = 1e-10};
    for (size_t k = 0; k < scene->n; k++) {
        r->between[k] = r->pose_new[k] - (r->light_new[k] - r->light_old[k]);
    }
    sn_keep_pose_prepare(&r->old, r->pose_old);
    sn_keep_pose_prepare(&r->new, r->pose_new);
    solve_dynamic(context, r, h, &r->old, r->between, r->found[0], r->force[0]);
    if (dial < 1.0) {
        solve_dynamic(context, r, h, &r->new, r->pose_new, r->found[1], r->force[1]);
    }
    for (size_t k = 0; k < scene->n; k++) {
        double first = r->found[0][k], second = dial < 1.0 ? r->found[1][k] : 0.0;
        double velocity = (dial * (first - r->x[k]) + (1.0 - dial) * (dial < 1.0 ? second - r->x[k] : 0.0)) / h;
        double start = dial * (first + r->light_new[k] - r->light_old[k]) + (1.0 - dial) * second;
        r->force[0][k] = dial * r->force[0][k] + (1.0 - dial) * (dial < 1.0 ? r->force[1][k] : 0.0);
        r->diagonal[k / 3] = 0.0;
        r->v[k] = velocity;
        r->x[k] = scene->fixed[k / 3] ? r->pose_new[k] : start;
    }
    SnObjective objective = {.inputs = &input, .scale = 1.0, .diagonal = r->diagonal, .targets = r->pose_new, .loads = r->force[0]};
    CHECK(sn_newton_minimise(context, r->still, &objective, &settings, r->x, &report) == SN_OK && report.converged);
}

/* As `simulate`. Call it after that: it takes the scene as it is then. */
static void simulate_rebalanced(SnContext *context, Performance *p, double dial, double *out)
{
    Scene *scene = &p->scene;
    size_t n = scene->n, corners = sn_terms_corner_count(1, scene->world.terms);
    Rebalancing r = {.p = p};
    double **arrays[] = {&r.pose_old, &r.pose_new, &r.light_old, &r.light_new, &r.between,  &r.x,        &r.v,       &r.diagonal,
                         &r.targets,  &r.partial,  &r.found[0],  &r.found[1],  &r.force[0], &r.force[1], &r.gradients};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k] = SN_NEW(context, arrays[k] == &r.gradients ? 3 * corners : n, double);
    }
    CHECK(sn_newton_create(context, 1, scene->world.terms, &scene->world.assembly, &r.dynamic) == SN_OK);
    CHECK(sn_newton_create(context, 1, scene->world.terms, &scene->world.assembly, &r.still) == SN_OK);
    CHECK(sn_keep_pose_init(context, scene->elements, scene->mesh.vertex_count, 1.0, &r.old) == SN_OK);
    CHECK(sn_keep_pose_init(context, scene->elements, scene->mesh.vertex_count, 1.0, &r.new) == SN_OK);
    for (int f = 0; f + 1 < FRAMES; f++) {
        SnInputCurve curve = curve_at(p, p->poses, f), expression = curve_at(p, p->light, f);
        curve.light = dial > 0.0 ? &expression : NULL;
        if (f == 0) {
            sn_input_curve_follow(&curve, 0.0, r.x, r.v, r.between);
            memcpy(out, r.x, n * sizeof *out);
        }
        for (int k = 0; k < SUBSTEPS; k++) {
            double begin = (double)k / SUBSTEPS, end = (k + 1.0) / SUBSTEPS;
            sn_input_curve_evaluate(&curve, begin, r.pose_old, NULL);
            sn_input_curve_evaluate(&curve, end, r.pose_new, NULL);
            sn_input_curve_evaluate(&expression, begin, r.light_old, NULL);
            sn_input_curve_evaluate(&expression, end, r.light_new, NULL);
            rebalance(context, &r, INTERVAL / SUBSTEPS, dial);
        }
        memcpy(out + (size_t)(f + 1) * n, r.x, n * sizeof *out);
    }
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(*arrays[k]);
    }
    sn_keep_pose_clear(&r.old);
    sn_keep_pose_clear(&r.new);
    sn_newton_destroy(r.dynamic);
    sn_newton_destroy(r.still);
}

/* The stepper's own against that. */
static void stepper_rebalances(void)
{
    SnContext context;
    sn_context_init(&context);
    for (int k = 0; k < 3; k++) {
        Performance p = perform(&context, 0.2, SHAKE);
        size_t count = FRAMES * p.scene.n;
        double *out = SN_NEW(&context, count, double), *truth = SN_NEW(&context, count, double);
        p.damping = 0.0;
        p.expression = SN_EXPRESSION_REBALANCED;
        p.inertia = 0.45 * k;
        simulate(&context, &p, SN_SCHEME_IMPLICIT_EULER, p.light, out);
        simulate_rebalanced(&context, &p, 1.0 - p.inertia, truth);
        CHECK(scene_distance(out, truth, count) < 1e-6 * 0.5);
        sn_release(out);
        sn_release(truth);
        performance_clear(&p);
    }
}

static void rebalancing_agrees(void)
{
    SnContext context;
    sn_context_init(&context);
    Performance p = perform(&context, 0.2, SHAKE);
    size_t count = FRAMES * p.scene.n;
    double *out = SN_NEW(&context, count, double), *ours = SN_NEW(&context, count, double), *theirs = SN_NEW(&context, count, double);
    p.damping = 0.0;
    simulate(&context, &p, SN_SCHEME_IMPLICIT_EULER, p.light, out);
    offsets(&p, SHAKE, out, ours);
    double jiggle = root_mean_square(ours, count);
    simulate_rebalanced(&context, &p, 1.0, out);
    offsets(&p, SHAKE, out, theirs);
    CHECK(jiggle > 0.001);
    CHECK(fabs(root_mean_square(theirs, count) / jiggle - 1.0) < 0.03);
    for (size_t k = 0; k < count; k++) { /* it turns with what bends: measured 0.057, and no less with shorter steps */
        theirs[k] -= ours[k];
    }
    CHECK(root_mean_square(theirs, count) < 0.08 * jiggle);
    simulate(&context, &p, SN_SCHEME_IMPLICIT_EULER, NULL, ours); /* the other end of the dial */
    simulate_rebalanced(&context, &p, 0.0, out);
    CHECK(scene_distance(out, ours, count) < 1e-6 * 0.5);
    performance_clear(&p);
    p = perform(&context, 1.0, 0.0);
    simulate_rebalanced(&context, &p, 1.0, out);
    CHECK(scene_distance(out, p.poses, count) < 1e-7 * 0.5);
    performance_clear(&p);
    sn_release(out);
    sn_release(ours);
    sn_release(theirs);
}

int main(void)
{
    still_head_gives_back_its_expressions_and_an_ordinary_step_does_not();
    shaken_head_jiggles_alike_whether_it_talks_or_not();
    expression_that_never_moves_leaves_the_bits();
    rebalancing_agrees();
    stepper_rebalances();
    return CHECK_RESULT();
}
