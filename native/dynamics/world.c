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

SnWorldDef sn_world_def_default(void)
{
    return (SnWorldDef){.energy = &sn_energy_neo_hookean, .poisson = 0.4};
}

/* The tets that have a free vertex. */
static SnStatus init_tets(SnContext *context, const SnWorldDef *def, SnWorld *world)
{
    SnStatus status = SN_OK;
    const SnTetMesh *mesh = def->mesh;
    SN_TRY_NEW(context, world->tets, 4 * mesh->tet_count, int32_t);
    SN_TRY_NEW(context, world->source_tets, mesh->tet_count, int32_t);
    for (size_t e = 0; e < mesh->tet_count; e++) {
        const int32_t *tet = mesh->tets + 4 * e;
        if (world->fixed[tet[0]] && world->fixed[tet[1]] && world->fixed[tet[2]] && world->fixed[tet[3]]) {
            continue;
        }
        memcpy(world->tets + 4 * world->tet_count, tet, 4 * sizeof *tet);
        world->source_tets[world->tet_count++] = (int32_t)e;
    }
    SnTetMesh moving = {mesh->vertex_count, world->tet_count, mesh->positions, world->tets};
    SN_TRY(sn_tet_elements_init(context, &moving, def->energy, world->elements));
    for (size_t e = 0; e < world->tet_count; e++) {
        sn_tet_elements_set_material(world->elements, e, def->young[world->source_tets[e]], def->poisson);
    }
    world->terms[world->term_count++] = sn_tet_elements_term(world->elements);
cleanup:
    return status;
}

SnStatus sn_world_init(SnContext *context, const SnWorldDef *def, SnWorld *world)
{
    SnStatus status = SN_OK;
    size_t vertices = def->vertex_count;
    SnStencils stencils[SN_TERMS_MOST];
    memset(world, 0, sizeof *world);
    world->vertex_count = vertices;
    if (def->term_count + (def->mesh != NULL) > SN_TERMS_MOST) {
        status = sn_context_fail(context, SN_BAD_INPUT, "More than %d kinds of energy act at once: simulate fewer setups together.",
                                 SN_TERMS_MOST);
        goto cleanup;
    }
    SN_TRY_NEW(context, world->elements, 1, SnTetElements);
    SN_TRY_NEW(context, world->fixed, vertices, unsigned char);
    SN_TRY_NEW(context, world->mass, vertices, double);
    SN_TRY_NEW(context, world->drive, vertices, double);
    SN_TRY_NEW(context, world->acceleration, 3 * vertices, double);
    SN_TRY(new_ones(context, vertices, &world->damping_scale));
    SN_TRY(new_ones(context, vertices, &world->keep_scale));
    memcpy(world->mass, def->mass, vertices * sizeof *def->mass);
    if (def->fixed != NULL) {
        memcpy(world->fixed, def->fixed, vertices);
    }
    if (def->mesh != NULL) {
        SN_TRY(init_tets(context, def, world));
    }
    SN_TRY(new_ones(context, world->tet_count, &world->tet_damping_scale));
    SN_TRY(new_ones(context, world->tet_count, &world->tet_keep_scale));
    for (size_t t = 0; t < def->term_count; t++) {
        world->terms[world->term_count++] = def->terms[t];
    }
    for (size_t t = 0; t < world->term_count; t++) {
        stencils[t] = world->terms[t].stencils;
    }
    SN_TRY(sn_assembly_init(context, vertices, world->term_count, stencils, world->fixed, &world->assembly));
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
    if (world->elements != NULL) {
        sn_tet_elements_clear(world->elements);
    }
    sn_release(world->elements);
    sn_assembly_clear(&world->assembly);
    sn_constraints_clear(&world->constraints);
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
