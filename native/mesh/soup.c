#include "mesh/soup.h"

#include "base/memory.h"
#include "mesh/geometry.h"

#include <string.h>

/* Pieces larger than this many cells are cut: their boxes would hold mostly points that are far from them. */
#define LARGEST_PIECE 2.5
#define TRIANGLES_PER_LOOK 4096 /* at the cancel flag */

static SnStatus add_piece(SnContext *context, SnSoup *soup, const double corners[9])
{
    if (soup->count == soup->capacity) {
        size_t capacity = 2 * soup->capacity;
        double *larger = sn_reallocate(context, soup->corners, 9 * capacity, sizeof(double));
        if (larger == NULL) {
            return SN_OUT_OF_MEMORY;
        }
        soup->corners = larger;
        soup->capacity = capacity;
    }
    memcpy(soup->corners + 9 * soup->count, corners, 9 * sizeof(double));
    soup->count++;
    return SN_OK;
}

/* Cuts at the middle of the longest edge until the triangle is small. */
static SnStatus add_triangle(SnContext *context, SnSoup *soup, const double corners[9])
{
    int longest = 0;
    double lengths[3];
    for (int i = 0; i < 3; i++) {
        lengths[i] = sn_distance_squared(corners + 3 * i, corners + 3 * ((i + 1) % 3));
        if (lengths[i] > lengths[longest]) {
            longest = i;
        }
    }
    if (lengths[longest] <= LARGEST_PIECE * LARGEST_PIECE) {
        return add_piece(context, soup, corners);
    }
    double middle[3];
    int next = (longest + 1) % 3;
    for (int axis = 0; axis < 3; axis++) {
        middle[axis] = 0.5 * (corners[3 * longest + axis] + corners[3 * next + axis]);
    }
    double half[9];
    memcpy(half, corners, sizeof half);
    memcpy(half + 3 * next, middle, sizeof middle);
    SnStatus status = add_triangle(context, soup, half);
    if (status == SN_OK) {
        memcpy(half, corners, sizeof half);
        memcpy(half + 3 * longest, middle, sizeof middle);
        status = add_triangle(context, soup, half);
    }
    return status;
}

static void bound_pieces(SnSoup *soup)
{
    for (size_t piece = 0; piece < soup->count; piece++) {
        const double *x = soup->corners + 9 * piece;
        for (size_t axis = 0; axis < 3; axis++) {
            soup->boxes[6 * piece + axis] = sn_least(x[axis], sn_least(x[3 + axis], x[6 + axis]));
            soup->boxes[6 * piece + 3 + axis] = sn_largest(x[axis], sn_largest(x[3 + axis], x[6 + axis]));
        }
    }
}

SnStatus sn_soup_build(SnContext *context, const SnTriMesh *mesh, const SnLattice *lattice, SnSoup *soup)
{
    SnStatus status = SN_OK;
    uint8_t *used = NULL;
    double corners[9];
    *soup = (SnSoup){0};
    soup->capacity = mesh->triangle_count + 64;
    SN_TRY_NEW(context, soup->corners, 9 * soup->capacity, double);
    SN_TRY_NEW(context, used, mesh->vertex_count, uint8_t);
    sn_context_stage(context, "Reading the surface", (long)mesh->triangle_count);
    for (size_t triangle = 0; triangle < mesh->triangle_count; triangle++) {
        if (triangle % TRIANGLES_PER_LOOK == 0) {
            SN_TRY(sn_context_advance(context, (long)triangle));
        }
        for (size_t i = 0; i < 3; i++) {
            size_t vertex = (size_t)mesh->triangles[3 * triangle + i];
            sn_lattice_from_world(lattice, mesh->positions + 3 * vertex, corners + 3 * i);
            used[vertex] = 1;
        }
        SN_TRY(add_triangle(context, soup, corners));
    }
    for (size_t vertex = 0; vertex < mesh->vertex_count; vertex++) {
        if (!used[vertex]) {
            for (size_t i = 0; i < 3; i++) {
                sn_lattice_from_world(lattice, mesh->positions + 3 * vertex, corners + 3 * i);
            }
            SN_TRY(add_piece(context, soup, corners));
        }
    }
    SN_TRY(sn_context_look(context));
    SN_TRY_NEW(context, soup->boxes, 6 * soup->count, double);
    bound_pieces(soup);
    SN_TRY(sn_box_tree_build(context, soup->count, soup->boxes, &soup->tree));
cleanup:
    sn_release(used);
    if (status != SN_OK) {
        sn_soup_clear(soup);
    }
    return status;
}

void sn_soup_clear(SnSoup *soup)
{
    sn_release(soup->corners);
    sn_release(soup->boxes);
    sn_box_tree_clear(&soup->tree);
    *soup = (SnSoup){0};
}

static double piece_distance(const void *data, int32_t item, const double point[3])
{
    const double *x = (const double *)data + 9 * (size_t)item;
    return sn_triangle_distance_squared(point, x, x + 3, x + 6);
}

double sn_soup_distance(const SnSoup *soup, const double point[3], double limit)
{
    double squared = limit * limit;
    int32_t nearest = sn_box_tree_nearest(&soup->tree, point, piece_distance, soup->corners, &squared);
    return nearest < 0 ? limit : sqrt(squared);
}
