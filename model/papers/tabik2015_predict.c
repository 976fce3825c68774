/* The answers of tabik2015: which thread blocks are worth trying for each pass, as text, JSON and
 * CSV, and as plans for tune. */
#include "model/papers/papers.h"
#include "model/papers/predict.h"

#include "stencil/probe.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char model[] = "tabik2015", does[] = "lists thread blocks", family[] = "block";

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

/* It has the GPU's record, and one device. */
static tz_status check(const tz_workload *workload, tz_error *error)
{
    const char *name = workload->device.name;
    if (!workload->is_gpu)
        return tz_error_set(error, TZ_UNSUPPORTED, name,
                            "%s describes GPUs; %s is a CPU: name a GPU with --device", model,
                            name);
    if (workload->place.devices)
        return tz_error_set(error, TZ_UNSUPPORTED, "model",
                            "%s describes one device: leave out --devices", model);
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

tz_status tz_thread_blocks_create(tz_thread_blocks **out, const tz_workload *workload,
                                  tz_error *error)
{
    const tz_problem *problem = &workload->problem;
    *out = NULL;
    tz_thread_blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for thread blocks");
    tz_status status = tz_tabik_gpu_of(&workload->device, &blocks->gpu, error);
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

static tz_status make(tz_prediction_table *table, const tz_workload *workload,
                      const tz_prediction_request *request, tz_error *error)
{
    tz_thread_blocks *blocks;
    (void)request;
    const tz_status status = tz_thread_blocks_create(&blocks, workload, error);
    if (status)
        return status;
    table->own = blocks;
    table->notes = blocks->notes;
    return TZ_OK;
}

/* ---- As plans -------------------------------------------------------------------------------- */

/* What the list of shapes leaves no room for; NULL: nothing. */
static const char *excess(const tz_plan *given)
{
    return given->height > 1                                        ? "height"
           : given->family[0] && strcmp(given->family, family) != 0 ? "family"
           : given->tile[0] > 0 || given->tile[1] > 0               ? "block"
           : given->vector > 0                                      ? "vector"
           : given->warps > 0                                       ? "warps"
           : given->exchange > 0                                    ? "exchange"
                                                                    : NULL;
}

/* The shapes of the first pass that the family takes, with the knobs of `given`. */
static tz_status fill_list(const tz_workload *workload, const tz_tabik_space *space,
                           const tz_plan *given, tz_plan_list *out, tz_error *error)
{
    tz_error first = {0};
    *out = (tz_plan_list){.plans = calloc((size_t)space->count, sizeof *out->plans),
                          .chosen = calloc((size_t)space->count, sizeof *out->chosen),
                          .listed = space->count,
                          .listed_chosen = space->chosen};
    if (!out->plans || !out->chosen)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    for (int i = 0; i < space->count; i++) {
        tz_plan plan = *given;
        tz_error why;
        strcpy(plan.family, family);
        plan.height = 1;
        plan.tile[0] = space->shapes[i].x;
        plan.tile[1] = space->shapes[i].y;
        const tz_status status =
            workload->backend->plan(&workload->problem, &workload->place, &plan, &why);
        if (!status) {
            out->chosen[out->count] = space->shapes[i].chosen;
            out->plans[out->count++] = plan;
        } else if (!first.code) {
            first = why;
        }
    }
    return out->count > 0 ? TZ_OK
                          : tz_error_set(error, first.code, first.place, "%s", first.message);
}

static tz_status list_plans(const tz_workload *workload, const tz_plan *given, tz_plan_list *out,
                            tz_error *error)
{
    tz_thread_blocks *blocks = NULL;
    const char *other = excess(given);
    *out = (tz_plan_list){NULL};
    tz_status status = check(workload, error);
    if (!status)
        status = tz_thread_blocks_create(&blocks, workload, error);
    if (!status && other)
        status = tz_error_set(error, TZ_UNSUPPORTED, other,
                              "'%s' does not go with the model %s, which %s of the family %s",
                              other, model, does, family);
    if (!status)
        status = fill_list(workload, &blocks->passes[0].space, given, out, error);
    free(blocks);
    if (status)
        tz_plan_list_clear(out);
    return status;
}

/* ---- As text --------------------------------------------------------------------------------- */

static const char *const titles[] = {"global", "shared", "occupancy", "active"};

/* "+" where the shape is good by the criterion. */
static char flag(const tz_tabik_shape *shape, tz_tabik_criterion criterion)
{
    return shape->good >> criterion & 1 ? '+' : ' ';
}

static void write_pass(const tz_thread_blocks_pass *pass, FILE *out)
{
    const tz_tabik_kernel *k = &pass->kernel;
    const tz_tabik_space *space = &pass->space;
    fprintf(out, "\n  pass %s: reads %d field%s, writes %d; ", pass->name, k->loads,
            k->loads == 1 ? "" : "s", k->stores);
    if (k->tiles > 0)
        fprintf(out, "%d tile%s with a halo of %d:%d along x and %d:%d along y%s\n", k->tiles,
                k->tiles == 1 ? "" : "s", k->low[0], k->high[0], k->low[1], k->high[1],
                k->diagonals && k->low[0] + k->high[0] > 0 && k->low[1] + k->high[1] > 0
                    ? ", with its corners"
                    : "");
    else
        fprintf(out, "no tile: it reads no neighbour in the plane\n");
    fprintf(out, "    %9s  %14s  %14s  %9s  %7s\n", "block", titles[0], titles[1], titles[2],
            titles[3]);
    for (int i = 0; i < space->count; i++) {
        const tz_tabik_shape *s = &space->shapes[i];
        fprintf(out, "  %c %4d x %-3d %14.0f%c %14.0f%c %7.1f %%%c %7d%c\n", s->chosen ? '*' : ' ',
                s->x, s->y, s->global_transactions, flag(s, TZ_TABIK_GLOBAL),
                s->shared_transactions, flag(s, TZ_TABIK_SHARED), 100 * s->occupancy,
                flag(s, TZ_TABIK_OCCUPANCY), s->active_blocks, flag(s, TZ_TABIK_EFFICIENT));
    }
    fprintf(out, "    chosen: %d of %d shapes\n", space->chosen, space->count);
}

static const char *title_of(const tz_workload *workload)
{
    return workload->device.title[0] ? workload->device.title : workload->device.name;
}

/* The chosen shapes of each pass. */
static void write_chosen(const tz_workload *workload, const tz_thread_blocks *blocks, FILE *out)
{
    fprintf(out, "device   %s, by the model %s\n", title_of(workload), model);
    for (int p = 0; p < blocks->count; p++) {
        const tz_thread_blocks_pass *pass = &blocks->passes[p];
        fprintf(out, "pass %s, chosen: %d of %d shapes:", pass->name, pass->space.chosen,
                pass->space.count);
        for (int i = 0, named = 0; i < pass->space.count; i++)
            if (pass->space.shapes[i].chosen)
                fprintf(out, "%s %d x %d", named++ ? "," : "", pass->space.shapes[i].x,
                        pass->space.shapes[i].y);
        fprintf(out, "\n");
    }
}

/* All shapes with their numbers. */
static void write_all(const tz_workload *workload, const tz_thread_blocks *blocks, FILE *out)
{
    const tz_tabik_gpu *gpu = &blocks->gpu;
    fprintf(out,
            "device   %s: %d-byte transactions, %d banks of %d bytes, %d threads and %.4g KiB of "
            "shared memory a multiprocessor\n",
            title_of(workload), gpu->transaction_bytes, gpu->banks, gpu->bank_bytes,
            gpu->threads_per_sm, gpu->shared_bytes / 1024);
    fprintf(out, "model    %s: one thread a cell of a plane, marching along z, in shared memory\n",
            model);
    for (int p = 0; p < blocks->count; p++)
        write_pass(&blocks->passes[p], out);
    fprintf(out,
            "    (global, shared: transactions of a sweep; active: blocks of a multiprocessor at "
            "once;\n     + good by that number, * by all four: worth trying)\n");
}

static void write(const tz_prediction_table *table, const tz_workload *workload, bool verbose,
                  FILE *out)
{
    fprintf(out, "stencil  %s, %s, %s\n", workload->problem.stencil->id, workload->grid,
            workload->precision);
    (verbose ? write_all : write_chosen)(workload, table->own, out);
    for (int n = 0; n < table->notes.count; n++)
        fprintf(out, "note     %s\n", table->notes.text[n]);
}

/* ---- As CSV and JSON ------------------------------------------------------------------------- */

static bool write_csv(const tz_prediction_table *table, int line, char *text, size_t size)
{
    const tz_thread_blocks *blocks = table->own;
    int p = 0;
    for (; p < blocks->count && line >= blocks->passes[p].space.count; p++)
        line -= blocks->passes[p].space.count;
    if (p == blocks->count)
        return false;
    const tz_tabik_shape *s = &blocks->passes[p].space.shapes[line];
    size_t used = (size_t)snprintf(text, size, "%s,%d,%d,%.0f,%.0f,%.9g,%d", blocks->passes[p].name,
                                   s->x, s->y, s->global_transactions, s->shared_transactions,
                                   s->occupancy, s->active_blocks);
    for (int c = 0; c < TZ_TABIK_CRITERIA && used < size; c++)
        used += (size_t)snprintf(text + used, size - used, ",%u", s->good >> c & 1);
    if (used < size)
        snprintf(text + used, size - used, ",%d", s->chosen);
    return true;
}

static json_t *shape_json(const tz_tabik_shape *s)
{
    json_t *good = json_object();
    for (int c = 0; c < TZ_TABIK_CRITERIA; c++)
        json_object_set_new(good, tz_tabik_criterion_text((tz_tabik_criterion)c),
                            json_boolean(s->good >> c & 1));
    return json_pack("{s:[i,i],s:I,s:I,s:f,s:i,s:o,s:b}", "block", s->x, s->y,
                     "global_transactions", (json_int_t)s->global_transactions,
                     "shared_transactions", (json_int_t)s->shared_transactions, "occupancy",
                     s->occupancy, "active_blocks", s->active_blocks, "good", good, "chosen",
                     s->chosen);
}

static void add_json(const tz_prediction_table *table, json_t *object)
{
    const tz_thread_blocks *blocks = table->own;
    json_t *passes = json_array();
    for (int p = 0; p < blocks->count; p++) {
        const tz_thread_blocks_pass *pass = &blocks->passes[p];
        const tz_tabik_kernel *k = &pass->kernel;
        json_t *shapes = json_array();
        for (int i = 0; i < pass->space.count; i++)
            json_array_append_new(shapes, shape_json(&pass->space.shapes[i]));
        json_array_append_new(
            passes, json_pack("{s:s,s:i,s:i,s:i,s:[i,i],s:[i,i],s:b,s:i,s:o}", "pass", pass->name,
                              "loads", k->loads, "stores", k->stores, "tiles", k->tiles, "low",
                              k->low[0], k->low[1], "high", k->high[0], k->high[1], "diagonals",
                              k->diagonals, "chosen", pass->space.chosen, "shapes", shapes));
    }
    json_object_set_new(object, "passes", passes);
}

const tz_predictor tz_predictor_tabik2015 = {
    .name = model,
    .does = does,
    .check = check,
    .make = make,
    .clear = free,
    .write = write,
    .json = add_json,
    .csv_columns = "pass,block_x,block_y,global_transactions,shared_transactions,occupancy,"
                   "active_blocks,good_global,good_shared,good_occupancy,efficient,chosen",
    .csv = write_csv,
    .plot = tz_thread_blocks_plot,
    .list = list_plans,
    .tune_help = "  --model tabik2015     measure all shapes of thread blocks that this model "
                 "lists, with the\n"
                 "                        family block: how good is the set that it chooses?\n"};
