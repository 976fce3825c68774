/* Predictions by luo2011: the plain kernels of an iteration, as one row, and their periods. */
#include "model/papers/options.h"
#include "model/papers/papers.h"
#include "model/papers/predict.h"

#include "base/machine.h"
#include <jansson.h>

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

/* The fields of a small grid stay in the second level: a load costs what it costs from there. */
static void place_fields(const tz_problem *problem, tz_luo2011_gpu *gpu)
{
    double bytes = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const tz_role role = problem->stencil->fields[f].role;
        const int copies = role == TZ_STATE ? 2 : role == TZ_STATIC ? 1 : 0;
        bytes += copies * (double)tz_problem_elements(problem) *
                 (double)tz_problem_element_size(problem, f);
    }
    for (int k = 0; k < 4 && bytes <= gpu->l2_bytes; k++)
        gpu->costs.clocks[TZ_LUO2011_MEMORY][k / 2][k % 2] = gpu->l2_latency;
}

static tz_status predict_row(const tz_workload *workload, const tz_prediction_request *request,
                             tz_prediction_plain *made, tz_prediction_row *row, char *counts,
                             size_t size, tz_error *error)
{
    const bool as_printed = request->options >> TZ_PAPERS_AS_PRINTED & 1;
    const bool given = request->options >> TZ_PAPERS_TRIPS & 1;
    const int trips = given ? (int)request->value[TZ_PAPERS_TRIPS][0] : 1;
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
    place_fields(&workload->problem, &gpu);
    status = tz_cuda_plain_read(&workload->problem, block, &gpu, trips, &made->plain, &why);
    if (status)
        return tz_error_set(error, status, "luo2011", "the PTX of '%s' cannot be read: %.900s",
                            workload->problem.stencil->id, why.message);
    for (int p = 0; !status && p < made->plain.count; p++)
        status = tz_luo2011_evaluate(&gpu, &made->plain.kernels[p], as_printed, &made->results[p],
                                     error);
    const tz_luo2011_plain kernels = {made->plain.kernels, made->plain.count, as_printed};
    const tz_model_plan plan = {
        .block = {block[0], block[1], block[2]}, .height = 1, .own = &kernels};
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

static tz_status predict(tz_prediction_table *table, const tz_workload *workload,
                         const tz_prediction_request *request, tz_error *error)
{
    const double begin = tz_machine_clock_s();
    table->rows = calloc(1, sizeof *table->rows);
    table->own = calloc(1, sizeof(tz_prediction_plain));
    if (!table->rows || !table->own)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    const tz_status status = predict_row(workload, request, table->own, table->rows, table->counts,
                                         sizeof table->counts, error);
    table->considered = table->count = 1;
    table->seconds = tz_machine_clock_s() - begin;
    return status;
}

static void clear(void *own)
{
    tz_prediction_plain *plain = own;
    for (int p = 0; p < TZ_PASSES_MAX; p++)
        tz_luo2011_result_clear(&plain->results[p]);
    tz_cuda_plain_clear(&plain->plain);
    free(plain);
}

static tz_status time_plain(void *state, void *block, double seconds, int rounds, double *round_s,
                            tz_error *error)
{
    return tz_cuda_plain_time(state, block, seconds, rounds, round_s, error);
}

static tz_status measure(tz_prediction_table *table, const tz_workload *workload, int ordinal,
                         tz_error *error)
{
    enum { ROUNDS = 5 };
    tz_bench *bench;
    int block[TZ_AXES];
    for (int axis = 0; axis < TZ_AXES; axis++)
        block[axis] = (int)table->rows[0].plan.tile[axis];
    tz_status status = tz_bench_create(&bench, workload, NULL, ordinal, 1, false, error);
    if (status)
        return status;
    status = tz_bench_by(bench, time_plain, block, ROUNDS, &table->measured, error);
    tz_bench_destroy(bench);
    return status;
}

/* ---- Periods as text and JSON ---------------------------------------------------------------- */

enum { LINES_MAX = 40 };

static bool same(const tz_luo2011_period *a, const tz_luo2011_period *b)
{
    return a->type == b->type && a->accesses == b->accesses && a->computation == b->computation &&
           a->memory == b->memory && a->transactions == b->transactions && a->mpd == b->mpd &&
           a->before == b->before && a->after == b->after;
}

static void write_pass(const tz_luo2011_result *r, int pass, int passes, FILE *out)
{
    fprintf(out, "  periods  ");
    if (passes > 1)
        fprintf(out, "of pass %d: ", pass);
    fprintf(out,
            "clocks of %g active warps; %g rounds; P %.2f %% (of the text %.2f %%), CPD %.4g\n"
            "    %6s  %4s %10s %8s %8s %12s %5s %10s %10s %10s\n",
            r->active, r->rounds, 100 * r->share, 100 * r->text_share, r->cpd, "times", "type", "c",
            "m", "accesses", "transactions", "MPD", "T", "T_p", "T_c");
    int lines = 0;
    for (int i = 0; i < r->count;) {
        const tz_luo2011_period *p = &r->periods[i];
        int times = 1;
        while (i + times < r->count && same(p, &r->periods[i + times]))
            times++;
        if (lines++ == LINES_MAX) {
            fprintf(out, "    and %d more periods (--json has them all)\n", r->count - i);
            return;
        }
        fprintf(out, "    %6d  %4d %10.5g %8.5g %8d %12g %5g %10.6g %10.6g %10.6g\n", times,
                p->type, p->computation, p->memory, p->accesses, p->transactions, p->mpd, p->time,
                p->before, p->after);
        i += times;
    }
}

/* A table for each pass. Equal periods that follow each other are one line. */
static void write(const tz_prediction_table *table, const tz_workload *workload, bool verbose,
                  FILE *out)
{
    const tz_prediction_plain *plain = table->own;
    (void)workload;
    for (int p = 0; verbose && p < plain->plain.count; p++)
        write_pass(&plain->results[p], p, plain->plain.count, out);
}

static json_t *period_json(const tz_luo2011_period *p)
{
    return json_pack("{s:i, s:f, s:f, s:i, s:f, s:f, s:f, s:f, s:f}", "type", p->type, "c",
                     p->computation, "m", p->memory, "accesses", p->accesses, "transactions",
                     p->transactions, "mpd", p->mpd, "time", p->time, "t_p", p->before, "t_c",
                     p->after);
}

/* "passes": for each its P, CPD and periods. */
static void add_json(const tz_prediction_table *table, json_t *object)
{
    const tz_prediction_plain *plain = table->own;
    json_t *passes = json_array();
    for (int k = 0; k < plain->plain.count; k++) {
        const tz_luo2011_result *r = &plain->results[k];
        json_t *periods = json_array();
        for (int i = 0; i < r->count; i++)
            json_array_append_new(periods, period_json(&r->periods[i]));
        json_array_append_new(passes, json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}",
                                                "p", r->share, "p_text", r->text_share,
                                                "active_warps", r->active, "cpd1", r->cpd1, "cpd2",
                                                r->cpd2, "cpd", r->cpd, "rounds", r->rounds,
                                                "clocks", r->time, "periods", periods));
    }
    json_object_set_new(object, "passes", passes);
}

const tz_predictor tz_predictor_luo2011 = {.name = "luo2011",
                                           .model = &tz_model_luo2011.model,
                                           .options =
                                               1u << TZ_PAPERS_AS_PRINTED | 1u << TZ_PAPERS_TRIPS,
                                           .gpu_alone = true,
                                           .best_text = "height %d, blocks of %s threads, a cell "
                                                        "each",
                                           .make = predict,
                                           .clear = clear,
                                           .measure = measure,
                                           .write = write,
                                           .json = add_json};
