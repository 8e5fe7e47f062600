/* What every kind of term promises (energy/term.h), asked of each by one table: a new kind, or a new material, is one more row. */
#include "sheets.h"

#include "base/parallel.h"
#include "math/mat3.h"

/* A body of one kind, at rest. */
typedef struct Body {
    SnTerm term;
    size_t vertex_count;
    double *rest;
    SnTetElements tets;
    SnTetMesh mesh;
    Sheet sheet;
    union {
        SnTetInput tets;
        SnTriangleInput triangles;
        SnHingeInput hinges;
    } input; /* all that a stage may change, as this body is built: for another one an input that makes it like this */
} Body;

/* The same stencils of two bodies: the second in another rest shape and of twice the stiffness. */
enum { PLAIN, OTHER };

static void make_tets(SnContext *context, int cells, int which, const SnDensity *energy, double poisson, Body *body)
{
    uint64_t seed = 77;
    body->mesh = scene_box(context, cells, 1, 1, 0.1);
    for (size_t k = 0; k < 3 * body->mesh.vertex_count && which == OTHER; k++) {
        body->mesh.positions[k] += 0.01 * scene_signed(&seed);
    }
    CHECK(sn_tet_elements_init(context, &body->mesh, energy, &body->tets) == SN_OK);
    for (size_t e = 0; e < body->tets.count; e++) {
        sn_tet_elements_set_material(&body->tets, e, (which == OTHER ? 200.0 : 100.0) * (double)(1 + e % 3), poisson);
    }
    body->term = sn_tet_elements_term(&body->tets);
    body->vertex_count = body->mesh.vertex_count;
    body->rest = scene_copy(context, body->mesh.positions, 3 * body->vertex_count);
    body->input.tets = (SnTetInput){body->tets.inverse_rest, body->tets.volume, body->tets.mu, body->tets.lambda, 1};
}

static void make_neo_hookean(SnContext *context, int cells, int which, Body *body)
{
    make_tets(context, cells, which, &sn_density_neo_hookean, 0.3, body);
}

static void make_stvk(SnContext *context, int cells, int which, Body *body)
{
    make_tets(context, cells, which, &sn_density_stvk, 0.3, body);
}

static void make_as_rigid(SnContext *context, int cells, int which, Body *body)
{
    make_tets(context, cells, which, &sn_density_as_rigid, 0.0, body);
}

static void make_sheet(SnContext *context, int cells, int which, Body *body)
{
    SheetMaterial paper = {.young = which == OTHER ? 4e3 : 2e3, .poisson = 0.3, .density = 1000.0, .thickness = 0.02};
    body->sheet = sheet_strip(context, cells, 3, 0.1, which == OTHER ? 0.035 : 0.02, paper);
    body->vertex_count = body->sheet.vertex_count;
    body->rest = scene_copy(context, body->sheet.positions, 3 * body->vertex_count);
}

static void make_triangles(SnContext *context, int cells, int which, Body *body)
{
    const SnTriangles *membrane = &body->sheet.membrane;
    make_sheet(context, cells, which, body);
    body->term = sn_triangles_term(membrane);
    body->input.triangles = (SnTriangleInput){membrane->inverse_rest, membrane->area, membrane->mu, membrane->lambda};
}

/* Threads along and across a direction that no edge has, the warp far stiffer than the weft. They are no part of an input. */
static void make_woven(SnContext *context, int cells, int which, Body *body)
{
    make_triangles(context, cells, which, body);
    SnTriangles *membrane = &body->sheet.membrane;
    double *directions = SN_NEW(context, 3 * membrane->count, double);
    Sheet plain = sheet_strip(context, cells, 3, 0.1, 0.02, (SheetMaterial){1.0, 0.3, 1.0, 1.0});
    for (size_t t = 0; t < membrane->count; t++) {
        directions[3 * t] = 1.0;
        directions[3 * t + 1] = 0.4;
        directions[3 * t + 2] = 0.1 * (double)(t % 3);
    }
    CHECK(sn_triangles_weave(context, membrane, plain.positions, directions) == SN_OK);
    for (size_t t = 0; t < membrane->count; t++) {
        CHECK_NEAR(hypot(membrane->threads[4 * t], membrane->threads[4 * t + 1]), 1.0, 1e-12);
        membrane->threads[4 * t + 2] = 1.5e4;
        membrane->threads[4 * t + 3] = 4e2;
    }
    sheet_clear(&plain);
    sn_release(directions);
}

/* Beyond its limit where it is stretched for the test of its Hessian. */
static void make_limited(SnContext *context, int cells, int which, Body *body)
{
    make_triangles(context, cells, which, body);
    body->sheet.membrane.limit = 0.03;
}

/* All that bends them stays, and makes them stiffer. */
static void make_hinges(SnContext *context, int cells, int which, Body *body)
{
    SnHinges *hinges = &body->sheet.hinges;
    make_sheet(context, cells, which, body);
    for (size_t h = 0; h < hinges->count; h++) {
        hinges->yield[h] = 0.0;
    }
    hinges->hardening = 0.3;
    body->term = sn_hinges_term(hinges);
    body->input.hinges = (SnHingeInput){hinges->rest_angle, hinges->stiffness};
}

/* `stretch`: of the rest shape, where nothing of the Hessian is projected. */
static const struct Row {
    const char *name;
    void (*make)(SnContext *context, int cells, int which, Body *body);
    double stretch;
    int chunky; /* cells that give several chunks of stencils */
} ROWS[] = {
    {"tets, stable neo-Hookean", make_neo_hookean, 1.02, 400},
    {"tets, St. Venant-Kirchhoff", make_stvk, 1.02, 400},
    {"tets, as rigid as possible", make_as_rigid, 1.02, 400},
    {"triangles", make_triangles, 1.1, 400},
    {"triangles with threads", make_woven, 1.1, 400},
    {"triangles with a limit", make_limited, 1.1, 400},
    {"hinges", make_hinges, 1.0, 200},
};
#define ROW_COUNT (sizeof ROWS / sizeof *ROWS)

static void body_clear(Body *body)
{
    sn_tet_elements_clear(&body->tets);
    sn_tet_mesh_clear(&body->mesh);
    sheet_clear(&body->sheet);
    sn_release(body->rest);
}

/* A body with room for what its term writes. */
typedef struct Test {
    SnContext context;
    Body body, other;
    size_t n, blocks; /* scalars; 3x3 blocks of all stencils */
    double *x, *gradients, *stiffness, *partial, *shape, *force, *inner;
    SnTermInput input;
} Test;

static void test_init(const struct Row *row, int cells, Test *test)
{
    memset(test, 0, sizeof *test);
    sn_context_init(&test->context);
    row->make(&test->context, cells, PLAIN, &test->body);
    row->make(&test->context, cells, OTHER, &test->other);
    const SnTerm *term = &test->body.term;
    test->n = 3 * test->body.vertex_count;
    test->blocks = sn_terms_block_count(1, term);
    test->x = scene_copy(&test->context, test->body.rest, test->n);
    test->gradients = SN_NEW(&test->context, 3 * sn_terms_corner_count(1, term), double);
    test->stiffness = SN_NEW(&test->context, 9 * test->blocks, double);
    test->partial = SN_NEW(&test->context, sn_terms_partial_count(1, term), double);
    test->shape = SN_NEW(&test->context, (size_t)term->kind->damping_size * term->stencils.count, double);
    test->force = SN_NEW(&test->context, test->n, double);
    test->inner = SN_NEW(&test->context, (size_t)term->kind->inner_size * term->stencils.count, double);
    CHECK(term->kind->corners == term->stencils.corners && term->stencils.count > 0);
}

static void test_clear(Test *test)
{
    double *arrays[] = {test->x, test->gradients, test->stiffness, test->partial, test->shape, test->force, test->inner};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    body_clear(&test->body);
    body_clear(&test->other);
}

/* Positions of the rest shape that the input has, stretched, each moved by up to `amplitude`. The caller releases them. */
static double *shaken(Test *test, uint64_t seed, double stretch, double amplitude)
{
    const double *rest = test->input.data != NULL ? test->other.rest : test->body.rest;
    double *x = SN_NEW(&test->context, test->n, double);
    for (size_t k = 0; k < test->n; k++) {
        x[k] = stretch * rest[k] + amplitude * scene_signed(&seed);
    }
    return x;
}

/* Turned by `angle` about (1, 2, 2)/3 and moved. */
static void turn(const double *from, size_t n, double angle, double *to)
{
    const double axis[3] = {1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0};
    for (size_t k = 0; k < n; k += 3) {
        double across[3], along = sn_dot3(axis, from + k);
        sn_cross3(axis, from + k, across);
        for (size_t a = 0; a < 3; a++) {
            to[k + a] = cos(angle) * from[k + a] + sin(angle) * across[a] + (1.0 - cos(angle)) * along * axis[a] + 0.3;
        }
    }
}

static double value_of(Test *test, const double *x)
{
    return test->body.term.kind->value(test->body.term.elements, &test->input, x, test->partial, NULL);
}

/* Energy, with the slope of each vertex in test->force. */
static double slope_of(Test *test, const double *x)
{
    const SnTerm *term = &test->body.term;
    double value = term->kind->value(term->elements, &test->input, x, test->partial, test->gradients);
    memset(test->force, 0, test->n * sizeof *test->force);
    for (size_t k = 0; k < 3 * sn_terms_corner_count(1, term); k++) {
        test->force[3 * (size_t)term->stencils.vertices[k / 3] + k % 3] += test->gradients[k];
    }
    return value;
}

/* The Hessian as a whole matrix (n x n), which the caller releases. */
static double *hessian_of(Test *test, const double *x)
{
    const SnTerm *term = &test->body.term;
    double *dense = SN_NEW(&test->context, test->n * test->n, double), *block = test->stiffness;
    term->kind->stiffness(term->elements, &test->input, x, test->stiffness);
    for (size_t e = 0; e < term->stencils.count; e++) {
        const int32_t *corner = term->stencils.vertices + e * (size_t)term->stencils.corners;
        for (int i = 0; i < term->stencils.corners; i++) {
            for (int j = 0; j <= i; j++, block += 9) {
                for (size_t k = 0; k < 9; k++) {
                    size_t row = 3 * (size_t)corner[i] + k / 3, column = 3 * (size_t)corner[j] + k % 3;
                    dense[row * test->n + column] += block[k];
                    dense[column * test->n + row] += i != j ? block[k] : 0.0;
                }
            }
        }
    }
    return dense;
}

/* Damping turned as one random shape and centred at another; `scale` (stencils) receives factors. */
static double *damp_at_random(Test *test, uint64_t seed)
{
    const SnTerm *term = &test->body.term;
    double *like = shaken(test, seed, 1.05, 0.01), *centre = shaken(test, seed + 1, 0.98, 0.01);
    double *scale = SN_NEW(&test->context, term->stencils.count, double);
    for (size_t e = 0; e < term->stencils.count; e++) {
        scale[e] = 0.5 * (double)(e % 4);
    }
    term->kind->damp(term->elements, &test->input, like, centre, test->shape);
    test->input.damping = (SnDamping){.factor = 1.7, .scale = scale, .shape = test->shape};
    sn_release(like);
    sn_release(centre);
    return scale;
}

/* What a state carries that has been in a shape. */
static void carry_on_from(Test *test, const double *x)
{
    const SnTerm *term = &test->body.term;
    if (term->kind->inner_size > 0) {
        term->kind->begin(term->elements, test->inner);
        term->kind->flow(term->elements, &test->input, x, test->inner);
        test->input.inner = test->inner;
    }
}

/* Each trial adds something: as built, another shape, damped, another input, and what a state carries. */
#define TRIALS 5
static double *prepare_trial(Test *test, int trial)
{
    if (trial >= 3) {
        test->input.data = &test->other.input;
    }
    if (trial == 4) {
        double *before = shaken(test, 40, 1.1, 0.02);
        carry_on_from(test, before);
        sn_release(before);
    }
    return trial >= 2 ? damp_at_random(test, 20) : NULL;
}

static void the_gradient_is_that_of_the_energy(const struct Row *row)
{
    for (int trial = 0; trial < TRIALS; trial++) {
        Test test;
        test_init(row, 3, &test);
        double *scale = prepare_trial(&test, trial), *x = shaken(&test, (uint64_t)trial, 1.0, trial == 1 ? 0.03 : 0.01);
        double worst = 0.0, largest = 0.0, h = 1e-5 * 0.1;
        slope_of(&test, x);
        for (size_t k = 0; k < test.n; k++) {
            double at = x[k], up, down, far_up, far_down;
            x[k] = at + h, up = value_of(&test, x);
            x[k] = at - h, down = value_of(&test, x);
            x[k] = at + 2.0 * h, far_up = value_of(&test, x);
            x[k] = at - 2.0 * h, far_down = value_of(&test, x);
            x[k] = at;
            double slope = (8.0 * (up - down) - (far_up - far_down)) / (12.0 * h);
            worst = fmax(worst, fabs(slope - test.force[k]));
            largest = fmax(largest, fabs(test.force[k]));
        }
        if (!CHECK(largest > 0.0 && worst < 1e-6 * largest)) {
            printf("  %s, trial %d: %g of %g\n", row->name, trial, worst, largest);
        }
        sn_release(x);
        sn_release(scale);
        test_clear(&test);
    }
}

static void the_stiffness_is_that_of_the_energy_where_nothing_is_projected(const struct Row *row)
{
    for (int trial = 0; trial < TRIALS; trial++) {
        Test test;
        test_init(row, 3, &test);
        int carries = trial == 4 && test.body.term.kind->inner_size > 0; /* what has given way here is exact here */
        double *scale = prepare_trial(&test, trial);
        double *x = shaken(&test, 3, row->stretch, carries ? 0.01 : row->stretch > 1.0 ? 1e-4 : 0.0);
        turn(x, test.n, 0.7, x);
        if (carries) {
            carry_on_from(&test, x);
        }
        double *dense = hessian_of(&test, x), *up = SN_NEW(&test.context, test.n, double), worst = 0.0, largest = 0.0, h = 1e-6 * 0.1;
        for (size_t k = 0; k < test.n; k++) {
            double at = x[k];
            x[k] = at + h;
            slope_of(&test, x);
            memcpy(up, test.force, test.n * sizeof *up);
            x[k] = at - h;
            slope_of(&test, x);
            x[k] = at;
            for (size_t i = 0; i < test.n; i++) {
                worst = fmax(worst, fabs((up[i] - test.force[i]) / (2.0 * h) - dense[i * test.n + k]));
                largest = fmax(largest, fabs(dense[i * test.n + k]));
            }
        }
        if (!CHECK(largest > 0.0 && worst < 1e-6 * largest)) {
            printf("  %s, trial %d: %g of %g\n", row->name, trial, worst, largest);
        }
        sn_release(x);
        sn_release(scale);
        sn_release(dense);
        sn_release(up);
        test_clear(&test);
    }
}

/* In any shape, crushed, inside out or flat. */
static void the_stiffness_of_each_stencil_is_positive_semi_definite(const struct Row *row)
{
    for (int trial = 0; trial < 2 * TRIALS; trial++) {
        Test test;
        test_init(row, 3, &test);
        const SnTerm *term = &test.body.term;
        double *scale = prepare_trial(&test, trial / 2), amplitude = 1e-3 * pow(10.0, 0.5 * (trial % 8)), least = 0.0, largest = 0.0;
        double *x = shaken(&test, (uint64_t)trial, trial % 3 == 0 ? 0.5 : 1.0, amplitude);
        for (size_t k = 2; k < test.n && trial == 7; k += 3) {
            x[k] = 0.0; /* flat */
        }
        term->kind->stiffness(term->elements, &test.input, x, test.stiffness);
        size_t corners = (size_t)term->stencils.corners, size = 3 * corners;
        for (size_t e = 0; e < term->stencils.count; e++) {
            double matrix[144], eigenvalues[12], *block = test.stiffness + 9 * (test.blocks / term->stencils.count) * e;
            for (size_t i = 0; i < corners; i++) {
                for (size_t j = 0; j <= i; j++, block += 9) {
                    for (size_t k = 0; k < 9; k++) {
                        matrix[(3 * i + k / 3) * size + 3 * j + k % 3] = matrix[(3 * j + k % 3) * size + 3 * i + k / 3] = block[k];
                    }
                    for (size_t k = 0; k < 9 && i == j; k++) {
                        CHECK(fabs(block[k] - block[3 * (k % 3) + k / 3]) <= 1e-12 * (fabs(block[0]) + fabs(block[4]) + fabs(block[8])));
                    }
                }
            }
            dense_eigen(size, matrix, eigenvalues, NULL);
            least = fmin(least, eigenvalues[0] / fmax(eigenvalues[size - 1], 1e-300));
            largest = fmax(largest, eigenvalues[size - 1]);
        }
        if (!CHECK(isfinite(largest) && largest > 0.0 && least > -1e-12)) {
            printf("  %s, trial %d: %g\n", row->name, trial, least);
        }
        sn_release(x);
        sn_release(scale);
        test_clear(&test);
    }
}

static void rigid_motion_costs_nothing_and_no_force_or_torque_is_left_over(const struct Row *row)
{
    Test test;
    test_init(row, 4, &test);
    double *turned = SN_NEW(&test.context, test.n, double), *x = shaken(&test, 5, 1.05, 0.01), force[3] = {0}, torque[3] = {0};
    double deformed = slope_of(&test, x), largest = 0.0, left = 0.0, rounding = test.body.term.kind->rounding(test.body.term.elements);
    for (size_t k = 0; k < test.n; k += 3) {
        double moment[3];
        sn_cross3(x + k, test.force + k, moment);
        for (size_t a = 0; a < 3; a++) {
            force[a] += test.force[k + a];
            torque[a] += moment[a];
            largest = fmax(largest, fabs(test.force[k + a]));
        }
    }
    CHECK(sqrt(sn_dot3(force, force)) < 1e-12 * largest && sqrt(sn_dot3(torque, torque)) < 1e-12 * largest);
    CHECK(rounding > 0.0 && rounding < 1e-6 * deformed);
    for (int k = 1; k <= 8; k++) {
        turn(x, test.n, 0.8 * k, turned);
        CHECK_NEAR(value_of(&test, turned), deformed, 1e-12 * deformed);
        turn(test.body.rest, test.n, 0.8 * k, turned);
        CHECK(slope_of(&test, turned) < 1e-12 * deformed);
        for (size_t i = 0; i < test.n; i++) {
            left = fmax(left, fabs(test.force[i]));
        }
    }
    CHECK(left < 1e-10 * largest);
    sn_release(turned);
    sn_release(x);
    test_clear(&test);
}

/* In the rest shape, however it has turned, the damping matrix is a multiple of the stiffness: so no turning is resisted. At the centre
   there is no force. */
static void damping_is_the_stiffness_of_small_strains_and_turns_with_the_body(const struct Row *row)
{
    Test test;
    test_init(row, 3, &test);
    const SnTerm *term = &test.body.term;
    turn(test.body.rest, test.n, 1.2, test.x);
    double *plain = hessian_of(&test, test.x), worst = 0.0, largest = 0.0, left = 0.0;
    term->kind->damp(term->elements, &test.input, test.x, test.x, test.shape);
    test.input.damping = (SnDamping){.factor = 0.7, .shape = test.shape};
    double *damped = hessian_of(&test, test.x);
    CHECK(slope_of(&test, test.x) < 1e-18 * fabs(plain[0]));
    for (size_t k = 0; k < test.n; k++) {
        left = fmax(left, fabs(test.force[k]));
    }
    for (size_t k = 0; k < test.n * test.n; k++) {
        worst = fmax(worst, fabs(damped[k] - 1.7 * plain[k]));
        largest = fmax(largest, fabs(plain[k]));
    }
    CHECK(largest > 0.0 && worst < 1e-12 * largest && left < 1e-12 * largest);
    sn_release(plain);
    sn_release(damped);
    test_clear(&test);
}

/* All that the term of a body finds in a shape, damped, is what that of another body finds which is told to be like it. */
static void another_input_is_another_body(const struct Row *row)
{
    Test test;
    test_init(row, 3, &test);
    const SnTerm *term = &test.body.term;
    size_t sizes[3] = {3 * sn_terms_corner_count(1, term), 9 * test.blocks, (size_t)term->kind->damping_size * term->stencils.count};
    double *kept[3] = {NULL}, *x = shaken(&test, 2, 1.0, 0.01), plain = value_of(&test, x), values[2];
    const double *results[3] = {test.gradients, test.stiffness, test.shape};
    for (int told = 0; told < 2; told++) {
        const void *elements = told ? test.body.term.elements : test.other.term.elements;
        test.input = (SnTermInput){.data = told ? &test.other.input : NULL};
        term->kind->damp(elements, &test.input, test.other.rest, test.body.rest, test.shape);
        test.input.damping = (SnDamping){.factor = 0.4, .shape = test.shape};
        values[told] = term->kind->value(elements, &test.input, x, test.partial, test.gradients);
        term->kind->stiffness(elements, &test.input, x, test.stiffness);
        for (int r = 0; r < 3; r++) {
            kept[r] = told ? kept[r] : scene_copy(&test.context, results[r], sizes[r]);
            CHECK(scene_same_bits(kept[r], results[r], sizes[r]));
        }
    }
    CHECK(scene_same_bits(values, values + 1, 1) && values[0] > 1.1 * plain);
    for (int r = 0; r < 3; r++) {
        sn_release(kept[r]);
    }
    sn_release(x);
    test_clear(&test);
}

/* At its beginning a state carries nothing that is felt; what has flowed is. */
static void what_a_state_carries_is_felt(const struct Row *row)
{
    Test test;
    test_init(row, 3, &test);
    const SnTerm *term = &test.body.term;
    double *x = shaken(&test, 6, 1.0, 0.01), *before = shaken(&test, 7, 1.0, 0.02), plain = value_of(&test, x);
    CHECK((term->kind->begin != NULL) == (term->kind->inner_size > 0) && (term->kind->flow != NULL) == (term->kind->inner_size > 0));
    if (term->kind->inner_size > 0) {
        term->kind->begin(term->elements, test.inner);
        test.input.inner = test.inner;
        double fresh = value_of(&test, x);
        CHECK(scene_same_bits(&fresh, &plain, 1));
        carry_on_from(&test, before);
        CHECK(fabs(value_of(&test, x) - plain) > 0.1 * plain);
        carry_on_from(&test, x); /* all of it stays */
        CHECK(value_of(&test, x) < 1e-12 * plain);
    }
    sn_release(x);
    sn_release(before);
    test_clear(&test);
}

/* A kind that can be inside out tells so, and on the way to its mirror image, where it is told to keep its sides, allows the part that it
   is not. */
static void a_step_ends_before_a_stencil_turns_inside_out(const struct Row *row)
{
    Test test;
    test_init(row, 3, &test);
    const SnTerm *term = &test.body.term;
    double *to = scene_copy(&test.context, test.body.rest, test.n), reach = 1.0;
    for (size_t k = 2; k < test.n; k += 3) {
        to[k] = 0.05 - test.body.rest[k];
    }
    CHECK((term->kind->reach != NULL) == (term->kind->turned != NULL));
    if (term->kind->turned != NULL) {
        CHECK(term->kind->turned(term->elements, test.body.rest, to) && !term->kind->turned(term->elements, test.body.rest, test.body.rest));
        CHECK(term->kind->reach(term->elements, &test.input, test.body.rest, to) == 1.0);
        test.input.data = &test.other.input;
        CHECK(term->kind->reach(term->elements, &test.input, test.body.rest, test.body.rest) == 1.0);
        reach = term->kind->reach(term->elements, &test.input, test.body.rest, to);
        CHECK(reach > 0.4 && reach < 0.5); /* they are flat half-way */
        for (size_t k = 0; k < test.n; k++) {
            test.x[k] = test.body.rest[k] + reach * (to[k] - test.body.rest[k]);
        }
        CHECK(!term->kind->turned(term->elements, test.body.rest, test.x));
    }
    sn_release(to);
    test_clear(&test);
}

static void results_do_not_depend_on_the_number_of_threads(const struct Row *row)
{
    static const int THREADS[3] = {1, 2, 4};
    double *kept[3] = {NULL}, value = 0.0;
    for (int k = 0; k < 3; k++) {
        Test test;
        sn_parallel_set_thread_count(THREADS[k]);
        test_init(row, row->chunky, &test);
        const SnTerm *term = &test.body.term;
        double *scale = damp_at_random(&test, 9), *x = shaken(&test, 4, 1.0, 0.02);
        size_t sizes[3] = {3 * sn_terms_corner_count(1, term), 9 * test.blocks,
                           (size_t)term->kind->damping_size * term->stencils.count};
        CHECK(term->stencils.count > 3 * SN_TERM_CHUNK);
        double here = slope_of(&test, x);
        term->kind->stiffness(term->elements, &test.input, x, test.stiffness);
        const double *results[3] = {test.gradients, test.stiffness, test.shape};
        for (int r = 0; r < 3; r++) {
            kept[r] = k == 0 ? scene_copy(&test.context, results[r], sizes[r]) : kept[r];
            CHECK(scene_same_bits(kept[r], results[r], sizes[r]));
        }
        value = k == 0 ? here : value;
        CHECK(scene_same_bits(&value, &here, 1));
        sn_release(x);
        sn_release(scale);
        test_clear(&test);
    }
    sn_parallel_set_thread_count(0);
    for (int r = 0; r < 3; r++) {
        sn_release(kept[r]);
    }
}

int main(void)
{
    for (const struct Row *row = ROWS; row < ROWS + ROW_COUNT; row++) {
        the_gradient_is_that_of_the_energy(row);
        the_stiffness_is_that_of_the_energy_where_nothing_is_projected(row);
        the_stiffness_of_each_stencil_is_positive_semi_definite(row);
        rigid_motion_costs_nothing_and_no_force_or_torque_is_left_over(row);
        damping_is_the_stiffness_of_small_strains_and_turns_with_the_body(row);
        another_input_is_another_body(row);
        what_a_state_carries_is_felt(row);
        a_step_ends_before_a_stencil_turns_inside_out(row);
        results_do_not_depend_on_the_number_of_threads(row);
    }
    return CHECK_RESULT();
}
