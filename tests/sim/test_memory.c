/* A simulation takes the memory that it declares, and that was checked before it was allocated: for
 * every plugin, at three sizes, with each backend of the CPU, while it is filled in every way, runs
 * and writes every output.
 *
 * A child runs each scenario. It compares the most memory that it ever had (VmHWM) with the memory
 * that it had before the scenario and with "bytes" in the run's record. */
#include "lua/script.h"
#include "tests/registry.h"
#include "tests/support.h"
#include <jansson.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Memory that does not grow with the grid: Lua, threads, pieces of rows, pictures. */
enum { FIXED_BYTES = 20 << 20, SIZES = 3 };
/* The sizes of cubes, where another copy of a field of single precision would be half as much again as
 * the noise, and of long rows, of which the engine keeps a few. */
static const double cubes[SIZES] = {1, 2, 5}, wides[SIZES] = {1, 2, 3};
/* Between two sizes the fixed part cancels out, but for pages of the allocator. What is left varies
 * from run to run, whatever the size is: the kernel counts a process's pages for each core and adds
 * them up late, 32 or more pages a core. No output waits in a queue with a field: those of the CPU's
 * backends are written at once, and a picture that waits has 64 x 64 numbers. So the least of three
 * measurements counts. */
enum { NOISE_BYTES = 3 << 20, NOISE_CUBE_BYTES = 4 << 20, MEASUREMENTS = 3 };

/* A script that fills every field with numbers of every kind of source, runs, and writes. */
static const char script[] =
    "local tz = require 'trapeze'\n"
    "local a, grid = tz.args, {}\n"
    "for n in a.grid:gmatch '%d+' do grid[#grid + 1] = math.tointeger(n) end\n"
    "for i = a.dims + 1, 3 do grid[i] = nil end\n"
    "local bits, streamed = a.bits == 1, a.streamed\n"
    "local function random(seed)\n"
    "    return bits and tz.random { seed = seed, density = 0.4 }\n"
    "        or tz.random { seed = seed, range = { 0, 9 } }\n"
    "end\n"
    "local fields = {}\n"
    "for name in a.fields:gmatch '[%w_]+' do fields[name] = random(#name) end\n"
    "if streamed then fields[streamed] = tz.random { seed = 9, range = { 0, 9 } } end\n"
    "local wanted = { plugin = a.plugin, grid = grid, fields = fields }\n"
    "local fine, sim = pcall(tz.simulation, wanted)\n"
    /* Default parameters may not suit a grid of such a shape. */
    "for _, params in ipairs { { allow_unstable = true }, { hx = 1, hy = 1 } } do\n"
    "    wanted.params = params\n"
    "    if not fine then fine, sim = pcall(tz.simulation, wanted) end\n"
    "end\n"
    "assert(fine, sim)\n"
    "local axis = #grid == 1 and 'x' or #grid == 2 and 'y' or 'z'\n"
    "local most = {}\n"
    "for name in a.fields:gmatch '[%w_]+' do\n"
    "    sim:set(name, 1, { x = { 1, grid[1] } })\n"
    "    sim:set(name, random(7), { x = { 1, grid[1] } })\n"
    "    sim:set(name, function(x) return x % 2 end, { x = { 0, grid[1] // 8 },\n"
    "        [axis] = { 0, math.max(1, grid[#grid] // 8) } })\n"
    "    most[#most + 1] = 'max(' .. name .. ')'\n"
    "    sim:every(1, tz.png(name, { size = 64 }))\n"
    "    sim:every(1, tz.npy(name))\n"
    "end\n"
    "sim:every(1, tz.vti())\n"
    "sim:every(1, tz.xdmf())\n"
    /* Without a library that is refused. */
    "pcall(sim.every, sim, 1, tz.hdf5 { name = 'h' })\n"
    "if not streamed then most[#most + 1] = 'residual' end\n"
    "sim:every(1, tz.table { 'step', 'hash', table.unpack(most) })\n"
    "if bits and #grid == 2 then sim:every(1, tz.rle()) end\n"
    /* A floorplan of one unit fills the whole chip. */
    "if a.plugin == 'hotspot' then sim:set('power', tz.floorplan { flp = 'c.flp', ptrace = "
    "'c.ptrace' }) end\n"
    "sim:run(1)\n";

typedef struct measured {
    int64_t declared, grown;
} measured;

/* A number of KiB from /proc/self/status, as bytes. */
static int64_t own_memory(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    long long kib = -1;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), ": %lld", &kib);
    if (file)
        fclose(file);
    return kib < 0 ? -1 : kib << 10;
}

static int64_t declared_bytes(const char *folder)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/run.json", folder);
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *simulation = json_array_get(json_object_get(root, "simulations"), 0);
    const json_t *bytes = json_object_get(simulation, "bytes");
    const int64_t value = json_is_integer(bytes) ? json_integer_value(bytes) : -1;
    json_decref(root);
    return value;
}

static void run_in_child(const tz_script_options *options, int result_pipe)
{
    tz_script_result result;
    tz_error error;
    measured m = {-1, -1};
    /* Else a page of 2 MiB is counted where a part of it is used, at addresses that are random. */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    const int64_t before = own_memory("VmRSS");
    if (tz_script_run(options, &result, &error) == TZ_OK) {
        m.grown = own_memory("VmHWM") - before;
        m.declared = declared_bytes(result.folder);
    } else {
        fprintf(stderr, "%s: %s\n", error.place, error.message);
    }
    _exit(write(result_pipe, &m, sizeof m) != (ssize_t)sizeof m);
}

/* Run a script in a child. */
static measured measure_script(const char *path, const char *backend, size_t count,
                               const char *const *sets)
{
    char folder[] = "out";
    int ends[2], status;
    const tz_script_options options = {.path = path,
                                       .registry = registry,
                                       .backend = backend,
                                       .threads = 2,
                                       .policy = {.given = {.height = 1}},
                                       .out = folder,
                                       .sets_count = count,
                                       .sets = sets};
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0)
        run_in_child(&options, ends[1]);
    close(ends[1]);
    measured m = {-1, -1};
    assert_int_equal(read(ends[0], &m, sizeof m), sizeof m);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    scratch_empty(folder);
    rmdir(folder);
    return m;
}

static measured measure(const tz_stencil *stencil, const char *backend, const int64_t *grid)
{
    char set[6][512];
    const char *sets[6];
    size_t count = 0;
    snprintf(set[count++], sizeof set[0], "plugin=%s", stencil->id);
    snprintf(set[count++], sizeof set[0], "grid=%lld,%lld,%lld", (long long)grid[0],
             (long long)grid[1], (long long)grid[2]);
    snprintf(set[count++], sizeof set[0], "dims=%d", stencil->dims);
    strcpy(set[count], "fields=");
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role != TZ_STREAMED) {
            strcat(set[count], stencil->fields[f].name);
            strcat(set[count], " ");
        }
    count++;
    snprintf(set[count++], sizeof set[0], "bits=%d", stencil->fields[0].type == TZ_BITS);
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STREAMED)
            snprintf(set[count++], sizeof set[0], "streamed=%s", stencil->fields[f].name);
    for (size_t i = 0; i < count; i++)
        sets[i] = set[i];
    const measured m = measure_script("s.lua", backend, count, sets);
    if (m.declared < 0 || m.grown < 0)
        fail_msg("%s on %s failed", stencil->id, backend);
    return m;
}

/* About `cells` cells; `wide`: few rows, long ones. */
static void shape(const tz_stencil *stencil, double cells, bool wide, int64_t *grid)
{
    const int dims = stencil->dims;
    grid[0] = grid[1] = grid[2] = 1;
    if (wide) {
        for (int axis = 1; axis < dims; axis++)
            grid[axis] = 4;
        grid[0] = (int64_t)(cells / pow(4, dims - 1));
        return;
    }
    for (int axis = 0; axis < dims; axis++)
        grid[axis] = (int64_t)pow(cells, 1.0 / dims);
}

static measured measure_size(const tz_stencil *stencil, const char *backend, bool wide, int size)
{
    const bool bits = stencil->fields[0].type == TZ_BITS;
    const double cells = strcmp(backend, "reference") == 0 ? 3e5 : bits ? 4e6 : 4e5;
    int64_t grid[TZ_AXES];
    shape(stencil, cells * (wide ? wides : cubes)[size], wide, grid);
    return measure(stencil, backend, grid);
}

/* Measure a size again, and keep the least that it took. */
static void measure_again(const tz_stencil *stencil, const char *backend, bool wide, int size,
                          measured *least)
{
    const measured m = measure_size(stencil, backend, wide, size);
    least->grown = m.grown < least->grown ? m.grown : least->grown;
}

static void check_stencil(const tz_stencil *stencil, const char *backend, bool wide)
{
    const char *form = wide ? "wide" : "cube";
    measured m[SIZES];
    for (int size = 0; size < SIZES; size++) {
        m[size] = measure_size(stencil, backend, wide, size);
        if (m[size].grown > m[size].declared + FIXED_BYTES)
            fail_msg("%s on %s, %s, size %d: takes %.1f MiB, declares %.1f", stencil->id, backend,
                     form, size, (double)m[size].grown / (1 << 20),
                     (double)m[size].declared / (1 << 20));
    }
    measured *first = &m[0], *last = &m[SIZES - 1];
    const int64_t declared = last->declared - first->declared;
    const int64_t most = declared + declared / 50 + (wide ? NOISE_BYTES : NOISE_CUBE_BYTES);
    for (int i = 1; i < MEASUREMENTS && last->grown - first->grown > most; i++) {
        measure_again(stencil, backend, wide, 0, first);
        measure_again(stencil, backend, wide, SIZES - 1, last);
    }
    const int64_t grown = last->grown - first->grown;
    if (getenv("TZ_VERBOSE"))
        printf("%s %s %s: %.1f of %.1f, %.1f of %.1f; grown %.1f of %.1f\n", stencil->id, backend,
               form, (double)first->grown / (1 << 20), (double)first->declared / (1 << 20),
               (double)last->grown / (1 << 20), (double)last->declared / (1 << 20),
               (double)grown / (1 << 20), (double)declared / (1 << 20));
    if (grown > most)
        fail_msg("%s on %s, %s: from the first size to the last it takes %.1f MiB more, and "
                 "declares %.1f more",
                 stencil->id, backend, form, (double)grown / (1 << 20),
                 (double)declared / (1 << 20));
}

/* With TZ_MEMORY, each stencil has one of the three tests, in turns. */
static void check_all(const char *backend, bool wide, int turn)
{
    int number = turn;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_UNDEFINED__) || !defined(__OPTIMIZE__)
    skip_test("code with checks or without optimisation");
#endif
    for (size_t p = 0; p < tz_registry_count(registry); p++) {
        const tz_plugin *plugin = tz_registry_get(registry, p)->plugin;
        for (int s = 0; s < plugin->stencils_count; s++) {
            const int dims = plugin->stencils[s]->dims;
            bool seen = wide && dims == 1; /* a row anyway */
            for (int before = 0; before < s; before++)
                seen = seen || plugin->stencils[before]->dims == dims;
            if (!seen && (number++ % 3 == 0 || !getenv("TZ_MEMORY")))
                check_stencil(plugin->stencils[s], backend, wide);
        }
    }
}

static void cpu_cubes(void **state)
{
    check_all("cpu", false, 0);
}

static void cpu_long_rows(void **state)
{
    check_all("cpu", true, 1);
}

static void reference_cubes(void **state)
{
    check_all("reference", false, 2);
}

/* A .npy file of zeros, float64, without blocks on the disk. */
static void make_large_file(const char *name, const char *order, long nx, long ny)
{
    char header[128];
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\0\x76\0", 10);
    const int n = sprintf(
        header + 10, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%ld, %ld), }", order, ny, nx);
    header[10 + n] = ' ';
    header[sizeof header - 1] = '\n';
    assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(name, (off_t)sizeof header + 8 * nx * ny), 0);
}

/* A field of single precision takes a large file without a copy of it in memory. */
static void check_large_file(const char *order)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_UNDEFINED__) || !defined(__OPTIMIZE__)
    skip_test("code with checks or without optimisation");
#endif
    enum { NX = 4096, NY = 2100 };
    measured m[2];
    for (int size = 0; size < 2; size++) {
        char set[32];
        const char *sets[] = {set};
        const long ny = NY * (1 + size);
        snprintf(set, sizeof set, "ny=%ld", ny);
        make_large_file("large.npy", order, NX, ny);
        m[size] = measure_script("large.lua", "cpu", 1, sets);
        assert_true(m[size].declared > 0 && m[size].grown > 0);
    }
    const int64_t grown = m[1].grown - m[0].grown, declared = m[1].declared - m[0].declared;
    assert_true(declared >= (int64_t)NX * NY * 2 * (int64_t)sizeof(float));
    if (grown > declared + declared / 50 + NOISE_BYTES)
        fail_msg("order %s: twice the file takes %.1f MiB more, and declares %.1f more", order,
                 (double)grown / (1 << 20), (double)declared / (1 << 20));
}

static void large_files(void **state)
{
    check_large_file("False");
    check_large_file("True");
}

static int set_up(void **state)
{
    if (enter_scratch(state) || open_plugins(state))
        return -1;
    static const char *const files[][2] = {
        {"s.lua", script},
        {"large.lua",
         "local tz, ny = require 'trapeze', math.tointeger(require 'trapeze'.args.ny)\n"
         "local file = tz.read 'large.npy'\n"
         "local sim = tz.simulation { plugin = 'hotspot', grid = { 4096, ny },\n"
         "    fields = { temperature = file, power = 0 } }\n"
         "sim:set('temperature', file)\n"
         "sim:run(1)\n"},
        {"c.flp", "core 0.016 0.016 0 0\n"},
        {"c.ptrace", "core\n5\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *file = fopen(files[i][0], "w");
        if (!file || fputs(files[i][1], file) < 0 || fclose(file) != 0)
            return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    return close_plugins(state) || leave_scratch(state);
}

TEST_MAIN(set_up, tear_down, TEST(cpu_cubes), TEST(cpu_long_rows), TEST(reference_cubes),
          TEST(large_files))
