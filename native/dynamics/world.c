#include "dynamics/world.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static SnStatus new_ones(SnContext *context, size_t count, double **values)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, *values, count, double);
    for (size_t k = 0; k < count; k++) {
        (*values)[k] = 1.0;
    }
cleanup:
    return status;
}

SnStatus sn_world_init(SnContext *context, const SnTetMesh *mesh, const SnEnergy *energy, const double *young, double poisson,
                       const double *mass, const unsigned char *fixed, SnWorld *world)
{
    SnStatus status = SN_OK;
    size_t vertices = mesh->vertex_count;
    memset(world, 0, sizeof *world);
    world->vertex_count = vertices;
    SN_TRY_NEW(context, world->tets, 4 * mesh->tet_count, int32_t);
    SN_TRY_NEW(context, world->source_tets, mesh->tet_count, int32_t);
    SN_TRY_NEW(context, world->fixed, vertices, unsigned char);
    SN_TRY_NEW(context, world->mass, vertices, double);
    SN_TRY_NEW(context, world->drive, vertices, double);
    SN_TRY_NEW(context, world->acceleration, 3 * vertices, double);
    SN_TRY(new_ones(context, vertices, &world->damping_scale));
    SN_TRY(new_ones(context, vertices, &world->keep_scale));
    memcpy(world->fixed, fixed, vertices);
    memcpy(world->mass, mass, vertices * sizeof *mass);
    for (size_t e = 0; e < mesh->tet_count; e++) {
        const int32_t *tet = mesh->tets + 4 * e;
        if (fixed[tet[0]] && fixed[tet[1]] && fixed[tet[2]] && fixed[tet[3]]) {
            continue;
        }
        memcpy(world->tets + 4 * world->tet_count, tet, 4 * sizeof *tet);
        world->source_tets[world->tet_count++] = (int32_t)e;
    }
    SN_TRY(new_ones(context, world->tet_count, &world->tet_damping_scale));
    SN_TRY(new_ones(context, world->tet_count, &world->tet_keep_scale));
    SnTetMesh moving = {vertices, world->tet_count, mesh->positions, world->tets};
    SN_TRY(sn_tet_elements_init(context, &moving, energy, &world->elements));
    for (size_t e = 0; e < world->tet_count; e++) {
        sn_tet_elements_set_material(&world->elements, e, young[world->source_tets[e]], poisson);
    }
    SN_TRY(sn_assembly_init(context, vertices, world->tet_count, world->tets, fixed, &world->assembly));
cleanup:
    if (status != SN_OK) {
        sn_world_clear(world);
    }
    return status;
}

void sn_world_clear(SnWorld *world)
{
    sn_release(world->tets);
    sn_release(world->source_tets);
    sn_tet_elements_clear(&world->elements);
    sn_assembly_clear(&world->assembly);
    sn_averages_clear(&world->averages);
    sn_release(world->fixed);
    sn_release(world->mass);
    double *arrays[] = {world->drive,         world->acceleration, world->damping_scale, world->keep_scale,
                        world->tet_damping_scale, world->tet_keep_scale};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        sn_release(arrays[k]);
    }
    memset(world, 0, sizeof *world);
}

void sn_world_lumped_mass(const SnTetMesh *mesh, double density, const double *scale, double *mass)
{
    memset(mass, 0, mesh->vertex_count * sizeof *mass);
    for (size_t e = 0; e < mesh->tet_count; e++) {
        double quarter = 0.25 * density * (scale ? scale[e] : 1.0) * fabs(sn_tet_mesh_volume(mesh, mesh->positions, e));
        for (size_t i = 0; i < 4; i++) {
            mass[mesh->tets[4 * e + i]] += quarter;
        }
    }
}

SnStatus sn_state_init(SnContext *context, size_t vertex_count, SnState *state)
{
    SnStatus status = SN_OK;
    memset(state, 0, sizeof *state);
    SN_TRY_NEW(context, state->positions, 3 * vertex_count, double);
    SN_TRY_NEW(context, state->velocities, 3 * vertex_count, double);
cleanup:
    if (status != SN_OK) {
        sn_state_clear(state);
    }
    return status;
}

void sn_state_clear(SnState *state)
{
    sn_release(state->positions);
    sn_release(state->velocities);
    memset(state, 0, sizeof *state);
}
