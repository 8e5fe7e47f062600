#include "mesh/fill.h"

#include "base/memory.h"
#include "mesh/geometry.h"
#include "mesh/patches.h"
#include "mesh/winding.h"

#include <stdlib.h>
#include <string.h>

#define LINES_PER_CELL 6.0 /* along each axis; about 30 lines through each tet */
#define MOST_LINES 4096    /* along each axis */
#define MOST_STEPS 100000  /* from tet to tet, along one line */
#define ARRIVED 1e-9       /* of the way may be missing */
#define WINDING_INSIDE 0.5
#define MOST_PARTED 64     /* crossings of a line whose runs are told apart */
#define SHEET 0.01         /* of its cage is all that a body without an inside fills */
#define PER_LOOK 4096      /* crossings, triangles or tets between two looks at the cancel flag */
#define STEPS_PER_AXIS 100 /* of progress */

/* Where a line along an axis meets the surface. */
typedef struct Crossing {
    int64_t line;
    double depth;
    int32_t patch;
    int32_t triangle; /* of the patches */
    int32_t turn;     /* of the triangle as seen along the line: 1 or -1 */
} Crossing;

/* What was found in one tet, or around one vertex: the length of lines inside the body, the same times the length of the whole run
   inside that it is part of, and the length of all lines. */
typedef struct Found {
    double length[3], run[3]; /* along each axis */
    double all;
} Found;

typedef struct Fill {
    SnContext *context;
    const SnTriMesh *mesh;
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    SnPatches patches;
    SnWinding *windings;  /* per patch; empty unless it is open */
    int32_t *neighbours;  /* tets x 4 */
    double *barycentric;  /* tets x 16: gradient and constant of each corner's coordinate */
    double cell, spacing; /* metres */
    double low[3];
    int64_t counts[3];    /* lines along each axis */
    size_t crossing_count;
    Crossing *crossings;
    Found *tets;
} Fill;

/* Where in its square a line runs, along the two other axes, 0..1: scattered, for what lies parallel to the lines would be counted once
   too often, or once too rarely, all over. */
static void scatter_line(int axis, int64_t i, int64_t j, double place[2])
{
    uint64_t bits = (uint64_t)(3 * (i + ((int64_t)1 << 20) * j) + axis) + 1;
    for (int k = 0; k < 2; k++) {
        bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15u;
        place[k] = (double)(bits >> 11) * 0x1p-53;
    }
}

static double coordinate(const Fill *fill, int32_t tet, int corner, const double point[3])
{
    const double *row = fill->barycentric + 16 * (size_t)tet + 4 * corner;
    return sn_dot3(row, point) + row[3];
}

static void init_coordinates(Fill *fill)
{
    for (size_t tet = 0; tet < fill->cage->tet_count; tet++) {
        const int32_t *corners = fill->cage->tets + 4 * tet;
        const double *origin = fill->cage->positions + 3 * (size_t)corners[0];
        double edges[9], inverse[9] = {0}, *rows = fill->barycentric + 16 * tet;
        sn_mat3_edges(fill->cage->positions, corners, edges);
        sn_mat3_inverse(edges, inverse);
        memset(rows, 0, 16 * sizeof *rows);
        rows[3] = 1.0;
        for (int i = 1; i < 4; i++) {
            memcpy(rows + 4 * i, inverse + 3 * (i - 1), 3 * sizeof *rows);
            rows[4 * i + 3] = -sn_dot3(rows + 4 * i, origin);
            for (int k = 0; k < 4; k++) {
                rows[k] -= rows[4 * i + k];
            }
        }
    }
}

static int64_t square_of(const Fill *fill, int axis, double x)
{
    return (int64_t)floor((x - fill->low[axis]) / fill->spacing);
}

/* The place at `depth` of the line of square i, j. */
static void place_line(const Fill *fill, int axis, int64_t i, int64_t j, double depth, double place[3])
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double scatter[2];
    scatter_line(axis, i, j, scatter);
    place[axis] = depth;
    place[b] = fill->low[b] + fill->spacing * ((double)i + scatter[0]);
    place[c] = fill->low[c] + fill->spacing * ((double)j + scatter[1]);
}

/* All lines along `axis` through a tet, whether or not the body is there. */
static double lines_through(const Fill *fill, int32_t tet, int axis)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0.0;
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (size_t i = 0; i < 4; i++) {
        const double *x = fill->cage->positions + 3 * (size_t)fill->cage->tets[4 * (size_t)tet + i];
        for (int k = 0; k < 3; k++) {
            low[k] = sn_least(low[k], x[k]);
            high[k] = sn_largest(high[k], x[k]);
        }
    }
    const int64_t first[2] = {square_of(fill, b, low[b]), square_of(fill, c, low[c])};
    const int64_t last[2] = {square_of(fill, b, high[b]), square_of(fill, c, high[c])};
    for (int64_t j = first[1]; j <= last[1]; j++) {
        for (int64_t i = first[0]; i <= last[0]; i++) {
            double from[3], to[3], enter = 0.0, leave = 1.0;
            place_line(fill, axis, i, j, low[axis], from);
            place_line(fill, axis, i, j, high[axis], to);
            for (int corner = 0; corner < 4; corner++) {
                double start = coordinate(fill, tet, corner, from), end = coordinate(fill, tet, corner, to);
                if (start < 0.0 && end < 0.0) {
                    leave = 0.0;
                } else if (start < 0.0) {
                    enter = sn_largest(enter, start / (start - end));
                } else if (end < 0.0) {
                    leave = sn_least(leave, start / (start - end));
                }
            }
            sum += sn_largest(leave - enter, 0.0) * (high[axis] - low[axis]);
        }
    }
    return sum;
}

/* Walks straight from one place to another, from the tet *tet on, through faces only: where tets lie in the same place it stays with
   its own part of the body. Returns how much of the way was possible, 0..1; *tet is the tet there. With an axis, what it passes is
   added to the tets as a part of a run of that length. */
static double walk(Fill *fill, int32_t *tet, const double from[3], const double to[3], int axis, double run)
{
    double reached = 0.0, length = sqrt(sn_distance_squared(from, to));
    int32_t last = -1;
    for (int step = 0; step < MOST_STEPS; step++) {
        double leave = INFINITY;
        int face = -1;
        for (int i = 0; i < 4; i++) {
            double start = coordinate(fill, *tet, i, from), end = coordinate(fill, *tet, i, to);
            if (end < 0.0 && end < start && (last < 0 || fill->neighbours[4 * *tet + i] != last) && start / (start - end) < leave) {
                leave = start / (start - end);
                face = i;
            }
        }
        leave = sn_largest(leave, reached);
        double until = sn_least(leave, 1.0);
        if (axis >= 0) {
            fill->tets[*tet].length[axis] += (until - reached) * length;
            fill->tets[*tet].run[axis] += (until - reached) * length * run;
        }
        reached = until;
        int32_t next = face < 0 ? -1 : fill->neighbours[4 * *tet + face];
        if (leave >= 1.0 || next < 0) {
            return reached;
        }
        last = *tet;
        *tet = next;
    }
    return reached;
}

/* The tet of the surface's own part of the body at a place on a triangle; -1: nobody finds there. */
static int32_t locate(Fill *fill, int32_t triangle, const double place[3])
{
    for (size_t i = 0; i < 3; i++) {
        size_t vertex = (size_t)fill->patches.triangles[3 * (size_t)triangle + i];
        int32_t tet = fill->embedding->tets[vertex];
        if (walk(fill, &tet, fill->mesh->positions + 3 * vertex, place, -1, 0.0) >= 1.0 - ARRIVED) {
            return tet;
        }
    }
    return -1;
}

static void place_on(const Fill *fill, int axis, const Crossing *crossing, double depth, double place[3])
{
    int64_t count = fill->counts[(axis + 1) % 3];
    place_line(fill, axis, crossing->line % count, crossing->line / count, depth, place);
}

/* Adds the run from a crossing to `depth`; `end` is the crossing there, or null. */
static void add_run(Fill *fill, int axis, const Crossing *begin, double depth, const Crossing *end)
{
    double from[3], to[3], run = fabs(depth - begin->depth), reached = 0.0;
    place_on(fill, axis, begin, begin->depth, from);
    place_on(fill, axis, begin, depth, to);
    int32_t tet = locate(fill, begin->triangle, from);
    if (tet >= 0) {
        reached = walk(fill, &tet, from, to, axis, run);
    }
    if (reached < 1.0 - ARRIVED && end != NULL) { /* what is left, from the other end */
        tet = locate(fill, end->triangle, to);
        if (tet >= 0) {
            from[axis] += reached * (to[axis] - from[axis]);
            (void)walk(fill, &tet, to, from, axis, run);
        }
    }
}

static int is_inside(const Fill *fill, int axis, const Crossing *crossing, double depth)
{
    double place[3];
    place_on(fill, axis, crossing, depth, place);
    return fabs(sn_winding_number(fill->windings + crossing->patch, place)) > WINDING_INSIDE;
}

/* The line left the body through a hole in its surface: goes on from the last crossing as far as there is an inside. */
static void add_beyond(Fill *fill, int axis, const Crossing *crossing, double step)
{
    double depth = crossing->depth;
    const SnWinding *winding = fill->windings + crossing->patch;
    if (winding->tree.node_count == 0) {
        return;
    }
    const SnBoxTreeNode *box = winding->tree.nodes;
    while (depth + step > box->low[axis] && depth + step < box->high[axis] && is_inside(fill, axis, crossing, depth + 0.5 * step)) {
        depth += step;
    }
    if (fabs(depth - crossing->depth) > 0.0) {
        add_run(fill, axis, crossing, depth, NULL);
    }
}

/* Whether the line is in the same part of the body at both crossings. */
static int is_one_part(Fill *fill, int axis, const Crossing *begin, const Crossing *end)
{
    double from[3], to[3];
    place_on(fill, axis, begin, begin->depth, from);
    place_on(fill, axis, end, end->depth, to);
    int32_t tet = locate(fill, begin->triangle, from);
    return tet >= 0 && walk(fill, &tet, from, to, -1, 0.0) >= 1.0 - ARRIVED && tet == locate(fill, end->triangle, to);
}

/* Where parts of one patch touch or press into each other, a run ends where its own part does. */
static void add_parts(Fill *fill, int axis, size_t count, const Crossing *crossings)
{
    uint8_t taken[MOST_PARTED] = {0};
    for (size_t k = 0; k < count; k++) {
        size_t first = count, own = count;
        for (size_t j = k + 1; j < count && own == count && crossings[k].turn == crossings->turn; j++) {
            if (!taken[j] && crossings[j].turn != crossings->turn) {
                first = first == count ? j : first;
                own = is_one_part(fill, axis, crossings + k, crossings + j) ? j : own;
            }
        }
        own = own == count ? first : own;
        if (own < count) {
            taken[own] = 1;
            add_run(fill, axis, crossings + k, crossings[own].depth, crossings + own);
        }
    }
}

/* The crossings of one line with one patch, in order. */
static void add_line(Fill *fill, int axis, size_t count, const Crossing *crossings)
{
    int turns = 0, sum = 0, most = 0, open = fill->patches.kinds[crossings->patch] == SN_PATCH_OPEN;
    for (size_t k = 0; k < count; k++) {
        turns += crossings[k].turn;
        most = abs(turns) > most ? abs(turns) : most;
    }
    if (fill->patches.kinds[crossings->patch] == SN_PATCH_ONE_SIDED || (turns != 0 && !open)) {
        return;
    }
    if (turns == 0 && most > 1 && count <= MOST_PARTED) {
        add_parts(fill, axis, count, crossings);
        return;
    }
    for (size_t k = 0; k + 1 < count; k++) {
        const Crossing *begin = crossings + k, *end = begin + 1;
        sum += begin->turn;
        if (end->depth > begin->depth && (open ? is_inside(fill, axis, begin, 0.5 * (begin->depth + end->depth)) : sum != 0)) {
            add_run(fill, axis, begin, end->depth, end);
        }
    }
    if (turns != 0) {
        add_beyond(fill, axis, crossings, -fill->cell);
        add_beyond(fill, axis, crossings + count - 1, fill->cell);
    }
}

static double area_twice(const double a[2], const double b[2], const double p[2])
{
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

/* Whether p lies to the left of the way from a to b. Seen from both sides of an edge the answers are opposite, whatever rounding does:
   a line goes through exactly one of two triangles at an edge. */
static int is_left(const double a[2], const double b[2], const double p[2])
{
    int turned = b[0] < a[0] || (!(a[0] < b[0]) && b[1] < a[1]);
    return turned ? !(area_twice(b, a, p) >= 0.0) : area_twice(a, b, p) >= 0.0;
}

/* Counts the lines along `axis` that meet a triangle; with `out` also writes their crossings. */
static size_t cross_triangle(const Fill *fill, int axis, int32_t patch, int32_t triangle, Crossing *out)
{
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    double x[3][2], depth[3], low[2], high[2];
    int64_t first[2], last[2];
    size_t found = 0;
    for (int i = 0; i < 3; i++) {
        const double *position = fill->mesh->positions + 3 * (size_t)fill->patches.triangles[3 * (size_t)triangle + (size_t)i];
        x[i][0] = (position[b] - fill->low[b]) / fill->spacing;
        x[i][1] = (position[c] - fill->low[c]) / fill->spacing;
        depth[i] = position[axis];
    }
    for (int k = 0; k < 2; k++) {
        low[k] = sn_least(x[0][k], sn_least(x[1][k], x[2][k]));
        high[k] = sn_largest(x[0][k], sn_largest(x[1][k], x[2][k]));
        first[k] = (int64_t)floor(low[k]);
        last[k] = (int64_t)floor(high[k]);
    }
    for (int64_t j = first[1]; j <= last[1]; j++) {
        for (int64_t i = first[0]; i <= last[0]; i++) {
            double p[2];
            scatter_line(axis, i, j, p);
            p[0] += (double)i;
            p[1] += (double)j;
            int left = is_left(x[0], x[1], p);
            if (left != is_left(x[1], x[2], p) || left != is_left(x[2], x[0], p)) {
                continue;
            }
            if (out != NULL) {
                double u = area_twice(x[1], x[2], p), v = area_twice(x[2], x[0], p), w = area_twice(x[0], x[1], p);
                double sum = u + v + w;
                double at = fabs(sum) > 0.0 ? (u * depth[0] + v * depth[1] + w * depth[2]) / sum : depth[0];
                at = sn_least(sn_largest(at, sn_least(depth[0], sn_least(depth[1], depth[2]))),
                              sn_largest(depth[0], sn_largest(depth[1], depth[2])));
                out[found] = (Crossing){.line = i + fill->counts[b] * j, .depth = at, .patch = patch, .triangle = triangle,
                                        .turn = left ? 1 : -1};
            }
            found++;
        }
    }
    return found;
}

static int compare_crossings(const void *left, const void *right)
{
    const Crossing *a = left, *b = right;
    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    if (a->patch != b->patch) {
        return a->patch < b->patch ? -1 : 1;
    }
    if (a->depth < b->depth || a->depth > b->depth) {
        return a->depth < b->depth ? -1 : 1;
    }
    return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

/* All crossings along one axis, in order. */
static SnStatus find_crossings(Fill *fill, int axis)
{
    SnStatus status = SN_OK;
    fill->crossing_count = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t count = 0;
        for (size_t patch = 0; patch < fill->patches.patch_count; patch++) {
            for (int32_t t = fill->patches.starts[patch]; t < fill->patches.starts[patch + 1]; t++) {
                if (t % PER_LOOK == 0) {
                    SN_TRY(sn_context_look(fill->context));
                }
                count += cross_triangle(fill, axis, (int32_t)patch, t, pass ? fill->crossings + count : NULL);
            }
        }
        if (pass == 0) {
            sn_release(fill->crossings);
            SN_TRY_NEW(fill->context, fill->crossings, count, Crossing);
            fill->crossing_count = count;
        }
    }
    qsort(fill->crossings, fill->crossing_count, sizeof *fill->crossings, compare_crossings);
cleanup:
    return status;
}

static SnStatus measure_axis(Fill *fill, int axis)
{
    SnStatus status = SN_OK;
    size_t looked = 0;
    SN_TRY(sn_context_advance(fill->context, STEPS_PER_AXIS * axis));
    SN_TRY(find_crossings(fill, axis));
    for (size_t begin = 0, end; begin < fill->crossing_count; begin = end) {
        const Crossing *first = fill->crossings + begin;
        for (end = begin; end < fill->crossing_count && fill->crossings[end].line == first->line &&
                          fill->crossings[end].patch == first->patch;) {
            end++;
        }
        add_line(fill, axis, end - begin, first);
        if (begin >= looked) {
            size_t steps = STEPS_PER_AXIS * begin / fill->crossing_count;
            SN_TRY(sn_context_advance(fill->context, STEPS_PER_AXIS * axis + (long)steps));
            looked = begin + PER_LOOK;
        }
    }
cleanup:
    return status;
}

/* The thickness of a sheet at any angle is between the run that is least and the one that all three make together; of a rod it is
   near the former. */
static double thickness_of(const Found *found, double size)
{
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        if (found->length[axis] > 0.0) {
            sum += pow(found->run[axis] / found->length[axis], -4.0);
        }
    }
    return sum > 0.0 ? sn_least(pow(sum, -0.25), size) : size;
}

static void add_found(const Found *from, Found *to)
{
    for (int axis = 0; axis < 3; axis++) {
        to->length[axis] += from->length[axis];
        to->run[axis] += from->run[axis];
    }
    to->all += from->all;
}

static double share_of(const Found *found)
{
    double inside = found->length[0] + found->length[1] + found->length[2];
    return found->all > 0.0 ? sn_least(sn_largest(inside / found->all, SN_FILL_LEAST), 1.0) : SN_FILL_LEAST;
}

/* `around`: vertices, zeroed. Thickness is taken from all tets around the corners, so that empty ones have it too, and so is the share
   of a tet that is so small that no line goes through. */
static SnStatus conclude(Fill *fill, Found *around, double *share, double *thickness)
{
    SnStatus status = SN_OK;
    const SnTetMesh *cage = fill->cage;
    double filled = 0.0, total = 0.0, size = sn_tri_mesh_size(fill->mesh);
    for (size_t e = 0; e < cage->tet_count; e++) {
        if (e % PER_LOOK == 0) {
            SN_TRY(sn_context_advance(fill->context, 3 * STEPS_PER_AXIS));
        }
        for (int axis = 0; axis < 3; axis++) {
            fill->tets[e].all += lines_through(fill, (int32_t)e, axis);
            filled += fill->tets[e].length[axis];
        }
        total += fill->tets[e].all;
        for (size_t i = 0; i < 4; i++) {
            add_found(fill->tets + e, around + cage->tets[4 * e + i]);
        }
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        Found found = {0};
        for (size_t i = 0; i < 4; i++) {
            add_found(around + cage->tets[4 * e + i], &found);
        }
        thickness[e] = filled > SHEET * total ? thickness_of(&found, size) : size;
        share[e] = filled > SHEET * total ? share_of(fill->tets[e].all > 0.0 ? fill->tets + e : &found) : 1.0;
    }
cleanup:
    return status;
}

static SnStatus build_windings(Fill *fill)
{
    SnStatus status = SN_OK;
    const SnPatches *patches = &fill->patches;
    double *corners = NULL;
    SN_TRY_NEW(fill->context, fill->windings, patches->patch_count, SnWinding);
    SN_TRY_NEW(fill->context, corners, 9 * patches->triangle_count, double);
    for (size_t i = 0; i < 3 * patches->triangle_count; i++) {
        memcpy(corners + 3 * i, fill->mesh->positions + 3 * (size_t)patches->triangles[i], 3 * sizeof *corners);
    }
    for (size_t patch = 0; patch < patches->patch_count; patch++) {
        if (patches->kinds[patch] == SN_PATCH_OPEN) {
            SN_TRY(sn_context_look(fill->context));
            SN_TRY(sn_winding_build(fill->context, (size_t)(patches->starts[patch + 1] - patches->starts[patch]),
                                    corners + 9 * (size_t)patches->starts[patch], fill->windings + patch));
        }
    }
cleanup:
    sn_release(corners);
    return status;
}

static void init_lines(Fill *fill)
{
    double high[3];
    sn_tri_mesh_bounds(fill->mesh, fill->low, high);
    fill->cell = 0.0;
    for (size_t e = 0; e < fill->cage->tet_count; e++) {
        fill->cell += sn_tet_mesh_cell(fill->cage, e) / (double)fill->cage->tet_count;
    }
    fill->spacing = sn_largest(fill->cell / LINES_PER_CELL, sn_tri_mesh_size(fill->mesh) / MOST_LINES);
    for (int axis = 0; axis < 3; axis++) {
        fill->counts[axis] = (int64_t)ceil((high[axis] - fill->low[axis]) / fill->spacing) + 1;
    }
}

SnStatus sn_fill_measure(SnContext *context, const SnTriMesh *mesh, const SnTetMesh *cage, const SnEmbedding *embedding, double *share,
                         double *thickness)
{
    SnStatus status = SN_OK;
    Fill fill = {.context = context, .mesh = mesh, .cage = cage, .embedding = embedding};
    Found *around = NULL;
    sn_context_stage(context, "Weighing the flesh", 3 * STEPS_PER_AXIS);
    init_lines(&fill);
    SN_TRY(sn_patches_build(context, mesh, &fill.patches));
    SN_TRY(build_windings(&fill));
    SN_TRY_NEW(context, fill.neighbours, 4 * cage->tet_count, int32_t);
    SN_TRY_NEW(context, fill.barycentric, 16 * cage->tet_count, double);
    SN_TRY_NEW(context, fill.tets, cage->tet_count, Found);
    SN_TRY_NEW(context, around, cage->vertex_count, Found);
    SN_TRY(sn_context_look(context));
    SN_TRY(sn_tet_mesh_neighbours(context, cage, fill.neighbours));
    init_coordinates(&fill);
    for (int axis = 0; axis < 3; axis++) {
        SN_TRY(measure_axis(&fill, axis));
    }
    SN_TRY(conclude(&fill, around, share, thickness));
cleanup:
    for (size_t patch = 0; fill.windings != NULL && patch < fill.patches.patch_count; patch++) {
        sn_winding_clear(fill.windings + patch);
    }
    sn_patches_clear(&fill.patches);
    sn_release(fill.windings);
    sn_release(fill.neighbours);
    sn_release(fill.barycentric);
    sn_release(fill.crossings);
    sn_release(fill.tets);
    sn_release(around);
    return status;
}
