#include "mesh/detail.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/batch3.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define CHUNK ((size_t)2048)
#define SOUND_VOLUME 0.05  /* a fitted tet below this fraction of its rest volume has no trustworthy gradient */
#define LARGEST_GRADIENT 4.0

/* gradients (vertices x 9): volume-weighted mean over the sound tets around each vertex; weights tell where there was one.
   The corners of a tet that follows the input exactly take its zero gradient alone (weight infinite), so that what the artist
   painted to follow comes out exact, however large the motion beside it. */
SN_HOT static void average_gradients(const SnTetMesh *cage, const double *fitted, const double *simulated, unsigned char *follows,
                              double *gradients, double *weights)
{
    for (size_t v = 0; v < cage->vertex_count; v++) {
        follows[v] = memcmp(fitted + 3 * v, simulated + 3 * v, 3 * sizeof *fitted) == 0;
    }
    for (size_t e = 0; e < cage->tet_count; e++) {
        const int32_t *tet = cage->tets + 4 * e;
        double rest[9], from[9], to[9], inverse[9] = {0}, gradient[9];
        int still = follows[tet[0]] & follows[tet[1]] & follows[tet[2]] & follows[tet[3]];
        sn_mat3_edges(cage->positions, tet, rest);
        sn_mat3_edges(fitted, tet, from);
        sn_mat3_edges(simulated, tet, to);
        double volume = sn_mat3_inverse(from, inverse);
        if (still) {
            volume = INFINITY;
        } else if (!(volume > SOUND_VOLUME * sn_mat3_determinant(rest))) {
            continue;
        }
        for (int k = 0; k < 9; k++) {
            to[k] -= from[k];
        }
        sn_mat3_multiply(to, inverse, gradient);
        for (size_t i = 0; i < 4; i++) {
            size_t v = (size_t)tet[i];
            weights[v] += volume;
            for (size_t k = 0; k < 9 && !still; k++) {
                gradients[9 * v + k] += volume * gradient[k];
            }
        }
    }
    for (size_t v = 0; v < cage->vertex_count; v++) {
        double norm = 0.0;
        for (size_t k = 0; k < 9 && weights[v] > 0.0; k++) {
            gradients[9 * v + k] /= weights[v]; /* zero over infinity where the vertex follows */
            norm += gradients[9 * v + k] * gradients[9 * v + k];
        }
        double scale = norm > LARGEST_GRADIENT * LARGEST_GRADIENT ? LARGEST_GRADIENT / sqrt(norm) : 1.0;
        for (size_t k = 0; k < 9; k++) {
            gradients[9 * v + k] *= scale;
        }
    }
}

/* Vertices with no sound tet take over the gradient of the first neighbour that has one, ring by ring. */
static void spread_gradients(const SnTetMesh *cage, double *gradients, double *weights)
{
    int changed = 0;
    for (size_t v = 0; v < cage->vertex_count; v++) {
        changed |= weights[v] == 0.0;
    }
    while (changed) {
        changed = 0;
        for (size_t e = 0; e < cage->tet_count; e++) {
            const int32_t *tet = cage->tets + 4 * e;
            for (size_t i = 0; i < 4; i++) {
                for (size_t j = 0; j < 4; j++) {
                    size_t empty = (size_t)tet[i], full = (size_t)tet[j];
                    if (weights[empty] == 0.0 && weights[full] > 0.0) {
                        memcpy(gradients + 9 * empty, gradients + 9 * full, 9 * sizeof *gradients);
                        weights[empty] = weights[full];
                        changed = 1;
                    }
                }
            }
        }
    }
}

/* What one surface vertex adds to its place `input`; null: to where the cage holds it. */
static inline void move_vertex(const int32_t tet[4], const double w[4], const double *fitted, const double *simulated,
                        const double *gradients, SnInterpolation interpolation, const double *input, double *result)
{
    double held[3] = {0}, added[3] = {0}, inner[3] = {0}, clamped[4], total = 0.0;
    for (size_t i = 0; i < 4; i++) {
        size_t v = 3 * (size_t)tet[i];
        clamped[i] = fmin(fmax(w[i], 0.0), 1.0); /* a vertex bound from outside does not extrapolate gradients */
        total += clamped[i];
        for (size_t a = 0; a < 3; a++) {
            held[a] += w[i] * fitted[v + a];
            added[a] += w[i] * (simulated[v + a] - fitted[v + a]);
            inner[a] += clamped[i] * fitted[v + a];
        }
    }
    const double *from = input != NULL ? input : held;
    for (size_t i = 0; i < 4; i++) {
        double lever[3];
        for (size_t a = 0; a < 3; a++) {
            double bend = interpolation == SN_INTERPOLATION_PHONG ? inner[a] / total - fitted[3 * (size_t)tet[i] + a] : 0.0;
            lever[a] = from[a] - held[a] + 0.5 * bend;
        }
        for (size_t a = 0; a < 3; a++) {
            added[a] += clamped[i] / total * sn_dot3(gradients + 9 * (size_t)tet[i] + 3 * a, lever);
        }
    }
    for (size_t a = 0; a < 3; a++) {
        result[a] = from[a] + added[a];
    }
}

typedef struct DetailJob {
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    const double *fitted, *simulated, *gradients, *input;
    SnInterpolation interpolation;
    double *result;
} DetailJob;

SN_HOT static void move_vertices(void *data, size_t chunk, size_t begin, size_t end)
{
    const DetailJob *job = data;
    (void)chunk;
    for (size_t s = begin; s < end; s++) {
        move_vertex(job->cage->tets + 4 * (size_t)job->embedding->tets[s], job->embedding->weights + 4 * s, job->fitted, job->simulated,
                    job->gradients, job->interpolation, job->input != NULL ? job->input + 3 * s : NULL, job->result + 3 * s);
    }
}

SnStatus sn_detail_apply(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *fitted,
                         const double *simulated, const double *input, SnInterpolation interpolation, double *result)
{
    SnStatus status = SN_OK;
    double *gradients = NULL, *weights = NULL;
    unsigned char *follows = NULL;
    if (input == NULL && interpolation == SN_INTERPOLATION_LINEAR) {
        sn_embedding_apply(embedding, cage, simulated, result);
        return SN_OK;
    }
    SN_TRY_NEW(context, gradients, 9 * cage->vertex_count, double);
    SN_TRY_NEW(context, weights, cage->vertex_count, double);
    SN_TRY_NEW(context, follows, cage->vertex_count, unsigned char);
    average_gradients(cage, fitted, simulated, follows, gradients, weights);
    spread_gradients(cage, gradients, weights);
    sn_parallel_for(embedding->vertex_count, CHUNK, move_vertices,
                    &(DetailJob){cage, embedding, fitted, simulated, gradients, input, interpolation, result});
cleanup:
    sn_release(gradients);
    sn_release(weights);
    sn_release(follows);
    return status;
}
