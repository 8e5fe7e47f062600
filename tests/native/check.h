/* The few words that the native tests are written in. A test program calls its tests from main and returns
   CHECK_RESULT(), which prints the counts and is non-zero on failure. */
#ifndef SN_TESTS_CHECK_H
#define SN_TESTS_CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static int check_passed, check_failed;

/* Sanitized, all takes ten times as long: what is looked for there, a wrong access, shows on few and small bodies too. */
#ifdef __SANITIZE_ADDRESS__
enum { CHECK_IS_SLOW = 1 };
#else
enum { CHECK_IS_SLOW = 0 };
#endif

static inline int check_record(int holds, const char *file, int line, const char *text)
{
    if (holds) {
        check_passed++;
    } else {
        check_failed++;
        printf("%s:%d: failed: %s\n", file, line, text);
    }
    return holds;
}

#define CHECK(condition) check_record((condition) ? 1 : 0, __FILE__, __LINE__, #condition)

/* |a - b| <= tolerance; shows both. */
static inline int check_near(double a, double b, double tolerance, const char *file, int line, const char *text)
{
    int holds = fabs(a - b) <= tolerance;
    if (!holds) {
        printf("  %.17g against %.17g, tolerance %g\n", a, b, tolerance);
    }
    return check_record(holds, file, line, text);
}

#define CHECK_NEAR(a, b, tolerance) check_near((a), (b), (tolerance), __FILE__, __LINE__, #a " near " #b)

/* A small generator, so that tests are the same everywhere. Uniform in 0..1. */
static inline double check_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline int check_result(const char *file)
{
    printf("%s: %d passed, %d failed\n", file, check_passed, check_failed);
    return check_failed ? 1 : 0;
}

#define CHECK_RESULT() check_result(__FILE__)

#endif
