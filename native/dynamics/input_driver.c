#include "dynamics/input_driver.h"

#include <math.h>
#include <string.h>

/* Some of the world's rows, those of a body. */
static void apply_rows(const SnRows *rows, size_t first, size_t count, const double *x, double *values)
{
    SnRows part = sn_rows_part(rows, first, count);
    sn_rows_apply(&part, x, values + sn_rows_place(rows, first));
}

/* What of an acceleration is felt: nearly all of a small one, and never more than `most`. */
static double felt(const double acceleration[3], double most)
{
    double squared = 0.0;
    for (size_t a = 0; a < 3; a++) {
        squared += acceleration[a] * acceleration[a];
    }
    return squared > 0.0 ? 1.0 / sqrt(1.0 + squared / (most * most)) : 1.0;
}

/* Loads that accelerate each vertex as the input does, but for what is felt of the press of its frames: flesh that felt how the curve
   swings between frames would swing faster than Jiggle, too. */
static void carry_along(const SnInputDriver *driver, const SnWorld *world, const SnBody *body, double fraction, double *loads)
{
    for (size_t v = 0; v < body->vertex_count; v++) {
        double acceleration[3], press[3];
        if (world->fixed[body->first_vertex + v] || isinf(driver->most[v])) {
            continue;
        }
        sn_input_curve_accelerate(driver->curve, fraction, v, acceleration);
        sn_input_curve_press(driver->curve, fraction, v, press);
        double share = felt(press, driver->most[v]);
        for (size_t a = 0; a < 3; a++) {
            loads[3 * (body->first_vertex + v) + a] += world->mass[body->first_vertex + v] * (acceleration[a] - share * press[a]);
        }
    }
}

/* The material of the moment that the stage asks for. */
static void set_material(const SnInputDriver *driver, SnStage *stage)
{
    SnFirmness *firmness = driver->firmness;
    SnTetInput *input = &driver->keep_pose->input;
    input->mu = input->lambda = NULL;
    if (firmness != NULL && sn_firmness_acts(firmness)) {
        stage->has_changed |= sn_firmness_prepare(firmness, driver->curve, stage->material);
        stage->varies |= sn_firmness_varies(firmness);
        input->mu = firmness->mu;
        input->lambda = firmness->lambda;
    }
}

static SnStatus prepare(SnContext *context, void *self, const SnWorld *world, const SnBody *body, double fraction, SnStage *stage)
{
    SnInputDriver *driver = self;
    SnKeepPose *keep = driver->keep_pose;
    size_t first = body->first_vertex;
    (void)context;
    sn_input_curve_follow(driver->curve, fraction, stage->pose + 3 * first, stage->pose_velocity + 3 * first, stage->shift + 3 * first);
    apply_rows(&world->constraints.rows, body->first_row, body->row_count, stage->pose, stage->row_targets);
    apply_rows(&world->constraints.rows, body->first_row, body->row_count, stage->pose_velocity, stage->row_rates);
    apply_rows(&world->springs.rows, body->first_spring, body->spring_count, stage->pose, stage->spring_targets);
    for (size_t v = 0; v < body->vertex_count; v++) {
        double kept = keep != NULL ? keep->keep * keep->scale[v] : 0.0;
        stage->drive[first + v] = driver->drive != NULL ? driver->drive[v] : 0.0;
        stage->drag[first + v] = driver->drag != NULL ? driver->drag[v] : 0.0;
        for (size_t a = 0; a < 3; a++) {
            double weight = (1.0 - kept) * driver->gravity[a], push = driver->push != NULL ? driver->push[3 * v + a] : 0.0;
            stage->loads[3 * (first + v) + a] = world->mass[first + v] * (weight + push);
        }
    }
    if (driver->most != NULL) {
        carry_along(driver, world, body, stage->loaded, stage->loads);
    }
    if (keep != NULL) {
        sn_keep_pose_prepare(keep, stage->pose + 3 * first);
        set_material(driver, stage);
        sn_keep_pose_hold(keep, stage->pose + 3 * first, stage->loads + 3 * first);
        stage->inputs[body->first_term] = &keep->input;
    }
    return SN_OK;
}

SnDriver sn_input_driver(SnInputDriver *driver)
{
    return (SnDriver){driver, prepare};
}
