#include "scenes.h"

#include "math/batch3.h"
#include "math/mat3.h"

#define PRECISION 1e-12

static double largest(const double *values, int count)
{
    double result = 0.0;
    for (int k = 0; k < count; k++) {
        result = fabs(values[k]) > result ? fabs(values[k]) : result;
    }
    return result;
}

/* Deviation of a rotation: from RᵀR = I, and from determinant 1. */
static double rotation_error(const double r[9])
{
    double worst = fabs(sn_mat3_determinant(r) - 1.0);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double product = r[i] * r[j] + r[3 + i] * r[3 + j] + r[6 + i] * r[6 + j] - (i == j ? 1.0 : 0.0);
            worst = fabs(product) <= worst ? worst : fabs(product);
        }
    }
    return worst;
}

static void random_rotation(uint64_t *random, double out[9])
{
    double q[4], norm = 0.0;
    for (int k = 0; k < 4; k++) {
        q[k] = scene_signed(random);
        norm += q[k] * q[k];
    }
    double w = q[0] / sqrt(norm), x = q[1] / sqrt(norm), y = q[2] / sqrt(norm), z = q[3] / sqrt(norm);
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                         2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
    memcpy(out, r, sizeof r);
}

/* A diag(s) Bᵀ with random rotations A and B. */
static void random_with_stretches(uint64_t *random, double s0, double s1, double s2, double out[9])
{
    double a[9], b[9], product[9], transposed[9];
    random_rotation(random, a);
    random_rotation(random, b);
    for (int i = 0; i < 3; i++) {
        a[3 * i] *= s0;
        a[3 * i + 1] *= s1;
        a[3 * i + 2] *= s2;
        for (int j = 0; j < 3; j++) {
            transposed[3 * i + j] = b[3 * j + i];
        }
    }
    sn_mat3_multiply(a, transposed, product);
    memcpy(out, product, sizeof product);
}

/* Decomposes f in one lane among random others; true when everything that the header promises holds. */
static int svd_holds(const double f[9], double stretches[3])
{
    static uint64_t random = 99;
    static int lane;
    SnLanes batch[9], u[9], sigma[3], v[9];
    double left[9], right[9];
    lane = (lane + 1) % SN_LANES;
    for (int k = 0; k < 9; k++) {
        for (int i = 0; i < SN_LANES; i++) {
            batch[k][i] = i == lane ? f[k] : scene_signed(&random);
        }
    }
    sn_batch3_svd((const SnLanes *)batch, u, sigma, v);
    for (int k = 0; k < 9; k++) {
        left[k] = u[k][lane];
        right[k] = v[k][lane];
    }
    for (int k = 0; k < 3; k++) {
        stretches[k] = sigma[k][lane];
    }
    double scale = largest(f, 9), backward = 0.0, unit[9];
    for (int k = 0; k < 9; k++) {
        double back = 0.0;
        for (int a = 0; a < 3; a++) {
            back += left[3 * (k / 3) + a] * stretches[a] * right[3 * (k % 3) + a];
        }
        backward = fabs(back - f[k]) <= backward ? backward : fabs(back - f[k]);
        unit[k] = scale > 0.0 ? f[k] / scale : 0.0;
    }
    double determinant = sn_mat3_determinant(unit);
    int sign_known = fabs(determinant) > 1e-13;
    int holds = rotation_error(left) < PRECISION && rotation_error(right) < PRECISION && backward <= PRECISION * scale &&
                stretches[0] >= stretches[1] && stretches[1] >= fabs(stretches[2]) &&
                (!sign_known || (determinant > 0.0) == (stretches[2] > 0.0));
    if (!holds) {
        printf("  matrix %g %g %g  %g %g %g  %g %g %g\n", f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]);
        printf("  stretches %.17g %.17g %.17g, rotations off by %g and %g, backward error %g, determinant %g\n", stretches[0],
               stretches[1], stretches[2], rotation_error(left), rotation_error(right), backward / scale, determinant);
    }
    return holds;
}

static void random_matrices_are_decomposed(void)
{
    uint64_t random = 1;
    double f[9], s[3];
    int failures = 0;
    for (int i = 0; i < 20000 && failures < 5; i++) {
        for (int k = 0; k < 9; k++) {
            f[k] = scene_signed(&random);
        }
        failures += !svd_holds(f, s);
    }
    CHECK(failures == 0);
}

static const double DEGENERATE[][9] = {
    {0},
    {1, 0, 0, 0, 1, 0, 0, 0, 1},
    {-1, 0, 0, 0, -1, 0, 0, 0, -1},
    {1, 0, 0, 0, 1, 0, 0, 0, -1},
    {0, 1, 0, 1, 0, 0, 0, 0, 1},
    {0, 0, 0, 0, 0, 0, 0, 0, 5},
    {0, 0, 7, 0, 0, 0, 0, 0, 0},
    {0, -3, 0, 0, 0, 0, 0, 0, 0},
    {1, 2, 3, 4, 5, 6, 7, 8, 9},        /* rank 2 */
    {4, 5, 6, 8, 10, 12, 12, 15, 18},   /* rank 1 */
    {1, 1, 1, 1, 1, 1, 1, 1, 1},        /* rank 1 */
    {1, 2, 0, 3, 4, 0, 0, 0, 0},        /* rank 2, a plane */
    {2, 0, 0, 0, 2, 0, 0, 0, 1},
    {1, 0, 0, 0, 2, 0, 0, 0, 2},
    {0, 0, 1, 1, 0, 0, 0, 1, 0},
    {1e-200, 0, 0, 0, 1e-200, 0, 0, 0, 1},
};

static void degenerate_matrices_are_decomposed(void)
{
    double s[3];
    for (size_t i = 0; i < sizeof DEGENERATE / sizeof *DEGENERATE; i++) {
        CHECK(svd_holds(DEGENERATE[i], s));
    }
    CHECK(svd_holds(DEGENERATE[2], s));
    CHECK(s[0] == 1.0 && s[1] == 1.0 && s[2] == -1.0);
    uint64_t random = 2;
    int failures = 0;
    for (int i = 0; i < 3000 && failures < 5; i++) {
        double f[9];
        random_with_stretches(&random, 2.0, i % 3 ? 0.7 : 0.0, 0.0, f); /* rank 2 and 1, in any direction */
        failures += !svd_holds(f, s);
        failures += fabs(s[2]) > 1e-14;
    }
    CHECK(failures == 0);
}

static void signed_stretches_come_back_in_order(void)
{
    static const double STRETCHES[][3] = {{3, 2, 1},     {3, 2, -1},        {1, 1, 1},      {1, 1, -1},      {2, 2, 0.5},
                                          {2, 0.5, 0.5}, {2, 0.5, -0.5},    {1, 1, 1e-9},   {1, 0.5, -1e-9}, {1, 1e-8, 1e-8},
                                          {1, 1e-6, -1e-12}, {1, 1 - 1e-12, 1 - 2e-12}};
    uint64_t random = 3;
    for (size_t i = 0; i < sizeof STRETCHES / sizeof *STRETCHES; i++) {
        const double *expected = STRETCHES[i];
        int failures = 0;
        for (int turn = 0; turn < 500 && failures < 3; turn++) {
            double f[9], s[3];
            random_with_stretches(&random, expected[0], expected[1], expected[2], f);
            failures += !svd_holds(f, s);
            failures += scene_distance(s, expected, 3) > 1e-14 * expected[0];
            failures += fabs(expected[2]) > 1e-11 && (s[2] > 0.0) != (expected[2] > 0.0);
        }
        CHECK(failures == 0);
    }
}

/* One-sided Jacobi in more digits: B = F V with orthogonal columns, in any order and sign. */
static void decompose_finely(const double f[9], long double b[9], long double v[9])
{
    for (int k = 0; k < 9; k++) {
        b[k] = f[k];
        v[k] = k % 4 == 0;
    }
    for (int turn = 0; turn < 36; turn++) {
        int p = turn % 3 == 2, q = turn % 3 == 0 ? 1 : 2;
        long double pp = 0.0L, qq = 0.0L, pq = 0.0L;
        for (int row = 0; row < 9; row += 3) {
            pp += b[row + p] * b[row + p];
            qq += b[row + q] * b[row + q];
            pq += b[row + p] * b[row + q];
        }
        long double angle = 0.5L * atan2l(2.0L * pq, pp - qq), c = cosl(angle), s = sinl(angle);
        for (int row = 0; row < 9; row += 3) {
            long double left = b[row + p], right = b[row + q];
            b[row + p] = c * left + s * right;
            b[row + q] = c * right - s * left;
            left = v[row + p], right = v[row + q];
            v[row + p] = c * left + s * right;
            v[row + q] = c * right - s * left;
        }
    }
}

/* How far stretches, and axes where stretches are `apart`, are from those in more digits; the axes times `apart`, which is how much
   better they are determined than the entries of F. */
static double forward_error(const double f[9], double apart)
{
    SnLanes batch[9], u[9], sigma[3], v[9];
    long double b[9], axes[9], worst = 0.0L;
    decompose_finely(f, b, axes);
    for (int k = 0; k < 9; k++) {
        for (int i = 0; i < SN_LANES; i++) {
            batch[k][i] = f[k];
        }
    }
    sn_batch3_svd((const SnLanes *)batch, u, sigma, v);
    for (int k = 0; k < 3; k++) {
        long double along = 0.0L, length = 0.0L;
        int match = 0;
        for (int column = 0; column < 3; column++) {
            long double cosine = 0.0L;
            for (int row = 0; row < 9; row += 3) {
                cosine += axes[row + column] * v[row + k][0];
            }
            match = fabsl(cosine) > fabsl(along) ? column : match;
            along = fabsl(cosine) > fabsl(along) ? cosine : along;
        }
        for (int row = 0; row < 9; row += 3) {
            length += b[row + match] * b[row + match];
        }
        length = copysignl(sqrtl(length), along); /* with the sign of our axis */
        worst = fmaxl(worst, fabsl(fabsl(length) - fabs(sigma[k][0])));
        for (int row = 0; row < 9; row += 3) {
            worst = fmaxl(worst, apart * fabsl(v[row + k][0] - copysignl(axes[row + match], along * axes[row + match])));
            worst = fmaxl(worst, apart * fabsl(copysign(u[row + k][0], sigma[k][0] * u[row + k][0]) - b[row + match] / length));
        }
    }
    return (double)worst;
}

static void separate_stretches_have_exact_axes(void)
{
    static const double APART[] = {1e-4, 1e-3, 1e-2, 0.1};
    uint64_t random = 6;
    for (size_t i = 0; i < sizeof APART / sizeof *APART; i++) {
        double worst = 0.0, d = APART[i];
        for (int turn = 0; turn < 1000; turn++) {
            double f[9], sign = turn % 2 ? -1.0 : 1.0;
            switch (turn / 2 % 3) {
            case 0: random_with_stretches(&random, 1.0 + d, 1.0, sign * (1.0 - d), f); break;
            case 1: random_with_stretches(&random, 1.0 + d, 1.0, sign * 0.5 * d, f); break;
            default: random_with_stretches(&random, 1.0, 2.0 * d, sign * d, f);
            }
            double error = forward_error(f, 0.5 * d);
            worst = error <= worst ? worst : error;
        }
        CHECK(worst < 2e-15); /* roundings: nothing is left but the condition of the problem */
    }
}

static void huge_and_tiny_matrices_keep_their_accuracy(void)
{
    static const double SCALES[] = {1e150, 1e-150, 1e200, 1e-200, 1e-290};
    uint64_t random = 4;
    for (size_t i = 0; i < sizeof SCALES / sizeof *SCALES; i++) {
        int failures = 0;
        for (int turn = 0; turn < 500 && failures < 3; turn++) {
            double f[9], s[3];
            random_with_stretches(&random, 2.0, 1.0, turn % 2 ? -0.25 : 0.25, f);
            for (int k = 0; k < 9; k++) {
                f[k] *= SCALES[i];
            }
            failures += !svd_holds(f, s);
            failures += fabs(s[0] / SCALES[i] - 2.0) > 1e-13 || fabs(s[1] / SCALES[i] - 1.0) > 1e-13;
        }
        CHECK(failures == 0);
    }
}

/* Projects in one lane among others and compares with the clamp of a dense eigenvalue solve. */
static int projection_holds(const double m[6])
{
    static const int PLACE[9] = {0, 5, 4, 5, 1, 3, 4, 3, 2};
    static uint64_t random = 77;
    static int lane;
    SnLanes batch[6];
    double full[9], eigenvalues[3], axes[9], expected[9] = {0}, result[9], difference[9], scale = largest(m, 6);
    lane = (lane + 1) % SN_LANES;
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < SN_LANES; i++) {
            batch[k][i] = i == lane ? m[k] : scene_signed(&random);
        }
    }
    sn_batch3_project_psd(batch);
    for (int k = 0; k < 9; k++) {
        full[k] = scale > 0.0 ? m[PLACE[k]] / scale : 0.0;
        result[k] = scale > 0.0 ? batch[PLACE[k]][lane] / scale : batch[PLACE[k]][lane];
    }
    memcpy(difference, full, sizeof full);
    dense_eigen(3, difference, eigenvalues, axes);
    double inner = 0.0, error = 0.0;
    for (int k = 0; k < 9; k++) {
        for (int a = 0; a < 3; a++) {
            expected[k] += fmax(eigenvalues[a], 0.0) * axes[3 * a + k / 3] * axes[3 * a + k % 3];
        }
        difference[k] = result[k] - full[k];
        inner += result[k] * difference[k];
        error = fabs(result[k] - expected[k]) <= error ? error : fabs(result[k] - expected[k]);
    }
    double least[3], removed[3];
    dense_eigen(3, result, least, NULL);
    dense_eigen(3, difference, removed, NULL);
    int holds = error < PRECISION && fabs(inner) < PRECISION && least[0] > -PRECISION && removed[0] > -PRECISION;
    if (!holds) {
        printf("  matrix %g %g %g %g %g %g: error %g, product %g, least %g, %g\n", m[0], m[1], m[2], m[3], m[4], m[5], error,
               inner, least[0], removed[0]);
    }
    return holds;
}

static void projection_is_the_clamp_of_the_eigenvalues(void)
{
    static const double EXACT[][6] = {{0},
                                      {1, 1, 1, 0, 0, 0},
                                      {-1, -1, -1, 0, 0, 0},
                                      {2, 2, -2, 0, 0, 0},
                                      {0, 0, 0, 1, 1, 1},      /* eigenvalues 2, -1, -1 */
                                      {0, 0, 0, -1, -1, -1},   /* eigenvalues 1, 1, -2 */
                                      {1, 1, 1, 1, 1, 1},      /* 3, 0, 0 */
                                      {0, 0, 0, 0, 0, 4},
                                      {5, -5, 0, 0, 0, 1e-9},
                                      {1, 1, 1, 1e-14, -1e-14, 1e-14}};
    for (size_t i = 0; i < sizeof EXACT / sizeof *EXACT; i++) {
        CHECK(projection_holds(EXACT[i]));
    }
    uint64_t random = 5;
    static const double SCALES[] = {1.0, 1e9, 1e150, 1e-150};
    int failures = 0;
    for (int i = 0; i < 20000 && failures < 5; i++) {
        double m[6];
        for (int k = 0; k < 6; k++) {
            m[k] = SCALES[i % 4] * scene_signed(&random);
        }
        failures += !projection_holds(m);
    }
    CHECK(failures == 0);
}

/* Whether the polar decomposition of a lane is one, and its rotation that of the singular values as far as those determine it. */
static int polar_holds(int lane, const SnLanes f[9], const SnLanes rotation[9], const SnLanes stretch[6])
{
    SnLanes u[9], sigma[3], v[9];
    const double s[9] = {stretch[0][lane], stretch[5][lane], stretch[4][lane], stretch[5][lane], stretch[1][lane],
                         stretch[3][lane], stretch[4][lane], stretch[3][lane], stretch[2][lane]};
    double r[9], product[9], size = 0.0, backward = 0.0, forward = 0.0;
    sn_batch3_svd(f, u, sigma, v);
    for (int k = 0; k < 9; k++) {
        r[k] = rotation[k][lane];
    }
    sn_mat3_multiply(r, s, product);
    for (int k = 0; k < 9; k++) {
        int i = 3 * (k / 3), j = 3 * (k % 3);
        double other = u[i][lane] * v[j][lane] + u[i + 1][lane] * v[j + 1][lane] + u[i + 2][lane] * v[j + 2][lane];
        size = fmax(size, fabs(f[k][lane]));
        backward = fabs(product[k] - f[k][lane]) <= backward ? backward : fabs(product[k] - f[k][lane]);
        forward = fabs(r[k] - other) <= forward ? forward : fabs(r[k] - other);
    }
    double apart = size > 0.0 ? (sigma[1][lane] + sigma[2][lane]) / size : 0.0;
    int holds = rotation_error(r) < PRECISION && backward <= PRECISION * size && forward * fmin(apart, 1.0) < PRECISION;
    if (!holds) {
        printf("  stretches %g %g %g: rotation off by %g, backward error %g, %g from that of the singular values\n", sigma[0][lane],
               sigma[1][lane], sigma[2][lane], rotation_error(r), backward / size, forward);
    }
    return holds;
}

static void polar_makes_up_every_matrix_from_a_rotation_and_a_symmetric_one(void)
{
    uint64_t random = 21;
    int wrong = 0, negative = 0;
    for (int round = 0; round < 2000; round++) {
        double one[9];
        SnLanes f[9], rotation[9], stretch[6];
        for (int lane = 0; lane < SN_LANES; lane++) {
            /* stretches over four decades, a few flat, every third batch with some inside out */
            double s[3];
            for (int k = 0; k < 3; k++) {
                s[k] = round % 5 == 0 && lane == k ? 0.0 : pow(10.0, 2.0 * (round % 7 ? 0.2 : 1.0) * scene_signed(&random));
            }
            s[2] *= round % 3 == 0 && check_random(&random) < 0.3 ? -1.0 : 1.0;
            random_with_stretches(&random, s[0], s[1], s[2], one);
            for (int k = 0; k < 9; k++) {
                f[k][lane] = one[k];
            }
            negative += s[2] < 0.0;
        }
        sn_batch3_polar((const SnLanes *)f, rotation, stretch);
        for (int lane = 0; lane < SN_LANES && wrong < 5; lane++) {
            wrong += !polar_holds(lane, (const SnLanes *)f, (const SnLanes *)rotation, (const SnLanes *)stretch);
        }
    }
    CHECK(wrong == 0);
    CHECK(negative > 100);
}

/* The matrix alone among ones near rest: whatever its lane does, the others do not hide it. */
static int polar_holds_for(const double one[9])
{
    static int lane;
    SnLanes f[9], rotation[9], stretch[6];
    lane = (lane + 1) % SN_LANES;
    for (int k = 0; k < 9; k++) {
        for (int i = 0; i < SN_LANES; i++) {
            f[k][i] = i == lane ? one[k] : (k % 4 == 0 ? 1.0 : 0.01 * i);
        }
    }
    sn_batch3_polar((const SnLanes *)f, rotation, stretch);
    return polar_holds(lane, (const SnLanes *)f, (const SnLanes *)rotation, (const SnLanes *)stretch);
}

static void polar_holds_for_flat_and_reflected_matrices(void)
{
    static const double STRETCHES[][3] = {{2, 0.7, 0},     {2, 0, 0},     {2, 0.7, 1e-16},     {2, 0.7, -1e-6}, {1, 1e-4, -1e-8},
                                          {3, 2, -1},      {1, 1, -1},    {1, 1, 1e-6 - 1},    {1, 1, 1e-9 - 1}, {2, 0.5, -0.5},
                                          {1, 3e-3, 3e-3}, {1e3, 1, 1e-3}, {1e-60, 1e-60, 2e-60}, {1e60, 2e60, 3e60}};
    uint64_t random = 22;
    for (size_t i = 0; i < sizeof DEGENERATE / sizeof *DEGENERATE; i++) {
        CHECK(polar_holds_for(DEGENERATE[i]));
    }
    for (size_t i = 0; i < sizeof STRETCHES / sizeof *STRETCHES; i++) {
        int wrong = 0;
        for (int turn = 0; turn < 500 && wrong < 3; turn++) {
            double f[9];
            random_with_stretches(&random, STRETCHES[i][0], STRETCHES[i][1], STRETCHES[i][2], f);
            wrong += !polar_holds_for(f);
        }
        CHECK(wrong == 0);
    }
}

int main(void)
{
    random_matrices_are_decomposed();
    degenerate_matrices_are_decomposed();
    signed_stretches_come_back_in_order();
    separate_stretches_have_exact_axes();
    huge_and_tiny_matrices_keep_their_accuracy();
    projection_is_the_clamp_of_the_eigenvalues();
    polar_makes_up_every_matrix_from_a_rotation_and_a_symmetric_one();
    polar_holds_for_flat_and_reflected_matrices();
    return CHECK_RESULT();
}
