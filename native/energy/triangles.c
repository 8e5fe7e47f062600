#include "energy/triangles.h"

#include "base/memory.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

static SnStatus lay_out(SnContext *context, size_t t, const int32_t *corner, const double *rest, double b[4], double *area)
{
    double first[3], second[3], normal[3];
    for (int a = 0; a < 3; a++) {
        first[a] = rest[3 * corner[1] + a] - rest[3 * corner[0] + a];
        second[a] = rest[3 * corner[2] + a] - rest[3 * corner[0] + a];
    }
    sn_cross3(first, second, normal);
    double length = sqrt(sn_dot3(first, first)), doubled = sqrt(sn_dot3(normal, normal));
    if (!(doubled > 0.0)) {
        return sn_context_fail(context, SN_BAD_INPUT, "Triangle %zu of the mesh has no area: dissolve it or merge its vertices.", t);
    }
    /* rest edges in the plane: (length, 0) and (along, height) */
    double along = sn_dot3(first, second) / length, height = doubled / length;
    b[0] = 1.0 / length, b[1] = -along / doubled;
    b[2] = 0.0, b[3] = 1.0 / height;
    *area = 0.5 * doubled;
    return SN_OK;
}

SnStatus sn_triangles_init(SnContext *context, size_t count, const int32_t *vertices, const double *rest, SnTriangles *triangles)
{
    SnStatus status = SN_OK;
    *triangles = (SnTriangles){.count = count, .vertices = vertices};
    SN_TRY_NEW(context, triangles->inverse_rest, 4 * count, double);
    SN_TRY_NEW(context, triangles->area, count, double);
    SN_TRY_NEW(context, triangles->mu, count, double);
    SN_TRY_NEW(context, triangles->lambda, count, double);
    for (size_t t = 0; t < count; t++) {
        SN_TRY(lay_out(context, t, vertices + 3 * t, rest, triangles->inverse_rest + 4 * t, triangles->area + t));
    }
cleanup:
    if (status != SN_OK) {
        sn_triangles_clear(triangles);
    }
    return status;
}

void sn_triangles_clear(SnTriangles *triangles)
{
    sn_release(triangles->inverse_rest);
    sn_release(triangles->area);
    sn_release(triangles->mu);
    sn_release(triangles->lambda);
    sn_release(triangles->threads);
    memset(triangles, 0, sizeof *triangles);
}

void sn_triangles_set_material(SnTriangles *triangles, size_t triangle, double young, double poisson, double thickness)
{
    triangles->mu[triangle] = thickness * young / (2.0 * (1.0 + poisson));
    triangles->lambda[triangle] = thickness * young * poisson / (1.0 - poisson * poisson);
}

/* Unit vectors along the first edge of a triangle, and across it in its plane. */
static void find_frame(const int32_t *corner, const double *rest, double along[3], double across[3])
{
    double second[3], normal[3];
    for (int a = 0; a < 3; a++) {
        along[a] = rest[3 * corner[1] + a] - rest[3 * corner[0] + a];
        second[a] = rest[3 * corner[2] + a] - rest[3 * corner[0] + a];
    }
    sn_cross3(along, second, normal);
    sn_cross3(normal, along, across);
    double length = sqrt(sn_dot3(along, along)), width = sqrt(sn_dot3(across, across));
    for (int a = 0; a < 3; a++) {
        along[a] /= length;
        across[a] /= width;
    }
}

SnStatus sn_triangles_weave(SnContext *context, SnTriangles *triangles, const double *rest, const double *directions)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, triangles->threads, 4 * triangles->count, double);
    for (size_t t = 0; t < triangles->count; t++) {
        double along[3], across[3], *thread = triangles->threads + 4 * t;
        const double *direction = directions + 3 * t;
        find_frame(triangles->vertices + 3 * t, rest, along, across);
        double x = sn_dot3(direction, along), y = sn_dot3(direction, across), length = sqrt(x * x + y * y);
        int points = length > 1e-6 * sqrt(sn_dot3(direction, direction));
        thread[0] = points ? x / length : 1.0;
        thread[1] = points ? y / length : 0.0;
    }
cleanup:
    return status;
}

void sn_triangles_warp(const SnTriangles *triangles, size_t triangle, const double *rest, double warp[3])
{
    double along[3], across[3];
    const double *thread = triangles->threads + 4 * triangle;
    find_frame(triangles->vertices + 3 * triangle, rest, along, across);
    for (int a = 0; a < 3; a++) {
        warp[a] = thread[0] * along[a] + thread[1] * across[a];
    }
}
