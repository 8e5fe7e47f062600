#include "dynamics/input_curve.h"

#include <string.h>

/* Slopes at both ends of the interval, metres an interval, of coordinate k. */
static void find_slopes(const SnInputCurve *curve, size_t k, double *from, double *to)
{
    double a = curve->begin[k], b = curve->end[k];
    *from = curve->before ? 0.5 * (b - curve->before[k]) : b - a;
    *to = curve->after ? 0.5 * (curve->after[k] - a) : b - a;
}

void sn_input_curve_evaluate(const SnInputCurve *curve, double s, double *pose, double *velocity)
{
    double s2 = s * s, s3 = s2 * s;
    double begin_slope = s3 - 2.0 * s2 + s, end_slope = s3 - s2, rise = 3.0 * s2 - 2.0 * s3;
    double begin_rate = 3.0 * s2 - 4.0 * s + 1.0, end_rate = 3.0 * s2 - 2.0 * s, rise_rate = 6.0 * s - 6.0 * s2;
    for (size_t k = 0; k < 3 * curve->vertex_count; k++) {
        double a = curve->begin[k], b = curve->end[k];
        double step = b - a, from, to;
        find_slopes(curve, k, &from, &to);
        if (pose) {
            pose[k] = s == 1.0 ? b : a + rise * step + begin_slope * from + end_slope * to;
        }
        if (velocity) {
            velocity[k] = (rise_rate * step + begin_rate * from + end_rate * to) / curve->interval;
        }
    }
}

void sn_input_curve_follow(const SnInputCurve *curve, double s, double *pose, double *velocity, double *shift)
{
    size_t count = 3 * curve->vertex_count;
    sn_input_curve_evaluate(curve, s, pose, velocity);
    if (curve->light == NULL) {
        memset(shift, 0, count * sizeof *shift);
        return;
    }
    sn_input_curve_evaluate(curve->light, s, NULL, shift);
    for (size_t k = 0; k < count; k++) {
        velocity[k] -= shift[k];
    }
    sn_input_curve_evaluate(curve->light, s, shift, NULL);
}

void sn_input_curve_accelerate(const SnInputCurve *curve, double s, size_t vertex, double acceleration[3])
{
    for (size_t a = 0; a < 3; a++) {
        size_t k = 3 * vertex + a;
        double step = curve->end[k] - curve->begin[k], from, to;
        find_slopes(curve, k, &from, &to);
        double bend = (6.0 - 12.0 * s) * step + (6.0 * s - 4.0) * from + (6.0 * s - 2.0) * to;
        acceleration[a] = bend / (curve->interval * curve->interval);
    }
    if (curve->light != NULL) {
        double light[3];
        sn_input_curve_accelerate(curve->light, s, vertex, light);
        for (size_t a = 0; a < 3; a++) {
            acceleration[a] -= light[a];
        }
    }
}

void sn_input_curve_press(const SnInputCurve *curve, double s, size_t vertex, double acceleration[3])
{
    const double *before = curve->before, *begin = curve->begin, *end = curve->end, *after = curve->after;
    for (size_t a = 0; a < 3; a++) {
        size_t k = 3 * vertex + a;
        double step = end[k] - begin[k];
        double first = before ? step - (begin[k] - before[k]) : 0.0, last = after ? after[k] - end[k] - step : 0.0;
        acceleration[a] = (first + s * (last - first)) / (curve->interval * curve->interval);
    }
    if (curve->light != NULL) {
        double light[3];
        sn_input_curve_press(curve->light, s, vertex, light);
        for (size_t a = 0; a < 3; a++) {
            acceleration[a] -= light[a];
        }
    }
}
