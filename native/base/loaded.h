/* Which file a function was loaded from: proof of whose library answers. */
#ifndef SN_BASE_LOADED_H
#define SN_BASE_LOADED_H

/* Path of the shared library that holds the function, owned by the loader; "" where the system cannot tell. */
const char *sn_loaded_file(void (*function)(void));

#endif
