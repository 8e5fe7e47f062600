#include "method/edit/pose.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "math/batch3.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

#define CHUNK ((size_t)256)
#define FLAT 0.02 /* of its rest volume or area: below it a cell's rotation says nothing */

void sn_edit_pose_clear(SnEditPose *pose)
{
    sn_release(pose->shown);
    sn_release(pose->gradients);
    sn_release(pose->rotations);
    sn_release(pose->scratch);
    sn_release(pose->partial);
    sn_release(pose->wished);
    sn_release(pose->missing);
    sn_release(pose->shifts);
    sn_release(pose->queue);
    memset(pose, 0, sizeof *pose);
}

SnStatus sn_edit_pose_init(SnContext *context, SnEditBody *body, SnEditPose *pose)
{
    SnStatus status = SN_OK;
    size_t cells = body->cell_count, all = body->source_count;
    *pose = (SnEditPose){.body = body};
    SN_TRY_NEW(context, pose->shown, 3 * body->vertex_count, double);
    SN_TRY_NEW(context, pose->gradients, 9 * cells, double);
    SN_TRY_NEW(context, pose->rotations, 9 * cells, double);
    SN_TRY_NEW(context, pose->scratch, all > 3 * cells ? 9 * all : 27 * cells, double);
    pose->changes = pose->scratch;
    SN_TRY_NEW(context, pose->partial, 3 * sn_parallel_chunk_count(cells, CHUNK), double);
    SN_TRY_NEW(context, pose->queue, cells, int32_t);
    SN_TRY_NEW(context, pose->wished, 3 * body->vertex_count, double);
    SN_TRY_NEW(context, pose->missing, 9 * cells, double);
    SN_TRY_NEW(context, pose->shifts, 3 * cells, double);
cleanup:
    if (status != SN_OK) {
        sn_edit_pose_clear(pose);
    }
    return status;
}

/* From components one after the other to matrices one after the other. */
static void transpose(size_t count, const double *from, double *to)
{
    for (size_t e = 0; e < count; e++) {
        for (size_t k = 0; k < 9; k++) {
            to[9 * e + k] = from[k * count + e];
        }
    }
}

/* Sound rotations spread over sides into cells that have none; a part without any keeps its own. */
static void mend_rotations(SnEditPose *pose)
{
    const SnEditBody *body = pose->body;
    size_t count = body->cell_count, found = 0;
    double *sound = pose->changes; /* free until rows are asked for */
    for (size_t e = 0; e < count; e++) {
        sound[e] = sn_mat3_determinant(pose->gradients + 9 * e) > FLAT;
        if (sound[e] != 0.0) {
            pose->queue[found++] = (int32_t)e;
        }
    }
    for (size_t next = 0; found < count && next < found; next++) {
        size_t e = (size_t)pose->queue[next];
        for (size_t i = 0; i < body->corners; i++) {
            int32_t beside = body->neighbours[body->corners * e + i];
            if (beside >= 0 && sound[beside] == 0.0) {
                sound[beside] = 1.0;
                memcpy(pose->rotations + 9 * (size_t)beside, pose->rotations + 9 * e, 9 * sizeof *pose->rotations);
                pose->queue[found++] = beside;
            }
        }
    }
}

/* Of tets. */
static void find_tet_gradients(SnEditPose *pose)
{
    const SnTetElements *elements = &pose->body->tets;
    sn_tet_elements_gradients(elements, elements->inverse_rest, pose->shown, pose->scratch);
    transpose(elements->count, pose->scratch, pose->gradients);
    sn_tet_elements_rotations(elements, elements->inverse_rest, pose->shown, pose->scratch);
    transpose(elements->count, pose->scratch, pose->rotations);
}

/* Σ (x_i - x_0) ⊗ slope_i: gradient (3 x 3) of values at the vertices. Returns whether there is any. */
static int find_gradient(const SnEditBody *body, size_t cell, const double *values, double gradient[9])
{
    const int32_t *corner = body->cells + body->corners * cell;
    const double *slopes = body->slopes + 3 * body->corners * cell, *first = values + 3 * (size_t)corner[0];
    int any = 0;
    memset(gradient, 0, 9 * sizeof *gradient);
    for (size_t i = 1; i < body->corners; i++) {
        const double *other = values + 3 * (size_t)corner[i];
        for (size_t a = 0; a < 3; a++) {
            double edge = other[a] - first[a];
            any |= edge != 0.0;
            for (size_t b = 0; b < 3; b++) {
                gradient[3 * a + b] += edge * slopes[3 * i + b];
            }
        }
    }
    return any;
}

/* That of a triangle with its normal, which goes along with the surface. */
static void find_triangle_gradient(const SnEditPose *pose, size_t cell, double gradient[9])
{
    const SnEditBody *body = pose->body;
    const int32_t *corner = body->cells + 3 * cell;
    double edges[6], normal[3];
    find_gradient(body, cell, pose->shown, gradient);
    for (size_t k = 0; k < 6; k++) {
        edges[k] = pose->shown[3 * (size_t)corner[1 + k / 3] + k % 3] - pose->shown[3 * (size_t)corner[0] + k % 3];
    }
    sn_cross3(edges, edges + 3, normal);
    double length = sqrt(sn_dot3(normal, normal));
    for (size_t a = 0; a < 3 && length > 0.0; a++) {
        for (size_t b = 0; b < 3; b++) {
            gradient[3 * a + b] += normal[a] / length * body->normals[3 * cell + b];
        }
    }
}

static void find_triangle_gradients(SnEditPose *pose)
{
    size_t count = pose->body->cell_count;
    for (size_t e = 0; e < count; e++) {
        find_triangle_gradient(pose, e, pose->gradients + 9 * e);
    }
    for (size_t first = 0; first < count; first += SN_LANES) {
        SnLanes f[9], r[9], stretch[6];
        for (size_t lane = 0; lane < SN_LANES; lane++) {
            size_t e = first + lane < count ? first + lane : first;
            for (size_t k = 0; k < 9; k++) {
                f[k][lane] = pose->gradients[9 * e + k];
            }
        }
        sn_batch3_polar(f, r, stretch);
        for (size_t lane = 0; lane < SN_LANES && first + lane < count; lane++) {
            for (size_t k = 0; k < 9; k++) {
                pose->rotations[9 * (first + lane) + k] = r[k][lane];
            }
        }
    }
}

void sn_edit_pose_set(SnEditPose *pose, const double *shown)
{
    size_t bytes = 3 * pose->body->vertex_count * sizeof *shown;
    if (pose->is_set && memcmp(pose->shown, shown, bytes) == 0) {
        return;
    }
    memcpy(pose->shown, shown, bytes);
    (pose->body->normals != NULL ? find_triangle_gradients : find_tet_gradients)(pose);
    mend_rotations(pose);
    pose->is_set = 1;
    pose->is_wished = 0;
}

/* What the edit of one cell is: its turn, strain and rotation. */
typedef struct CellEdit {
    double turn[3];        /* ω */
    double strain[9];      /* ε */
    double stretch[9];     /* E(ε) */
    double rotation[9];    /* exp(ω) */
    double sides[2];       /* (1 - cos θ) / θ² and (θ - sin θ) / θ³ of its angle θ */
    int is_zero;
} CellEdit;

/* exp(ω) = I + a [ω] + b [ω]², a = sin θ / θ. */
static void rotate(const double w[3], double m[9], double sides[2])
{
    double square = sn_dot3(w, w), angle = sqrt(square), a, b, c;
    if (square < 1e-4) {
        a = 1.0 - square / 6.0 * (1.0 - square / 20.0);
        b = 0.5 - square / 24.0 * (1.0 - square / 30.0);
        c = 1.0 / 6.0 - square / 120.0 * (1.0 - square / 42.0);
    } else {
        a = sin(angle) / angle;
        b = (1.0 - cos(angle)) / square;
        c = (1.0 - a) / square;
    }
    double diagonal = 1.0 - b * square;
    m[0] = diagonal + b * w[0] * w[0], m[1] = b * w[0] * w[1] - a * w[2], m[2] = b * w[0] * w[2] + a * w[1];
    m[3] = b * w[0] * w[1] + a * w[2], m[4] = diagonal + b * w[1] * w[1], m[5] = b * w[1] * w[2] - a * w[0];
    m[6] = b * w[0] * w[2] - a * w[1], m[7] = b * w[1] * w[2] + a * w[0], m[8] = diagonal + b * w[2] * w[2];
    sides[0] = b;
    sides[1] = c;
}

/* The normal N of a triangle turns with it: H - HᵀN ⊗ N has its turn, and no strain across it. */
static void add_normal(const double n[3], double h[9])
{
    double turned[3];
    for (int a = 0; a < 3; a++) {
        turned[a] = h[a] * n[0] + h[3 + a] * n[1] + h[6 + a] * n[2];
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            h[3 * a + b] -= turned[a] * n[b];
        }
    }
}

static void find_edit(const SnEditBody *body, size_t cell, const double *p, CellEdit *edit)
{
    double h[9], square[9];
    edit->is_zero = !find_gradient(body, cell, p, h);
    if (body->normals != NULL) {
        add_normal(body->normals + 3 * cell, h);
    }
    edit->turn[0] = 0.5 * (h[7] - h[5]);
    edit->turn[1] = 0.5 * (h[2] - h[6]);
    edit->turn[2] = 0.5 * (h[3] - h[1]);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            edit->strain[3 * i + j] = 0.5 * (h[3 * i + j] + h[3 * j + i]);
        }
    }
    sn_mat3_multiply(edit->strain, edit->strain, square);
    for (int k = 0; k < 9; k++) {
        edit->stretch[k] = (k % 4 == 0 ? 1.0 : 0.0) + edit->strain[k] + 0.5 * square[k];
    }
    rotate(edit->turn, edit->rotation, edit->sides);
}

/* R̄ (exp(ω) E - I) R̄ᵀ F̄ */
static void find_missing(const SnEditPose *pose, size_t cell, const CellEdit *edit, double missing[9])
{
    const double *turned = pose->rotations + 9 * cell;
    double change[9], left[9], back[9], middle[9];
    if (edit->is_zero) {
        memset(missing, 0, 9 * sizeof *missing);
        return;
    }
    sn_mat3_multiply(edit->rotation, edit->stretch, change);
    change[0] -= 1.0, change[4] -= 1.0, change[8] -= 1.0;
    sn_mat3_multiply(turned, change, left);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            back[3 * i + j] = turned[3 * j + i];
        }
    }
    sn_mat3_multiply(left, back, middle);
    sn_mat3_multiply(middle, pose->gradients + 9 * cell, missing);
}

static void multiply_vector(const double m[9], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = sn_dot3(m + 3 * i, v);
    }
}

/* R̄ times the mean edit of a cell. */
static void find_shift(const SnEditPose *pose, size_t cell, const double *p, double shift[3])
{
    size_t count = pose->body->corners;
    const int32_t *corners = pose->body->cells + count * cell;
    double mean[3] = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < 3; a++) {
            mean[a] += p[3 * (size_t)corners[i] + a] / (double)count;
        }
    }
    multiply_vector(pose->rotations + 9 * cell, mean, shift);
}

typedef struct PoseJob {
    SnEditPose *pose;
    const double *p, *lever;
    double *rows;
} PoseJob;

/* How much the mean edit of a cell moves its part, and with it what a lever is for. */
static double find_share(const SnEditBody *body, size_t cell, const double *lever)
{
    int32_t part = body->loose[cell];
    return part < 0 ? 0.0 : lever[3 * body->cell_count + (size_t)part] * body->volume[cell] / body->loose_volume[part];
}

static void wish_cells(void *data, size_t chunk, size_t begin, size_t end)
{
    const PoseJob *job = data;
    SnEditPose *pose = job->pose;
    (void)chunk;
    for (size_t e = begin; e < end; e++) {
        CellEdit edit;
        find_edit(pose->body, e, job->p, &edit);
        find_missing(pose, e, &edit, pose->missing + 9 * e);
        find_shift(pose, e, job->p, pose->shifts + 3 * e);
    }
}

/* What all cells wish for by the edit p: at hand where it is that of the last call, as for all handles of a moment. */
static void wish(SnEditPose *pose, const double *p)
{
    PoseJob job = {pose, p, NULL, NULL};
    size_t bytes = 3 * pose->body->vertex_count * sizeof *p;
    if (pose->is_wished && memcmp(pose->wished, p, bytes) == 0) {
        return;
    }
    memcpy(pose->wished, p, bytes);
    sn_parallel_for(pose->body->cell_count, CHUNK, wish_cells, &job);
    pose->is_wished = 1;
}

static void measure_cells(void *data, size_t chunk, size_t begin, size_t end)
{
    const PoseJob *job = data;
    const SnEditPose *pose = job->pose;
    double sum[3] = {0};
    for (size_t e = begin; e < end; e++) {
        double moved[3];
        double share = find_share(pose->body, e, job->lever);
        multiply_vector(pose->missing + 9 * e, job->lever + 3 * e, moved);
        for (size_t a = 0; a < 3; a++) {
            sum[a] += moved[a] + share * pose->shifts[3 * e + a];
        }
    }
    memcpy(pose->partial + 3 * chunk, sum, sizeof sum);
}

void sn_edit_pose_measure(SnEditPose *pose, const double *p, const double *lever, double offset[3])
{
    PoseJob job = {pose, p, lever, NULL};
    size_t count = pose->body->cell_count;
    wish(pose, p);
    sn_parallel_for(count, CHUNK, measure_cells, &job);
    memset(offset, 0, 3 * sizeof *offset);
    for (size_t c = 0; c < sn_parallel_chunk_count(count, CHUNK); c++) {
        for (size_t a = 0; a < 3; a++) {
            offset[a] += pose->partial[3 * c + a];
        }
    }
}

/* derivative (3 x 9): of R̄ exp(ω) E(ε) b by ∇p, with b = R̄ᵀ F̄ times slopes. */
static void differentiate(const SnEditPose *pose, size_t cell, const CellEdit *edit, const double slopes[3], double derivative[27])
{
    const double *turned = pose->rotations + 9 * cell, *w = edit->turn, *strain = edit->strain;
    double moved[3], b[3], more[3], c[3], turn[9], jacobian[9];
    multiply_vector(pose->gradients + 9 * cell, slopes, moved);
    for (int i = 0; i < 3; i++) {
        b[i] = turned[i] * moved[0] + turned[3 + i] * moved[1] + turned[6 + i] * moved[2];
    }
    multiply_vector(edit->stretch, b, c);
    multiply_vector(strain, b, more);
    for (int i = 0; i < 3; i++) {
        more[i] = b[i] + 0.5 * more[i];
    }
    sn_mat3_multiply(turned, edit->rotation, turn);
    /* right Jacobian: I - s0 [ω] + s1 [ω]² */
    double square = sn_dot3(w, w), cross[9] = {0.0, -w[2], w[1], w[2], 0.0, -w[0], -w[1], w[0], 0.0};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double unit = i == j ? 1.0 : 0.0;
            jacobian[3 * i + j] = unit - edit->sides[0] * cross[3 * i + j] + edit->sides[1] * (w[i] * w[j] - square * unit);
        }
    }
    for (int d = 0; d < 3; d++) {
        const double *n = turn + 3 * d;
        double around[3], by_turn[3], bent[3];
        sn_cross3(c, n, around); /* n · (v × c) = v · (c × n) */
        multiply_vector(strain, n, bent);
        for (int j = 0; j < 3; j++) {
            by_turn[j] = around[0] * jacobian[j] + around[1] * jacobian[3 + j] + around[2] * jacobian[6 + j];
        }
        double *out = derivative + 9 * d;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                out[3 * i + j] = 0.5 * (n[i] * more[j] + n[j] * more[i]) + 0.25 * (bent[i] * b[j] + bent[j] * b[i]);
            }
        }
        out[7] += 0.5 * by_turn[0], out[5] -= 0.5 * by_turn[0];
        out[2] += 0.5 * by_turn[1], out[6] -= 0.5 * by_turn[1];
        out[3] += 0.5 * by_turn[2], out[1] -= 0.5 * by_turn[2];
    }
}

/* By the gradient of a triangle's corners, whose normal goes along: D - N ⊗ D N. */
static void without_normal(const double n[3], double derivative[27])
{
    for (int d = 0; d < 3; d++) {
        double *one = derivative + 9 * d, along[3];
        multiply_vector(one, n, along);
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) {
                one[3 * a + b] -= n[a] * along[b];
            }
        }
    }
}

static void differentiate_cells(void *data, size_t chunk, size_t begin, size_t end)
{
    const PoseJob *job = data;
    const SnEditBody *body = job->pose->body;
    (void)chunk;
    for (size_t e = begin; e < end; e++) {
        CellEdit edit;
        double *derivative = job->pose->changes + 27 * e;
        find_edit(body, e, job->p, &edit);
        differentiate(job->pose, e, &edit, job->lever + 3 * e, derivative);
        if (body->normals != NULL) {
            without_normal(body->normals + 3 * e, derivative);
        }
    }
}

/* Rows of each unknown: what the cells around it say of their corner. */
static void gather_rows(void *data, size_t chunk, size_t begin, size_t end)
{
    const PoseJob *job = data;
    const SnEditBody *body = job->pose->body;
    const SnAssembly *assembly = &body->world.assembly;
    size_t width = 3 * assembly->unknown_count, corners = body->corners, all = corners * body->cell_count;
    (void)chunk;
    for (size_t k = begin; k < end; k++) {
        size_t v = (size_t)assembly->vertex[k];
        double sum[9] = {0};
        for (int32_t at = assembly->vertex_start[v]; at < assembly->vertex_start[v + 1]; at++) {
            size_t source = (size_t)assembly->vertex_source[at], e = source / corners;
            if (source >= all) { /* the hinges' */
                continue;
            }
            const double *change = job->pose->changes + 27 * e, *turned = job->pose->rotations + 9 * e;
            double share = find_share(body, e, job->lever) / (double)corners;
            for (size_t i = 0; i < 9; i++) {
                sum[i] += sn_dot3(change + 3 * i, body->slopes + 3 * source) + share * turned[i];
            }
        }
        for (size_t d = 0; d < 3; d++) {
            memcpy(job->rows + d * width + 3 * k, sum + 3 * d, 3 * sizeof *sum);
        }
    }
}

void sn_edit_pose_rows(SnEditPose *pose, const double *p, const double *lever, double *rows)
{
    PoseJob job = {pose, p, lever, rows};
    sn_parallel_for(pose->body->cell_count, CHUNK, differentiate_cells, &job);
    sn_parallel_for(pose->body->world.assembly.unknown_count, CHUNK, gather_rows, &job);
}

/* Loose parts go with the mean of their edit. */
static SnStatus shift_loose(SnContext *context, const SnEditPose *pose, double *result)
{
    SnStatus status = SN_OK;
    const SnEditBody *body = pose->body;
    size_t part_count;
    const int32_t *parts = sn_warp_loose_parts(body->warp, &part_count);
    double *shifts = NULL;
    SN_TRY_NEW(context, shifts, 3 * part_count, double);
    for (size_t e = 0; e < body->cell_count; e++) {
        double share = body->loose[e] >= 0 ? body->volume[e] / body->loose_volume[body->loose[e]] : 0.0;
        for (size_t a = 0; a < 3 && body->loose[e] >= 0; a++) {
            shifts[3 * (size_t)body->loose[e] + a] += share * pose->shifts[3 * e + a];
        }
    }
    for (size_t k = 0; k < 3 * body->vertex_count; k++) {
        if (parts[k / 3] >= 0) {
            result[k] += shifts[3 * (size_t)parts[k / 3] + k % 3];
        }
    }
cleanup:
    sn_release(shifts);
    return status;
}

SnStatus sn_edit_pose_warp(SnContext *context, SnEditPose *pose, const double *p, double *result)
{
    SnStatus status = SN_OK;
    const SnEditBody *body = pose->body;
    const double *missing = pose->missing;
    memcpy(result, pose->shown, 3 * body->vertex_count * sizeof *result);
    wish(pose, p);
    if (body->sources != NULL) {
        memset(pose->scratch, 0, 9 * body->source_count * sizeof *pose->scratch);
        for (size_t e = 0; e < body->cell_count; e++) {
            memcpy(pose->scratch + 9 * (size_t)body->sources[e], pose->missing + 9 * e, 9 * sizeof *pose->scratch);
        }
        missing = pose->scratch;
    }
    SN_TRY(sn_warp_correct(context, body->warp, missing, result));
    SN_TRY(shift_loose(context, pose, result));
cleanup:
    return status;
}
