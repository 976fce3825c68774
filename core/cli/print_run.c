/* Prints a run's record: all facts, or a summary in a few lines. Called by cmd_info.c, and by
 * run_options.c after a run. */
#include "cli/command.h"

#include "base/number.h"
#include "sim/types.h"
#include <string.h>

static void print_number(FILE *out, const json_t *value)
{
    char number[TZ_NUMBER_SIZE];
    if (json_is_integer(value))
        fprintf(out, "%lld", json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%s", tz_number_short(number, json_real_value(value)));
    else if (json_is_boolean(value))
        fprintf(out, "%s", json_is_true(value) ? "true" : "false");
    else
        fprintf(out, "%s", json_is_string(value) ? json_string_value(value) : "?");
}

static void print_list(FILE *out, const json_t *list, const char *between)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i > 0)
            fprintf(out, "%s", between);
        print_number(out, json_array_get(list, i));
    }
}

static void put_params(tz_facts *facts, const json_t *params)
{
    const char *name;
    const json_t *entry;
    tz_facts_part(facts, 1, "parameters");
    json_object_foreach((json_t *)params, name, entry)
    {
        FILE *out = tz_fact(facts, name);
        print_number(out, json_object_get(entry, "value"));
        const char *unit = json_string_value(json_object_get(entry, "unit"));
        fprintf(out, "%s%s%s", unit && unit[0] ? " " : "", unit ? unit : "",
                json_is_true(json_object_get(entry, "given")) ? "  (given)" : "");
    }
}

static void put_fields(tz_facts *facts, const json_t *fields)
{
    const char *name;
    const json_t *list;
    tz_facts_part(facts, 1, "fields");
    json_object_foreach((json_t *)fields, name, list)
    {
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *entry = json_array_get(list, i);
            const json_t *seed = json_object_get(entry, "seed");
            FILE *out = tz_fact(facts, i == 0 ? name : NULL);
            fprintf(out, "%s", tz_json_text(entry, "source"));
            if (seed)
                fprintf(out, ", seed %lld", json_integer_value(seed));
        }
    }
}

/* "stream 8": family and height of a plan. */
static void print_plan_short(FILE *out, const json_t *plan)
{
    fprintf(out, "%s %lld", tz_json_text(plan, "family"), tz_json_int(plan, "height"));
}

static void print_decision(FILE *out, const json_t *d)
{
    const json_t *from = json_object_get(d, "from"), *times = json_object_get(d, "times");
    const json_t *time = json_object_get(d, "seconds_per_iteration");
    fprintf(out, "step %lld: ", tz_json_int(d, "step"));
    if (json_is_object(from) && json_equal((json_t *)from, json_object_get(d, "to"))) {
        fprintf(out, "keeps ");
    } else if (json_is_object(from)) {
        print_plan_short(out, from);
        fprintf(out, " → ");
    }
    print_plan_short(out, json_object_get(d, "to"));
    fprintf(out, ", %s", tz_json_text(d, "reason"));
    const double seconds = json_number_value(time);
    if (json_is_number(time) && seconds >= 1e-3)
        fprintf(out, " (%.4g ms an iteration)", 1e3 * seconds);
    else if (json_is_number(time))
        fprintf(out, " (%.4g us an iteration)", 1e6 * seconds);
    if (times)
        fprintf(out, ", %lld times", json_integer_value(times));
}

/* The decisions of the policy, without the middle of a long list. */
static void put_policy(tz_facts *facts, const json_t *policy)
{
    enum { FIRST = 6, LAST = 10 };
    const json_t *decisions = json_object_get(policy, "decisions");
    const size_t count = json_array_size(decisions);
    if (!json_is_object(policy)) /* of an older run */
        return;
    tz_fact_text(facts, "policy", "%s", tz_json_text(policy, "text"));
    for (size_t i = 0; count > 1 && i < count; i++) {
        if (count > FIRST + LAST && i == FIRST) {
            i = count - LAST;
            tz_fact_text(facts, NULL, "… %zu more, all in run.json …", i - FIRST);
        }
        print_decision(tz_fact(facts, NULL), json_array_get(decisions, i));
    }
    const long long left_out = tz_json_int(policy, "decisions_left_out");
    if (left_out > 0)
        tz_fact_text(facts, NULL, "and %lld that run.json does not hold", left_out);
}

static void put_jumps(tz_facts *facts, const json_t *jump)
{
    if (!jump)
        return;
    FILE *out = tz_fact(facts, "jumps");
    fprintf(out, "%lld of %lld steps", tz_json_int(jump, "jumps"), tz_json_int(jump, "steps"));
    const long long steady = tz_json_int(jump, "steady_states");
    if (steady > 0)
        fprintf(out, ", %lld to a steady state", steady);
    fprintf(out, ", in %.3g s, by %s", tz_json_number(jump, "seconds"),
            tz_json_text(jump, "library"));
}

static void put_steps(tz_facts *facts, const json_t *simulation)
{
    FILE *out = tz_fact(facts, "steps");
    fprintf(out, "%lld in %.3g s", tz_json_int(simulation, "steps"),
            tz_json_number(simulation, "seconds"));
    const json_t *rate = json_object_get(simulation, "gcells_per_s");
    if (json_is_number(rate))
        fprintf(out, ", %.3g GCells/s", json_number_value(rate));
    const json_t *energy = json_object_get(simulation, "joule_per_gcell");
    if (json_is_number(energy))
        fprintf(out, ", %.3g J/GCell", json_number_value(energy));
    const double set_up = tz_json_number(simulation, "set_up_seconds");
    if (set_up >= 1e-3)
        fprintf(out, "; %.3g s for kernels", set_up);
}

bool tz_is_rest(const json_t *plan)
{
    return strcmp(tz_json_text(plan, "why"), TZ_WHY_REST) == 0;
}

static const json_t *main_plan(const json_t *plans)
{
    const json_t *most = NULL, *plan;
    size_t i;
    json_array_foreach((json_t *)plans, i, plan)
    {
        if (!most || tz_json_int(plan, "steps") > tz_json_int(most, "steps"))
            most = plan;
    }
    return most;
}

const json_t *tz_main_plan(const json_t *simulation)
{
    return main_plan(json_object_get(simulation, "plans"));
}

/* `own`: the simulation's backend; those of others are named. */
static void put_plans(tz_facts *facts, const json_t *plans, const char *own)
{
    const json_t *main = main_plan(plans);
    long long stages = 0, steps = 0;
    bool first = true;
    for (size_t i = 0; i < json_array_size(plans); i++) {
        const json_t *plan = json_array_get(plans, i);
        const char *backend = json_string_value(json_object_get(plan, "backend"));
        if (tz_is_rest(plan) && plan != main) {
            stages += tz_json_int(plan, "stages");
            steps += tz_json_int(plan, "steps");
            continue;
        }
        FILE *out = tz_fact(facts, first ? "plan" : NULL);
        first = false;
        if (backend && strcmp(backend, own) != 0)
            fprintf(out, "%s: ", backend);
        fprintf(out, "%s, height %lld, tile ", tz_json_text(plan, "family"),
                tz_json_int(plan, "height"));
        print_list(out, json_object_get(plan, "tile"), " x ");
        fprintf(out, ", %lld stages: %s", tz_json_int(plan, "stages"), tz_json_text(plan, "why"));
    }
    if (stages > 0)
        tz_fact_text(facts, NULL,
                     "%lld shorter stages, %lld steps, up to outputs, checks and the end", stages,
                     steps);
}

static void put_simulation(tz_facts *facts, const json_t *simulation)
{
    enum { NAME_WIDTH = 12, LONG_NAME_WIDTH = 24 };
    tz_facts_part(facts, 0, "\n%s: %s", tz_json_text(simulation, "name"),
                  tz_json_text(simulation, "stencil"));
    facts->indent = 2;
    facts->width = NAME_WIDTH;
    print_list(tz_fact(facts, "grid"), json_object_get(simulation, "grid"), " x ");
    const json_t *parent = json_object_get(simulation, "parent");
    if (parent)
        tz_fact_text(facts, "from", "%s at step %lld (%s)", tz_json_text(parent, "folder"),
                     tz_json_int(parent, "step"), tz_json_text(parent, "kind"));
    const json_t *storage = json_object_get(simulation, "storage");
    tz_fact_text(facts, "precision", "%s%s%s", tz_json_text(simulation, "precision"),
                 storage ? ", stored as half" : "",
                 json_object_get(simulation, "copies") ? ", one copy of each field" : "");
    print_list(tz_fact(facts, "boundary"), json_object_get(simulation, "boundary"), ", ");
    const char *why = json_string_value(json_object_get(simulation, "backend_why"));
    tz_fact_text(facts, "backend", "%s, %lld threads%s%s", tz_json_text(simulation, "backend"),
                 tz_json_int(simulation, "threads"), why ? "; " : "", why ? why : "");
    put_steps(facts, simulation);
    put_jumps(facts, json_object_get(simulation, "jump"));
    const json_t *time = json_object_get(simulation, "time");
    if (json_is_number(time)) {
        FILE *out = tz_fact(facts, "time");
        print_number(out, time);
        fprintf(out, " %s", tz_json_text(simulation, "time_unit"));
    }
    put_plans(facts, json_object_get(simulation, "plans"), tz_json_text(simulation, "backend"));
    put_policy(facts, json_object_get(simulation, "policy"));
    facts->indent = 4;
    facts->width = LONG_NAME_WIDTH;
    put_params(facts, json_object_get(simulation, "params"));
    put_fields(facts, json_object_get(simulation, "fields"));
    tz_facts_part_end(facts);
    facts->indent = 2;
    facts->width = NAME_WIDTH;
    const char *pattern;
    const json_t *output;
    json_object_foreach(json_object_get(simulation, "outputs"), pattern, output)
    {
        tz_fact_text(facts, tz_json_text(output, "kind"), "%s: %lld", pattern,
                     tz_json_int(output, "count"));
    }
}

void tz_print_run(tz_facts *facts, const json_t *record)
{
    const json_t *simulations = json_object_get(record, "simulations");
    for (size_t i = 0; i < json_array_size(simulations); i++)
        put_simulation(facts, json_array_get(simulations, i));
}

/* ---- In a few lines -------------------------------------------------------------------------- */

/* The simulation that took most of the time. */
static const json_t *longest(const json_t *simulations)
{
    const json_t *most = json_array_get(simulations, 0), *simulation;
    size_t i;
    json_array_foreach((json_t *)simulations, i, simulation)
    {
        if (tz_json_number(simulation, "seconds") > tz_json_number(most, "seconds"))
            most = simulation;
    }
    return most;
}

/* "1000 steps", "44 jumps over 900 steps". */
static void sum_up_steps(FILE *out, const json_t *simulation, long long steps)
{
    const json_t *jump = json_object_get(simulation, "jump");
    const long long jumps = tz_json_int(jump, "jumps");
    if (steps > 0 || jumps == 0)
        fprintf(out, "%lld step%s", steps, steps == 1 ? "" : "s");
    if (jumps > 0)
        fprintf(out, "%s%lld jump%s over %lld steps", steps > 0 ? ", " : "", jumps,
                jumps == 1 ? "" : "s", tz_json_int(jump, "steps"));
}

/* "hotspot 64 x 64, single: 1000 steps, done" */
static void sum_up_work(FILE *out, const json_t *simulation, const tz_summary *about)
{
    fprintf(out, "%s ", tz_json_text(simulation, "stencil"));
    print_list(out, json_object_get(simulation, "grid"), " x ");
    if (strcmp(tz_json_text(simulation, "precision"), "none") != 0)
        fprintf(out, ", %s%s", tz_json_text(simulation, "precision"),
                json_object_get(simulation, "storage") ? " stored as half" : "");
    fprintf(out, ": ");
    sum_up_steps(out, simulation, about->steps);
    if (about->more > 0)
        fprintf(out, " with %zu shorter simulation%s", about->more, about->more == 1 ? "" : "s");
    fprintf(out, ", %s\n", about->ending);
}

/* How a plan came about, from "NAME: height N, HOW" or "NAME: HOW". */
static const char *how_chosen(const json_t *policy)
{
    static const char height[] = "height ";
    const char *text = tz_json_text(policy, "text"), *how = strstr(text, ": ");
    how = how ? how + 2 : text;
    if (strncmp(how, height, sizeof height - 1) == 0)
        how = strchr(how, ',') ? strchr(how, ',') + 2 : "";
    if (strcmp(how, "not predicted") == 0)
        return "by default, not predicted (trapeze calibrate)";
    if (how[0])
        return how;
    return strcmp(tz_json_text(policy, "name"), "fixed") == 0 ? "as given"
                                                              : tz_json_text(policy, "name");
}

/* "0.42 s, 0.62 GCells/s by cpu with 2 threads, 24 steps at a time (diamond), predicted" */
static void sum_up_speed(FILE *out, const json_t *simulation, const tz_summary *about)
{
    const long long threads = tz_json_int(simulation, "threads");
    const json_t *plan = tz_main_plan(simulation), *policy = json_object_get(simulation, "policy");
    const char *backend = tz_json_text(simulation, "backend");
    const char *why = json_string_value(json_object_get(simulation, "backend_why"));
    fprintf(out, "  ");
    if (about->seconds > 0)
        fprintf(out, "%.3g s, %.3g GCells/s ", about->seconds,
                1e-9 * about->updates / about->seconds);
    fprintf(out, "by %s", backend);
    if (strcmp(backend, "cpu") == 0)
        fprintf(out, " with %lld thread%s", threads, threads == 1 ? "" : "s");
    else
        fprintf(out, " on %s", tz_json_text(simulation, "device"));
    if (why || json_is_true(json_object_get(simulation, "backend_given")))
        fprintf(out, " (%s%s%s)",
                json_is_true(json_object_get(simulation, "backend_given")) ? about->by : "auto",
                why ? ": " : "", why ? why : "");
    if (plan)
        fprintf(out, ", %lld step%s at a time (%s), %s", tz_json_int(plan, "height"),
                tz_json_int(plan, "height") == 1 ? "" : "s", tz_json_text(plan, "family"),
                tz_is_rest(plan) ? TZ_WHY_REST : how_chosen(policy));
    fprintf(out, "\n");
}

/* Files are "PATTERN: count". Returns how many were named before, and are now. */
static int sum_up_files(FILE *out, const json_t *simulation, int named, int most)
{
    const char *pattern;
    const json_t *output;
    json_object_foreach(json_object_get(simulation, "outputs"), pattern, output)
    {
        const long long count = tz_json_int(output, "count");
        const char *kind = tz_json_text(output, "kind");
        const bool rows = strcmp(kind, "table") == 0;
        if (count > 0 && strcmp(kind, "function") != 0 && named++ < most)
            fprintf(out, "%s%s (%lld%s%s)", named == 1 ? ": " : ", ", pattern, count,
                    rows ? " row" : "", rows && count != 1 ? "s" : "");
    }
    return named;
}

void tz_print_run_summary(FILE *out, const json_t *record, const tz_summary *about)
{
    enum { FILES = 4 };
    const json_t *simulations = json_object_get(record, "simulations");
    const json_t *files = json_object_get(record, "files"), *file;
    const size_t count = json_array_size(simulations);
    tz_summary all = *about;
    int named = 0;
    all.more = count > 0 ? count - 1 : 0;
    if (count > 0)
        sum_up_work(out, longest(simulations), &all);
    if (count > 0 && about->steps > 0)
        sum_up_speed(out, longest(simulations), &all);
    if (!about->folder[0])
        return;
    fprintf(out, "  in %s", about->folder);
    for (size_t i = 0; i < count; i++)
        named = sum_up_files(out, json_array_get(simulations, i), named, FILES);
    size_t i;
    json_array_foreach((json_t *)files, i, file)
    {
        if (named++ < FILES)
            fprintf(out, "%s%s", named == 1 ? ": " : ", ", json_string_value(file));
    }
    if (named > FILES)
        fprintf(out, " and %d more", named - FILES);
    fprintf(out, "\n");
}
