/* The step of bodies that touch: with a quadratic elastic part it ends where all is balanced, whatever presses, sticks and slides there. */
#include "scenes.h"

#include "dynamics/border_step.h"
#include "dynamics/rotations.h"
#include "math/linear_solver.h"
#include "math/multifrontal.h"

typedef struct System {
    Scene scene;
    const SnAssembly *assembly;
    size_t n;                 /* numbers of unknowns */
    double *values, *loads, *turned, *product;
    double *rotations;        /* unknowns x 9, or null */
    SnLinearSolver *solver;
    SnMultifrontal *factor;
    int32_t *border, *place, *pieces; /* of the border, or null */
    size_t border_count;
    SnPlanes planes;
} System;

static void random_rotation(uint64_t *random, double r[9])
{
    double angle = 2.0 * check_random(random), c = cos(angle), s = sin(angle);
    const double about[2][9] = {{c, -s, 0, s, c, 0, 0, 0, 1}, {1, 0, 0, 0, c, -s, 0, s, c}};
    for (int i = 0; i < 9; i++) {
        r[i] = 0.0;
        for (int k = 0; k < 3; k++) {
            r[i] += about[0][3 * (i / 3) + k] * about[1][3 * k + i % 3];
        }
    }
}

/* Planes over four unknowns of the border each; some press, some of which slide. */
static void add_planes(SnContext *context, System *s, size_t count, uint64_t *random)
{
    for (size_t k = 0; k < count; k++) {
        SnPlane *plane = sn_planes_add(context, &s->planes);
        double w[3], length = 0.0;
        for (int a = 0; a < 3; a++) {
            plane->normal[a] = scene_signed(random);
            length += plane->normal[a] * plane->normal[a];
        }
        for (int a = 0; a < 3; a++) {
            plane->normal[a] /= sqrt(length);
        }
        plane->rho = plane->stick = 1e5 * (1.0 + check_random(random));
        plane->lambda = k % 3 == 0 ? 10.0 * check_random(random) : 0.0;
        plane->grip = k % 2 == 0 ? 20.0 * check_random(random) : 0.0;
        sn_planes_begin_row(&s->planes, &plane->row);
        for (size_t i = 0; i < 4; i++) {
            int32_t unknown = s->border[(7 * k + 3 * i) % s->border_count];
            int is_there = 0;
            for (int32_t e = plane->row.begin; e < plane->row.end; e++) {
                is_there |= s->planes.unknowns[e] == unknown;
            }
            if (!is_there) {
                CHECK(sn_planes_add_entry(context, &s->planes, &plane->row, unknown, i < 2 ? 0.5 : -0.6) == SN_OK);
            }
        }
        sn_plane_place(&s->planes, plane, s->assembly->vertex, s->scene.mesh.positions, w);
        plane->gap = w[0] * plane->normal[0] + w[1] * plane->normal[1] + w[2] * plane->normal[2] + 1e-3 * scene_signed(random);
        memcpy(plane->offset, w, sizeof w);
    }
}

/* Cuts the body into slabs that know nothing of each other: a block between two of them is no longer there. */
static void cut(System *s, int32_t pieces)
{
    const SnBlockPattern *pattern = &s->assembly->pattern;
    const double *x = s->scene.mesh.positions;
    double low = INFINITY, high = -INFINITY;
    for (size_t v = 0; v < s->scene.mesh.vertex_count; v++) {
        low = fmin(low, x[3 * v]);
        high = fmax(high, x[3 * v]);
    }
    for (size_t k = 0; k < pattern->block_count; k++) {
        int32_t slabs[2], ends[2] = {pattern->rows[k], pattern->columns[k]};
        for (int i = 0; i < 2; i++) {
            double along = (x[3 * (size_t)s->assembly->vertex[ends[i]]] - low) / (high - low);
            slabs[i] = (int32_t)fmin((double)pieces * along, (double)pieces - 1.0);
            if (s->place[ends[i]] >= 0) {
                s->pieces[s->place[ends[i]]] = slabs[i];
            }
        }
        for (int i = 0; i < 9 && slabs[0] != slabs[1]; i++) {
            s->values[sn_block_pattern_value(pattern, (int32_t)k, i / 3, i % 3)] = 0.0;
        }
    }
}

static void system_init(SnContext *context, int turned, int32_t pieces, size_t planes, System *s)
{
    uint64_t random = 9 + (uint64_t)turned;
    *s = (System){.scene = scene_from(context, scene_box(context, 9, 6, 4, 0.1), 0, 1e5, &sn_density_neo_hookean)};
    s->assembly = &s->scene.world.assembly;
    const SnBlockPattern *pattern = &s->assembly->pattern;
    s->n = 3 * pattern->size;
    s->values = scene_stiffness(context, &s->scene, s->scene.mesh.positions);
    s->loads = SN_NEW(context, s->n, double);
    s->turned = SN_NEW(context, s->n, double);
    s->product = SN_NEW(context, s->n, double);
    s->place = SN_NEW(context, pattern->size, int32_t);
    s->border = SN_NEW(context, pattern->size, int32_t);
    s->pieces = pieces > 1 ? SN_NEW(context, pattern->size, int32_t) : NULL;
    s->rotations = turned ? SN_NEW(context, 9 * pattern->size, double) : NULL;
    for (size_t k = 0; k < s->n; k++) {
        s->values[pattern->value_start[k]] += 3600.0 * s->scene.mass[s->assembly->vertex[k / 3]];
        s->loads[k] = 20.0 * scene_signed(&random);
    }
    for (size_t k = 0; k < pattern->size; k++) {
        s->place[k] = k % 3 == 0 ? (int32_t)s->border_count : -1;
        s->border[s->border_count] = (int32_t)k;
        s->border_count += k % 3 == 0;
        if (turned) {
            random_rotation(&random, s->rotations + 9 * k);
        }
    }
    if (pieces > 1) {
        cut(s, pieces);
    }
    CHECK(sn_linear_solver_create(context, pattern, &s->solver) == SN_OK);
    CHECK(sn_multifrontal_create_bordered(context, pattern, s->solver, s->border_count, s->border, &s->factor) == SN_OK);
    CHECK(sn_multifrontal_factorize(s->factor, s->values) == 0);
    add_planes(context, s, planes, &random);
}

static void system_clear(System *s)
{
    sn_planes_clear(&s->planes);
    sn_multifrontal_destroy(s->factor);
    sn_linear_solver_destroy(s->solver);
    sn_release(s->values);
    sn_release(s->loads);
    sn_release(s->turned);
    sn_release(s->product);
    sn_release(s->rotations);
    sn_release(s->place);
    sn_release(s->border);
    sn_release(s->pieces);
    scene_clear(&s->scene);
}

static void turn(const System *s, int back, double *vector)
{
    if (s->rotations != NULL) {
        sn_rotations_apply(s->assembly->unknown_count, s->rotations, back, vector);
    }
}

/* All forces at x, whose elastic ones are those of a quadratic energy around the mesh. Returns the largest. */
static double find_residual(System *s, const double *x, double *residual)
{
    double most = 0.0;
    for (size_t k = 0; k < s->n; k++) {
        size_t at = 3 * (size_t)s->assembly->vertex[k / 3] + k % 3;
        s->turned[k] = x[at] - s->scene.mesh.positions[at];
    }
    turn(s, 1, s->turned);
    sn_block_matrix_multiply(&s->assembly->pattern, s->values, s->turned, s->product);
    turn(s, 0, s->product);
    for (size_t k = 0; k < s->n; k++) {
        residual[k] = s->loads[k] - s->product[k];
    }
    sn_planes_value(&s->planes, s->assembly, x, residual);
    for (size_t k = 0; k < s->n; k++) {
        most = fmax(most, fabs(residual[k]));
    }
    return most;
}

static void a_step_ends_where_all_is_balanced(void)
{
    for (int turned = 0; turned < 2; turned++) {
        for (int roughly = 0; roughly < 2; roughly++) {
            SnContext context;
            System s;
            SnBorderStep step = {0};
            sn_context_init(&context);
            system_init(&context, turned, 1, 60, &s);
            double *x = scene_copy(&context, s.scene.mesh.positions, s.scene.n);
            double *residual = SN_NEW(&context, s.n, double), *move = SN_NEW(&context, s.n, double);
            SnBorder border = {s.border_count, s.place, s.pieces, s.rotations};
            double first = find_residual(&s, x, residual), left = first;
            for (int round = 0; round < 5; round++) {
                sn_planes_linearise(&s.planes, s.assembly, x);
                turn(&s, 1, residual);
                CHECK(sn_border_step_find(&context, &step, s.factor, &border, &s.planes, roughly, residual, move) == SN_OK);
                turn(&s, 0, move);
                for (size_t k = 0; k < s.n; k++) {
                    x[3 * (size_t)s.assembly->vertex[k / 3] + k % 3] += move[k];
                }
                left = find_residual(&s, x, residual);
                CHECK(round > 0 || left < (roughly ? 2e-2 : 2e-4) * first); /* all but rounding in one */
            }
            CHECK(left < 1e-9 * first);
            CHECK(sn_planes_stand(&s.planes));
            size_t counts[4] = {0};
            for (const SnPlane *plane = s.planes.planes; plane < s.planes.planes + s.planes.count; plane++) {
                counts[0] += plane->pressed != 0;
                counts[1] += !plane->pressed;
                counts[2] += plane->grip > 0.0 && plane->slid;
                counts[3] += plane->grip > 0.0 && !plane->slid;
            }
            CHECK(counts[0] > 9 && counts[1] > 9 && counts[2] > 3 && counts[3] > 3);
            sn_release(x);
            sn_release(residual);
            sn_release(move);
            sn_border_step_clear(&step);
            system_clear(&s);
        }
    }
}

/* Pieces that know nothing of each other are eliminated by themselves: the step is that of the border as a whole. */
static void a_step_of_pieces_is_that_of_the_whole(void)
{
    for (int turned = 0; turned < 2; turned++) {
        for (int32_t pieces = 2; pieces < 6; pieces++) {
            SnContext context;
            System s;
            sn_context_init(&context);
            system_init(&context, turned, pieces, 60, &s);
            double *residual = SN_NEW(&context, s.n, double), *moves[2], most = 0.0, off = 0.0;
            size_t entries[2];
            find_residual(&s, s.scene.mesh.positions, residual);
            turn(&s, 1, residual);
            for (int parted = 0; parted < 2; parted++) {
                SnBorderStep step = {0};
                SnBorder border = {s.border_count, s.place, parted ? s.pieces : NULL, s.rotations};
                moves[parted] = SN_NEW(&context, s.n, double);
                sn_planes_linearise(&s.planes, s.assembly, s.scene.mesh.positions);
                CHECK(sn_border_step_find(&context, &step, s.factor, &border, &s.planes, 0, residual, moves[parted]) == SN_OK);
                entries[parted] = step.matrix.panel[step.matrix.count];
                sn_border_step_clear(&step);
            }
            for (size_t k = 0; k < s.n; k++) {
                most = fmax(most, fabs(moves[0][k]));
                off = fmax(off, fabs(moves[1][k] - moves[0][k]));
            }
            CHECK(off < 1e-4 * most && most > 0.0);
            CHECK(entries[1] < entries[0]);
            sn_release(residual);
            sn_release(moves[0]);
            sn_release(moves[1]);
            system_clear(&s);
        }
    }
}

/* What hangs on something outside of the border has no say. */
static void planes_outside_of_the_border_are_left_out(void)
{
    SnContext context;
    System s;
    SnBorderStep step = {0};
    sn_context_init(&context);
    system_init(&context, 0, 1, 12, &s);
    for (int32_t k = s.planes.planes[0].row.begin; k < s.planes.planes[0].row.end; k++) {
        s.planes.unknowns[k] += k == s.planes.planes[0].row.begin;
    }
    double *residual = SN_NEW(&context, s.n, double), *move = SN_NEW(&context, s.n, double);
    SnBorder border = {.count = s.border_count, .place = s.place};
    find_residual(&s, s.scene.mesh.positions, residual);
    sn_planes_linearise(&s.planes, s.assembly, s.scene.mesh.positions);
    CHECK(sn_border_step_find(&context, &step, s.factor, &border, &s.planes, 0, residual, move) == SN_OK);
    CHECK(!s.planes.planes[0].is_inside && s.planes.planes[1].is_inside);
    double along = 0.0;
    for (size_t k = 0; k < s.n; k++) {
        along += residual[k] * move[k];
    }
    CHECK(isfinite(along) && along > 0.0);
    sn_release(residual);
    sn_release(move);
    sn_border_step_clear(&step);
    system_clear(&s);
}

int main(void)
{
    a_step_ends_where_all_is_balanced();
    a_step_of_pieces_is_that_of_the_whole();
    planes_outside_of_the_border_are_left_out();
    return CHECK_RESULT();
}
