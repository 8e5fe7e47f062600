/* sinew._processor: what the processor has, asked before a module that needs it is loaded. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *instructions(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) {
        return Py_BuildValue("(ssss)", "v4", "v3", "v2", "baseline");
    }
    if (__builtin_cpu_supports("x86-64-v3")) {
        return Py_BuildValue("(sss)", "v3", "v2", "baseline");
    }
    if (__builtin_cpu_supports("x86-64-v2")) {
        return Py_BuildValue("(ss)", "v2", "baseline");
    }
#endif
    return Py_BuildValue("(s)", "baseline");
}

static PyMethodDef functions[] = {
    {"instructions", instructions, METH_NOARGS, "instructions() -> names of the instruction sets that the processor has, the fastest first"},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "sinew._processor",
    .m_doc = "Which of Sinew's modules this processor can run.",
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__processor(void)
{
    return PyModuleDef_Init(&definition);
}
