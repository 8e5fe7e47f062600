/* Quasi-Newton (Liu, Bouaziz, Kavan 2017): with the constant matrix H = CᵀAC + k L, which is what the Hessian would be if nothing turned,
   a step is H⁻¹ residual, corrected by what the steps before it have shown (L-BFGS). A step of H alone is the "global" one of
   as-rigid-as-possible, which always descends.

     guess (turned rigidly) -> residual -> H⁻¹ and secants -> longest step that lowers E -> learn -> ... until moves are small on average

   A few tets that the frame folds over go on sliding long after the surface has arrived. The root mean square of a round's moves does not
   feel them, and nobody sees them: they are left on their way, and the next frame goes on from there. */
#include "dynamics/fit.h"

#include "base/memory.h"
#include "dynamics/laplacian.h"
#include "dynamics/lbfgs.h"
#include "dynamics/unfold.h"
#include "math/linear_solver.h"
#include "math/mat3.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

#define YOUNG 0.7          /* shares of k·Young: then it smooths as much as flesh that keeps its volume does with all of it */
#define ROUNDS_OF_FIRST 20 /* times as many: it comes from the rest shape */
#define SHORTEST 1e-3      /* part of a step that is still tried */
#define SUFFICIENT 1e-4    /* part of the decrease that the slope promises */
#define UNFELT 1e-12       /* of the diagonal: holds what carries no surface, so that the matrix is definite */
#define NO_NUMBERS "A frame has no numbers that a cage could be fitted to: check the input for huge coordinates."

struct SnFit {
    const SnTetMesh *cage;
    const SnEmbedding *embedding;
    SnFitSettings settings;
    SnTetElements elements;
    SnAssembly assembly;    /* nothing is fixed: unknowns are cage vertices */
    SnLinearSolver *solver; /* holds the factor of H */
    SnLbfgs secants;
    SnUnfold *unfold;       /* null: what folds stays folded */
    double *areas;         /* surface vertices */
    double *data;          /* CᵀAC: blocks of the pattern, one scalar each */
    double *partial;       /* energies of chunks */
    double *tet_gradients; /* tets x 12 */
    double *surface;       /* surface vertices x 3: C x */
    double *start, *loads; /* cage vertices x 3: where a search starts, and CᵀA times the distance of the surface from there */
    double *guess, *trial, *step, *residual, *trial_residual; /* cage vertices x 3 */
    double *offset, *product;                                 /* cage vertices x 3: x - start, and CᵀAC times that */
};

SnFitSettings sn_fit_settings_default(void)
{
    return (SnFitSettings){.smoothing = 2e-3, .size = 1.0, .max_rounds = 10, .tolerance = 8e-6};
}

/* Cᵀ A C: each surface vertex couples the four corners of its tet. */
static void add_data(SnFit *fit)
{
    const SnBlockPattern *pattern = &fit->assembly.pattern;
    for (size_t s = 0; s < fit->embedding->vertex_count; s++) {
        const int32_t *tet = fit->cage->tets + 4 * (size_t)fit->embedding->tets[s];
        const double *weights = fit->embedding->weights + 4 * s;
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                if (tet[i] >= tet[j]) {
                    fit->data[sn_block_pattern_find(pattern, tet[i], tet[j])] += fit->areas[s] * weights[i] * weights[j];
                }
            }
        }
    }
}

/* k·Young, metres. */
static double stiffness(const SnFit *fit)
{
    return fit->settings.smoothing * fit->settings.size;
}

static SnStatus factorize(SnContext *context, SnFit *fit)
{
    SnStatus status = SN_OK;
    const SnBlockPattern *pattern = &fit->assembly.pattern;
    double *values = NULL;
    SN_TRY_NEW(context, values, pattern->block_count, double);
    memcpy(values, fit->data, pattern->block_count * sizeof *values);
    sn_laplacian_add(&fit->elements, &fit->assembly, stiffness(fit) * YOUNG, values);
    for (size_t k = 0; k < pattern->size; k++) {
        values[pattern->column_start[k]] *= 1.0 + UNFELT;
    }
    SN_TRY(sn_linear_solver_create_scalar(context, pattern, &fit->solver));
    SN_TRY(sn_linear_solver_factorize(context, fit->solver, values));
    SN_TRY(sn_linear_solver_solve(context, fit->solver, fit->step, fit->step)); /* it makes its room now */
cleanup:
    sn_release(values);
    return status;
}

SnStatus sn_fit_create(SnContext *context, const SnTetMesh *cage, const SnEmbedding *embedding, const double *areas,
                       const SnFitSettings *settings, SnFit **out)
{
    SnStatus status = SN_OK;
    SnFit *fit = NULL;
    unsigned char *fixed = NULL;
    size_t count = 3 * cage->vertex_count;
    *out = NULL;
    SN_TRY_NEW(context, fit, 1, SnFit);
    fit->cage = cage;
    fit->embedding = embedding;
    fit->settings = *settings;
    SN_TRY(sn_tet_elements_init(context, cage, &sn_density_as_rigid, &fit->elements));
    for (size_t e = 0; e < cage->tet_count; e++) {
        sn_tet_elements_set_material(&fit->elements, e, YOUNG, 0.0);
    }
    SN_TRY_NEW(context, fixed, cage->vertex_count, unsigned char);
    SN_TRY(sn_assembly_init(context, cage->vertex_count, 1, &(SnStencils){cage->tet_count, 4, cage->tets, 0}, fixed, &fit->assembly));
    SN_TRY(sn_lbfgs_init(context, count, &fit->secants));
    SN_TRY_NEW(context, fit->areas, embedding->vertex_count, double);
    SN_TRY_NEW(context, fit->data, fit->assembly.pattern.block_count, double);
    SN_TRY_NEW(context, fit->partial, sn_tet_elements_partial_count(&fit->elements), double);
    SN_TRY_NEW(context, fit->tet_gradients, 12 * cage->tet_count, double);
    SN_TRY_NEW(context, fit->surface, 3 * embedding->vertex_count, double);
    double **vectors[] = {&fit->start, &fit->loads,    &fit->guess,          &fit->trial,  &fit->step,
                          &fit->residual, &fit->trial_residual, &fit->offset, &fit->product};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
        SN_TRY_NEW(context, *vectors[k], count, double);
    }
    memcpy(fit->areas, areas, embedding->vertex_count * sizeof *areas);
    add_data(fit);
    SN_TRY(factorize(context, fit));
    if (settings->unfold) {
        SN_TRY(sn_unfold_create(context, cage, &fit->elements, embedding, fit->areas, stiffness(fit), &fit->unfold));
    }
    *out = fit;
cleanup:
    sn_release(fixed);
    if (status != SN_OK) {
        sn_fit_destroy(fit);
    }
    return status;
}

void sn_fit_destroy(SnFit *fit)
{
    if (fit == NULL) {
        return;
    }
    sn_linear_solver_destroy(fit->solver);
    sn_lbfgs_clear(&fit->secants);
    sn_unfold_destroy(fit->unfold);
    sn_assembly_clear(&fit->assembly);
    sn_tet_elements_clear(&fit->elements);
    double *arrays[] = {fit->areas, fit->data,  fit->partial, fit->tet_gradients, fit->surface, fit->start,   fit->loads,
                        fit->guess, fit->trial, fit->step,    fit->residual,      fit->trial_residual, fit->offset, fit->product};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
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

/* The data term is expanded around the start, so that its value keeps its digits far from the origin. */
static void begin_search(SnFit *fit, const double *surface, const double *positions)
{
    size_t bytes = 3 * fit->cage->vertex_count * sizeof *positions;
    sn_lbfgs_forget(&fit->secants); /* a frame must not depend on the ones before but by its guess */
    memcpy(fit->start, positions, bytes);
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
}

/* E of eq. (1), but for what no cage changes; residual = -dE/dx. */
static double evaluate(SnFit *fit, const double *x, double *residual)
{
    size_t count = 3 * fit->cage->vertex_count;
    double k_young = stiffness(fit);
    double energy = sn_tet_elements_energy_gradient(&fit->elements, fit->elements.inverse_rest, x, fit->partial, fit->tet_gradients);
    sn_assembly_gather_gradient(&fit->assembly, fit->tet_gradients, residual);
    for (size_t k = 0; k < count; k++) {
        fit->offset[k] = x[k] - fit->start[k];
    }
    sn_block_matrix_multiply_scalar(&fit->assembly.pattern, fit->data, fit->offset, fit->product);
    for (size_t k = 0; k < count; k++) {
        residual[k] = fit->loads[k] - fit->product[k] - k_young * residual[k];
    }
    return k_young * energy + 0.5 * sn_vector_dot(count, fit->offset, fit->product) - sn_vector_dot(count, fit->offset, fit->loads);
}

/* The longest part of the step, from `length` on halved, that lowers the energy enough; 0 where none does. The trial, its residual and
   `value` are then those of its end. */
static double search_line(SnFit *fit, const double *positions, double length, double *value)
{
    size_t count = 3 * fit->cage->vertex_count;
    double slope = sn_vector_dot(count, fit->step, fit->residual);
    for (; slope > 0.0 && length > SHORTEST; length *= 0.5) {
        memcpy(fit->trial, positions, count * sizeof *positions);
        sn_vector_add(count, length, fit->step, fit->trial);
        double trial_value = evaluate(fit, fit->trial, fit->trial_residual);
        if (trial_value <= *value - SUFFICIENT * length * slope) {
            *value = trial_value;
            return length;
        }
    }
    return 0.0;
}

/* Minimises eq. (1) from `positions`. */
static SnStatus minimise(SnContext *context, SnFit *fit, const double *surface, int max_rounds, double *positions, int *rounds)
{
    SnStatus status = SN_OK;
    size_t count = 3 * fit->cage->vertex_count;
    double length = 1.0, rms = INFINITY, tolerance = fit->settings.tolerance * fit->settings.size;
    begin_search(fit, surface, positions);
    double value = evaluate(fit, positions, fit->residual);
    for (*rounds = 0; *rounds < max_rounds && rms > tolerance; ++*rounds) {
        SnLbfgsWeights weights;
        SN_TRY(sn_context_look(context));
        if (!isfinite(value)) {
            status = sn_context_fail(context, SN_NUMERIC_FAILURE, NO_NUMBERS);
            goto cleanup;
        }
        memcpy(fit->step, fit->residual, count * sizeof *fit->step);
        sn_lbfgs_before(&fit->secants, fit->step, &weights);
        SN_TRY(sn_linear_solver_solve(context, fit->solver, fit->step, fit->step));
        sn_lbfgs_after(&fit->secants, fit->step, &weights);
        length = search_line(fit, positions, fmin(1.0, 2.0 * length), &value);
        if (length == 0.0) {
            if (fit->secants.used == 0) { /* as low as rounding allows */
                break;
            }
            sn_lbfgs_forget(&fit->secants);
            length = 1.0;
            continue;
        }
        sn_lbfgs_record(&fit->secants, length, fit->step, fit->residual, fit->trial_residual);
        rms = length * sqrt(3.0 * sn_vector_dot(count, fit->step, fit->step) / (double)count);
        memcpy(positions, fit->trial, count * sizeof *positions);
        memcpy(fit->residual, fit->trial_residual, count * sizeof *fit->residual);
    }
cleanup:
    return status;
}

/* Takes the guess that goes on as the last two frames did, where it comes closer to the frame than the last one alone. Aligns both. */
static void choose_guess(SnFit *fit, const double *surface, const double *before, double *positions)
{
    for (size_t k = 0; before != NULL && k < 3 * fit->cage->vertex_count; k++) {
        fit->guess[k] = 2.0 * positions[k] - before[k];
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

SnStatus sn_fit_frame(SnContext *context, SnFit *fit, const double *surface, int has_guess, const double *before, double *positions,
                      SnFitReport *report)
{
    SnStatus status = SN_OK;
    int max_rounds = (has_guess ? 1 : ROUNDS_OF_FIRST) * fit->settings.max_rounds;
    if (!has_guess) {
        memcpy(positions, fit->cage->positions, 3 * fit->cage->vertex_count * sizeof *positions);
    }
    sn_context_stage(context, "Fitting the cage", 1);
    choose_guess(fit, surface, has_guess ? before : NULL, positions);
    SN_TRY(minimise(context, fit, surface, max_rounds, positions, &report->rounds));
    if (fit->unfold != NULL) {
        SN_TRY(sn_unfold_fit(context, fit->unfold, surface, positions));
    }
    measure(fit, surface, positions, report);
cleanup:
    return status;
}
