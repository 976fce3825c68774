/* What a GPU is measured with, without one: every text compiles for every architecture, without
 * spills, and does on a host what it says. */
#include "build.h"
#include "cuda/calibrate_impl.h"
#include "cuda/family.h"
#include "simt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const architectures[] = {"sm_80", "sm_90", "sm_100"};

static void compile(const char *what, char *text)
{
    assert_non_null(text);
    for (size_t a = 0; a < sizeof architectures / sizeof *architectures; a++) {
        tz_cuda_kernel_report report;
        tz_error error;
        size_t count = 0, bytes = 0;
        void *cubin = NULL;
        const tz_status status =
            tz_cuda_compile_report(architectures[a], text, tz_cuda_headers, tz_cuda_headers_count,
                                   &cubin, &bytes, &report, 1, &count, &error);
        if (status == TZ_UNSUPPORTED) {
            free(text);
            skip();
        }
        if (status != TZ_OK)
            fail_msg("%s: %s", what, error.message);
        const char *keep = getenv("TZ_TEST_KEEP"); /* a folder: for a look at the code */
        if (keep != NULL) {
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
        assert_int_equal(count, 1);
        if (report.local_bytes != 0)
            fail_msg("%s on %s: %d bytes of local memory", what, architectures[a],
                     report.local_bytes);
    }
    free(text);
}

static void texts_compile(void **state)
{
    size_t count;
    const tz__chains *table = tz__chains_table(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        char definitions[TZ__DEFINITIONS_SIZE];
        tz__chains_define(&table[i], definitions);
        compile(table[i].what, tz__bench_text(TZ__PROBE_CHAINS, table[i].threads, definitions));
    }
    const tz__chains longest = tz__chains_text(256);
    char definitions[TZ__DEFINITIONS_SIZE];
    tz__chains_define(&longest, definitions);
    compile("text cache", tz__bench_text(TZ__PROBE_CHAINS, longest.threads, definitions));
    compile("lay", tz__bench_text(TZ__PROBE_LAY, 256, ""));
    const tz__copier *copiers = tz__copiers_table(&count);
    for (size_t i = 0; i < count; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s %d %s", copiers[i].writes ? "copy" : "read",
                 copiers[i].packets, copiers[i].load);
        tz__copier_define(&copiers[i], definitions);
        compile(what, tz__bench_text(TZ__PROBE_COPY, 256, definitions));
    }
    compile("empty", tz__bench_text(TZ__PROBE_EMPTY, 256, ""));
    compile("meet", tz__bench_text(TZ__PROBE_MEET, 256, ""));
    compile("pass", tz__bench_text(TZ__PROBE_PASS, 32, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
