#include "dynamics/modes.h"

#include "base/memory.h"
#include "math/eigensolver.h"

SnStatus sn_modes_stiffness(SnContext *context, const SnWorld *world, const double *positions, double *blocks, double *values)
{
    SnStatus status = SN_OK;
    double *own = NULL;
    if (blocks == NULL) {
        SN_TRY_NEW(context, own, 9 * sn_terms_block_count(world->term_count, world->terms), double);
        blocks = own;
    }
    sn_terms_stiffness(world->term_count, world->terms, NULL, positions, blocks);
    sn_assembly_gather_stiffness(&world->assembly, blocks, values);
cleanup:
    sn_release(own);
    return status;
}

SnStatus sn_modes_find(SnContext *context, const SnWorld *world, const double *positions, int count, double *squared, double *vectors)
{
    SnStatus status = SN_OK;
    const SnAssembly *assembly = &world->assembly;
    double *values = NULL, *masses = NULL;
    sn_context_stage(context, "Finding vibration modes", 2);
    SN_TRY_NEW(context, values, assembly->pattern.value_count, double);
    SN_TRY_NEW(context, masses, assembly->unknown_count, double);
    SN_TRY(sn_modes_stiffness(context, world, positions, NULL, values));
    for (size_t k = 0; k < assembly->unknown_count; k++) {
        masses[k] = world->mass[assembly->vertex[k]];
    }
    SN_TRY(sn_context_advance(context, 1));
    SN_TRY(sn_eigensolver_lowest(context, &assembly->pattern, values, masses, count, squared, vectors));
cleanup:
    sn_release(values);
    sn_release(masses);
    return status;
}
