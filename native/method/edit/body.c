#include "method/edit/body.h"

#include "base/memory.h"
#include "dynamics/modes.h"

#include <math.h>
#include <string.h>

void sn_edit_body_clear(SnEditBody *body)
{
    sn_linear_solver_destroy(body->solver);
    sn_warp_destroy(body->warp);
    sn_world_clear(&body->world);
    sn_release(body->stiffness);
    sn_release(body->masses);
    sn_release(body->neighbours);
    sn_release(body->loose);
    sn_release(body->loose_volume);
    memset(body, 0, sizeof *body);
}

/* Which parts nothing holds, of the tets that can move. */
static SnStatus find_loose(SnContext *context, SnEditBody *body)
{
    SnStatus status = SN_OK;
    const SnWorld *world = &body->world;
    const int32_t *parts = sn_warp_loose_parts(body->warp, &body->part_count);
    SN_TRY_NEW(context, body->loose, world->tet_count, int32_t);
    SN_TRY_NEW(context, body->loose_volume, body->part_count, double);
    for (size_t e = 0; e < world->tet_count; e++) {
        body->loose[e] = parts[world->tets[4 * e]];
        if (body->loose[e] >= 0) {
            body->loose_volume[body->loose[e]] += world->elements->volume[e];
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
    SN_TRY(sn_modes_stiffness(context, &body->world, def->cage->positions, NULL, body->stiffness));
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

SnStatus sn_edit_body_init(SnContext *context, const SnEditBodyDef *def, SnEditBody *body)
{
    SnStatus status = SN_OK;
    const SnTetMesh *cage = def->cage;
    SnWorldDef world = sn_world_def_default();
    memset(body, 0, sizeof *body);
    if (memchr(def->fixed, 0, cage->vertex_count) == NULL) {
        return sn_context_fail(context, SN_BAD_INPUT, "Everything follows the animation exactly, so there is nothing to edit: paint a region free.");
    }
    for (size_t v = 0; v < cage->vertex_count; v++) {
        if (!(def->mass[v] > 0.0)) {
            return sn_context_fail(context, SN_BAD_INPUT, "Cage vertex %zu weighs nothing: build the cage again.", v);
        }
    }
    body->cage = cage;
    body->size = sn_tet_mesh_longest_side(cage);
    world.vertex_count = cage->vertex_count;
    world.mass = def->mass;
    world.fixed = def->fixed;
    world.mesh = cage;
    world.energy = def->energy;
    world.young = def->young;
    world.poisson = def->poisson;
    SN_TRY(sn_world_init(context, &world, &body->world));
    SN_TRY(sn_warp_create(context, cage, def->fixed, &body->warp));
    SN_TRY(find_loose(context, body));
    SN_TRY(fill_stiffness(context, def, body));
    SN_TRY_NEW(context, body->neighbours, 4 * body->world.tet_count, int32_t);
    SnTetMesh moving = {cage->vertex_count, body->world.tet_count, cage->positions, body->world.tets};
    SN_TRY(sn_tet_mesh_neighbours(context, &moving, body->neighbours));
cleanup:
    if (status != SN_OK) {
        sn_edit_body_clear(body);
    }
    return status;
}

size_t sn_edit_body_lever_size(const SnEditBody *body)
{
    return 3 * body->world.tet_count + body->part_count;
}

SnStatus sn_edit_body_lever(SnContext *context, SnEditBody *body, const double *weights, double *lever)
{
    SnStatus status = SN_OK;
    const SnWorld *world = &body->world;
    size_t part_count;
    const int32_t *parts = sn_warp_loose_parts(body->warp, &part_count);
    double *slopes = NULL, *shares = lever + 3 * world->tet_count;
    SN_TRY_NEW(context, slopes, 3 * body->cage->tet_count, double);
    SN_TRY(sn_warp_response(context, body->warp, weights, slopes));
    for (size_t e = 0; e < world->tet_count; e++) {
        memcpy(lever + 3 * e, slopes + 3 * (size_t)world->source_tets[e], 3 * sizeof *slopes);
    }
    memset(shares, 0, part_count * sizeof *shares);
    for (size_t v = 0; v < body->cage->vertex_count; v++) {
        if (parts[v] >= 0) {
            shares[parts[v]] += weights[v];
        }
    }
cleanup:
    sn_release(slopes);
    return status;
}
