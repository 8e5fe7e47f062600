#include "energy/term.h"

#include "base/parallel.h"

static const SnTermInput AS_BUILT;

/* Where the vertices of a term begin. */
static const double *own(const SnTerm *term, const double *positions)
{
    return positions + 3 * term->stencils.first;
}

static size_t corner_count(const SnTerm *term)
{
    return term->stencils.count * (size_t)term->stencils.corners;
}

static size_t block_count(const SnTerm *term)
{
    return corner_count(term) * (size_t)(term->stencils.corners + 1) / 2;
}

size_t sn_terms_corner_count(size_t count, const SnTerm *terms)
{
    size_t sum = 0;
    for (size_t t = 0; t < count; t++) {
        sum += corner_count(terms + t);
    }
    return sum;
}

size_t sn_terms_block_count(size_t count, const SnTerm *terms)
{
    size_t sum = 0;
    for (size_t t = 0; t < count; t++) {
        sum += block_count(terms + t);
    }
    return sum;
}

size_t sn_terms_partial_count(size_t count, const SnTerm *terms)
{
    size_t most = 0;
    for (size_t t = 0; t < count; t++) {
        size_t chunks = sn_parallel_chunk_count(terms[t].stencils.count, SN_TERM_CHUNK);
        most = chunks > most ? chunks : most;
    }
    return most;
}

double sn_terms_value(size_t count, const SnTerm *terms, const SnTermInput *inputs, const double *positions, double *partial,
                      double *gradients)
{
    double sum = 0.0;
    for (size_t t = 0; t < count; t++) {
        sum += terms[t].kind->value(terms[t].elements, inputs ? inputs + t : &AS_BUILT, own(terms + t, positions), partial, gradients);
        gradients += gradients ? 3 * corner_count(terms + t) : 0;
    }
    return sum;
}

void sn_terms_stiffness(size_t count, const SnTerm *terms, const SnTermInput *inputs, const double *positions, double *blocks)
{
    for (size_t t = 0; t < count; t++) {
        terms[t].kind->stiffness(terms[t].elements, inputs ? inputs + t : &AS_BUILT, own(terms + t, positions), blocks);
        blocks += 9 * block_count(terms + t);
    }
}

double sn_terms_reach(size_t count, const SnTerm *terms, const SnTermInput *inputs, const double *from, const double *to)
{
    double least = 1.0;
    for (size_t t = 0; t < count; t++) {
        if (terms[t].kind->reach != NULL) {
            const SnTermInput *input = inputs ? inputs + t : &AS_BUILT;
            double reach = terms[t].kind->reach(terms[t].elements, input, own(terms + t, from), own(terms + t, to));
            least = reach < least ? reach : least;
        }
    }
    return least;
}
