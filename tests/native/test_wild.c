/* Nothing explodes: two hundred short wild runs (`make bench` has ten thousand). */
#include "wild.h"

#include "base/parallel.h"

#include <stdlib.h>

#define RUNS (CHECK_IS_SLOW ? 50 : 200)

static void distorted_bodies_recover_their_shape(int trials)
{
    static const char *const NAMES[WILD_STARTS] = {"squashed", "inverted", "collapsed", "scrambled"};
    static const SnDensity *const ENERGIES[2] = {&sn_density_neo_hookean, &sn_density_stvk};
    for (int start = WILD_SQUASHED; start <= WILD_SCRAMBLED; start++) {
        for (int k = 0; k < 2; k++) {
            int recovered = 0;
            for (int trial = 0; trial < trials; trial++) {
                recovered += wild_recovers((uint64_t)trial, (WildStart)start, 0.45 * trial / (trials - 1), ENERGIES[k]);
            }
            printf("%s, %s: %d of %d recovered\n", ENERGIES[k]->name, NAMES[start], recovered, trials);
            CHECK(start != WILD_SQUASHED || recovered == trials);
        }
    }
}

int main(int count, char **arguments)
{
    int runs = count > 1 ? atoi(arguments[1]) : RUNS, unconverged = 0, fallbacks = 0, over = 0;
    double excess = 0.0;
    sn_parallel_set_thread_count(1); /* the bodies are too small to share */
    for (int seed = 0; seed < runs; seed++) {
        WildRun run = wild_run((uint64_t)seed, 5);
        if (!CHECK(run.finite && run.bounded)) {
            printf("  seed %d: start %d, scheme %d, young %g, poisson %g, step %g s: finite %d, excess %g\n", seed, (int)run.start,
                   (int)run.scheme, run.young, run.poisson, run.h, run.finite, run.excess);
        }
        unconverged += run.unconverged;
        fallbacks += run.fallbacks;
        over += run.excess > 0.0;
        excess = fmax(excess, run.excess);
    }
    printf("%d runs: %d minimisations used up their rounds, %d steps fell back; energy rose in %d runs, by %g at most\n", runs,
           unconverged, fallbacks, over, excess);
    distorted_bodies_recover_their_shape(runs / 10);
    return CHECK_RESULT();
}
