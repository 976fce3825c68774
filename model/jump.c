/* Predicts the time of a jump on a GPU or a CPU, from bytes and transforms. Called by
 * core/predict/jump.c. */
#include "model/jump.h"

#include "model/constants.h"

static double cells_of(const tz_model_jump *jump)
{
    double cells = 1;
    for (int axis = 0; axis < jump->axes; axis++)
        cells *= jump->extent[axis];
    return cells;
}

static bool is_whole(tz_model_side side)
{
    return side == TZ_MODEL_MIRROR || side == TZ_MODEL_FIXED;
}

/* Numbers of the Fourier transform of a line. */
static double length_of(double n, tz_model_side side)
{
    return side == TZ_MODEL_FIXED ? n + 1 : side == TZ_MODEL_MIRROR && n > 1 ? n - 1 : n;
}

static bool has_large_factor(double length)
{
    long long left = (long long)length;
    for (long long p = 2; p <= 127; p++)
        while (left % p == 0 && left > 1)
            left /= p;
    return left > 1;
}

/* Bytes of one axis, in one direction, of `cells` doubles. */
static double axis_bytes(double n, tz_model_side side, double cells)
{
    const double length = length_of(n, side), d = 8 * cells;
    double transform = is_whole(side) ? 4 * d : 2 * d; /* complex numbers, or half as many */
    transform *= length > TZ_FIT_JUMP_LENGTH ? 2 : 1;
    transform *= has_large_factor(length) ? TZ_FIT_JUMP_FACTOR : 1;
    return transform + (side == TZ_MODEL_PERIODIC ? 0 : is_whole(side) ? 5 * d : 4 * d);
}

static void predict_gpu(const tz_model_jump *jump, const tz_model_device *device,
                        tz_model_jump_time *out)
{
    const double cells = cells_of(jump), d = 8 * cells;
    const double there = jump->fields * (jump->affine ? 2 : 1), back = jump->fields;
    double axes = 0, buffer = 0; /* as a multiple of D */
    int launches = 3;
    for (int axis = 0; axis < jump->axes; axis++) {
        axes += axis_bytes(jump->extent[axis], jump->side[axis], cells);
        if (jump->side[axis] != TZ_MODEL_PERIODIC)
            buffer = fmax(buffer, is_whole(jump->side[axis]) ? 2 : 1);
        launches += jump->side[axis] == TZ_MODEL_PERIODIC ? 2 : 6;
    }
    out->bytes = (there + back) * axes + jump->fields * (2 * d + (jump->affine ? d : 0)) +
                 2 * jump->fields * (d + jump->element_bytes * cells) +
                 (jump->affine ? jump->fields * 2 * d : 0);
    out->memory_bytes = (there + buffer) * d;
    out->seconds = out->bytes / (TZ_FIT_JUMP_SHARE * device->copy_bandwidth_bytes_per_s.value);
    if (device->launch_queued_s.known)
        out->seconds += there * launches * device->launch_queued_s.value;
}

static void predict_cpu(const tz_model_jump *jump, const tz_model_device *device,
                        tz_model_jump_time *out)
{
    const double cells = cells_of(jump), d = 8 * cells;
    double bandwidth = device->copy_bandwidth_bytes_per_s.value;
    const double threads = jump->threads < 1 ? 1 : jump->threads;
    if (device->core_copy_bandwidth_bytes_per_s.known)
        bandwidth = fmin(bandwidth, threads * device->core_copy_bandwidth_bytes_per_s.value);
    double operations = 0;
    for (int axis = 0; axis < jump->axes; axis++) {
        const double n = jump->extent[axis];
        if (n > 1)
            operations += is_whole(jump->side[axis]) ? 5 * log2(2 * n) : 2.5 * log2(n);
    }
    out->operations = 2 * jump->fields * operations * cells;
    out->bytes = jump->fields * (2 * jump->axes * 2 * d + 2 * d + (jump->affine ? d : 0) +
                                 2 * (d + jump->element_bytes * cells));
    out->memory_bytes = (jump->affine ? 2 : 1) * jump->fields * d;
    out->seconds = out->bytes / bandwidth + (out->operations / TZ_FIT_JUMP_OPERATIONS +
                                             jump->fields * cells * TZ_FIT_JUMP_CLOCKS) /
                                                (threads * device->clock_hz.value);
}

tz_status tz_model_jump_predict(const tz_model_jump *jump, const tz_model_device *device,
                                tz_model_jump_time *out, tz_error *error)
{
    *out = (tz_model_jump_time){.seconds = 0};
    if (!device->copy_bandwidth_bytes_per_s.known || !device->clock_hz.known)
        return tz_error_set(error, TZ_UNSUPPORTED, device->name,
                            "the record has no '%s', which the time of a jump is predicted from; "
                            "trapeze calibrate measures it",
                            device->clock_hz.known ? "copy_bandwidth" : "clock");
    if (jump->is_gpu)
        predict_gpu(jump, device, out);
    else
        predict_cpu(jump, device, out);
    return TZ_OK;
}
