/* Predictions by meng2009 and meng2011: facts about a stencil, and a row for each height. */
#include "model/papers/papers.h"

#include "base/file.h"
#include "base/machine.h"
#include "base/paths.h"
#include "calibrate/records.h"
#include "model/papers/benchmark.h"
#include "model/papers/meng2009.h"
#include "model/papers/meng2011.h"
#include "model/papers/options.h"
#include "model/papers/predict.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tz_status read_benchmark(const char *path, tz_model_benchmark *out, tz_error *error)
{
    char *text;
    size_t length;
    tz_error why;
    tz_status status = tz_file_read(path, TZ_MODEL_RECORD_BYTES_MAX, &text, &length, error);
    if (status)
        return status;
    if (tz_model_benchmark_parse(path, text, length, out, &why))
        status = tz_error_set(error, TZ_FORMAT, why.place, "%s", why.message);
    free(text);
    return status;
}

/* The paper's record of a benchmark. TZ_UNKNOWN, without a message: none. */
static tz_status find_benchmark(const char *name, tz_model_benchmark *out, tz_error *error)
{
    tz_paths folders = {0};
    tz_status status = tz_paths_add_data(&folders, "benchmarks", "model/papers/benchmarks", error);
    bool found = false;
    for (size_t i = 0; status == TZ_OK && !found && i < folders.count; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.txt", folders.items[i], name);
        if (access(path, R_OK) != 0)
            continue;
        found = true;
        status = read_benchmark(path, out, error);
    }
    tz_paths_clear(&folders);
    return status == TZ_OK && !found ? TZ_UNKNOWN : status;
}

/* The elements of a plan of the tile family, with the ghost zone of each tile. */
static double elements_loaded(const tz_problem *problem, const tz_plan *plan, double tiles)
{
    const double halo = (double)plan->height * tz_stencil_reach(problem->stencil);
    double elements = tiles;
    for (int axis = 0; axis < problem->dims; axis++)
        elements *= (double)plan->tile[axis] + 2 * halo;
    return elements;
}

/* Counts instructions for an element, averaged over the parts of the tile kernel: for an update,
 * and once a stage for each element that a tile loads with its ghost zone. The papers' threads have
 * one element each, those of the tile kernel several. A warp instruction is one of 32 threads. */
static tz_status count_tile(const tz_workload *workload, tz_model_facts *facts, char *counts,
                            size_t size, tz_error *error)
{
    const tz_backend *backend = tz_backend_of_kind(true);
    tz_model_device h200;
    tz_place place = workload->place;
    tz_plan plan = {.height = 2, .family = "tile"};
    tz_model_work work;
    tz_error why;
    tz_status status = TZ_OK;
    if (!workload->device.compute_capability.known) {
        status = tz_device_find("h200", &h200, error);
        place.device = &h200;
    }
    if (!status)
        status = backend->plan(&workload->problem, &place, &plan, error);
    if (status)
        return status;
    status = backend->work(&workload->problem, &place, &plan, TZ_EFFORT_COMPILE, &work, &why);
    if (status)
        return tz_error_set(error, status, workload->problem.stencil->id,
                            "the papers have no instruction counts of it, and its kernel cannot "
                            "be compiled and counted: %.900s",
                            why.message);
    const double per_element = workload->problem.bits ? 32 : 1;
    const double updates = work.cells * work.redundancy / per_element;
    const double elements = elements_loaded(&workload->problem, &plan, work.blocks);
    double loop = 0, once = 0;
    for (int p = 0; p < work.parts_count; p++) {
        const tz_work_part *part = &work.parts[p];
        loop += part->warps * part->steps * tz_work_mix_sum(&part->step);
        once += part->warps * tz_work_mix_sum(&part->once);
    }
    if (!(updates > 0 && elements > 0))
        return tz_error_set(error, TZ_UNSUPPORTED, workload->problem.stencil->id,
                            "no instructions were counted in its tile kernel");
    facts->insts_per_update = 32 * loop / updates;
    facts->insts_per_setup = 32 * once / elements;
    snprintf(counts, size,
             "instructions counted from the tile kernel as compiled for compute capability %.1f: "
             "%.1f an update, %.1f an element once a stage",
             place.device->compute_capability.value / 10, facts->insts_per_update,
             facts->insts_per_setup);
    return TZ_OK;
}

/* The facts in the stencil's declaration. */
void tz_facts_describe(const tz_workload *workload, tz_model_facts *facts)
{
    const tz_problem *problem = &workload->problem;
    const tz_stencil *stencil = problem->stencil;
    const tz_reach reach = tz_stencil_reach_sides(stencil);
    *facts = (tz_model_facts){.dims = problem->dims, .cells_per_element = problem->bits ? 32 : 1};
    snprintf(facts->name, sizeof facts->name, "%.60s", stencil->id);
    for (int axis = 0; axis < problem->dims; axis++) {
        facts->extent[axis] = (double)problem->elements[axis];
        facts->halo_width[axis] = reach.low[axis] + reach.high[axis];
    }
    facts->element_bytes = (double)tz_problem_element_size(problem, 0);
    for (int f = 0; f < stencil->fields_count; f++) {
        facts->state_fields += stencil->fields[f].role == TZ_STATE;
        facts->static_fields += stencil->fields[f].role == TZ_STATIC;
        facts->streamed_fields += stencil->fields[f].role == TZ_STREAMED;
    }
}

tz_status tz_facts_of_workload(const tz_workload *workload, const tz_prediction_request *request,
                               tz_model_facts *facts, tz_model_plan *plan, char *counts,
                               size_t size, tz_error *error)
{
    const tz_problem *problem = &workload->problem;
    tz_model_benchmark benchmark;
    *plan = (tz_model_plan){.height = request->given.height,
                            .sync = request->options >> TZ_PAPERS_FENCE & 1 ? TZ_MODEL_SYNC_FENCE
                                                                            : TZ_MODEL_SYNC_LAUNCH};
    tz_status status = find_benchmark(problem->stencil->id, &benchmark, error);
    if (status == TZ_OK) {
        const tz_model_sync sync = plan->sync;
        status = tz_model_benchmark_facts(&benchmark, facts, plan, error);
        if (status)
            return status;
        plan->sync = sync;
        plan->height = request->given.height;
        for (int axis = 0; axis < facts->dims; axis++)
            facts->extent[axis] = (double)problem->extent[axis];
        if (tz_stencil_has_real(problem->stencil))
            facts->element_bytes = (double)tz_problem_element_size(problem, 0);
        snprintf(counts, size,
                 "the stencil as Meng and Skadron profiled it (2009, table 2): %.1f instructions "
                 "an update, %.1f once a stage, one element a cell",
                 facts->insts_per_update, facts->insts_per_setup);
    } else if (status == TZ_UNKNOWN) {
        tz_facts_describe(workload, facts);
        status = count_tile(workload, facts, counts, size, error);
    }
    if (status)
        return status;
    const double threads = workload->device.threads_per_block_max.known
                               ? workload->device.threads_per_block_max.value
                               : 512;
    for (int axis = 0; axis < facts->dims; axis++) {
        if (!(plan->block[axis] > 0))
            plan->block[axis] = tz_model_meng_blk_len(facts->dims, threads);
        if (request->block[axis] > 0)
            plan->block[axis] = request->block[axis];
        if (request->value[TZ_PAPERS_HALO][axis] > 0)
            facts->halo_width[axis] = request->value[TZ_PAPERS_HALO][axis];
    }
    if (request->value[TZ_PAPERS_BANK_CONFLICTS][0] > 0) {
        facts->bank_conflicts_known = true;
        facts->bank_conflict_rate = request->value[TZ_PAPERS_BANK_CONFLICTS][0];
    }
    if (request->options >> TZ_PAPERS_STREAMED & 1)
        facts->streamed_fields = request->value[TZ_PAPERS_STREAMED][0];
    return TZ_OK;
}

static const tz_equations *equations_of(const tz_prediction_table *table)
{
    return table->by->model == &tz_model_meng2009.model ? &tz_model_meng2009 : &tz_model_meng2011;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static tz_status rows_of_paper(tz_prediction_table *table, const tz_workload *workload,
                               const tz_prediction_request *request, tz_error *error)
{
    tz_model_facts facts;
    tz_model_plan plan;
    int most = 0;
    const char *family = request->given.family[0] ? request->given.family : "tile";
    if (strcmp(family, "tile") != 0 && strcmp(family, "whole") != 0)
        return tz_error_set(error, TZ_UNSUPPORTED, "family",
                            "%s describes tiles in shared memory, no family '%s'", table->by->name,
                            family);
    tz_status status = tz_facts_of_workload(workload, request, &facts, &plan, table->counts,
                                            sizeof table->counts, error);
    if (status)
        return status;
    const double begin = tz_machine_clock_s();
    const int given = plan.height;
    plan.height = 0;
    status =
        tz_model_height_max(equations_of(table), &facts, &workload->device, &plan, &most, error);
    if (status)
        return status;
    if (given > most || most < 1)
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d leaves nothing of the block; the greatest that does is %d: "
                            "give a larger --block",
                            given > 0 ? given : 1, most);
    /* 256 heights are enough where no halo bounds the height. */
    const int low = given ? given : 1, high = given ? given : most < 256 ? most : 256;
    table->rows = calloc((size_t)(high - low + 1), sizeof *table->rows);
    if (!table->rows)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for predictions");
    for (int h = low; h <= high; h++) {
        tz_prediction_row *row = &table->rows[table->count++];
        plan.height = h;
        status = tz_model_predict(equations_of(table), &facts, &workload->device, &plan,
                                  &row->prediction, error);
        if (status)
            return status;
        row->plan = (tz_plan){.height = h};
        snprintf(row->plan.family, sizeof row->plan.family, "%s", family);
        for (int axis = 0; axis < TZ_AXES; axis++)
            row->plan.tile[axis] = (int64_t)row->prediction.block[axis];
        if (row->prediction.time_s < table->rows[table->best].prediction.time_s)
            table->best = table->count - 1;
    }
    table->considered = table->count;
    table->seconds = tz_machine_clock_s() - begin;
    return TZ_OK;
}

enum {
    OPTIONS = 1u << TZ_PAPERS_HALO | 1u << TZ_PAPERS_STREAMED | 1u << TZ_PAPERS_BANK_CONFLICTS |
              1u << TZ_PAPERS_FENCE
};
static const char best_text[] = "height %d, blocks of %s with their ghost zone";

const tz_predictor tz_predictor_meng2009 = {.name = "meng2009",
                                            .model = &tz_model_meng2009.model,
                                            .options = OPTIONS,
                                            .gpu_alone = true,
                                            .best_text = best_text,
                                            .make = rows_of_paper};
const tz_predictor tz_predictor_meng2011 = {.name = "meng2011",
                                            .model = &tz_model_meng2011.model,
                                            .options = OPTIONS,
                                            .gpu_alone = true,
                                            .best_text = best_text,
                                            .make = rows_of_paper};
