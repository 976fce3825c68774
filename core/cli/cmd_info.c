/* trapeze info: shows what a frame, an array or a run holds. */
#include "cli/options.h"

#include "base/text.h"
#include "output/checkpoints.h"
#include "output/folder.h"
#include "output/format/npy.h"
#include "output/format/number.h"
#include "output/format/png_info.h"
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- A frame --------------------------------------------------------------------------------- */

static int info_png(const char *path)
{
    tz_png_facts facts;
    tz_error error;
    memset(&facts, 0, sizeof facts);
    if (tz_png_read_text(path, &facts, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    printf("%s\n  %-12s %u x %u pixels, %s, %d bits\n", path, facts.frames ? "movie" : "picture",
           facts.width, facts.height, facts.colour_name, facts.bit_depth);
    if (facts.frames)
        printf("  %-12s %u\n", "frames", facts.frames);
    for (size_t i = 0; i < facts.text_count; i++) {
        tz_text_printable(facts.texts[i].key);
        tz_text_printable(facts.texts[i].value);
        printf("  %-12s %s\n", facts.texts[i].key, facts.texts[i].value);
    }
    if (facts.text_count == 0)
        printf("  it holds no texts: trapeze did not write it\n");
    tz_png_facts_clear(&facts);
    return tz_finish_output();
}

static int info_npy(const char *path)
{
    tz_npy_facts facts;
    tz_error error;
    if (tz_npy_inspect(path, &facts, &error) != TZ_OK)
        return tz_fail(EXIT_FAILED, &error);
    printf("%s\n  %-12s", path, "shape");
    for (int axis = 0; axis < facts.dims; axis++)
        printf("%s %" PRId64, axis > 0 ? " x" : "", facts.shape[axis]);
    printf(" (x first)\n  %-12s %s%s%s%s\n", "numbers", tz_dtype_name(facts.dtype),
           facts.half ? ", stored in half precision" : "", facts.swapped ? ", bytes swapped" : "",
           facts.fortran ? ", Fortran order" : "");
    return tz_finish_output();
}

/* ---- A run ----------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "?";
}

static void print_number(const json_t *value)
{
    char number[TZ_NUMBER_SIZE];
    if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        printf("%s", tz_number_format(number, json_real_value(value)));
    else if (json_is_boolean(value))
        printf("%s", json_is_true(value) ? "true" : "false");
    else
        printf("%s", json_is_string(value) ? json_string_value(value) : "?");
}

static void print_list(const json_t *list, const char *between)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (i > 0)
            printf("%s", between);
        print_number(json_array_get(list, i));
    }
}

static void print_params(const json_t *params)
{
    const char *name;
    const json_t *entry;
    json_object_foreach((json_t *)params, name, entry)
    {
        printf("    %-24s ", name);
        print_number(json_object_get(entry, "value"));
        const char *unit = json_string_value(json_object_get(entry, "unit"));
        printf("%s%s%s\n", unit && unit[0] ? " " : "", unit ? unit : "",
               json_is_true(json_object_get(entry, "given")) ? "  (given)" : "");
    }
}

static void print_fields(const json_t *fields)
{
    const char *name;
    const json_t *list;
    json_object_foreach((json_t *)fields, name, list)
    {
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *entry = json_array_get(list, i);
            const json_t *seed = json_object_get(entry, "seed");
            printf("    %-24s %s", i == 0 ? name : "", text_of(entry, "source"));
            if (seed)
                printf(", seed %" JSON_INTEGER_FORMAT, json_integer_value(seed));
            printf("\n");
        }
    }
}

/* "stream 8": family and height of a plan. */
static void print_plan_short(const json_t *plan)
{
    printf("%s %" JSON_INTEGER_FORMAT, text_of(plan, "family"),
           json_integer_value(json_object_get(plan, "height")));
}

/* The decisions of the policy, without the middle of a long list. */
static void print_policy(const json_t *policy)
{
    enum { FIRST = 6, LAST = 10 };
    const json_t *decisions = json_object_get(policy, "decisions");
    const size_t count = json_array_size(decisions);
    if (!json_is_object(policy)) /* of an older run */
        return;
    printf("  %-12s %s\n", "policy", text_of(policy, "text"));
    for (size_t i = 0; count > 1 && i < count; i++) {
        if (count > FIRST + LAST && i == FIRST) {
            i = count - LAST;
            printf("  %-12s … %zu more, all in run.json …\n", "", i - FIRST);
        }
        const json_t *d = json_array_get(decisions, i);
        const json_t *from = json_object_get(d, "from"), *times = json_object_get(d, "times");
        const json_t *time = json_object_get(d, "seconds_per_iteration");
        printf("  %-12s step %" JSON_INTEGER_FORMAT ": ", "",
               json_integer_value(json_object_get(d, "step")));
        if (json_is_object(from) && json_equal((json_t *)from, json_object_get(d, "to"))) {
            printf("keeps ");
        } else if (json_is_object(from)) {
            print_plan_short(from);
            printf(" → ");
        }
        print_plan_short(json_object_get(d, "to"));
        printf(", %s", text_of(d, "reason"));
        const double seconds = json_number_value(time);
        if (json_is_number(time) && seconds >= 1e-3)
            printf(" (%.4g ms an iteration)", 1e3 * seconds);
        else if (json_is_number(time))
            printf(" (%.4g us an iteration)", 1e6 * seconds);
        if (times)
            printf(", %" JSON_INTEGER_FORMAT " times", json_integer_value(times));
        printf("\n");
    }
    const json_int_t left_out = json_integer_value(json_object_get(policy, "decisions_left_out"));
    if (left_out > 0)
        printf("  %-12s and %" JSON_INTEGER_FORMAT " that run.json does not hold\n", "", left_out);
}

static void print_jumps(const json_t *jump)
{
    if (!jump)
        return;
    printf("  %-12s %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " steps", "jumps",
           json_integer_value(json_object_get(jump, "jumps")),
           json_integer_value(json_object_get(jump, "steps")));
    const json_int_t steady = json_integer_value(json_object_get(jump, "steady_states"));
    if (steady > 0)
        printf(", %" JSON_INTEGER_FORMAT " to a steady state", steady);
    printf(", in %.3g s, by %s\n", json_number_value(json_object_get(jump, "seconds")),
           text_of(jump, "library"));
}

static void print_simulation(const json_t *simulation)
{
    printf("\n%s: %s\n  %-12s ", text_of(simulation, "name"), text_of(simulation, "stencil"),
           "grid");
    print_list(json_object_get(simulation, "grid"), " x ");
    printf("\n  %-12s %s\n  %-12s ", "precision", text_of(simulation, "precision"), "boundary");
    print_list(json_object_get(simulation, "boundary"), ", ");
    printf("\n  %-12s %s, %" JSON_INTEGER_FORMAT " threads\n", "backend",
           text_of(simulation, "backend"),
           json_integer_value(json_object_get(simulation, "threads")));
    printf("  %-12s %" JSON_INTEGER_FORMAT " in %.3g s", "steps",
           json_integer_value(json_object_get(simulation, "steps")),
           json_number_value(json_object_get(simulation, "seconds")));
    const json_t *rate = json_object_get(simulation, "gcells_per_s");
    if (json_is_number(rate))
        printf(", %.3g GCells/s", json_number_value(rate));
    const json_t *energy = json_object_get(simulation, "joule_per_gcell");
    if (json_is_number(energy))
        printf(", %.3g J/GCell", json_number_value(energy));
    printf("\n");
    print_jumps(json_object_get(simulation, "jump"));
    const json_t *time = json_object_get(simulation, "time");
    if (json_is_number(time)) {
        printf("  %-12s ", "time");
        print_number(time);
        printf(" %s\n", text_of(simulation, "time_unit"));
    }
    const json_t *plans = json_object_get(simulation, "plans");
    for (size_t i = 0; i < json_array_size(plans); i++) {
        const json_t *plan = json_array_get(plans, i);
        printf("  %-12s %s, height %" JSON_INTEGER_FORMAT ", tile ", i == 0 ? "plan" : "",
               text_of(plan, "family"), json_integer_value(json_object_get(plan, "height")));
        print_list(json_object_get(plan, "tile"), " x ");
        printf(", %" JSON_INTEGER_FORMAT " stages: %s\n",
               json_integer_value(json_object_get(plan, "stages")), text_of(plan, "why"));
    }
    print_policy(json_object_get(simulation, "policy"));
    printf("  parameters\n");
    print_params(json_object_get(simulation, "params"));
    printf("  fields\n");
    print_fields(json_object_get(simulation, "fields"));
    const char *pattern;
    const json_t *output;
    json_object_foreach(json_object_get(simulation, "outputs"), pattern, output)
    {
        printf("  %-12s %s: %" JSON_INTEGER_FORMAT "\n", text_of(output, "kind"), pattern,
               json_integer_value(json_object_get(output, "count")));
    }
}

/* What there is of a run that was killed or has stopped, and how to go on with it. */
static void print_checkpoint(const char *folder, bool killed)
{
    tz_checkpoint_reader *reader = NULL;
    tz_error error = {0};
    if (tz_checkpoints_newest(&reader, folder, &error) != TZ_OK) {
        if (killed)
            printf("  %-12s %s\n", "checkpoint",
                   error.code == TZ_IO ? "none: the figures below are from its beginning; begin it "
                                         "again with trapeze run"
                                       : error.message);
        return;
    }
    const json_t *facts = tz_checkpoint_facts(reader), *entry;
    size_t i;
    printf("  %-12s number %" JSON_INTEGER_FORMAT " of %s", "checkpoint",
           json_integer_value(json_object_get(facts, "number")), text_of(facts, "written"));
    json_array_foreach(json_object_get(facts, "simulations"), i, entry)
    {
        printf(", %s at step %" JSON_INTEGER_FORMAT, text_of(entry, "name"),
               json_integer_value(json_object_get(json_object_get(entry, "progress"), "step")));
    }
    printf("; the figures below are those of it\n  %-12s trapeze resume %s\n", "to go on", folder);
    tz_checkpoint_close(reader);
}

static int info_run(const char *folder)
{
    json_t *root = tz_run_load(folder);
    if (!root)
        return EXIT_FAILED;
    const bool in_use = tz_folder_is_in_use(folder);
    const bool killed = strcmp(text_of(root, "status"), "running") == 0 && !in_use;
    const json_t *failure = json_object_get(root, "error");
    const json_t *machine = json_object_get(root, "machine");
    printf("%s\n  %-12s %s\n  %-12s %s\n", folder, "scenario", text_of(root, "scenario"), "status",
           killed ? "killed" : text_of(root, "status"));
    if (json_is_string(failure))
        printf("  %-12s %s\n", "error", json_string_value(failure));
    printf("  %-12s %s\n  %-12s %s, %s\n", "trapeze", text_of(root, "trapeze"), "machine",
           text_of(machine, "cpu"), text_of(machine, "isa"));
    if (!in_use)
        print_checkpoint(folder, killed);
    const json_t *simulations = json_object_get(root, "simulations");
    for (size_t i = 0; i < json_array_size(simulations); i++)
        print_simulation(json_array_get(simulations, i));
    json_decref(root);
    return tz_finish_output();
}

/* ---- The command ----------------------------------------------------------------------------- */

static int info_call(const tz_command *command, int argc, char **argv)
{
    static const tz_option none[] = {{.name = NULL}};
    const int code = tz_options_read(command, argc, argv, none);
    struct stat facts;
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (optind == argc)
        return tz_misuse(command, "needs a frame, an array or a run folder");
    if (optind + 1 != argc)
        return tz_misuse(command, "takes one file or folder, not '%.60s' too", argv[optind + 1]);
    const char *path = argv[optind];
    if (stat(path, &facts) != 0)
        return tz_fail_text(EXIT_FAILED, "%s: there is no such file or folder", path);
    if (S_ISDIR(facts.st_mode))
        return info_run(path);
    const char *suffix = strrchr(path, '.');
    if (suffix && strcasecmp(suffix, ".npy") == 0)
        return info_npy(path);
    if (suffix && strcasecmp(suffix, ".png") == 0)
        return info_png(path);
    return tz_fail_text(EXIT_FAILED, "%s: needs a .png or .npy file or the folder of a run", path);
}

const tz_command tz_command_info = {
    .name = "info",
    .arguments = "FRAME.png|ARRAY.npy|RUNDIR",
    .doc = "show what a frame, an array or a run holds",
    .help = "  -h, --help   print this\n",
    .call = info_call,
};
