/* Predictions by luo2011: the plain kernels of an iteration. */
#include "predict/prediction_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The threads of a block: the given ones, else 256 in rows of 32, or of as many as the grid has. */
static tz_status choose_block(const tz_workload *workload, const tz_prediction_request *request,
                              int block[TZ_AXES], tz_error *error)
{
    const double most = workload->device.threads_per_block_max.known
                            ? workload->device.threads_per_block_max.value
                            : 512;
    double threads = 1;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        const int usual = workload->problem.dims == 1 ? 256 : axis == 0 ? 32 : axis == 1 ? 8 : 1;
        const double given = request->block[axis];
        block[axis] = axis >= workload->problem.dims ? 1 : usual;
        if (given > 0 && axis < workload->problem.dims)
            block[axis] = given < 65536 ? (int)given : 65536;
        threads *= block[axis];
    }
    if (threads > most)
        return tz_error_set(error, TZ_RANGE, "block", "a block of %g threads: %s has at most %g",
                            threads, workload->device.name, most);
    return TZ_OK;
}

/* Options that the model lacks. */
static tz_status check(const tz_prediction_request *request, tz_error *error)
{
    const char *family = request->given.family;
    if (family[0] && strcmp(family, "plain") != 0)
        return tz_error_set(error, TZ_UNSUPPORTED, "family",
                            "luo2011 describes a plain kernel of one cell a thread, no family '%s'",
                            family);
    if (request->given.height > 1)
        return tz_error_set(error, TZ_RANGE, "height",
                            "luo2011 describes launches of one iteration: height %d is none",
                            request->given.height);
    return TZ_OK;
}

static void note_trace(const tz_workload *workload, const tz_cuda_plain *plain, int trips,
                       tz_model_notes *notes)
{
    int branches = 0, addresses = 0, calls = 0;
    for (int p = 0; p < plain->count; p++) {
        branches += plain->traces[p].unknown_branches;
        addresses += plain->traces[p].unknown_addresses;
        calls += plain->traces[p].calls;
    }
    tz_model_note(notes,
                  "every thread is taken to do what the warp in the middle of the grid does; "
                  "registers do not limit the active warps; a launch itself costs nothing");
    if (tz_problem_real(&workload->problem)->size > sizeof(float) &&
        tz_stencil_has_real(workload->problem.stencil))
        tz_model_note(notes, "instructions in double precision cost what those in single do: the "
                             "paper has no others");
    if (branches > 0)
        tz_model_note(notes,
                      "%d branches depend on data: forward ones are taken as not taken, loops turn "
                      "%d times (--trips)",
                      branches, trips);
    if (addresses > 0)
        tz_model_note(notes, "%d addresses depend on data: each is taken as one transaction a lane",
                      addresses);
    if (calls > 0)
        tz_model_note(notes, "%d calls of functions are not followed: each costs a branch", calls);
}

tz_status tz_plain_predict(const tz_workload *workload, const tz_prediction_request *request,
                           tz_prediction_plain **out, tz_prediction_row *row, char *counts,
                           size_t size, tz_error *error)
{
    const int trips = request->trips > 0 ? request->trips : TZ_TRIPS;
    int block[TZ_AXES];
    tz_luo2011_gpu gpu;
    tz_model_facts facts;
    tz_error why;
    tz_status status = check(request, error);
    if (!status)
        status = choose_block(workload, request, block, error);
    if (!status)
        status = tz_luo2011_gpu_of(&workload->device, &gpu, NULL, error);
    if (status)
        return status;
    tz_prediction_plain *made = *out = calloc(1, sizeof *made);
    if (!made)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    made->clock_hz = gpu.clock_hz;
    status = tz_cuda_plain_read(&workload->problem, block, &gpu, trips, &made->plain, &why);
    if (status)
        return tz_error_set(error, status, "luo2011", "the PTX of '%s' cannot be read: %.900s",
                            workload->problem.stencil->id, why.message);
    for (int p = 0; !status && p < made->plain.count; p++)
        status = tz_luo2011_evaluate(&gpu, &made->plain.kernels[p], request->as_printed,
                                     &made->results[p], error);
    const tz_luo2011_plain kernels = {made->plain.kernels, made->plain.count, request->as_printed};
    const tz_model_plan plan = {
        .block = {block[0], block[1], block[2]}, .height = 1, .plain = &kernels};
    tz_facts_describe(workload, &facts);
    if (!status)
        status = tz_model_predict(&tz_model_luo2011, &facts, &workload->device, &plan,
                                  &row->prediction, error);
    if (status)
        return status;
    row->plan = (tz_plan){.height = 1, .family = "plain"};
    for (int axis = 0; axis < TZ_AXES; axis++)
        row->plan.tile[axis] = block[axis];
    note_trace(workload, &made->plain, trips, &row->prediction.notes);
    snprintf(counts, size,
             "PTX of a plain kernel (%s): %d instructions in %d basic blocks, of which a warp "
             "executes %lld, with %lld turns of loops",
             TZ_CUDA_PLAIN_ARCHITECTURE, made->plain.instructions[0], made->plain.blocks[0],
             (long long)made->plain.traces[0].executed, (long long)made->plain.traces[0].turns);
    return TZ_OK;
}

tz_status tz_plain_measure(tz_prediction_table *table, const tz_workload *workload, int ordinal,
                           tz_error *error)
{
    enum { ROUNDS = 5 };
    tz_bench *bench;
    int block[TZ_AXES];
    if (!table->plain)
        return tz_error_set(error, TZ_UNSUPPORTED, "measure",
                            "only plans of luo2011 are measured here; tune measures others");
    if (!workload->is_here)
        return tz_error_set(error, TZ_UNSUPPORTED, workload->device.name,
                            "this device is not in this machine, so nothing can be measured");
    for (int axis = 0; axis < TZ_AXES; axis++)
        block[axis] = (int)table->rows[0].plan.tile[axis];
    tz_status status = tz_bench_create(&bench, workload, ordinal, 1, false, error);
    if (status)
        return status;
    status = tz_bench_plain(bench, block, ROUNDS, &table->plain->measured, error);
    tz_bench_destroy(bench);
    return status;
}

void tz_prediction_plain_destroy(tz_prediction_plain *plain)
{
    if (!plain)
        return;
    for (int p = 0; p < TZ_PASSES_MAX; p++)
        tz_luo2011_result_clear(&plain->results[p]);
    tz_cuda_plain_clear(&plain->plain);
    free(plain);
}
