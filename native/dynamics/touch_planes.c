#include "dynamics/touch_planes.h"

#include "base/memory.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define LEVER 0.05        /* of the weights of a pair, which sum to 1 on either side: so much of it must be free, ... */
#define LEVER_OF_WISH 0.3 /* ... and so much for what is only a wish */
#define ALIKE 0.15        /* of what the points of a pair hang on: where no more is left once both sides are taken off each other, the same cells ... */
#define ALIKE_OF_WISH 0.5 /* ... carry both, and would be torn by what drives them apart */
#define STIFFER 10.0 /* times what moves a pair, is its plane: 3 takes more rounds outside, 100 more inside */

SnStatus sn_touch_rows_init(SnContext *context, const SnSurface *surface, const SnSkin *skins, const SnAssembly *assembly,
                            SnTouchRows *rows)
{
    SnStatus status = SN_OK;
    *rows = (SnTouchRows){.surface = surface, .skins = skins, .assembly = assembly};
    SN_TRY_NEW(context, rows->starts, surface->point_count, int32_t);
    SN_TRY_NEW(context, rows->counts, surface->point_count, int32_t);
    SN_TRY_NEW(context, rows->vertices, SN_SKIN_ROW_MOST, int32_t);
    SN_TRY_NEW(context, rows->row, SN_SKIN_ROW_MOST, double);
    SN_TRY_NEW(context, rows->sums, assembly->unknown_count, double);
    SN_TRY_NEW(context, rows->summed, assembly->unknown_count, int32_t);
    SN_TRY_NEW(context, rows->is_summed, assembly->unknown_count, unsigned char);
    sn_touch_rows_forget(rows);
cleanup:
    if (status != SN_OK) {
        sn_touch_rows_clear(rows);
    }
    return status;
}

void sn_touch_rows_clear(SnTouchRows *rows)
{
    sn_release(rows->starts);
    sn_release(rows->counts);
    sn_release(rows->unknowns);
    sn_release(rows->weights);
    sn_release(rows->vertices);
    sn_release(rows->row);
    sn_release(rows->sums);
    sn_release(rows->summed);
    sn_release(rows->is_summed);
    memset(rows, 0, sizeof *rows);
}

void sn_touch_rows_forget(SnTouchRows *rows)
{
    memset(rows->starts, 0xff, rows->surface->point_count * sizeof *rows->starts);
    rows->entry_count = 0;
}

static SnStatus reserve(SnContext *context, SnTouchRows *rows, size_t more)
{
    SnStatus status = SN_OK;
    if (rows->entry_count + more > rows->entry_room) {
        size_t room = 2 * (rows->entry_count + more) + 1024;
        int32_t *unknowns = sn_reallocate(context, rows->unknowns, room, sizeof *unknowns);
        rows->unknowns = unknowns != NULL ? unknowns : rows->unknowns;
        double *weights = unknowns != NULL ? sn_reallocate(context, rows->weights, room, sizeof *weights) : NULL;
        rows->weights = weights != NULL ? weights : rows->weights;
        if (weights == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        rows->entry_room = room;
    }
    return status;
}

/* Makes sure that the row of a point is known. */
static SnStatus ask_row(SnContext *context, SnTouchRows *rows, int32_t point)
{
    if (rows->starts[point] >= 0) {
        return SN_OK;
    }
    int32_t body = rows->surface->point_bodies[point];
    const SnSkin *skin = rows->skins + body;
    size_t own = (size_t)point - rows->surface->bodies[body].first_point;
    size_t count = skin->row != NULL ? skin->row(skin->self, own, rows->vertices, rows->row) : 0;
    SnStatus status = reserve(context, rows, count);
    if (status != SN_OK) {
        return status;
    }
    rows->starts[point] = (int32_t)rows->entry_count;
    rows->counts[point] = 0;
    for (size_t k = 0; k < count; k++) {
        int32_t unknown = rows->assembly->unknown[skin->first_vertex + (size_t)rows->vertices[k]];
        if (unknown >= 0) {
            rows->unknowns[rows->entry_count] = unknown;
            rows->weights[rows->entry_count++] = rows->row[k];
            rows->counts[point]++;
        }
    }
    return SN_OK;
}

static void sum_entry(SnTouchRows *rows, int32_t unknown, double weight)
{
    if (!rows->is_summed[unknown]) {
        rows->is_summed[unknown] = 1;
        rows->summed[rows->summed_count++] = unknown;
    }
    rows->sums[unknown] += weight;
    rows->summed_all += fabs(weight);
}

/* Writes down what was summed, as a row of the planes. *lever: what is left of all that was summed, 0..1. */
static SnStatus write_row(SnContext *context, SnTouchRows *rows, SnPlanes *planes, SnPlaneRow *out, double *lever)
{
    SnStatus status = SN_OK;
    SnPlaneRow row;
    double left = 0.0;
    sn_planes_begin_row(planes, &row);
    for (size_t k = 0; k < rows->summed_count; k++) {
        int32_t unknown = rows->summed[k];
        double weight = rows->sums[unknown];
        rows->sums[unknown] = 0.0;
        rows->is_summed[unknown] = 0;
        left += fabs(weight);
        if (status == SN_OK && weight != 0.0) {
            status = sn_planes_add_entry(context, planes, &row, unknown, weight);
        }
    }
    *lever = rows->summed_all > 0.0 ? left / rows->summed_all : 0.0;
    rows->summed_count = 0;
    rows->summed_all = 0.0;
    *out = row;
    return status;
}

/* How much gives way where a unit of force presses on a pair, through the corners of its points, m/N: what both sides hang on by the same
   weights moves them alike, and gives nothing. Where next to nothing is left nothing does: to move the pair a little, what is free would
   have to go far. */
static double find_give(const SnTouchRows *rows, const SnTouch *touch, const double *hardness)
{
    const SnSurface *surface = rows->surface;
    int32_t unknowns[16] = {0};
    double sums[16] = {0}, give = 0.0, lever = 0.0;
    int count = 0;
    for (size_t i = 0; i < 4; i++) {
        size_t point = (size_t)touch->points[i];
        for (size_t k = 4 * point; k < 4 * point + 4 && touch->c[i] != 0.0; k++) {
            int32_t unknown = surface->corners[k] >= 0 ? rows->assembly->unknown[surface->corners[k]] : -1;
            int at = 0;
            while (at < count && unknowns[at] != unknown) {
                at++;
            }
            if (unknown >= 0) {
                unknowns[at] = unknown;
                sums[at] = (at < count ? sums[at] : 0.0) + touch->c[i] * surface->weights[k];
                count += at == count;
            }
        }
    }
    for (int at = 0; at < count; at++) {
        give += sums[at] * sums[at] / hardness[unknowns[at]];
        lever += fabs(sums[at]);
    }
    return lever > (touch->is_wish ? LEVER_OF_WISH : LEVER) ? give : 0.0;
}

double sn_touch_friction(const SnSurface *surface, const SnTouch *touch)
{
    double sides[2] = {0.0, 0.0};
    for (int i = 0; i < 4; i++) {
        sides[i >= (touch->edges ? 2 : 1)] += fabs(touch->c[i]) * surface->friction[touch->points[i]];
    }
    return touch->is_wish ? 0.0 : sqrt(fmax(sides[0], 0.0) * fmax(sides[1], 0.0));
}

void sn_touch_press(SnPlane *plane, double friction, double force, const double hold[3])
{
    double across = sn_dot3(plane->normal, hold), length = 0.0;
    plane->lambda = force;
    plane->grip = friction * force;
    for (size_t a = 0; a < 3; a++) {
        plane->hold[a] = hold[a] - across * plane->normal[a];
        length += plane->hold[a] * plane->hold[a];
    }
    length = sqrt(length);
    for (size_t a = 0; a < 3 && length > plane->grip; a++) {
        plane->hold[a] *= plane->grip / length;
    }
}

/* A plane that is none: what it is of does not move, or not by what could be asked for. */
static SnPlane no_plane(void)
{
    return (SnPlane){.rho = 1.0, .stick = 1.0, .gap = -INFINITY};
}

static SnStatus build_plane(SnContext *context, SnTouchRows *rows, const SnTouch *touch, const SnTouchMoment *moment, double force,
                            const double *hold, SnPlanes *planes)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = rows->surface;
    SnPlane plane = no_plane();
    double lever, give = find_give(rows, touch, moment->hardness);
    if (sn_planes_add(context, planes) == NULL) {
        return SN_OUT_OF_MEMORY;
    }
    size_t place = planes->count - 1;
    if (give > 0.0) {
        memcpy(plane.normal, touch->n, sizeof plane.normal);
        plane.gap = fmin(touch->gap, touch->distance + moment->most_gain);
        plane.rho = touch->weight * STIFFER / give;
        sn_touch_press(&plane, sn_touch_friction(surface, touch), force, hold);
        plane.stick = plane.rho;
        for (size_t i = 0; i < 4; i++) {
            size_t point = (size_t)touch->points[i];
            if (touch->c[i] == 0.0) {
                continue;
            }
            SN_TRY(ask_row(context, rows, touch->points[i]));
            for (int32_t k = rows->starts[point]; k < rows->starts[point] + rows->counts[point]; k++) {
                sum_entry(rows, rows->unknowns[k], touch->c[i] * rows->weights[k]);
            }
            for (size_t a = 0; a < 3; a++) {
                plane.constant[a] += touch->c[i] * moment->points[3 * point + a];
                plane.offset[a] += touch->c[i] * moment->offset[3 * point + a];
            }
        }
        SN_TRY(write_row(context, rows, planes, &plane.row, &lever));
        if (lever < (touch->is_wish ? ALIKE_OF_WISH : ALIKE)) {
            plane = no_plane();
        }
        for (int32_t k = plane.row.begin; k < plane.row.end; k++) { /* what is left cannot move */
            const double *x = moment->positions + 3 * (size_t)rows->assembly->vertex[planes->unknowns[k]];
            for (size_t a = 0; a < 3; a++) {
                plane.constant[a] -= planes->weights[k] * x[a];
            }
        }
    }
    planes->planes[place] = plane;
cleanup:
    return status;
}

SnStatus sn_touch_planes_build(SnContext *context, SnTouchRows *rows, const SnTouches *touches, const double *forces, const double *holds,
                               const SnTouchMoment *moment, SnPlanes *planes)
{
    SnStatus status = SN_OK;
    sn_planes_empty(planes);
    for (size_t k = 0; k < touches->count && status == SN_OK; k++) {
        status = build_plane(context, rows, touches->touches + k, moment, forces[k], holds + 3 * k, planes);
    }
    return status;
}
