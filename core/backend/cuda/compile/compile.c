/* CUDA C++ to cubins, and what the assembler says of the kernels in them. */
#include "backend/cuda/compile/compile.h"

#include "backend/cuda/compile/nvrtc.h"
#include <stdlib.h>
#include <string.h>

static tz_status compile(const char *architecture, const char *source,
                         const tz_cuda_header *headers, size_t count, void **cubin, size_t *bytes,
                         char **log, tz_error *error)
{
    tz__nvrtc *nvrtc;
    *cubin = NULL;
    *bytes = 0;
    tz_status status = tz__nvrtc_open(&nvrtc, error);
    if (status != TZ_OK)
        return status;
    status =
        tz__nvrtc_compile(nvrtc, architecture, source, headers, count, cubin, bytes, log, error);
    tz__nvrtc_close(nvrtc);
    return status;
}

tz_status tz_cuda_compile(const char *architecture, const char *source,
                          const tz_cuda_header *headers, size_t headers_count, void **cubin,
                          size_t *bytes, tz_error *error)
{
    return compile(architecture, source, headers, headers_count, cubin, bytes, NULL, error);
}

/* ---- The assembler's words ---------------------------------------------------------------------
 *
 * Of each kernel, in NVRTC 13.0 (older ones differ in the space before "bytes stack frame"):
 *
 *   ptxas info    : Compiling entry function 'k' for 'sm_90'
 *   ptxas info    : Function properties for k
 *   ptxas         .     128 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 32 registers, used 1 barriers, 128 bytes cumulative stack size, 16 bytes
 * smem
 *
 * Functions that are called rather than inlined have properties of their own, after those of the
 * kernel: they count to it. */

/* The number before `what` in the line, if it is there; else `otherwise`. */
static int number_before(const char *line, const char *end, const char *what, int otherwise)
{
    const char *at = memmem(line, (size_t)(end - line), what, strlen(what));
    if (!at)
        return otherwise;
    const char *digit = at;
    while (digit > line && strchr("0123456789", digit[-1]))
        digit--;
    return digit < at ? atoi(digit) : otherwise;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static const char *after(const char *line, const char *end, const char *what)
{
    const char *at = memmem(line, (size_t)(end - line), what, strlen(what));
    return at ? at + strlen(what) : NULL;
}

/* The number of kernels in the log; the first `most` of them are described. */
static size_t log_read(const char *log, tz_cuda_kernel_report *kernels, size_t most)
{
    size_t count = 0;
    for (const char *line = log, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *name = after(line, end, "Compiling entry function '");
        if (name) {
            const size_t length = strcspn(name, "'\n");
            if (count < most) {
                tz_cuda_kernel_report *made = &kernels[count];
                memset(made, 0, sizeof *made);
                memcpy(made->name, name,
                       length < sizeof made->name ? length : sizeof made->name - 1);
            }
            count++;
        }
        if (count == 0 || count > most)
            continue;
        tz_cuda_kernel_report *k = &kernels[count - 1];
        k->registers = number_before(line, end, " registers", k->registers);
        k->shared_bytes = number_before(line, end, " bytes smem", k->shared_bytes);
        k->local_bytes = larger(k->local_bytes, number_before(line, end, " bytes stack frame", 0));
        k->local_bytes =
            larger(k->local_bytes, number_before(line, end, " bytes cumulative stack size", 0));
        k->spill_store_bytes += number_before(line, end, " bytes spill stores", 0);
        k->spill_load_bytes += number_before(line, end, " bytes spill loads", 0);
    }
    return count;
}

tz_status tz_cuda_compile_report(const char *architecture, const char *source,
                                 const tz_cuda_header *headers, size_t headers_count, void **cubin,
                                 size_t *bytes, tz_cuda_kernel_report *kernels, size_t kernels_max,
                                 size_t *count, tz_error *error)
{
    void *binary = NULL;
    size_t size = 0;
    char *log = NULL;
    *count = 0;
    if (cubin) {
        *cubin = NULL;
        *bytes = 0;
    }
    tz_status status =
        compile(architecture, source, headers, headers_count, &binary, &size, &log, error);
    if (status == TZ_OK) {
        *count = log_read(log, kernels, kernels_max);
        for (size_t k = 0; k < *count && k < kernels_max; k++)
            if (kernels[k].registers == 0)
                *count = 0;
        if (*count == 0)
            status = tz_error_set(error, TZ_FORMAT, NULL,
                                  "NVRTC's log does not tell what the kernels use (it was asked to "
                                  "with --ptxas-options=-v)");
    }
    if (status == TZ_OK && cubin) {
        *cubin = binary;
        *bytes = size;
        binary = NULL;
    }
    free(binary);
    free(log);
    return status;
}
