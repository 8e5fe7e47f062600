#include "mesh/winding.h"

#include "base/memory.h"
#include "mesh/geometry.h"

#include <string.h>

#define FAR 2.0 /* radii from a group's center at which it counts as one dipole */

/* Solid angle of a triangle (van Oosterom and Strackee 1983). */
static double solid_angle(const double point[3], const double *x)
{
    double a[3], b[3], c[3], n[3];
    sn_subtract(x, point, a);
    sn_subtract(x + 3, point, b);
    sn_subtract(x + 6, point, c);
    double la = sn_length(a), lb = sn_length(b), lc = sn_length(c);
    sn_cross3(b, c, n);
    double numerator = sn_dot3(a, n);
    double denominator = la * lb * lc + sn_dot3(a, b) * lc + sn_dot3(b, c) * la + sn_dot3(c, a) * lb;
    return 2.0 * atan2(numerator, denominator);
}

static void make_dipole(const SnWinding *winding, const SnBoxTreeNode *node, SnDipole *dipole)
{
    double weight = 0.0;
    *dipole = (SnDipole){0};
    for (int32_t i = node->begin; i < node->end; i++) {
        const double *x = winding->corners + 9 * (size_t)winding->tree.items[i];
        double u[3], v[3], n[3];
        sn_subtract(x + 3, x, u);
        sn_subtract(x + 6, x, v);
        sn_cross3(u, v, n);
        double area = 0.5 * sn_length(n);
        for (int axis = 0; axis < 3; axis++) {
            dipole->normal[axis] += 0.5 * n[axis];
            dipole->center[axis] += area * (x[axis] + x[3 + axis] + x[6 + axis]) / 3.0;
        }
        weight += area;
    }
    double farthest[3];
    for (int axis = 0; axis < 3; axis++) {
        double middle = 0.5 * (node->low[axis] + node->high[axis]);
        dipole->center[axis] = weight > 0.0 ? dipole->center[axis] / weight : middle;
        farthest[axis] = sn_largest(node->high[axis] - dipole->center[axis], dipole->center[axis] - node->low[axis]);
    }
    dipole->radius = sn_length(farthest);
}

SnStatus sn_winding_build(SnContext *context, size_t triangle_count, const double *corners, SnWinding *winding)
{
    SnStatus status = SN_OK;
    double *boxes = NULL;
    *winding = (SnWinding){0};
    SN_TRY_NEW(context, boxes, 6 * triangle_count, double);
    SN_TRY_NEW(context, winding->corners, 9 * triangle_count, double);
    memcpy(winding->corners, corners, 9 * triangle_count * sizeof(double));
    for (size_t i = 0; i < 3 * triangle_count; i++) {
        const double *x = corners + 9 * (i / 3) + i % 3;
        boxes[6 * (i / 3) + i % 3] = sn_least(x[0], sn_least(x[3], x[6]));
        boxes[6 * (i / 3) + 3 + i % 3] = sn_largest(x[0], sn_largest(x[3], x[6]));
    }
    SN_TRY(sn_box_tree_build(context, triangle_count, boxes, &winding->tree));
    SN_TRY_NEW(context, winding->dipoles, winding->tree.node_count, SnDipole);
    for (size_t i = 0; i < winding->tree.node_count; i++) {
        make_dipole(winding, winding->tree.nodes + i, winding->dipoles + i);
    }
cleanup:
    sn_release(boxes);
    if (status != SN_OK) {
        sn_winding_clear(winding);
    }
    return status;
}

void sn_winding_clear(SnWinding *winding)
{
    sn_box_tree_clear(&winding->tree);
    sn_release(winding->corners);
    sn_release(winding->dipoles);
    *winding = (SnWinding){0};
}

typedef struct View {
    const SnWinding *winding;
    const double *point;
    double sum; /* of solid angles */
} View;

/* A far group counts as a whole. */
static int look_closer(void *data, const SnBoxTree *tree, size_t node)
{
    View *view = data;
    const SnDipole *dipole = view->winding->dipoles + node;
    double away[3];
    (void)tree;
    sn_subtract(dipole->center, view->point, away);
    double squared = sn_dot3(away, away);
    if (squared > FAR * FAR * dipole->radius * dipole->radius) {
        view->sum += sn_dot3(dipole->normal, away) / (squared * sqrt(squared));
        return 0;
    }
    return 1;
}

static void add_triangle(void *data, int32_t item, int32_t place)
{
    View *view = data;
    (void)place;
    view->sum += solid_angle(view->point, view->winding->corners + 9 * (size_t)item);
}

double sn_winding_number(const SnWinding *winding, const double point[3])
{
    View view = {winding, point, 0.0};
    sn_box_tree_visit(&winding->tree, look_closer, add_triangle, &view);
    return view.sum / (4.0 * SN_PI);
}
