#include "mesh/mend.h"

#include "base/memory.h"
#include "mesh/geometry.h"

#include <stdlib.h>
#include <string.h>

#define DIRECTIONS 26 /* to the neighbours of a cube in a grid of cubes */
#define TINY 1e-300
#define WORTHWHILE 1e-3 /* degrees: a vertex that gains less has not moved */
#define STEPS_PER_ROUND 100 /* of progress */

static const double STEPS[] = {0.3, 0.1, 0.03}; /* of the mean edge at a vertex */

typedef struct Mend {
    const SnMendDef *def;
    const double *home;
    double *positions;
    int32_t *starts; /* vertex_count + 1: the tets at each vertex */
    int32_t *stars;
    double directions[DIRECTIONS][3];
} Mend;

typedef struct Bad {
    double quality;
    int32_t tet;
} Bad;

SnMendDef sn_mend_def_default(void)
{
    return (SnMendDef){.goal = 12.0, .rounds = 12};
}

/* Grows with the smallest dihedral angle a of a tet, 1 - cos a; 0 for a flat one, less the more it is inside out. */
static double measure_quality(const double *x[4])
{
    static const int FACES[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}; /* counter-clockwise seen from outside */
    double normals[4][3], inverse[4], middle[3], away[3], largest = -1.0, size = 0.0;
    for (int i = 0; i < 4; i++) {
        double u[3], v[3];
        sn_subtract(x[FACES[i][1]], x[FACES[i][0]], u);
        sn_subtract(x[FACES[i][2]], x[FACES[i][0]], v);
        sn_cross3(u, v, normals[i]);
        inverse[i] = 1.0 / sn_largest(sn_length(normals[i]), TINY);
    }
    sn_subtract(x[3], x[0], away);
    double height = -sn_dot3(normals[3], away) * inverse[3];
    if (height > 0.0) {
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < i; j++) {
                largest = sn_largest(largest, -sn_dot3(normals[i], normals[j]) * inverse[i] * inverse[j]);
            }
        }
        return sn_largest(1.0 - largest, 0.0);
    }
    for (int axis = 0; axis < 3; axis++) {
        middle[axis] = 0.25 * (x[0][axis] + x[1][axis] + x[2][axis] + x[3][axis]);
    }
    for (int i = 0; i < 4; i++) {
        size = sn_largest(size, sn_distance_squared(x[i], middle));
    }
    return height / sn_largest(sqrt(size), TINY);
}

/* Degrees of a quality; inside out below zero. */
static double angle_of(double quality)
{
    return 180.0 / SN_PI * (quality > 0.0 ? acos(sn_largest(1.0 - quality, -1.0)) : 0.5 * SN_PI * quality);
}

static double measure_tet(const Mend *mend, size_t tet)
{
    const double *x[4];
    for (size_t i = 0; i < 4; i++) {
        x[i] = mend->positions + 3 * (size_t)mend->def->tets[4 * tet + i];
    }
    return measure_quality(x);
}

/* The worst quality around a vertex if it were at `place`; gives up as soon as it is not above `limit`. */
static double measure_star(const Mend *mend, int32_t vertex, const double place[3], double limit)
{
    double worst = INFINITY;
    for (int32_t i = mend->starts[vertex]; i < mend->starts[vertex + 1] && worst > limit; i++) {
        const int32_t *corners = mend->def->tets + 4 * (size_t)mend->stars[i];
        const double *x[4];
        for (int j = 0; j < 4; j++) {
            x[j] = corners[j] == vertex ? place : mend->positions + 3 * (size_t)corners[j];
        }
        worst = sn_least(worst, measure_quality(x));
    }
    return worst;
}

static double measure_edges(const Mend *mend, int32_t vertex)
{
    double sum = 0.0;
    int32_t begin = mend->starts[vertex], end = mend->starts[vertex + 1];
    for (int32_t i = begin; i < end; i++) {
        for (size_t j = 0; j < 4; j++) {
            const double *other = mend->positions + 3 * (size_t)mend->def->tets[4 * (size_t)mend->stars[i] + j];
            sum += sqrt(sn_distance_squared(other, mend->positions + 3 * (size_t)vertex));
        }
    }
    return sum / (3.0 * (end - begin));
}

/* Tries places around a vertex; whether a better one was found. */
static int move_vertex(const Mend *mend, int32_t vertex)
{
    double *here = mend->positions + 3 * (size_t)vertex, leash = mend->def->leashes[vertex];
    double edge = measure_edges(mend, vertex), before = measure_star(mend, vertex, here, -INFINITY), best = before;
    for (size_t step = 0; step < sizeof STEPS / sizeof *STEPS; step++) {
        double start[3];
        memcpy(start, here, sizeof start);
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            double place[3];
            for (int axis = 0; axis < 3; axis++) {
                place[axis] = start[axis] + STEPS[step] * edge * mend->directions[direction][axis];
            }
            if (sqrt(sn_distance_squared(place, mend->home + 3 * (size_t)vertex)) > leash) {
                continue;
            }
            double quality = measure_star(mend, vertex, place, best);
            if (quality > best) {
                best = quality;
                memcpy(here, place, sizeof place);
            }
        }
    }
    return best > before && angle_of(best) > angle_of(before) + WORTHWHILE;
}

static int compare_bad(const void *left, const void *right)
{
    const Bad *a = left, *b = right;
    if (a->quality < b->quality || a->quality > b->quality) {
        return a->quality < b->quality ? -1 : 1;
    }
    return (a->tet > b->tet) - (a->tet < b->tet);
}

/* The tets below the goal, worst first; returns their number. */
static size_t find_bad(const Mend *mend, Bad *bad)
{
    size_t count = 0;
    double goal = 1.0 - cos(mend->def->goal * SN_PI / 180.0);
    for (size_t tet = 0; tet < mend->def->tet_count; tet++) {
        double quality = measure_tet(mend, tet);
        if (quality < goal) {
            bad[count++] = (Bad){quality, (int32_t)tet};
        }
    }
    qsort(bad, count, sizeof *bad, compare_bad);
    return count;
}

static SnStatus mend_round(SnContext *context, const Mend *mend, int round, size_t count, const Bad *bad, int *moved)
{
    SnStatus status = SN_OK;
    *moved = 0;
    for (size_t i = 0; i < count; i++) {
        SN_TRY(sn_context_advance(context, STEPS_PER_ROUND * round + (long)(STEPS_PER_ROUND * i / count)));
        for (size_t j = 0; j < 4; j++) {
            int32_t vertex = mend->def->tets[4 * (size_t)bad[i].tet + j];
            *moved |= mend->def->leashes[vertex] > 0.0 && move_vertex(mend, vertex);
        }
    }
cleanup:
    return status;
}

static void init_directions(Mend *mend)
{
    int count = 0;
    for (int i = 0; i < 27; i++) {
        double step[3] = {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1};
        for (int axis = 0; axis < 3 && i != 13; axis++) {
            mend->directions[count][axis] = step[axis] / sn_length(step);
        }
        count += i != 13; /* the middle one leads nowhere */
    }
}

/* Filling from the back moves each start to its place. */
static void fill_stars(Mend *mend)
{
    size_t slots = 4 * mend->def->tet_count;
    for (size_t slot = 0; slot < slots; slot++) {
        mend->starts[mend->def->tets[slot]]++;
    }
    for (size_t vertex = 0; vertex < mend->def->vertex_count; vertex++) {
        mend->starts[vertex + 1] += mend->starts[vertex];
    }
    for (size_t slot = slots; slot-- > 0;) {
        mend->stars[--mend->starts[mend->def->tets[slot]]] = (int32_t)(slot / 4);
    }
}

static SnStatus check_mesh(SnContext *context, const SnMendDef *def, const double *positions)
{
    for (size_t i = 0; i < 4 * def->tet_count; i++) {
        if (def->tets[i] < 0 || (size_t)def->tets[i] >= def->vertex_count) {
            return sn_context_fail(context, SN_BAD_INPUT, "Tet %zu of the cage has a corner %d, but there are %zu vertices.", i / 4,
                                   def->tets[i], def->vertex_count);
        }
    }
    for (size_t i = 0; i < 3 * def->vertex_count; i++) {
        if (!isfinite(positions[i])) {
            return sn_context_fail(context, SN_BAD_INPUT, "Vertex %zu of the cage is not at a finite place.", i / 3);
        }
    }
    return SN_OK;
}

SnStatus sn_mend_tets(SnContext *context, const SnMendDef *def, double *positions)
{
    SnStatus status = SN_OK;
    Mend mend = {.def = def, .positions = positions};
    Bad *bad = NULL;
    double *home = NULL;
    int moved = 1;
    SN_TRY(check_mesh(context, def, positions));
    SN_TRY_NEW(context, home, 3 * def->vertex_count, double);
    SN_TRY_NEW(context, bad, def->tet_count, Bad);
    SN_TRY_NEW(context, mend.starts, def->vertex_count + 1, int32_t);
    SN_TRY_NEW(context, mend.stars, 4 * def->tet_count, int32_t);
    memcpy(home, positions, 3 * def->vertex_count * sizeof *home);
    mend.home = home;
    init_directions(&mend);
    fill_stars(&mend);
    sn_context_stage(context, "Mending the cage", STEPS_PER_ROUND * (long)def->rounds);
    for (int round = 0; round < def->rounds && moved; round++) {
        SN_TRY(sn_context_advance(context, STEPS_PER_ROUND * (long)round));
        size_t count = find_bad(&mend, bad);
        SN_TRY(mend_round(context, &mend, round, count, bad, &moved));
    }
cleanup:
    sn_release(home);
    sn_release(bad);
    sn_release(mend.starts);
    sn_release(mend.stars);
    return status;
}
