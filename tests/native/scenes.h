/* Small bodies of tets, worlds made of them, and dense references for the native tests of math, energy, dynamics and methods. */
#ifndef SN_TESTS_SCENES_H
#define SN_TESTS_SCENES_H

#include "check.h"

#include "base/memory.h"
#include "dynamics/input_driver.h"
#include "dynamics/modes.h"
#include "dynamics/time_step.h"

#include <string.h>

#define SCENE_PI 3.14159265358979323846

/* A box of cells, each cut into six tets along its diagonal; only those where `present` (cells, z fastest; null: all) is not 0.
   Vertices of no cell are left out. */
static inline SnTetMesh scene_mask(SnContext *context, const int cells[3], const double size[3], const unsigned char *present)
{
    static const int ORDERS[6][4] = {{0, 1, 2, 0}, {1, 2, 0, 0}, {2, 0, 1, 0}, {0, 2, 1, 1}, {1, 0, 2, 1}, {2, 1, 0, 1}};
    size_t corner_count = (size_t)((cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1));
    size_t cell_count = (size_t)(cells[0] * cells[1] * cells[2]);
    int32_t *number = SN_NEW(context, corner_count, int32_t);
    SnTetMesh mesh;
    CHECK(number != NULL && sn_tet_mesh_init(context, corner_count, 6 * cell_count, &mesh) == SN_OK);
    mesh.vertex_count = mesh.tet_count = 0;
    for (int cell = 0; cell < (int)cell_count; cell++) {
        int at[3] = {cell / (cells[1] * cells[2]), cell / cells[2] % cells[1], cell % cells[2]};
        if (present != NULL && !present[cell]) {
            continue;
        }
        for (int order = 0; order < 6; order++) {
            int corner[3] = {at[0], at[1], at[2]};
            int32_t tet[4];
            for (int i = 0; i < 4; i++) {
                int key = (corner[0] * (cells[1] + 1) + corner[1]) * (cells[2] + 1) + corner[2];
                if (number[key] == 0) {
                    for (int a = 0; a < 3; a++) {
                        mesh.positions[3 * mesh.vertex_count + (size_t)a] = size[a] * corner[a] / cells[a];
                    }
                    number[key] = (int32_t)++mesh.vertex_count;
                }
                tet[i] = number[key] - 1;
                if (i < 3) {
                    corner[ORDERS[order][i]]++;
                }
            }
            int odd = ORDERS[order][3];
            int32_t ordered[4] = {tet[0], tet[1], tet[odd ? 3 : 2], tet[odd ? 2 : 3]};
            memcpy(mesh.tets + 4 * mesh.tet_count++, ordered, sizeof ordered);
        }
    }
    sn_release(number);
    return mesh;
}

/* Says which cells of a box are there; null: all. */
typedef int (*SceneCells)(int x, int y, int z);

static inline SnTetMesh scene_cells(SnContext *context, const int cells[3], const double size[3], SceneCells has)
{
    unsigned char *present = SN_NEW(context, cells[0] * cells[1] * cells[2], unsigned char);
    for (int cell = 0; cell < cells[0] * cells[1] * cells[2]; cell++) {
        int x = cell / (cells[1] * cells[2]), y = cell / cells[2] % cells[1], z = cell % cells[2];
        present[cell] = (unsigned char)(has == NULL || has(x, y, z));
    }
    SnTetMesh mesh = scene_mask(context, cells, size, present);
    sn_release(present);
    return mesh;
}

static inline SnTetMesh scene_box(SnContext *context, int nx, int ny, int nz, double cell)
{
    const int cells[3] = {nx, ny, nz};
    const double size[3] = {nx * cell, ny * cell, nz * cell};
    return scene_cells(context, cells, size, NULL);
}

/* A body with one material: 1000 kg/m³, Poisson's ratio 0.3. */
typedef struct Scene {
    SnTetMesh mesh;
    unsigned char *fixed;
    double *mass;
    SnTetElements *elements; /* the world's one term */
    SnWorld world;
    SnInputDriver driver; /* gravity, drive; the curve comes with scene_step */
    double *drive;        /* vertices, N/m */
    SnKeepPose keep_pose; /* where scene_keep has switched it on */
    size_t n; /* 3 x vertices */
} Scene;

/* The world of the body as it is held and weighs now. */
static inline void scene_build(SnContext *context, double young, double poisson, const SnDensity *energy, Scene *scene)
{
    scene->elements = SN_NEW(context, 1, SnTetElements);
    CHECK(sn_tet_elements_init_moving(context, &scene->mesh, scene->fixed, energy, scene->elements) == SN_OK);
    for (size_t e = 0; e < scene->elements->count; e++) {
        sn_tet_elements_set_material(scene->elements, e, young, poisson);
    }
    SnTerm term = sn_tet_elements_term(scene->elements);
    SnWorldDef def = {.vertex_count = scene->mesh.vertex_count, .mass = scene->mass, .fixed = scene->fixed, .term_count = 1, .terms = &term};
    CHECK(sn_world_init(context, &def, &scene->world) == SN_OK);
}

static inline void scene_raze(Scene *scene)
{
    sn_world_clear(&scene->world);
    sn_tet_elements_clear(scene->elements);
    sn_release(scene->elements);
}

/* Takes the mesh. With `held` the vertices at x = 0 follow. */
static inline Scene scene_from(SnContext *context, SnTetMesh mesh, int held, double young, const SnDensity *energy)
{
    Scene scene = {.mesh = mesh, .n = 3 * mesh.vertex_count};
    scene.fixed = SN_NEW(context, mesh.vertex_count, unsigned char);
    scene.mass = SN_NEW(context, mesh.vertex_count, double);
    for (size_t v = 0; v < mesh.vertex_count; v++) {
        scene.fixed[v] = held && mesh.positions[3 * v] == 0.0;
    }
    sn_tet_mesh_lumped_mass(&mesh, 1000.0, NULL, scene.mass);
    scene_build(context, young, 0.3, energy, &scene);
    scene.driver.drive = scene.drive = SN_NEW(context, mesh.vertex_count, double);
    return scene;
}

/* A bar of `length` cells of 0.1 m along x. */
static inline Scene scene_bar(SnContext *context, int length, int held, double young, const SnDensity *energy)
{
    return scene_from(context, scene_box(context, length, 1, 1, 0.1), held, young, energy);
}

/* Keep Pose, in a scene that has come to stay. */
static inline void scene_keep(SnContext *context, Scene *scene, double keep)
{
    sn_keep_pose_clear(&scene->keep_pose);
    CHECK(sn_keep_pose_init(context, scene->elements, scene->mesh.vertex_count, keep, &scene->keep_pose) == SN_OK);
    scene->driver.keep_pose = &scene->keep_pose;
}

/* One step along a curve. */
static inline SnStatus scene_step(SnContext *context, const Scene *scene, SnStepper *stepper, const SnInputCurve *curve, double begin, double end,
                                  SnState *state, SnStepReport *report)
{
    SnInputDriver input = scene->driver;
    SnDriver driver = sn_input_driver(&input);
    input.curve = curve;
    return sn_stepper_step(context, stepper, &driver, begin, end, curve->interval, state, report);
}

static inline void scene_clear(Scene *scene)
{
    sn_keep_pose_clear(&scene->keep_pose);
    scene_raze(scene);
    sn_tet_mesh_clear(&scene->mesh);
    sn_release(scene->fixed);
    sn_release(scene->mass);
    sn_release(scene->drive);
}

/* Stiffness at `positions`, on the pattern of the free vertices. The caller releases it. */
static inline double *scene_stiffness(SnContext *context, const Scene *scene, const double *positions)
{
    double *values = SN_NEW(context, scene->world.assembly.pattern.value_count, double);
    CHECK(sn_modes_stiffness(context, &scene->world, positions, NULL, values) == SN_OK);
    return values;
}

/* Masses of the free vertices, in the order of the unknowns. The caller releases them. */
static inline double *scene_free_masses(SnContext *context, const Scene *scene)
{
    double *masses = SN_NEW(context, scene->world.assembly.unknown_count, double);
    for (size_t k = 0; k < scene->world.assembly.unknown_count; k++) {
        masses[k] = scene->mass[scene->world.assembly.vertex[k]];
    }
    return masses;
}

static inline double *scene_copy(SnContext *context, const double *values, size_t count)
{
    double *copy = SN_NEW(context, count, double);
    memcpy(copy, values, count * sizeof *copy);
    return copy;
}

/* -1..1 */
static inline double scene_signed(uint64_t *random)
{
    return 2.0 * check_random(random) - 1.0;
}

static inline double scene_distance(const double *a, const double *b, size_t count)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; k++) {
        largest = fabs(a[k] - b[k]) <= largest ? largest : fabs(a[k] - b[k]); /* keeps NaN */
    }
    return largest;
}

static inline int scene_same_bits(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* The whole symmetric matrix (3 size x 3 size) of values on a pattern. The caller releases it. */
static inline double *dense_matrix(SnContext *context, const SnBlockPattern *pattern, const double *values)
{
    size_t n = 3 * pattern->size;
    double *dense = SN_NEW(context, n * n, double);
    for (size_t column = 0; column < n; column++) {
        for (int32_t k = pattern->value_start[column]; k < pattern->value_start[column + 1]; k++) {
            size_t row = (size_t)pattern->value_rows[k];
            dense[n * row + column] = dense[n * column + row] = values[k];
        }
    }
    return dense;
}

/* Classical Jacobi: the eigenvalues of a symmetric matrix, rising. `matrix` is destroyed; `vectors` (n x n, rows) may be null. */
static inline void dense_eigen(size_t n, double *matrix, double *eigenvalues, double *vectors)
{
    for (size_t k = 0; vectors != NULL && k < n * n; k++) {
        vectors[k] = k / n == k % n ? 1.0 : 0.0;
    }
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0.0, all = 0.0;
        for (size_t k = 0; k < n * n; k++) {
            all += matrix[k] * matrix[k];
            off += k / n == k % n ? 0.0 : matrix[k] * matrix[k];
        }
        if (off <= 1e-34 * all) {
            break;
        }
        for (size_t p = 0; p < n; p++) {
            for (size_t q = p + 1; q < n; q++) {
                if (matrix[n * p + q] == 0.0) {
                    continue;
                }
                double turn = 0.5 * atan2(2.0 * matrix[n * p + q], matrix[n * q + q] - matrix[n * p + p]);
                double c = cos(turn), s = sin(turn);
                for (size_t k = 0; k < n; k++) {
                    double left = matrix[n * k + p], right = matrix[n * k + q];
                    matrix[n * k + p] = c * left - s * right;
                    matrix[n * k + q] = s * left + c * right;
                }
                for (size_t k = 0; k < n; k++) {
                    double left = matrix[n * p + k], right = matrix[n * q + k];
                    matrix[n * p + k] = c * left - s * right;
                    matrix[n * q + k] = s * left + c * right;
                }
                for (size_t k = 0; vectors != NULL && k < n; k++) {
                    double left = vectors[n * p + k], right = vectors[n * q + k];
                    vectors[n * p + k] = c * left - s * right;
                    vectors[n * q + k] = s * left + c * right;
                }
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        eigenvalues[k] = matrix[n * k + k];
    }
    for (size_t i = 0; i < n; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < n; j++) {
            least = eigenvalues[j] < eigenvalues[least] ? j : least;
        }
        double value = eigenvalues[i];
        eigenvalues[i] = eigenvalues[least];
        eigenvalues[least] = value;
        for (size_t k = 0; vectors != NULL && k < n; k++) {
            double entry = vectors[n * i + k];
            vectors[n * i + k] = vectors[n * least + k];
            vectors[n * least + k] = entry;
        }
    }
}

/* Eigenvalues of K x = lambda M x, rising, for values on a pattern and the masses of its points. The caller releases them. */
static inline double *dense_modes(SnContext *context, const SnBlockPattern *pattern, const double *values, const double *masses)
{
    size_t n = 3 * pattern->size;
    double *dense = dense_matrix(context, pattern, values), *eigenvalues = SN_NEW(context, n, double);
    for (size_t k = 0; k < n * n; k++) {
        dense[k] /= sqrt(masses[k / n / 3] * masses[k % n / 3]);
    }
    dense_eigen(n, dense, eigenvalues, NULL);
    sn_release(dense);
    return eigenvalues;
}

#endif
