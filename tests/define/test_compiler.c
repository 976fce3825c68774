/* Plugin sources, compiled by the system's compiler, loaded and kept. */
#include "tests/define/define.h"
#include "tests/support.h"

#include "base/machine.h"
#include "define/compiler.h"
#include "define/plugin.h"
#include <signal.h>
#include <sys/wait.h>

/* Hand-written, in the form that tz_define_source() writes. */
static const char cell_text[] = "#define TZ_FIELDS(F) F(u, real)\n"
                                "#define TZ_CONSTANTS(K)\n"
                                "TZ_CELL(spread)\n"
                                "{\n"
                                "    TZ_PUT(u, TZ_AT(u, -1, 0) + TZ_AT(u, 1, 0));\n"
                                "}\n";
static const char plugin_text[] =
    "#define TZ_CELL_TEXT \"spread.cell.h\"\n"
    "#define TZ_CELL_ID spread\n"
    "#define TZ_CELL_DIMS 2\n"
    "#define TZ_CELL_RADIUS 1\n"
    "#define TZ_CELL_REAL 1\n"
    "#include <trapeze/rows.h>\n"
    "static const tz_field fields[] = {TZ_STATE_FIELD(\"u\", TZ_REAL, \"\", \"what spreads\")};\n"
    "static const tz_pass passes[] = {\n"
    "    {.name = \"update\", .writes = TZ_WRITES(spread, u), TZ_PASS(spread)}};\n"
    "static const tz_stencil stencil = {TZ_STENCIL_HEADER, .id = \"spread\",\n"
    "    .doc = \"A sum of two cells.\", .dims = 2, .fields_count = 1, .fields = fields,\n"
    "    .passes_count = 1, .passes = passes, .boundaries = TZ_ALLOW(TZ_CLAMP),\n"
    "    .boundary = TZ_CLAMP};\n"
    "TZ_PLUGIN_DEFINE(\"spread\", \"1\", \"a sum\", &stencil)\n";

static const char *cell = cell_text, *plugin = plugin_text;

static tz_status define(tz_registry *registry)
{
    char *texts[] = {strdup(cell), strdup(plugin)};
    tz_defined_source source = {.cell_text = texts[0], .plugin_text = texts[1]};
    const tz_status status =
        tz_define_plugin(registry, "spread", &source, "a.lua:3", NULL, &failure);
    free(texts[0]);
    free(texts[1]);
    return status;
}

/* Defines the stencil in a registry of its own. Returns the seconds that it took. */
static double define_afresh(void)
{
    tz_registry *registry = NULL;
    const tz_stencil *stencil = NULL;
    assert_ok(tz_registry_create(&registry, NULL, 0, &failure));
    const double start = tz_machine_clock_s();
    assert_ok(define(registry));
    const double seconds = tz_machine_clock_s() - start;
    assert_ok(tz_registry_find(registry, "spread", &stencil, NULL, &failure));
    assert_int_equal(stencil->dims, 2);
    assert_non_null(strstr(stencil->passes[0].text, "TZ_CELL(spread)"));
    assert_string_equal(tz_registry_get(registry, 0)->path, "a.lua:3");
    tz_registry_destroy(registry);
    return seconds;
}

static tz_status define_and_fail(void)
{
    tz_registry *registry = NULL;
    assert_ok(tz_registry_create(&registry, NULL, 0, &failure));
    const tz_status status = define(registry);
    assert_int_equal(tz_registry_count(registry), 0);
    tz_registry_destroy(registry);
    return status;
}

/* The only file of the folder `stencils` in the cache; its number of files. */
static int entries(const char *cache, char *path, size_t size)
{
    char folder[800];
    int count = 0;
    snprintf(folder, sizeof folder, "%s/stencils", cache);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.') {
            snprintf(path, size, "%.500s/%.200s", folder, entry->d_name);
            count++;
        }
    if (dir)
        closedir(dir);
    return count;
}

static const char *fresh_cache(scratch *s)
{
    static int number;
    char name[32];
    snprintf(name, sizeof name, "cache%d", number++);
    setenv("TRAPEZE_CACHE", scratch_path(s, name), 1);
    unsetenv("CC");
    cell = cell_text;
    plugin = plugin_text;
    return getenv("TRAPEZE_CACHE");
}

/* A program in the scratch folder that CC names. */
static void use_compiler(scratch *s, const char *text)
{
    char command[900];
    FILE *file = fopen(scratch_path(s, "my-cc"), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(s->path, 0755), 0);
    snprintf(command, sizeof command, " %s  -DSOME_MACRO ", s->path);
    setenv("CC", command, 1);
}

TEST(a_source_becomes_a_plugin_once)
{
    char path[1024], other[1024];
    const char *cache = fresh_cache(*state);
    define_afresh();
    assert_int_equal(entries(cache, path, sizeof path), 1);
    struct stat first, second;
    assert_int_equal(stat(path, &first), 0);
    define_afresh();
    assert_int_equal(entries(cache, other, sizeof other), 1);
    assert_int_equal(stat(path, &second), 0);
    assert_true(first.st_ino == second.st_ino);
    plugin = NULL;
    char changed[sizeof plugin_text + 8];
    snprintf(changed, sizeof changed, "%s\n", plugin_text);
    plugin = changed;
    define_afresh();
    assert_int_equal(entries(cache, other, sizeof other), 2);
    /* Another option of the compiler is another plugin. */
    setenv("CC", "cc -DONE", 1);
    define_afresh();
    assert_int_equal(entries(cache, other, sizeof other), 3);
    setenv("CC", "cc -DTWO", 1);
    define_afresh();
    assert_int_equal(entries(cache, other, sizeof other), 4);
}

TEST(a_compiler_that_fails)
{
    fresh_cache(*state);
    cell = "#define TZ_FIELDS(F) F(u, real)\n#define TZ_CONSTANTS(K)\n"
           "TZ_CELL(spread)\n{\n    TZ_PUT(u, nothing);\n}\n";
    check_error(define_and_fail(), TZ_PLUGIN, "spread",
                "the C compiler cc failed: spread.cell.h:5");
    assert_non_null(strstr(failure.message, "nothing"));
    cell = cell_text;
    use_compiler(*state,
                 "#!/bin/sh\n[ \"$1\" = --version ] || [ \"$2\" = --version ] && echo mine\n"
                 "case $* in *--version*) exit 0;; esac\nexit 7\n");
    check_error(define_and_fail(), TZ_PLUGIN, "spread", "failed without a message (exit code 7)");
    use_compiler(*state, "#!/bin/sh\necho no >&2; exit 2\n");
    check_error(define_and_fail(), TZ_UNSUPPORTED, "", "is no C compiler: --version ended with 2");
    /* One that says that all is well, and makes something else or nothing. */
    use_compiler(*state, "#!/bin/sh\necho mine; echo text >plugin.so\n");
    check_error(define_and_fail(), TZ_PLUGIN, "", "is not a shared library");
    use_compiler(*state, "#!/bin/sh\necho mine 2\n");
    check_error(define_and_fail(), TZ_IO, "plugin.so", "");
    assert_int_equal(entries(getenv("TRAPEZE_CACHE"), (char[1024]){0}, 1024), 0);
}

/* The registry with a stencil in memory. */
static tz_registry *in_memory(const tz_stencil **stencil)
{
    static const tz_defined_field fields[] = {REAL_STATE("u")};
    static const tz_defined_formula updates[] = {{"u", TEXT("u + 0.2*lap(u)")}};
    static const tz_defined_pass passes[] = {{UPDATES(updates)}};
    static const tz_definition d = {.id = "later", .dims = 2, FIELDS(fields), PASSES(passes)};
    tz_registry *registry;
    tz_defined_source source;
    assert_ok(tz_registry_create(&registry, NULL, 0, &failure));
    assert_ok(tz_define_source(&d, &source, &failure));
    assert_ok(tz_define_plugin(registry, "later", &source, "a.lua:3", NULL, &failure));
    tz_defined_source_clear(&source);
    assert_ok(tz_registry_find(registry, "later", stencil, NULL, &failure));
    return registry;
}

TEST(rows_are_compiled_beside_the_run)
{
    static const tz_cancel never = {.stopped = NULL};
    const tz_stencil *stencil;
    tz_error fault;
    char text[1200];
    fresh_cache(*state);
    snprintf(text, sizeof text,
             "#!/bin/sh\ncase $* in *--version*) ;; *) while [ ! -e '%s' ]; do sleep 0.02; done;; "
             "esac\nexec cc \"$@\"\n",
             scratch_path(*state, "go"));
    use_compiler(*state, text);
    tz_registry *registry = in_memory(&stencil);
    const tz_kernels *interpreted = stencil->passes[0].kernels;
    assert_null(stencil->passes[0].in_place);
    tz_stencil_compile_begin(stencil, false, &never);
    for (int i = 0; i < 20; i++)
        assert_true(tz_stencil_is_compiling(stencil));
    assert_ptr_equal(stencil->passes[0].kernels, interpreted);
    scratch_text(*state, "go", "");
    while (tz_stencil_is_compiling(stencil))
        usleep(10000);
    assert_ptr_not_equal(stencil->passes[0].kernels, interpreted);
    assert_non_null(stencil->passes[0].in_place);
    assert_false(tz_stencil_take_fault(stencil, &fault));
    assert_ok(tz_stencil_compile(stencil, &never, &fault));
    tz_registry_destroy(registry);
    /* What is kept is there at once. */
    registry = in_memory(&stencil);
    tz_stencil_compile_begin(stencil, false, &never);
    assert_false(tz_stencil_is_compiling(stencil));
    assert_non_null(stencil->passes[0].in_place);
    tz_registry_destroy(registry);
    /* A compiler that fails leaves what is there, and is called once. */
    use_compiler(*state, "#!/bin/sh\ncase $* in *--version*) echo mine;; *) exit 7;; esac\n");
    registry = in_memory(&stencil);
    tz_stencil_compile_begin(stencil, false, &never);
    check_error(tz_stencil_compile(stencil, &never, &failure), TZ_PLUGIN, "later",
                "failed without a message (exit code 7)");
    use_compiler(*state, "#!/bin/sh\nexec cc \"$@\"\n");
    assert_int_equal(tz_stencil_compile(stencil, &never, &failure), TZ_PLUGIN);
    assert_null(stencil->passes[0].in_place);
    assert_true(tz_stencil_take_fault(stencil, &fault));
    assert_false(tz_stencil_take_fault(stencil, &fault));
    tz_registry_destroy(registry);
}

TEST_GROUP(scratch_setup, scratch_teardown)
