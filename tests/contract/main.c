/* contract [--list] [--hashes] [--stencil ID]... [--section NAME]... [--backend NAME]
 * [--family NAME] PLUGIN.so|FOLDER... (contract.h). A section that checks no case fails, unless
 * none applies to the stencil. After a section with a failure the later ones are not run. */
#include "contract.h"

#include "backend/backend.h"
#include "stencil/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FAILURES_SHOWN = 8, NAMES_MAX = 64 };

typedef struct names {
    int count;
    const char *items[NAMES_MAX];
} names;

static const struct {
    const char *name;
    void (*check)(contract *c);
} sections[] = {
    {"descriptor", contract_descriptor}, {"fields", contract_fields},
    {"radius", contract_radius},         {"identity", contract_identity},
    {"extremes", contract_extremes},     {"devices", contract_devices},
    {"device", contract_device},         {"outputs", contract_outputs},
    {"diverge", contract_diverge},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

void contract_fail(contract *c, const char *format, ...)
{
    if (c->failures++ < FAILURES_SHOWN) {
        printf("  FAIL %s: ", c->stencil->id);
        va_list arguments;
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n");
    }
}

void contract_refuse(contract *c, const tz_error *why)
{
    if (c->refused++ == 0)
        c->refusal = *why;
}

/* True if `name` is listed, or the list is empty. */
static bool wanted(const names *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return true;
    return list->count == 0;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One line per section; returns the number of failures. */
static int check_stencil(contract *c, const names *wanted_sections)
{
    int failures = 0;
    for (int i = 0; i < SECTIONS; i++) {
        if (!wanted(wanted_sections, sections[i].name))
            continue;
        c->compared = c->refused = 0;
        c->failures = 0;
        c->note[0] = '\0';
        const double start = now_s();
        sections[i].check(c);
        if (c->compared == 0 && c->failures == 0 && c->note[0] == '\0')
            contract_fail(c, "%s: nothing compared, no case was possible", sections[i].name);
        printf("%-14s %-10s %8lld cases", c->stencil->id, sections[i].name, (long long)c->compared);
        if (c->refused > 0)
            printf(", %lld not possible (the first: %s)", (long long)c->refused,
                   c->refusal.message);
        if (c->note[0] != '\0')
            printf(", %s", c->note);
        if (c->failures > 0)
            printf(", %d FAILED", c->failures);
        printf(" (%.1f s)\n", now_s() - start);
        fflush(stdout);
        failures += c->failures;
        if (c->failures > 0 && i + 1 < SECTIONS) {
            printf("%-14s the sections after %s were not run\n", c->stencil->id, sections[i].name);
            break;
        }
    }
    return failures;
}

static bool is_section(const char *name)
{
    for (int i = 0; i < SECTIONS; i++)
        if (strcmp(name, sections[i].name) == 0)
            return true;
    return false;
}

static int usage(void)
{
    fprintf(stderr, "usage: trapeze-contract [--list | --families] [--hashes] [--stencil ID]... "
                    "[--section NAME]... "
                    "[--backend NAME] [--family NAME] PLUGIN.so|FOLDER...\n"
                    "sections:");
    for (int i = 0; i < SECTIONS; i++)
        fprintf(stderr, " %s", sections[i].name);
    fprintf(stderr, "\nTZ_CONTRACT=quick in the environment checks fewer cases, smoke a handful\n");
    return 2;
}

/* Of the cuda backend, for scripts/gpu-tests.sh. */
static int print_families(void)
{
    for (int i = 0; tz_backend_cuda.family(i); i++)
        printf("%s\n", tz_backend_cuda.family(i));
    return 0;
}

int main(int argc, char **argv)
{
    names stencils = {0}, wanted_sections = {0}, folders = {0}, backends = {0}, families = {0};
    bool list_only = false, hashes = false;
    for (int i = 1; i < argc; i++) {
        names *target = &folders;
        bool *flag = strcmp(argv[i], "--list") == 0     ? &list_only
                     : strcmp(argv[i], "--hashes") == 0 ? &hashes
                                                        : NULL;
        if (flag) {
            *flag = true;
            continue;
        }
        if (strcmp(argv[i], "--families") == 0)
            return print_families();
        if (strcmp(argv[i], "--stencil") == 0)
            target = &stencils;
        else if (strcmp(argv[i], "--section") == 0)
            target = &wanted_sections;
        else if (strcmp(argv[i], "--backend") == 0)
            target = &backends;
        else if (strcmp(argv[i], "--family") == 0)
            target = &families;
        else if (argv[i][0] == '-')
            return usage();
        if (target != &folders && ++i == argc)
            return usage();
        if (target->count == NAMES_MAX)
            return usage();
        if (target == &wanted_sections && !is_section(argv[i]))
            return usage();
        target->items[target->count++] = argv[i];
    }
    if (folders.count == 0)
        return usage();

    for (int i = 0; i < folders.count; i++)
        if (access(folders.items[i], F_OK) != 0) {
            fprintf(stderr, "contract: %s: no such file or folder\n", folders.items[i]);
            return 2;
        }
    tz_registry *registry = NULL;
    tz_error error = {0};
    if (tz_registry_create(&registry, folders.items, (size_t)folders.count, &error) != TZ_OK) {
        fprintf(stderr, "contract: %s\n", error.message);
        return 1;
    }
    const char *mode = getenv("TZ_CONTRACT");
    contract c = {.registry = registry,
                  .backend = backends.count > 0 ? backends.items[0] : "cpu",
                  .family = families.count > 0 ? families.items[0] : NULL,
                  .hashes = hashes,
                  .quick = mode && *mode != '\0' && strcmp(mode, "full") != 0,
                  .smoke = mode && strcmp(mode, "smoke") == 0};
    int failures = 0, checked = 0;
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_registry_entry *entry = tz_registry_get(registry, i);
        if (!entry->plugin) {
            /* A folder of plugins to test holds none that are refused. */
            fprintf(stderr, "contract: %s: %s\n", entry->path, entry->error.message);
            failures++;
            continue;
        }
        c.plugin = entry->plugin;
        for (int s = 0; s < entry->plugin->stencils_count; s++) {
            c.stencil = entry->plugin->stencils[s];
            if (!wanted(&stencils, c.stencil->id))
                continue;
            checked++;
            if (list_only)
                printf("%s\n", c.stencil->id);
            else
                failures += check_stencil(&c, &wanted_sections);
        }
    }
    tz_registry_destroy(registry);
    if (!list_only)
        printf("contract: %d stencils, %d failures%s\n", checked, failures,
               c.quick ? " (quick)" : "");
    if (checked == 0)
        fprintf(stderr, "contract: no stencil to check\n");
    return failures > 0 || checked == 0;
}
