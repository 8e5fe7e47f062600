#include "dynamics/pinches.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define OPPOSITE -0.5  /* cosine: within 60 degrees of it */
#define HARDLY 0.05    /* of a pair's weight: what is free has no leverage */

void sn_pinches_clear(SnPinches *pinches)
{
    sn_release(pinches->blocked);
    sn_release(pinches->before);
    *pinches = (SnPinches){0};
}

void sn_pinches_forget(SnPinches *pinches)
{
    pinches->count = 0;
}

static const SnPair *hit_pair(const SnCandidates *candidates, const SnHit *hit)
{
    return (hit->edges ? candidates->edges.pairs : candidates->point_triangles.pairs) + hit->pair;
}

/* How much of a point hangs on what is free: the largest of its weights. */
static double find_freedom(const SnSurface *surface, int32_t point)
{
    double largest = 0.0;
    for (size_t k = 4 * (size_t)point; k < 4 * (size_t)point + 4 && !surface->kinematic[point]; k++) {
        largest = fmax(largest, fabs(surface->weights[k]));
    }
    return largest;
}

static int share_a_corner(const SnSurface *surface, int32_t a, int32_t b)
{
    int shared = a == b;
    for (size_t i = 4 * (size_t)a; i < 4 * (size_t)a + 4; i++) {
        for (size_t k = 4 * (size_t)b; k < 4 * (size_t)b + 4; k++) {
            shared |= surface->corners[i] >= 0 && surface->corners[i] == surface->corners[k] && surface->weights[i] != 0.0 &&
                      surface->weights[k] != 0.0;
        }
    }
    return shared;
}

/* Whether some plane presses a free point of the pair against it. */
static int is_pressed_back(const SnSurface *surface, const SnPair *pair, const SnHit *hit, const SnTouches *touches, const SnPlanes *planes)
{
    for (size_t k = 0; k < planes->count; k++) {
        const SnTouch *touch = touches->touches + k;
        double along = sn_dot3(hit->n, touch->n);
        if (planes->planes[k].force <= 0.0 || fabs(along) < -OPPOSITE) {
            continue;
        }
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                double both = hit->c[i] * touch->c[j] * along; /* negative: the two push it against each other */
                if (both < 0.0 && !surface->kinematic[pair->points[i]] && !surface->kinematic[touch->points[j]] &&
                    share_a_corner(surface, pair->points[i], touch->points[j])) {
                    return 1;
                }
            }
        }
    }
    return 0;
}

static int is_caught(const SnSurface *surface, const SnPair *pair, const SnHit *hit, const SnTouches *touches, const SnPlanes *planes,
                     SnPatience patience)
{
    double freedom = 0.0;
    int follows = 0;
    for (int i = 0; i < 4; i++) {
        freedom = fmax(freedom, fabs(hit->c[i]) * find_freedom(surface, pair->points[i]));
        follows |= hit->c[i] != 0.0 && surface->kinematic[pair->points[i]];
    }
    return patience >= SN_PATIENCE_ANY ||
           (follows && (patience == SN_PATIENCE_KINEMATIC || freedom < HARDLY || is_pressed_back(surface, pair, hit, touches, planes)));
}

/* Softens what of four points follows the input. Returns whether anything did exactly until now. */
static int soften_points(const SnSurface *surface, const int32_t points[4], const double c[4], const SnSoftened *softened)
{
    int found = 0;
    for (int i = 0; i < 4; i++) {
        for (size_t k = 4 * (size_t)points[i]; k < 4 * (size_t)points[i] + 4; k++) {
            int32_t vertex = surface->corners[k];
            if (c[i] != 0.0 && vertex >= 0 && surface->weights[k] != 0.0 && softened->fixed[vertex] && !softened->soft[vertex]) {
                softened->soft[vertex] = 1;
                found = 1;
            }
        }
    }
    return found;
}

/* Softens the pair, and all that presses with it: one that gives way alone is a dent, and leaves the rest to the others. */
static int soften(const SnSurface *surface, const SnPair *pair, const SnHit *hit, const SnTouches *touches, const SnPlanes *planes,
                  const SnSoftened *softened)
{
    if (softened->soft == NULL || !soften_points(surface, pair->points, hit->c, softened)) {
        return 0;
    }
    for (size_t k = 0; k < planes->count; k++) {
        if (planes->planes[k].force > 0.0) {
            (void)soften_points(surface, touches->touches[k].points, touches->touches[k].c, softened);
        }
    }
    return 1;
}

/* How many rounds a pair has stopped already. */
static int32_t find_rounds(const SnPinches *pinches, const SnBlocked *blocked)
{
    for (size_t i = 0; i < pinches->before_count; i++) {
        const SnBlocked *before = pinches->before + i;
        if (before->edges == blocked->edges && memcmp(before->points, blocked->points, sizeof blocked->points) == 0) {
            return before->rounds;
        }
    }
    return 0;
}

SnStatus sn_pinches_look(SnContext *context, SnPinches *pinches, const SnHits *hits, const SnTouches *touches, const SnPlanes *planes,
                         SnPatience patience, const SnSoftened *softened, SnTangles *tangles, SnCandidates *candidates, size_t *gone)
{
    SnStatus status = SN_OK;
    SnPinches turned = {.capacity = pinches->before_capacity, .before_count = pinches->count, .before_capacity = pinches->capacity,
                        .blocked = pinches->before, .before = pinches->blocked};
    *pinches = turned;
    *gone = 0;
    for (size_t i = 0; i < hits->count; i++) {
        const SnHit *hit = hits->hits + i;
        const SnPair *pair = hit_pair(candidates, hit);
        SnBlocked blocked = {.edges = hit->edges, .rounds = 1};
        if (hit->time >= SN_PINCH_PART && patience != SN_PATIENCE_NONE) {
            continue;
        }
        memcpy(blocked.points, pair->points, sizeof blocked.points);
        blocked.rounds += find_rounds(pinches, &blocked);
        if (patience == SN_PATIENCE_NONE ||
            (blocked.rounds >= SN_PINCH_ROUNDS && is_caught(candidates->surface, pair, hit, touches, planes, patience))) {
            if (patience != SN_PATIENCE_NONE && soften(candidates->surface, pair, hit, touches, planes, softened)) {
                continue;
            }
            SN_TRY(sn_tangles_let_go(context, tangles, candidates, hit->edges, hit->pair));
            ++*gone;
            continue;
        }
        SN_TRY_ROOM(context, pinches->blocked, pinches->count + 1, pinches->capacity);
        pinches->blocked[pinches->count++] = blocked;
    }
cleanup:
    return status;
}
