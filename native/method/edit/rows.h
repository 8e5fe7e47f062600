/* What handles say of an edit, as rows (methods, section 5, "Solve"). The edit is Z(t) = Σ_h c k̃(t, t_h) Y_h in modes: every handle h has an
   impulse Y_h. At an edit, rows tell where handles are and how that changes; S is what their impulses do to each other. */
#ifndef SN_METHOD_EDIT_ROWS_H
#define SN_METHOD_EDIT_ROWS_H

#include "method/edit/anchors.h"

typedef struct SnEditRows {
    size_t handles, modes, rows; /* of all handles */
    const SnEditHandle *given;
    SnEditAnchors *own;
    SnEditAnchor **anchors;      /* handles */
    unsigned char *is_linear;    /* handles: taken as they were linearised last */
    size_t *first;               /* handles + 1: their rows */
    size_t moments;              /* different times of handles */
    size_t *moment;              /* handles: which is theirs */
    size_t *order;               /* handles, those of one moment beside each other */
    double *kernels;             /* moments x moments x modes */
    double *z;                   /* moments x modes: the edit there */
    double *parts;               /* modes, scratch */
    double *places;              /* rows: where handles are along their rows */
    double *residual;            /* rows: target minus place */
    double *amplitudes;          /* rows x modes: A */
    double *matrix;              /* rows x rows: S */
} SnEditRows;

/* `kernels` (modes of the anchors' basis). `kept`: so many of the first handles were there before, and may be linear. */
SnStatus sn_edit_rows_init(SnContext *context, SnEditAnchors *anchors, const SnEditKernel *kernels, size_t count, size_t kept,
                           const SnEditHandle *handles, SnEditRows *rows);
void sn_edit_rows_clear(SnEditRows *rows);

/* How far all handles are from their targets, in the sum; residuals, the edit at all moments, and `missed` (handles) of each. */
double sn_edit_rows_measure(SnEditRows *rows, const double *impulses, double *missed);

/* The rows of every handle, and S, at the edit that was measured last. */
void sn_edit_rows_linearise(SnEditRows *rows);

/* From now on handles along a direction are taken as they are linearised. */
void sn_edit_rows_keep_directions(SnEditRows *rows);

/* What the edit that was measured last has of the row a. */
double sn_edit_rows_reached(const SnEditRows *rows, size_t h, size_t a);

/* ∫ of squared forces of these impulses, which were measured last. */
double sn_edit_rows_energy(const SnEditRows *rows, const double *impulses);

#endif
