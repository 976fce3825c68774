/* trapeze explain: why a run used its plans, what they cost and what would have been better. */
#include "cli/command.h"

#include "base/machine.h"
#include "cli/print_predictions.h"
#include "model/power.h"
#include "predict/prediction_table.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The record as a workload ---------------------------------------------------------------- */

typedef struct recorded {
    tz_simulation_config config;
    char devices[32];
    tz_assignment params[TZ_PARAMS_MAX];
    tz_side_value values[TZ_FIELDS_MAX * TZ_SIDES];
    tz_storage_wish storage[TZ_FIELDS_MAX];
} recorded;

/* The parameters that the scenario gave. */
static void take_params(const json_t *object, tz_assignment *out, size_t *count)
{
    const char *name;
    json_t *entry;
    json_object_foreach((json_t *)object, name, entry)
    {
        const json_t *value = json_object_get(entry, "value");
        if (*count == TZ_PARAMS_MAX || !json_is_true(json_object_get(entry, "given")) ||
            json_is_null(value))
            continue;
        out[(*count)++] = (tz_assignment){
            .name = name,
            .number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value),
            .text = json_string_value(value)};
    }
}

/* Boundary values: {"u": 1, "v": {"x": [0, 1], "y": [2, 2]}}. */
static size_t take_sides(const json_t *object, tz_side_value out[TZ_FIELDS_MAX * TZ_SIDES])
{
    size_t count = 0;
    const char *field, *axis;
    json_t *entry, *sides;
    json_object_foreach((json_t *)object, field, entry)
    {
        if (json_is_number(entry) && count < TZ_FIELDS_MAX * TZ_SIDES)
            out[count++] = (tz_side_value){field, 0, json_number_value(entry)};
        json_object_foreach(entry, axis, sides)
        {
            const int at = axis[0] - 'x';
            for (int side = 0; side < 2 && count < TZ_FIELDS_MAX * TZ_SIDES; side++)
                if (at >= 0 && at < TZ_AXES && json_is_number(json_array_get(sides, (size_t)side)))
                    out[count++] =
                        (tz_side_value){field, 1u << (2 * at + side),
                                        json_number_value(json_array_get(sides, (size_t)side))};
        }
    }
    return count;
}

/* {"u": {"as": "half", "origin": 80, "scale": 1}}. */
static size_t take_storage(const json_t *object, tz_storage_wish out[TZ_FIELDS_MAX])
{
    size_t count = 0;
    const char *field;
    json_t *entry;
    json_object_foreach((json_t *)object, field, entry)
    {
        const int as = tz_stored_find(tz_json_text(entry, "as"));
        if (as >= 0 && count < TZ_FIELDS_MAX)
            out[count++] = (tz_storage_wish){field, (tz_stored)as,
                                             json_number_value(json_object_get(entry, "origin")),
                                             json_number_value(json_object_get(entry, "scale"))};
    }
    return count;
}

static void read_config(const json_t *simulation, const tz_registry *registry, recorded *r)
{
    const json_t *grid = json_object_get(simulation, "grid"),
                 *boundary = json_object_get(simulation, "boundary");
    const char *precision = tz_json_text(simulation, "precision");
    memset(r, 0, sizeof *r);
    tz_simulation_config *config = &r->config;
    config->registry = registry;
    config->stencil = tz_json_text(simulation, "stencil");
    config->dims = (int)json_array_size(grid);
    config->dims = config->dims > TZ_AXES ? TZ_AXES : config->dims;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        config->extent[axis] =
            axis < config->dims ? json_integer_value(json_array_get(grid, (size_t)axis)) : 1;
        config->boundary[axis] = json_string_value(json_array_get(boundary, (size_t)axis));
    }
    /* With mixed precision, stages iterate in single precision. */
    config->precision =
        strcmp(precision, "mixed") == 0 ? TZ_PRECISION_CORRECTION : tz_precision_find(precision);
    config->backend = tz_json_text(simulation, "backend");
    config->threads = (int)tz_json_int(simulation, "threads");
    /* Several devices: slabs on this CPU, or so many GPUs, whether or not they are here. */
    const size_t devices = json_array_size(json_object_get(simulation, "devices"));
    if (devices > 1) {
        snprintf(r->devices, sizeof r->devices, "%s%zu",
                 strcmp(config->backend, "cpu") == 0 ? "cpu:" : "", devices);
        config->devices = r->devices;
    }
    take_params(json_object_get(simulation, "params"), r->params, &config->params_count);
    config->boundary_values_count =
        take_sides(json_object_get(simulation, "boundary_values"), r->values);
    config->storage_count = take_storage(json_object_get(simulation, "storage"), r->storage);
    config->storage = r->storage;
    config->one_copy = json_integer_value(json_object_get(simulation, "copies")) == 1;
    config->params = r->params;
    config->boundary_values = r->values;
}

enum { NAME_WIDTH = 8 };

/* ---- Printing -------------------------------------------------------------------------------- */

static void plan_text(const json_t *entry, int dims, char *text, size_t size)
{
    tz_plan plan;
    if (tz_plan_from_json(entry, &plan))
        tz_plan_text(&plan, dims, text, size);
    else
        snprintf(text, size, "a plan that this version cannot read");
}

static double seconds_per_step(const json_t *entry)
{
    const double steps = tz_json_number(entry, "steps");
    return steps > 0 ? tz_json_number(entry, "seconds") / steps : NAN;
}

/* The policy, its decisions (without the middle of a long list), and the fastest plan that the run
 * measured. */
static void put_policy(tz_facts *facts, const json_t *policy, int dims)
{
    enum { SHOWN = 4 };
    const json_t *decisions = json_object_get(policy, "decisions"),
                 *measured = json_object_get(policy, "measured"), *fastest = NULL;
    const size_t count = json_array_size(decisions);
    if (!policy)
        return;
    tz_fact_text(facts, "policy", "%s", tz_json_text(policy, "text"));
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(decisions, i);
        if (i >= SHOWN && i + SHOWN < count) {
            if (i == SHOWN)
                tz_fact_text(facts, NULL, "… %zu more", count - 2 * SHOWN);
            continue;
        }
        tz_fact_text(facts, NULL, "step %lld: height %d: %s", tz_json_int(entry, "step"),
                     (int)tz_json_int(json_object_get(entry, "to"), "height"),
                     tz_json_text(entry, "reason"));
    }
    for (size_t i = 0; i < json_array_size(measured); i++) {
        const json_t *entry = json_array_get(measured, i);
        const json_t *time = json_object_get(entry, "seconds_per_iteration");
        if (json_is_number(time) &&
            (!fastest ||
             json_number_value(time) < tz_json_number(fastest, "seconds_per_iteration")))
            fastest = entry;
    }
    if (fastest) {
        char text[TZ_PLAN_TEXT_SIZE], time[TZ_TEXT_SIZE];
        plan_text(fastest, dims, text, sizeof text);
        tz_format_seconds(tz_json_number(fastest, "seconds_per_iteration"), time, sizeof time);
        tz_fact_text(facts, NULL, "the fastest of %zu measured: %s: %s an iteration",
                     json_array_size(measured), text, time);
    }
}

/* How ghost zones got from rank to rank. */
static void put_paths(tz_facts *facts, const json_t *exchanges)
{
    const json_t *between = json_object_get(exchanges, "between_ranks");
    const int direct = (int)tz_json_int(between, "direct"),
              by_host = (int)tz_json_int(between, "through_host");
    const char *why = json_string_value(json_object_get(between, "why"));
    if (direct > 0)
        tz_fact_text(facts, NULL,
                     "between ranks: from one device's memory to the other's, at %d cut%s", direct,
                     direct == 1 ? "" : "s");
    if (by_host > 0)
        tz_fact_text(facts, NULL, "between ranks: through the host, at %d cut%s%s%s", by_host,
                     by_host == 1 ? "" : "s", why ? ": " : "", why ? why : "");
}

/* How several devices held the grid, and what they exchanged. */
static void put_exchanges(tz_facts *facts, const json_t *simulation)
{
    const json_t *devices = json_object_get(simulation, "devices"),
                 *exchanges = json_object_get(simulation, "exchanges");
    const double count = tz_json_number(exchanges, "count"),
                 bytes = tz_json_number(exchanges, "bytes"),
                 seconds = tz_json_number(exchanges, "seconds"),
                 all_s = tz_json_number(simulation, "seconds");
    char time[TZ_TEXT_SIZE], each[TZ_TEXT_SIZE];
    if (json_array_size(devices) < 2)
        return;
    FILE *out = tz_fact(facts, "devices");
    fprintf(out, "%zu slabs:", json_array_size(devices));
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *slab = json_array_get(devices, i);
        fprintf(out, "%s %d to %d", i ? "," : "", (int)tz_json_int(slab, "from"),
                (int)tz_json_int(slab, "to"));
    }
    if (json_is_string(json_object_get(simulation, "shares")))
        fprintf(out, "; shares %s", tz_json_text(simulation, "shares"));
    if (!(count > 0)) {
        fprintf(out, "\n           no exchange");
        return;
    }
    if (!json_is_number(json_object_get(exchanges, "seconds"))) {
        tz_fact_text(facts, "exchange",
                     "%.0f times, %.4g kB each; devices that copy by themselves are timed only "
                     "with --sync",
                     count, bytes / count * 1e-3);
        put_paths(facts, exchanges);
        return;
    }
    tz_format_seconds(seconds, time, sizeof time);
    tz_format_seconds(seconds / count, each, sizeof each);
    out = tz_fact(facts, "exchange");
    fprintf(out, "%.0f times in %s, %s and %.4g kB each", count, time, each, bytes / count * 1e-3);
    if (all_s > 0)
        fprintf(out, ": %.2g %% of the time", 100 * seconds / all_s);
    put_paths(facts, exchanges);
}

static void put_cost(tz_facts *facts, const json_t *simulation, const json_t *plans,
                     const json_t *most, int dims)
{
    double other_s = 0, all_s = 0, rest_s = 0;
    long long rest_steps = 0;
    bool first = true;
    for (size_t i = 0; i < json_array_size(plans); i++) {
        const json_t *entry = json_array_get(plans, i);
        const double seconds = tz_json_number(entry, "seconds");
        char text[TZ_PLAN_TEXT_SIZE], time[TZ_TEXT_SIZE], each[TZ_TEXT_SIZE];
        all_s += seconds;
        other_s += entry == most ? 0 : seconds;
        if (tz_is_rest(entry) && entry != most) {
            rest_s += seconds;
            rest_steps += tz_json_int(entry, "steps");
            continue;
        }
        plan_text(entry, dims, text, sizeof text);
        tz_format_seconds(seconds, time, sizeof time);
        tz_format_seconds(seconds_per_step(entry), each, sizeof each);
        tz_fact_text(facts, first ? "ran" : NULL,
                     "%s\n           %lld stages, %lld"
                     " steps in %s: %s an iteration\n           because: %s",
                     text, tz_json_int(entry, "stages"), tz_json_int(entry, "steps"), time, each,
                     tz_json_text(entry, "why"));
        first = false;
    }
    if (rest_steps > 0) {
        char time[TZ_TEXT_SIZE];
        tz_format_seconds(rest_s, time, sizeof time);
        tz_fact_text(facts, NULL,
                     "%lld steps in %s by shorter stages, up to outputs, checks and the "
                     "end",
                     rest_steps, time);
    }
    if (other_s > 0.02 * all_s)
        tz_fact_text(facts, NULL, "%.0f %% of the time went into shorter stages and trials",
                     100 * other_s / all_s);
    put_policy(facts, json_object_get(simulation, "policy"), dims);
}

/* The prediction for the plan that ran: its row of the table, else one made for this plan alone. */
static tz_status predict_used(const tz_workload *workload, const tz_prediction_table *table,
                              const tz_plan *used, tz_model_prediction *out, char *why, size_t size,
                              tz_error *error)
{
    for (int i = 0; i < table->count; i++)
        if (tz_plan_equal(&table->rows[i].plan, used)) {
            *out = table->rows[i].prediction;
            snprintf(why, size, "%s", table->rows[i].prediction.limit_text);
            return TZ_OK;
        }
    tz_prediction_table *one = NULL;
    const tz_prediction_request request = {.given = *used};
    const tz_status status = tz_prediction_table_create(&one, workload, &request, error);
    if (status != TZ_OK)
        return status;
    *out = one->rows[one->best].prediction;
    snprintf(why, size, "%s", one->why);
    tz_prediction_table_destroy(one);
    return TZ_OK;
}

/* ---- Forecasts ------------------------------------------------------------------------------- */

/* What the model says about a simulation and the plan that it used. Making it takes some 10 ms;
 * simulations in a row that are equal in all that it depends on share it. */
typedef struct forecast {
    const json_t *simulation; /* the first one that it was made for; borrowed */
    tz_plan used;
    tz_status status;
    tz_error error; /* why there is no workload or no table */
    tz_workload *workload;
    tz_prediction_table *table;
    tz_status used_status;
    tz_error used_error; /* why there is no prediction for the plan that it used */
    tz_model_prediction prediction;
    char why[256];
} forecast;

static void forecast_destroy(forecast *f)
{
    if (!f)
        return;
    tz_prediction_table_destroy(f->table);
    tz_workload_destroy(f->workload);
    free(f);
}

/* Of the runs' simulations: what the last one was forecast, and the last error, which is not
 * repeated. */
typedef struct forecasts {
    forecast *last;
    tz_error said;
} forecasts;

static bool needs_same_forecast(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"stencil", "grid",    "precision", "boundary",
                                       "backend", "threads", "params",    "boundary_values",
                                       "devices", "storage", "copies"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        if (x != y && !json_equal(x, y))
            return false;
    }
    return true;
}

static forecast *forecast_create(const json_t *simulation, const recorded *r, const char *device,
                                 const tz_plan *used)
{
    forecast *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    const tz_workload_config config = {
        .simulation = &r->config, .device = device, .let_unstable = true};
    const tz_prediction_request request = {.all = true};
    f->simulation = simulation;
    f->used = *used;
    f->status = tz_workload_create(&f->workload, &config, &f->error);
    if (f->status == TZ_OK)
        f->status = tz_prediction_table_create(&f->table, f->workload, &request, &f->error);
    if (f->status == TZ_OK)
        f->used_status = predict_used(f->workload, f->table, used, &f->prediction, f->why,
                                      sizeof f->why, &f->used_error);
    return f;
}

/* NULL: not enough memory. */
static const forecast *forecast_get(forecasts *all, const json_t *simulation, const recorded *r,
                                    const char *device, const tz_plan *used)
{
    if (all->last && tz_plan_equal(&all->last->used, used) &&
        needs_same_forecast(all->last->simulation, simulation))
        return all->last;
    forecast_destroy(all->last);
    return all->last = forecast_create(simulation, r, device, used);
}

/* The times of shorter runs say little of the model. */
static const double SECONDS_LEAST = 0.5;

static void put_verdict(tz_facts *facts, const forecast *f, const json_t *entry, double all_s)
{
    const tz_prediction_table *table = f->table;
    const tz_plan *used = &f->used;
    const tz_prediction_row *best = &table->rows[table->best];
    const double measured = seconds_per_step(entry);
    const double best_s = tz_power_time(&best->prediction);
    char plan[2 * TZ_TEXT_SIZE], time[TZ_TEXT_SIZE];
    double predicted = NAN;
    if (f->used_status == TZ_OK) {
        predicted = tz_power_time(&f->prediction);
        tz_format_seconds(predicted, time, sizeof time);
        FILE *out = tz_fact(facts, "model");
        fprintf(out, "%s predicts %s an iteration for height %d", table->by->name, time,
                used->height);
        if (isfinite(measured))
            fprintf(out, ", %.0f %% %s than it took", 100 * fabs(predicted / measured - 1),
                    predicted < measured ? "less" : "more");
        fprintf(out, "\n           %s", f->why);
        if (all_s > SECONDS_LEAST && fabs(predicted / measured - 1) > TZ_MODEL_OFF)
            tz_fact_text(facts, NULL, "the model is off by %.0f %%: calibrate (trapeze calibrate)",
                         100 * fabs(predicted / measured - 1));
        if (tz_power_text(&f->prediction, plan, sizeof plan))
            tz_fact_text(facts, NULL, "power %s", plan);
    } else {
        tz_fact_text(facts, "model", "has no prediction for that plan: %s", f->used_error.message);
    }
    tz_plan_text(&best->plan, f->workload->problem.dims, plan, sizeof plan);
    tz_format_seconds(best_s, time, sizeof time);
    if (f->workload->place.devices && f->used_status == TZ_OK)
        tz_fact_text(facts, NULL, "by the model, exchanges take %.2g %% of that",
                     100 * tz_prediction_exchange_share(&f->prediction));
    if (tz_plan_equal(&best->plan, used)) {
        tz_fact_text(facts, "better", "nothing: that is the model's own choice of %d plans",
                     table->considered);
    } else if (!(best_s < 0.995 * predicted)) {
        tz_fact_text(facts, "better",
                     "nothing that matters: the model's own choice, %s, would take %s", plan, time);
    } else {
        const double share = 1 - best_s / predicted;
        char saved[TZ_TEXT_SIZE];
        tz_format_seconds(share * all_s, saved, sizeof saved);
        tz_fact_text(facts, "better",
                     "%s: %s an iteration by the model,\n           %.0f %% less: some %s of "
                     "this run\n           because: %s",
                     plan, time, 100 * share, saved, table->why);
    }
    tz_fact_text(facts, NULL, "%s", table->limits);
    for (int n = 0; n < table->notes.count; n++)
        tz_fact_text(facts, n == 0 ? "notes" : NULL, "%s", table->notes.text[n]);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void put_heading(tz_facts *facts, const json_t *simulation, const recorded *r,
                        const tz_workload *workload)
{
    facts->width = NAME_WIDTH;
    if (workload)
        tz_facts_part(facts, 0, "\n%s: %s on %s, %s, %s; backend %s",
                      tz_json_text(simulation, "name"), r->config.stencil, workload->grid,
                      workload->precision, workload->boundary, r->config.backend);
    else
        tz_facts_part(facts, 0, "\n%s: %s", tz_json_text(simulation, "name"), r->config.stencil);
}

/* What the formulas of a stencil cost, from comments of its text (define/source.c). */
static void put_operations(tz_facts *facts, const recorded *r, const char *mark, const char *name)
{
    const tz_stencil *stencil;
    if (tz_registry_find(r->config.registry, r->config.stencil, &stencil, NULL, NULL))
        return;
    const char *at = stencil->passes[0].text;
    while (at && (at = strstr(at, mark))) {
        at += strlen(mark);
        const char *end = strstr(at, " */");
        if (end)
            tz_fact_text(facts, name, "%.*s", (int)(end - at), at);
        name = NULL;
    }
}

static int explain_one(tz_facts *facts, const json_t *simulation, const tz_registry *registry,
                       const char *device, forecasts *all)
{
    recorded r;
    tz_plan used;
    read_config(simulation, registry, &r);
    const json_t *plans = json_object_get(simulation, "plans"), *most = tz_main_plan(simulation);
    const bool readable = most && tz_plan_from_json(most, &used);
    const forecast *f = readable ? forecast_get(all, simulation, &r, device, &used) : NULL;
    put_heading(facts, simulation, &r, f ? f->workload : NULL);
    if (!most) {
        facts->width = 0;
        tz_fact_text(facts, "", "%s: there is nothing to explain",
                     json_object_get(simulation, "jump") ? "it jumped, without a plan"
                                                         : "nothing ran");
        return EXIT_DONE;
    }
    put_cost(facts, simulation, plans, most, r.config.dims);
    put_operations(facts, &r, "/* Temporaries: ", "temporary");
    put_operations(facts, &r, "/* Shared: ", "shared");
    if (!readable)
        return tz_fail_text(EXIT_FAILED,
                            "run.json: its plan is not one that this version can read");
    if (!f)
        return tz_fail_text(EXIT_FAILED, "not enough memory for a prediction");
    put_exchanges(facts, simulation);
    if (f->status == TZ_OK)
        put_verdict(facts, f, most, tz_json_number(simulation, "seconds"));
    /* What the run did is explained without a record of this machine, too. */
    const bool no_record = f->status == TZ_UNSUPPORTED && !device;
    if (no_record)
        tz_fact_text(facts, "model", "no prediction: %s", f->error.message);
    tz_facts_part_end(facts);
    fflush(stdout);
    if (f->status == TZ_OK || no_record)
        return EXIT_DONE;
    if (strcmp(f->error.message, all->said.message) != 0)
        tz_fail(EXIT_FAILED, &f->error);
    all->said = f->error;
    return EXIT_FAILED;
}

/* Define the stencils again that the run's scenario defined, from the copy in its folder. What
 * fails shows when a stencil is not found. */
static void define_again(const json_t *root, const char *folder, tz_plugins *plugins,
                         tz_error *error)
{
    const json_t *simulations = json_object_get(root, "simulations");
    bool any = false;
    for (size_t i = 0; i < json_array_size(simulations); i++)
        any = any || json_object_get(json_object_get(json_array_get(simulations, i), "plugin"),
                                     "definition");
    tz_replay replay = {.path = NULL};
    char path[PATH_MAX];
    const char *name;
    json_t *value;
    snprintf(path, sizeof path, "%s/scenario.lua", folder);
    replay.path = path;
    json_object_foreach(json_object_get(root, "args"), name, value)
    {
        char pair[1024];
        snprintf(pair, sizeof pair, "%s=%s", name, json_string_value(value));
        if (json_is_string(value))
            tz_paths_add(&replay.sets, pair, error);
    }
    error->message[0] = '\0';
    if (any)
        tz_plugins_define(plugins, &replay, error);
    tz_replay_clear(&replay);
}

static int explain(tz_facts *facts, const char *folder, tz_plugins *plugins, const char *device)
{
    tz_machine machine;
    tz_error undefined;
    json_t *root = tz_run_load(folder);
    if (!root)
        return EXIT_FAILED;
    define_again(root, folder, plugins, &undefined);
    const tz_registry *registry = plugins->registry;
    tz_machine_read(&machine);
    const char *cpu = tz_json_text(json_object_get(root, "machine"), "cpu");
    tz_facts_part(facts, 0, "%s", folder);
    if (!device && strcmp(cpu, machine.cpu) != 0)
        tz_fact_text(facts, "",
                     "it ran on a machine with %s; the predictions are for this machine, with %s",
                     cpu, machine.cpu);
    const json_t *simulations = json_object_get(root, "simulations");
    int code = EXIT_DONE;
    forecasts all = {.last = NULL};
    for (size_t i = 0; i < json_array_size(simulations); i++) {
        const int one = explain_one(facts, json_array_get(simulations, i), registry, device, &all);
        code = code == EXIT_DONE ? one : code;
    }
    if (code != EXIT_DONE && undefined.message[0])
        tz_fail_text(EXIT_FAILED, "the run's scenario does not define its stencils again: %s",
                     undefined.message);
    if (json_array_size(simulations) == 0)
        tz_fact_text(facts, "", "no simulation: there is nothing to explain");
    forecast_destroy(all.last);
    json_decref(root);
    return code;
}

/* What could be explained is printed after an error, too. */
static int print(const char *folder, tz_plugins *plugins, const char *device, tz_form form)
{
    tz_facts facts;
    if (!tz_facts_begin(&facts, form, stdout))
        return EXIT_FAILED;
    const int code = explain(&facts, folder, plugins, device);
    tz_facts_end(&facts);
    const int written = tz_finish_output();
    return code == EXIT_DONE ? written : code;
}

static int explain_call(const tz_command *command, int argc, char **argv)
{
    tz_plugins plugins = {0};
    const char *device = NULL;
    tz_form form = TZ_FORM_TEXT;
    const tz_option options[] = {TZ_TEXT("device", &device),
                                 TZ_FORMS(&form),
                                 TZ_PATHS("plugins", &plugins.given),
                                 {.name = NULL}};
    int code = tz_options_read(command, argc, argv, options);
    if (code == TZ_OPTIONS_GO_ON && optind + 1 != argc)
        code = tz_misuse(command, optind == argc ? "needs a run folder" : "takes one run folder");
    if (code == TZ_OPTIONS_GO_ON)
        code =
            tz_plugins_open(&plugins) ? print(argv[optind], &plugins, device, form) : EXIT_FAILED;
    tz_plugins_close(&plugins);
    return code;
}

const tz_command tz_command_explain = {
    .name = "explain",
    .examples = "  trapeze explain runs/chip-001\n"
                "  trapeze explain runs/chip-001 --device h200\n",
    .arguments = "RUNDIR [OPTION]…",
    .doc = "explain why a run used its plans, what they cost and what would have been better",
    .help = "  --device NAME|FILE   predict for this device record (default: this machine's)\n"
            "  --json, --csv        print JSON or CSV: the part, name and text of each line\n"
            "  --plugins DIR        look for plugins here first; may be repeated\n"
            "  -h, --help           print this\n",
    .call = explain_call,
};
