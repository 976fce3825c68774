/* Device text run on the host and held against the reference backend: see usage(). */
#include "cases.h"

#include "tests/archetypes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 12, GROUP_SHOWN = 6 };

static int usage(void)
{
    fputs(
        "usage: test_simt [--stencil ID] [--family NAME] [--part K,N] [--plugins FOLDER]\n"
        "       test_simt --cases FILE --group NAME [--plugins FOLDER]\n"
        "       test_simt --stencil ID --grid NX[,NY[,NZ]] [--family NAME] [--height N]\n"
        "                 [--tile X[,Y[,Z]]] [--vector N] [--ahead N] [--warps N] [--blocks N]\n"
        "                 [--boundary NAME[:NAME][,...]] [--precision single|double|half|moved]\n"
        "                 [--steps N] [--seed N] [--slab 1|2] [--room PROCESSORS[,BLOCKS]] "
        "[--own-constants]\n"
        "                 [--points N] [--alike N] [--split PERCENT] [--param NAME=VALUE] [--keep "
        "FOLDER] "
        "[--plugins FOLDER]\n"
        "The texts of GPU kernels, compiled for this machine and run lane by lane, against the\n"
        "reference backend: prints races and the cells that differ. Without a grid, a choice of\n"
        "cases of every archetype and family; TZ_ALL in the environment runs all cases of every\n"
        "stencil, --part those whose number is K modulo N. --keep leaves the text in FOLDER. "
        "--room is\n"
        "how many multiprocessors a family believes there are, and how many blocks each takes.\n"
        "--alike fails if more than N lanes of a warp copy the same cells to shared memory at "
        "once,\n"
        "or if nothing is copied. --split fails if more than so many percent of the copies of 16\n"
        "bytes lie elsewhere in a sector of 32 bytes in shared memory than in device memory, or "
        "if\n"
        "there are none.\n",
        stderr);
    return 2;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

typedef struct options {
    simt_case k;
    const char *stencil, *boundary, *keep, *cases, *group;
    int part, parts; /* of every so many cases, that one; 0: all */
    int folders_count;
    const char *folders[8];
    tz_assignment params[8];
    char names[8][64];
} options;

static bool numbers(const char *text, int64_t *list, int most)
{
    char *end = (char *)text;
    for (int i = 0; i < most; i++) {
        list[i] = strtoll(text, &end, 10);
        if (end == text || (*end != ',' && *end != '\0'))
            return false;
        if (*end == '\0')
            return true;
        text = end + 1;
    }
    return false;
}

static bool read_param(options *o, const char *text)
{
    const size_t i = o->k.params_count, length = strcspn(text, "=");
    if (text[length] != '=' || length >= sizeof *o->names || i == 8)
        return false;
    char *end;
    memcpy(o->names[i], text, length);
    o->params[i] = (tz_assignment){.name = o->names[i], .number = strtod(text + length + 1, &end)};
    if (*end != '\0' || end == text + length + 1)
        o->params[i].text = text + length + 1;
    o->k.params = o->params;
    o->k.params_count++;
    return true;
}

static bool read_option(options *o, const char *name, const char *value)
{
    const struct {
        const char *name, **value;
    } texts[] = {{"--stencil", &o->stencil},
                 {"--cases", &o->cases},
                 {"--group", &o->group},
                 {"--boundary", &o->boundary},
                 {"--keep", &o->keep}};
    const struct {
        const char *name;
        int64_t *value;
        int most;
    } lists[] = {{"--grid", o->k.extent, 3},
                 {"--tile", o->k.plan.tile, 3},
                 {"--steps", &o->k.steps, 1},
                 {"--seed", (int64_t *)&o->k.seed, 1}};
    const struct {
        const char *name;
        int *value, *second;
    } counts[] = {{"--height", &o->k.plan.height, NULL},
                  {"--alike", &o->k.alike, NULL},
                  {"--split", &o->k.split, NULL},
                  {"--points", &o->k.points, NULL},
                  {"--slab", &o->k.slab, NULL},
                  {"--part", &o->part, &o->parts},
                  {"--room", &o->k.room.multiprocessors, &o->k.room.blocks_per_multiprocessor}};
    int64_t list[2] = {0, 0};
    for (int k = 0; k < TZ_PLAN_KNOBS_COUNT; k++)
        if (strncmp(name, "--", 2) == 0 && strcmp(name + 2, tz_plan_knobs[k].name) == 0) {
            const bool good = numbers(value, list, 1);
            tz_plan_set(&o->k.plan, k, (int)list[0]);
            return good;
        }
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (strcmp(name, texts[k].name) == 0) {
            *texts[k].value = value;
            return true;
        }
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        if (strcmp(name, lists[k].name) == 0)
            return numbers(value, lists[k].value, lists[k].most);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (strcmp(name, counts[k].name) == 0) {
            const bool good = numbers(value, list, 2);
            *counts[k].value = (int)list[0];
            if (counts[k].second && list[1] > 0)
                *counts[k].second = (int)list[1];
            return good;
        }
    if (strcmp(name, "--plugins") == 0 && o->folders_count < 8)
        o->folders[o->folders_count++] = value;
    else if (strcmp(name, "--family") == 0)
        snprintf(o->k.plan.family, sizeof o->k.plan.family, "%s", value);
    else if (strcmp(name, "--precision") == 0) {
        o->k.precision = strcmp(value, "double") == 0 ? TZ_DOUBLE : TZ_SINGLE;
        o->k.half = strcmp(value, "half") == 0 ? 1 : strcmp(value, "moved") == 0 ? 2 : 0;
    } else
        return strcmp(name, "--param") == 0 && read_param(o, value);
    return true;
}

static bool read_options(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--own-constants") == 0) {
            o->k.own_constants = true;
            continue;
        }
        if (i + 1 == argc || !read_option(o, argv[i], argv[i + 1])) {
            fprintf(stderr, "test_simt: what is '%s%s%s'?\n", argv[i], i + 1 < argc ? " " : "",
                    i + 1 < argc ? argv[i + 1] : "");
            return false;
        }
        i++;
    }
    return !o->cases == !o->group && (o->stencil != NULL || o->k.extent[0] == 0);
}

/* One name for all axes, or one an axis. */
static bool read_boundary(simt_case *k, const char *names)
{
    for (int d = 0; d < TZ_AXES; d++) {
        for (int high = 0; high < 2; high++)
            k->boundary[d][high] = d > 0 ? k->boundary[d - 1][high] : k->stencil->boundary;
        const size_t length = names ? strcspn(names, ",") : 0;
        char name[64];
        if (length == 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, names);
        char *const colon = strchr(name, ':');
        const char *const sides[] = {name, colon ? colon + 1 : name};
        if (colon)
            *colon = '\0';
        for (int high = 0; high < 2; high++) {
            const int found = tz_boundary_find(sides[high]);
            if (found < 0) {
                fprintf(stderr, "test_simt: unknown boundary '%s'\n", sides[high]);
                return false;
            }
            k->boundary[d][high] = (tz_boundary)found;
        }
        names += length + (names[length] == ',');
    }
    return true;
}

/* ---- One case -------------------------------------------------------------------------------- */

static int run_one(options *o, const tz_registry *registry)
{
    static simt_outcome outcome;
    simt_case *k = &o->k;
    tz_error error = {0};
    char text[512];
    if (tz_registry_find(registry, o->stencil, &k->stencil, NULL, &error)) {
        fprintf(stderr, "test_simt: %s\n", error.message);
        return 1;
    }
    for (int d = 0; d < TZ_AXES; d++)
        if (k->extent[d] == 0)
            k->extent[d] = d == 0 || d >= k->stencil->dims ? 1 : k->extent[d - 1];
    if (!tz_stencil_has_real(k->stencil))
        k->precision = -1;
    if (!read_boundary(k, o->boundary))
        return usage();
    simt_build *build = NULL;
    simt *machine = simt_create();
    if (!machine || simt_build_create(&build, o->keep, &error) != TZ_OK) {
        fprintf(stderr, "test_simt: %s\n", error.message);
        simt_destroy(machine);
        return 1;
    }
    simt_compare(k, build, machine, SHOWN, &outcome);
    printf("%s: %s, %d stages, %" PRId64 " steps\n%s",
           simt_case_text(k, &outcome.plan, text, sizeof text),
           outcome.verdict == SIMT_SAME      ? "same"
           : outcome.verdict == SIMT_REFUSED ? "refused"
                                             : "FAILED",
           outcome.stages, outcome.steps, outcome.message);
    if (simt_build_text(build))
        printf("text: %s\n", simt_build_text(build));
    simt_build_destroy(build);
    simt_destroy(machine);
    return outcome.verdict != SIMT_SAME;
}

/* ---- Cases of a file (cases.txt) ------------------------------------------------------------- */

static int run_line(const options *given, const tz_registry *registry, char *line)
{
    static const char *const names[] = {"--stencil", "--family",    "--grid",
                                        "--height",  "--precision", "--boundary"};
    options o = *given;
    char *rest = NULL, *name = NULL;
    int n = 0;
    /* Two stages of the height. A shorter one after them is another kernel: the suite has it. */
    o.k.rest = is_complete();
    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest), n++)
        if (n >= 6 && n % 2 == 0) {
            name = word;
        } else if (!read_option(&o, n < 6 ? names[n] : name, word)) {
            fprintf(stderr, "test_simt: what is '%s'?\n", word);
            return 1;
        }
    if (n < 6 || n % 2 == 1) {
        fprintf(stderr, "test_simt: '%s' is no case\n", line);
        return 1;
    }
    return run_one(&o, registry);
}

/* Those of a group; lines after + with TZ_ALL alone. */
static int run_cases(const options *o, const tz_registry *registry)
{
    FILE *file = fopen(o->cases, "r");
    char line[512];
    int ran = 0, failed = 0;
    bool inside = false;
    while (file && fgets(line, sizeof line, file)) {
        char *at = line;
        if (*line == '[')
            inside = strncmp(line + 1, o->group, strlen(o->group)) == 0 &&
                     line[1 + strlen(o->group)] == ']';
        if (!inside || strchr("[#\n", *line) || (*line == '+' && !is_complete()))
            continue;
        at += *line == '+' ? 2 : 0;
        failed += run_line(o, registry, at);
        ran++;
    }
    if (file)
        fclose(file);
    if (ran == 0)
        fprintf(stderr, "test_simt: %s has no case of '%s'\n", o->cases, o->group);
    printf("%d cases, %d failed\n", ran, failed);
    return failed > 0 || ran == 0;
}

/* ---- The suite ------------------------------------------------------------------------------- */

/* `only`: the stencil that is asked for, or NULL. */
static bool is_wanted(const char *stencil, const void *only)
{
    return only ? strcmp(stencil, only) == 0 : is_archetype(stencil);
}

/* The result of several groups. */
typedef struct result {
    int same, refused, wrong; /* grids */
    int stages;
} result;

static void name_group(const simt_group *g)
{
    char text[512] = "";
    const tz_plan *plan = &g->k.plan;
    for (int d = 0; d < g->k.stencil->dims; d++) {
        simt_append(text, sizeof text, "%s", d > 0 ? "," : "");
        simt_append_boundary(text, sizeof text, g->k.boundary[d]);
    }
    simt_append(text, sizeof text, "%s", g->k.precision == TZ_DOUBLE ? " double" : "");
    if (plan->height != 0)
        simt_append(text, sizeof text, " height %d", plan->height);
    if (plan->tile[0] != 0)
        simt_append(text, sizeof text, " tile %" PRId64, plan->tile[0]);
    for (int i = 0; i < TZ_PLAN_KNOBS_COUNT; i++)
        if (tz_plan_get(plan, i) != 0)
            simt_append(text, sizeof text, " %s %d", tz_plan_knobs[i].name, tz_plan_get(plan, i));
    printf("%-8s %-11s %s\n", plan->family, g->k.stencil->id, text);
    fflush(stdout); /* a kernel may end the process */
}

static void run_group(const simt_group *g, simt_build *build, simt *machine, result *all)
{
    static simt_outcome outcome;
    name_group(g);
    for (int i = 0; i < g->grids; i++) {
        simt_case k = g->k;
        char text[512];
        memcpy(k.extent, g->extent[i], sizeof k.extent);
        simt_compare(&k, build, machine, GROUP_SHOWN, &outcome);
        const bool wrong = outcome.verdict == SIMT_DIFFERENT || outcome.verdict == SIMT_FAILED;
        all->same += outcome.verdict == SIMT_SAME;
        all->refused += outcome.verdict == SIMT_REFUSED;
        all->wrong += wrong;
        all->stages += outcome.stages;
        if (wrong)
            printf("FAILED: test_simt %s\n%s", simt_case_text(&k, &outcome.plan, text, sizeof text),
                   outcome.message);
    }
}

static int run_suite(const options *o, const tz_registry *registry)
{
    simt_groups groups;
    simt_build *build = NULL;
    result all = {0};
    tz_error error = {0};
    simt *machine = simt_create();
    const tz_status status = simt_build_create(&build, NULL, &error);
    if (status == TZ_UNSUPPORTED) {
        printf("skipped: %s\n", error.message);
        simt_destroy(machine);
        return 77; /* ctest shows it as skipped */
    }
    simt_groups_make(&groups, registry, is_complete() ? SIMT_FULL : SIMT_FEW, is_wanted, o->stencil,
                     o->k.plan.family[0] ? o->k.plan.family : NULL);
    const bool good = machine && !status && !groups.failed && groups.count > 0;
    for (int i = 0; good && i < groups.count; i++)
        if (o->parts < 2 || i % o->parts == o->part % o->parts)
            run_group(&groups.at[i], build, machine, &all);
    if (!good)
        fprintf(stderr, "test_simt: %s\n",
                status ? error.message : "nothing compared, there is no case to run");
    printf("%s%d grids are the same after %d stages, %d failed, %d are not possible\n", groups.none,
           all.same, all.stages, all.wrong, all.refused);
    free(groups.at);
    simt_build_destroy(build);
    simt_destroy(machine);
    return !good || all.wrong > 0;
}

int main(int argc, char **argv)
{
    options o = {.k = {.precision = TZ_SINGLE, .rest = 1, .room = {132, 1}}};
    if (!read_options(&o, argc, argv))
        return usage();
    if (o.folders_count == 0) {
        o.folders[o.folders_count++] = TZ_TEST_PLUGIN_DIR;
        o.folders[o.folders_count++] = TZ_TEST_TEST_PLUGIN_DIR;
    }
    tz_registry *registry = NULL;
    tz_error error = {0};
    if (tz_registry_create(&registry, o.folders, (size_t)o.folders_count, &error)) {
        fprintf(stderr, "test_simt: %s\n", error.message);
        return 1;
    }
    const int failed = o.cases             ? run_cases(&o, registry)
                       : o.k.extent[0] > 0 ? run_one(&o, registry)
                                           : run_suite(&o, registry);
    tz_registry_destroy(registry);
    return failed;
}
