/* cuFFT: Fourier transforms in double precision on a GPU. It is opened at run time, as the driver
 * and NVRTC are. Plans work in the primary context, which is the one that tz_cuda_open makes, and
 * must be made, run and destroyed by a thread that has called a function of driver.h for that
 * device just before. */
#ifndef TZ_CORE_BACKEND_CUDA_DRIVER_FFT_H
#define TZ_CORE_BACKEND_CUDA_DRIVER_FFT_H

#include "backend/cuda/driver/driver.h"

typedef struct tz_cuda_fft tz_cuda_fft;

/* Errors: TZ_UNSUPPORTED names what is missing and what to install. */
tz_status tz_cuda_fft_open(tz_cuda_fft **out, tz_error *error);
void tz_cuda_fft_close(tz_cuda_fft *fft); /* NULL is fine */
/* "cuFFT 12.0"; of NULL: "none". */
void tz_cuda_fft_name(const tz_cuda_fft *fft, char *text, size_t size);
/* For `trapeze doctor`: the version and the name of the library. Errors: TZ_UNSUPPORTED. */
tz_status tz_cuda_fft_describe(char *text, size_t size, tz_error *error);

/* What a transform reads and writes; the values are cuFFT's. Numbers are doubles or pairs of
 * them. */
typedef enum tz_cuda_fft_kind {
    TZ_CUDA_FFT_REAL_TO_COMPLEX = 0x6a, /* forward */
    TZ_CUDA_FFT_COMPLEX_TO_REAL = 0x6c, /* backward */
    TZ_CUDA_FFT_COMPLEX = 0x69          /* forward */
} tz_cuda_fft_kind;

/* `batch` transforms in place, one after the other in memory, of `rank` axes with n[0] the
 * slowest. Rows of real numbers lie where their n/2 + 1 complex numbers lie: 2*(n/2 + 1) doubles
 * from row to row. */
typedef struct tz_cuda_fft_shape {
    tz_cuda_fft_kind kind;
    int rank;
    int64_t n[3];
    int64_t batch;
} tz_cuda_fft_shape;

typedef struct tz_cuda_fft_plan {
    tz_cuda_fft_shape shape;
    int handle;        /* of cuFFT */
    size_t work_bytes; /* of device memory, which tz_cuda_fft_use gives it */
    bool made;
} tz_cuda_fft_plan;

/* Errors: TZ_MEMORY; TZ_UNSUPPORTED if cuFFT has no transform of that size; TZ_BACKEND. */
tz_status tz_cuda_fft_plan_make(const tz_cuda_fft *fft, tz_cuda *cuda,
                                const tz_cuda_fft_shape *shape, tz_cuda_fft_plan *out,
                                tz_error *error);
/* Before the first run: `work` is work_bytes of device memory or more. Plans that run one after
 * the other may have the same. */
tz_status tz_cuda_fft_plan_use(const tz_cuda_fft *fft, tz_cuda *cuda, const tz_cuda_fft_plan *plan,
                               tz_cu_pointer work, tz_error *error);
/* Transforms `data` in place, in the order of the default queue; does not wait. Nothing is
 * scaled. */
tz_status tz_cuda_fft_run(const tz_cuda_fft *fft, tz_cuda *cuda, const tz_cuda_fft_plan *plan,
                          tz_cu_pointer data, tz_error *error);
void tz_cuda_fft_plan_destroy(const tz_cuda_fft *fft, tz_cuda *cuda, tz_cuda_fft_plan *plan);

#endif
