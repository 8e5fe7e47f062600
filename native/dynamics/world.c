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

static SnStatus init_bodies(SnContext *context, const SnWorldDef *def, SnWorld *world)
{
    SnStatus status = SN_OK;
    SnBody all = {.vertex_count = world->vertex_count, .term_count = world->term_count};
    world->body_count = def->body_count > 0 ? def->body_count : 1;
    SN_TRY_NEW(context, world->bodies, world->body_count, SnBody);
    memcpy(world->bodies, def->body_count > 0 ? def->bodies : &all, world->body_count * sizeof all);
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
    if (def->term_count > SN_TERMS_MOST) {
        status = sn_context_fail(context, SN_BAD_INPUT, "More than %d kinds of energy act at once: simulate fewer setups together.",
                                 SN_TERMS_MOST);
        goto cleanup;
    }
    SN_TRY_NEW(context, world->fixed, vertices, unsigned char);
    SN_TRY_NEW(context, world->mass, vertices, double);
    SN_TRY_NEW(context, world->drag, vertices, double);
    memcpy(world->mass, def->mass, vertices * sizeof *def->mass);
    for (size_t v = 0; v < vertices && def->fixed != NULL; v++) {
        world->fixed[v] = def->fixed[v] != 0;
    }
    world->term_count = def->term_count;
    for (size_t t = 0; t < world->term_count; t++) {
        world->terms[t] = def->terms[t];
        stencils[t] = world->terms[t].stencils;
        SN_TRY(new_ones(context, stencils[t].count, &world->damping_scale[t]));
    }
    SN_TRY(init_bodies(context, def, world));
    SN_TRY(sn_assembly_init(context, vertices, world->term_count, stencils, world->fixed, &world->assembly));
cleanup:
    if (status != SN_OK) {
        sn_world_clear(world);
    }
    return status;
}

void sn_world_clear(SnWorld *world)
{
    sn_assembly_clear(&world->assembly);
    sn_constraints_clear(&world->constraints);
    sn_springs_clear(&world->springs);
    sn_release(world->fixed);
    sn_release(world->mass);
    sn_release(world->drag);
    sn_release(world->bodies);
    for (size_t t = 0; t < SN_TERMS_MOST; t++) {
        sn_release(world->damping_scale[t]);
    }
    memset(world, 0, sizeof *world);
}

void sn_world_damp(SnWorld *world, double drag, double damping)
{
    for (size_t v = 0; v < world->vertex_count; v++) {
        world->drag[v] = drag;
    }
    for (size_t t = 0; t < world->term_count; t++) {
        world->damping[t] = damping;
    }
}

/* The body that has a vertex. */
static size_t find_body(const SnWorld *world, int32_t vertex)
{
    size_t b = 0;
    while (b + 1 < world->body_count && (size_t)vertex >= world->bodies[b + 1].first_vertex) {
        b++;
    }
    return b;
}

/* Finds which rows are whose: `first` and `count` (bodies). */
static SnStatus divide_rows(SnContext *context, const SnWorld *world, const SnRows *rows, size_t *first, size_t *count)
{
    size_t body = 0;
    for (size_t r = 0; r < rows->count; r++) {
        size_t own = rows->start[r] < rows->start[r + 1] ? find_body(world, rows->points[rows->start[r]]) : world->body_count;
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            own = find_body(world, rows->points[k]) == own ? own : world->body_count;
        }
        if (own == world->body_count || own < body) {
            return sn_context_fail(context, SN_BAD_INPUT, "Row %zu holds no vertex, or those of several bodies, or comes after rows of a later one.",
                                   r);
        }
        body = own;
        count[body]++;
    }
    for (size_t b = 1; b < world->body_count; b++) {
        first[b] = first[b - 1] + count[b - 1];
    }
    return SN_OK;
}

/* Takes rows as exact ones or as springs. */
static SnStatus take_rows(SnContext *context, SnRows *rows, int is_exact, SnWorld *world)
{
    SnStatus status = SN_OK;
    size_t *first = NULL, *count = NULL;
    SN_TRY_NEW(context, first, world->body_count, size_t);
    SN_TRY_NEW(context, count, world->body_count, size_t);
    SN_TRY(divide_rows(context, world, rows, first, count));
    if (is_exact) {
        SN_TRY(sn_constraints_init(context, &world->assembly, world->mass, rows, &world->constraints));
    } else {
        SN_TRY(sn_springs_init(context, &world->assembly, rows, &world->springs));
    }
    for (size_t b = 0; b < world->body_count; b++) {
        SnBody *body = world->bodies + b;
        *(is_exact ? &body->first_row : &body->first_spring) = first[b];
        *(is_exact ? &body->row_count : &body->spring_count) = count[b];
    }
cleanup:
    sn_release(first);
    sn_release(count);
    return status;
}

SnStatus sn_world_constrain(SnContext *context, SnRows *rows, SnWorld *world)
{
    return take_rows(context, rows, 1, world);
}

SnStatus sn_world_spring(SnContext *context, SnRows *rows, SnWorld *world)
{
    return take_rows(context, rows, 0, world);
}

/* Vertices, terms and bodies of the members, as those of one world. */
typedef struct Joined {
    size_t vertex_count, term_count, body_count;
    double *mass;
    unsigned char *fixed;
    SnTerm *terms;
    SnBody *bodies;
} Joined;

static SnStatus join_parts(SnContext *context, size_t count, const SnWorld *const *members, Joined *joined)
{
    SnStatus status = SN_OK;
    for (size_t m = 0; m < count; m++) {
        joined->vertex_count += members[m]->vertex_count;
        joined->term_count += members[m]->term_count;
        joined->body_count += members[m]->body_count;
    }
    SN_TRY_NEW(context, joined->mass, joined->vertex_count, double);
    SN_TRY_NEW(context, joined->fixed, joined->vertex_count, unsigned char);
    SN_TRY_NEW(context, joined->terms, joined->term_count, SnTerm);
    SN_TRY_NEW(context, joined->bodies, joined->body_count, SnBody);
    for (size_t m = 0, vertex = 0, term = 0, body = 0; m < count; vertex += members[m++]->vertex_count) {
        const SnWorld *member = members[m];
        memcpy(joined->mass + vertex, member->mass, member->vertex_count * sizeof *member->mass);
        memcpy(joined->fixed + vertex, member->fixed, member->vertex_count);
        for (size_t b = 0; b < member->body_count; b++, body++) {
            joined->bodies[body] = (SnBody){.first_vertex = vertex + member->bodies[b].first_vertex,
                                            .vertex_count = member->bodies[b].vertex_count,
                                            .first_term = term + member->bodies[b].first_term,
                                            .term_count = member->bodies[b].term_count};
        }
        for (size_t t = 0; t < member->term_count; t++) {
            joined->terms[term + t] = member->terms[t];
            joined->terms[term + t].stencils.first += vertex;
        }
        term += member->term_count;
    }
cleanup:
    return status;
}

/* What is set of a world after it was made. */
static SnStatus join_settings(SnContext *context, size_t count, const SnWorld *const *members, SnWorld *world)
{
    SnStatus status = SN_OK;
    SnRows rows = {.is_alike = 1}, springs = {.is_alike = 1};
    for (size_t m = 0; m < count; m++) {
        rows.is_alike &= members[m]->constraints.size == 0 || members[m]->constraints.rows.is_alike;
        springs.is_alike &= members[m]->springs.size == 0 || members[m]->springs.rows.is_alike;
    }
    for (size_t m = 0, vertex = 0, term = 0; m < count; vertex += members[m++]->vertex_count) {
        const SnWorld *member = members[m];
        memcpy(world->drag + vertex, member->drag, member->vertex_count * sizeof *member->drag);
        for (size_t t = 0; t < member->term_count; t++, term++) {
            world->damping[term] = member->damping[t];
            memcpy(world->damping_scale[term], member->damping_scale[t], member->terms[t].stencils.count * sizeof(double));
        }
        SN_TRY(sn_rows_append(context, &member->constraints.rows, (int32_t)vertex, &rows));
        SN_TRY(sn_rows_append(context, &member->springs.rows, (int32_t)vertex, &springs));
    }
    SN_TRY(sn_world_constrain(context, &rows, world));
    SN_TRY(sn_world_spring(context, &springs, world));
cleanup:
    sn_rows_clear(&rows);
    sn_rows_clear(&springs);
    return status;
}

SnStatus sn_world_join(SnContext *context, size_t count, const SnWorld *const *members, SnWorld *world)
{
    SnStatus status = SN_OK;
    Joined joined = {0};
    memset(world, 0, sizeof *world);
    SN_TRY(join_parts(context, count, members, &joined));
    SnWorldDef def = {.vertex_count = joined.vertex_count,
                      .mass = joined.mass,
                      .fixed = joined.fixed,
                      .term_count = joined.term_count,
                      .terms = joined.terms,
                      .body_count = joined.body_count,
                      .bodies = joined.bodies};
    SN_TRY(sn_world_init(context, &def, world));
    SN_TRY(join_settings(context, count, members, world));
cleanup:
    sn_release(joined.mass);
    sn_release(joined.fixed);
    sn_release(joined.terms);
    sn_release(joined.bodies);
    if (status != SN_OK) {
        sn_world_clear(world);
    }
    return status;
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
    sn_release(state->inner);
    memset(state, 0, sizeof *state);
}

size_t sn_world_inner_count(const SnWorld *world)
{
    size_t sum = 0;
    for (size_t t = 0; t < world->term_count; t++) {
        sum += (size_t)world->terms[t].kind->inner_size * world->terms[t].stencils.count;
    }
    return sum;
}

SnStatus sn_world_begin(SnContext *context, const SnWorld *world, const double *positions, SnState *state)
{
    SnStatus status = SN_OK;
    double *inner = NULL;
    SN_TRY(sn_state_init(context, world->vertex_count, state));
    memcpy(state->positions, positions, 3 * world->vertex_count * sizeof *positions);
    SN_TRY_NEW(context, inner, sn_world_inner_count(world), double);
    state->inner = inner;
    for (size_t t = 0; t < world->term_count; t++) {
        const SnTerm *term = world->terms + t;
        if (term->kind->inner_size > 0) {
            term->kind->begin(term->elements, inner);
            inner += (size_t)term->kind->inner_size * term->stencils.count;
        }
    }
cleanup:
    if (status != SN_OK) {
        sn_state_clear(state);
    }
    return status;
}

void sn_state_copy(const SnWorld *world, const SnState *from, SnState *to)
{
    memcpy(to->positions, from->positions, 3 * world->vertex_count * sizeof *from->positions);
    memcpy(to->velocities, from->velocities, 3 * world->vertex_count * sizeof *from->velocities);
    if (from->inner != NULL) {
        memcpy(to->inner, from->inner, sn_world_inner_count(world) * sizeof *from->inner);
    }
}
