#include "method/edit/kernel.h"

#include <math.h>
#include <string.h>

#define LIVELESS 40.0 /* e to minus this is nothing beside 1 */
#define SMOOTH 0.70710678118654752440

SnEditMotion sn_edit_motion_default(void)
{
    return (SnEditMotion){.damping = 0.01, .wiggle = 1.0, .spread = 1.0};
}

/* cos √q and sin √q / √q, continued to negative q, where they are cosh and sinh. */
static void waves(double q, double *cosine, double *sine)
{
    double root = sqrt(fabs(q));
    if (root < 0.01) {
        *sine = 1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0));
    } else {
        *sine = (q > 0.0 ? sin(root) : sinh(root)) / root;
    }
    *cosine = q > 0.0 ? cos(root) : cosh(root);
}

void sn_edit_kernel_free(double omega, double ratio, double distance, double values[3])
{
    double tau = fabs(distance), sign = distance < 0.0 ? -1.0 : 1.0;
    double decay = ratio * omega, q = omega * omega * (1.0 - ratio) * (1.0 + ratio) * tau * tau;
    memset(values, 0, 3 * sizeof *values);
    if (q < -1.0) {
        /* two decaying exponentials; their rates multiply to omega squared */
        double split = omega * sqrt((ratio - 1.0) * (ratio + 1.0)), fast = decay + split, slow = omega * omega / fast;
        double late = exp(-slow * tau), early = exp(-fast * tau);
        values[0] = (fast * late - slow * early) / (2.0 * split);
        values[1] = -sign * omega * omega * (late - early) / (2.0 * split);
        values[2] = omega * omega * (slow * late - fast * early) / (2.0 * split);
    } else if (decay * tau < 700.0) {
        double cosine, sine, envelope = exp(-decay * tau);
        waves(q, &cosine, &sine);
        values[0] = envelope * (cosine + decay * tau * sine);
        values[1] = -sign * omega * omega * envelope * tau * sine;
        values[2] = -omega * omega * envelope * (cosine - decay * tau * sine);
    }
}

/* k of the span: once, or of all rounds of a loop. */
static void evaluate(const SnEditKernel *kernel, double distance, double values[3])
{
    double period = kernel->span.period;
    if (period <= 0.0) {
        sn_edit_kernel_free(kernel->omega, kernel->ratio, distance, values);
        return;
    }
    double ratio = kernel->ratio, slowest = kernel->omega * (ratio > 1.0 ? 1.0 / (ratio + sqrt(ratio * ratio - 1.0)) : ratio);
    double first = distance - period * floor(distance / period);
    int rounds = (int)fmin(ceil(LIVELESS / (slowest * period)), 1e5);
    memset(values, 0, 3 * sizeof *values);
    for (int m = -rounds; m <= rounds; m++) {
        double one[3];
        sn_edit_kernel_free(kernel->omega, ratio, first + m * period, one);
        for (int i = 0; i < 3; i++) {
            values[i] += one[i];
        }
    }
}

/* Covariance of the oscillator at t with edit and velocity, over omega, at each end. */
static void correlate(const SnEditKernel *kernel, double t, double *out)
{
    double ends[2] = {kernel->span.has_begin ? kernel->span.begin : kernel->span.end, kernel->span.end};
    for (int e = 0; e < kernel->condition_count / 2; e++) {
        double k[3];
        evaluate(kernel, t - ends[e], k);
        out[2 * e] = k[0];
        out[2 * e + 1] = -k[1] / kernel->omega;
    }
}

/* Of a small positive definite matrix, by elimination with its largest pivots first; what is no more than rounding counts as nothing. */
static void invert(int size, double *matrix, double *inverse)
{
    int done[4] = {0};
    memcpy(inverse, matrix, (size_t)(size * size) * sizeof *matrix);
    for (int step = 0; step < size; step++) {
        int pivot = 0;
        for (int i = 1; i < size; i++) {
            if (!done[i] && (done[pivot] || inverse[i * size + i] > inverse[pivot * size + pivot])) {
                pivot = i;
            }
        }
        double value = inverse[pivot * size + pivot];
        done[pivot] = 1;
        if (!(value > 1e-14 * matrix[pivot * size + pivot])) {
            for (int i = 0; i < size; i++) {
                inverse[i * size + pivot] = inverse[pivot * size + i] = 0.0;
            }
            continue;
        }
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                if (i != pivot && j != pivot) {
                    inverse[i * size + j] -= inverse[i * size + pivot] * inverse[pivot * size + j] / value;
                }
            }
        }
        for (int i = 0; i < size; i++) {
            if (i != pivot) {
                inverse[i * size + pivot] /= value;
                inverse[pivot * size + i] /= -value;
            }
        }
        inverse[pivot * size + pivot] = 1.0 / value;
    }
}

SnEditKernel sn_edit_kernel(double squared, const SnEditMotion *motion)
{
    SnEditKernel kernel = {.span = motion->span};
    double omega = sqrt(squared), damping = motion->drag + motion->damping * squared, ratio = damping / (2.0 * omega);
    kernel.scale = 1.0 / (2.0 * damping * squared);
    if (motion->smoothness > 0.0) {
        double root = sqrt(sqrt(motion->smoothness)), side = sqrt(omega);
        omega = side / root;
        ratio = SMOOTH;
        kernel.scale = 1.0 / (2.0 * sqrt(2.0) * root * side * side * side);
    }
    kernel.omega = omega / motion->spread;
    kernel.ratio = ratio < SMOOTH ? ratio + (1.0 - motion->wiggle) * (SMOOTH - ratio) : ratio;
    if (motion->span.period <= 0.0 && (motion->span.has_begin || motion->span.has_end)) {
        double ends[2] = {motion->span.has_begin ? motion->span.begin : motion->span.end, motion->span.end}, covariance[16] = {0};
        int count = motion->span.has_begin + motion->span.has_end, size = 2 * count;
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < count; j++) {
                double k[3];
                sn_edit_kernel_free(kernel.omega, kernel.ratio, ends[i] - ends[j], k);
                covariance[2 * i * size + 2 * j] = k[0];
                covariance[2 * i * size + 2 * j + 1] = -k[1] / kernel.omega;
                covariance[(2 * i + 1) * size + 2 * j] = k[1] / kernel.omega;
                covariance[(2 * i + 1) * size + 2 * j + 1] = -k[2] / (kernel.omega * kernel.omega);
            }
        }
        invert(size, covariance, kernel.inverse);
        kernel.condition_count = size;
    }
    return kernel;
}

static int is_outside(const SnEditSpan *span, double t)
{
    return span->period <= 0.0 && ((span->has_begin && t <= span->begin) || (span->has_end && t >= span->end));
}

double sn_edit_kernel_value(const SnEditKernel *kernel, double t, double s)
{
    double k[3], at_t[4] = {0}, at_s[4] = {0};
    int size = kernel->condition_count;
    if (is_outside(&kernel->span, t) || is_outside(&kernel->span, s)) {
        return 0.0;
    }
    evaluate(kernel, t - s, k);
    correlate(kernel, t, at_t);
    correlate(kernel, s, at_s);
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            k[0] -= at_t[i] * kernel->inverse[i * size + j] * at_s[j];
        }
    }
    return kernel->scale * k[0];
}
