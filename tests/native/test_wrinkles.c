/* A sheet that is bound to a soft foundation and pressed together along its length wrinkles at the length and under the load of theory:
   2 pi (D / k)^1/4 and 2 sqrt(D k), with its bending stiffness D and the foundation's k (N/m³). Hinges bend a narrow strip with 8 D / 9,
   which is 0.97 of the length and 0.94 of the load. */
#include "sheets.h"

#include "method/tracks/tracks.h"

#define COLUMNS 58
#define ROWS 3
#define EDGE 0.0125     /* m */
#define LENGTH 0.1      /* m, of a wrinkle */
#define STRETCH 1e4     /* N/m */
#define BEND 1e-4       /* N m */
#define WEIGHT 0.3      /* kg/m² */

typedef struct Wrinkled {
    double height, length; /* m: the most, and the mean of a whole wave away from the ends */
} Wrinkled;

/* Heights of the middle row, pressed by so many times the load of theory. */
static Wrinkled press(double times)
{
    SnContext context;
    sn_context_init(&context);
    SheetMaterial unused = {1.0, 0.0, 1.0, 1.0};
    Sheet sheet = sheet_strip(&context, COLUMNS, ROWS, EDGE, 0.0, unused);
    size_t count = sheet.vertex_count;
    double foundation = BEND * pow(2.0 * SCENE_PI / LENGTH, 4.0), strain = times * 2.0 * sqrt(BEND * foundation) / STRETCH;
    double *arrays[4], *pose = SN_NEW(&context, 3 * count, double), *positions = SN_NEW(&context, 3 * count, double);
    for (int k = 0; k < 4; k++) {
        arrays[k] = SN_NEW(&context, count, double);
    }
    SnTracksSettings settings = sn_tracks_settings_default();
    /* What draws a vertex that follows by a half, mass (2 pi hold)², is the foundation. Its pose is pressed already, so that it acts
       across the sheet alone. */
    settings.hold = sqrt(foundation / WEIGHT) / (2.0 * SCENE_PI);
    settings.poisson = 0.0;
    settings.gravity[2] = 0.0;
    settings.tolerance = 2e-7;
    for (size_t v = 0; v < count; v++) {
        double x = sheet.positions[3 * v], end = COLUMNS * EDGE * sqrt(0.75);
        arrays[0][v] = STRETCH;
        arrays[1][v] = BEND;
        arrays[2][v] = WEIGHT;
        arrays[3][v] = x < 1e-9 || x > end - 1e-9 ? 1.0 : 0.5;
        pose[3 * v] = (1.0 - strain) * x;
        pose[3 * v + 1] = sheet.positions[3 * v + 1];
        memcpy(positions + 3 * v, pose + 3 * v, 3 * sizeof *pose);
        if (arrays[3][v] < 1.0) {
            positions[3 * v + 2] = 1e-4 * sin(12.9898 * (double)(v / (ROWS + 1) * 7919 % 1013)); /* no length of its own */
        }
    }
    SnShell shell = {.vertex_count = count, .triangle_count = sheet.triangle_count, .triangles = sheet.triangles, .rest = sheet.positions,
                     .stretch = arrays[0], .bend = arrays[1], .weight = arrays[2], .follow = arrays[3]};
    SnRows none = {0};
    SnTracks *tracks = NULL;
    SnNewtonReport report = {0};
    CHECK(sn_tracks_create(&context, &shell, &settings, &none, &tracks) == SN_OK);
    double *inner = SN_NEW(&context, sn_world_inner_count(sn_tracks_world(tracks)), double);
    sn_tracks_begin(tracks, inner);
    CHECK(sn_tracks_settle(&context, tracks, pose, NULL, inner, positions, &report) == SN_OK);
    CHECK(report.converged);

    Wrinkled found = {0};
    double first = NAN, last = NAN;
    int crossings = 0;
    for (int i = COLUMNS / 8; i < COLUMNS - COLUMNS / 8; i++) {
        const double *a = positions + 3 * (size_t)(i * (ROWS + 1) + ROWS / 2), *b = a + 3 * (ROWS + 1);
        found.height = fmax(found.height, fabs(a[2]));
        if (a[2] * b[2] < 0.0) {
            last = a[0] + (b[0] - a[0]) * a[2] / (a[2] - b[2]);
            first = crossings++ == 0 ? last : first;
        }
    }
    found.length = crossings > 2 ? 2.0 * (last - first) / (crossings - 1) : 0.0;
    sn_tracks_destroy(tracks);
    sheet_clear(&sheet);
    for (int k = 0; k < 4; k++) {
        sn_release(arrays[k]);
    }
    sn_release(pose);
    sn_release(positions);
    sn_release(inner);
    return found;
}

static void a_bound_sheet_wrinkles_at_its_length_and_load(void)
{
    Wrinkled below = press(0.9), above = press(1.15);
    CHECK(below.height < 1e-6);
    CHECK(above.height > 1e-4);
    CHECK_NEAR(above.length, LENGTH, 0.1 * LENGTH);
}

int main(void)
{
    a_bound_sheet_wrinkles_at_its_length_and_load();
    return CHECK_RESULT();
}
