/* From a mesh as artists make it to walls that know their flesh:

      sides       triangles that meet two at an edge are a patch (patches.h); closed patches, and open ones that go around
                  something, are turned so that their normals lead out of the flesh. The others are walls without flesh.
      thinning    vertices nearer than a fraction of a cell along the surface become one, and triangles that shrank to points go:
                  from here on the cost is that of the cage's resolution, not of the mesh's.
      shells      triangles that share a vertex are one shell: a coat, its buttons, the body, an eye.
      holds       smaller shells hold on to larger ones (shell_holds.h).

   With these, pieces.c can say what hangs together around one tet, and split.c gives what does not tets of its own:

            d                 d'                d"        one tet that holds a finger and its neighbour (1, 2) becomes two, in
           /|\               /|\               /|\        the same place, each carrying the surface of one
         /1 | 2\     ->    /1 |  \    and    /  | 2\
        a---+---b         a'--+---b'        a"--+---b" */
#include "mesh/shells.h"

#include "base/memory.h"
#include "mesh/geometry.h"
#include "mesh/patches.h"
#include "mesh/shell_holds.h"
#include "mesh/union_find.h"

#include <stdlib.h>
#include <string.h>

#define ROUND 0.05     /* of a sphere's volume: an open patch that goes around less has no inside */
#define SURE 1e-12
#define PER_LOOK 1024  /* triangles or vertices between two looks at the cancel flag */

/* Triangles that share a vertex are of one shell. */
static SnStatus find_labels(SnContext *context, SnShells *shells)
{
    SnStatus status = SN_OK;
    int32_t *parents = NULL, *numbers = NULL;
    SN_TRY_NEW(context, parents, shells->vertex_count, int32_t);
    SN_TRY_NEW(context, numbers, shells->vertex_count, int32_t);
    sn_union_find_init(shells->vertex_count, parents);
    memset(numbers, 0xff, shells->vertex_count * sizeof *numbers); /* -1 */
    for (size_t i = 0; i < 3 * shells->triangle_count; i++) {
        sn_union_find_join(parents, shells->vertices[i], shells->vertices[i - i % 3]);
    }
    for (size_t i = 0; i < shells->triangle_count; i++) {
        int32_t root = sn_union_find_root(parents, shells->vertices[3 * i]);
        numbers[root] = numbers[root] < 0 ? (int32_t)shells->shell_count++ : numbers[root];
        shells->labels[i] = numbers[root];
    }
cleanup:
    sn_release(parents);
    sn_release(numbers);
    return status;
}

/* Whether triangle i of the patches is turned against the mesh. Before vertices are welded. */
static int is_turned(const SnPatches *patches, const SnShells *shells, size_t i)
{
    return patches->triangles[3 * i + 1] != shells->vertices[3 * (size_t)patches->sources[i] + 1];
}

/* Volume that a patch goes around, negative where it is turned inside out, over that of a ball of the same area. Around the
   patch's own middle, so that open ones are not biased. */
static double measure_roundness(const SnPatches *patches, size_t patch, const SnShells *shells)
{
    double middle[3] = {0.0, 0.0, 0.0}, area = 0.0, volume = 0.0, normal[3];
    int32_t begin = patches->starts[patch], end = patches->starts[patch + 1];
    for (int32_t i = begin; i < end; i++) {
        const double *x = shells->corners + 9 * (size_t)patches->sources[i];
        double own = sn_triangle_area(x, normal);
        area += own;
        for (int axis = 0; axis < 3; axis++) {
            middle[axis] += own * (x[axis] + x[3 + axis] + x[6 + axis]) / 3.0;
        }
    }
    if (area <= 0.0) {
        return 0.0;
    }
    for (int axis = 0; axis < 3; axis++) {
        middle[axis] /= area;
    }
    for (int32_t i = begin; i < end; i++) {
        const double *x = shells->corners + 9 * (size_t)patches->sources[i];
        double own = sn_volume_six(middle, x, x + 3, x + 6) / 6.0;
        volume += is_turned(patches, shells, (size_t)i) ? -own : own;
    }
    return volume * 6.0 * sqrt(SN_PI) / (area * sqrt(area));
}

/* Turns the normals of one patch away from its inside. */
static void turn_patch(const SnPatches *patches, size_t patch, SnShells *shells)
{
    double roundness = measure_roundness(patches, patch, shells);
    int known = patches->kinds[patch] == SN_PATCH_CLOSED || (patches->kinds[patch] == SN_PATCH_OPEN && fabs(roundness) > ROUND);
    for (int32_t i = patches->starts[patch]; i < patches->starts[patch + 1]; i++) {
        size_t triangle = (size_t)patches->sources[i];
        double *normal = shells->normals + 3 * triangle;
        double length = 2.0 * sn_triangle_area(shells->corners + 9 * triangle, normal);
        double sign = is_turned(patches, shells, (size_t)i) == (roundness < 0.0) ? 1.0 : -1.0;
        for (int axis = 0; axis < 3; axis++) {
            normal[axis] *= known && length > SURE ? sign / length : 0.0;
        }
        shells->solid[triangle] = (uint8_t)known;
    }
}

static void sum_vertex_normals(SnShells *shells)
{
    for (size_t slot = 0; slot < 3 * shells->triangle_count; slot++) {
        const double *x = shells->corners + 9 * (slot / 3), *normal = shells->normals + 3 * (slot / 3);
        const double *a = x + 3 * (slot % 3), *b = x + 3 * ((slot + 1) % 3), *c = x + 3 * ((slot + 2) % 3);
        double ab[3], ac[3], cross[3];
        sn_subtract(b, a, ab);
        sn_subtract(c, a, ac);
        sn_cross3(ab, ac, cross);
        double angle = atan2(sn_length(cross), sn_dot3(ab, ac));
        for (size_t axis = 0; axis < 3; axis++) {
            shells->vertex_normals[3 * (size_t)shells->vertices[slot] + axis] += angle * normal[axis];
        }
    }
}

/* Vertices along the edges of triangles: CSR. */
typedef struct Links {
    int32_t *starts; /* vertex_count + 1 */
    int32_t *ends;
} Links;

static SnStatus build_links(SnContext *context, const SnShells *shells, Links *links)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, links->starts, shells->vertex_count + 2, int32_t);
    SN_TRY_NEW(context, links->ends, 6 * shells->triangle_count, int32_t);
    for (size_t i = 0; i < 3 * shells->triangle_count; i++) {
        links->starts[shells->vertices[i] + 2] += 2;
    }
    for (size_t i = 2; i < shells->vertex_count + 2; i++) {
        links->starts[i] += links->starts[i - 1];
    }
    for (size_t i = 0; i < 3 * shells->triangle_count; i++) { /* filling moves each start to its own place */
        const int32_t *vertices = shells->vertices + (i - i % 3);
        int32_t *place = links->starts + vertices[i % 3] + 1;
        links->ends[(*place)++] = vertices[(i + 1) % 3];
        links->ends[(*place)++] = vertices[(i + 2) % 3];
    }
cleanup:
    return status;
}

/* welded[i]: the vertex that vertex i becomes one with, reached along the surface without going far from it. */
static SnStatus gather_vertices(SnContext *context, const double *places, SnShells *shells)
{
    SnStatus status = SN_OK;
    Links links = {0};
    int32_t *queue = NULL, *owners = NULL;
    SN_TRY_NEW(context, queue, shells->vertex_count, int32_t);
    SN_TRY_NEW(context, owners, shells->vertex_count, int32_t);
    SN_TRY(build_links(context, shells, &links));
    memset(owners, 0xff, shells->vertex_count * sizeof *owners); /* -1 */
    for (size_t start = 0; start < shells->vertex_count; start++) {
        int32_t seed = (int32_t)start;
        size_t end = 0;
        if (start % PER_LOOK == 0) {
            SN_TRY(sn_context_look(context));
        }
        if (shells->welded[seed] != seed || owners[seed] >= 0) {
            continue;
        }
        owners[seed] = seed;
        queue[end++] = seed;
        for (size_t next = 0; next < end; next++) {
            for (int32_t i = links.starts[queue[next]]; i < links.starts[queue[next] + 1]; i++) {
                int32_t other = links.ends[i];
                double squared = sn_distance_squared(places + 3 * (size_t)other, places + 3 * (size_t)seed);
                if (owners[other] < 0 && squared < SN_SHELLS_FINEST * SN_SHELLS_FINEST) {
                    owners[other] = seed;
                    queue[end++] = other;
                }
            }
        }
    }
    for (size_t i = 0; i < shells->vertex_count; i++) {
        shells->welded[i] = owners[shells->welded[i]];
    }
cleanup:
    sn_release(links.starts);
    sn_release(links.ends);
    sn_release(queue);
    sn_release(owners);
    return status;
}

typedef struct Corners {
    int32_t sorted[3];
    int32_t triangle;
} Corners;

static int compare_corners(const void *left, const void *right)
{
    const Corners *a = left, *b = right;
    for (int i = 0; i < 3; i++) {
        if (a->sorted[i] != b->sorted[i]) {
            return a->sorted[i] < b->sorted[i] ? -1 : 1;
        }
    }
    return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static int compare_triangles(const void *left, const void *right)
{
    const Corners *a = left, *b = right;
    return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

/* One of the triangles with the same vertices stays; those that shrank to a point go, those that shrank to a line stay, for
   what they connect. */
static SnStatus thin_triangles(SnContext *context, const double *places, SnShells *shells)
{
    SnStatus status = SN_OK;
    Corners *all = NULL;
    size_t count = 0, kept = 0;
    SN_TRY_NEW(context, all, shells->triangle_count, Corners);
    for (size_t i = 0; i < shells->triangle_count; i++) {
        const int32_t *v = shells->vertices + 3 * i;
        int32_t low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
        int32_t least = low < v[2] ? low : v[2], most = high > v[2] ? high : v[2];
        if (least != most) {
            int32_t middle = v[2] < low ? low : (v[2] > high ? high : v[2]);
            middle = middle == most && low != high ? least : middle; /* two alike: always the lower one twice */
            all[count++] = (Corners){{least, middle, most}, (int32_t)i};
        }
    }
    qsort(all, count, sizeof *all, compare_corners);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || memcmp(all[i].sorted, all[kept - 1].sorted, sizeof all[i].sorted) != 0) {
            all[kept++] = all[i];
            continue;
        }
        /* Two sides of a fin have no flesh between them any more. */
        double *normal = shells->normals + 3 * (size_t)all[kept - 1].triangle;
        const double *other = shells->normals + 3 * (size_t)all[i].triangle;
        if (sn_dot3(normal, other) < 0.0) {
            memset(normal, 0, 3 * sizeof *normal);
        }
    }
    qsort(all, kept, sizeof *all, compare_triangles);
    for (size_t i = 0; i < kept; i++) {
        size_t from = (size_t)all[i].triangle;
        double before[3], after[3], length;
        memcpy(before, shells->normals + 3 * from, sizeof before);
        for (size_t corner = 0; corner < 3; corner++) {
            shells->vertices[3 * i + corner] = shells->vertices[3 * from + corner];
            const double *place = places + 3 * (size_t)shells->vertices[3 * i + corner];
            memcpy(shells->corners + 9 * i + 3 * corner, place, 3 * sizeof *place);
        }
        length = 2.0 * sn_triangle_area(shells->corners + 9 * i, after);
        double along = sn_dot3(before, after);
        for (size_t axis = 0; axis < 3; axis++) {
            int known = length > SURE && fabs(along) > SURE;
            shells->normals[3 * i + axis] = known ? after[axis] * (along < 0.0 ? -1.0 : 1.0) / length : 0.0;
        }
        shells->solid[i] = shells->solid[from] || length <= SURE; /* no flesh is seen from a line */
    }
    shells->triangle_count = kept;
cleanup:
    sn_release(all);
    return status;
}

static SnStatus build_tree(SnContext *context, SnShells *shells)
{
    SnStatus status = SN_OK;
    double *boxes = NULL;
    SN_TRY_NEW(context, boxes, 6 * shells->triangle_count, double);
    for (size_t i = 0; i < shells->triangle_count; i++) {
        const double *x = shells->corners + 9 * i;
        for (size_t axis = 0; axis < 3; axis++) {
            boxes[6 * i + axis] = sn_least(x[axis], sn_least(x[3 + axis], x[6 + axis]));
            boxes[6 * i + 3 + axis] = sn_largest(x[axis], sn_largest(x[3 + axis], x[6 + axis]));
        }
    }
    SN_TRY(sn_box_tree_build(context, shells->triangle_count, boxes, &shells->tree));
cleanup:
    sn_release(boxes);
    return status;
}

/* Sides, then what is finer than needed goes, then shells. places: vertex_count x 3, lattice coordinates. */
static SnStatus read_surface(SnContext *context, const SnPatches *patches, const double *places, SnShells *shells)
{
    SnStatus status = SN_OK;
    for (size_t patch = 0; patch < patches->patch_count; patch++) {
        turn_patch(patches, patch, shells);
    }
    for (size_t i = 0; i < 3 * shells->triangle_count; i++) {
        shells->vertices[i] = shells->welded[shells->vertices[i]];
    }
    SN_TRY(gather_vertices(context, places, shells));
    for (size_t i = 0; i < 3 * shells->triangle_count; i++) {
        shells->vertices[i] = shells->welded[shells->vertices[i]];
    }
    SN_TRY(thin_triangles(context, places, shells));
    SN_TRY(sn_context_look(context));
    sum_vertex_normals(shells);
    SN_TRY(find_labels(context, shells));
    SN_TRY(sn_context_look(context));
    SN_TRY(build_tree(context, shells));
cleanup:
    return status;
}

double sn_shells_side(const SnShells *shells, size_t triangle, const double point[3], int *inside)
{
    const double *x = shells->corners + 9 * triangle;
    double weights[3] = {1.0, 0.0, 0.0}, away[3], normal[3] = {0.0, 0.0, 0.0};
    sn_triangle_nearest_weights(x, point, weights);
    int within = weights[0] > 0.0 && weights[1] > 0.0 && weights[2] > 0.0;
    for (size_t axis = 0; axis < 3; axis++) {
        away[axis] = point[axis] - weights[0] * x[axis] - weights[1] * x[3 + axis] - weights[2] * x[6 + axis];
        normal[axis] = shells->normals[3 * triangle + axis];
        if (!within) { /* at edges and corners the triangle's own normal may point the wrong way */
            normal[axis] = 0.0;
            for (size_t i = 0; i < 3; i++) {
                normal[axis] += weights[i] * shells->vertex_normals[3 * (size_t)shells->vertices[3 * triangle + i] + axis];
            }
        }
    }
    *inside = sn_dot3(away, normal) < 0.0;
    return sn_dot3(away, away);
}

static int ray_enters(const SnBoxTreeNode *node, const double from[3], const double inverse[3])
{
    double low = 0.0, high = INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        double a = (node->low[axis] - from[axis]) * inverse[axis], b = (node->high[axis] - from[axis]) * inverse[axis];
        low = sn_largest(low, sn_least(a, b));
        high = sn_least(high, sn_largest(a, b));
    }
    return low <= high;
}

static int ray_meets(const double *x, const double from[3], const double ray[3])
{
    double ab[3], ac[3], p[3], q[3], away[3];
    sn_subtract(x + 3, x, ab);
    sn_subtract(x + 6, x, ac);
    sn_cross3(ray, ac, p);
    double determinant = sn_dot3(ab, p);
    if (fabs(determinant) < SURE) {
        return 0;
    }
    sn_subtract(from, x, away);
    double u = sn_dot3(away, p) / determinant;
    sn_cross3(away, ab, q);
    double v = sn_dot3(ray, q) / determinant;
    return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && sn_dot3(ac, q) / determinant > 0.0;
}

/* A ray from a point; any direction will do, but one along which models have no edges. */
static const double RAY[3] = {0.5411961, 0.3178372, 0.7785231}, INVERSE[3] = {1.0 / 0.5411961, 1.0 / 0.3178372, 1.0 / 0.7785231};

typedef struct Crossings {
    const SnShells *shells;
    const double *point;
    int32_t shell;
    int count; /* out of the flesh, less those into it */
} Crossings;

static int is_on_the_ray(void *data, const SnBoxTree *tree, size_t node)
{
    return ray_enters(tree->nodes + node, ((const Crossings *)data)->point, INVERSE);
}

static void count_crossing(void *data, int32_t triangle, int32_t place)
{
    Crossings *crossings = data;
    const SnShells *shells = crossings->shells;
    double facing = sn_dot3(RAY, shells->normals + 3 * (size_t)triangle);
    (void)place;
    if (shells->labels[triangle] == crossings->shell && fabs(facing) > 0.0 &&
        ray_meets(shells->corners + 9 * (size_t)triangle, crossings->point, RAY)) {
        crossings->count += facing > 0.0 ? 1 : -1;
    }
}

int sn_shells_depth(const SnShells *shells, size_t triangle, const double point[3])
{
    Crossings crossings = {shells, point, shells->labels[triangle], 0};
    sn_box_tree_visit(&shells->tree, is_on_the_ray, count_crossing, &crossings);
    return crossings.count;
}

SnStatus sn_shells_build(SnContext *context, const SnTriMesh *mesh, const SnLattice *lattice, double reach, SnShells *shells)
{
    SnStatus status = SN_OK;
    SnPatches patches = {0};
    double *places = NULL;
    *shells = (SnShells){.triangle_count = mesh->triangle_count, .vertex_count = mesh->vertex_count};
    sn_context_stage(context, "Finding the parts", (long)mesh->triangle_count);
    SN_TRY_NEW(context, shells->corners, 9 * mesh->triangle_count, double);
    SN_TRY_NEW(context, shells->vertices, 3 * mesh->triangle_count, int32_t);
    SN_TRY_NEW(context, shells->normals, 3 * mesh->triangle_count, double);
    SN_TRY_NEW(context, shells->vertex_normals, 3 * mesh->vertex_count, double);
    SN_TRY_NEW(context, shells->solid, mesh->triangle_count, uint8_t);
    SN_TRY_NEW(context, shells->hidden, mesh->triangle_count, uint8_t);
    SN_TRY_NEW(context, shells->labels, mesh->triangle_count, int32_t);
    SN_TRY_NEW(context, places, 3 * mesh->vertex_count, double);
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        sn_lattice_from_world(lattice, mesh->positions + 3 * i, places + 3 * i);
    }
    for (size_t i = 0; i < 3 * mesh->triangle_count; i++) {
        shells->vertices[i] = mesh->triangles[i];
        memcpy(shells->corners + 3 * i, places + 3 * (size_t)mesh->triangles[i], 3 * sizeof(double));
    }
    SN_TRY(sn_patches_build(context, mesh, &patches));
    shells->welded = patches.welded;
    patches.welded = NULL;
    SN_TRY(read_surface(context, &patches, places, shells));
    SN_TRY(sn_shells_find_holds(context, reach, shells));
cleanup:
    sn_patches_clear(&patches);
    sn_release(places);
    if (status != SN_OK) {
        sn_shells_clear(shells);
    }
    return status;
}

void sn_shells_clear(SnShells *shells)
{
    sn_release(shells->corners);
    sn_release(shells->vertices);
    sn_release(shells->welded);
    sn_release(shells->normals);
    sn_release(shells->vertex_normals);
    sn_release(shells->solid);
    sn_release(shells->hidden);
    sn_release(shells->labels);
    sn_box_tree_clear(&shells->tree);
    sn_release(shells->holds);
    sn_release(shells->hold_starts);
    *shells = (SnShells){0};
}
