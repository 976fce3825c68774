/* Fourier transforms by cuFFT, for the jumps of spectral/. Symbols and numbers are those of
 * cufft.h. */
#include "backend/cuda/driver/fft.h"

#include "backend/cuda/driver/driver_impl.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { /* cufftResult */
       ALLOC_FAILED = 2,
       INVALID_SIZE = 8,
       NOT_SUPPORTED = 16
};
enum { FORWARD = -1 };

/* X(member, symbol, parameters) */
#define FFT_TABLE(X)                                                                               \
    X(version, cufftGetVersion, (int *version))                                                    \
    X(create, cufftCreate, (int *plan))                                                            \
    X(destroy, cufftDestroy, (int plan))                                                           \
    X(own_work, cufftSetAutoAllocation, (int plan, int allocates))                                 \
    X(make, cufftMakePlanMany64,                                                                   \
      (int plan, int rank, long long *n, long long *in_embed, long long in_stride,                 \
       long long in_distance, long long *out_embed, long long out_stride, long long out_distance,  \
       int type, long long batch, size_t *work_bytes))                                             \
    X(work, cufftSetWorkArea, (int plan, void *work))                                              \
    X(queue, cufftSetStream, (int plan, tz_cuda_queue *queue))                                     \
    X(real_to_complex, cufftExecD2Z, (int plan, void *from, void *to))                             \
    X(complex_to_real, cufftExecZ2D, (int plan, void *from, void *to))                             \
    X(complex, cufftExecZ2Z, (int plan, void *from, void *to, int direction))

struct tz_cuda_fft {
#define FFT_MEMBER(member, symbol, parameters) int(*member) parameters;
    FFT_TABLE(FFT_MEMBER)
#undef FFT_MEMBER
    tz_library library;
    int version_number; /* 1000 major + 100 minor + patch */
};

void tz_cuda_fft_close(tz_cuda_fft *fft)
{
    if (!fft)
        return;
    tz_library_close(&fft->library);
    free(fft);
}

tz_status tz_cuda_fft_open(tz_cuda_fft **out, tz_error *error)
{
    static const char *const names[] = {
        "libcufft.so.12", /* of CUDA 13 */
        "libcufft.so.11", /* of CUDA 12 */
        "libcufft.so",
        "/usr/local/cuda/lib64/libcufft.so.12",
        "/usr/local/cuda/lib64/libcufft.so.11",
        "/usr/local/cuda/lib64/libcufft.so",
        NULL,
    };
    static const tz_library_symbol symbols[] = {
#define FFT_SYMBOL(member, symbol, parameters) {#symbol, offsetof(tz_cuda_fft, member), false},
        FFT_TABLE(FFT_SYMBOL)
#undef FFT_SYMBOL
    };
    *out = NULL;
    tz_cuda_fft *fft = calloc(1, sizeof *fft);
    if (!fft)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to open cuFFT");
    fft->library = tz_library_open(names, fft, symbols, sizeof symbols / sizeof *symbols);
    tz_status status = TZ_OK;
    const char *missing = fft->library.missing;
    if (!fft->library.handle)
        status = tz_error_set(error, TZ_UNSUPPORTED, NULL,
                              "no cuFFT: neither libcufft.so.12 nor .11 nor libcufft.so can be "
                              "opened, nor in /usr/local/cuda/lib64; install the CUDA toolkit's "
                              "cuFFT (NVIDIA's package libcufft-13-0, Debian's libcufft11) or set "
                              "LD_LIBRARY_PATH");
    else if (missing || fft->version(&fft->version_number) != 0)
        status =
            tz_error_set(error, TZ_UNSUPPORTED, fft->library.name,
                         "this cuFFT is not usable (%s%s); install that of CUDA 12 or newer",
                         missing ? "it has no " : "its version is unknown", missing ? missing : "");
    if (status) {
        tz_cuda_fft_close(fft);
        return status;
    }
    *out = fft;
    return TZ_OK;
}

void tz_cuda_fft_name(const tz_cuda_fft *fft, char *text, size_t size)
{
    if (fft)
        snprintf(text, size, "cuFFT %d.%d", fft->version_number / 1000,
                 fft->version_number % 1000 / 100);
    else
        snprintf(text, size, "none");
}

tz_status tz_cuda_fft_describe(char *text, size_t size, tz_error *error)
{
    tz_cuda_fft *fft;
    const tz_status status = tz_cuda_fft_open(&fft, error);
    if (status)
        return status;
    snprintf(text, size, "%d.%d (%s)", fft->version_number / 1000, fft->version_number % 1000 / 100,
             fft->library.name);
    tz_cuda_fft_close(fft);
    return TZ_OK;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static const char *result_text(int result)
{
    static const char *const texts[] = {"success",
                                        "invalid plan",
                                        "out of memory",
                                        "invalid type",
                                        "invalid value",
                                        "internal error",
                                        "failed to run",
                                        "failed to start",
                                        "invalid size",
                                        "unaligned",
                                        NULL,
                                        "invalid device",
                                        NULL,
                                        "no work area",
                                        "not implemented",
                                        NULL,
                                        "not supported",
                                        "a library is missing",
                                        "NVRTC failed",
                                        "nvJitLink failed"};
    const char *text =
        result >= 0 && result < (int)(sizeof texts / sizeof *texts) ? texts[result] : NULL;
    return text ? text : "no text for it";
}

static tz_status failed(const tz_cuda_fft_shape *shape, int result, const char *what,
                        tz_error *error)
{
    char size[96] = "";
    for (int k = 0, used = 0; k < shape->rank; k++)
        used += snprintf(size + used, sizeof size - (size_t)used, "%s%" PRId64, k ? " x " : "",
                         shape->n[k]);
    return tz_error_set(error,
                        result == ALLOC_FAILED                              ? TZ_MEMORY
                        : result == INVALID_SIZE || result == NOT_SUPPORTED ? TZ_UNSUPPORTED
                                                                            : TZ_BACKEND,
                        NULL, "cuFFT %s %" PRId64 " transforms of %s numbers: %s (%d)", what,
                        shape->batch, size, result_text(result), result);
}

tz_status tz_cuda_fft_plan_make(const tz_cuda_fft *fft, tz_cuda *cuda,
                                const tz_cuda_fft_shape *shape, tz_cuda_fft_plan *out,
                                tz_error *error)
{
    *out = (tz_cuda_fft_plan){.shape = *shape};
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    int result = fft->create(&out->handle);
    out->made = result == 0;
    if (!result)
        result = fft->own_work(out->handle, 0);
    const int last = shape->rank - 1;
    const long long row = shape->n[last] / 2 + 1; /* complex numbers */
    long long n[3], reals[3], complexes[3], outer = 1;
    for (int k = 0; k < shape->rank; k++) {
        n[k] = reals[k] = complexes[k] = shape->n[k];
        outer *= k < last ? n[k] : 1;
    }
    if (shape->kind != TZ_CUDA_FFT_COMPLEX) {
        reals[last] = 2 * row;
        complexes[last] = row;
    }
    const bool forward = shape->kind == TZ_CUDA_FFT_REAL_TO_COMPLEX;
    const bool backward = shape->kind == TZ_CUDA_FFT_COMPLEX_TO_REAL;
    const long long reals_apart = outer * reals[last], complexes_apart = outer * complexes[last];
    if (!result)
        result = fft->make(out->handle, shape->rank, n, forward ? reals : complexes, 1,
                           forward ? reals_apart : complexes_apart, backward ? reals : complexes, 1,
                           backward ? reals_apart : complexes_apart, (int)shape->kind, shape->batch,
                           &out->work_bytes);
    if (!result)
        result = fft->queue(out->handle, NULL);
    if (!result)
        return TZ_OK;
    tz_cuda_fft_plan_destroy(fft, cuda, out);
    return failed(shape, result, "cannot plan", error);
}

tz_status tz_cuda_fft_plan_use(const tz_cuda_fft *fft, tz_cuda *cuda, const tz_cuda_fft_plan *plan,
                               tz_cu_pointer work, tz_error *error)
{
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    const int result = fft->work(plan->handle, (void *)(uintptr_t)work);
    return result ? failed(&plan->shape, result, "takes no memory for", error) : TZ_OK;
}

tz_status tz_cuda_fft_run(const tz_cuda_fft *fft, tz_cuda *cuda, const tz_cuda_fft_plan *plan,
                          tz_cu_pointer data, tz_error *error)
{
    void *at = (void *)(uintptr_t)data;
    const tz_status status = tz__cuda_enter(cuda, error);
    if (status)
        return status;
    const int result = plan->shape.kind == TZ_CUDA_FFT_REAL_TO_COMPLEX
                           ? fft->real_to_complex(plan->handle, at, at)
                       : plan->shape.kind == TZ_CUDA_FFT_COMPLEX_TO_REAL
                           ? fft->complex_to_real(plan->handle, at, at)
                           : fft->complex(plan->handle, at, at, FORWARD);
    return result ? failed(&plan->shape, result, "fails at", error) : TZ_OK;
}

void tz_cuda_fft_plan_destroy(const tz_cuda_fft *fft, tz_cuda *cuda, tz_cuda_fft_plan *plan)
{
    if (plan->made && !tz__cuda_enter(cuda, NULL))
        fft->destroy(plan->handle);
    plan->made = false;
}
