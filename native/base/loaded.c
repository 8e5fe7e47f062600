#if defined(__linux__)
#define _GNU_SOURCE /* dladdr */
#endif
#include "base/loaded.h"

#if defined(__linux__) || defined(__APPLE__)
#include <dlfcn.h>
#include <string.h>

const char *sn_loaded_file(void (*function)(void))
{
    Dl_info found;
    void *address;
    memcpy(&address, &function, sizeof address);
    return dladdr(address, &found) && found.dli_fname ? found.dli_fname : "";
}
#else
const char *sn_loaded_file(void (*function)(void))
{
    (void)function;
    return "";
}
#endif
