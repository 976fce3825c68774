/* Opens libraries of the system (CUDA's, FFTW, HDF5, libmicrohttpd) for the files that have their
 * tables. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

tz_library tz_library_open(const char *const *names, void *table, const tz_library_symbol *symbols,
                           size_t count)
{
    tz_library library = {0};
    for (; *names && !library.handle; names++) {
        library.handle = dlopen(*names, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        library.name = *names;
    }
    for (size_t k = 0; k < count && library.handle && !library.missing; k++) {
        void *address = dlsym(library.handle, symbols[k].name);
        if (address)
            memcpy((char *)table + symbols[k].offset, &address, sizeof address);
        else if (!symbols[k].optional)
            library.missing = symbols[k].name;
    }
    return library;
}

const char *tz_library_why(void)
{
    return dlerror();
}

void tz_library_close(tz_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    *library = (tz_library){0};
}
