#include "calibrate/cpu_parts.h"

#include "base/machine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAP = 192,      /* bytes between rows, so that they do not share sets */
    ROWS = 4,       /* of a turn: three are read, one is written */
    ROW_MAX = 4096, /* bytes of a row, as in tiles: a page */
    TURNS = 64
};

/* Seconds of a turn; turns cycle through `rows` rows of `bytes`. */
static double turn_seconds(const tz_loop_set *loops, char *memory, size_t bytes, size_t rows)
{
    const size_t pitch = bytes + GAP, turns = TURNS + rows / ROWS;
    const double begin = tz_machine_clock_s();
    for (size_t i = 0; i < turns; i++) {
        char *const at = memory + i * ROWS % (rows / ROWS * ROWS) * pitch;
        loops->rows9(at + 3 * pitch, at, at + pitch, at + 2 * pitch, bytes);
    }
    return (tz_machine_clock_s() - begin) / (double)turns;
}

tz_status tz__measure_overlap(tz_model_device *device, const tz_loop_set *loops, int repeats,
                              tz_error *error)
{
    if (!device->l1_bytes.known || !device->l2_bytes.known ||
        !device->l1_bandwidth_bytes_per_s.known || !device->l2_bandwidth_bytes_per_s.known)
        return TZ_OK;
    /* Half of each level. */
    size_t bytes = (size_t)(device->l1_bytes.value / 2 / ROWS) / 256 * 256;
    bytes = bytes > ROW_MAX ? ROW_MAX : bytes;
    const size_t near = ROWS, far = (size_t)(device->l2_bytes.value / 2) / (bytes + GAP);
    const double more =
        ROWS * (double)bytes *
        (1 / device->l2_bandwidth_bytes_per_s.value - 1 / device->l1_bandwidth_bytes_per_s.value);
    if (bytes == 0 || far < 4 * ROWS || !(more > 0))
        return TZ_OK;
    tz_samples within = {0}, beyond = {0};
    const size_t all = (far * (bytes + GAP) + 2 * GAP + 63) / 64 * 64;
    char *memory = aligned_alloc(64, all);
    if (!memory)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to measure with");
    memset(memory, 0, all);
    /* In turns, so that a disturbance affects both. */
    for (int i = 0; i < 2 * repeats; i++) {
        turn_seconds(loops, memory + GAP, bytes, near);
        tz_samples_add(&within, turn_seconds(loops, memory + GAP, bytes, near));
        turn_seconds(loops, memory + GAP, bytes, far);
        tz_samples_add(&beyond, turn_seconds(loops, memory + GAP, bytes, far));
    }
    free(memory);
    const double seen = (tz_samples_least(&beyond) - tz_samples_least(&within)) / more;
    tz_number_set(&device->l2_overlap, fmax(0, fmin(1, 1 - seen)),
                  "measured: rows of %zu bytes, nine loads and a store a vector, in L1 and in L2: "
                  "%.3g and %.3g us a row, best of %d",
                  bytes, 1e6 * tz_samples_least(&within), 1e6 * tz_samples_least(&beyond),
                  within.count);
    return TZ_OK;
}
