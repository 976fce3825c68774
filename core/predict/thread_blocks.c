#include "predict/thread_blocks.h"

#include "stencil/probe.h"
#include <stdlib.h>
#include <string.h>

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* A word of bits holds 32 cells of a row: a neighbour is in the next word. */
static int elements_of(const tz_problem *problem, int axis, int cells)
{
    return problem->bits && axis == 0 ? (cells + 31) / 32 : cells;
}

static tz_status describe(const tz_problem *problem, const tz_pass *pass, tz_tabik_kernel *kernel,
                          tz_error *error)
{
    const tz_stencil *stencil = problem->stencil;
    tz_probe_seen seen[TZ_FIELDS_MAX] = {{.is_read = false}};
    *kernel = (tz_tabik_kernel){.diagonals = tz_pass_reads_diagonals(pass)};
    const tz_status status =
        tz_probe_cell(stencil, pass, problem->precision, stencil->id, seen, error);
    if (status)
        return status;
    for (int axis = 0; axis < TZ_AXES; axis++)
        kernel->extent[axis] = axis < problem->dims ? (double)problem->elements[axis] : 1;
    for (int f = 0; f < stencil->fields_count; f++) {
        bool around = false;
        const int bytes = (int)tz_problem_element_size(problem, f);
        kernel->stores += pass->writes >> f & 1;
        if (seen[f].is_read || pass->writes >> f & 1)
            kernel->element_bytes = larger(kernel->element_bytes, bytes);
        if (!seen[f].is_read)
            continue;
        kernel->loads++;
        for (int axis = 0; axis < 2 && axis < problem->dims; axis++) {
            const int low = elements_of(problem, axis, larger(0, -seen[f].low[axis]));
            const int high = elements_of(problem, axis, larger(0, seen[f].high[axis]));
            kernel->low[axis] = larger(kernel->low[axis], low);
            kernel->high[axis] = larger(kernel->high[axis], high);
            around = around || low > 0 || high > 0;
        }
        kernel->tiles += around;
    }
    return TZ_OK;
}

static tz_status check(const tz_workload *workload, tz_error *error)
{
    const char *name = workload->device.name;
    if (!workload->is_gpu)
        return tz_error_set(error, TZ_UNSUPPORTED, name,
                            "%s describes GPUs; %s is a CPU: name a GPU with --device",
                            TZ_THREAD_BLOCKS_MODEL, name);
    if (workload->place.devices)
        return tz_error_set(error, TZ_UNSUPPORTED, "model",
                            "%s describes one device: leave out --devices", TZ_THREAD_BLOCKS_MODEL);
    return TZ_OK;
}

static void note(const tz_workload *workload, tz_thread_blocks *blocks)
{
    const tz_model_device *device = &workload->device;
    if (!device->shared_banks.known || !device->shared_bank_bytes.known ||
        !device->memory_transaction_bytes.known)
        tz_model_note(&blocks->notes,
                      "%s: assumed, where its record says nothing: shared memory of %d banks of "
                      "%d bytes, memory transactions of %d bytes",
                      device->name, blocks->gpu.banks, blocks->gpu.bank_bytes,
                      blocks->gpu.transaction_bytes);
    for (int p = 0; p < blocks->count; p++)
        if (blocks->passes[p].space.chosen == 0)
            tz_model_note(&blocks->notes,
                          "pass %.60s: no shape is good by all four criteria; none is chosen",
                          blocks->passes[p].name);
}

tz_status tz_thread_blocks_check_name(const char *name, tz_error *error)
{
    if (strcmp(name, TZ_THREAD_BLOCKS_MODEL) == 0)
        return TZ_OK;
    return tz_error_set(error, TZ_UNKNOWN, "model",
                        "tuning takes the model %s, which lists thread blocks, not '%.60s'",
                        TZ_THREAD_BLOCKS_MODEL, name);
}

const char *tz_thread_blocks_excess(const tz_prediction_request *request)
{
    const tz_plan *given = &request->given;
    return request->all                           ? "all"
           : request->effort == TZ_EFFORT_COMPILE ? "compile"
           : request->fence                       ? "fence"
           : request->halo[0] > 0                 ? "halo"
           : request->streamed >= 0               ? "streamed"
           : request->bank_conflicts > 0          ? "bank_conflicts"
           : request->as_printed                  ? "as_printed"
           : request->trips > 0                   ? "trips"
           : given->height > 0                    ? "height"
           : given->family[0]                     ? "family"
           : request->block[0] > 0                ? "block"
                                                  : tz_plan_first_knob(given);
}

tz_status tz_thread_blocks_create(tz_thread_blocks **out, const tz_workload *workload,
                                  tz_error *error)
{
    const tz_problem *problem = &workload->problem;
    *out = NULL;
    tz_status status = check(workload, error);
    if (status)
        return status;
    tz_thread_blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for thread blocks");
    status = tz_tabik_gpu_of(&workload->device, &blocks->gpu, error);
    for (int p = 0; !status && p < problem->stencil->passes_count; p++) {
        tz_thread_blocks_pass *pass = &blocks->passes[blocks->count++];
        pass->name = problem->stencil->passes[p].name;
        status = describe(problem, &problem->stencil->passes[p], &pass->kernel, error);
        if (!status)
            status = tz_tabik_choose(&pass->kernel, &blocks->gpu, &pass->space, error);
    }
    if (status) {
        free(blocks);
        return status;
    }
    note(workload, blocks);
    *out = blocks;
    return TZ_OK;
}
