/* Meshes for the native tests of the mesh layer. */
#ifndef SN_TESTS_SHAPES_H
#define SN_TESTS_SHAPES_H

#include "base/memory.h"
#include "mesh/tri_mesh.h"

#define SHAPE_PI 3.14159265358979323846

/* A mesh that owns its arrays. */
typedef struct Shape {
    size_t vertex_count, triangle_count;
    double *positions;
    int32_t *triangles;
} Shape;

static inline Shape shape_new(SnContext *context, size_t vertex_count, size_t triangle_count)
{
    Shape shape = {vertex_count, triangle_count, SN_NEW(context, 3 * vertex_count, double),
                   SN_NEW(context, 3 * triangle_count, int32_t)};
    return shape;
}

static inline void shape_clear(Shape *shape)
{
    sn_release(shape->positions);
    sn_release(shape->triangles);
    *shape = (Shape){0};
}

static inline SnTriMesh shape_mesh(const Shape *shape)
{
    return (SnTriMesh){shape->vertex_count, shape->triangle_count, shape->positions, shape->triangles};
}

/* Triangles of a grid of (columns + 1) x (rows + 1) vertices, row by row. */
static inline void shape_grid_triangles(Shape *shape, int columns, int rows)
{
    int32_t *t = shape->triangles;
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns; i++) {
            int32_t a = j * (columns + 1) + i, b = a + 1, c = b + columns + 1, d = a + columns + 1;
            *t++ = a, *t++ = b, *t++ = c;
            *t++ = a, *t++ = c, *t++ = d;
        }
    }
}

/* A flat square of n x n quads, `side` metres, at `origin`, spanned by u and v (unit vectors). */
static inline Shape shape_plate(SnContext *context, int n, double side, const double origin[3], const double u[3],
                                const double v[3])
{
    Shape shape = shape_new(context, (size_t)((n + 1) * (n + 1)), (size_t)(2 * n * n));
    for (int j = 0; j <= n; j++) {
        for (int i = 0; i <= n; i++) {
            for (int axis = 0; axis < 3; axis++) {
                shape.positions[3 * (j * (n + 1) + i) + axis] = origin[axis] + side * (i * u[axis] + j * v[axis]) / n;
            }
        }
    }
    shape_grid_triangles(&shape, n, n);
    return shape;
}

/* A sphere of n x 2n quads (triangles at the poles are degenerate, the seam is split). The part above `open` (-1..1 along
   z; 1: nothing) is left out. */
static inline Shape shape_sphere(SnContext *context, int n, double radius, const double center[3], double open)
{
    Shape shape = shape_new(context, (size_t)((2 * n + 1) * (n + 1)), (size_t)(4 * n * n));
    double top = acos(open);
    for (int j = 0; j <= n; j++) {
        double polar = SHAPE_PI + (top - SHAPE_PI) * j / n;
        double ring = j == 0 || (j == n && top <= 0.0) ? 0.0 : radius * sin(polar); /* the poles close exactly too */
        for (int i = 0; i <= 2 * n; i++) {
            double *x = shape.positions + 3 * (j * (2 * n + 1) + i);
            double turn = SHAPE_PI * (i % (2 * n)) / n; /* the seam closes exactly */
            x[0] = center[0] + ring * cos(turn);
            x[1] = center[1] + ring * sin(turn);
            x[2] = center[2] + radius * cos(polar);
        }
    }
    shape_grid_triangles(&shape, 2 * n, n);
    return shape;
}

/* Both meshes in one. Takes and clears them. */
static inline Shape shape_join(SnContext *context, Shape a, Shape b)
{
    Shape shape = shape_new(context, a.vertex_count + b.vertex_count, a.triangle_count + b.triangle_count);
    for (size_t i = 0; i < 3 * shape.vertex_count; i++) {
        shape.positions[i] = i < 3 * a.vertex_count ? a.positions[i] : b.positions[i - 3 * a.vertex_count];
    }
    for (size_t i = 0; i < 3 * shape.triangle_count; i++) {
        shape.triangles[i] = i < 3 * a.triangle_count ? a.triangles[i]
                                                      : b.triangles[i - 3 * a.triangle_count] + (int32_t)a.vertex_count;
    }
    shape_clear(&a);
    shape_clear(&b);
    return shape;
}

#endif
