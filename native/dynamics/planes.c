#include "dynamics/planes.h"

#include "base/memory.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define SLIDES (1.0 - 1e-9) /* of what friction bears, that acts where it slides */

void sn_planes_empty(SnPlanes *planes)
{
    planes->count = planes->entry_count = 0;
    planes->changed = 1;
}

void sn_planes_clear(SnPlanes *planes)
{
    sn_release(planes->planes);
    sn_release(planes->unknowns);
    sn_release(planes->weights);
    memset(planes, 0, sizeof *planes);
}

SnPlane *sn_planes_add(SnContext *context, SnPlanes *planes)
{
    if (planes->count == planes->room) {
        size_t room = planes->room > 0 ? 2 * planes->room : 64;
        SnPlane *grown = sn_reallocate(context, planes->planes, room, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        planes->planes = grown;
        planes->room = room;
    }
    SnPlane *plane = planes->planes + planes->count++;
    memset(plane, 0, sizeof *plane);
    return plane;
}

void sn_planes_begin_row(const SnPlanes *planes, SnPlaneRow *row)
{
    row->begin = row->end = (int32_t)planes->entry_count;
}

SnStatus sn_planes_add_entry(SnContext *context, SnPlanes *planes, SnPlaneRow *row, int32_t unknown, double weight)
{
    if (planes->entry_count == planes->entry_room) {
        size_t room = planes->entry_room > 0 ? 2 * planes->entry_room : 1024;
        int32_t *unknowns = sn_reallocate(context, planes->unknowns, room, sizeof *unknowns);
        if (unknowns == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        planes->unknowns = unknowns;
        double *weights = sn_reallocate(context, planes->weights, room, sizeof *weights);
        if (weights == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        planes->weights = weights;
        planes->entry_room = room;
    }
    planes->unknowns[planes->entry_count] = unknown;
    planes->weights[planes->entry_count++] = weight;
    row->end = (int32_t)planes->entry_count;
    return SN_OK;
}

void sn_plane_place(const SnPlanes *planes, const SnPlane *plane, const int32_t *vertex, const double *x, double w[3])
{
    memcpy(w, plane->constant, 3 * sizeof *w);
    for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
        const double *at = x + 3 * (size_t)vertex[planes->unknowns[k]];
        for (size_t a = 0; a < 3; a++) {
            w[a] += planes->weights[k] * at[a];
        }
    }
}

/* What strains along the plane: k times the slide of w, less what has held so far. Returns its length. */
static double find_strain(const SnPlane *plane, const double w[3], double pull[3])
{
    double moved[3] = {w[0] - plane->offset[0], w[1] - plane->offset[1], w[2] - plane->offset[2]};
    double across = sn_dot3(plane->normal, moved);
    for (size_t a = 0; a < 3; a++) {
        pull[a] = plane->stick * (moved[a] - across * plane->normal[a]) - plane->hold[a];
    }
    return sqrt(sn_dot3(pull, pull));
}

double sn_planes_value(SnPlanes *planes, const SnAssembly *assembly, const double *x, double *residual)
{
    double sum = 0.0;
    for (SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        double w[3], pull[3];
        sn_plane_place(planes, plane, assembly->vertex, x, w);
        plane->force = fmax(0.0, plane->rho * (plane->gap - sn_dot3(plane->normal, w)) + plane->lambda);
        sum += 0.5 * plane->force * plane->force / plane->rho;
        memset(plane->slide, 0, sizeof plane->slide);
        if (plane->grip > 0.0) {
            double length = find_strain(plane, w, pull), borne = fmin(length, plane->grip);
            sum += borne * (length - 0.5 * borne) / plane->stick;
            for (size_t a = 0; a < 3; a++) {
                plane->slide[a] = length > 0.0 ? -borne / length * pull[a] : 0.0;
            }
        }
        if (residual == NULL || (plane->force == 0.0 && plane->grip == 0.0)) {
            continue;
        }
        for (size_t a = 0; a < 3; a++) {
            pull[a] = plane->force * plane->normal[a] + plane->slide[a];
        }
        for (int32_t k = plane->row.begin; k < plane->row.end; k++) {
            double *at = residual + 3 * (size_t)planes->unknowns[k];
            for (size_t a = 0; a < 3; a++) {
                at[a] += planes->weights[k] * pull[a];
            }
        }
    }
    return sum;
}

/* Adds the second derivative of friction. Returns whether it slides. */
static int add_friction(SnPlane *plane, const double w[3])
{
    double pull[3], length = find_strain(plane, w, pull);
    int slides = length > plane->grip;
    double over = slides ? plane->stick * plane->grip / length : plane->stick;
    double along = slides ? -over / (length * length) : 0.0;
    for (size_t a = 0; a < 3; a++) {
        for (size_t b = 0; b < 3; b++) {
            double across = (a == b) - plane->normal[a] * plane->normal[b];
            plane->block[3 * a + b] += over * across + along * pull[a] * pull[b];
        }
    }
    return slides;
}

void sn_plane_pull(SnPlane *plane, const double w[3], double pull[3])
{
    double strain[3] = {0}, force = fmax(0.0, plane->rho * (plane->gap - sn_dot3(plane->normal, w)) + plane->lambda), borne = 0.0;
    if (plane->grip > 0.0) {
        double length = find_strain(plane, w, strain);
        borne = length > 0.0 ? fmin(length, plane->grip) / length : 0.0;
    }
    for (size_t a = 0; a < 3; a++) {
        pull[a] = force * plane->normal[a] - borne * strain[a];
    }
}

void sn_plane_linearise(SnPlane *plane, const double w[3], double pull[3])
{
    plane->pressed = plane->rho * (plane->gap - sn_dot3(plane->normal, w)) + plane->lambda > 0.0;
    for (size_t a = 0; a < 9; a++) {
        plane->block[a] = plane->pressed ? plane->rho * plane->normal[a / 3] * plane->normal[a % 3] : 0.0;
    }
    plane->slid = plane->grip > 0.0 ? add_friction(plane, w) : 0;
    sn_plane_pull(plane, w, pull);
}

void sn_planes_linearise(SnPlanes *planes, const SnAssembly *assembly, const double *x)
{
    for (SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        int pressed = plane->pressed, slid = plane->slid;
        double pull[3];
        sn_plane_place(planes, plane, assembly->vertex, x, plane->place);
        sn_plane_linearise(plane, plane->place, pull);
        planes->changed |= pressed != plane->pressed || slid != plane->slid;
    }
}

int sn_planes_stand(const SnPlanes *planes)
{
    int stand = 1;
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        double slide = sqrt(sn_dot3(plane->slide, plane->slide));
        stand &= plane->pressed == (plane->force > 0.0) && (plane->grip == 0.0 || plane->slid == (slide > SLIDES * plane->grip));
    }
    return stand;
}

/* values += weight * block at the block (row, column) of the matrix; of one on the diagonal the lower half. */
static void add_block(const SnBlockPattern *pattern, int32_t place, double weight, const double *block, double *values)
{
    int diagonal = pattern->rows[place] == pattern->columns[place];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3 && (!diagonal || j <= i); j++) {
            values[sn_block_pattern_value(pattern, place, i, j)] += weight * block[3 * i + j];
        }
    }
}

void sn_planes_stiffen(const SnPlanes *planes, const SnBlockPattern *pattern, double *values)
{
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        if (!plane->pressed && plane->grip == 0.0) {
            continue;
        }
        for (int32_t i = plane->row.begin; i < plane->row.end; i++) {
            int32_t row = planes->unknowns[i];
            add_block(pattern, pattern->column_start[row], planes->weights[i] * planes->weights[i], plane->block, values);
            for (int32_t j = plane->row.begin; j < i; j++) {
                int32_t column = planes->unknowns[j];
                double weight = planes->weights[i] * planes->weights[j];
                int32_t place = row > column ? sn_block_pattern_find(pattern, row, column) : sn_block_pattern_find(pattern, column, row);
                if (place >= 0) { /* blocks are symmetric */
                    add_block(pattern, place, weight, plane->block, values);
                    continue;
                }
                add_block(pattern, pattern->column_start[row], fabs(weight), plane->block, values);
                add_block(pattern, pattern->column_start[column], fabs(weight), plane->block, values);
            }
        }
    }
}
