#include "dynamics/row_bounds.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

#define ROUNDS 10      /* in which rows find out who holds */
#define CHANGES 2      /* of mind, of a row: none goes to and fro */
#define OVER 1e-9      /* of a bound: within rounding it is met */
#define NEAR 1e-3      /* of the way on which the bound would take it in a step: the row holds */
#define BRAKE 0.5      /* of a bound: with which it comes in, so that it has the rest for other loads */

struct SnRowBounds {
    const SnRows *rows;      /* the world's */
    SnConstraints held;
    unsigned char *off;      /* rows: it has let go; owned, as all arrays */
    unsigned char *changes;  /* rows */
    double *mass;            /* rows, kg; 0: it holds nothing */
    double *ways;            /* values: unit vectors from where rows are to their targets, of those that have let go */
    double *off_begin;       /* values: how far rows are from their targets where the step starts; 0: they hold */
    double *away, *work;     /* values */
    double *loads;           /* vertices x 3, N */
    size_t vertex_count;
    int round;
    int is_told;
};

static size_t width_of(const SnRows *rows)
{
    return rows->is_alike ? 3 : 1;
}

SnStatus sn_row_bounds_create(SnContext *context, const SnWorld *world, SnRowBounds **out)
{
    SnStatus status = SN_OK;
    SnRowBounds *b = NULL;
    SnRows copy = {.is_alike = world->constraints.rows.is_alike};
    const SnRows *rows = &world->constraints.rows, *free_rows = &world->constraints.free_rows;
    *out = NULL;
    SN_TRY_NEW(context, b, 1, SnRowBounds);
    b->rows = rows;
    b->vertex_count = world->vertex_count;
    SN_TRY_NEW(context, b->off, rows->count, unsigned char);
    SN_TRY_NEW(context, b->changes, rows->count, unsigned char);
    SN_TRY_NEW(context, b->mass, rows->count, double);
    SN_TRY_NEW(context, b->ways, world->constraints.size, double);
    SN_TRY_NEW(context, b->off_begin, world->constraints.size, double);
    SN_TRY_NEW(context, b->away, world->constraints.size, double);
    SN_TRY_NEW(context, b->work, world->constraints.size, double);
    SN_TRY_NEW(context, b->loads, 3 * world->vertex_count, double);
    SN_TRY(sn_rows_append(context, rows, 0, &copy));
    SN_TRY(sn_constraints_init(context, &world->assembly, world->mass, &copy, &b->held));
    for (size_t r = 0; r < rows->count; r++) {
        size_t weights = rows->is_alike ? 1 : 3;
        double sum = 0.0;
        for (size_t k = weights * (size_t)free_rows->start[r]; k < weights * (size_t)free_rows->start[r + 1]; k++) {
            double inverse = world->constraints.inverse_mass[free_rows->points[k / weights]];
            sum += inverse * free_rows->weights[k] * free_rows->weights[k];
        }
        b->mass[r] = sum > 0.0 ? 1.0 / sum : 0.0;
    }
    *out = b;
cleanup:
    sn_rows_clear(&copy);
    if (status != SN_OK) {
        sn_row_bounds_destroy(b);
    }
    return status;
}

void sn_row_bounds_destroy(SnRowBounds *b)
{
    if (b == NULL) {
        return;
    }
    sn_constraints_clear(&b->held);
    sn_release(b->off);
    sn_release(b->changes);
    sn_release(b->mass);
    sn_release(b->ways);
    sn_release(b->off_begin);
    sn_release(b->away);
    sn_release(b->work);
    sn_release(b->loads);
    sn_release(b);
}

const SnConstraints *sn_row_bounds_held(const SnRowBounds *b)
{
    return &b->held;
}

SnStatus sn_row_bounds_tell(SnContext *context, SnRowBounds *b, SnNewton *newton)
{
    SnStatus status = SN_OK;
    b->is_told = 0;
    SN_TRY(sn_constraints_release(context, &b->held, b->off));
    SN_TRY(sn_newton_reconstrain(context, newton, &b->held));
    b->is_told = 1;
cleanup:
    return status;
}

/* away = s - C x */
static void find_away(SnRowBounds *b, const SnStage *stage, const double *positions)
{
    sn_rows_apply(b->rows, positions, b->away);
    for (size_t k = 0; k < b->held.size; k++) {
        b->away[k] = stage->row_targets[k] - b->away[k];
    }
}

static double length_of(size_t count, const double *values)
{
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        sum += values[k] * values[k];
    }
    return sqrt(sum);
}

/* The way of a row: along some values that are so long. */
static void point(SnRowBounds *b, size_t r, const double *values, double length)
{
    size_t width = width_of(b->rows);
    for (size_t k = 0; k < width; k++) {
        b->ways[width * r + k] = values[width * r + k] / length;
    }
}

int sn_row_bounds_begin(SnRowBounds *b, const SnStage *stage, double h, const double *positions)
{
    size_t width = width_of(b->rows);
    int is_other = !b->is_told;
    find_away(b, stage, positions);
    for (size_t r = 0; r < b->rows->count; r++) {
        double most = stage->row_most[width * r], length = length_of(width, b->away + width * r);
        unsigned char off = most > 0.0 && b->mass[r] > 0.0 && length > NEAR * most * h * h;
        is_other |= off != b->off[r];
        b->off[r] = off;
        for (size_t k = width * r; k < width * (r + 1); k++) {
            b->off_begin[k] = off ? b->away[k] : 0.0;
        }
        if (off) {
            point(b, r, b->away, length);
        }
    }
    return is_other;
}

void sn_row_bounds_aim(const SnRowBounds *b, SnStage *stage, double seconds)
{
    size_t width = width_of(b->rows);
    for (size_t r = 0; r < b->rows->count; r++) {
        double length = length_of(width, b->off_begin + width * r), brake = BRAKE * stage->row_most[width * r];
        double root = fmax(0.0, sqrt(length) - sqrt(0.5 * brake) * seconds); /* of what is left: d left / dt = -sqrt(2 brake left) */
        for (size_t k = width * r; k < width * (r + 1) && length > 0.0; k++) {
            stage->row_targets[k] -= b->off_begin[k] / length * root * root;
            stage->row_rates[k] += b->off_begin[k] / length * sqrt(2.0 * brake) * root;
        }
    }
}

void sn_row_bounds_count_anew(SnRowBounds *b)
{
    memset(b->changes, 0, b->rows->count);
    b->round = 0;
}

const double *sn_row_bounds_load(SnRowBounds *b, const SnStage *stage, double share)
{
    size_t width = width_of(b->rows);
    for (size_t r = 0; r < b->rows->count; r++) {
        for (size_t k = width * r; k < width * (r + 1); k++) {
            b->work[k] = b->off[r] ? share * stage->row_most[width * r] * b->mass[r] * b->ways[k] : 0.0;
        }
    }
    memcpy(b->loads, stage->loads, 3 * b->vertex_count * sizeof *b->loads);
    sn_rows_spread(b->rows, b->work, b->loads);
    return b->loads;
}

int sn_row_bounds_review(SnRowBounds *b, const SnStage *stage, double share, const double *pulls, const double *positions)
{
    size_t width = width_of(b->rows);
    int is_other = 0;
    find_away(b, stage, positions);
    b->round++;
    for (size_t r = 0; r < b->rows->count && b->round < ROUNDS; r++) {
        double most = share * stage->row_most[width * r] * b->mass[r], along = 0.0;
        const double *values = b->off[r] ? b->away : pulls;
        double length = length_of(width, values + width * r);
        if (!(most > 0.0) || (!b->off[r] && length <= (1.0 + OVER) * most)) {
            continue;
        }
        for (size_t k = width * r; k < width * (r + 1); k++) {
            along += b->off[r] ? b->away[k] * b->ways[k] : 0.0;
        }
        if (!b->off[r] || along <= 0.0) { /* too much, or there */
            if (b->changes[r] < CHANGES) {
                b->off[r] = !b->off[r];
                b->changes[r]++;
                is_other = 1;
                point(b, r, values, length);
            }
        }
    }
    return is_other;
}

double sn_row_bounds_energy(SnRowBounds *b, const SnStage *stage, const SnBody *body, const double *positions)
{
    size_t width = width_of(b->rows);
    double sum = 0.0;
    find_away(b, stage, positions);
    for (size_t r = body->first_row; r < body->first_row + body->row_count; r++) {
        sum += stage->row_most[width * r] * b->mass[r] * length_of(width, b->away + width * r);
    }
    return sum;
}
