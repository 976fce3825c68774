#include "backend/cuda/compile/library.h"

#include <dlfcn.h>
#include <string.h>

const char *tz__symbols_find(void *library, void *table, const tz__symbol *symbols, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        void *address = dlsym(library, symbols[k].name);
        if (!address)
            return symbols[k].name;
        memcpy((char *)table + symbols[k].offset, &address, sizeof address);
    }
    return NULL;
}
