/* Energies by their stretches, elements and their assembly. */
#include "scenes.h"

#include "base/parallel.h"
#include "math/mat3.h"

static const SnDensity *const ENERGIES[2] = {&sn_density_neo_hookean, &sn_density_stvk};
#define MU 2.0
#define LAMBDA 3.0

static void fill(SnLanes lanes, double value)
{
    for (int i = 0; i < SN_LANES; i++) {
        lanes[i] = value;
    }
}

static double density(const SnDensity *energy, const double s[3])
{
    SnLanes stretches[3], mu, lambda, out;
    fill(mu, MU);
    fill(lambda, LAMBDA);
    for (int k = 0; k < 3; k++) {
        fill(stretches[k], s[k]);
    }
    energy->density((const SnLanes *)stretches, mu, lambda, out);
    return out[3];
}

/* stress 0..2, stretch 3..8, shear 9..11, twist 12..14 of one lane. */
static void derivatives(const SnDensity *energy, const double s[3], double out[15])
{
    SnLanes stretches[3], mu, lambda;
    SnStretchDerivatives d;
    fill(mu, MU);
    fill(lambda, LAMBDA);
    for (int k = 0; k < 3; k++) {
        fill(stretches[k], s[k]);
    }
    energy->derivatives((const SnLanes *)stretches, mu, lambda, &d);
    for (int k = 0; k < 15; k++) {
        out[k] = k < 3 ? d.stress[k][5] : k < 9 ? d.stretch[k - 3][5] : k < 12 ? d.shear[k - 9][5] : d.twist[k - 12][5];
    }
}

static void derivatives_by_the_stretches_match_finite_differences(void)
{
    static const int PAIRS[3][2] = {{1, 2}, {0, 2}, {0, 1}};
    const double h = 1e-5;
    for (int energy = 0; energy < 2; energy++) {
        uint64_t random = 1;
        double first = 0.0, second = 0.0, quotients = 0.0;
        for (int trial = 0; trial < 2000; trial++) {
            double s[3], d[15], moved[3], ahead[15], behind[15];
            int near_kink = 0;
            for (int k = 0; k < 3; k++) {
                s[k] = k < 2 ? 0.1 + 2.0 * check_random(&random) : -1.0 + 3.0 * check_random(&random);
                near_kink |= fabs(s[k] - 0.6) < 2.0 * h; /* where StVK is extrapolated its curvature jumps */
            }
            if (near_kink) {
                continue;
            }
            derivatives(ENERGIES[energy], s, d);
            for (int k = 0; k < 3; k++) {
                memcpy(moved, s, sizeof s);
                moved[k] = s[k] + h;
                derivatives(ENERGIES[energy], moved, ahead);
                double up = density(ENERGIES[energy], moved);
                moved[k] = s[k] - h;
                derivatives(ENERGIES[energy], moved, behind);
                double down = density(ENERGIES[energy], moved);
                first = fmax(first, fabs((up - down) / (2.0 * h) - d[k]));
                second = fmax(second, fabs((ahead[k] - behind[k]) / (2.0 * h) - d[3 + k]));
                for (int pair = 0; pair < 3; pair++) {
                    if (PAIRS[pair][0] == k) {
                        int other = PAIRS[pair][1];
                        second = fmax(second, fabs((ahead[other] - behind[other]) / (2.0 * h) - d[6 + pair]));
                    }
                }
            }
            for (int k = 0; k < 3; k++) {
                int p = PAIRS[k][0], q = PAIRS[k][1];
                if (fabs(s[p] - s[q]) > 1e-2 && s[p] + s[q] > 1e-2) {
                    quotients = fmax(quotients, fabs((d[p] - d[q]) / (s[p] - s[q]) - d[9 + k]));
                    quotients = fmax(quotients, fabs((d[p] + d[q]) / (s[p] + s[q]) - d[12 + k]));
                }
            }
        }
        CHECK(first < 1e-6);
        CHECK(second < 1e-6);
        CHECK(quotients < 1e-9);
    }
}

static void equal_stretches_have_the_limit_of_the_quotient(void)
{
    for (int energy = 0; energy < 2; energy++) {
        const double equal[3] = {1.3, 0.9, 0.9}, near[3] = {1.3, 0.9 + 1e-5, 0.9 - 1e-5};
        double d[15], limit[15];
        derivatives(ENERGIES[energy], equal, d);
        derivatives(ENERGIES[energy], near, limit);
        CHECK_NEAR(d[9], limit[9], 1e-5);
    }
}

static void rest_has_no_energy_and_is_the_lowest(void)
{
    static const double REST[3] = {1, 1, 1};
    for (int energy = 0; energy < 2; energy++) {
        uint64_t random = 2;
        double d[15], least = INFINITY;
        derivatives(ENERGIES[energy], REST, d);
        CHECK(density(ENERGIES[energy], REST) == 0.0);
        CHECK(fabs(d[0]) + fabs(d[1]) + fabs(d[2]) < 1e-15);
        CHECK_NEAR(d[3], 2.0 * MU + LAMBDA, 1e-14); /* Hooke's law near rest */
        CHECK_NEAR(d[6], LAMBDA, 1e-14);
        for (int trial = 0; trial < 2000; trial++) {
            const double s[3] = {2.0 * check_random(&random), 2.0 * check_random(&random), 4.0 * check_random(&random) - 2.0};
            least = fmin(least, density(ENERGIES[energy], s));
        }
        CHECK(least > 0.0);
    }
}

/* A deformation with room for folding: amplitude 0.02 keeps all tets of 0.1 m sound. */
static double *scrambled(SnContext *context, const Scene *scene, uint64_t seed, double amplitude)
{
    double *positions = scene_copy(context, scene->mesh.positions, scene->n);
    for (size_t k = 0; k < scene->n; k++) {
        positions[k] += amplitude * scene_signed(&seed);
    }
    return positions;
}

static void forces_match_finite_differences_of_the_energy(void)
{
    for (int trial = 0; trial < 4; trial++) {
        SnContext context;
        sn_context_init(&context);
        Scene scene = scene_bar(&context, 2, 0, 100.0, ENERGIES[trial % 2]);
        const SnTetElements *elements = scene.elements;
        double *x = scrambled(&context, &scene, 3, trial < 2 ? 0.02 : 0.1); /* the second pair has inverted tets */
        double *gradients = SN_NEW(&context, 12 * elements->count, double), *gradient = SN_NEW(&context, scene.n, double);
        double partial[4], worst = 0.0, scale = 0.0, smallest;
        CHECK(sn_tet_elements_partial_count(elements) <= 4);
        CHECK((sn_tet_elements_inverted(elements, x, &smallest) > 0) == (trial >= 2) && (smallest < 0.0) == (trial >= 2));
        sn_tet_elements_derivatives(elements, elements->inverse_rest, x, gradients, NULL);
        sn_assembly_gather_gradient(&scene.world.assembly, gradients, gradient);
        for (size_t k = 0; k < scene.n; k++) {
            double at = x[k], h = 1e-6;
            x[k] = at + h;
            double up = sn_tet_elements_energy(elements, elements->inverse_rest, x, partial);
            x[k] = at - h;
            double down = sn_tet_elements_energy(elements, elements->inverse_rest, x, partial);
            x[k] = at;
            worst = fmax(worst, fabs((up - down) / (2.0 * h) - gradient[k]));
            scale = fmax(scale, fabs(gradient[k]));
        }
        CHECK(scale > 0.0 && worst < 1e-6 * scale);
        sn_release(x);
        sn_release(gradients);
        sn_release(gradient);
        scene_clear(&scene);
    }
}

static void stiffness_matches_finite_differences_of_the_forces(void)
{
    for (int energy = 0; energy < 2; energy++) {
        SnContext context;
        sn_context_init(&context);
        Scene scene = scene_bar(&context, 1, 0, 100.0, ENERGIES[energy]);
        const SnTetElements *elements = scene.elements;
        size_t n = scene.n;
        /* stretched by a tenth and sheared: no eigenvalue needs projecting there */
        double *x = scrambled(&context, &scene, 4, 1e-3);
        for (size_t k = 0; k < n; k++) {
            x[k] = 1.1 * x[k] + (k % 3 == 0 ? 0.05 * x[k + 1] : 0.0);
        }
        double *values = scene_stiffness(&context, &scene, x);
        double *dense = dense_matrix(&context, &scene.world.assembly.pattern, values);
        double *gradients = SN_NEW(&context, 12 * elements->count, double);
        double *up = SN_NEW(&context, n, double), *down = SN_NEW(&context, n, double);
        double worst = 0.0, scale = 0.0;
        for (size_t k = 0; k < n; k++) {
            double at = x[k], h = 1e-7;
            x[k] = at + h;
            sn_tet_elements_derivatives(elements, elements->inverse_rest, x, gradients, NULL);
            sn_assembly_gather_gradient(&scene.world.assembly, gradients, up);
            x[k] = at - h;
            sn_tet_elements_derivatives(elements, elements->inverse_rest, x, gradients, NULL);
            sn_assembly_gather_gradient(&scene.world.assembly, gradients, down);
            x[k] = at;
            for (size_t i = 0; i < n; i++) {
                worst = fmax(worst, fabs((up[i] - down[i]) / (2.0 * h) - dense[n * i + k]));
                scale = fmax(scale, fabs(dense[n * i + k]));
            }
        }
        CHECK(worst < 1e-6 * scale);
        sn_release(x);
        sn_release(values);
        sn_release(dense);
        sn_release(gradients);
        sn_release(up);
        sn_release(down);
        scene_clear(&scene);
    }
}

/* Forces and energy of the damping alone at x: what it adds to the elastic ones. `viscosity`'s arrays are set here. */
static double damping_at(SnContext *context, const Scene *scene, const double *shape, const double *centre, SnViscosity *viscosity,
                         const double *x, double *force)
{
    const SnTetElements *elements = scene->elements;
    const double *rest = elements->inverse_rest;
    double *gradients = SN_NEW(context, 12 * elements->count, double), *elastic = SN_NEW(context, 12 * elements->count, double);
    double *r = SN_NEW(context, 9 * elements->count, double), *c = SN_NEW(context, 9 * elements->count, double), partial[4];
    sn_tet_elements_rotations(elements, rest, shape, r);
    sn_tet_elements_gradients(elements, rest, centre, c);
    viscosity->rotations = r;
    viscosity->centre = c;
    double energy = sn_tet_elements_damped_energy(elements, rest, viscosity, x, partial, gradients) -
                    sn_tet_elements_energy_gradient(elements, rest, x, partial, elastic);
    for (size_t k = 0; k < 12 * elements->count; k++) {
        gradients[k] -= elastic[k];
    }
    sn_assembly_gather_gradient(&scene->world.assembly, gradients, force);
    sn_release(gradients);
    sn_release(elastic);
    return energy;
}

/* In the rest shape, however it has turned, the damping matrix is a multiple of the stiffness. */
static void damping_is_the_stiffness_of_small_strains_and_turns_with_the_body(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 3, 0, 100.0, &sn_density_neo_hookean);
    const SnBlockPattern *pattern = &scene.world.assembly.pattern;
    double *turned = SN_NEW(&context, scene.n, double), *force = SN_NEW(&context, scene.n, double);
    double *x = scrambled(&context, &scene, 6, 0.03), *centre = scrambled(&context, &scene, 7, 0.02), product = 0.0;
    double *offset = SN_NEW(&context, scene.n, double), *expected = SN_NEW(&context, scene.n, double);
    for (size_t v = 0; v < scene.n / 3; v++) {
        const double *from = scene.mesh.positions + 3 * v;
        turned[3 * v] = cos(1.2) * from[0] - sin(1.2) * from[2] + 3.0;
        turned[3 * v + 1] = from[1];
        turned[3 * v + 2] = sin(1.2) * from[0] + cos(1.2) * from[2];
    }
    double *values = scene_stiffness(&context, &scene, turned);
    SnViscosity viscosity = {.factor = 0.7};
    double energy = damping_at(&context, &scene, turned, centre, &viscosity, x, force);
    for (size_t k = 0; k < scene.n; k++) {
        offset[k] = x[k] - centre[k];
    }
    sn_block_matrix_multiply(pattern, values, offset, expected);
    double largest = 0.0, worst = 0.0;
    for (size_t k = 0; k < scene.n; k++) {
        largest = fmax(largest, fabs(expected[k]));
        worst = fmax(worst, fabs(force[k] - 0.7 * expected[k]));
        product += 0.5 * offset[k] * force[k];
    }
    CHECK(largest > 0.0 && worst < 1e-11 * largest);
    CHECK_NEAR(energy, product, 1e-11 * product);
    sn_release((double *)viscosity.rotations);
    sn_release((double *)viscosity.centre);
    sn_release(turned);
    sn_release(force);
    sn_release(x);
    sn_release(centre);
    sn_release(offset);
    sn_release(expected);
    sn_release(values);
    scene_clear(&scene);
}

/* In any shape and with any scales it is a quadratic form, whose matrix is what it adds to the stiffness. */
static void damping_adds_its_own_stiffness(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 3, 0, 100.0, &sn_density_neo_hookean);
    const SnTetElements *elements = scene.elements;
    const SnAssembly *assembly = &scene.world.assembly;
    double *shape = scrambled(&context, &scene, 8, 0.05), *x = scrambled(&context, &scene, 9, 0.02);
    double *scale = SN_NEW(&context, elements->count, double), *force = SN_NEW(&context, scene.n, double);
    double *stiffness = SN_NEW(&context, SN_TET_STIFFNESS * elements->count, double);
    double *values = scene_stiffness(&context, &scene, x), *damped = SN_NEW(&context, assembly->pattern.value_count, double);
    double *offset = SN_NEW(&context, scene.n, double), *expected = SN_NEW(&context, scene.n, double), largest = 0.0;
    for (size_t e = 0; e < elements->count; e++) {
        scale[e] = 0.5 * (double)(e % 4);
    }
    SnViscosity viscosity = {.factor = 2.0, .scale = scale};
    (void)damping_at(&context, &scene, shape, scene.mesh.positions, &viscosity, x, force);
    sn_tet_elements_damped_stiffness(elements, elements->inverse_rest, &viscosity, x, stiffness);
    sn_assembly_gather_stiffness(assembly, stiffness, damped);
    for (size_t k = 0; k < assembly->pattern.value_count; k++) {
        damped[k] -= values[k];
    }
    for (size_t k = 0; k < scene.n; k++) {
        offset[k] = x[k] - scene.mesh.positions[k];
        largest = fmax(largest, fabs(force[k]));
    }
    sn_block_matrix_multiply(&assembly->pattern, damped, offset, expected);
    CHECK(largest > 0.0 && scene_distance(force, expected, scene.n) < 1e-11 * largest);
    sn_release((double *)viscosity.rotations);
    sn_release((double *)viscosity.centre);
    double *arrays[] = {shape, x, scale, force, stiffness, values, damped, offset, expected};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    scene_clear(&scene);
}

static void stiffness_is_semi_definite_however_folded(void)
{
    static const double AMPLITUDES[] = {0.05, 0.3, 10.0};
    for (int trial = 0; trial < 6; trial++) {
        SnContext context;
        sn_context_init(&context);
        Scene scene = scene_bar(&context, 2, 0, 100.0, ENERGIES[trial % 2]);
        double *x = scrambled(&context, &scene, 5, AMPLITUDES[trial / 2]);
        double *values = scene_stiffness(&context, &scene, x);
        double *dense = dense_matrix(&context, &scene.world.assembly.pattern, values);
        double *eigenvalues = SN_NEW(&context, scene.n, double);
        dense_eigen(scene.n, dense, eigenvalues, NULL);
        CHECK(eigenvalues[0] > -1e-13 * eigenvalues[scene.n - 1]);
        CHECK(eigenvalues[scene.n - 1] > 0.0);
        sn_release(x);
        sn_release(values);
        sn_release(dense);
        sn_release(eigenvalues);
        scene_clear(&scene);
    }
}

/* Bends the bar around y by the given angle over its length, and squashes it along z. */
static void bend(const Scene *scene, double length, double angle, double squash, double *pose)
{
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        const double *x = scene->mesh.positions + 3 * v;
        double turn = angle * x[0] / length, radius = length / angle - squash * x[2];
        pose[3 * v] = 5.0 + radius * sin(turn);
        pose[3 * v + 1] = x[1];
        pose[3 * v + 2] = -radius * cos(turn);
    }
}

static double force_at(SnContext *context, const Scene *scene, const double *rest, const double *pose)
{
    const SnTetElements *elements = scene->elements;
    double *gradients = SN_NEW(context, 12 * elements->count, double), largest = 0.0;
    sn_tet_elements_derivatives(elements, rest, pose, gradients, NULL);
    for (size_t k = 0; k < 12 * elements->count; k++) {
        largest = fabs(gradients[k]) <= largest ? largest : fabs(gradients[k]);
    }
    sn_release(gradients);
    return largest;
}

static void kept_pose_has_no_force(void)
{
    for (int trial = 0; trial < 4; trial++) {
        SnContext context;
        sn_context_init(&context);
        Scene scene = scene_bar(&context, 5, 0, 1e5, ENERGIES[trial % 2]);
        const SnTetElements *elements = scene.elements;
        double *pose = SN_NEW(&context, scene.n, double), *rest = SN_NEW(&context, 9 * elements->count, double);
        double *volume = SN_NEW(&context, elements->count, double), *left_over = SN_NEW(&context, elements->count, double);
        bend(&scene, 0.5, 1.5, trial < 2 ? 1.0 : 0.5, pose); /* the second pair is squashed to a half too */
        double before = force_at(&context, &scene, elements->inverse_rest, pose);
        CHECK(sn_tet_elements_pose_rest(elements, pose, 1.0, scene.world.damping_scale[0] /* ones */, rest, volume, left_over) == 0);
        CHECK(before > 1.0);
        CHECK(force_at(&context, &scene, rest, pose) < 1e-11 * before);
        /* half kept: a part of the force */
        CHECK(sn_tet_elements_pose_rest(elements, pose, 0.5, scene.world.damping_scale[0] /* ones */, rest, volume, left_over) == 0);
        double half = force_at(&context, &scene, rest, pose);
        CHECK(half > 0.1 * before && half < before);
        sn_release(pose);
        sn_release(rest);
        sn_release(volume);
        sn_release(left_over);
        scene_clear(&scene);
    }
}

static void pose_that_is_not_kept_changes_nothing(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 5, 0, 1e5, &sn_density_neo_hookean);
    const SnTetElements *elements = scene.elements;
    double *pose = SN_NEW(&context, scene.n, double), *rest = SN_NEW(&context, 9 * elements->count, double);
    double *volume = SN_NEW(&context, elements->count, double), *left_over = SN_NEW(&context, elements->count, double);
    bend(&scene, 0.5, 1.5, 0.5, pose);
    CHECK(sn_tet_elements_pose_rest(elements, pose, 0.0, scene.world.damping_scale[0] /* ones */, rest, volume, left_over) == 0);
    CHECK(scene_distance(rest, elements->inverse_rest, 9 * elements->count) < 1e-12); /* entries are 10 1/m */
    sn_release(pose);
    sn_release(rest);
    sn_release(volume);
    sn_release(left_over);
    scene_clear(&scene);
}

/* Flat poses are followed with less weight, inverted ones as they are; what is all but flat or extremely long is clamped and counted. */
static void flat_and_inverted_poses_are_followed_until_they_are_clamped(void)
{
    static const struct {
        double squash, weight;
        int is_clamped;
    } POSES[] = {{0.0, 1.0 / 36.0, 1}, {0.01, 1.0 / 36.0, 1}, {0.15, 0.25, 0}, {-0.15, 0.25, 0}, {-1.0, 1.0, 0}, {4.0, 1.0, 0}, {30.0, 1.0, 1}};
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 2, 0, 1e5, &sn_density_neo_hookean);
    SnTetElements elements = *scene.elements;
    double *rest = SN_NEW(&context, 9 * elements.count, double);
    double *volume = SN_NEW(&context, elements.count, double), *left_over = SN_NEW(&context, elements.count, double);
    double *pose = SN_NEW(&context, scene.n, double), *gradients = SN_NEW(&context, 12 * elements.count, double);
    for (size_t trial = 0; trial < sizeof POSES / sizeof *POSES; trial++) {
        memcpy(pose, scene.mesh.positions, scene.n * sizeof *pose);
        for (size_t v = 0; v < scene.mesh.vertex_count; v++) {
            pose[3 * v + 2] *= POSES[trial].squash;
        }
        size_t clamped = sn_tet_elements_pose_rest(&elements, pose, 1.0, scene.world.damping_scale[0] /* ones */, rest, volume, left_over);
        CHECK(clamped == (POSES[trial].is_clamped ? elements.count : 0));
        int finite = 1, weighed = 1, told = 1;
        for (size_t k = 0; k < 9 * elements.count; k++) {
            finite &= isfinite(rest[k]) != 0;
        }
        for (size_t e = 0; e < elements.count; e++) {
            double weight = volume[e] / elements.volume[e];
            weighed &= fabs(weight - POSES[trial].weight) < 1e-9;
            told &= fabs(left_over[e] - (POSES[trial].is_clamped ? weight : 0.0)) < 1e-12;
        }
        CHECK(finite && weighed && told);
        if (!POSES[trial].is_clamped) { /* no force at the pose, inside out or not */
            double largest = 0.0;
            sn_tet_elements_derivatives(&elements, rest, pose, gradients, NULL);
            for (size_t k = 0; k < 12 * elements.count; k++) {
                largest = fmax(largest, fabs(gradients[k]));
            }
            CHECK(largest < 1e-8);
        }
    }
    sn_release(rest);
    sn_release(volume);
    sn_release(left_over);
    sn_release(pose);
    sn_release(gradients);
    scene_clear(&scene);
}

static void tet_without_volume_is_refused(void)
{
    SnContext context;
    SnTetElements elements;
    sn_context_init(&context);
    SnTetMesh mesh = scene_box(&context, 1, 1, 1, 1.0);
    memcpy(mesh.positions + 3 * mesh.tets[9], mesh.positions + 3 * mesh.tets[8], 3 * sizeof(double));
    CHECK(sn_tet_elements_init(&context, &mesh, &sn_density_stvk, &elements) == SN_BAD_INPUT);
    CHECK(strstr(context.message, "no volume") != NULL);
    CHECK(elements.inverse_rest == NULL);
    sn_tet_mesh_clear(&mesh);
}

static void gathering_is_the_sum_over_the_elements(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_bar(&context, 3, 1, 1e3, &sn_density_neo_hookean);
    const SnWorld *world = &scene.world;
    const SnAssembly *assembly = &world->assembly;
    size_t n = 3 * assembly->unknown_count;
    double *x = scrambled(&context, &scene, 6, 0.03);
    double *gradients = SN_NEW(&context, 12 * scene.elements->count, double), *gradient = SN_NEW(&context, scene.n, double);
    double *stiffness = SN_NEW(&context, SN_TET_STIFFNESS * scene.elements->count, double);
    double *values = SN_NEW(&context, assembly->pattern.value_count, double);
    double *naive = SN_NEW(&context, n * n, double), *naive_gradient = SN_NEW(&context, scene.n, double);
    CHECK(assembly->unknown_count == scene.mesh.vertex_count - 4);
    sn_tet_elements_derivatives(scene.elements, scene.elements->inverse_rest, x, gradients, stiffness);
    for (size_t e = 0; e < scene.elements->count; e++) {
        const double *block = stiffness + SN_TET_STIFFNESS * e;
        for (size_t i = 0; i < 4; i++) {
            size_t v = (size_t)scene.elements->tets[4 * e + i];
            for (size_t a = 0; a < 3; a++) {
                naive_gradient[3 * v + a] += gradients[12 * e + 3 * i + a];
            }
            for (size_t j = 0; j <= i; j++, block += 9) {
                int32_t row = assembly->unknown[v], column = assembly->unknown[scene.elements->tets[4 * e + j]];
                for (size_t k = 0; k < 9 && row >= 0 && column >= 0; k++) {
                    size_t r = 3 * (size_t)row + k / 3, c = 3 * (size_t)column + k % 3;
                    naive[n * r + c] += block[k];
                    naive[n * c + r] += i == j ? 0.0 : block[k];
                }
            }
        }
    }
    sn_assembly_gather_gradient(assembly, gradients, gradient);
    sn_assembly_gather_stiffness(assembly, stiffness, values);
    double *dense = dense_matrix(&context, &assembly->pattern, values);
    CHECK(scene_distance(gradient, naive_gradient, scene.n) < 1e-12);
    CHECK(scene_distance(dense, naive, n * n) < 1e-9); /* entries of 1e3 N/m */
    sn_release(x);
    sn_release(gradients);
    sn_release(gradient);
    sn_release(stiffness);
    sn_release(values);
    sn_release(naive);
    sn_release(naive_gradient);
    sn_release(dense);
    scene_clear(&scene);
}

static void results_have_the_same_bits_on_any_number_of_threads(void)
{
    SnContext context;
    sn_context_init(&context);
    Scene scene = scene_from(&context, scene_box(&context, 9, 9, 8, 0.1), 1, 1e3, &sn_density_neo_hookean);
    const SnWorld *world = &scene.world;
    size_t tets = scene.elements->count, values_count = world->assembly.pattern.value_count;
    double *x = scrambled(&context, &scene, 7, 0.05), energy[3];
    double *partial = SN_NEW(&context, sn_tet_elements_partial_count(scene.elements), double);
    double *gradients[3], *stiffness[3], *gradient[3], *values[3];
    static const int THREADS[3] = {1, 2, 4};
    CHECK(sn_tet_elements_partial_count(scene.elements) > 4);
    for (int i = 0; i < 3; i++) {
        gradients[i] = SN_NEW(&context, 12 * tets, double);
        stiffness[i] = SN_NEW(&context, SN_TET_STIFFNESS * tets, double);
        gradient[i] = SN_NEW(&context, scene.n, double);
        values[i] = SN_NEW(&context, values_count, double);
        sn_parallel_set_thread_count(THREADS[i]);
        CHECK(sn_parallel_thread_count() == THREADS[i]);
        energy[i] = sn_tet_elements_energy(scene.elements, scene.elements->inverse_rest, x, partial);
        sn_tet_elements_derivatives(scene.elements, scene.elements->inverse_rest, x, gradients[i], stiffness[i]);
        sn_assembly_gather_gradient(&world->assembly, gradients[i], gradient[i]);
        sn_assembly_gather_stiffness(&world->assembly, stiffness[i], values[i]);
        CHECK(energy[i] > 0.0 && energy[i] == energy[0]);
        CHECK(scene_same_bits(gradients[i], gradients[0], 12 * tets));
        CHECK(scene_same_bits(stiffness[i], stiffness[0], SN_TET_STIFFNESS * tets));
        CHECK(scene_same_bits(gradient[i], gradient[0], scene.n));
        CHECK(scene_same_bits(values[i], values[0], values_count));
    }
    sn_parallel_set_thread_count(0);
    for (int i = 0; i < 3; i++) {
        sn_release(gradients[i]);
        sn_release(stiffness[i]);
        sn_release(gradient[i]);
        sn_release(values[i]);
    }
    sn_release(x);
    sn_release(partial);
    scene_clear(&scene);
}

int main(void)
{
    derivatives_by_the_stretches_match_finite_differences();
    equal_stretches_have_the_limit_of_the_quotient();
    rest_has_no_energy_and_is_the_lowest();
    forces_match_finite_differences_of_the_energy();
    stiffness_matches_finite_differences_of_the_forces();
    damping_is_the_stiffness_of_small_strains_and_turns_with_the_body();
    damping_adds_its_own_stiffness();
    stiffness_is_semi_definite_however_folded();
    kept_pose_has_no_force();
    pose_that_is_not_kept_changes_nothing();
    flat_and_inverted_poses_are_followed_until_they_are_clamped();
    tet_without_volume_is_refused();
    gathering_is_the_sum_over_the_elements();
    results_have_the_same_bits_on_any_number_of_threads();
    return CHECK_RESULT();
}
