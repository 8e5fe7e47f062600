#include "contact/trees.h"

#include "base/memory.h"

#define WORSE 1.5

struct SnBodyTree {
    SnBoxTree tree;
    int is_built;
    long visits, visits_when_new; /* of the last search that the body took part in, and of the first */
};

SnStatus sn_trees_init(SnContext *context, const SnSurface *surface, SnTrees *trees)
{
    SnStatus status = SN_OK;
    *trees = (SnTrees){.surface = surface};
    SN_TRY_NEW(context, trees->bodies, surface->body_count, SnBodyTree);
    SN_TRY_NEW(context, trees->boxes, 6 * surface->triangle_count, double);
cleanup:
    if (status != SN_OK) {
        sn_trees_clear(trees);
    }
    return status;
}

void sn_trees_clear(SnTrees *trees)
{
    for (size_t b = 0; trees->bodies != NULL && b < trees->surface->body_count; b++) {
        sn_box_tree_clear(&trees->bodies[b].tree);
    }
    sn_release(trees->bodies);
    sn_release(trees->boxes);
    sn_box_pairs_clear(&trees->found);
    *trees = (SnTrees){0};
}

SnStatus sn_trees_fit(SnContext *context, SnTrees *trees)
{
    SnStatus status = SN_OK;
    for (size_t b = 0; b < trees->surface->body_count; b++) {
        const SnSurfaceBody *body = trees->surface->bodies + b;
        SnBodyTree *own = trees->bodies + b;
        const double *boxes = trees->boxes + 6 * body->first_triangle;
        if (own->is_built && (double)own->visits <= WORSE * (double)own->visits_when_new) {
            sn_box_tree_refit(&own->tree, boxes);
            continue;
        }
        sn_box_tree_clear(&own->tree);
        own->is_built = 0;
        SN_TRY(sn_box_tree_build(context, body->triangle_count, boxes, &own->tree));
        own->is_built = 1;
        own->visits_when_new = -1; /* to be told by the next search */
        trees->builds++;
    }
cleanup:
    return status;
}

int sn_trees_bodies_meet(const SnSurface *surface, size_t body, size_t other, int still)
{
    const SnSurfaceBody *a = surface->bodies + body, *b = surface->bodies + other;
    return surface->active[body] && surface->active[other] && surface->meets[body * surface->body_count + other] &&
           (still || a->moves || b->moves) && a->triangle_count > 0 && b->triangle_count > 0;
}

static int roots_meet(const SnBoxTree *tree, const SnBoxTree *other, double margin)
{
    const SnBoxTreeNode *a = tree->nodes, *b = other->nodes;
    int meet = 1;
    for (int axis = 0; axis < 3; axis++) {
        meet &= a->low[axis] - margin <= b->high[axis] && b->low[axis] - margin <= a->high[axis];
    }
    return meet;
}

static SnStatus find_pairs(SnContext *context, SnTrees *trees, size_t body, size_t other, double margin)
{
    const SnSurfaceBody *a = trees->surface->bodies + body, *b = trees->surface->bodies + other;
    const double *boxes = trees->boxes + 6 * a->first_triangle, *other_boxes = trees->boxes + 6 * b->first_triangle;
    SnBodyTree *one = trees->bodies + body, *two = trees->bodies + other;
    SnStatus status = body == other
                          ? sn_box_pairs_find_own(context, &one->tree, boxes, margin, &trees->found)
                          : sn_box_pairs_find(context, &one->tree, boxes, &two->tree, other_boxes, margin, &trees->found);
    one->visits += trees->found.visits;
    two->visits += body == other ? 0 : trees->found.visits;
    trees->visits += trees->found.visits;
    return status;
}

SnStatus sn_trees_meet(SnContext *context, SnTrees *trees, double margin, int still, SnBodiesFunction function, void *data)
{
    SnStatus status = SN_OK;
    const SnSurface *surface = trees->surface;
    for (size_t b = 0; b < surface->body_count; b++) {
        trees->bodies[b].visits = 0;
    }
    for (size_t a = 0; a < surface->body_count; a++) {
        for (size_t b = a; b < surface->body_count; b++) {
            if (sn_trees_bodies_meet(surface, a, b, still) && roots_meet(&trees->bodies[a].tree, &trees->bodies[b].tree, margin)) {
                SN_TRY(sn_context_look(context));
                SN_TRY(find_pairs(context, trees, a, b, margin));
                SN_TRY(function(context, data, a, b, &trees->found));
            }
        }
    }
    for (size_t b = 0; b < surface->body_count; b++) {
        SnBodyTree *own = trees->bodies + b;
        own->visits_when_new = own->visits_when_new < 0 ? own->visits : own->visits_when_new;
    }
cleanup:
    return status;
}

int32_t sn_trees_nearest(const SnTrees *trees, size_t body, const double point[3], SnItemDistance distance, const void *data,
                         double *distance_squared)
{
    return sn_box_tree_nearest(&trees->bodies[body].tree, point, distance, data, distance_squared);
}
