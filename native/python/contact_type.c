/* Contact: what the simulations of one ensemble meet. Made of arrays and settings, it belongs to an ensemble from when that is made; what it
   carries from one interval to the next comes in and goes out as bytes. */
#include "python/types.h"

#include "base/memory.h"
#include "dynamics/colliders.h"
#include "python/arrays.h"
#include "python/errors.h"
#include "python/options.h"

#include <string.h>

typedef struct Settings {
    SnContactSettings contact;
    double friction;
} Settings;

#define OPTION(name, kind) {#name, kind, offsetof(Settings, contact.name), NULL}
static const SnOption OPTIONS[] = {
    OPTION(gap, SN_OPTION_DOUBLE),
    {"friction", SN_OPTION_DOUBLE, offsetof(Settings, friction), NULL},
    OPTION(separate, SN_OPTION_DOUBLE),
    OPTION(keep_input, SN_OPTION_BOOL),
    OPTION(strict, SN_OPTION_BOOL),
    OPTION(soft_collider, SN_OPTION_BOOL),
};

/* What a surface is told by, in this order. */
enum { REST, TRIANGLES, THICKNESS, FRICTION, GROUPS, MEMBERS, SURFACE_ARRAYS };
enum { BEFORE, BEGIN, END, AFTER, WAY_ARRAYS };

typedef struct Surface {
    SnArray arrays[SURFACE_ARRAYS]; /* open as long as it lives */
    SnArray way[WAY_ARRAYS];        /* where it goes in the interval that is led; open until the ensemble has advanced */
    PyObject *cage;                 /* a reference: whose embedding it is; null: the simulation's own */
    double *friction;               /* where none is told; owned */
    SnCollider collider;
    int self_collision, body_collision;
    int is_absent;                  /* a member that does not collide */
    int is_active;                  /* in the interval that is led */
} Surface;

typedef struct Contact {
    PyObject_HEAD
    size_t member_count, count; /* surfaces: those of members, then obstacles */
    Surface *surfaces;
    Settings settings;
    size_t ignored_count;
    int32_t *ignored;           /* x 2, groups */
    SnColliders *colliders;     /* while it belongs to an ensemble */
    int is_led, is_active;
    PyObject *given;            /* the state that it was led with, or null */
    size_t crossings;           /* where the last interval ended */
    int was_active;
} Contact;

static PyTypeObject *contact_type; /* set once when the module is made */

int sn_contact_type_check(PyObject *object)
{
    if (!PyObject_TypeCheck(object, contact_type)) {
        PyErr_SetString(PyExc_TypeError, "contact must be a Contact or None");
        return -1;
    }
    return 0;
}

static void close_ways(Contact *self)
{
    for (size_t k = 0; self->surfaces != NULL && k < self->count; k++) {
        sn_arrays_close(WAY_ARRAYS, self->surfaces[k].way);
    }
    self->is_led = 0;
    Py_CLEAR(self->given);
}

static void contact_dealloc(PyObject *object)
{
    Contact *self = (Contact *)object;
    close_ways(self);
    sn_colliders_destroy(self->colliders);
    for (size_t k = 0; self->surfaces != NULL && k < self->count; k++) {
        Surface *surface = self->surfaces + k;
        sn_arrays_close(SURFACE_ARRAYS, surface->arrays);
        Py_XDECREF(surface->cage);
        sn_release(surface->friction);
    }
    sn_release(self->surfaces);
    sn_release(self->ignored);
    sn_type_free(object);
}

/* A truth of a dict, or `value`. -1 with an exception. */
static int read_flag(PyObject *dict, const char *name, int value)
{
    PyObject *found = PyDict_GetItemString(dict, name);
    return found != NULL ? PyObject_IsTrue(found) : value;
}

static int read_interpolation(PyObject *dict, SnInterpolation *interpolation)
{
    PyObject *found = PyDict_GetItemString(dict, "interpolation");
    PyObject *bytes = found != NULL ? PyUnicode_AsUTF8String(found) : NULL;
    if (found == NULL) {
        return 0;
    }
    int result = bytes != NULL ? sn_interpolation_choose(PyBytes_AsString(bytes), interpolation) : -1;
    Py_XDECREF(bytes);
    return result;
}

/* What a member or an obstacle is, from its dict. -1 with an exception; what is open then is closed with the contact. */
static int read_surface(SnContext *context, PyObject *dict, size_t member, int is_obstacle, double friction, Surface *surface)
{
    static const char *const names[] = {"rest",    "triangles", "thickness",     "friction",       "groups",
                                        "members", "cage",      "interpolation", "self_collision", "body_collision"};
    const SnArray table[SURFACE_ARRAYS] = {
        [REST] = {.name = names[REST], .kind = 'd', .rows = -1, .columns = 3},
        [TRIANGLES] = {.name = names[TRIANGLES], .kind = 'i', .rows = -1, .columns = 3},
        [THICKNESS] = {.name = names[THICKNESS], .kind = 'd', .columns = 1, .is_optional = 1},
        [FRICTION] = {.name = names[FRICTION], .kind = 'd', .columns = 1, .is_optional = 1},
        [GROUPS] = {.name = names[GROUPS], .kind = 'i', .columns = 1, .is_optional = 1},
        [MEMBERS] = {.name = names[MEMBERS], .kind = 'i', .rows = -1, .columns = 1, .is_optional = 1},
    };
    SnArray *a = memcpy(surface->arrays, table, sizeof table);
    if (Py_IsNone(dict) && !is_obstacle) { /* it has no surface here */
        surface->is_absent = 1;
        surface->collider = (SnCollider){.is_obstacle = 1};
        return 0;
    }
    if (sn_options_check_names(dict, is_obstacle ? "An obstacle" : "A member", SN_COUNT(names), names) < 0) {
        return -1;
    }
    for (size_t k = 0; k < SURFACE_ARRAYS; k++) {
        a[k].object = PyDict_GetItemString(dict, names[k]);
    }
    if (sn_arrays_open(1, a) < 0) {
        return -1;
    }
    a[THICKNESS].rows = a[FRICTION].rows = a[GROUPS].rows = a[REST].rows;
    if (sn_arrays_open(SURFACE_ARRAYS - 1, a + 1) < 0) {
        return -1;
    }
    PyObject *cage = PyDict_GetItemString(dict, "cage");
    if (cage != NULL && !Py_IsNone(cage)) {
        if (sn_cage_type_check(cage) < 0) {
            return -1;
        }
        surface->cage = Py_NewRef(cage);
    }
    surface->self_collision = read_flag(dict, "self_collision", 1);
    surface->body_collision = read_flag(dict, "body_collision", 1);
    surface->collider = (SnCollider){.is_obstacle = is_obstacle, .member = member, .interpolation = SN_INTERPOLATION_PHONG};
    if (surface->self_collision < 0 || surface->body_collision < 0 || read_interpolation(dict, &surface->collider.interpolation) < 0) {
        return -1;
    }
    size_t points = (size_t)a[REST].rows;
    if (a[FRICTION].data == NULL) {
        surface->friction = SN_NEW(context, points, double);
        if (surface->friction == NULL) {
            return sn_errors_check(SN_OUT_OF_MEMORY, context);
        }
        for (size_t k = 0; k < points; k++) {
            surface->friction[k] = friction;
        }
    }
    surface->collider.embedding = surface->cage != NULL ? sn_cage_type_embedding(surface->cage) : NULL;
    surface->collider.part = (SnSurfacePart){.point_count = points,
                                             .triangle_count = (size_t)a[TRIANGLES].rows,
                                             .rest = a[REST].data,
                                             .triangles = a[TRIANGLES].data,
                                             .thickness = a[THICKNESS].data,
                                             .friction = a[FRICTION].data != NULL ? a[FRICTION].data : surface->friction,
                                             .groups = a[GROUPS].data};
    return 0;
}

static int read_ignored(SnContext *context, PyObject *object, Contact *self)
{
    SnArray ignored = {.name = "ignored", .kind = 'i', .rows = -1, .columns = 2, .is_optional = 1, .object = object};
    if (sn_arrays_open(1, &ignored) < 0) {
        return -1;
    }
    size_t count = ignored.data != NULL ? (size_t)ignored.rows : 0;
    self->ignored = SN_NEW(context, 2 * count, int32_t);
    int result = self->ignored != NULL ? 0 : sn_errors_check(SN_OUT_OF_MEMORY, context);
    for (size_t k = 0; k < 2 * count && result == 0; k++) {
        self->ignored[k] = ((const int32_t *)ignored.data)[k];
        if (self->ignored[k] < 0 || self->ignored[k] >= SN_SURFACE_GROUPS) {
            sn_errors_set(SN_BAD_INPUT, "There are more than %d groups of vertices that do not collide: name fewer pairs.", SN_SURFACE_GROUPS);
            result = -1;
        }
    }
    self->ignored_count = count;
    sn_arrays_close(1, &ignored);
    return result;
}

static int check_settings(const Settings *settings)
{
    const SnContactSettings *s = &settings->contact;
    if (!(s->gap > 0.0 && s->gap < 1e300 && s->separate > 0.0 && settings->friction >= 0.0)) {
        sn_errors_set(SN_BAD_INPUT, "Gap and separate of a contact must be more than 0, its friction at least 0.");
        return -1;
    }
    return 0;
}

/* Contact(members, obstacles, settings, ignored=None) */
static PyObject *contact_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"members", "obstacles", "settings", "ignored", NULL};
    PyObject *members, *obstacles, *settings, *ignored = Py_None;
    Settings s = {.contact = {.gap = 0.001, .separate = 1.0}, .friction = 0.4};
    SnContext context;
    sn_context_init(&context);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO|O:Contact", names, &members, &obstacles, &settings, &ignored) ||
        sn_options_read(settings, "Contact", SN_COUNT(OPTIONS), OPTIONS, &s) < 0 || check_settings(&s) < 0) {
        return NULL;
    }
    if (!PyList_Check(members) || !PyList_Check(obstacles) || PyList_Size(members) == 0) {
        PyErr_SetString(PyExc_TypeError, "members and obstacles of a contact are lists of dicts, and it has a member");
        return NULL;
    }
    Contact *self = (Contact *)sn_type_new(type);
    if (self == NULL) {
        return NULL;
    }
    self->settings = s;
    self->member_count = (size_t)PyList_Size(members);
    self->count = self->member_count + (size_t)PyList_Size(obstacles);
    self->surfaces = SN_NEW(&context, self->count, Surface);
    int result = self->surfaces != NULL ? read_ignored(&context, ignored, self) : sn_errors_check(SN_OUT_OF_MEMORY, &context);
    for (size_t k = 0; k < self->count && result == 0; k++) {
        int is_obstacle = k >= self->member_count;
        PyObject *dict = PyList_GetItem(is_obstacle ? obstacles : members, (Py_ssize_t)(is_obstacle ? k - self->member_count : k));
        result = read_surface(&context, dict, k, is_obstacle, s.friction, self->surfaces + k);
    }
    if (result < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* Whether two surfaces may touch: an obstacle with those that it names, if it names any. */
static int may_meet(const Contact *self, size_t one, size_t other)
{
    size_t low = one < other ? one : other, high = one < other ? other : one;
    const Surface *first = self->surfaces + low, *second = self->surfaces + high;
    if (low >= self->member_count) {
        return 0;
    }
    if (high < self->member_count) {
        return low == high ? first->self_collision : first->body_collision && second->body_collision;
    }
    const SnArray *named = second->arrays + MEMBERS;
    int found = named->data == NULL;
    for (Py_ssize_t k = 0; named->data != NULL && k < named->rows; k++) {
        found |= ((const int32_t *)named->data)[k] == (int32_t)low;
    }
    return found;
}

static SnStatus attach(SnContext *context, Contact *self, SnEnsemble *ensemble)
{
    SnStatus status = SN_OK;
    SnCollidersDef def = {.count = self->count, .settings = self->settings.contact};
    SnCollider *colliders = NULL;
    unsigned char *meets = NULL;
    SN_TRY_NEW(context, colliders, self->count, SnCollider);
    SN_TRY_NEW(context, meets, self->count * self->count, unsigned char);
    for (size_t k = 0; k < self->count; k++) {
        colliders[k] = self->surfaces[k].collider;
        for (size_t l = 0; l < self->count; l++) {
            meets[k * self->count + l] = (unsigned char)may_meet(self, k, l);
        }
    }
    def.colliders = colliders;
    def.meets = meets;
    SN_TRY(sn_colliders_create(context, ensemble, &def, &self->colliders));
    for (size_t k = 0; k < self->ignored_count; k++) {
        sn_surface_ignore(sn_colliders_surface(self->colliders), self->ignored[2 * k], self->ignored[2 * k + 1]);
    }
cleanup:
    sn_release(colliders);
    sn_release(meets);
    return status;
}

int sn_contact_type_attach(PyObject *object, SnEnsemble *ensemble)
{
    Contact *self = (Contact *)object;
    SnContext context;
    SnStatus status;
    int result;
    sn_context_init(&context);
    if (self->colliders != NULL || self->member_count != sn_ensemble_size(ensemble)) {
        PyErr_SetString(PyExc_TypeError, self->colliders != NULL ? "a contact belongs to one ensemble"
                                                                 : "a contact has one member for each simulation of its ensemble");
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS
    status = attach(&context, self, ensemble);
    Py_END_ALLOW_THREADS
    result = sn_errors_check(status, &context);
    return result;
}

void sn_contact_type_detach(PyObject *object)
{
    Contact *self = (Contact *)object;
    close_ways(self);
    sn_colliders_destroy(self->colliders);
    self->colliders = NULL;
}

/* Opens where one surface goes in an interval. */
static int open_way(Surface *surface, PyObject *tuple)
{
    SnArray *way = surface->way;
    Py_ssize_t points = (Py_ssize_t)surface->collider.part.point_count;
    static const char *const names[WAY_ARRAYS] = {"before", "begin", "end", "after"};
    if (surface->is_absent) {
        return 0;
    }
    for (int k = 0; k < WAY_ARRAYS; k++) {
        way[k] = (SnArray){.name = names[k], .kind = 'd', .rows = points, .columns = 3, .is_optional = k == BEFORE || k == AFTER};
    }
    int parsed = surface->collider.is_obstacle
                     ? PyTuple_Check(tuple) && PyArg_ParseTuple(tuple, "OO;an obstacle goes from begin to end", &way[BEGIN].object, &way[END].object)
                     : PyTuple_Check(tuple) && PyArg_ParseTuple(tuple, "OOOO;a surface is led by before, begin, end and after", &way[BEFORE].object,
                                                                &way[BEGIN].object, &way[END].object, &way[AFTER].object);
    if (!parsed) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "surfaces and obstacles are led by tuples of arrays");
        }
        return -1;
    }
    return sn_arrays_open(WAY_ARRAYS, way);
}

/* Which members are active: all where nothing is told. -1 with an exception. */
static int read_active(Contact *self, PyObject *list)
{
    self->is_active = 0;
    for (size_t k = 0; k < self->count; k++) {
        int is_told = k < self->member_count && !Py_IsNone(list);
        int is_active = is_told ? PyObject_IsTrue(PyList_GetItem(list, (Py_ssize_t)k)) : 1;
        if (is_active < 0) {
            return -1;
        }
        self->surfaces[k].is_active = is_active;
        self->is_active |= k < self->member_count && is_active && !self->surfaces[k].is_absent;
    }
    return 0;
}

/* lead(surfaces, obstacles, state=None, active=None) */
static PyObject *contact_lead(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    Contact *self = (Contact *)object;
    static char *names[] = {"surfaces", "obstacles", "state", "active", NULL};
    PyObject *surfaces, *obstacles, *state = Py_None, *active = Py_None;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|OO:lead", names, &surfaces, &obstacles, &state, &active)) {
        return NULL;
    }
    if (self->colliders == NULL || !PyList_Check(surfaces) || !PyList_Check(obstacles) ||
        PyList_Size(surfaces) != (Py_ssize_t)self->member_count ||
        PyList_Size(obstacles) != (Py_ssize_t)(self->count - self->member_count) || (!Py_IsNone(state) && !PyBytes_Check(state)) ||
        (!Py_IsNone(active) && (!PyList_Check(active) || PyList_Size(active) != (Py_ssize_t)self->member_count))) {
        PyErr_SetString(PyExc_TypeError, self->colliders == NULL ? "a contact is led when its ensemble is made"
                                                                 : "a contact is led by a list of a tuple for each member, one of a tuple "
                                                                   "for each obstacle, the bytes of its last state or None, and for each member "
                                                                   "whether it is active");
        return NULL;
    }
    close_ways(self);
    if (read_active(self, active) < 0) {
        return NULL;
    }
    for (size_t k = 0; k < self->count; k++) {
        int is_obstacle = k >= self->member_count;
        Surface *surface = self->surfaces + k;
        PyObject *tuple = PyList_GetItem(is_obstacle ? obstacles : surfaces, (Py_ssize_t)(is_obstacle ? k - self->member_count : k));
        if (open_way(surface, tuple) < 0) {
            close_ways(self);
            return NULL;
        }
        const SnArray *way = surface->way;
        SnInputCurve curve = {surface->collider.part.point_count, way[BEFORE].data, way[BEGIN].data, way[END].data, way[AFTER].data, 1.0, NULL};
        sn_colliders_lead(self->colliders, k, &curve);
    }
    self->given = Py_IsNone(state) ? NULL : Py_NewRef(state);
    self->is_led = 1;
    Py_RETURN_NONE;
}

/* A state as bytes: how many pairs press, how many numbers tell what is exempt; of the pairs how hard each presses, how friction holds it,
   and its key; then those numbers. */
enum { KEY = 5, HOLD = 3 }; /* see dynamics/contact.h */

typedef struct State {
    uint64_t count, exempt_count;
    double *forces, *holds;
    int32_t *keys, *exempt;
} State;

static void state_clear(State *state)
{
    sn_release(state->forces);
    sn_release(state->holds);
    sn_release(state->keys);
    sn_release(state->exempt);
}

/* Room for what its counts say. */
static SnStatus state_init(SnContext *context, State *state)
{
    SnStatus status = SN_OK;
    SN_TRY_NEW(context, state->forces, state->count, double);
    SN_TRY_NEW(context, state->holds, HOLD * state->count, double);
    SN_TRY_NEW(context, state->keys, KEY * state->count, int32_t);
    SN_TRY_NEW(context, state->exempt, state->exempt_count, int32_t);
cleanup:
    return status;
}

/* Copies it out to bytes, or in from them; returns how many they are. Null: only counts. */
static size_t copy_state(State *state, char *bytes, int out)
{
    struct {
        void *data;
        size_t size;
    } parts[] = {{&state->count, sizeof state->count},
                 {&state->exempt_count, sizeof state->exempt_count},
                 {state->forces, state->count * sizeof *state->forces},
                 {state->holds, HOLD * state->count * sizeof *state->holds},
                 {state->keys, KEY * state->count * sizeof *state->keys},
                 {state->exempt, state->exempt_count * sizeof *state->exempt}};
    size_t size = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (bytes != NULL && parts[k].size > 0 && out) {
            memcpy(bytes + size, parts[k].data, parts[k].size);
        } else if (bytes != NULL && parts[k].size > 0) {
            memcpy(parts[k].data, bytes + size, parts[k].size);
        }
        size += parts[k].size;
    }
    return size;
}

/* Null: that of a start. */
static SnStatus restore_state(SnContext *context, SnContact *contact, char *bytes, size_t size)
{
    SnStatus status = SN_OK;
    State state = {0};
    if (bytes != NULL && size >= 2 * sizeof(uint64_t)) {
        memcpy(&state.count, bytes, sizeof state.count);
        memcpy(&state.exempt_count, bytes + sizeof state.count, sizeof state.exempt_count);
    }
    if (bytes != NULL && (state.count > size || state.exempt_count > size || copy_state(&state, NULL, 0) != size)) {
        state = (State){0};
        status = sn_context_fail(context, SN_BAD_INPUT, "The contacts of the checkpoint are damaged: bake again from the start.");
        goto cleanup;
    }
    SN_TRY(state_init(context, &state));
    if (bytes != NULL) {
        (void)copy_state(&state, bytes, 0);
    }
    SN_TRY(sn_contact_restore(context, contact, state.count, state.keys, state.forces, state.holds));
    SN_TRY(sn_contact_restore_exempt(context, contact, state.exempt_count, state.exempt));
cleanup:
    state_clear(&state);
    return status;
}

int sn_contact_type_begin(PyObject *object, SnContext *context)
{
    Contact *self = (Contact *)object;
    if (!self->is_led) {
        PyErr_SetString(PyExc_TypeError, "the contact of an ensemble is to be led before each interval");
        return -1;
    }
    self->was_active = self->is_active;
    self->crossings = 0;
    char *bytes = self->given != NULL ? PyBytes_AsString(self->given) : NULL;
    size_t size = self->given != NULL ? (size_t)PyBytes_Size(self->given) : 0;
    SnStatus status = restore_state(context, sn_colliders_contact(self->colliders), bytes, size);
    for (size_t k = 0; k < self->count; k++) {
        sn_colliders_surface(self->colliders)->active[k] = (unsigned char)self->surfaces[k].is_active;
    }
    if (status == SN_OK) {
        status = sn_colliders_switch(context, self->colliders, self->is_active);
    }
    return sn_errors_check(status, context);
}

SnStatus sn_contact_type_end(PyObject *object, SnContext *context, SnStatus status)
{
    Contact *self = (Contact *)object;
    int look = self->settings.contact.strict || sn_tangles_any(sn_contact_tangles(sn_colliders_contact(self->colliders)));
    if (status == SN_OK && self->is_active && look) { /* elsewhere there are none */
        status = sn_colliders_crossings(context, self->colliders, &self->crossings);
    }
    return status;
}

void sn_contact_type_close(PyObject *object)
{
    close_ways((Contact *)object);
}

static int check_attached(const Contact *self)
{
    if (self->colliders == NULL) {
        PyErr_SetString(PyExc_TypeError, "the contact belongs to no ensemble");
        return -1;
    }
    return 0;
}

static PyObject *contact_state(PyObject *object, PyObject *unused)
{
    Contact *self = (Contact *)object;
    SnContext context;
    State state = {0};
    PyObject *bytes = NULL;
    (void)unused;
    if (check_attached(self) < 0) {
        return NULL;
    }
    const SnContact *contact = sn_colliders_contact(self->colliders);
    if (self->was_active) {
        state.count = sn_contact_pressing(contact);
        state.exempt_count = sn_contact_exempt_count(contact);
    }
    sn_context_init(&context);
    if (sn_errors_check(state_init(&context, &state), &context) == 0 &&
        (bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)copy_state(&state, NULL, 1))) != NULL) {
        if (state.count > 0) {
            sn_contact_save(contact, state.keys, state.forces, state.holds);
        }
        if (state.exempt_count > 0) {
            sn_contact_save_exempt(contact, state.exempt);
        }
        (void)copy_state(&state, PyBytes_AsString(bytes), 1);
    }
    state_clear(&state);
    return bytes;
}

/* Contacts that press, as arrays. */
typedef struct Pressed {
    PyObject *points, *normals, *forces, *surfaces;
} Pressed;

static void pressed_clear(Pressed *pressed)
{
    Py_XDECREF(pressed->points);
    Py_XDECREF(pressed->normals);
    Py_XDECREF(pressed->forces);
    Py_XDECREF(pressed->surfaces);
}

/* Halfway between the two sides of a touch. */
static void place_touch(const SnTouch *touch, const double *q, double place[3])
{
    memset(place, 0, 3 * sizeof *place);
    for (int i = 0; i < 4; i++) {
        int is_first = i < (touch->edges ? 2 : 1);
        for (size_t a = 0; a < 3; a++) {
            place[a] += 0.5 * (is_first ? touch->c[i] : -touch->c[i]) * q[3 * (size_t)touch->points[i] + a];
        }
    }
}

/* -1 with an exception. */
static int find_pressed(Contact *self, Pressed *pressed)
{
    const SnSurface *surface = sn_colliders_surface(self->colliders);
    const SnContact *contact = sn_colliders_contact(self->colliders);
    const double *forces, *q = sn_contact_points(contact);
    const SnTouches *touches = sn_contact_touches(contact, &forces);
    size_t count = 0;
    for (size_t k = 0; self->was_active && k < touches->count; k++) {
        count += forces[k] > 0.0;
    }
    pressed->points = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(3 * count * sizeof(double)));
    pressed->normals = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(3 * count * sizeof(double)));
    pressed->forces = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(double)));
    pressed->surfaces = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(2 * count * sizeof(int32_t)));
    if (pressed->points == NULL || pressed->normals == NULL || pressed->forces == NULL || pressed->surfaces == NULL) {
        return -1;
    }
    char *points = PyBytes_AsString(pressed->points), *normals = PyBytes_AsString(pressed->normals);
    char *strengths = PyBytes_AsString(pressed->forces), *sides = PyBytes_AsString(pressed->surfaces);
    for (size_t k = 0, at = 0; count > 0 && k < touches->count; k++) {
        const SnTouch *touch = touches->touches + k;
        if (forces[k] > 0.0) {
            double place[3];
            int32_t both[2] = {surface->point_bodies[touch->points[0]], surface->point_bodies[touch->points[3]]};
            place_touch(touch, q, place);
            memcpy(points + at * sizeof place, place, sizeof place);
            memcpy(normals + at * sizeof touch->n, touch->n, sizeof touch->n);
            memcpy(strengths + at * sizeof *forces, forces + k, sizeof *forces);
            memcpy(sides + at * sizeof both, both, sizeof both);
            at++;
        }
    }
    return 0;
}

/* Where surfaces are let overlap: points in bytes, and their surface twice each. -1 with an exception. */
static int find_exempt(Contact *self, PyObject **points, PyObject **sides)
{
    const SnSurface *surface = sn_colliders_surface(self->colliders);
    const SnContact *contact = sn_colliders_contact(self->colliders);
    const double *q = sn_contact_points(contact);
    SnContext context;
    sn_context_init(&context);
    unsigned char *flags = SN_NEW(&context, surface->point_count, unsigned char);
    size_t count = 0;
    if (flags == NULL) {
        return sn_errors_check(SN_OUT_OF_MEMORY, &context);
    }
    if (self->was_active) {
        sn_tangles_show(sn_contact_tangles(contact), flags);
    }
    for (size_t p = 0; p < surface->point_count; p++) {
        count += flags[p] != 0;
    }
    *points = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(3 * count * sizeof *q));
    *sides = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(2 * count * sizeof(int32_t)));
    for (size_t p = 0, at = 0; *points != NULL && *sides != NULL && p < surface->point_count; p++) {
        if (flags[p] != 0) {
            const int32_t both[2] = {surface->point_bodies[p], surface->point_bodies[p]};
            memcpy(PyBytes_AsString(*points) + 3 * at * sizeof *q, q + 3 * p, 3 * sizeof *q);
            memcpy(PyBytes_AsString(*sides) + at * sizeof both, both, sizeof both);
            at++;
        }
    }
    sn_release(flags);
    return *points != NULL && *sides != NULL ? 0 : -1;
}

static PyObject *contact_report(PyObject *object, PyObject *unused)
{
    Contact *self = (Contact *)object;
    Pressed pressed = {0};
    PyObject *result = NULL, *points = NULL, *sides = NULL;
    (void)unused;
    if (check_attached(self) < 0) {
        return NULL;
    }
    const SnContact *contact = sn_colliders_contact(self->colliders);
    SnContactReport report = self->was_active ? sn_contact_report(contact) : (SnContactReport){0};
    size_t exempt = self->was_active ? sn_contact_tangles(contact)->now.tangle_count : 0;
    if (find_pressed(self, &pressed) == 0 && find_exempt(self, &points, &sides) == 0) {
        result = Py_BuildValue("{s:n,s:l,s:l,s:l,s:l,s:n,s:l,s:n,s:O,s:O,s:O,s:O,s:O,s:O}", "planes", (Py_ssize_t)report.planes, "stages",
                               report.stages, "rounds", report.rounds, "ccds", report.ccds, "partial_steps", report.partial_steps, "exempt",
                               (Py_ssize_t)exempt, "pinched", report.pinched, "intersections", (Py_ssize_t)self->crossings, "points",
                               pressed.points, "normals", pressed.normals, "forces", pressed.forces, "surfaces", pressed.surfaces,
                               "exempt_points", points, "exempt_surfaces", sides);
    }
    Py_XDECREF(points);
    Py_XDECREF(sides);
    pressed_clear(&pressed);
    return result;
}

int sn_contact_type_add(PyObject *module)
{
    static PyMethodDef methods[] = {
        {"lead", (PyCFunction)(void (*)(void))contact_lead, METH_VARARGS | METH_KEYWORDS,
         "lead(surfaces, obstacles, state=None, active=None): where all of it goes in the next interval."},
        {"state", contact_state, METH_NOARGS, "After an interval: what the next one needs, as bytes."},
        {"report", contact_report, METH_NOARGS, "Of the last interval: numbers, and contacts as arrays in bytes."},
        {NULL, NULL, 0, NULL},
    };
    static PyType_Slot slots[] = {
        {Py_tp_doc, "Contact(members, obstacles, settings, ignored=None): what the simulations of one ensemble meet."},
        {Py_tp_new, contact_new},
        {Py_tp_dealloc, contact_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"sinew._native.Contact", sizeof(Contact), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (type == NULL || sn_options_add(type, SN_COUNT(OPTIONS), OPTIONS) < 0) {
        return -1;
    }
    contact_type = (PyTypeObject *)type;
    return PyModule_AddObjectRef(module, "Contact", type);
}
