/* Gradients are averaged in three steps, each of them linear: of a tet, G = (edges of d) (fitted edges)⁻¹; of a vertex, the mean of
   the sound tets around it, weighed by volume and clamped; of a vertex without any, that of the vertex it takes over from. */
#include "mesh/detail.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/batch3.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define CHUNK ((size_t)2048)
#define TRUSTED_VOLUME 0.05 /* a fitted tet below this fraction of its rest volume has no trustworthy gradient */
#define LARGEST_GRADIENT 4.0

SnStatus sn_detail_map_init(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, SnDetailMap *map)
{
    SnStatus status = SN_OK;
    *map = (SnDetailMap){.cage = cage, .embedding = embedding};
    SN_TRY_NEW(context, map->volumes, cage->tet_count, double);
    SN_TRY_NEW(context, map->inverses, 9 * cage->tet_count, double);
    SN_TRY_NEW(context, map->weights, cage->vertex_count, double);
    SN_TRY_NEW(context, map->limits, cage->vertex_count, double);
    SN_TRY_NEW(context, map->sources, cage->vertex_count, int32_t);
    SN_TRY_NEW(context, map->follows, cage->vertex_count, unsigned char);
    SN_TRY_NEW(context, map->gradients, 9 * cage->vertex_count, double);
cleanup:
    if (status != SN_OK) {
        sn_detail_map_clear(map);
    }
    return status;
}

void sn_detail_map_clear(SnDetailMap *map)
{
    sn_release(map->volumes);
    sn_release(map->inverses);
    sn_release(map->weights);
    sn_release(map->limits);
    sn_release(map->sources);
    sn_release(map->follows);
    sn_release(map->gradients);
    memset(map, 0, sizeof *map);
}

/* Which tets count, and how much. The corners of a tet that follows the input exactly take its zero gradient alone (weight infinite),
   so that what the artist painted to follow comes out exact, however large the motion beside it. */
static void weigh_tets(SnDetailMap *map, const double *simulated, const unsigned char *held)
{
    const SnTetMesh *cage = map->cage;
    for (size_t v = 0; v < cage->vertex_count; v++) {
        map->follows[v] = held != NULL ? held[v] : memcmp(map->fitted + 3 * v, simulated + 3 * v, 3 * sizeof *simulated) == 0;
        map->weights[v] = 0.0;
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        const int32_t *tet = cage->tets + 4 * e;
        double rest[9], from[9], *inverse = map->inverses + 9 * e;
        int still = map->follows[tet[0]] & map->follows[tet[1]] & map->follows[tet[2]] & map->follows[tet[3]];
        sn_mat3_edges(cage->positions, tet, rest);
        sn_mat3_edges(map->fitted, tet, from);
        memset(inverse, 0, 9 * sizeof *inverse);
        double volume = sn_mat3_inverse(from, inverse);
        int sound = volume > TRUSTED_VOLUME * sn_mat3_determinant(rest);
        map->volumes[e] = still ? INFINITY : (sound ? volume : 0.0);
        for (size_t i = 0; i < 4; i++) {
            map->weights[tet[i]] += map->volumes[e];
        }
    }
}

/* gradients (vertices x 9) of the motion from `from` (null: zero) to `to`: volume-weighted means over the tets that count. */
static void average_gradients(SnDetailMap *map, const double *from, const double *to)
{
    const SnTetMesh *cage = map->cage;
    memset(map->gradients, 0, 9 * cage->vertex_count * sizeof *map->gradients);
    for (size_t e = 0; e < cage->tet_count; e++) {
        const int32_t *tet = cage->tets + 4 * e;
        double start[9] = {0}, motion[9], gradient[9], volume = map->volumes[e];
        if (volume == 0.0 || isinf(volume)) {
            continue;
        }
        if (from != NULL) {
            sn_mat3_edges(from, tet, start);
        }
        sn_mat3_edges(to, tet, motion);
        for (int k = 0; k < 9; k++) {
            motion[k] -= start[k];
        }
        sn_mat3_multiply(motion, map->inverses + 9 * e, gradient);
        for (size_t i = 0; i < 4; i++) {
            double *sum = map->gradients + 9 * (size_t)tet[i];
            for (size_t k = 0; k < 9; k++) {
                sum[k] += volume * gradient[k];
            }
        }
    }
    for (size_t v = 0; v < cage->vertex_count; v++) {
        for (size_t k = 0; k < 9 && map->weights[v] > 0.0; k++) {
            map->gradients[9 * v + k] /= map->weights[v]; /* zero over infinity where the vertex follows */
        }
    }
}

/* What the clamp leaves of the gradients at hand. */
static void find_limits(SnDetailMap *map)
{
    for (size_t v = 0; v < map->cage->vertex_count; v++) {
        double norm = 0.0;
        for (size_t k = 0; k < 9; k++) {
            norm += map->gradients[9 * v + k] * map->gradients[9 * v + k];
        }
        map->limits[v] = norm > LARGEST_GRADIENT * LARGEST_GRADIENT ? LARGEST_GRADIENT / sqrt(norm) : 1.0;
    }
}

/* Vertices with no tet that counts take over the gradient of the first neighbour that has one, ring by ring. */
static void find_sources(SnDetailMap *map)
{
    const SnTetMesh *cage = map->cage;
    int changed = 0;
    for (size_t v = 0; v < cage->vertex_count; v++) {
        map->sources[v] = map->weights[v] > 0.0 ? (int32_t)v : -1;
        changed |= map->sources[v] < 0;
    }
    while (changed) {
        changed = 0;
        for (size_t e = 0; e < cage->tet_count; e++) {
            const int32_t *tet = cage->tets + 4 * e;
            for (size_t i = 0; i < 4; i++) {
                for (size_t j = 0; j < 4; j++) {
                    if (map->sources[tet[i]] < 0 && map->sources[tet[j]] >= 0) {
                        map->sources[tet[i]] = map->sources[tet[j]];
                        changed = 1;
                    }
                }
            }
        }
    }
    for (size_t v = 0; v < cage->vertex_count; v++) { /* none is sound: its own gradient is zero */
        map->sources[v] = map->sources[v] < 0 ? (int32_t)v : map->sources[v];
    }
}

/* Clamped gradients, and those that are taken over. */
static void spread_gradients(SnDetailMap *map)
{
    for (size_t v = 0; v < map->cage->vertex_count; v++) {
        for (size_t k = 0; k < 9; k++) {
            map->gradients[9 * v + k] *= map->limits[v];
        }
    }
    for (size_t v = 0; v < map->cage->vertex_count; v++) {
        if (map->sources[v] != (int32_t)v) {
            memcpy(map->gradients + 9 * v, map->gradients + 9 * (size_t)map->sources[v], 9 * sizeof *map->gradients);
        }
    }
}

/* How a surface vertex hangs on its four corners. */
typedef struct Hold {
    double held[3];     /* where the cage has it */
    double shares[4];   /* of the corners' gradients */
    double levers[4][3]; /* what they act on */
} Hold;

static inline void find_hold(const SnDetailMap *map, size_t s, Hold *hold)
{
    const int32_t *tet = map->cage->tets + 4 * (size_t)map->embedding->tets[s];
    const double *w = map->embedding->weights + 4 * s;
    double inner[3] = {0}, total = 0.0;
    memset(hold->held, 0, sizeof hold->held);
    for (size_t i = 0; i < 4; i++) {
        const double *corner = map->fitted + 3 * (size_t)tet[i];
        hold->shares[i] = fmin(fmax(w[i], 0.0), 1.0); /* a vertex bound from outside does not extrapolate gradients */
        total += hold->shares[i];
        for (size_t a = 0; a < 3; a++) {
            hold->held[a] += w[i] * corner[a];
            inner[a] += hold->shares[i] * corner[a];
        }
    }
    const double *from = map->input != NULL ? map->input + 3 * s : hold->held;
    for (size_t i = 0; i < 4; i++) {
        for (size_t a = 0; a < 3; a++) {
            double bend =
                map->interpolation == SN_INTERPOLATION_PHONG ? inner[a] / total - map->fitted[3 * (size_t)tet[i] + a] : 0.0;
            hold->levers[i][a] = from[a] - hold->held[a] + 0.5 * bend;
        }
        hold->shares[i] /= total;
    }
}

typedef struct MoveJob {
    const SnDetailMap *map;
    const double *from, *to; /* the motion of the cage; `from` null: zero */
    int placed;              /* whether the result is a place, not a motion */
    double *result;
} MoveJob;

static void move_vertices(void *data, size_t chunk, size_t begin, size_t end)
{
    const MoveJob *job = data;
    const SnDetailMap *map = job->map;
    (void)chunk;
    for (size_t s = begin; s < end; s++) {
        const int32_t *tet = map->cage->tets + 4 * (size_t)map->embedding->tets[s];
        const double *w = map->embedding->weights + 4 * s;
        double added[3] = {0};
        Hold hold;
        find_hold(map, s, &hold);
        for (size_t i = 0; i < 4; i++) {
            for (size_t a = 0; a < 3; a++) {
                size_t k = 3 * (size_t)tet[i] + a;
                added[a] += w[i] * (job->from != NULL ? job->to[k] - job->from[k] : job->to[k]);
            }
        }
        for (size_t i = 0; i < 4; i++) {
            for (size_t a = 0; a < 3; a++) {
                added[a] += hold.shares[i] * sn_dot3(map->gradients + 9 * (size_t)tet[i] + 3 * a, hold.levers[i]);
            }
        }
        const double *place = map->input != NULL ? map->input + 3 * s : hold.held;
        for (size_t a = 0; a < 3; a++) {
            job->result[3 * s + a] = job->placed ? place[a] + added[a] : added[a];
        }
    }
}

void sn_detail_map_freeze(SnDetailMap *map, const double *fitted, const double *simulated, const double *input,
                          SnInterpolation interpolation, const unsigned char *held)
{
    map->fitted = fitted;
    map->input = input;
    map->interpolation = interpolation;
    weigh_tets(map, simulated, held);
    average_gradients(map, fitted, simulated);
    find_limits(map);
    find_sources(map);
}

void sn_detail_map_place(SnDetailMap *map, const double *positions, double *surface)
{
    average_gradients(map, map->fitted, positions);
    find_limits(map);
    spread_gradients(map);
    sn_parallel_for(map->embedding->vertex_count, CHUNK, move_vertices, &(MoveJob){map, map->fitted, positions, 1, surface});
}

void sn_detail_map_apply(SnDetailMap *map, const double *offset, double *moved)
{
    MoveJob job = {.map = map, .to = offset, .result = moved};
    average_gradients(map, NULL, offset);
    spread_gradients(map);
    sn_parallel_for(map->embedding->vertex_count, CHUNK, move_vertices, &job);
}

/* The steps of `apply` backwards: from the surface to gradients of vertices, to those of tets, to edges. */
void sn_detail_map_transpose(SnDetailMap *map, const double *forces, double *pulled)
{
    const SnTetMesh *cage = map->cage;
    memset(pulled, 0, 3 * cage->vertex_count * sizeof *pulled);
    memset(map->gradients, 0, 9 * cage->vertex_count * sizeof *map->gradients);
    for (size_t s = 0; s < map->embedding->vertex_count; s++) {
        const int32_t *tet = cage->tets + 4 * (size_t)map->embedding->tets[s];
        const double *w = map->embedding->weights + 4 * s, *force = forces + 3 * s;
        Hold hold;
        find_hold(map, s, &hold);
        for (size_t i = 0; i < 4; i++) {
            double *gradient = map->gradients + 9 * (size_t)map->sources[tet[i]];
            for (size_t a = 0; a < 3; a++) {
                pulled[3 * (size_t)tet[i] + a] += w[i] * force[a];
                for (size_t b = 0; b < 3; b++) {
                    gradient[3 * a + b] += hold.shares[i] * force[a] * hold.levers[i][b];
                }
            }
        }
    }
    for (size_t v = 0; v < cage->vertex_count; v++) {
        double scale = map->weights[v] > 0.0 ? map->limits[v] / map->weights[v] : 0.0;
        for (size_t k = 0; k < 9; k++) {
            map->gradients[9 * v + k] *= scale;
        }
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        const int32_t *tet = cage->tets + 4 * e;
        const double *inverse = map->inverses + 9 * e;
        double sum[9] = {0}, volume = map->volumes[e];
        if (volume == 0.0 || isinf(volume)) {
            continue;
        }
        for (size_t i = 0; i < 4; i++) {
            for (size_t k = 0; k < 9; k++) {
                sum[k] += volume * map->gradients[9 * (size_t)tet[i] + k];
            }
        }
        for (size_t a = 0; a < 3; a++) {
            for (size_t edge = 0; edge < 3; edge++) {
                double pull = sn_dot3(sum + 3 * a, inverse + 3 * edge);
                pulled[3 * (size_t)tet[edge + 1] + a] += pull;
                pulled[3 * (size_t)tet[0] + a] -= pull;
            }
        }
    }
}

SnStatus sn_detail_apply(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *fitted,
                         const double *simulated, const double *input, SnInterpolation interpolation, double *result)
{
    SnStatus status = SN_OK;
    SnDetailMap map = {0};
    if (input == NULL && interpolation == SN_INTERPOLATION_LINEAR) {
        sn_embedding_apply(embedding, cage, simulated, result);
        return SN_OK;
    }
    SN_TRY(sn_detail_map_init(context, cage, embedding, &map));
    sn_detail_map_freeze(&map, fitted, simulated, input, interpolation, NULL);
    spread_gradients(&map);
    sn_parallel_for(embedding->vertex_count, CHUNK, move_vertices, &(MoveJob){&map, fitted, simulated, 1, result});
cleanup:
    sn_detail_map_clear(&map);
    return status;
}
