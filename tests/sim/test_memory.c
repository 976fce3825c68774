/* A simulation takes the memory that it declares, and that was checked before it was allocated:
 * for every plugin, at two sizes, with each backend of the CPU, while it is filled in every way,
 * runs and writes every output.
 *
 * A child runs each scenario. It compares the most bytes that were allocated at a time with
 * "bytes" in the run's record. */
#include "lua/script.h"
#include "tests/archetypes.h"
#include "tests/fuzz/interpose.h"
#include "tests/registry.h"
#include "tests/support.h"
#include <jansson.h>
#include <sys/wait.h>

/* Memory that does not grow with the grid: Lua, pictures, rings of rows. Between the two sizes it
 * is the same, but for texts, and for rows and planes of the grid, of which the engine copies a
 * few: those of diffusion are 2 % of the grid. Another copy of a field of single precision would
 * be more. */
enum { FIXED_BYTES = 20 << 20, VARYING_BYTES = 2 << 20 };
/* The larger size in smaller ones. */
static const double larger_cube = 5, larger_wide = 3;

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
    int64_t declared, taken;
} measured;

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
    size_t peak;
    bool refused;
    allocations_begin(SIZE_MAX);
    const tz_status status = tz_script_run(options, &result, &error);
    allocations_end(&peak, &refused);
    if (status == TZ_OK) {
        m.taken = (int64_t)peak;
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
    if (m.declared <= 0 || m.taken <= 0)
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

static void check_stencil(const tz_stencil *stencil, const char *backend, bool wide)
{
    const char *form = wide ? "wide" : "cube";
    const bool bits = stencil->fields[0].type == TZ_BITS;
    const double cells = strcmp(backend, "reference") == 0 ? 2.5e5 : bits ? 4e6 : 2.5e5;
    measured m[2];
    for (int size = 0; size < 2; size++) {
        int64_t grid[TZ_AXES];
        shape(stencil, cells * (size == 0 ? 1 : wide ? larger_wide : larger_cube), wide, grid);
        m[size] = measure(stencil, backend, grid);
        if (m[size].taken > m[size].declared + FIXED_BYTES)
            fail_msg("%s on %s, %s, size %d: takes %.1f MiB, declares %.1f", stencil->id, backend,
                     form, size, (double)m[size].taken / (1 << 20),
                     (double)m[size].declared / (1 << 20));
    }
    const int64_t declared = m[1].declared - m[0].declared, taken = m[1].taken - m[0].taken;
    if (getenv("TZ_VERBOSE"))
        printf("%s %s %s: %.2f of %.2f, %.2f of %.2f; %.2f more of %.2f\n", stencil->id, backend,
               form, (double)m[0].taken / (1 << 20), (double)m[0].declared / (1 << 20),
               (double)m[1].taken / (1 << 20), (double)m[1].declared / (1 << 20),
               (double)taken / (1 << 20), (double)declared / (1 << 20));
    if (taken > declared + declared / 50 + VARYING_BYTES)
        fail_msg("%s on %s, %s: from the first size to the second it takes %.2f MiB more, and "
                 "declares %.2f more",
                 stencil->id, backend, form, (double)taken / (1 << 20),
                 (double)declared / (1 << 20));
}

/* Each archetype has one of the three tests; with TZ_ALL, a stencil of each dimension of every
 * plugin has all. */
static void check_all(const char *backend, bool wide, int number)
{
    int checked = 0;
    for (size_t p = 0; p < tz_registry_count(registry); p++) {
        const tz_plugin *plugin = tz_registry_get(registry, p)->plugin;
        for (int s = 0; s < plugin->stencils_count; s++) {
            const int dims = plugin->stencils[s]->dims;
            bool seen =
                !is_archetype(plugin->stencils[s]->id) || (wide && dims == 1); /* a row anyway */
            for (int before = 0; before < s && is_complete(); before++)
                seen = seen || plugin->stencils[before]->dims == dims;
            if (!seen && (number++ % 3 == 0 || is_complete())) {
                check_stencil(plugin->stencils[s], backend, wide);
                checked++;
            }
        }
    }
    assert_true(checked > 0);
}

TEST(cpu_cubes)
{
    check_all("cpu", false, 0);
}

TEST(cpu_long_rows)
{
    check_all("cpu", true, 1);
}

TEST(reference_cubes)
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
    enum { NX = 4096, NY = 2100 };
    measured m[2];
    for (int size = 0; size < 2; size++) {
        char set[32];
        const char *sets[] = {set};
        const long ny = NY * (1 + size);
        snprintf(set, sizeof set, "ny=%ld", ny);
        make_large_file("large.npy", order, NX, ny);
        m[size] = measure_script("large.lua", "cpu", 1, sets);
        assert_true(m[size].declared > 0 && m[size].taken > 0);
    }
    const int64_t taken = m[1].taken - m[0].taken, declared = m[1].declared - m[0].declared;
    assert_true(declared >= (int64_t)NX * NY * 2 * (int64_t)sizeof(float));
    if (taken > declared + declared / 50 + VARYING_BYTES)
        fail_msg("order %s: twice the file takes %.1f MiB more, and declares %.1f more", order,
                 (double)taken / (1 << 20), (double)declared / (1 << 20));
}

TEST(large_files)
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

TEST_GROUP(set_up, tear_down)
