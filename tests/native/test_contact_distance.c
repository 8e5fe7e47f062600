/* Nearest points of a vertex and a triangle and of two edges, against a search that knows nothing of features. */
#include "contact.h"

static void place(int edges, const double x[4][3], double s, double t, double w[3], double c[4])
{
    if (edges) {
        const double own[4] = {1.0 - s, s, -(1.0 - t), -t};
        memcpy(c, own, sizeof own);
    } else { /* a triangle as a square with one side drawn together */
        const double own[4] = {1.0, -(1.0 - s), -s * (1.0 - t), -s * t};
        memcpy(c, own, sizeof own);
    }
    for (int axis = 0; axis < 3; axis++) {
        w[axis] = c[0] * x[0][axis] + c[1] * x[1][axis] + c[2] * x[2][axis] + c[3] * x[3][axis];
    }
}

static double squared_at(int edges, const double x[4][3], double s, double t)
{
    double w[3], c[4];
    place(edges, x, s, t, w, c);
    return sn_dot3(w, w);
}

/* The least over t, by thirds: convex for any s. */
static double least_over_t(int edges, const double x[4][3], double s)
{
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 80; i++) {
        double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        if (squared_at(edges, x, s, a) < squared_at(edges, x, s, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    return squared_at(edges, x, s, 0.5 * (low + high));
}

static double least_squared(int edges, const double x[4][3])
{
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 80; i++) {
        double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        if (least_over_t(edges, x, a) < least_over_t(edges, x, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    return least_over_t(edges, x, 0.5 * (low + high));
}

static void random_pair(int kind, uint64_t *seed, double x[4][3])
{
    for (int i = 0; i < 4; i++) {
        for (int axis = 0; axis < 3; axis++) {
            x[i][axis] = contact_signed(seed) * (axis == 2 && kind == 1 ? 1e-3 : 1.0);
        }
    }
    if (kind == 2) { /* nearly parallel, or a thin triangle */
        for (int axis = 0; axis < 3; axis++) {
            x[3][axis] = x[2][axis] + x[1][axis] - x[0][axis] + 1e-7 * contact_signed(seed);
        }
    } else if (kind == 3) { /* two points in one place */
        memcpy(x[3], x[2], sizeof x[3]);
    } else if (kind == 4) { /* exactly parallel */
        for (int axis = 0; axis < 3; axis++) {
            x[3][axis] = x[2][axis] + 2.0 * (x[1][axis] - x[0][axis]);
        }
    }
}

static void nearest_points_are_nearest(void)
{
    uint64_t seed = 1;
    size_t far = 0, sums = 0, inconsistent = 0, outside = 0, features = 0;
    int seen[16] = {0};
    for (int i = 0; i < 4000; i++) {
        double x[4][3], w[3], sum = 0.0;
        int edges = i % 2;
        random_pair(i / 2 % 5, &seed, x);
        SnNearest nearest = edges ? sn_nearest_edges(x) : sn_nearest_point_triangle(x);
        far += fabs(sqrt(nearest.squared) - sqrt(least_squared(edges, x))) > 2e-8;
        for (int axis = 0; axis < 3; axis++) {
            w[axis] = 0.0;
            for (int k = 0; k < 4; k++) {
                w[axis] += nearest.c[k] * x[k][axis];
            }
        }
        inconsistent += sqrt(sn_distance_squared(w, nearest.w)) > 1e-7 ||
                        fabs(sn_dot3(nearest.w, nearest.w) - nearest.squared) > 1e-12;
        for (int k = 0; k < 4; k++) {
            int first = edges ? k < 2 : k < 1;
            sum += nearest.c[k];
            outside += first ? nearest.c[k] < 0.0 : nearest.c[k] > 0.0;
            features += (nearest.feature >> k & 1) != (fabs(nearest.c[k]) > 0.0);
        }
        sums += fabs(sum) > 1e-15;
        seen[nearest.feature]++;
    }
    CHECK(far == 0);
    CHECK(sums == 0 && inconsistent == 0 && outside == 0 && features == 0);
    CHECK(seen[15] > 200 && seen[3] > 20 && seen[7] > 50); /* every kind was there */
}

static void the_gradient_is_that_of_finite_differences(void)
{
    uint64_t seed = 7;
    size_t wrong = 0;
    for (int i = 0; i < 1000; i++) {
        double x[4][3], n[3];
        int edges = i % 2;
        random_pair(0, &seed, x);
        SnNearest nearest = edges ? sn_nearest_edges(x) : sn_nearest_point_triangle(x);
        sn_nearest_normal(&nearest, n);
        for (int k = 0; k < 12; k++) {
            double *value = &x[k / 3][k % 3], kept = *value, h = 1e-6;
            *value = kept + h;
            SnNearest up = edges ? sn_nearest_edges(x) : sn_nearest_point_triangle(x);
            *value = kept - h;
            SnNearest down = edges ? sn_nearest_edges(x) : sn_nearest_point_triangle(x);
            *value = kept;
            wrong += fabs((sqrt(up.squared) - sqrt(down.squared)) / (2.0 * h) - nearest.c[k / 3] * n[k % 3]) > 1e-3;
        }
    }
    CHECK(wrong < 4); /* where the foot changes its feature within h */
}

static void parallel_edges_fade_out(void)
{
    double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 0.1, 1}, {1, 0.1, 1}};
    CHECK(sn_edges_weight(x) <= 0.0);
    x[3][1] += 10.0;
    CHECK(sn_edges_weight(x) >= 1.0);
    x[3][1] = 0.1 + sqrt(0.5e-3); /* squared sine of half the threshold: r = 1/2 */
    CHECK_NEAR(sn_edges_weight(x), 0.75, 1e-3);
    memcpy(x[1], x[0], sizeof x[1]);
    CHECK(sn_edges_weight(x) <= 0.0);
}

int main(void)
{
    nearest_points_are_nearest();
    the_gradient_is_that_of_finite_differences();
    parallel_edges_fade_out();
    return CHECK_RESULT();
}
