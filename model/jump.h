/* The time of many iterations at once in the frequency domain (core/backend/spectral.h): transforms
 * of each axis there and back, and the arithmetic at each frequency in between. The number of
 * iterations does not matter.
 *
 * GPU: bytes / bandwidth. Of D bytes, all cells in double precision, a sweep over an array reads
 * and writes 2 D. Counted are
 *
 *   the field to doubles and back               2 (D + the field's bytes)
 *   a periodic axis, there and back             2 x 2 D
 *   a clamped axis: before, transform, after    2 x 6 D
 *   a mirrored or fixed one                     2 x 9 D
 *   the frequencies                             2 D, and D more with a source
 *
 * with 2 D (or 4 D) more for each transform of a line that does not fit a multiprocessor, and four
 * times a transform whose length has a prime factor above 127. A source is transformed there, not
 * back.
 *
 * CPU: each axis of D bytes is read and written once there and once back, and takes 5/2 log2(n)
 * floating-point operations a cell (mirrored and fixed: 5 log2(2n)); each frequency takes a time of
 * its own. Bytes, operations and frequencies are added. Sources are transformed once, before. */
#ifndef TZ_MODEL_JUMP_H
#define TZ_MODEL_JUMP_H

#include "model/device.h"

typedef enum tz_model_side {
    TZ_MODEL_PERIODIC,
    TZ_MODEL_CLAMP,
    TZ_MODEL_MIRROR,
    TZ_MODEL_FIXED
} tz_model_side;

typedef struct tz_model_jump {
    int axes; /* 1 to 3 */
    double extent[3];
    tz_model_side side[3];
    int fields;
    bool affine; /* there is a source */
    double element_bytes;
    bool is_gpu;
    int threads; /* of a CPU */
} tz_model_jump;

typedef struct tz_model_jump_time {
    double seconds;
    double bytes;        /* that memory moves */
    double operations;   /* of transforms; 0 on a GPU */
    double memory_bytes; /* that it needs beside the fields, without a library's own */
} tz_model_jump_time;

/* Errors: TZ_UNSUPPORTED if the record lacks a number. */
tz_status tz_model_jump_predict(const tz_model_jump *jump, const tz_model_device *device,
                                tz_model_jump_time *out, tz_error *error);

#endif
