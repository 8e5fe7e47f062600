/* Contact: what the simulations of one ensemble meet. Made of arrays and settings, it belongs to an ensemble from when that is made; what it
   carries from one interval to the next comes in and goes out as bytes. */
#include "python/contact_parts.h"

#include "base/memory.h"
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

typedef struct Contact {
    PyObject_HEAD
    size_t member_count, count; /* surfaces: those of members, then obstacles */
    SnContactSurface *surfaces;
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
        sn_contact_surface_close_way(self->surfaces + k);
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
        sn_contact_surface_clear(self->surfaces + k);
    }
    sn_release(self->surfaces);
    sn_release(self->ignored);
    sn_type_free(object);
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
    self->surfaces = SN_NEW(&context, self->count, SnContactSurface);
    int result = self->surfaces != NULL ? read_ignored(&context, ignored, self) : sn_errors_check(SN_OUT_OF_MEMORY, &context);
    for (size_t k = 0; k < self->count && result == 0; k++) {
        int is_obstacle = k >= self->member_count;
        PyObject *dict = PyList_GetItem(is_obstacle ? obstacles : members, (Py_ssize_t)(is_obstacle ? k - self->member_count : k));
        result = sn_contact_surface_read(&context, dict, k, is_obstacle, s.friction, self->surfaces + k);
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
    const SnContactSurface *first = self->surfaces + low, *second = self->surfaces + high;
    if (low >= self->member_count) {
        return 0;
    }
    if (high < self->member_count) {
        return low == high ? first->self_collision : first->body_collision && second->body_collision;
    }
    return sn_contact_surface_meets(second, low);
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
        SnInputCurve curve;
        PyObject *tuple = PyList_GetItem(is_obstacle ? obstacles : surfaces, (Py_ssize_t)(is_obstacle ? k - self->member_count : k));
        if (sn_contact_surface_lead(self->surfaces + k, tuple, &curve) < 0) {
            close_ways(self);
            return NULL;
        }
        sn_colliders_lead(self->colliders, k, &curve);
    }
    self->given = Py_IsNone(state) ? NULL : Py_NewRef(state);
    self->is_led = 1;
    Py_RETURN_NONE;
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
    SnStatus status = sn_contact_state_restore(context, sn_colliders_contact(self->colliders), self->given);
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
    (void)unused;
    if (check_attached(self) < 0) {
        return NULL;
    }
    return sn_contact_state_save(sn_colliders_contact(self->colliders), self->was_active);
}

static PyObject *contact_report(PyObject *object, PyObject *unused)
{
    Contact *self = (Contact *)object;
    (void)unused;
    return check_attached(self) < 0 ? NULL : sn_contact_report_build(self->colliders, self->was_active, self->crossings);
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
    contact_type = sn_type_add(module, &spec, NULL);
    return contact_type != NULL ? sn_options_add((PyObject *)contact_type, SN_COUNT(OPTIONS), OPTIONS) : -1;
}
