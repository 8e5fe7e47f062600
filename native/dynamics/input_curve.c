#include "dynamics/input_curve.h"

void sn_input_curve_evaluate(const SnInputCurve *curve, double s, double *pose, double *velocity)
{
    double s2 = s * s, s3 = s2 * s;
    double begin_slope = s3 - 2.0 * s2 + s, end_slope = s3 - s2, rise = 3.0 * s2 - 2.0 * s3;
    double begin_rate = 3.0 * s2 - 4.0 * s + 1.0, end_rate = 3.0 * s2 - 2.0 * s, rise_rate = 6.0 * s - 6.0 * s2;
    for (size_t k = 0; k < 3 * curve->vertex_count; k++) {
        double a = curve->begin[k], b = curve->end[k];
        double step = b - a;
        double from = curve->before ? 0.5 * (b - curve->before[k]) : step;
        double to = curve->after ? 0.5 * (curve->after[k] - a) : step;
        if (pose) {
            pose[k] = s == 1.0 ? b : a + rise * step + begin_slope * from + end_slope * to;
        }
        if (velocity) {
            velocity[k] = (rise_rate * step + begin_rate * from + end_rate * to) / curve->interval;
        }
    }
}
