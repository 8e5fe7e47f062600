#include "dynamics/contact.h"

#include "base/memory.h"
#include "dynamics/pinches.h"
#include "dynamics/touch_planes.h"
#include "math/mat3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 30       /* minimisations before a stage ends on its way */
#define SETTLE_ROUNDS 3 /* minimisations for friction to settle, once all of the way is free */
#define SETTLED 0.05    /* of the forces: what friction may lag */
#define WEIGHTLESS 1e-9 /* of a pair's weights: rounding */
#define ON_PLACE 0.1    /* of the gap: what points may be off the planes */
#define SHORTER 0.9     /* of the time that is proved free is gone */
#define WHOLE 0.5       /* of a step: as good as one */
#define STUCK 1e-2      /* of a stage: less than that in all of its rounds is nothing */
#define PARTS 20        /* stages on the way, after each of which patience wears thinner */

/* Touches with what each presses with, N, without the share of a stage, and how friction holds it. */
typedef struct Pressing {
    SnTouches touches;
    double *forces, *holds; /* touches; x 3; owned */
    size_t room, hold_room;
} Pressing;

struct SnContact {
    const SnWorld *world;
    const SnSurface *surface;
    SnSkin *skins;
    SnContactSettings settings;
    SnContactReport report;
    SnCandidates candidates;
    SnTangles tangles;
    SnPinches pinches;
    unsigned char *soft;      /* vertices that follow the input and give way, with Soft Collider */
    double *give;             /* vertices x 3: how far they do */
    double *pull;             /* vertices x 4: what presses on them, N, and how stiffly, N/m */
    int stuck, parts;         /* stages, one after the other, that got nowhere; that did not end */
    SnHits hits;
    Pressing now;             /* touches at hand */
    SnTouches touches_before, near;
    SnTouchRows rows;
    SnPlanes planes;
    Pressing known;           /* those of the last stage, ... */
    Pressing known_begin;     /* ... and as the step began */
    double *safe, *target;    /* points x 3: proved, and where the minimum has them */
    double *begin, *stage;    /* points x 3: before the step, and after its first stage */
    double *offset;           /* points x 3: where friction counts from */
    double *safe_positions;   /* vertices x 3 */
    double *way_begin;        /* points x 3: where the stage began */
    double *ahead;            /* points x 3: where the step may lead */
    double look_ahead;        /* see SnContactStage */
    double *input;            /* points x 3: where Keep Input has them */
    int is_placed;
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
                         &contact->input, &contact->ahead};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        SN_TRY_NEW(context, *arrays[k], points, double);
    }
    SN_TRY_NEW(context, contact->safe_positions, 3 * world->vertex_count, double);
    SN_TRY_NEW(context, contact->pull, 4 * world->vertex_count, double);
    SN_TRY_NEW(context, contact->give, 3 * world->vertex_count, double);
    SN_TRY_NEW(context, contact->soft, world->vertex_count, unsigned char);
    *out = contact;
cleanup:
    if (status != SN_OK) {
        sn_contact_destroy(contact);
    }
    return status;
}

static void clear_pressing(Pressing *pressing)
{
    sn_touches_clear(&pressing->touches);
    sn_release(pressing->forces);
    sn_release(pressing->holds);
    *pressing = (Pressing){0};
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
    clear_pressing(&contact->now);
    clear_pressing(&contact->known);
    clear_pressing(&contact->known_begin);
    sn_touches_clear(&contact->touches_before);
    sn_touches_clear(&contact->near);
    sn_touch_rows_clear(&contact->rows);
    sn_planes_clear(&contact->planes);
    double *arrays[] = {contact->safe,  contact->target, contact->begin,          contact->stage,
                        contact->offset, contact->way_begin, contact->input, contact->ahead, contact->safe_positions};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_release(contact->give);
    sn_release(contact->pull);
    sn_release(contact->soft);
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
    contact->is_placed = 0;
    contact->report = (SnContactReport){0};
    sn_candidates_forget(&contact->candidates);
}

/* Room for what the touches press with. */
static SnStatus reserve_forces(SnContext *context, Pressing *pressing)
{
    SnStatus status = SN_OK;
    SN_TRY_ROOM(context, pressing->forces, pressing->touches.count, pressing->room);
    SN_TRY_ROOM(context, pressing->holds, 3 * pressing->touches.count, pressing->hold_room);
cleanup:
    return status;
}

static SnStatus copy_pressing(SnContext *context, const Pressing *from, Pressing *to)
{
    SnStatus status = SN_OK;
    to->touches.count = 0;
    SN_TRY(sn_near_keep(context, &from->touches, &to->touches));
    SN_TRY(reserve_forces(context, to));
    if (to->touches.count > 0) {
        memcpy(to->forces, from->forces, to->touches.count * sizeof *to->forces);
        memcpy(to->holds, from->holds, 3 * to->touches.count * sizeof *to->holds);
    }
cleanup:
    return status;
}

static int may_soften(const SnContact *contact)
{
    return contact->settings.soft_collider || contact->settings.strict;
}

/* What has given way is told by the state: there is nothing else to keep of it. */
static void find_soft(SnContact *contact, const double *pose, const double *positions)
{
    const double rounding = 1e-9 * contact->candidates.edge_length;
    for (size_t v = 0; v < contact->world->vertex_count && may_soften(contact); v++) {
        double *give = contact->give + 3 * v;
        for (size_t a = 0; a < 3; a++) {
            give[a] = positions[3 * v + a] - pose[3 * v + a];
        }
        contact->soft[v] = contact->world->fixed[v] && sn_dot3(give, give) > rounding * rounding;
        for (size_t a = 0; a < 3 && !contact->soft[v]; a++) {
            give[a] = 0.0;
        }
    }
}

SnStatus sn_contact_begin_step(SnContext *context, SnContact *contact, double fraction, const double *pose, const double *positions)
{
    SnStatus status = SN_OK;
    int look = !contact->is_placed || sn_tangles_any(&contact->tangles);
    if (!contact->is_placed) {
        find_soft(contact, pose, positions);
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
    SN_TRY(copy_pressing(context, &contact->known, &contact->known_begin));
cleanup:
    return status;
}

void sn_contact_retake(SnContact *contact)
{
    Pressing known = contact->known;
    contact->known = contact->known_begin;
    contact->known_begin = known;
    copy_points(contact, contact->begin, contact->safe);
    contact->work = 0.0;
}

/* What the touches at hand press with: what was known, or nothing. */
static SnStatus find_forces(SnContext *context, SnContact *contact, double share)
{
    Pressing *now = &contact->now;
    const Pressing *known = &contact->known;
    SnStatus status = reserve_forces(context, now);
    for (size_t k = 0; k < now->touches.count && status == SN_OK; k++) {
        const SnTouch *found = known->touches.count == 0 ? NULL
                                                         : bsearch(now->touches.touches + k, known->touches.touches, known->touches.count,
                                                                   sizeof *found, sn_touch_compare);
        size_t at = found != NULL ? (size_t)(found - known->touches.touches) : 0;
        now->forces[k] = found != NULL ? share * known->forces[at] : 0.0;
        for (size_t a = 0; a < 3; a++) {
            now->holds[3 * k + a] = found != NULL ? share * known->holds[3 * at + a] : 0.0;
        }
    }
    return status;
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
    SN_TRY(find_forces(context, contact, stage->share));
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
    return copy_pressing(context, &contact->now, &contact->known);
}

/* What can be on the way from the safe place to the target, and on to where that leads by the end of the step, ... */
static SnStatus find_candidates(SnContext *context, SnContact *contact)
{
    int searched = 0;
    const double *to = contact->target;
    for (size_t k = 0; k < 3 * contact->surface->point_count && contact->look_ahead > 1.0; k++) {
        contact->ahead[k] = contact->safe[k] + contact->look_ahead * (contact->target[k] - contact->safe[k]);
        to = contact->ahead;
    }
    SnStatus status = sn_candidates_find(context, &contact->candidates, contact->safe, to, &searched);
    if (searched) {
        sn_tangles_mark(&contact->tangles, &contact->candidates);
    }
    return status;
}

/* ... and what of it is hit. */
static SnStatus detect(SnContext *context, SnContact *contact)
{
    SnStatus status = SN_OK;
    SN_TRY(find_candidates(context, contact));
    SN_TRY(sn_ccd_find(context, &contact->candidates, contact->safe, contact->target, &contact->hits));
    contact->report.ccds++;
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

static void place_soft(const SnContact *contact, const double *pose, double *positions)
{
    for (size_t k = 0; k < 3 * contact->world->vertex_count; k++) {
        positions[k] = contact->soft[k / 3] ? pose[k] + contact->give[k] : positions[k];
    }
}

/* Where soft vertices are: off the input by what presses on them, as stiff as the flesh is on the whole. Each round takes a step towards that,
   the shorter the stiffer the planes are that answer to it. */
static void give_way(SnContact *contact, const SnContactStage *stage, double *positions)
{
    const SnSurface *surface = contact->surface;
    const SnWorld *world = contact->world;
    size_t unknowns = world->assembly.unknown_count;
    double stiffness = 0.0, most = contact->candidates.edge_length;
    if (unknowns == 0 || memchr(contact->soft, 1, world->vertex_count) == NULL) {
        return;
    }
    const double *hardness = stage->hardness(stage->self, positions);
    for (size_t k = 0; k < unknowns; k++) {
        stiffness += hardness[k] / (double)unknowns;
    }
    memset(contact->pull, 0, 4 * world->vertex_count * sizeof *contact->pull);
    for (size_t k = 0; k < contact->planes.count; k++) {
        const SnTouch *touch = contact->now.touches.touches + k;
        const SnPlane *plane = contact->planes.planes + k;
        for (size_t j = 0; j < 16 && plane->force > 0.0; j++) {
            size_t corner = 4 * (size_t)touch->points[j / 4] + j % 4;
            int32_t vertex = surface->corners[corner];
            double weight = vertex >= 0 ? touch->c[j / 4] * surface->weights[corner] : 0.0;
            double *pull = contact->pull + (vertex >= 0 ? 4 * (size_t)vertex : 0);
            for (size_t a = 0; a < 3; a++) {
                pull[a] += weight * plane->force * plane->normal[a];
            }
            pull[3] += fabs(weight) * plane->rho;
        }
    }
    for (size_t v = 0; v < world->vertex_count; v++) {
        double *give = contact->give + 3 * v, *pull = contact->pull + 4 * v;
        for (size_t a = 0; a < 3 && contact->soft[v]; a++) {
            give[a] += (pull[a] - stiffness * give[a]) / (2.0 * stiffness + 2.0 * pull[3]);
        }
        double length = sqrt(sn_dot3(give, give));
        for (size_t a = 0; a < 3 && length > most; a++) {
            give[a] *= most / length;
        }
    }
    place_soft(contact, stage->pose, positions);
}

/* Lets go what has stopped too often and has nowhere to go; what is hit then. */
static SnStatus let_go(SnContext *context, SnContact *contact)
{
    SnStatus status = SN_OK;
    size_t gone;
    SnSoftened softened = {contact->world->fixed, may_soften(contact) ? contact->soft : NULL};
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

/* What stops a body within a small part of a step is a large force for a short time: a whole step begins with what does the same in it. */
static void spread_forces(SnContact *contact, double part)
{
    for (size_t k = 0; k < contact->known.touches.count && part < WHOLE; k++) {
        contact->known.forces[k] *= part;
        for (size_t a = 0; a < 3; a++) {
            contact->known.holds[3 * k + a] *= part;
        }
    }
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
        if (plane->force > 0.0) {
            largest = fmax(largest, fabs(sn_dot3(plane->normal, w)) / fabs(plane->gap));
        }
    }
    return largest;
}

SnStatus sn_contact_solve(SnContext *context, SnContact *contact, const SnContactStage *stage, double *positions, double *reached)
{
    SnStatus status = SN_OK;
    double done = 0.0, lag = 0.0;
    int settle = 0;
    place_soft(contact, stage->pose, positions);
    freeze(contact, stage->fraction, stage->pose, positions);
    place(contact, positions, contact->target);
    memcpy(contact->safe_positions, stage->start, 3 * contact->world->vertex_count * sizeof *positions);
    for (size_t k = 0; k < 3 * contact->surface->point_count; k++) {
        contact->offset[k] = (stage->from_stage != 0.0 ? stage->from_stage * contact->stage[k] : 0.0) + stage->from_begin * contact->begin[k];
    }
    copy_points(contact, contact->safe, contact->way_begin);
    contact->look_ahead = stage->ahead;
    sn_pinches_forget(&contact->pinches);
    const double *input = keep_input(contact, stage->pose);
    SN_TRY(detect(context, contact));
    SN_TRY(sn_near_find(context, &contact->candidates, contact->safe, &contact->now.touches));
    SN_TRY(sn_near_add_hits(context, &contact->candidates, &contact->hits, contact->safe, contact->target, &contact->now.touches));
    SN_TRY(sn_tangles_add_cures(context, &contact->tangles, &contact->candidates, contact->safe, input, &contact->now.touches));
    for (int round = 0; round < ROUNDS; round++) {
        int touched = contact->now.touches.count > 0;
        if (touched && (round == 0 || done < 1.0)) {
            SN_TRY(build_planes(context, contact, stage, positions));
        }
        SN_TRY(stage->minimise(context, stage->self, touched ? &contact->planes : NULL, round == 0, positions));
        contact->report.rounds += touched;
        contact->report.stages += touched && round == 0;
        contact->planes.count = touched ? contact->planes.count : 0;
        SN_TRY(learn_forces(context, contact, stage, &lag));
        give_way(contact, stage, positions);
        place(contact, positions, contact->target);
        double off = follow_points(contact, positions);
        SN_TRY(detect(context, contact));
        if (done < 1.0) {
            SN_TRY(let_go(context, contact));
        }
        if (contact->lets_go) {
            SN_TRY(let_go_of_hits(context, contact));
        }
        double part = contact->hits.time >= 1.0 ? 1.0 : SHORTER * contact->hits.time;
        if (done < 1.0 && part < 1.0) {
            SnTouches before = contact->touches_before;
            contact->touches_before = contact->now.touches;
            contact->now.touches = before;
            contact->now.touches.count = 0;
            SN_TRY(sn_near_add_hits(context, &contact->candidates, &contact->hits, contact->safe, contact->target, &contact->now.touches));
        }
        go(contact, part, positions);
        if (done == 1.0 && part < 1.0) { /* on the way to better friction: as far as it goes */
            memcpy(positions, contact->safe_positions, 3 * contact->world->vertex_count * sizeof *positions);
            break;
        }
        done = part == 1.0 ? 1.0 : done + part * (1.0 - done);
        if (done == 1.0 && ((lag <= SETTLED && off <= ON_PLACE) || ++settle >= SETTLE_ROUNDS)) {
            break;
        }
        if (done < 1.0) {
            SN_TRY(sn_near_find(context, &contact->candidates, contact->safe, &contact->near));
            SN_TRY(sn_near_keep(context, &contact->near, &contact->now.touches));
            SN_TRY(sn_near_keep(context, &contact->touches_before, &contact->now.touches));
        }
    }
    contact->stuck = done < STUCK ? contact->stuck + 1 : 0;
    contact->parts = done < 1.0 ? contact->parts + 1 : 0;
    contact->work += work_of_moving(contact, stage->share);
    contact->report.planes = contact->known.touches.count;
    if (done < 1.0) {
        memcpy(positions, contact->safe_positions, 3 * contact->world->vertex_count * sizeof *positions);
        contact->report.partial_steps++;
    }
    copy_points(contact, contact->safe, contact->stage);
    spread_forces(contact, done < 1.0 ? 0.0 : stage->part); /* a stage that did not end has not found its forces */
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
    contact->look_ahead = 1.0;
    SN_TRY(detect(context, contact));
    *is_free = contact->hits.time >= 1.0;
    copy_points(contact, *is_free ? contact->target : contact->stage, contact->safe);
cleanup:
    return status;
}

/* The body of the world that an unknown belongs to. */
static int32_t find_body(const SnContact *contact, int32_t unknown)
{
    const SnWorld *world = contact->world;
    size_t vertex = (size_t)world->assembly.vertex[unknown], low = 0, high = world->body_count - 1;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (world->bodies[middle].first_vertex <= vertex) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return (int32_t)low;
}

static int32_t find_group(const int32_t *groups, int32_t body)
{
    while (body >= 0 && groups[body] != body) {
        body = groups[body];
    }
    return body;
}

/* The group of the higher number becomes part of the other; -1 swallows all. */
static void join_groups(int32_t *groups, int32_t one, int32_t two)
{
    one = find_group(groups, one);
    two = find_group(groups, two);
    if (one > two) {
        groups[one] = two;
    } else if (two >= 0) {
        groups[two] = one;
    }
}

void sn_contact_group(const SnContact *contact, const SnPlanes *planes, int32_t *groups)
{
    size_t count = contact->world->body_count;
    for (size_t b = 0; b < count; b++) {
        groups[b] = (int32_t)b;
    }
    for (const SnPlane *plane = planes->planes; plane < planes->planes + planes->count; plane++) {
        double left = 0.0; /* weights of a pair add up to 0: what is missing is kinematic */
        for (int32_t k = plane->row.begin; k < plane->row.end && (plane->force > 0.0 || plane->grip > 0.0); k++) {
            left += planes->weights[k];
            join_groups(groups, find_body(contact, planes->unknowns[plane->row.begin]), find_body(contact, planes->unknowns[k]));
        }
        if (fabs(left) > WEIGHTLESS) {
            join_groups(groups, -1, find_body(contact, planes->unknowns[plane->row.begin]));
        }
    }
    for (size_t b = 0; b < count; b++) {
        groups[b] = find_group(groups, (int32_t)b);
    }
}

size_t sn_contact_pressing(const SnContact *contact)
{
    size_t count = 0;
    for (size_t k = 0; k < contact->known.touches.count; k++) {
        count += contact->known.forces[k] > 0.0;
    }
    return count;
}

void sn_contact_save(const SnContact *contact, int32_t *keys, double *forces, double *holds)
{
    const Pressing *known = &contact->known;
    for (size_t k = 0; k < known->touches.count; k++) {
        if (known->forces[k] > 0.0) {
            memcpy(keys, known->touches.touches[k].key, sizeof known->touches.touches[k].key);
            memcpy(holds, known->holds + 3 * k, 3 * sizeof *holds);
            keys += sizeof known->touches.touches[k].key / sizeof *keys;
            holds += 3;
            *forces++ = known->forces[k];
        }
    }
}

SnStatus sn_contact_restore(SnContext *context, SnContact *contact, size_t count, const int32_t *keys, const double *forces,
                            const double *holds)
{
    SnStatus status = SN_OK;
    Pressing read = {0};
    SnTouches *touches = &read.touches;
    SN_TRY_ROOM(context, touches->touches, count, touches->capacity);
    for (; touches->count < count; touches->count++) {
        SnTouch *touch = touches->touches + touches->count;
        const double *hold = holds + 3 * touches->count, force = forces[touches->count];
        *touch = (SnTouch){0};
        memcpy(touch->key, keys + 5 * touches->count, sizeof touch->key);
        int rises = touches->count == 0 || sn_touch_compare(touch - 1, touch) < 0;
        if (!rises || !(force > 0.0) || !isfinite(force) || !isfinite(hold[0] + hold[1] + hold[2])) {
            status = sn_context_fail(context, SN_BAD_INPUT, "The contacts of the checkpoint are damaged: bake again from the start.");
            goto cleanup;
        }
    }
    SN_TRY(reserve_forces(context, &read));
    if (count > 0) {
        memcpy(read.forces, forces, count * sizeof *forces);
        memcpy(read.holds, holds, 3 * count * sizeof *holds);
    }
    SN_TRY(copy_pressing(context, &read, &contact->known));
cleanup:
    clear_pressing(&read);
    return status;
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
