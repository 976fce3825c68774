/* For tests that compile with NVRTC, which needs no GPU. */
#ifndef TZ_TEST_NVRTC_H
#define TZ_TEST_NVRTC_H

#include "backend/cuda/compile/compile.h"
#include "backend/cuda/family/family.h"
#include "tests/unit.h"

static const char *const architectures[] = {"sm_90", "sm_80", "sm_100"};

/* At the beginning of a test. */
static inline void need_nvrtc(void)
{
    char text[512];
    if (tz_cuda_compile_describe(text, sizeof text, &failure) == TZ_OK)
        return;
    check_error_of(failure.code, TZ_UNSUPPORTED, &failure, "", "NVRTC");
    skip_test("%s", failure.message);
}

/* The cubin of a text that includes the backend's; until the test ends. */
static inline void *compiled(const char *architecture, const char *text, size_t *bytes)
{
    void *cubin = NULL;
    if (tz_cuda_compile(NULL, true, architecture, text, tz_cuda_headers, tz_cuda_headers_count,
                        NULL, &cubin, bytes, &failure))
        fail_msg("%s: %s", architecture, failure.message);
    at_end(free, cubin);
    assert_true(*bytes > 64 && memcmp(cubin, "\177ELF", 4) == 0);
    return cubin;
}

#endif
