#include "dynamics/fit.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define CONTINUATION_LEVELS 4
#define CONTINUATION_FACTOR 10.0
#define GAIN 1e-3 /* times the tolerance: a smaller part of what was gained is not worth a round */

struct SnFit {
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    SnFitSettings settings;
    SnTetElements elements;
    SnAssembly assembly;
    SnNewton *newton;
    double *areas;    /* surface vertices */
    double *matrix;   /* Cᵀ A C on the pattern */
    double *zeros;    /* cage vertices: no diagonal term */
    double *loads;    /* cage vertices x 3 */
    double *centre;   /* cage vertices x 3 */
    double *guess;    /* cage vertices x 3 */
    double *surface;  /* surface vertices x 3: C u */
};

SnFitSettings sn_fit_settings_default(void)
{
    return (SnFitSettings){.smoothing = 2e-3, .size = 1.0, .poisson = 0.45, .energy = &sn_energy_neo_hookean, .max_rounds = 30, .tolerance = 2e-6};
}

/* Cᵀ A C: each surface vertex couples the four corners of its tet, the same in x, y and z. */
static void assemble_data_matrix(SnFit *fit)
{
    const SnBlockPattern *pattern = &fit->assembly.pattern;
    for (size_t s = 0; s < fit->embedding->vertex_count; s++) {
        const int32_t *tet = fit->cage->tets + 4 * (size_t)fit->embedding->tets[s];
        const double *weights = fit->embedding->weights + 4 * s;
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                if (tet[i] < tet[j]) {
                    continue;
                }
                int32_t block = sn_block_pattern_find(pattern, tet[i], tet[j]);
                for (int a = 0; a < 3; a++) {
                    fit->matrix[sn_block_pattern_value(pattern, block, a, a)] += fit->areas[s] * weights[i] * weights[j];
                }
            }
        }
    }
}

SnStatus sn_fit_create(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                       const SnFitSettings *settings, SnFit **out)
{
    SnStatus status = SN_OK;
    SnFit *fit = NULL;
    unsigned char *fixed = NULL;
    *out = NULL;
    SN_TRY_NEW(context, fit, 1, SnFit);
    fit->cage = cage;
    fit->embedding = embedding;
    fit->settings = *settings;
    SN_TRY(sn_tet_elements_init(context, cage, settings->energy, &fit->elements));
    for (size_t e = 0; e < cage->tet_count; e++) {
        sn_tet_elements_set_material(&fit->elements, e, 1.0, settings->poisson);
    }
    SN_TRY_NEW(context, fixed, cage->vertex_count, unsigned char);
    SN_TRY(sn_assembly_init(context, cage->vertex_count, 1, &(SnStencils){cage->tet_count, 4, cage->tets, 0}, fixed, &fit->assembly));
    SnTerm term = sn_tet_elements_term(&fit->elements);
    SN_TRY(sn_newton_create(context, 1, &term, &fit->assembly, &fit->newton));
    SN_TRY_NEW(context, fit->areas, embedding->vertex_count, double);
    SN_TRY_NEW(context, fit->matrix, fit->assembly.pattern.value_count, double);
    SN_TRY_NEW(context, fit->zeros, cage->vertex_count, double);
    SN_TRY_NEW(context, fit->loads, 3 * cage->vertex_count, double);
    SN_TRY_NEW(context, fit->centre, 3 * cage->vertex_count, double);
    SN_TRY_NEW(context, fit->guess, 3 * cage->vertex_count, double);
    SN_TRY_NEW(context, fit->surface, 3 * embedding->vertex_count, double);
    memcpy(fit->areas, areas, embedding->vertex_count * sizeof *areas);
    assemble_data_matrix(fit);
    *out = fit;
cleanup:
    sn_release(fixed);
    if (status != SN_OK) {
        sn_fit_destroy(fit);
    }
    return status;
}

SnStatus sn_fit_twin(SnContext *context, const SnFit *fit, SnFit **twin)
{
    return sn_fit_create(context, fit->cage, fit->embedding, fit->areas, &fit->settings, twin);
}

void sn_fit_destroy(SnFit *fit)
{
    if (fit == NULL) {
        return;
    }
    sn_newton_destroy(fit->newton);
    sn_assembly_clear(&fit->assembly);
    sn_tet_elements_clear(&fit->elements);
    sn_release(fit->areas);
    sn_release(fit->matrix);
    sn_release(fit->zeros);
    sn_release(fit->loads);
    sn_release(fit->centre);
    sn_release(fit->guess);
    sn_release(fit->surface);
    sn_release(fit);
}

/* Area-weighted mean of a surface. */
static void surface_centre(const SnFit *fit, const double *surface, double centre[3])
{
    double total = 0.0;
    centre[0] = centre[1] = centre[2] = 0.0;
    for (size_t s = 0; s < fit->embedding->vertex_count; s++) {
        total += fit->areas[s];
        for (size_t a = 0; a < 3; a++) {
            centre[a] += fit->areas[s] * surface[3 * s + a];
        }
    }
    for (int a = 0; a < 3; a++) {
        centre[a] = total > 0.0 ? centre[a] / total : 0.0;
    }
}

/* Moves the cage rigidly so that its surface lies as close as it can to the frame: what a walk or a cut adds costs no rounds. */
static void align_rigidly(SnFit *fit, const double *surface, double *positions)
{
    double from[3], to[3];
    SnLanes covariance[9] = {{0}}, u[9], sigma[3], v[9];
    sn_embedding_apply(fit->embedding, fit->cage, positions, fit->surface);
    surface_centre(fit, fit->surface, from);
    surface_centre(fit, surface, to);
    for (size_t s = 0; s < fit->embedding->vertex_count; s++) {
        for (int k = 0; k < 9; k++) {
            covariance[k][0] += fit->areas[s] * (surface[3 * s + (size_t)(k / 3)] - to[k / 3]) *
                                (fit->surface[3 * s + (size_t)(k % 3)] - from[k % 3]);
        }
    }
    sn_batch3_svd((const SnLanes *)covariance, u, sigma, v);
    /* rotations U and V leave the sign in sigma, so U Vᵀ is the best proper rotation; a line or a point leaves it undetermined */
    int determined = sigma[1][0] > 1e-12 * sigma[0][0];
    double rotation[9];
    for (int k = 0; k < 9; k++) {
        int i = k / 3, j = k % 3;
        double product = u[3 * i][0] * v[3 * j][0] + u[3 * i + 1][0] * v[3 * j + 1][0] + u[3 * i + 2][0] * v[3 * j + 2][0];
        rotation[k] = determined ? product : (i == j ? 1.0 : 0.0);
    }
    for (size_t n = 0; n < fit->cage->vertex_count; n++) {
        double relative[3];
        for (size_t a = 0; a < 3; a++) {
            relative[a] = positions[3 * n + a] - from[a];
        }
        for (int a = 0; a < 3; a++) {
            positions[3 * n + (size_t)a] = to[a] + sn_dot3(rotation + 3 * a, relative);
        }
    }
}

/* Of the cage's surface from the frame, weighed by area. */
static double squared_distance(SnFit *fit, const double *surface, const double *positions)
{
    double sum = 0.0;
    sn_embedding_apply(fit->embedding, fit->cage, positions, fit->surface);
    for (size_t k = 0; k < 3 * fit->embedding->vertex_count; k++) {
        double difference = fit->surface[k] - surface[k];
        sum += fit->areas[k / 3] * difference * difference;
    }
    return sum;
}

/* Minimises eq. (1) with smoothing length k_young (metres) from `positions`. The data term is expanded around the start, so that
   its value keeps its digits far from the origin. */
static SnStatus minimise(SnContext *context, SnFit *fit, const double *surface, double k_young, int max_rounds, double *positions,
                         SnNewtonReport *report)
{
    size_t bytes = 3 * fit->cage->vertex_count * sizeof *positions;
    sn_newton_forget(fit->newton); /* another smoothing, or another frame, which must not depend on the one before */
    memcpy(fit->centre, positions, bytes);
    memset(fit->loads, 0, bytes);
    sn_embedding_apply(fit->embedding, fit->cage, positions, fit->surface);
    for (size_t s = 0; s < fit->embedding->vertex_count; s++) {
        const int32_t *tet = fit->cage->tets + 4 * (size_t)fit->embedding->tets[s];
        for (size_t i = 0; i < 4; i++) {
            double factor = fit->areas[s] * fit->embedding->weights[4 * s + i];
            for (size_t a = 0; a < 3; a++) {
                fit->loads[3 * (size_t)tet[i] + a] += factor * (surface[3 * s + a] - fit->surface[3 * s + a]);
            }
        }
    }
    SnObjective objective = {
        .scale = k_young,
        .diagonal = fit->zeros,
        .targets = fit->centre,
        .loads = fit->loads,
        .matrix = fit->matrix,
        .centre = fit->centre,
    };
    /* a few tets that the frame folds over go on sliding long after the surface has arrived: not worth waiting for */
    SnNewtonSettings newton = {
        .max_rounds = max_rounds,
        .step_tolerance = fit->settings.tolerance * fit->settings.size,
        .gain_tolerance = GAIN * fit->settings.tolerance,
    };
    return sn_newton_minimise(context, fit->newton, &objective, &newton, positions, report);
}

/* Takes the guess that goes on as the last two frames did, where it comes closer to the frame than the last one alone. Aligns both. */
static void choose_guess(SnFit *fit, const double *surface, int ahead, const double *before, double *positions)
{
    for (size_t k = 0; before != NULL && k < 3 * fit->cage->vertex_count; k++) {
        fit->guess[k] = positions[k] + ahead * (positions[k] - before[k]);
    }
    align_rigidly(fit, surface, positions);
    if (before != NULL) {
        align_rigidly(fit, surface, fit->guess);
        if (squared_distance(fit, surface, fit->guess) < squared_distance(fit, surface, positions)) {
            memcpy(positions, fit->guess, 3 * fit->cage->vertex_count * sizeof *positions);
        }
    }
}

static void measure(SnFit *fit, const double *surface, const double *positions, SnFitReport *report)
{
    double sum = 0.0, total = 0.0, largest = 0.0, smallest;
    sn_embedding_apply(fit->embedding, fit->cage, positions, fit->surface);
    for (size_t s = 0; s < fit->embedding->vertex_count; s++) {
        double difference[3];
        for (size_t a = 0; a < 3; a++) {
            difference[a] = fit->surface[3 * s + a] - surface[3 * s + a];
        }
        double squared = sn_dot3(difference, difference);
        sum += fit->areas[s] * squared;
        total += fit->areas[s];
        largest = fit->areas[s] > 0.0 ? fmax(largest, squared) : largest; /* what carries no input is not measured */
    }
    report->rms = total > 0.0 ? sqrt(sum / total) : 0.0;
    report->max = sqrt(largest);
    report->inverted = sn_tet_elements_inverted(&fit->elements, positions, &smallest);
}

SnStatus sn_fit_frame(SnContext *context, SnFit *fit, const double *surface, int ahead, const double *before, double *positions,
                      SnFitReport *report)
{
    SnStatus status = SN_OK;
    SnNewtonReport newton = {0};
    int first = ahead == 0;
    double k_young = fit->settings.smoothing * fit->settings.size;
    if (first) {
        memcpy(positions, fit->cage->positions, 3 * fit->cage->vertex_count * sizeof *positions);
    }
    sn_context_stage(context, "Fitting the cage", first ? CONTINUATION_LEVELS + 1 : 1);
    choose_guess(fit, surface, ahead, first ? NULL : before, positions);
    if (first) {
        double level = k_young * pow(CONTINUATION_FACTOR, CONTINUATION_LEVELS);
        for (int k = 0; k < CONTINUATION_LEVELS; k++) {
            SN_TRY(sn_context_advance(context, k));
            SN_TRY(minimise(context, fit, surface, level, fit->settings.max_rounds, positions, &newton));
            level /= CONTINUATION_FACTOR;
        }
    }
    SN_TRY(sn_context_advance(context, first ? CONTINUATION_LEVELS : 0));
    SN_TRY(minimise(context, fit, surface, k_young, first ? 3 * fit->settings.max_rounds : fit->settings.max_rounds, positions,
                    &newton));
    report->rounds = newton.rounds;
    measure(fit, surface, positions, report);
cleanup:
    return status;
}

typedef struct PairJob {
    SnContext contexts[2];
    SnStatus statuses[2];
    SnFit *const *fits;
    const double *const *surfaces;
    const double *before;
    double *const *positions;
    SnFitReport *reports;
} PairJob;

static void fit_one_of_pair(void *data, size_t chunk, size_t begin, size_t end)
{
    PairJob *job = data;
    (void)begin, (void)end;
    job->statuses[chunk] = sn_fit_frame(job->contexts + chunk, job->fits[chunk], job->surfaces[chunk], (int)chunk + 1, job->before,
                                        job->positions[chunk], job->reports + chunk);
}

SnStatus sn_fit_pair(SnContext *context, SnFit *const fits[2], const double *const surfaces[2], const double *before,
                     double *const positions[2], SnFitReport reports[2])
{
    PairJob job = {.fits = fits, .surfaces = surfaces, .before = before, .positions = positions, .reports = reports};
    sn_context_stage(context, "Fitting the cage to two frames", 1);
    sn_context_init_child(job.contexts, context);
    sn_context_init_child(job.contexts + 1, context);
    sn_parallel_for(2, 1, fit_one_of_pair, &job);
    for (int k = 0; k < 2; k++) {
        if (job.statuses[k] != SN_OK) {
            return sn_context_fail(context, job.statuses[k], "%s", job.contexts[k].message);
        }
    }
    return SN_OK;
}
