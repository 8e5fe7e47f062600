#include "dynamics/soft_collider.h"

#include "base/memory.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

SnStatus sn_soft_collider_init(SnContext *context, const SnWorld *world, double edge_length, SnSoftCollider *soft)
{
    SnStatus status = SN_OK;
    *soft = (SnSoftCollider){.world = world, .most = edge_length};
    SN_TRY_NEW(context, soft->pull, 4 * world->vertex_count, double);
    SN_TRY_NEW(context, soft->give, 3 * world->vertex_count, double);
    SN_TRY_NEW(context, soft->soft, world->vertex_count, unsigned char);
cleanup:
    if (status != SN_OK) {
        sn_soft_collider_clear(soft);
    }
    return status;
}

void sn_soft_collider_clear(SnSoftCollider *soft)
{
    sn_release(soft->give);
    sn_release(soft->pull);
    sn_release(soft->soft);
    *soft = (SnSoftCollider){0};
}

void sn_soft_collider_find(SnSoftCollider *soft, const double *pose, const double *positions)
{
    const double rounding = 1e-9 * soft->most;
    for (size_t v = 0; v < soft->world->vertex_count; v++) {
        double *give = soft->give + 3 * v;
        for (size_t a = 0; a < 3; a++) {
            give[a] = positions[3 * v + a] - pose[3 * v + a];
        }
        soft->soft[v] = soft->world->fixed[v] && sn_dot3(give, give) > rounding * rounding;
        for (size_t a = 0; a < 3 && !soft->soft[v]; a++) {
            give[a] = 0.0;
        }
    }
}

void sn_soft_collider_place(const SnSoftCollider *soft, const double *pose, double *positions)
{
    for (size_t k = 0; k < 3 * soft->world->vertex_count; k++) {
        positions[k] = soft->soft[k / 3] ? pose[k] + soft->give[k] : positions[k];
    }
}

int sn_soft_collider_any(const SnSoftCollider *soft)
{
    return soft->world->assembly.unknown_count > 0 && memchr(soft->soft, 1, soft->world->vertex_count) != NULL;
}

void sn_soft_collider_give(SnSoftCollider *soft, const SnSurface *surface, const SnTouches *touches, const SnPlanes *planes,
                           const double *hardness)
{
    const SnWorld *world = soft->world;
    size_t unknowns = world->assembly.unknown_count;
    double stiffness = 0.0, most = soft->most;
    for (size_t k = 0; k < unknowns; k++) {
        stiffness += hardness[k] / (double)unknowns;
    }
    memset(soft->pull, 0, 4 * world->vertex_count * sizeof *soft->pull);
    for (size_t k = 0; k < planes->count; k++) {
        const SnTouch *touch = touches->touches + k;
        const SnPlane *plane = planes->planes + k;
        for (size_t j = 0; j < 16 && plane->force > 0.0; j++) {
            size_t corner = 4 * (size_t)touch->points[j / 4] + j % 4;
            int32_t vertex = surface->corners[corner];
            double weight = vertex >= 0 ? touch->c[j / 4] * surface->weights[corner] : 0.0;
            double *pull = soft->pull + (vertex >= 0 ? 4 * (size_t)vertex : 0);
            for (size_t a = 0; a < 3; a++) {
                pull[a] += weight * plane->force * plane->normal[a];
            }
            pull[3] += fabs(weight) * plane->rho;
        }
    }
    for (size_t v = 0; v < world->vertex_count; v++) {
        double *give = soft->give + 3 * v, *pull = soft->pull + 4 * v;
        for (size_t a = 0; a < 3 && soft->soft[v]; a++) {
            give[a] += (pull[a] - stiffness * give[a]) / (2.0 * stiffness + 2.0 * pull[3]);
        }
        double length = sqrt(sn_dot3(give, give));
        for (size_t a = 0; a < 3 && length > most; a++) {
            give[a] *= most / length;
        }
    }
}
