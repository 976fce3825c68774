#include "jump/fftw.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *const known[] = {"libfftw3.so.3", "libfftw3.so", NULL};

tz_status tz_fftw_open(tz_fftw *fftw, const char *const *names, tz_error *error)
{
    static const struct {
        const char *symbol;
        size_t offset;
    } symbols[] = {{"fftw_plan_r2r", offsetof(tz_fftw, plan_r2r)},
                   {"fftw_execute_r2r", offsetof(tz_fftw, execute_r2r)},
                   {"fftw_destroy_plan", offsetof(tz_fftw, destroy_plan)}};
    void *library = NULL;
    const char *name = NULL;
    *fftw = (tz_fftw){.version = ""};
    for (int k = 0; !library && (names ? names : known)[k]; k++) {
        name = (names ? names : known)[k];
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    if (!library)
        return tz_error_set(error, TZ_UNSUPPORTED, "jump",
                            "jumps on a CPU need libfftw3, which is not found: install it (Debian, "
                            "Ubuntu: apt-get install libfftw3-double3) or use sim:run");
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        void *function = dlsym(library, symbols[k].symbol);
        if (!function)
            return tz_error_set(error, TZ_UNSUPPORTED, name, "this libfftw3 has no %s",
                                symbols[k].symbol);
        memcpy((char *)fftw + symbols[k].offset, &function, sizeof function);
    }
    const char *version = dlsym(library, "fftw_version");
    if (version)
        snprintf(fftw->version, sizeof fftw->version, "%.47s", version);
    return TZ_OK;
}

bool tz_fftw_describe(char *text, size_t size)
{
    tz_fftw fftw;
    const bool there = tz_fftw_open(&fftw, NULL, NULL) == TZ_OK;
    if (!there)
        snprintf(text, size,
                 "jumps on a CPU (sim:jump): libfftw3 is missing, optional: apt-get install "
                 "libfftw3-double3 (free software under the GPL)");
    else
        snprintf(text, size, "jumps on a CPU (sim:jump): by libfftw3, %s", fftw.version);
    return there;
}
