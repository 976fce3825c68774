/* Opens CUDA's libraries (the driver, NVML, NVRTC, cuFFT) for the files that have their tables. */
#include "backend/cuda/compile/library.h"

#include <dlfcn.h>
#include <string.h>

tz__library tz__library_open(const char *const *names, void *table, const tz__symbol *symbols,
                             size_t count)
{
    tz__library library = {0};
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

const char *tz__library_why(void)
{
    return dlerror();
}

void tz__library_close(tz__library *library)
{
    if (library->handle)
        dlclose(library->handle);
    *library = (tz__library){0};
}
