/* Planes as an energy: forces and second derivatives against differences, and minima that press with the force that they must. */
#include "scenes.h"

#include "dynamics/joined.h"
#include "dynamics/newton.h"

#define PLANES 24

static void random_direction(uint64_t *random, double n[3])
{
    for (int a = 0; a < 3; a++) {
        n[a] = check_random(random) - 0.5;
    }
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int a = 0; a < 3; a++) {
        n[a] /= length;
    }
}

/* Planes over a few unknowns each, some of which press, some of which stick, and some slide. */
static void random_planes(SnContext *context, const Scene *scene, const double *x, SnPlanes *planes)
{
    uint64_t random = 7;
    const SnAssembly *assembly = &scene->world.assembly;
    for (int k = 0; k < PLANES; k++) {
        SnPlane *plane = sn_planes_add(context, planes);
        double w[3], slide[3];
        random_direction(&random, plane->normal);
        random_direction(&random, slide);
        plane->rho = 50.0 + 100.0 * check_random(&random);
        plane->lambda = k % 3 == 0 ? check_random(&random) : 0.0;
        plane->grip = k % 2 == 0 ? 2.0 * check_random(&random) : 0.0;
        plane->stick = 100.0;
        sn_planes_begin_row(planes, &plane->row);
        for (int i = 0; i < 4; i++) {
            int32_t unknown = (int32_t)((3 * (size_t)k + 5 * (size_t)i) % assembly->unknown_count);
            CHECK(sn_planes_add_entry(context, planes, &plane->row, unknown, i < 2 ? 0.5 : -0.3) == SN_OK);
        }
        sn_plane_place(planes, plane, assembly->vertex, x, w);
        double across = plane->normal[0] * w[0] + plane->normal[1] * w[1] + plane->normal[2] * w[2];
        double along = plane->normal[0] * slide[0] + plane->normal[1] * slide[1] + plane->normal[2] * slide[2];
        plane->gap = across + 0.02 * (check_random(&random) - 0.4);
        for (int a = 0; a < 3; a++) {
            plane->offset[a] = w[a] - (k % 4 == 0 ? 0.004 : 0.03) * slide[a];
            plane->hold[a] = k % 4 < 2 ? 0.1 * (slide[a] - along * plane->normal[a]) : 0.0;
        }
    }
}

static void forces_and_second_derivatives_are_those_of_the_value(void)
{
    SnContext context;
    SnPlanes planes = {0};
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 3, 1, 1e4, &sn_density_neo_hookean);
    const SnAssembly *assembly = &scene.world.assembly;
    size_t n = 3 * assembly->unknown_count;
    double *x = scene_copy(&context, scene.mesh.positions, scene.n), *force = SN_NEW(&context, n, double);
    double *ahead = SN_NEW(&context, n, double), *behind = SN_NEW(&context, n, double), *move = SN_NEW(&context, n, double);
    double *spread = SN_NEW(&context, n, double);
    uint64_t random = 3;
    random_planes(&context, &scene, x, &planes);
    sn_planes_value(&planes, assembly, x, force);
    sn_planes_linearise(&planes, assembly, x);
    size_t pressed = 0, slack = 0;
    for (size_t k = 0; k < planes.count; k++) {
        pressed += planes.planes[k].pressed != 0;
        slack += planes.planes[k].pressed == 0;
    }
    CHECK(pressed > 4 && slack > 4);
    for (int trial = 0; trial < 20; trial++) {
        double h = 1e-6, slope = 0.0, size = 0.0, curvature = 0.0;
        for (size_t k = 0; k < n; k++) {
            move[k] = check_random(&random) - 0.5;
            slope -= force[k] * move[k];
        }
        memset(ahead, 0, n * sizeof *ahead);
        memset(behind, 0, n * sizeof *behind);
        for (size_t k = 0; k < n; k++) {
            x[3 * (size_t)assembly->vertex[k / 3] + k % 3] += h * move[k];
        }
        double up = sn_planes_value(&planes, assembly, x, ahead);
        for (size_t k = 0; k < n; k++) {
            x[3 * (size_t)assembly->vertex[k / 3] + k % 3] -= 2.0 * h * move[k];
        }
        double down = sn_planes_value(&planes, assembly, x, behind);
        for (size_t k = 0; k < n; k++) {
            x[3 * (size_t)assembly->vertex[k / 3] + k % 3] += h * move[k];
        }
        CHECK_NEAR((up - down) / (2.0 * h), slope, 1e-6 * (1.0 + fabs(slope)));
        /* H move, plane by plane, against differences of the force */
        memset(spread, 0, n * sizeof *spread);
        for (size_t p = 0; p < planes.count; p++) {
            const SnPlane *plane = planes.planes + p;
            double d[3] = {0}, pull[3];
            for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
                for (size_t a = 0; a < 3; a++) {
                    d[a] += planes.weights[k] * move[3 * (size_t)planes.unknowns[k] + a];
                }
            }
            for (size_t a = 0; a < 3; a++) {
                pull[a] = plane->block[3 * a] * d[0] + plane->block[3 * a + 1] * d[1] + plane->block[3 * a + 2] * d[2];
                curvature += d[a] * pull[a];
            }
            for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
                for (size_t a = 0; a < 3; a++) {
                    spread[3 * (size_t)planes.unknowns[k] + a] += planes.weights[k] * pull[a];
                }
            }
        }
        double worst = 0.0;
        for (size_t k = 0; k < n; k++) {
            worst = fmax(worst, fabs((behind[k] - ahead[k]) / (2.0 * h) - spread[k]));
            size = fmax(size, fabs(spread[k]));
        }
        CHECK(worst < 1e-4 * size && curvature >= 0.0);
    }
    sn_planes_clear(&planes);
    scene_clear(&scene);
    double *arrays[] = {x, force, ahead, behind, move, spread};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
}

/* The quadratic form of the planes. */
static double curvature_of(const SnPlanes *planes, const double *move)
{
    double sum = 0.0;
    for (size_t p = 0; p < planes->count; p++) {
        const SnPlane *plane = planes->planes + p;
        double d[3] = {0};
        for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
            for (size_t a = 0; a < 3; a++) {
                d[a] += planes->weights[k] * move[3 * (size_t)planes->unknowns[k] + a];
            }
        }
        for (size_t a = 0; a < 9; a++) {
            sum += d[a / 3] * plane->block[a] * d[a % 3];
        }
    }
    return sum;
}

static double product_of(const SnBlockPattern *pattern, const double *values, const double *move, double *product)
{
    double sum = 0.0;
    sn_block_matrix_multiply(pattern, values, move, product);
    for (size_t k = 0; k < 3 * pattern->size; k++) {
        sum += move[k] * product[k];
    }
    return sum;
}

/* xᵀ A x of a matrix on the pattern is at least that of the planes, and the same where all blocks are there. */
static void what_is_added_to_the_matrix_is_never_softer(void)
{
    SnContext context;
    SnPlanes planes = {0};
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 3, 1, 1e4, &sn_density_neo_hookean);
    const SnAssembly *assembly = &scene.world.assembly;
    size_t n = 3 * assembly->unknown_count;
    double *values = SN_NEW(&context, assembly->pattern.value_count, double);
    double *move = SN_NEW(&context, n, double), *product = SN_NEW(&context, n, double);
    uint64_t random = 5;
    random_planes(&context, &scene, scene.mesh.positions, &planes);
    sn_planes_linearise(&planes, assembly, scene.mesh.positions);
    sn_planes_stiffen(&planes, &assembly->pattern, values);
    for (int trial = 0; trial < 20; trial++) {
        for (size_t k = 0; k < n; k++) {
            move[k] = check_random(&random) - 0.5;
        }
        double exact = curvature_of(&planes, move), added = product_of(&assembly->pattern, values, move, product);
        CHECK(added >= exact * (1.0 - 1e-12) && added < 20.0 * exact);
    }
    sn_planes_clear(&planes);
    scene_clear(&scene);
    sn_release(values);
    sn_release(move);
    sn_release(product);
}

/* A pattern that has the couples of the planes too takes all of them, no more and no less; with other planes it is another, or grows. */
static void with_their_couples_in_the_pattern_planes_are_exact(void)
{
    SnContext context;
    SnPlanes planes = {0};
    SnLinearSolver *solver = NULL;
    SnJoined joined = {0};
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 4, 2, 1e4, &sn_density_neo_hookean);
    const SnAssembly *assembly = &scene.world.assembly;
    size_t n = 3 * assembly->unknown_count, couples = 0;
    double *values = SN_NEW(&context, assembly->pattern.value_count, double);
    double *move = SN_NEW(&context, n, double), *product = SN_NEW(&context, n, double), *right = SN_NEW(&context, n, double);
    uint64_t random = 11;
    for (size_t k = 0; k < n; k++) {
        values[assembly->pattern.value_start[k]] = 1e3 + 1e2 * check_random(&random);
    }
    CHECK(sn_linear_solver_create(&context, &assembly->pattern, &solver) == SN_OK);
    random_planes(&context, &scene, scene.mesh.positions, &planes);
    sn_planes_linearise(&planes, assembly, scene.mesh.positions);
    for (int part = 0; part < 4; part++) { /* half of the planes, all of them, half of them with what is kept, and without */
        size_t all = planes.count;
        planes.count = part == 1 ? all : all / 2;
        CHECK(sn_joined_reach(&context, &joined, &assembly->pattern, solver, &planes, part < 3) == SN_OK);
        CHECK(part != 1 || joined.couple_count > couples);
        CHECK(part != 2 || joined.couple_count >= couples);
        CHECK(part != 3 || joined.couple_count == joined.asked_count);
        couples = joined.couple_count;
        CHECK(sn_joined_factorize(&joined, &assembly->pattern, &planes, values) == 0);
        for (size_t k = 0; k < n; k++) {
            move[k] = check_random(&random) - 0.5;
        }
        double elastic = product_of(&assembly->pattern, values, move, product), exact = elastic + curvature_of(&planes, move);
        CHECK_NEAR(product_of(&joined.pattern, joined.values, move, right), exact, 1e-12 * exact);
        CHECK(exact > 1.01 * elastic);
        sn_multifrontal_solve(joined.factor, right, product);
        for (size_t k = 0; k < n; k++) {
            CHECK_NEAR(product[k], move[k], 1e-3);
        }
        planes.count = all;
    }
    sn_joined_clear(&joined);
    sn_linear_solver_destroy(solver);
    sn_planes_clear(&planes);
    scene_clear(&scene);
    double *arrays[] = {values, move, product, right};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
}

int main(void)
{
    forces_and_second_derivatives_are_those_of_the_value();
    what_is_added_to_the_matrix_is_never_softer();
    with_their_couples_in_the_pattern_planes_are_exact();
    return CHECK_RESULT();
}
