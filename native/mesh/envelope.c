#include "mesh/envelope.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "mesh/geometry.h"
#include "mesh/patches.h"

#include <string.h>

#define WINDING_INSIDE 0.5
#define CUT_ROUNDS 6
#define CUT_ACCURACY 0.01      /* cells */
#define FACE_REACH 0.56        /* cells: no place of a lattice tet is farther from its nearest vertex */
#define TIE 1e-4               /* cells: the surface halfway between two lattice points must not let the flood through */
#define POINTS_PER_CHUNK 2048
#define POINTS_PER_LOOK 65536  /* at the cancel flag */

enum { UNKNOWN = 0, OUTSIDE = 1, FILLED = 2 };

/* Marks everything OUTSIDE that a walk from the border reaches without coming near the surface or into FILLED. */
static SnStatus flood_outside(SnContext *context, const SnEnvelope *envelope, const SnDistanceField *field, uint8_t *marks)
{
    SnStatus status = SN_OK;
    const SnLattice *lattice = envelope->lattice;
    size_t point_count = sn_lattice_point_count(lattice), depth = 0;
    int32_t *stack = NULL;
    float offset = (float)(envelope->offset + TIE);
    SN_TRY_NEW(context, stack, point_count, int32_t);
    for (size_t point = 0; point < point_count; point++) {
        int32_t place[3];
        if (point % POINTS_PER_LOOK == 0) {
            SN_TRY(sn_context_look(context));
        }
        sn_lattice_place(lattice, point, place);
        if (sn_lattice_is_border(lattice, place)) {
            marks[point] = OUTSIDE;
            continue;
        }
        /* The layer below the border starts the walk: it has all its neighbours. */
        int start = 0;
        for (int axis = 0; axis < 3; axis++) {
            start |= place[axis] == 1 || place[axis] == lattice->counts[axis] - 2;
        }
        if (start) {
            marks[point] = OUTSIDE;
            stack[depth++] = (int32_t)point;
        } else if (marks[point] == OUTSIDE) {
            marks[point] = UNKNOWN;
        }
    }
    for (size_t walked = 0; depth > 0; walked++) {
        size_t point = (size_t)stack[--depth];
        if (walked % POINTS_PER_LOOK == 0) {
            SN_TRY(sn_context_look(context));
        }
        const ptrdiff_t *steps = lattice->neighbours[sn_lattice_kind(lattice, point)];
        for (int direction = 0; direction < SN_LATTICE_DIRECTIONS; direction++) {
            size_t next = (size_t)((ptrdiff_t)point + steps[direction]);
            if (marks[next] == UNKNOWN && field->distances[next] >= offset) {
                marks[next] = OUTSIDE;
                stack[depth++] = (int32_t)next;
            }
        }
    }
cleanup:
    sn_release(stack);
    return status;
}

/* A patch thinner than a cell holds no lattice point that its own envelope does not hold already. */
static int patch_has_room(const double *corners, size_t triangle_count)
{
    if (triangle_count < 2) {
        return 0;
    }
    double low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = high[axis] = corners[axis];
    }
    for (size_t i = 0; i < 9 * triangle_count; i++) {
        low[i % 3] = fmin(low[i % 3], corners[i]);
        high[i % 3] = fmax(high[i % 3], corners[i]);
    }
    return high[0] - low[0] > 1.0 && high[1] - low[1] > 1.0 && high[2] - low[2] > 1.0;
}

static SnStatus build_windings(SnContext *context, const SnTriMesh *mesh, SnEnvelope *envelope)
{
    SnStatus status = SN_OK;
    SnPatches patches = {0};
    double *corners = NULL;
    SN_TRY(sn_patches_build(context, mesh, &patches));
    SN_TRY_NEW(context, corners, 9 * patches.triangle_count, double);
    SN_TRY_NEW(context, envelope->windings, patches.patch_count, SnWinding);
    for (size_t i = 0; i < 3 * patches.triangle_count; i++) {
        sn_lattice_from_world(envelope->lattice, mesh->positions + 3 * (size_t)patches.triangles[i], corners + 3 * i);
    }
    for (size_t patch = 0; patch < patches.patch_count; patch++) {
        const double *first = corners + 9 * (size_t)patches.starts[patch];
        size_t count = (size_t)(patches.starts[patch + 1] - patches.starts[patch]);
        if (patches.kinds[patch] == SN_PATCH_OPEN && patch_has_room(first, count)) {
            SN_TRY(sn_context_look(context));
            SN_TRY(sn_winding_build(context, count, first, envelope->windings + envelope->winding_count));
            envelope->winding_count++;
        }
    }
cleanup:
    sn_patches_clear(&patches);
    sn_release(corners);
    return status;
}

/* Largest winding number of any patch, whichever way it is turned. */
static double winding_at(const SnEnvelope *envelope, const double point[3])
{
    double largest = 0.0;
    for (size_t i = 0; i < envelope->winding_count; i++) {
        const SnWinding *winding = envelope->windings + i;
        /* Beyond its box a patch never covers half of the view. */
        if (sn_box_tree_node_distance(winding->tree.nodes, point) <= 0.0) {
            largest = fmax(largest, fabs(sn_winding_number(winding, point)));
        }
    }
    return largest;
}

int sn_envelope_is_filled(const SnEnvelope *envelope, const double point[3])
{
    return winding_at(envelope, point) > WINDING_INSIDE;
}

typedef struct Vote {
    const SnEnvelope *envelope;
    uint8_t *marks;
    size_t first;
} Vote;

static void vote_points(void *data, size_t chunk, size_t begin, size_t end)
{
    const Vote *vote = data;
    (void)chunk;
    for (size_t point = vote->first + begin; point < vote->first + end; point++) {
        if (vote->marks[point] == OUTSIDE) {
            double position[3];
            sn_lattice_position(vote->envelope->lattice, point, position);
            if (sn_envelope_is_filled(vote->envelope, position)) {
                vote->marks[point] = FILLED;
            }
        }
    }
}

static SnStatus fill_holes(SnContext *context, const SnEnvelope *envelope, const SnDistanceField *field, uint8_t *marks)
{
    SnStatus status = SN_OK;
    size_t point_count = sn_lattice_point_count(envelope->lattice), batch = 64 * POINTS_PER_CHUNK;
    Vote vote = {envelope, marks, 0};
    for (; vote.first < point_count; vote.first += batch) {
        size_t left = point_count - vote.first;
        SN_TRY(sn_context_advance(context, (long)vote.first));
        sn_parallel_for(left < batch ? left : batch, POINTS_PER_CHUNK, vote_points, &vote);
    }
    /* What is now enclosed between filled holes and surface is inside too. */
    SN_TRY(flood_outside(context, envelope, field, marks));
cleanup:
    return status;
}

/* Adds the vertex nearest to the surface when none of the given lattice points is inside. */
static void require_inside(const SnDistanceField *field, const size_t *points, int count, double reach, uint8_t *inside)
{
    size_t nearest = points[0];
    for (int i = 0; i < count; i++) {
        if (inside[points[i]]) {
            return;
        }
        if (field->distances[points[i]] < field->distances[nearest]) {
            nearest = points[i];
        }
    }
    if (field->distances[nearest] < (float)reach) {
        inside[nearest] = 1;
    }
}

/* Whether the surface also passes through the tet across the face `points` from `apex`. */
static int is_touched_across(const SnLattice *lattice, const SnDistanceField *field, const size_t points[3], size_t apex)
{
    int kind = sn_lattice_kind(lattice, points[0]);
    ptrdiff_t cube = (ptrdiff_t)(kind ? points[0] - lattice->cube_count : points[0]);
    for (int i = 0; i < SN_LATTICE_STAR_TETS; i++) {
        const SnStarTet *tet = &lattice->stars[kind][i];
        int shared = 0;
        for (int j = 0; j < 3; j++) {
            size_t point = (size_t)((ptrdiff_t)points[0] + lattice->neighbours[kind][tet->directions[j]]);
            shared += point == points[1] || point == points[2];
            shared -= point == apex;
        }
        if (shared == 2) {
            return field->touched[cube + tet->cube] >> tet->local & 1;
        }
    }
    return 0;
}

/* Thin sheets and wires may slip between the lattice points: every touched tet gets a vertex inside, and so does
   every face between two touched tets, so that the body does not come apart there. */
static SnStatus add_thin_parts(SnContext *context, const SnEnvelope *envelope, const SnDistanceField *field)
{
    SnStatus status = SN_OK;
    const SnLattice *lattice = envelope->lattice;
    for (size_t cube = 0; cube < lattice->cube_count; cube++) {
        if (cube % POINTS_PER_LOOK == 0) {
            SN_TRY(sn_context_look(context));
        }
        for (int local = 0; field->touched[cube] >> local; local++) {
            if (!(field->touched[cube] >> local & 1)) {
                continue;
            }
            size_t points[4];
            for (int i = 0; i < 4; i++) {
                points[i] = (size_t)((ptrdiff_t)cube + lattice->tets[local][i]);
            }
            require_inside(field, points, 4, field->band + 1.0, envelope->inside);
            for (int apart = 0; apart < 4; apart++) {
                size_t face[3] = {points[(apart + 1) % 4], points[(apart + 2) % 4], points[(apart + 3) % 4]};
                if (is_touched_across(lattice, field, face, points[apart])) {
                    require_inside(field, face, 3, FACE_REACH, envelope->inside);
                }
            }
        }
    }
cleanup:
    return status;
}

SnStatus sn_envelope_build(SnContext *context, const SnTriMesh *mesh, const SnLattice *lattice, const SnSoup *soup,
                           const SnDistanceField *field, double offset, SnEnvelope *envelope)
{
    SnStatus status = SN_OK;
    size_t point_count = sn_lattice_point_count(lattice);
    *envelope = (SnEnvelope){.lattice = lattice, .soup = soup, .offset = offset};
    sn_context_stage(context, "Finding inside and outside", (long)point_count);
    SN_TRY_NEW(context, envelope->inside, point_count, uint8_t);
    SN_TRY(build_windings(context, mesh, envelope));
    SN_TRY(flood_outside(context, envelope, field, envelope->inside));
    if (envelope->winding_count > 0) {
        SN_TRY(fill_holes(context, envelope, field, envelope->inside));
    }
    for (size_t point = 0; point < point_count; point++) {
        envelope->inside[point] = envelope->inside[point] != OUTSIDE;
    }
    SN_TRY(add_thin_parts(context, envelope, field));
    for (size_t point = 0; point < point_count; point++) {
        envelope->inside_count += envelope->inside[point];
    }
cleanup:
    if (status != SN_OK) {
        sn_envelope_clear(envelope);
    }
    return status;
}

void sn_envelope_clear(SnEnvelope *envelope)
{
    for (size_t i = 0; i < envelope->winding_count; i++) {
        sn_winding_clear(envelope->windings + i);
    }
    sn_release(envelope->windings);
    sn_release(envelope->inside);
    *envelope = (SnEnvelope){0};
}

static double height_at(const SnEnvelope *envelope, const double from[3], const double to[3], double t)
{
    double point[3];
    for (int axis = 0; axis < 3; axis++) {
        point[axis] = from[axis] + t * (to[axis] - from[axis]);
    }
    return envelope->offset - sn_soup_distance(envelope->soup, point, envelope->offset + 2.0);
}

double sn_envelope_cut(const SnEnvelope *envelope, const double inside[3], const double outside[3])
{
    double low = 0.0, high = 1.0;
    double low_height = height_at(envelope, inside, outside, low);
    double high_height = height_at(envelope, inside, outside, high);
    if (low_height <= 0.0) {
        /* In a filled hole the winding number decides; else the point was added although it is just too far away. */
        double in = winding_at(envelope, inside) - WINDING_INSIDE, out = winding_at(envelope, outside) - WINDING_INSIDE;
        return in > 0.0 && out < 0.0 ? in / (in - out) : 0.0;
    }
    if (high_height >= 0.0) {
        return 1.0;
    }
    /* False position, with the Illinois rule so that both ends move. */
    double t = 0.5;
    int last = 0;
    for (int round = 0; round < CUT_ROUNDS; round++) {
        t = (low * high_height - high * low_height) / (high_height - low_height);
        double height = height_at(envelope, inside, outside, t);
        if (fabs(height) < CUT_ACCURACY) {
            break;
        }
        if (height > 0.0) {
            low = t;
            low_height = height;
            high_height *= last == 1 ? 0.5 : 1.0;
            last = 1;
        } else {
            high = t;
            high_height = height;
            low_height *= last == -1 ? 0.5 : 1.0;
            last = -1;
        }
    }
    return t;
}
