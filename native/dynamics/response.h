/* How a body gives way to a load on each of a few rows, which turns solutions of a kept factor H into those of H + CᵀKC: rows of finite
   stiffness are part of the matrix that way, exact ones (K infinite) give C p = 0. Each value of a row costs a solution when the factor is
   new and a dense column, so this is for some dozens of rows. (Thousands are better nodes of the factor itself, and what touches a border
   around it: both take the same SnRows.) */
#ifndef SN_DYNAMICS_RESPONSE_H
#define SN_DYNAMICS_RESPONSE_H

#include "math/rows.h"

#define SN_RESPONSE_MOST 1536 /* values of rows */

typedef struct SnResponse {
    const SnRows *rows;   /* over the unknowns */
    size_t size;          /* values of the rows; 0: none, or more than SN_RESPONSE_MOST */
    size_t unknown_count;
    int is_known;         /* for the factor at hand; without it `correct` does nothing */
    double *columns;      /* size x 3 unknowns: H⁻¹Cᵀ; owned */
    double *schur;        /* size x size: Cholesky factor of K⁻¹ + C H⁻¹Cᵀ; owned */
    double *loads;        /* size; owned */
} SnResponse;

/* `rows` (over unknowns) must outlive the response. Memory is allocated once. */
SnStatus sn_response_init(SnContext *context, const SnRows *rows, size_t unknown_count, SnResponse *response);
void sn_response_clear(SnResponse *response);

/* After a new factor: the load of each k below `size`, to be solved in place; then finish. */
double *sn_response_load(SnResponse *response, size_t k);
void sn_response_finish(SnResponse *response);

/* From p = H⁻¹ r to the solution with the rows: p -= H⁻¹Cᵀ (K⁻¹ + C H⁻¹Cᵀ)⁻¹ C p. Unknowns x 3. */
void sn_response_correct(SnResponse *response, double *step);

#endif
