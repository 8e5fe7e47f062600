/* The hot kernels alone, in caches: what an instruction set gives them. */
#ifndef SN_BENCHMARK_KERNELS_H
#define SN_BENCHMARK_KERNELS_H

#include "math/batch3.h"
#include "math/dense_panel.h"
#include "math/vector.h"

#define PANEL_HEIGHT ((size_t)600)
#define PANEL_WIDTH ((size_t)192)
#define KERNEL_BATCHES ((size_t)512)

static float *kernel_panel(SnContext *context, float *diagonal)
{
    uint64_t random = 7;
    float *panel = SN_NEW(context, PANEL_HEIGHT * PANEL_WIDTH + SN_PANEL_SLACK, float);
    for (size_t k = 0; k < PANEL_HEIGHT * PANEL_WIDTH; k++) {
        panel[k] = (float)(0.01 * scene_signed(&random));
    }
    for (size_t j = 0; j < PANEL_WIDTH; j++) {
        diagonal[j] = panel[j * PANEL_HEIGHT + j] = 4.0f;
    }
    return panel;
}

static void bench_panels(SnContext *context)
{
    float diagonal[PANEL_WIDTH], *panel = kernel_panel(context, diagonal), *first = kernel_panel(context, diagonal);
    const size_t below = PANEL_HEIGHT - PANEL_WIDTH, blocks = (PANEL_WIDTH + SN_ROUNDED_BLOCK - 1) / SN_ROUNDED_BLOCK;
    const double width = (double)PANEL_WIDTH, height = (double)PANEL_HEIGHT, size = (double)below;
    float *update = SN_NEW(context, below * below + SN_PANEL_SLACK, float), *x = SN_NEW(context, PANEL_HEIGHT + SN_VECTOR_SLACK, float);
    double factorize, subtract, solve, round;
    SnRoundedPanel rounded = {PANEL_HEIGHT, PANEL_WIDTH, SN_NEW(context, blocks * SN_ROUNDED_BLOCK * SN_ROUNDED_BLOCK, float),
                              SN_NEW(context, PANEL_WIDTH + SN_ROUNDED_BLOCK, float),
                              SN_NEW(context, PANEL_HEIGHT * (PANEL_WIDTH / 2 + SN_ROUNDED_BLOCK), int32_t)};
    BEST(factorize, 50, memcpy(panel, first, PANEL_HEIGHT * PANEL_WIDTH * sizeof *panel); sn_panel_factorize(PANEL_HEIGHT, PANEL_WIDTH, diagonal, panel));
    BEST(subtract, 50, sn_panel_update(PANEL_HEIGHT, PANEL_WIDTH, panel, update));
    BEST(round, 50, sn_panel_round(&rounded, panel));
    for (size_t k = 0; k < PANEL_HEIGHT; k++) {
        x[k] = 1e-3f;
    }
    BEST(solve, 50, for (int k = 0; k < 20; k++) { sn_rounded_forward(&rounded, x); sn_rounded_backward(&rounded, x); });
    row("panel_gflops", 1e-9 * size * (size + 1.0) * width / subtract, 0.0, "GF/s");
    row("panel_factorize_gflops", 1e-9 * (width * width * (height - width / 3.0)) / factorize, 0.0, "GF/s");
    row("panel_round", 1e9 * round / (width * height), 0.0, "ns an entry");
    row("rounded_solve", 1e9 * solve / 40.0 / (width * height), 0.0, "ns an entry");
    sn_release(rounded.inverse);
    sn_release(rounded.scale);
    sn_release(rounded.pairs);
    sn_release(panel);
    sn_release(first);
    sn_release(update);
    sn_release(x);
}

static void bench_batches(SnContext *context)
{
    uint64_t random = 3;
    SnLanes *f = (SnLanes *)SN_NEW(context, 9 * KERNEL_BATCHES * SN_LANES, double), u[9], sigma[3], v[9], s[6];
    double svd, polar, psd, *flat = (double *)f;
    const double count = (double)(KERNEL_BATCHES * SN_LANES);
    for (size_t k = 0; k < 9 * KERNEL_BATCHES * SN_LANES; k++) {
        flat[k] = (k / SN_LANES % 9 % 4 == 0 ? 1.0 : 0.0) + 0.2 * scene_signed(&random);
    }
    BEST(svd, 50, for (size_t k = 0; k < KERNEL_BATCHES; k++) { sn_batch3_svd((const SnLanes *)(f + 9 * k), u, sigma, v); });
    BEST(polar, 50, for (size_t k = 0; k < KERNEL_BATCHES; k++) { sn_batch3_polar((const SnLanes *)(f + 9 * k), u, s); });
    BEST(psd, 50, for (size_t k = 0; k < KERNEL_BATCHES; k++) {
        memcpy(s, f + 9 * k, sizeof s);
        s[3][0] = 3.0;
        sn_batch3_project_psd(s);
    });
    row("svd", 1e9 * svd / count, 0.0, "ns a matrix");
    row("polar", 1e9 * polar / count, 0.0, "ns a matrix");
    row("project_psd", 1e9 * psd / count, 0.0, "ns a matrix");
    sn_release(f);
}

static void bench_kernels(SnContext *context)
{
    bench_panels(context);
    bench_batches(context);
}

#endif
