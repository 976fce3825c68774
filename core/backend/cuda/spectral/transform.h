/* The transforms of a field on a GPU (core/backend/spectral.h): from cells to amplitudes and back,
 * in double precision. Periodic axes are one Fourier transform of real numbers, by cuFFT; the
 * others are cosine or sine transforms, one axis after the other (kernels/cuda/transform.cuh).
 *
 * All work goes to the default queue; nothing waits. */
#ifndef TZ_CORE_BACKEND_CUDA_SPECTRAL_TRANSFORM_H
#define TZ_CORE_BACKEND_CUDA_SPECTRAL_TRANSFORM_H

#include "backend/cuda/driver/fft.h"
#include "backend/spectral.h"
#include "base/embed.h"

/* How amplitudes lie in a spectrum: axis[0] is the fastest one, of n[0] frequencies from 0 on;
 * without gaps. With periodic axes an amplitude is complex, a pair of doubles, and axis[0] is one
 * of them, with frequencies 0 to extent/2: those left out are conjugates. */
typedef struct tz_cuda_spectrum {
    int parts; /* doubles of an amplitude: 1 or 2 */
    int axis[TZ_AXES];
    int64_t n[TZ_AXES];
    double scale; /* 1 / what a transform and its inverse multiply by */
    /* Device memory that the caller gives: of each spectrum and of one buffer beside them (0: none
     * is needed), and of cuFFT's work area, which is set once. */
    size_t bytes, buffer_bytes, work_bytes;
} tz_cuda_spectrum;

/* Plans, kernels and tables. One thread at a time may use it; destroy it before its context. */
typedef struct tz_cuda_transform tz_cuda_transform;

/* Errors: TZ_UNSUPPORTED without cuFFT; TZ_MEMORY, TZ_BACKEND. */
tz_status tz_cuda_transform_create(tz_cuda_transform **out, tz_cuda *cuda, const tz_linear *linear,
                                   tz_error *error);
void tz_cuda_transform_destroy(tz_cuda_transform *transform); /* NULL is fine */
const tz_cuda_spectrum *tz_cuda_transform_spectrum(const tz_cuda_transform *transform);
/* Name and version of the library. */
void tz_cuda_transform_library(const tz_cuda_transform *transform, char *text, size_t size);

/* Set cuFFT's work area. */
tz_status tz_cuda_transform_use(tz_cuda_transform *transform, tz_cu_pointer work, tz_error *error);

/* A field in device memory. */
typedef struct tz_cuda_transform_field {
    tz_cu_pointer at;
    int64_t apart[TZ_AXES]; /* elements from a cell to the next along each axis */
    bool is_double;         /* else float */
} tz_cuda_transform_field;

/* The two pointers may change places: their sizes are then the same. */
tz_status tz_cuda_transform_forward(tz_cuda_transform *transform,
                                    const tz_cuda_transform_field *field, tz_cu_pointer *spectrum,
                                    tz_cu_pointer *buffer, tz_error *error);
/* Overwrites the spectrum. Rounds to the field's precision. Amplitudes are scaled already. */
tz_status tz_cuda_transform_back(tz_cuda_transform *transform, const tz_cuda_transform_field *field,
                                 tz_cu_pointer *spectrum, tz_cu_pointer *buffer, tz_error *error);

/* The source of all kernels. */
TZ_EMBEDDED(tz_cuda_text_transform);

#endif
