#include "method/edit/body.h"

#include "base/memory.h"
#include "dynamics/modes.h"
#include "math/mat3.h"
#include "mesh/sides.h"

#include <math.h>
#include <string.h>

void sn_edit_body_clear(SnEditBody *body)
{
    sn_linear_solver_destroy(body->solver);
    sn_warp_destroy(body->warp);
    sn_world_clear(&body->world);
    sn_tet_elements_clear(&body->tets);
    sn_triangles_clear(&body->membrane);
    sn_hinges_clear(&body->hinges);
    sn_release(body->slopes);
    sn_release(body->normals);
    sn_release(body->stiffness);
    sn_release(body->masses);
    sn_release(body->neighbours);
    sn_release(body->loose);
    sn_release(body->loose_volume);
    memset(body, 0, sizeof *body);
}

/* Which parts nothing holds, of the cells. */
static SnStatus find_loose(SnContext *context, SnEditBody *body)
{
    SnStatus status = SN_OK;
    const int32_t *parts = sn_warp_loose_parts(body->warp, &body->part_count);
    SN_TRY_NEW(context, body->loose, body->cell_count, int32_t);
    SN_TRY_NEW(context, body->loose_volume, body->part_count, double);
    for (size_t e = 0; e < body->cell_count; e++) {
        body->loose[e] = parts[body->cells[body->corners * e]];
        if (body->loose[e] >= 0) {
            body->loose_volume[body->loose[e]] += body->volume[e];
        }
    }
cleanup:
    return status;
}

static SnStatus find_slopes(SnContext *context, SnEditBody *body)
{
    SnStatus status = SN_OK;
    size_t corners = body->corners;
    SN_TRY_NEW(context, body->slopes, 3 * corners * body->cell_count, double);
    for (size_t e = 0; e < body->cell_count; e++) {
        const double *of_warp = sn_warp_slopes(body->warp, body->sources != NULL ? (size_t)body->sources[e] : e);
        double *slopes = body->slopes + 3 * corners * e;
        for (size_t k = 3; k < 3 * corners; k++) {
            slopes[k] = of_warp[k] / body->volume[e];
            slopes[k % 3] -= slopes[k];
        }
    }
cleanup:
    return status;
}

/* K at rest, with what draws vertices back: their drive, and a weak pull where nothing else holds them. */
static SnStatus fill_stiffness(SnContext *context, const SnEditBodyDef *def, SnEditBody *body)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &body->world.assembly;
    size_t part_count;
    const int32_t *parts = sn_warp_loose_parts(body->warp, &part_count);
    SN_TRY_NEW(context, body->stiffness, assembly->pattern.value_count, double);
    SN_TRY_NEW(context, body->masses, 3 * assembly->unknown_count, double);
    SN_TRY(sn_modes_stiffness(context, &body->world, body->positions, NULL, body->stiffness));
    for (size_t k = 0; k < 3 * assembly->unknown_count; k++) {
        size_t v = (size_t)assembly->vertex[k / 3];
        double drive = def->drive != NULL ? def->drive[v] : 0.0;
        body->masses[k] = def->mass[v];
        body->stiffness[assembly->pattern.value_start[k]] += drive + (parts[v] >= 0 ? def->mass[v] / (def->hold * def->hold) : 0.0);
    }
    SN_TRY(sn_linear_solver_create(context, &assembly->pattern, &body->solver));
    SN_TRY(sn_linear_solver_factorize(context, body->solver, body->stiffness));
cleanup:
    return status;
}

static SnStatus init_solid(SnContext *context, const SnEditBodyDef *def, SnEditBody *body)
{
    SnStatus status = SN_OK;
    SnTetElements *tets = &body->tets;
    SN_TRY(sn_tet_elements_init_moving(context, def->cage, def->fixed, def->energy, tets));
    sn_tet_elements_set_materials(tets, def->young, def->poisson);
    SnTerm term = sn_tet_elements_term(tets);
    SnWorldDef world = {.vertex_count = body->vertex_count, .mass = def->mass, .fixed = def->fixed, .term_count = 1, .terms = &term};
    SN_TRY(sn_world_init(context, &world, &body->world));
    SN_TRY(sn_warp_create(context, def->cage, def->fixed, &body->warp));
    body->cell_count = tets->count;
    body->corners = 4;
    body->cells = tets->tets;
    body->sources = tets->sources;
    body->source_count = def->cage->tet_count;
    body->volume = tets->volume;
    SN_TRY_NEW(context, body->neighbours, 4 * body->cell_count, int32_t);
    SnTetMesh moving = {body->vertex_count, body->cell_count, def->cage->positions, tets->moving};
    SN_TRY(sn_tet_mesh_neighbours(context, &moving, body->neighbours));
cleanup:
    return status;
}

/* Triangles across each side. */
static SnStatus find_neighbours(SnContext *context, SnEditBody *body)
{
    SnStatus status = SN_OK;
    SnSide *sides = NULL;
    size_t count = 3 * body->cell_count;
    SN_TRY_NEW(context, body->neighbours, count, int32_t);
    SN_TRY_NEW(context, sides, count, SnSide);
    for (size_t k = 0; k < count; k++) {
        const int32_t *corner = body->cells + k - k % 3;
        sides[k] = sn_side(corner[(k + 1) % 3], corner[(k + 2) % 3], k);
        body->neighbours[k] = -1;
    }
    sn_sides_sort(count, sides);
    for (size_t k = 1; k < count; k++) {
        if (sn_sides_are_one(sides + k - 1, sides + k)) {
            body->neighbours[sides[k].slot] = sides[k - 1].slot / 3;
            body->neighbours[sides[k - 1].slot] = sides[k].slot / 3;
        }
    }
cleanup:
    sn_release(sides);
    return status;
}

static SnStatus find_normals(SnContext *context, SnEditBody *body)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, body->normals, 3 * body->cell_count, double);
    for (size_t e = 0; e < body->cell_count; e++) {
        double edges[6], *normal = body->normals + 3 * e;
        for (size_t k = 0; k < 6; k++) {
            const int32_t *corner = body->cells + 3 * e;
            edges[k] = body->positions[3 * (size_t)corner[1 + k / 3] + k % 3] - body->positions[3 * (size_t)corner[0] + k % 3];
        }
        sn_cross3(edges, edges + 3, normal);
        double length = sqrt(sn_dot3(normal, normal));
        for (size_t a = 0; a < 3; a++) {
            normal[a] /= length;
        }
    }
cleanup:
    return status;
}

static SnStatus init_shell(SnContext *context, const SnEditBodyDef *def, SnEditBody *body)
{
    SnStatus status = SN_OK;
    const SnTriMesh *surface = def->surface;
    SnTerm terms[2];
    body->cell_count = body->source_count = surface->triangle_count;
    body->corners = 3;
    body->cells = surface->triangles;
    SN_TRY(sn_triangles_init(context, body->cell_count, surface->triangles, surface->positions, &body->membrane));
    SN_TRY(sn_hinges_init(context, body->cell_count, surface->triangles, surface->positions, &body->hinges));
    for (size_t e = 0; e < body->cell_count; e++) {
        sn_triangles_set_material(&body->membrane, e, def->stretch, def->poisson, 1.0);
    }
    for (size_t h = 0; h < body->hinges.count; h++) {
        sn_hinges_set_plate(&body->hinges, h, def->bend);
    }
    body->volume = body->membrane.area;
    terms[0] = sn_triangles_term(&body->membrane);
    terms[1] = sn_hinges_term(&body->hinges);
    SnWorldDef world = {.vertex_count = body->vertex_count, .mass = def->mass, .fixed = def->fixed,
                        .term_count = body->hinges.count > 0 ? 2 : 1, .terms = terms};
    SN_TRY(sn_world_init(context, &world, &body->world));
    SN_TRY(sn_warp_create_surface(context, surface, def->fixed, &body->warp));
    SN_TRY(find_normals(context, body));
    SN_TRY(find_neighbours(context, body));
cleanup:
    return status;
}

SnStatus sn_edit_body_init(SnContext *context, const SnEditBodyDef *def, SnEditBody *body)
{
    SnStatus status = SN_OK;
    memset(body, 0, sizeof *body);
    body->vertex_count = def->cage != NULL ? def->cage->vertex_count : def->surface->vertex_count;
    body->positions = def->cage != NULL ? def->cage->positions : def->surface->positions;
    if (memchr(def->fixed, 0, body->vertex_count) == NULL) {
        return sn_context_fail(context, SN_BAD_INPUT, "Everything follows the animation exactly, so there is nothing to edit: paint a region free.");
    }
    for (size_t v = 0; v < body->vertex_count; v++) {
        if (!def->fixed[v] && !(def->mass[v] > 0.0)) {
            return sn_context_fail(context, SN_BAD_INPUT, "Vertex %zu of what is edited weighs nothing: %s.", v,
                                   def->cage != NULL ? "build the cage again" : "give it a face");
        }
    }
    sn_context_stage(context, "Preparing the edit", 3);
    SN_TRY(sn_context_look(context));
    body->size = def->cage != NULL ? sn_tet_mesh_longest_side(def->cage) : sn_tri_mesh_size(def->surface);
    SN_TRY((def->cage != NULL ? init_solid : init_shell)(context, def, body));
    SN_TRY(sn_context_advance(context, 1));
    SN_TRY(find_slopes(context, body));
    SN_TRY(find_loose(context, body));
    SN_TRY(sn_context_advance(context, 2));
    SN_TRY(fill_stiffness(context, def, body));
cleanup:
    if (status != SN_OK) {
        sn_edit_body_clear(body);
    }
    return status;
}

size_t sn_edit_body_lever_size(const SnEditBody *body)
{
    return 3 * body->cell_count + body->part_count;
}

SnStatus sn_edit_body_lever(SnContext *context, SnEditBody *body, const double *weights, double *lever)
{
    SnStatus status = SN_OK;
    size_t part_count;
    const int32_t *parts = sn_warp_loose_parts(body->warp, &part_count);
    double *slopes = NULL, *shares = lever + 3 * body->cell_count;
    SN_TRY_NEW(context, slopes, 3 * body->source_count, double);
    SN_TRY(sn_warp_response(context, body->warp, weights, slopes));
    for (size_t e = 0; e < body->cell_count; e++) {
        memcpy(lever + 3 * e, slopes + 3 * (body->sources != NULL ? (size_t)body->sources[e] : e), 3 * sizeof *slopes);
    }
    memset(shares, 0, part_count * sizeof *shares);
    for (size_t v = 0; v < body->vertex_count; v++) {
        if (parts[v] >= 0) {
            shares[parts[v]] += weights[v];
        }
    }
cleanup:
    sn_release(slopes);
    return status;
}
