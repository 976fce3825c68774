#include "output/format/hdf5_library.h"

#include <dlfcn.h>
#include <string.h>

/* By the numbers of Debian 11 to 13, Ubuntu 20.04 on, and plain builds of 1.10 to 2.0. */
static const char *const known[] = {"libhdf5_serial.so.320",
                                    "libhdf5_serial.so.310",
                                    "libhdf5_serial.so.200",
                                    "libhdf5_serial.so.103",
                                    "libhdf5_serial.so.101",
                                    "libhdf5_serial.so.100",
                                    "libhdf5.so.320",
                                    "libhdf5.so.310",
                                    "libhdf5.so.200",
                                    "libhdf5.so.103",
                                    "libhdf5.so.101",
                                    "libhdf5.so.100",
                                    "libhdf5_serial.so",
                                    "libhdf5.so",
                                    NULL};

tz_status tz__hdf5_open(tz_hdf5 *h5, const char *const *names, tz_error *error)
{
    static const struct {
        const char *symbol;
        size_t offset;
    } symbols[] = {
#define SYMBOL(member, result, symbol, parameters) {#symbol, offsetof(tz_hdf5, member)},
        TZ_HDF5_TABLE(SYMBOL)
#undef SYMBOL
    };
    memset(h5, 0, sizeof *h5);
    for (size_t k = 0; !h5->library && (names ? names : known)[k]; k++) {
        h5->name = (names ? names : known)[k];
        h5->library = dlopen(h5->name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    if (!h5->library)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "HDF5 files need libhdf5, which is not found: install it (Debian, "
                            "Ubuntu: apt-get install hdf5-tools, which brings it) or use tz.xdmf");
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        void *function = dlsym(h5->library, symbols[k].symbol);
        if (!function)
            return tz_error_set(error, TZ_UNSUPPORTED, h5->name,
                                "this libhdf5 is too old: it has no %s; 1.10.7 or newer is needed",
                                symbols[k].symbol);
        memcpy((char *)h5 + symbols[k].offset, &function, sizeof function);
    }
    if (h5->open() < 0)
        return tz_error_set(error, TZ_UNSUPPORTED, h5->name, "this libhdf5 does not start");
    return TZ_OK;
}

void tz__hdf5_close(tz_hdf5 *h5)
{
    if (h5->library)
        dlclose(h5->library);
    h5->library = NULL;
}

tz_h5_id tz__hdf5_constant(const tz_hdf5 *h5, const char *name)
{
    const tz_h5_id *id = dlsym(h5->library, name);
    return id ? *id : -1;
}
