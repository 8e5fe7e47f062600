#include "dynamics/contact.h"

#include "base/memory.h"
#include "contact/cures.h"
#include "dynamics/pinches.h"
#include "dynamics/pressing.h"
#include "dynamics/soft_collider.h"
#include "dynamics/touch_planes.h"
#include "math/mat3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 30       /* minimisations before a stage ends on its way */
#define SETTLE_ROUNDS 3 /* minimisations for friction to settle, once all of the way is free */
#define SETTLED 0.05    /* of the forces: what friction may lag */
#define ROUGHLY 0.1     /* of the gap: how close a minimum is whose way may be stopped yet, ... */
#define ROUGH_ROUNDS 6  /* ... in the first rounds; later on something is caught, and forces are to tell what */
#define ON_PLACE 0.1    /* of the gap: what points may be off the planes */
#define RUNS_AWAY 8.0   /* times the least that they were off, and more than their gap: rounds that lead nowhere */
#define AWAY_ROUNDS 3    /* or so many rounds running off by more and more */
#define AWAY 1.5         /* times as far as anything would have gone: who got there was driven by nothing but rows */
#define AWAY_PARTS 5     /* stages on the way, until others that run away are let go too */
#define SHORTER 0.9     /* of the time that is proved free is gone */
#define STUCK 1e-2      /* of a stage: less than that in all of its rounds is nothing */
#define PARTS 20        /* stages on the way, after each of which patience wears thinner */

struct SnContact {
    const SnWorld *world;
    const SnSurface *surface;
    SnSkin *skins;
    SnContactSettings settings;
    SnContactReport report;
    SnCandidates candidates;
    SnTangles tangles;
    SnPinches pinches;
    SnSoftCollider soft;
    int stuck, parts;         /* stages, one after the other, that got nowhere; that did not end */
    SnHits hits;
    SnPressing now;             /* touches at hand */
    SnTouches touches_before, near;
    SnTouchRows rows;
    SnPlanes planes;
    SnPressing known;           /* those of the last stage, ... */
    SnPressing known_begin;     /* ... and as the step began */
    double *safe, *target;    /* points x 3: proved, and where the minimum has them */
    double *begin, *stage;    /* points x 3: before the step, and after its first stage */
    double *offset;           /* points x 3: where friction counts from */
    double *safe_positions;   /* vertices x 3 */
    double *way_begin;        /* points x 3: where the stage began */
    double *input;            /* points x 3: where Keep Input has them */
    unsigned char *flags;     /* points: whether they are tangled, ... */
    double *trusted;          /* ... and what known touches press with that are not */
    size_t trusted_room;
    int is_placed;
    int is_clear;             /* nothing is near the safe place, and nothing touched on the way to it */
    int presses, lets_go;
    double work, work_kept;
};

SnStatus sn_contact_create(SnContext *context, const SnWorld *world, const SnSurface *surface, const SnSkin *skins,
                           const SnContactSettings *settings, SnContact **out)
{
    SnStatus status = SN_OK;
    SnContact *contact = NULL;
    SnCandidatesDef def = {.gap = settings->gap};
    size_t points = 3 * surface->point_count;
    *out = NULL;
    SN_TRY_NEW(context, contact, 1, SnContact);
    contact->world = world;
    contact->surface = surface;
    contact->settings = *settings;
    SN_TRY_NEW(context, contact->skins, surface->body_count, SnSkin);
    memcpy(contact->skins, skins, surface->body_count * sizeof *skins);
    SN_TRY(sn_candidates_init(context, surface, &def, &contact->candidates));
    SN_TRY(sn_tangles_init(context, surface, &contact->tangles));
    SN_TRY(sn_touch_rows_init(context, surface, contact->skins, &world->assembly, &contact->rows));
    double **arrays[] = {&contact->safe, &contact->target, &contact->begin, &contact->stage, &contact->offset, &contact->way_begin,
                         &contact->input};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        SN_TRY_NEW(context, *arrays[k], points, double);
    }
    SN_TRY_NEW(context, contact->flags, surface->point_count, unsigned char);
    SN_TRY_NEW(context, contact->safe_positions, 3 * world->vertex_count, double);
    SN_TRY(sn_soft_collider_init(context, world, contact->candidates.edge_length, &contact->soft));
    *out = contact;
cleanup:
    if (status != SN_OK) {
        sn_contact_destroy(contact);
    }
    return status;
}

void sn_contact_destroy(SnContact *contact)
{
    if (contact == NULL) {
        return;
    }
    sn_candidates_clear(&contact->candidates);
    sn_tangles_clear(&contact->tangles);
    sn_pinches_clear(&contact->pinches);
    sn_hits_clear(&contact->hits);
    sn_pressing_clear(&contact->now);
    sn_pressing_clear(&contact->known);
    sn_pressing_clear(&contact->known_begin);
    sn_touches_clear(&contact->touches_before);
    sn_touches_clear(&contact->near);
    sn_touch_rows_clear(&contact->rows);
    sn_planes_clear(&contact->planes);
    double *arrays[] = {contact->safe,  contact->target, contact->begin,          contact->stage,
                        contact->offset, contact->way_begin, contact->input, contact->safe_positions};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_soft_collider_clear(&contact->soft);
    sn_release(contact->flags);
    sn_release(contact->trusted);
    sn_release(contact->skins);
    sn_release(contact);
}

static void freeze(SnContact *contact, double fraction, const double *pose, const double *positions)
{
    for (size_t b = 0; b < contact->surface->body_count; b++) {
        const SnSkin *skin = contact->skins + b;
        skin->freeze(skin->self, fraction, pose + 3 * skin->first_vertex, positions + 3 * skin->first_vertex);
    }
    sn_touch_rows_forget(&contact->rows);
}

static void place(const SnContact *contact, const double *positions, double *points)
{
    for (size_t b = 0; b < contact->surface->body_count; b++) {
        const SnSkin *skin = contact->skins + b;
        skin->place(skin->self, positions + 3 * skin->first_vertex, points + 3 * contact->surface->bodies[b].first_point);
    }
}

/* The points of the input, as the skins are frozen, where they matter. */
static const double *keep_input(SnContact *contact, const double *pose)
{
    if (!contact->settings.keep_input) {
        return NULL;
    }
    place(contact, pose, contact->input);
    sn_candidates_keep_input(&contact->candidates, contact->input);
    return contact->input;
}

static void copy_points(const SnContact *contact, const double *from, double *to)
{
    memcpy(to, from, 3 * contact->surface->point_count * sizeof *to);
}

void sn_contact_forget(SnContact *contact)
{
    contact->is_placed = contact->is_clear = 0;
    contact->report = (SnContactReport){0};
    sn_candidates_forget(&contact->candidates);
}

static int may_soften(const SnContact *contact)
{
    return contact->settings.soft_collider || contact->settings.strict;
}

SnStatus sn_contact_begin_step(SnContext *context, SnContact *contact, double fraction, const double *pose, const double *positions)
{
    SnStatus status = SN_OK;
    int look = !contact->is_placed || sn_tangles_any(&contact->tangles);
    if (!contact->is_placed) {
        if (may_soften(contact)) {
            sn_soft_collider_find(&contact->soft, pose, positions);
        }
        freeze(contact, fraction, pose, positions);
        place(contact, positions, contact->safe);
        contact->is_placed = 1;
    }
    if (look) {
        const SnRegions *regions = &contact->tangles.now;
        SN_TRY(sn_tangles_find(context, &contact->tangles, &contact->candidates, contact->safe, keep_input(contact, pose)));
        contact->report.crossings = regions->crossing_count > contact->report.crossings ? regions->crossing_count : contact->report.crossings;
        contact->report.tangles = regions->tangle_count > contact->report.tangles ? regions->tangle_count : contact->report.tangles;
        contact->report.tangled = regions->count > contact->report.tangled ? regions->count : contact->report.tangled;
    }
    copy_points(contact, contact->safe, contact->begin);
    contact->presses = 0;
    contact->work = 0.0;
    SN_TRY(sn_pressing_copy(context, &contact->known, &contact->known_begin));
cleanup:
    return status;
}

void sn_contact_retake(SnContact *contact)
{
    SnPressing known = contact->known;
    contact->known = contact->known_begin;
    contact->known_begin = known;
    copy_points(contact, contact->begin, contact->safe);
    contact->is_clear = 0;
    contact->work = 0.0;
}

/* Keep Input: no touch asks for more than the input of the stage's end has in its plane, which is the plane of the safe place. */
static void keep_planes(SnTouches *touches, const double *input)
{
    for (size_t k = 0; k < touches->count && input != NULL; k++) {
        SnTouch *touch = touches->touches + k;
        double there = 0.0;
        for (size_t i = 0; i < 4; i++) {
            there += touch->c[i] * sn_dot3(touch->n, input + 3 * (size_t)touch->points[i]);
        }
        touch->gap = sn_least(touch->gap, there);
    }
}

/* Planes of the touches at hand; `positions` have the points at `target`. */
static SnStatus build_planes(SnContext *context, SnContact *contact, const SnContactStage *stage, const double *positions)
{
    SnStatus status = SN_OK;
    SnTouchMoment moment = {.positions = positions,
                            .points = contact->target,
                            .offset = contact->offset,
                            .hardness = stage->hardness(stage->self, contact->safe_positions), /* no guess */
                            .most_gain = contact->settings.separate * stage->length};
    SN_TRY(sn_pressing_find(context, &contact->known, stage->share, &contact->now));
    SN_TRY(sn_touch_planes_build(context, &contact->rows, &contact->now.touches, contact->now.forces, contact->now.holds, &moment,
                                 &contact->planes));
cleanup:
    return status;
}

/* Forces become multipliers. Returns how much friction lagged behind, of all forces. */
static SnStatus learn_forces(SnContext *context, SnContact *contact, const SnContactStage *stage, double *lag)
{
    double sum = 0.0, off = 0.0;
    for (size_t k = 0; k < contact->planes.count; k++) {
        SnPlane *plane = contact->planes.planes + k;
        double friction = sn_touch_friction(contact->surface, contact->now.touches.touches + k);
        off += friction * fabs(plane->force - plane->lambda);
        sum += friction * plane->force;
        double known = contact->now.touches.touches[k].is_wish ? 0.0 : 1.0; /* no demand */
        contact->now.forces[k] = known * plane->force / stage->share;
        for (size_t a = 0; a < 3; a++) {
            contact->now.holds[3 * k + a] = known * plane->slide[a] / stage->share;
        }
        sn_touch_press(plane, friction, plane->force, plane->slide);
        plane->lambda *= known;
        contact->presses |= plane->force > 0.0;
    }
    *lag = sum > 0.0 ? off / sum : 0.0;
    return sn_pressing_copy(context, &contact->now, &contact->known);
}

/* What can be on the way from the safe place to the target, and what of it is hit. */
static SnStatus detect(SnContext *context, SnContact *contact)
{
    SnStatus status = SN_OK;
    int searched = 0;
    SN_TRY(sn_candidates_find(context, &contact->candidates, contact->safe, contact->target, &searched));
    if (searched) {
        sn_tangles_mark(&contact->tangles, &contact->candidates);
    }
    SN_TRY(sn_ccd_find(context, &contact->candidates, contact->safe, contact->target, &contact->hits));
    contact->report.ccds++;
cleanup:
    return status;
}

/* What touches at the safe place. Where something is tangled, what has pressed says nothing: it may have been on either side. */
static SnStatus find_near(SnContext *context, SnContact *contact, SnTouches *touches)
{
    SnStatus status = SN_OK;
    const SnPressing *known = &contact->known;
    const double *forces = known->forces;
    if (sn_tangles_any(&contact->tangles)) {
        SN_TRY_ROOM(context, contact->trusted, known->touches.count, contact->trusted_room);
        sn_tangles_show(&contact->tangles, contact->flags);
        for (size_t k = 0; k < known->touches.count; k++) {
            const int32_t *key = known->touches.touches[k].key; /* all that a checkpoint has of it */
            contact->trusted[k] = forces[k];
            for (int i = 1; i < 5; i++) {
                contact->trusted[k] *= key[i] < 0 || !contact->flags[key[i]];
            }
        }
        forces = contact->trusted;
    }
    SN_TRY(sn_near_find(context, &contact->candidates, contact->safe, &known->touches, forces, touches));
cleanup:
    return status;
}

/* What a pair pressed with until it was let go means nothing any more; nor do the forces beside it, which may have been the answer. */
static void forget_forces(SnContact *contact)
{
    for (size_t k = 0; k < contact->known.touches.count; k++) {
        const SnTouch *touch = contact->known.touches.touches + k;
        for (size_t i = 0; i < contact->tangles.lingering_count; i++) {
            const SnLingering *lingering = contact->tangles.lingering + i;
            for (int j = 0; j < 16 && lingering->kind >> 1; j++) {
                if (touch->points[j / 4] == lingering->points[j % 4]) {
                    contact->known.forces[k] = 0.0;
                    memset(contact->known.holds + 3 * k, 0, 3 * sizeof *contact->known.holds);
                }
            }
        }
    }
}

/* Lets go what has stopped too often and has nowhere to go; what is hit then. */
static SnStatus let_go(SnContext *context, SnContact *contact)
{
    SnStatus status = SN_OK;
    size_t gone;
    SnSoftened softened = {contact->world->fixed, may_soften(contact) ? contact->soft.soft : NULL};
    int worn = contact->stuck > contact->parts / PARTS ? contact->stuck : contact->parts / PARTS;
    SnPatience patience = contact->parts >= 3 * PARTS ? SN_PATIENCE_NONE : worn < SN_PATIENCE_ANY ? (SnPatience)worn : SN_PATIENCE_ANY;
    SN_TRY(sn_pinches_look(context, &contact->pinches, &contact->hits, &contact->now.touches, &contact->planes, patience, &softened,
                           &contact->tangles, &contact->candidates, &gone));
    if (gone > 0) {
        contact->report.pinched += (long)gone;
        forget_forces(contact);
        SN_TRY(sn_ccd_find(context, &contact->candidates, contact->safe, contact->target, &contact->hits));
        contact->report.ccds++;
    }
cleanup:
    return status;
}

void sn_contact_let_go(SnContact *contact, int lets_go)
{
    contact->lets_go = lets_go;
}

/* All that stops the way to the target is exempt from now on. */
static SnStatus let_go_of_hits(SnContext *context, SnContact *contact)
{
    SnStatus status = SN_OK;
    for (size_t k = 0; k < contact->hits.count; k++) {
        const SnHit *hit = contact->hits.hits + k;
        SN_TRY(sn_tangles_let_go(context, &contact->tangles, &contact->candidates, hit->edges, hit->pair));
        contact->report.pinched++;
    }
    contact->hits.count = 0;
    contact->hits.time = SN_CCD_FREE;
cleanup:
    return status;
}

/* The safe place goes a part of the way to the target, and so do its vertices. */
static void go(SnContact *contact, double part, const double *positions)
{
    if (part == 1.0) {
        copy_points(contact, contact->target, contact->safe);
        memcpy(contact->safe_positions, positions, 3 * contact->world->vertex_count * sizeof *positions);
        return;
    }
    for (size_t k = 0; k < 3 * contact->surface->point_count; k++) {
        contact->safe[k] += part * (contact->target[k] - contact->safe[k]);
    }
    for (size_t k = 0; k < 3 * contact->world->vertex_count; k++) {
        contact->safe_positions[k] += part * (positions[k] - contact->safe_positions[k]);
    }
}

/* Work that kinematic points have done on what they touch since the stage began. */
static double work_of_moving(const SnContact *contact, double share)
{
    double sum = 0.0;
    for (size_t k = 0; k < contact->planes.count; k++) {
        const SnTouch *touch = contact->now.touches.touches + k;
        const SnPlane *plane = contact->planes.planes + k;
        for (size_t i = 0; i < 4; i++) {
            size_t point = (size_t)touch->points[i];
            for (size_t a = 0; a < 3 && contact->surface->kinematic[point]; a++) {
                double pull = plane->force * plane->normal[a] + plane->slide[a];
                sum -= touch->c[i] * pull * (contact->safe[3 * point + a] - contact->way_begin[3 * point + a]);
            }
        }
    }
    return sum / share;
}

/* Points hang on vertices by more than the rows of their planes say (dynamics/embedded_skin.h): moves planes to where the points at the target
   are. Returns by how much of its gap one that presses was off at most. */
static double follow_points(SnContact *contact, const double *positions)
{
    double largest = 0.0;
    for (size_t k = 0; k < contact->planes.count; k++) {
        const SnTouch *touch = contact->now.touches.touches + k;
        SnPlane *plane = contact->planes.planes + k;
        double w[3];
        if (plane->row.begin == plane->row.end) {
            continue;
        }
        sn_plane_place(&contact->planes, plane, contact->world->assembly.vertex, positions, w);
        for (size_t a = 0; a < 3; a++) {
            double there = 0.0;
            for (size_t i = 0; i < 4; i++) {
                there += touch->c[i] * contact->target[3 * (size_t)touch->points[i] + a];
            }
            w[a] = there - w[a];
            plane->constant[a] += w[a];
        }
        plane->off = plane->force > 0.0 ? fabs(sn_dot3(plane->normal, w)) / fabs(plane->gap) : 0.0;
        largest = fmax(largest, plane->off);
    }
    return largest;
}

/* How far points are from where the stage began, at most. */
static double find_way(const SnContact *contact)
{
    double largest = 0.0;
    for (size_t k = 0; k < 3 * contact->surface->point_count; k++) {
        largest = fmax(largest, fabs(contact->target[k] - contact->way_begin[k]));
    }
    return largest;
}

/* A candidate by its points; -1 if there is none. */
static int32_t find_candidate(const SnCandidates *candidates, const SnTouch *touch)
{
    const SnPairList *list = touch->edges ? &candidates->edges : &candidates->point_triangles;
    int32_t k = 0, count = (int32_t)list->count;
    while (k < count && memcmp(list->pairs[k].points, touch->points, sizeof touch->points) != 0) {
        k++;
    }
    return k < count ? k : -1;
}

/* Rounds lead nowhere: what presses does not move its points as its rows say, and would do so ever harder. What is off most is let go. */
static SnStatus let_go_of_runaways(SnContext *context, SnContact *contact, double off)
{
    SnStatus status = SN_OK;
    for (size_t k = 0; k < contact->planes.count; k++) {
        const SnTouch *touch = contact->now.touches.touches + k;
        int32_t pair = contact->planes.planes[k].off >= 0.5 * off && !touch->is_wish ? find_candidate(&contact->candidates, touch) : -1;
        if (pair >= 0) {
            SN_TRY(sn_tangles_let_go(context, &contact->tangles, &contact->candidates, touch->edges, pair));
            contact->report.pinched++;
        }
    }
    forget_forces(contact);
cleanup:
    return status;
}

SnStatus sn_contact_solve(SnContext *context, SnContact *contact, const SnContactStage *stage, double *positions, double *reached)
{
    SnStatus status = SN_OK;
    double done = 0.0, lag = 0.0, reach = 0.0, least_off = INFINITY, last_off = INFINITY;
    int settle = 0, away = 0, is_free = 0, is_new = 1; /* the way to a close minimum was; other planes than in the round before */
    sn_soft_collider_place(&contact->soft, stage->pose, positions);
    freeze(contact, stage->fraction, stage->pose, positions);
    memcpy(contact->safe_positions, stage->start, 3 * contact->world->vertex_count * sizeof *positions);
    for (size_t k = 0; k < 3 * contact->surface->point_count; k++) {
        contact->offset[k] = (stage->from_stage != 0.0 ? stage->from_stage * contact->stage[k] : 0.0) + stage->from_begin * contact->begin[k];
    }
    copy_points(contact, contact->safe, contact->way_begin);
    sn_pinches_forget(&contact->pinches);
    const double *input = keep_input(contact, stage->pose);
    if (input != NULL) {
        SN_TRY(sn_tangles_look_ahead(context, &contact->tangles, &contact->candidates, input));
    }
    contact->now.touches.count = 0;
    if (!contact->is_clear || sn_tangles_any(&contact->tangles)) { /* else what the guess would hit can wait until the minimum does */
        place(contact, positions, contact->target);
        reach = find_way(contact);
        SN_TRY(detect(context, contact));
        SN_TRY(find_near(context, contact, &contact->now.touches));
        SN_TRY(sn_near_add_hits(context, &contact->candidates, &contact->hits, contact->safe, contact->target, &contact->now.touches));
        SN_TRY(sn_tangles_add_cures(context, &contact->tangles, &contact->candidates, contact->safe, input, &contact->now.touches));
    }
    for (int round = 0; round < ROUNDS; round++) {
        int touched = contact->now.touches.count > 0;
        int closely = !touched || done == 1.0 || round >= ROUGH_ROUNDS || contact->parts > 0 || may_soften(contact);
        if (touched && is_new) {
            keep_planes(&contact->now.touches, input);
            SN_TRY(build_planes(context, contact, stage, positions));
        }
        SN_TRY(stage->minimise(context, stage->self, touched ? &contact->planes : NULL, round == 0,
                               closely ? 0.0 : ROUGHLY * contact->settings.gap, positions));
        contact->report.rounds += touched;
        contact->report.stages += touched && round == 0;
        contact->planes.count = touched ? contact->planes.count : 0;
        SN_TRY(learn_forces(context, contact, stage, &lag));
        if (sn_soft_collider_any(&contact->soft)) {
            sn_soft_collider_give(&contact->soft, contact->surface, &contact->now.touches, &contact->planes,
                                  stage->hardness(stage->self, positions));
            sn_soft_collider_place(&contact->soft, stage->pose, positions);
        }
        place(contact, positions, contact->target);
        double off = follow_points(contact, positions);
        reach = touched ? reach : find_way(contact);
        int gives = sn_soft_collider_any(&contact->soft); /* points go from round to round, and so do planes */
        away = off > 1.0 && off > last_off && !gives ? away + 1 : 0;
        last_off = off;
        if ((off > 1.0 && off > RUNS_AWAY * least_off) || away >= AWAY_ROUNDS) { /* the stage ends where it is proved */
            if (!gives && (contact->parts >= AWAY_PARTS || find_way(contact) > AWAY * reach)) {
                SN_TRY(let_go_of_runaways(context, contact, off));
            }
            break;
        }
        least_off = fmin(least_off, touched ? off : INFINITY);
        SN_TRY(detect(context, contact));
        if (!is_free && (contact->parts > 0 || done < STUCK)) { /* what has got somewhere may end there, and pass in a shorter step */
            SN_TRY(let_go(context, contact));
        }
        if (contact->lets_go) {
            SN_TRY(let_go_of_hits(context, contact));
        }
        double part = contact->hits.time >= 1.0 ? 1.0 : SHORTER * contact->hits.time;
        is_new = !is_free && part < 1.0;
        if (is_new) {
            SnTouches before = contact->touches_before;
            contact->touches_before = contact->now.touches;
            contact->now.touches = before;
            contact->now.touches.count = 0;
            SN_TRY(sn_near_add_hits(context, &contact->candidates, &contact->hits, contact->safe, contact->target, &contact->now.touches));
        }
        go(contact, part, positions);
        if (is_free && part < 1.0) { /* on the way to better friction: as far as it goes */
            is_free = 0;
            break;
        }
        done = part == 1.0 ? 1.0 : done + part * (1.0 - done);
        is_free |= closely && part == 1.0;
        if (is_free && ((lag <= SETTLED && off <= ON_PLACE) || ++settle >= SETTLE_ROUNDS)) {
            break;
        }
        if (is_new) {
            SN_TRY(find_near(context, contact, &contact->near));
            SN_TRY(sn_near_keep(context, &contact->near, &contact->now.touches));
            SN_TRY(sn_near_keep(context, &contact->touches_before, &contact->now.touches));
        }
    }
    contact->is_clear = 0;
    if (is_free && contact->now.touches.count == 0) {
        SN_TRY(find_near(context, contact, &contact->near));
        contact->is_clear = contact->near.count == 0;
    }
    contact->stuck = done < STUCK ? contact->stuck + 1 : 0;
    contact->parts = done < 1.0 ? contact->parts + 1 : 0;
    contact->work += work_of_moving(contact, stage->share);
    contact->report.planes = contact->known.touches.count;
    if (!is_free) {
        memcpy(positions, contact->safe_positions, 3 * contact->world->vertex_count * sizeof *positions);
        contact->report.partial_steps += done < 1.0;
    }
    copy_points(contact, contact->safe, contact->stage);
    sn_pressing_spread(&contact->known, done < 1.0 ? 0.0 : stage->part); /* a stage that did not end has not found its forces */
    *reached = done;
cleanup:
    return status;
}

int sn_contact_presses(const SnContact *contact)
{
    return contact->presses;
}

double sn_contact_work(const SnContact *contact)
{
    return contact->work;
}

SnStatus sn_contact_prove(SnContext *context, SnContact *contact, const double *positions, int *is_free)
{
    SnStatus status = SN_OK;
    place(contact, positions, contact->target);
    copy_points(contact, contact->begin, contact->safe);
    contact->is_clear = 0;
    SN_TRY(detect(context, contact));
    *is_free = contact->hits.time >= 1.0;
    copy_points(contact, *is_free ? contact->target : contact->stage, contact->safe);
cleanup:
    return status;
}

size_t sn_contact_pressing(const SnContact *contact)
{
    return sn_pressing_count(&contact->known);
}

void sn_contact_save(const SnContact *contact, int32_t *keys, double *forces, double *holds)
{
    sn_pressing_save(&contact->known, keys, forces, holds);
}

SnStatus sn_contact_restore(SnContext *context, SnContact *contact, size_t count, const int32_t *keys, const double *forces,
                            const double *holds)
{
    return sn_pressing_restore(context, count, keys, forces, holds, &contact->known);
}

size_t sn_contact_exempt_count(const SnContact *contact)
{
    return sn_tangles_any(&contact->tangles) ? sn_tangles_state_count(&contact->tangles) : 0;
}

void sn_contact_save_exempt(const SnContact *contact, int32_t *state)
{
    if (sn_tangles_any(&contact->tangles)) {
        sn_tangles_save(&contact->tangles, state);
    }
}

SnStatus sn_contact_restore_exempt(SnContext *context, SnContact *contact, size_t count, const int32_t *state)
{
    const int32_t none[2] = {0, 0};
    return sn_tangles_restore(context, &contact->tangles, count > 0 ? count : 2, count > 0 ? state : none);
}

SnContactReport sn_contact_report(const SnContact *contact)
{
    return contact->report;
}

const SnCandidates *sn_contact_candidates(const SnContact *contact)
{
    return &contact->candidates;
}

const double *sn_contact_points(const SnContact *contact)
{
    return contact->safe;
}

const SnTouches *sn_contact_touches(const SnContact *contact, const double **forces)
{
    *forces = contact->known.forces;
    return &contact->known.touches;
}

const SnTangles *sn_contact_tangles(const SnContact *contact)
{
    return &contact->tangles;
}
