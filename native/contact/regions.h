/* What edges that cross triangles cut off: they form contours, and each contour has two regions, one on each of the surfaces that it runs on
   (contact/tangles.h has a drawing). */
#ifndef SN_CONTACT_REGIONS_H
#define SN_CONTACT_REGIONS_H

#include "contact/intersections.h"

/* A point in a region: mark = 4 tangle + 2 side + (1: it was cut off). */
typedef struct SnRegionPoint {
    int32_t point, mark;
} SnRegionPoint;

typedef struct SnRegions {
    size_t crossing_count; /* edges through triangles, ... */
    size_t tangle_count;   /* ... and the contours that they form */
    size_t count, capacity;
    SnRegionPoint *points; /* by point, then mark; owned */
    int32_t *starts;       /* all points + 1; owned */
} SnRegions;

void sn_regions_clear(SnRegions *regions);
SnStatus sn_regions_add(SnContext *context, SnRegions *regions, int32_t point, int32_t tangle, int32_t side, int32_t inside);

/* Sorts, keeps each point once a side (cut off if any says so), and finds where those of each point begin. */
void sn_regions_order(size_t point_count, SnRegions *regions);

/* Whether a point is on a side, 2 tangle + side. */
int sn_regions_has(const SnRegions *regions, int32_t point, int32_t side);

/* Whether some tangle has a point of one side in one of its regions, and one of the other in its other. */
int sn_regions_join(const SnRegions *regions, int count, const int32_t *points, int other_count, const int32_t *other);

/* A triangle pair that a crossing lies on. */
typedef struct SnContourMeeting {
    int32_t low, high; /* triangles */
    int32_t crossing;
    int32_t edge_is_low;
} SnContourMeeting;

/* Where a crossing belongs. */
typedef struct SnContourPlace {
    int32_t tangle;
    int32_t side; /* of its edge; the triangle is on the other; 2: the contour runs into its own other side, and both are both */
    int32_t crossing;
} SnContourPlace;

/* The crossings at some positions, and what regions are found with. */
typedef struct SnContours {
    const SnSurface *surface;
    SnCrossings crossings;
    SnContourPlace *places; /* by tangle, then crossing; owned, as the rest */
    size_t meeting_capacity, parent_capacity, place_capacity;
    SnContourMeeting *meetings;
    int32_t *parents;       /* room for twice as many as crossings */
    unsigned char *cut;     /* edges: an odd number of crossings with the other body; zero between uses */
    unsigned char *colour;  /* points: which of both floods has reached it; zero between uses */
    int32_t *queues[2];     /* points each */
} SnContours;

/* The surface must outlive it. */
SnStatus sn_contours_init(SnContext *context, const SnSurface *surface, SnContours *contours);
void sn_contours_clear(SnContours *contours);

/* The crossings at q (points x 3), without those of what ignores each other, and, at rest, of different bodies, which have nothing to do with
   each other there. */
SnStatus sn_contours_cross(SnContext *context, SnContours *contours, const double *q, int at_rest);

/* The regions of all crossings, which are those at q. */
SnStatus sn_regions_find(SnContext *context, SnContours *contours, const double *q, SnRegions *regions);

static inline const SnCrossing *sn_contours_at(const SnContours *contours, size_t place)
{
    return contours->crossings.crossings + contours->places[place].crossing;
}

static inline size_t sn_surface_triangle_body(const SnSurface *surface, int32_t triangle)
{
    return (size_t)surface->point_bodies[surface->triangles[3 * (size_t)triangle]];
}

static inline size_t sn_surface_edge_body(const SnSurface *surface, int32_t edge)
{
    return (size_t)surface->point_bodies[surface->edges[2 * (size_t)edge]];
}

#endif
