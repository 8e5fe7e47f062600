/* A tet's volume v is linear in each of its corners, so for one vertex at a time

     firm/2 sum over its tets of max(0, least - v)²  +  stiffness mu V |F - R|²  +  1/2 area |C x - surface|²     (R kept for a sweep)

   is convex, with a 3x3 Hessian: a Newton step or two find its least. Sweeps over the vertices around bad tets do so by turns, forwards
   and backwards, and `firm` grows until no tet is left below `least`. */
#include "dynamics/unfold.h"

#include "base/memory.h"
#include "energy/tet_batch.h"
#include "mesh/geometry.h"

#include <math.h>
#include <string.h>

#define LEAST 0.1    /* of its volume at rest: what a tet keeps, ... */
#define ENOUGH 0.2   /* ... and of that where it is left alone */
#define RINGS 2      /* of tets around a bad one, whose vertices move */
#define ROUNDS 10    /* in each of which volumes are held more firmly, ... */
#define FIRM 64.0    /* begun with: of the elastic stiffness */
#define FIRMER 4.0   /* ... so many times */
#define SWEEPS 32    /* at most in a round: half of them forwards */
#define STEPS 3      /* of Newton at a vertex */
#define HALVINGS 4
#define LEASH 1.5     /* mean edges: no vertex goes farther, whatever it would take */

/* Lists of one kind at things of another: those of thing i are items[start[i]] .. items[start[i + 1] - 1]. */
typedef struct Lists {
    int32_t *start, *items; /* owned */
} Lists;

struct SnUnfold {
    const SnTetMesh *cage;
    const SnTetElements *elements;
    const SnEmbedding *embedding;
    const double *areas;
    double stiffness;
    double volume;   /* mean of the tets, m³: their volumes are told by it */
    double leash;    /* metres */
    Lists stars;     /* of vertices: 4 * tet + corner */
    Lists carried;   /* of tets: surface vertices with an area */
    double *slopes;  /* tets x 12: of shape functions, 1/m */
    double *least;   /* tets: of the mean volume */
    double *home;    /* cage vertices x 3: the fit */
    double *rotations;            /* tets x 9, row-major, of those that are active */
    unsigned char *is_near;       /* vertices: they move */
    unsigned char *is_active;     /* tets: a vertex of theirs moves */
    int32_t *near;                /* vertices that move, in order */
    int32_t *active;              /* tets of theirs, in order */
    size_t near_count, active_count;
};

/* `of` gives the thing of each item; items with an area of 0 are left out. Each list is in order. */
static void fill_lists(size_t things, size_t items, const int32_t *of, const double *areas, Lists *lists)
{
    for (size_t i = 0; i < items; i++) {
        lists->start[of[i]] += areas == NULL || areas[i] > 0.0;
    }
    for (size_t t = 0; t < things; t++) {
        lists->start[t + 1] += lists->start[t];
    }
    for (size_t i = items; i-- > 0;) { /* from the back: ends move down to their beginnings */
        if (areas == NULL || areas[i] > 0.0) {
            lists->items[--lists->start[of[i]]] = (int32_t)i;
        }
    }
}

static SnStatus build_lists(SnContext *context, SnUnfold *unfold)
{
    SnStatus status = SN_OK;
    const SnTetMesh *cage = unfold->cage;
    size_t points = unfold->embedding->vertex_count;
    SN_TRY_NEW(context, unfold->stars.start, cage->vertex_count + 1, int32_t);
    SN_TRY_NEW(context, unfold->stars.items, 4 * cage->tet_count, int32_t);
    SN_TRY_NEW(context, unfold->carried.start, cage->tet_count + 1, int32_t);
    SN_TRY_NEW(context, unfold->carried.items, points, int32_t);
    fill_lists(cage->vertex_count, 4 * cage->tet_count, cage->tets, NULL, &unfold->stars);
    fill_lists(cage->tet_count, points, unfold->embedding->tets, unfold->areas, &unfold->carried);
cleanup:
    return status;
}

SnStatus sn_unfold_create(SnContext *context, const SnTetMesh *cage, const SnTetElements *elements, const SnEmbedding *embedding,
                          const double *areas, double stiffness, SnUnfold **out)
{
    SnStatus status = SN_OK;
    SnUnfold *unfold = NULL;
    size_t tets = cage->tet_count;
    *out = NULL;
    SN_TRY_NEW(context, unfold, 1, SnUnfold);
    unfold->cage = cage;
    unfold->elements = elements;
    unfold->embedding = embedding;
    unfold->areas = areas;
    unfold->stiffness = stiffness;
    SN_TRY(build_lists(context, unfold));
    SN_TRY_NEW(context, unfold->slopes, 12 * tets, double);
    SN_TRY_NEW(context, unfold->least, tets, double);
    SN_TRY_NEW(context, unfold->home, 3 * cage->vertex_count, double);
    SN_TRY_NEW(context, unfold->rotations, 9 * tets, double);
    SN_TRY_NEW(context, unfold->is_near, cage->vertex_count, unsigned char);
    SN_TRY_NEW(context, unfold->is_active, tets, unsigned char);
    SN_TRY_NEW(context, unfold->near, cage->vertex_count, int32_t);
    SN_TRY_NEW(context, unfold->active, tets, int32_t);
    for (size_t e = 0; e < tets; e++) {
        unfold->volume += elements->volume[e] / (double)tets;
    }
    unfold->leash = LEASH * cbrt(6.0 * sqrt(2.0) * unfold->volume);
    for (size_t e = 0; e < tets; e++) {
        double *slopes = unfold->slopes + 12 * e;
        for (size_t a = 0; a < 3; a++) {
            for (size_t i = 0; i < 3; i++) {
                slopes[3 * (i + 1) + a] = elements->inverse_rest[(3 * i + a) * tets + e];
            }
            slopes[a] = -slopes[3 + a] - slopes[6 + a] - slopes[9 + a];
        }
        unfold->least[e] = LEAST * elements->volume[e] / unfold->volume;
    }
    *out = unfold;
cleanup:
    if (status != SN_OK) {
        sn_unfold_destroy(unfold);
    }
    return status;
}

void sn_unfold_destroy(SnUnfold *unfold)
{
    if (unfold == NULL) {
        return;
    }
    void *arrays[] = {unfold->stars.start, unfold->stars.items, unfold->carried.start, unfold->carried.items, unfold->slopes, unfold->least,
                      unfold->rotations,   unfold->is_near,     unfold->is_active,     unfold->near,          unfold->active,
                      unfold->home};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    sn_release(unfold);
}

/* Of a tet, in mean volumes. */
static double volume_of(const SnUnfold *unfold, const double *x, size_t tet)
{
    return sn_tet_mesh_volume(unfold->cage, x, tet) / unfold->volume;
}

static void mark(SnUnfold *unfold, size_t tet)
{
    for (size_t i = 0; i < 4; i++) {
        unfold->is_near[unfold->cage->tets[4 * tet + i]] = 1;
    }
}

/* Marks the vertices around tets that are too flat, beside those marked already; returns how many tets are. */
static size_t mark_bad(SnUnfold *unfold, const double *x, double enough)
{
    size_t bad = 0;
    memset(unfold->is_near, 0, unfold->cage->vertex_count);
    for (size_t e = 0; e < unfold->cage->tet_count; e++) {
        if (volume_of(unfold, x, e) < enough * unfold->least[e]) {
            mark(unfold, e);
            bad++;
        }
    }
    return bad;
}

static void gather_near(SnUnfold *unfold)
{
    unfold->near_count = 0;
    for (size_t v = 0; v < unfold->cage->vertex_count; v++) {
        if (unfold->is_near[v]) {
            unfold->near[unfold->near_count++] = (int32_t)v;
        }
    }
}

/* The tets that a vertex which moves belongs to. */
static void gather_active(SnUnfold *unfold)
{
    unfold->active_count = 0;
    for (size_t e = 0; e < unfold->cage->tet_count; e++) {
        unfold->is_active[e] = 0;
        for (size_t i = 0; i < 4; i++) {
            unfold->is_active[e] |= unfold->is_near[unfold->cage->tets[4 * e + i]];
        }
        if (unfold->is_active[e]) {
            unfold->active[unfold->active_count++] = (int32_t)e;
        }
    }
}

static void widen(SnUnfold *unfold, int rings)
{
    for (int ring = 1; ring < rings; ring++) {
        gather_active(unfold);
        for (size_t k = 0; k < unfold->active_count; k++) {
            mark(unfold, (size_t)unfold->active[k]);
        }
    }
    gather_near(unfold);
    gather_active(unfold);
}

static void gradient_of(const SnUnfold *unfold, const double *x, size_t tet, double f[9])
{
    const double *slopes = unfold->slopes + 12 * tet;
    const int32_t *corners = unfold->cage->tets + 4 * tet;
    for (size_t row = 0; row < 3; row++) {
        for (size_t column = 0; column < 3; column++) {
            f[3 * row + column] = 0.0;
            for (size_t i = 0; i < 4; i++) {
                f[3 * row + column] += x[3 * (size_t)corners[i] + row] * slopes[3 * i + column];
            }
        }
    }
}

/* The nearest rotations of the active tets. */
static void turn(SnUnfold *unfold, const double *x)
{
    for (size_t begin = 0; begin < unfold->active_count; begin += SN_LANES) {
        SnLanes f[9], r[9], s[6];
        for (size_t lane = 0; lane < SN_LANES; lane++) {
            size_t k = begin + lane < unfold->active_count ? begin + lane : unfold->active_count - 1;
            double one[9];
            gradient_of(unfold, x, (size_t)unfold->active[k], one);
            for (int c = 0; c < 9; c++) {
                f[c][lane] = one[c];
            }
        }
        sn_batch3_polar((const SnLanes *)f, r, s);
        for (size_t lane = 0; lane < SN_LANES && begin + lane < unfold->active_count; lane++) {
            for (size_t c = 0; c < 9; c++) {
                unfold->rotations[9 * (size_t)unfold->active[begin + lane] + c] = r[c][lane];
            }
        }
    }
}

/* A sum at one vertex: value, slope (3) and Hessian (9). */
typedef struct Cost {
    double value, slope[3], bend[9];
} Cost;

/* Volume and shape of a tet; `corner` is the vertex that moves. */
static void add_tet(const SnUnfold *unfold, const double *x, double firm, size_t tet, size_t corner, Cost *cost)
{
    static const int FACES[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}}; /* seen from the corner opposite */
    const int32_t *corners = unfold->cage->tets + 4 * tet;
    const double *own = unfold->slopes + 12 * tet + 3 * corner, *r = unfold->rotations + 9 * tet;
    double f[9], face[9], grows[3], weight = 2.0 * unfold->stiffness * unfold->elements->mu[tet] * unfold->elements->volume[tet];
    double missing = unfold->least[tet] - volume_of(unfold, x, tet);
    gradient_of(unfold, x, tet, f);
    for (int k = 0; k < 9; k++) {
        f[k] -= r[k];
        cost->value += 0.5 * weight * f[k] * f[k];
    }
    for (int a = 0; a < 3; a++) {
        cost->slope[a] += weight * sn_dot3(f + 3 * a, own);
        cost->bend[4 * a] += weight * sn_dot3(own, own);
    }
    if (missing <= 0.0) {
        return;
    }
    cost->value += 0.5 * firm * missing * missing;
    for (size_t i = 0; i < 3; i++) {
        memcpy(face + 3 * i, x + 3 * (size_t)corners[FACES[corner][i]], 3 * sizeof *x);
    }
    sn_triangle_area(face, grows);
    for (int a = 0; a < 3; a++) {
        grows[a] /= 6.0 * unfold->volume;
    }
    for (int a = 0; a < 3; a++) {
        cost->slope[a] -= firm * missing * grows[a];
        for (int b = 0; b < 3; b++) {
            cost->bend[3 * a + b] += firm * grows[a] * grows[b];
        }
    }
}

/* How far a surface vertex is off. */
static void add_surface(const SnUnfold *unfold, const double *surface, const double *x, size_t point, size_t corner, Cost *cost)
{
    const int32_t *corners = unfold->cage->tets + 4 * (size_t)unfold->embedding->tets[point];
    const double *weights = unfold->embedding->weights + 4 * point;
    double area = unfold->areas[point];
    for (size_t a = 0; a < 3; a++) {
        double away = -surface[3 * point + a];
        for (size_t i = 0; i < 4; i++) {
            away += weights[i] * x[3 * (size_t)corners[i] + a];
        }
        cost->value += 0.5 * area * away * away;
        cost->slope[a] += area * weights[corner] * away;
        cost->bend[4 * a] += area * weights[corner] * weights[corner];
    }
}

static Cost measure(const SnUnfold *unfold, const double *surface, const double *x, double firm, size_t vertex)
{
    Cost cost = {0};
    for (int32_t k = unfold->stars.start[vertex]; k < unfold->stars.start[vertex + 1]; k++) {
        size_t tet = (size_t)unfold->stars.items[k] / 4, corner = (size_t)unfold->stars.items[k] % 4;
        add_tet(unfold, x, firm, tet, corner, &cost);
        for (int32_t j = unfold->carried.start[tet]; j < unfold->carried.start[tet + 1]; j++) {
            add_surface(unfold, surface, x, (size_t)unfold->carried.items[j], corner, &cost);
        }
    }
    return cost;
}

static void move_vertex(const SnUnfold *unfold, const double *surface, double firm, size_t vertex, double *x)
{
    double *place = x + 3 * vertex;
    Cost here = measure(unfold, surface, x, firm, vertex);
    for (int step = 0; step < STEPS; step++) {
        double inverse[9] = {0.0}, start[3], length = 1.0;
        Cost there = here;
        if (!(sn_mat3_inverse(here.bend, inverse) > 0.0)) {
            return;
        }
        memcpy(start, place, sizeof start);
        for (int halving = 0; halving < HALVINGS; halving++, length *= 0.5) {
            for (int a = 0; a < 3; a++) {
                place[a] = start[a] - length * sn_dot3(inverse + 3 * a, here.slope);
            }
            if (sn_distance_squared(place, unfold->home + 3 * vertex) > unfold->leash * unfold->leash) {
                continue;
            }
            there = measure(unfold, surface, x, firm, vertex);
            if (there.value < here.value) {
                break;
            }
        }
        if (!(there.value < here.value)) {
            memcpy(place, start, sizeof start);
            return;
        }
        here = there;
    }
}

static int is_any_bad(const SnUnfold *unfold, const double *x, double enough)
{
    for (size_t k = 0; k < unfold->active_count; k++) {
        size_t tet = (size_t)unfold->active[k];
        if (volume_of(unfold, x, tet) < enough * unfold->least[tet]) {
            return 1;
        }
    }
    return 0;
}

SnStatus sn_unfold_fit(SnContext *context, SnUnfold *unfold, const double *surface, double *positions)
{
    SnStatus status = SN_OK;
    double firm = FIRM * unfold->stiffness * unfold->volume;
    if (mark_bad(unfold, positions, 0.0) == 0) { /* none is inside out */
        return SN_OK;
    }
    memcpy(unfold->home, positions, 3 * unfold->cage->vertex_count * sizeof *positions);
    for (int round = 0; round < ROUNDS && mark_bad(unfold, positions, ENOUGH) > 0; round++, firm *= FIRMER) {
        widen(unfold, RINGS + round / 2);
        for (int sweep = 0; sweep < SWEEPS && is_any_bad(unfold, positions, ENOUGH); sweep++) {
            SN_TRY(sn_context_look(context));
            turn(unfold, positions);
            for (size_t k = 0; k < unfold->near_count; k++) {
                size_t at = sweep % 2 == 0 ? k : unfold->near_count - 1 - k;
                move_vertex(unfold, surface, firm, (size_t)unfold->near[at], positions);
            }
        }
    }
cleanup:
    return status;
}
