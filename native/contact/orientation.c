#include "contact/orientation.h"

/* An expansion is a sum of doubles that do not overlap, the smallest first; its last one has its sign. None of its zeros are kept. */
#define LONGEST 192 /* three times (2 x 2 x 2) x 2 x 2 x 2 */

typedef struct Expansion {
    int count;
    double terms[LONGEST];
} Expansion;

/* a + b = *high + *low */
static void two_sum(double a, double b, double *high, double *low)
{
    double sum = a + b, part = sum - a;
    *low = (a - (sum - part)) + (b - part);
    *high = sum;
}

/* a's upper half of digits, and the rest */
static void split(double a, double *upper, double *rest)
{
    double c = 134217729.0 * a; /* 2^27 + 1 */
    *upper = c - (c - a);
    *rest = a - *upper;
}

static void two_product(double a, double b, double *high, double *low)
{
    double product = a * b, a_upper, a_rest, b_upper, b_rest;
    split(a, &a_upper, &a_rest);
    split(b, &b_upper, &b_rest);
    *low = a_rest * b_rest - (((product - a_upper * b_upper) - a_rest * b_upper) - a_upper * b_rest);
    *high = product;
}

/* sum += term */
static void add_term(Expansion *sum, double term)
{
    int kept = 0;
    for (int i = 0; i < sum->count; i++) {
        double low;
        two_sum(term, sum->terms[i], &term, &low);
        if (low != 0.0) {
            sum->terms[kept++] = low;
        }
    }
    if (term != 0.0) {
        sum->terms[kept++] = term;
    }
    sum->count = kept;
}

/* sum += sign * a * b * c */
static void add_product(Expansion *sum, double sign, const double a[2], const double b[2], const double c[2])
{
    for (int i = 0; i < 8; i++) {
        double high, low, parts[2];
        two_product(a[i & 1], b[i >> 1 & 1], &high, &low);
        for (int k = 0; k < 2; k++) {
            two_product(sign * (k == 0 ? low : high), c[i >> 2], &parts[1], &parts[0]);
            add_term(sum, parts[0]);
            add_term(sum, parts[1]);
        }
    }
}

static void difference(const double a[3], const double b[3], double out[3][2])
{
    for (int axis = 0; axis < 3; axis++) {
        two_sum(a[axis], -b[axis], &out[axis][1], &out[axis][0]);
    }
}

int sn_orientation_exact(const double a[3], const double b[3], const double c[3], const double d[3])
{
    Expansion sum = {.count = 0};
    double u[3][2], v[3][2], w[3][2];
    difference(b, a, u);
    difference(c, a, v);
    difference(d, a, w);
    for (int axis = 0; axis < 3; axis++) {
        int next = (axis + 1) % 3, last = (axis + 2) % 3;
        add_product(&sum, 1.0, u[axis], v[next], w[last]);
        add_product(&sum, -1.0, u[axis], v[last], w[next]);
    }
    double most = sum.count > 0 ? sum.terms[sum.count - 1] : 0.0;
    return most > 0.0 ? 1 : most < 0.0 ? -1 : 0;
}
