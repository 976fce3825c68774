/* Times kernels/cpu's stages with an empty row function, in 2-D and 3-D, for the engine's own cost.
 * Called by core/calibrate/cpu.c. */
#include "calibrate/calibrate.h"

#include "base/machine.h"
#include "kernels/cpu/stage.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 128, TALL = 256, GHOST = 4, HEIGHT = 8, TIMES = 16, SIDE = 32 };

static void nothing(const tz_span *span)
{
    (void)span;
}

/* The shortest time of a call of the row function, in seconds. */
static double call_seconds(int dims, int radius, char *array, char *arena, size_t arena_bytes,
                           tz_pipeline *pipeline, tz_stage *stage, int repeats, tz_samples *samples)
{
    const tz_row_form form = {.isa = "base", .rows = {nothing}};
    const tz_kernels kernels = {.forms_count = 1, .forms = &form};
    const tz_field field = {.name = "u", .role = TZ_STATE};
    const tz_pass pass = {.name = "pass", .radius = radius, .writes = 1, .kernels = &kernels};
    const tz_stencil stencil = {.struct_size = sizeof stencil,
                                .id = "nothing",
                                .dims = dims,
                                .fields_count = 1,
                                .fields = &field,
                                .passes_count = 1,
                                .passes = &pass};
    const ptrdiff_t stride = WIDE + 2 * TZ_ALIGN_ELEMENTS;
    const tz_host_field host = {
        .origin = array + ((GHOST + 1) * (SIDE + 2 * GHOST + 1) * stride + TZ_ALIGN_ELEMENTS) * 4,
        .row_stride = stride,
        .plane_stride = stride * (SIDE + 2 * GHOST)};
    *stage = (tz_stage){.stencil = &stencil,
                        .dims = dims,
                        .elements = {WIDE, dims == 3 ? SIDE : TALL, dims == 3 ? SIDE : 1},
                        .columns = WIDE,
                        .element_size = {4},
                        .ghost = radius,
                        .in = {host},
                        .out = {host},
                        .height = HEIGHT,
                        .tile = {WIDE, dims == 3 ? SIDE : TALL, dims == 3 ? SIDE : 1},
                        .batch = dims == 3 ? 1 : 4,
                        .threads = 1};
    tz_stage_counts counts;
    tz_stage_count(stage, pipeline, &counts);
    if (tz_stage_arena_bytes(stage, pipeline) > arena_bytes)
        return 0.0;
    for (int i = 0; i < repeats; i++) {
        double least = INFINITY; /* of TIMES stages, so that samples are some time apart */
        for (int k = 0; k < TIMES; k++) {
            const double begin = tz_machine_clock_s();
            tz_stage_run(stage, pipeline, arena, arena_bytes);
            least = fmin(least, tz_machine_clock_s() - begin);
        }
        tz_samples_add(samples, least / counts.spans);
    }
    return tz_samples_least(samples);
}

tz_status tz__measure_engine(tz_model_device *device, int repeats, tz_error *error)
{
    const size_t row = (WIDE + 2 * TZ_ALIGN_ELEMENTS) * 4, arena_bytes = 4 << 20;
    const size_t bytes = (row * (SIDE + 2 * GHOST + 2) * (SIDE + 2 * GHOST + 2) + 63) / 64 * 64;
    tz_samples calls = {0}, wides = {0}, planes = {0};
    tz_stage stage;
    char *array = aligned_alloc(64, bytes), *arena = aligned_alloc(64, arena_bytes);
    tz_pipeline *pipeline = malloc(tz_pipeline_size(&(tz_stencil){.passes_count = 1}, HEIGHT));
    tz_status status = TZ_OK;
    if (!array || !arena || !pipeline) {
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to measure with");
        goto cleanup;
    }
    memset(array, 0, bytes);
    memset(arena, 0, arena_bytes);
    const double call =
        call_seconds(2, 1, array, arena, arena_bytes, pipeline, &stage, 2 * repeats, &calls);
    const double wide =
        call_seconds(2, GHOST, array, arena, arena_bytes, pipeline, &stage, 2 * repeats, &wides);
    tz_number_set(&device->span_s, call,
                  "measured: a stage of rows that do nothing, of three views, %d levels, best of "
                  "%d, median %.1f %% slower",
                  HEIGHT, calls.count, 100 * (tz_samples_median(&calls) / call - 1));
    tz_number_set(&device->span_view_s, wide > call ? (wide - call) / (2 * (GHOST - 1)) : 0,
                  "measured: the same with %d views, best of %d, median %.1f %% slower",
                  2 * GHOST + 1, wides.count, 100 * (tz_samples_median(&wides) / wide - 1));
    const double plane =
        call_seconds(3, 1, array, arena, arena_bytes, pipeline, &stage, 2 * repeats, &planes);
    tz_number_set(&device->span_row_s, plane > call ? (plane - call) / SIDE : 0,
                  "measured: planes of %d rows that do nothing, best of %d, median %.1f %% slower",
                  SIDE, planes.count, 100 * (tz_samples_median(&planes) / plane - 1));
cleanup:
    free(array);
    free(arena);
    free(pipeline);
    return status;
}
