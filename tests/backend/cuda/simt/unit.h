/* For a group of tests: the machine of simt.h, and a folder for compiled texts. */
#ifndef TZ_SIMT_UNIT_H
#define TZ_SIMT_UNIT_H

#include "build.h"
#include "simt.h"
#include "tests/unit.h"

static simt_build *build; /* NULL: no C++ compiler */
static simt *machine;

static inline int open_machine(void **state)
{
    machine = simt_create();
    const tz_status status = simt_build_create(&build, NULL, &failure);
    if (status)
        print_message("no kernels run: %s\n", failure.message);
    return !machine || (status && status != TZ_UNSUPPORTED);
}

static inline int close_machine(void **state)
{
    simt_build_destroy(build);
    simt_destroy(machine);
    return 0;
}

static inline void need_compiler(void)
{
    if (!build)
        skip_test("no C++ compiler");
}

#endif
