/* Kernels that measure a device, compiled for each architecture and run on the host. */
#ifndef TZ_TEST_CALIBRATE_KERNELS_H
#define TZ_TEST_CALIBRATE_KERNELS_H

#include "backend/cuda/compile/compile.h"
#include "backend/cuda/family/family.h"
#include "backend/cuda/sass/sass.h"
#include "calibrate/cuda_bench.h"
#include "tests/archetypes.h"
#include "tests/backend/cuda/simt/unit.h"

static const char *const architectures[] = {"sm_90", "sm_80", "sm_100"};

static inline int longest_loop(const tz_sass *code)
{
    int longest = 0;
    for (int i = 0; i < code->count; i++)
        if (code->code[i].flow == TZ_SASS_BRANCH && code->code[i].target >= 0 &&
            i - code->code[i].target + 1 > longest)
            longest = i - code->code[i].target + 1;
    return longest;
}

/* `counts`: the instructions of the longest loop for each architecture, 0 for one that is not
 * tried; may be NULL. */
static inline void compile_for(const char *what, char *text, int *counts)
{
    assert_non_null(text);
    for (int a = 0; a < 3; a++) {
        if (counts)
            counts[a] = 0;
        if (a > 0 && !is_complete())
            continue;
        tz_sass code = {0};
        size_t bytes = 0;
        void *cubin = NULL;
        tz_status status = tz_cuda_compile(NULL, true, architectures[a], text, tz_cuda_headers,
                                           tz_cuda_headers_count, NULL, &cubin, &bytes, &failure);
        if (!status)
            status = tz_sass_read(&code, cubin, bytes, "tz_probe", &failure);
        if (status == TZ_UNSUPPORTED) {
            free(text);
            skip_test("%s", failure.message);
        }
        if (status != TZ_OK)
            fail_msg("%s: %s", what, failure.message);
        const char *keep = getenv("TZ_TEST_KEEP"); /* a folder: for a look at the code */
        if (keep) {
            char path[512];
            snprintf(path, sizeof path, "%s/%s-%.40s.cubin", keep, architectures[a], what);
            for (char *at = path + strlen(keep) + 1; *at; at++)
                *at = *at == ' ' || *at == ',' || *at == '\n' ? '-' : *at;
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            fwrite(cubin, 1, bytes, file);
            fclose(file);
        }
        free(cubin);
        if (counts)
            counts[a] = longest_loop(&code);
        tz_sass_free(&code);
        if (code.local_bytes != 0)
            fail_msg("%s on %s: %d bytes of local memory", what, architectures[a],
                     code.local_bytes);
    }
    free(text);
}

enum { BLOCKS = 2, WORDS = 1 << 14 };

/* The output and the report of a kernel. */
typedef struct bench {
    uint32_t cycles[64], barrier[16];
    uint32_t from[WORDS], to[WORDS];
    simt_report report;
} bench;

static inline void run(bench *b, char *text, int blocks, int threads, int shared_bytes,
                       bool cooperative, void **arguments)
{
    const simt_entry *entry;
    assert_non_null(text);
    need_compiler();
    assert_ok(simt_build_kernel(build, text, "tz_probe", &entry, &failure));
    free(text);
    const simt_buffer buffers[] = {{"cycles", b->cycles, sizeof b->cycles, true},
                                   {"barrier", b->barrier, sizeof b->barrier, true},
                                   {"from", b->from, sizeof b->from, true},
                                   {"to", b->to, sizeof b->to, true}};
    const simt_launch how = {.grid = {blocks, 1, 1},
                             .threads = threads,
                             .shared_bytes = shared_bytes,
                             .cooperative = cooperative,
                             .buffers = buffers,
                             .buffers_count = 4};
    memset(&b->report, 0, sizeof b->report);
    if (!simt_run(machine, entry, &how, arguments, &b->report) || simt_report_total(&b->report) > 0)
        fail_msg("%s", b->report.message[0]);
}

#endif
