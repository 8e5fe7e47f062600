#include "energy/tet_elements.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "energy/tet_strain.h"

#include <math.h>
#include <string.h>

SnStatus sn_tet_elements_init(SnContext *context, const SnTetMesh *mesh, const SnDensity *energy, SnTetElements *elements)
{
    SnStatus status = SN_OK;
    size_t count = mesh->tet_count;
    memset(elements, 0, sizeof *elements);
    elements->count = count;
    elements->tets = mesh->tets;
    elements->energy = energy;
    SN_TRY_NEW(context, elements->inverse_rest, 9 * count, double);
    SN_TRY_NEW(context, elements->volume, count, double);
    SN_TRY_NEW(context, elements->mu, count, double);
    SN_TRY_NEW(context, elements->lambda, count, double);
    for (size_t e = 0; e < count; e++) {
        double edges[9], inverse[9] = {0};
        sn_mat3_edges(mesh->positions, mesh->tets + 4 * e, edges);
        double determinant = sn_mat3_inverse(edges, inverse);
        if (!(determinant > 0.0)) {
            status = sn_context_fail(context, SN_BAD_INPUT, "Tet %zu of the cage has no volume: build the cage again.", e);
            goto cleanup;
        }
        elements->volume[e] = determinant / 6.0;
        for (int k = 0; k < 9; k++) {
            elements->inverse_rest[(size_t)k * count + e] = inverse[k];
        }
    }
cleanup:
    if (status != SN_OK) {
        sn_tet_elements_clear(elements);
    }
    return status;
}

SnStatus sn_tet_elements_init_moving(SnContext *context, const SnTetMesh *mesh, const unsigned char *fixed, const SnDensity *energy,
                                     SnTetElements *elements)
{
    SnStatus status = SN_OK;
    SnTetMesh part = {mesh->vertex_count, 0, mesh->positions, NULL};
    int32_t *sources = NULL;
    memset(elements, 0, sizeof *elements);
    SN_TRY_NEW(context, part.tets, 4 * mesh->tet_count, int32_t);
    SN_TRY_NEW(context, sources, mesh->tet_count, int32_t);
    for (size_t e = 0; e < mesh->tet_count; e++) {
        const int32_t *tet = mesh->tets + 4 * e;
        if (fixed == NULL || !(fixed[tet[0]] && fixed[tet[1]] && fixed[tet[2]] && fixed[tet[3]])) {
            memcpy(part.tets + 4 * part.tet_count, tet, 4 * sizeof *tet);
            sources[part.tet_count++] = (int32_t)e;
        }
    }
    SN_TRY(sn_tet_elements_init(context, &part, energy, elements));
    elements->moving = part.tets;
    elements->sources = sources;
    return SN_OK;
cleanup:
    sn_release(part.tets);
    sn_release(sources);
    return status;
}

void sn_tet_elements_clear(SnTetElements *elements)
{
    sn_release(elements->moving);
    sn_release(elements->sources);
    sn_release(elements->inverse_rest);
    sn_release(elements->volume);
    sn_release(elements->mu);
    sn_release(elements->lambda);
    memset(elements, 0, sizeof *elements);
}

void sn_tet_elements_set_material(SnTetElements *elements, size_t tet, double young, double poisson)
{
    elements->mu[tet] = young / (2.0 * (1.0 + poisson));
    elements->lambda[tet] = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
}

void sn_tet_elements_set_materials(SnTetElements *elements, const double *young, double poisson)
{
    for (size_t e = 0; e < elements->count; e++) {
        sn_tet_elements_set_material(elements, e, young[elements->sources != NULL ? (size_t)elements->sources[e] : e], poisson);
    }
}

typedef struct GradientJob {
    const SnTetElements *elements;
    const double *rest, *positions;
    double *out;
    int rotations_alone;
} GradientJob;

static void compute_gradients(void *data, size_t chunk, size_t begin, size_t end)
{
    GradientJob *job = data;
    (void)chunk;
    for (size_t start = begin; start < end; start += SN_LANES) {
        SnTetStrain batch;
        SnLanes rotation[9], stretch[6];
        sn_tet_strain_load(job->elements, job->rest, job->positions, start, end, &batch);
        if (job->rotations_alone) {
            sn_batch3_polar((const SnLanes *)batch.f, rotation, stretch);
        }
        for (size_t k = 0; k < 9; k++) {
            memcpy(job->out + k * job->elements->count + start, job->rotations_alone ? rotation[k] : batch.f[k],
                   (size_t)batch.lanes.used * sizeof(double));
        }
    }
}

void sn_tet_elements_gradients(const SnTetElements *elements, const double *rest, const double *positions, double *gradients)
{
    GradientJob job = {elements, rest, positions, gradients, 0};
    sn_parallel_for(elements->count, SN_TET_CHUNK, compute_gradients, &job);
}

void sn_tet_elements_rotations(const SnTetElements *elements, const double *rest, const double *positions, double *rotations)
{
    GradientJob job = {elements, rest, positions, rotations, 1};
    sn_parallel_for(elements->count, SN_TET_CHUNK, compute_gradients, &job);
}

static void compute_strains(void *data, size_t chunk, size_t begin, size_t end)
{
    GradientJob *job = data;
    (void)chunk;
    for (size_t start = begin; start < end; start += SN_LANES) {
        SnTetStrain batch;
        SnLanes rotation[9], s[6];
        sn_tet_strain_load(job->elements, job->rest, job->positions, start, end, &batch);
        sn_batch3_polar((const SnLanes *)batch.f, rotation, s);
        for (int i = 0; i < batch.lanes.used; i++) {
            double x = s[0][i] - 1.0, y = s[1][i] - 1.0, z = s[2][i] - 1.0;
            double shear = s[3][i] * s[3][i] + s[4][i] * s[4][i] + s[5][i] * s[5][i];
            job->out[batch.lanes.tet[i]] = sqrt(x * x + y * y + z * z + 2.0 * shear);
        }
    }
}

void sn_tet_elements_strains(const SnTetElements *elements, const double *pose, double *strains)
{
    GradientJob job = {elements, elements->inverse_rest, pose, strains, 0};
    sn_parallel_for(elements->count, SN_TET_CHUNK, compute_strains, &job);
}

size_t sn_tet_elements_inverted(const SnTetElements *elements, const double *positions, double *smallest)
{
    size_t inverted = 0;
    *smallest = INFINITY;
    for (size_t e = 0; e < elements->count; e++) {
        double edges[9];
        sn_mat3_edges(positions, elements->tets + 4 * e, edges);
        double determinant = sn_mat3_determinant(edges) / (6.0 * elements->volume[e]);
        inverted += determinant < 0.0;
        *smallest = fmin(*smallest, determinant);
    }
    return inverted;
}
