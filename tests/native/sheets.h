/* Thin shells for tests: a sheet of equilateral triangles, with its membrane, its hinges and its masses. */
#ifndef SN_TESTS_SHEETS_H
#define SN_TESTS_SHEETS_H

#include "scenes.h"

#include "energy/hinges.h"
#include "energy/triangles.h"

typedef struct Sheet {
    size_t vertex_count, triangle_count;
    double *positions;  /* vertex_count x 3 */
    int32_t *triangles; /* triangle_count x 3 */
    double *mass;
    SnTriangles membrane;
    SnHinges hinges;
    SnTerm terms[2];
} Sheet;

typedef struct SheetMaterial {
    double young, poisson, density, thickness;
} SheetMaterial;

/* Membrane, hinges and lumped masses over positions and triangles, which it takes. */
static inline Sheet sheet_from(SnContext *context, size_t vertex_count, double *positions, size_t triangle_count, int32_t *triangles,
                               SheetMaterial material)
{
    Sheet sheet = {.vertex_count = vertex_count, .triangle_count = triangle_count, .positions = positions, .triangles = triangles};
    sheet.mass = SN_NEW(context, vertex_count, double);
    CHECK(sn_triangles_init(context, triangle_count, triangles, positions, &sheet.membrane) == SN_OK);
    CHECK(sn_hinges_init(context, triangle_count, triangles, positions, &sheet.hinges) == SN_OK);
    for (size_t t = 0; t < triangle_count; t++) {
        sn_triangles_set_material(&sheet.membrane, t, material.young, material.poisson, material.thickness);
        for (int i = 0; i < 3; i++) {
            sheet.mass[triangles[3 * t + (size_t)i]] += material.density * material.thickness * sheet.membrane.area[t] / 3.0;
        }
    }
    for (size_t h = 0; h < sheet.hinges.count; h++) {
        sn_hinges_set_material(&sheet.hinges, h, material.young, material.poisson, material.thickness);
    }
    return sheet;
}

/* Columns of points a distance `edge` apart along y, each column half an edge against the last, at x = 0 .. columns cells: both ends
   are straight, all triangles equilateral. `bump` metres of waves in z. */
static inline Sheet sheet_strip(SnContext *context, int columns, int rows, double edge, double bump, SheetMaterial material)
{
    size_t vertices = (size_t)(columns + 1) * (size_t)(rows + 1), triangles = 2 * (size_t)columns * (size_t)rows, next = 0;
    double *positions = SN_NEW(context, 3 * vertices, double);
    int32_t *indices = SN_NEW(context, 3 * triangles, int32_t);
    for (int i = 0; i <= columns; i++) {
        for (int j = 0; j <= rows; j++) {
            double *at = positions + 3 * (size_t)(i * (rows + 1) + j);
            at[0] = i * edge * sqrt(0.75);
            at[1] = (j + 0.5 * (i % 2)) * edge;
            at[2] = bump * sin(3.0 * i) * cos(2.0 * j);
        }
    }
    for (int i = 0; i < columns; i++) {
        for (int j = 0; j < rows; j++) {
            int a = i * (rows + 1) + j, b = a + rows + 1, odd = i % 2;
            /* the diagonal that leaves equilateral triangles */
            int32_t even_two[6] = {a, b, a + 1, a + 1, b, b + 1}, odd_two[6] = {a, b, b + 1, a, b + 1, a + 1};
            memcpy(indices + 3 * next, odd ? odd_two : even_two, sizeof even_two);
            next += 2;
        }
    }
    return sheet_from(context, vertices, positions, triangles, indices, material);
}

/* The terms point at what the sheet holds: to be called where the sheet has come to stay. */
static inline SnWorldDef sheet_def(Sheet *sheet, const unsigned char *fixed)
{
    sheet->terms[0] = sn_triangles_term(&sheet->membrane);
    sheet->terms[1] = sn_hinges_term(&sheet->hinges);
    return (SnWorldDef){.vertex_count = sheet->vertex_count, .mass = sheet->mass, .fixed = fixed, .term_count = 2, .terms = sheet->terms};
}

static inline void sheet_clear(Sheet *sheet)
{
    sn_triangles_clear(&sheet->membrane);
    sn_hinges_clear(&sheet->hinges);
    sn_release(sheet->positions);
    sn_release(sheet->triangles);
    sn_release(sheet->mass);
}

#endif
