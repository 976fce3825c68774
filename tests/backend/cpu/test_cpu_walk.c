/* Walks through the row functions of every plugin: the counts are plausible, and are those that
 * objdump shows for one of the function's loops. */

#include "backend/cpu/x86/walk.h"
#include "base/machine.h"
#include "stencil/stencil.h"
#include "tests/unit.h"
#include <dlfcn.h>

enum {
    COUNT = 512,
    FIELDS = TZ_FIELDS_MAX * TZ_SLABS_IN_PLACE_MAX,
    VIEWS = TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + TZ_SLABS_IN_PLACE_MAX)
};

typedef struct plugin_file {
    char path[512];
    void *library;
    const tz_plugin *plugin;
} plugin_file;

static plugin_file open_plugin(const char *folder, const char *name)
{
    plugin_file file;
    snprintf(file.path, sizeof file.path, "%s/%s.so", folder, name);
    file.library = dlopen(file.path, RTLD_NOW | RTLD_LOCAL);
    if (!file.library)
        fail_msg("%s", dlerror());
    void *symbol = dlsym(file.library, TZ_PLUGIN_ENTRY_NAME);
    assert_non_null(symbol);
    tz_plugin_entry_fn *entry;
    memcpy(&entry, &symbol, sizeof entry);
    file.plugin = entry();
    return file;
}

/* Constants that are valid for every stencil. */
static void fill_constants(const tz_stencil *stencil, tz_precision precision, tz_slot *constants)
{
    for (int k = 0; k < TZ_CONSTANTS_MAX; k++) {
        memset(&constants[k], 0, sizeof constants[k]);
        if (k >= stencil->constants_count || stencil->constants[k].type != TZ_REAL)
            constants[k].i = 1;
        else if (precision == TZ_DOUBLE)
            constants[k].d = 0.5;
        else
            constants[k].f = 0.5f;
    }
}

/* The counts of `count` elements on each of `rows` rows. */
static tz_walk walk(tz_walker *walker, const tz_stencil *stencil, const tz_pass *pass,
                    tz_precision precision, tz_row_fn *function, int count, int rows)
{
    tz_view in[VIEWS];
    tz_target out[FIELDS];
    tz_slot constants[TZ_CONSTANTS_MAX];
    tz_walk result;
    fill_constants(stencil, precision, constants);
    for (int v = 0; v < VIEWS; v++)
        in[v] = (tz_view){(const void *)(uintptr_t)((UINT64_C(0x1000) + (uint64_t)v) << 32), 4096};
    for (int f = 0; f < FIELDS; f++)
        out[f] = (tz_target){(void *)(uintptr_t)((UINT64_C(0x2000) + (uint64_t)f) << 32), 4096};
    const tz_span span = {
        .in = in, .out = out, .constants = constants, .count = count, .rows = rows};
    const tz_walk_range ranges[] = {
        {&span, sizeof span}, {in, sizeof in}, {out, sizeof out}, {constants, sizeof constants}};
    if (tz_walker_walk(walker, function, &span, ranges, 4, &result, &failure))
        fail_msg("%s: %s", stencil->id, failure.message);
    return result;
}

static double per_vector(double longer, double shorter, const tz_walk *of, double element)
{
    return (longer - shorter) / (COUNT * element / of->vector_bytes);
}

static tz_walker *create_walker(void)
{
    tz_walker *walker;
    const tz_status status = tz_walker_create(&walker, &failure);
    if (status == TZ_UNSUPPORTED) {
        skip_test("%s", failure.message);
    }
    assert_int_equal(status, TZ_OK);
    return walker;
}

/* Only optimised code has loops over vectors and nothing else in them. */
static void skip_unless_optimised(void)
{
#ifndef NDEBUG
    skip_test("code without optimisation");
#endif
}

/* ---- Known stencils -------------------------------------------------------------------------- */

static void test_counts_of_known_stencils(void **state)
{
    /* Additions, multiplications and fused ones of the cell updates' texts; distinct cells read. */
    static const struct {
        const char *id;
        double arithmetic, reads_least, reads_most;
    } known[] = {
        {"star2d1r", 5, 5, 5},
        {"star2d2r", 9, 9, 9},
        {"box2d1r", 11, 9, 9},
        {"star3d1r", 7, 7, 7},
        {"star3d2r", 13, 13, 17},
        {"box2d2r", 29, 25, 45}, /* with pointers that found no register */
    };
    skip_unless_optimised();
    tz_walker *walker = create_walker();
    const plugin_file file = open_plugin(TZ_TEST_PLAIN_PLUGIN_DIR, "jacobi");
    int checked = 0;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        for (int s = 0; s < file.plugin->stencils_count; s++) {
            const tz_stencil *stencil = file.plugin->stencils[s];
            if (strcmp(stencil->id, known[k].id) != 0)
                continue;
            for (int precision = TZ_SINGLE; precision <= TZ_DOUBLE; precision++)
                for (int isa = TZ_ISA_V3; isa <= TZ_ISA_V4; isa++) {
                    const double element = precision == TZ_DOUBLE ? 8 : 4;
                    tz_row_fn *rows = tz_kernels_rows(stencil->passes->kernels, (tz_isa)isa,
                                                      (tz_precision)precision);
                    if (!rows)
                        continue;
                    const tz_walk a = walk(walker, stencil, stencil->passes,
                                           (tz_precision)precision, rows, COUNT, 1);
                    const tz_walk b = walk(walker, stencil, stencil->passes,
                                           (tz_precision)precision, rows, 2 * COUNT, 1);
                    const int class = precision == TZ_DOUBLE ? TZ_WORK_FP64 : TZ_WORK_FP32;
                    const double arithmetic =
                        per_vector(b.mix.of[class], a.mix.of[class], &a, element);
                    const double reads = per_vector(b.loads, a.loads, &a, element);
                    const double lines = per_vector(b.lines, a.lines, &a, element);
                    const double stores = per_vector(b.stores, a.stores, &a, element);
                    assert_true(arithmetic == known[k].arithmetic);
                    assert_true(reads >= known[k].reads_least && reads <= known[k].reads_most);
                    assert_true(lines >= reads && lines <= 2 * reads);
                    assert_true(stores == 1);
                    assert_int_equal(a.estimates + a.strays + a.calls, 0);
                    checked++;
                }
        }
    if (checked == 0)
        skip_test("no x86-64");
    assert_int_equal(checked, 24);
    /* A row of a star: the loads of the west and east neighbours cross a line with every 64-byte
     * vector. */
    const tz_stencil *star = file.plugin->stencils[0];
    tz_row_fn *rows = tz_kernels_rows(star->passes->kernels, TZ_ISA_V4, TZ_SINGLE);
    const tz_walk a = walk(walker, star, star->passes, TZ_SINGLE, rows, COUNT, 1);
    const tz_walk b = walk(walker, star, star->passes, TZ_SINGLE, rows, 2 * COUNT, 1);
    if (a.vector_bytes == 64)
        assert_true(per_vector(b.lines, a.lines, &a, 4) == 7);
    /* Two rows are twice a row, minus the cost of one call. */
    const tz_walk c = walk(walker, star, star->passes, TZ_SINGLE, rows, COUNT, 2);
    assert_true(c.stored_bytes == 2 * a.stored_bytes);
    assert_true(c.slots > a.slots && c.slots < 2 * a.slots);
    tz_walker_destroy(walker);
    dlclose(file.library);
}

/* A function stores every cell of its slabs once. Returns whether it branches on cells where it
 * computes vectors. */
static bool check_function(tz_walker *walker, const tz_stencil *stencil, const tz_pass *pass,
                           tz_precision precision, tz_row_fn *function, int slabs)
{
    double bytes = 0;
    for (int f = 0; f < stencil->fields_count; f++)
        if (pass->writes >> f & 1)
            bytes += stencil->fields[f].type == TZ_REAL && precision == TZ_DOUBLE ? 8 : 4;
    bool decides = false;
    for (int count = 1; count < 100; count += 33) {
        const tz_walk a = walk(walker, stencil, pass, precision, function, count, 3);
        decides = decides || (count > 32 && a.estimates > 0);
        if (a.estimates > 0) /* a branch on a cell: the walk follows one of two ways */
            continue;
        if (a.stored_bytes != 3 * slabs * count * bytes)
            fail_msg("%s precision %d, %d slabs, count %d: %g bytes stored, not %g", stencil->id,
                     precision, slabs, count, a.stored_bytes, 3 * slabs * count * bytes);
    }
    return decides;
}

static void check_stores(const char *folder, const char *name)
{
    tz_walker *walker = create_walker();
    const plugin_file file = open_plugin(folder, name);
    for (int s = 0; s < file.plugin->stencils_count; s++)
        for (int p = 0; p < file.plugin->stencils[s]->passes_count; p++)
            for (int precision = 0; precision < TZ_PRECISIONS; precision++)
                for (int isa = 0; isa < TZ_ISA_COUNT; isa++) {
                    const tz_stencil *stencil = file.plugin->stencils[s];
                    const tz_pass *pass = &stencil->passes[p];
                    tz_row_fn *rows =
                        tz_kernels_rows(pass->kernels, (tz_isa)isa, (tz_precision)precision);
                    if (!rows)
                        continue;
                    const bool decides =
                        check_function(walker, stencil, pass, (tz_precision)precision, rows, 1);
                    tz_row_fn *together =
                        pass->together
                            ? tz_kernels_rows(pass->together, (tz_isa)isa, (tz_precision)precision)
                            : NULL;
                    if (together && check_function(walker, stencil, pass, (tz_precision)precision,
                                                   together, TZ_SLABS_TOGETHER) != decides)
                        fail_msg("%s precision %d isa %d: two slabs cannot be followed",
                                 stencil->id, precision, isa);
                    tz_row_fn *in_place =
                        pass->in_place
                            ? tz_kernels_rows(pass->in_place, (tz_isa)isa, (tz_precision)precision)
                            : NULL;
                    if (in_place &&
                        check_function(walker, stencil, pass, (tz_precision)precision, in_place,
                                       TZ_SLABS_IN_PLACE(pass->dims)) != decides)
                        fail_msg("%s precision %d isa %d: slabs in place cannot be followed",
                                 stencil->id, precision, isa);
                }
    tz_walker_destroy(walker);
    dlclose(file.library);
}

static void test_every_cell_is_stored_once(void **state)
{
    static const char *const plain[] = {"jacobi", "hotspot",    "hotspot3d", "poisson",
                                        "life",   "pathfinder", "cell"};
#ifndef __SANITIZE_ADDRESS__
    static const char *const plugins[] = {"cyclic", "grayscott", "lbm", "tabik", "wave"};
    static const char *const test_plugins[] = {"mixed1d", "mixed3d",   "radius4",   "redblack",
                                               "rule1d",  "twofields", "integers",  "conduct3d",
                                               "d2q9",    "d3q19",     "maxwell2d", "onesided",
                                               "sound3d", "swirl",     "walls",     "yee3d"};
#endif
    skip_unless_optimised(); /* others keep more than cells in memory */
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        check_stores(TZ_TEST_PLAIN_PLUGIN_DIR, plain[i]);
#ifndef __SANITIZE_ADDRESS__ /* these have checks, which keep more than cells in memory */
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++)
        check_stores(TZ_TEST_PLUGIN_DIR, plugins[i]);
    for (size_t i = 0; i < sizeof test_plugins / sizeof *test_plugins; i++)
        check_stores(TZ_TEST_TEST_PLUGIN_DIR, test_plugins[i]);
#endif
}

/* ---- objdump as oracle ----------------------------------------------------------------------- */

typedef struct line {
    uint64_t address, target; /* target of a branch, else 0 */
    bool conditional, load, store, real, logic;
} line;

enum { LINES = 40000 };

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* "  9e28:\tvmovups (%r10,%rdx,1),%zmm3" */
static bool read_line(const char *text, line *out)
{
    char name[32] = "", operands[256] = "";
    unsigned long long address, target;
    memset(out, 0, sizeof *out);
    if (sscanf(text, " %llx:%31s %255[^\n#]", &address, name, operands) < 2)
        return false;
    out->address = address;
    if (name[0] == 'j') {
        out->conditional = !starts(name, "jmp");
        if (sscanf(operands, "%llx", &target) == 1)
            out->target = target;
        return true;
    }
    const char *open = strchr(operands, '('), *last = operands;
    int depth = 0;
    for (const char *c = operands; *c; c++) {
        depth += *c == '(' ? 1 : *c == ')' ? -1 : 0;
        if (*c == ',' && depth == 0)
            last = c + 1;
    }
    if (open && !starts(name, "lea") && !starts(name, "nop")) {
        const bool compares = starts(name, "cmp") || starts(name, "test");
        out->store = strchr(last, '(') && !compares;
        out->load = !out->store;
    }
    const char *bare = name[0] == 'v' ? name + 1 : name;
    const size_t n = strlen(bare);
    const bool packed = n > 2 && bare[n - 2] == 'p' && (bare[n - 1] == 's' || bare[n - 1] == 'd');
    out->real = packed && (starts(bare, "add") || starts(bare, "sub") || starts(bare, "mul") ||
                           starts(bare, "fm") || starts(bare, "fnm"));
    out->logic = starts(bare, "ptern") || starts(bare, "pand") || starts(bare, "por") ||
                 starts(bare, "pxor") || starts(bare, "psll") || starts(bare, "psrl") ||
                 starts(bare, "psra") ||
                 (packed && (starts(bare, "and") || starts(bare, "or") || starts(bare, "xor")));
    return true;
}

/* Is there a loop without a branch inside whose trip does what `count` elements took, so many
 * times?
 */
static bool find_loop(const line *lines, int count, const tz_walk *trip)
{
    for (int end = 0; end < count; end++) {
        if (!lines[end].conditional || lines[end].target >= lines[end].address)
            continue;
        double loads = 0, stores = 0, real = 0, logic = 0, slots = 0;
        int at = end;
        bool whole = false;
        for (; at >= 0; at--) {
            if (at < end && (lines[at].target || lines[at].conditional))
                break;
            loads += lines[at].load;
            stores += lines[at].store;
            real += lines[at].real;
            logic += lines[at].logic;
            slots++;
            if (lines[at].address == lines[end].target) {
                whole = true;
                break;
            }
        }
        if (!whole || stores == 0)
            continue;
        slots -= 1;                                 /* the branch goes with its comparison */
        const double times = stores / trip->stores; /* vectors of a trip */
        if (fabs(loads - times * trip->loads) < 1e-6 &&
            fabs(slots - times * trip->slots) < 0.5 * times + 1e-6 &&
            fabs(real - times * (trip->mix.of[TZ_WORK_FP32] + trip->mix.of[TZ_WORK_FP64])) < 1e-6 &&
            fabs(logic - times * trip->mix.of[TZ_WORK_LOGIC]) < 1e-6)
            return true;
    }
    return false;
}

static int disassemble(const char *path, uint64_t from, line *lines)
{
    char command[700], text[512];
    int count = 0;
    snprintf(command, sizeof command,
             "objdump -d --no-show-raw-insn --start-address=0x%llx --stop-address=0x%llx '%s'",
             (unsigned long long)from, (unsigned long long)from + 8192, path);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return 0;
    while (count < LINES && fgets(text, sizeof text, pipe))
        count += read_line(text, &lines[count]);
    pclose(pipe);
    return count;
}

static void test_counts_are_those_of_objdump(void **state)
{
    static const char *const names[] = {"jacobi", "hotspot", "poisson", "life", "pathfinder"};
    static line lines[LINES];
    skip_unless_optimised();
    if (system("objdump --version >/dev/null 2>&1") != 0)
        skip_test("no objdump");
    tz_walker *walker = create_walker();
    int checked = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const plugin_file file = open_plugin(TZ_TEST_PLAIN_PLUGIN_DIR, names[i]);
        for (int s = 0; s < file.plugin->stencils_count; s++)
            for (int precision = 0; precision < TZ_PRECISIONS; precision++)
                for (int isa = TZ_ISA_V3; isa <= TZ_ISA_V4; isa++) {
                    const tz_stencil *stencil = file.plugin->stencils[s];
                    tz_row_fn *rows = tz_kernels_rows(stencil->passes->kernels, (tz_isa)isa,
                                                      (tz_precision)precision);
                    if (!rows)
                        continue;
                    void *address;
                    Dl_info info;
                    memcpy(&address, &rows, sizeof address);
                    assert_true(dladdr(address, &info) != 0);
                    const int n = disassemble(
                        file.path, (uint64_t)((char *)address - (char *)info.dli_fbase), lines);
                    const tz_walk a = walk(walker, stencil, stencil->passes,
                                           (tz_precision)precision, rows, COUNT, 1);
                    const tz_walk b = walk(walker, stencil, stencil->passes,
                                           (tz_precision)precision, rows, 2 * COUNT, 1);
                    const double trips =
                        COUNT * (precision == TZ_DOUBLE ? 8.0 : 4.0) / a.vector_bytes;
                    tz_walk trip = {.loads = (b.loads - a.loads) / trips,
                                    .stores = (b.stores - a.stores) / trips,
                                    .slots = (b.slots - a.slots) / trips};
                    for (int c = 0; c < TZ_WORK_CLASSES; c++)
                        trip.mix.of[c] = (b.mix.of[c] - a.mix.of[c]) / trips;
                    if (!find_loop(lines, n, &trip))
                        fail_msg("%s precision %d isa %d: no loop of %g loads, %g stores, %g "
                                 "instructions",
                                 stencil->id, precision, isa, trip.loads, trip.stores, trip.slots);
                    checked++;
                }
        dlclose(file.library);
    }
    tz_walker_destroy(walker);
    if (checked == 0)
        skip_test("no x86-64");
    assert_int_equal(checked, 2 * (7 * 2 + 2 + 2 + 1 + 1));
}

/* ---- Functions that are none ----------------------------------------------------------------- */

static void forever(const tz_span *span)
{
    for (;;)
        __asm__ volatile("");
}

static void test_an_endless_function_is_refused(void **state)
{
    const tz_span span = {.count = 1, .rows = 1};
    const tz_walk_range range = {&span, sizeof span};
    tz_walk result;
    tz_walker *walker = create_walker();
    check_error(tz_walker_walk(walker, forever, &span, &range, 1, &result, &failure),
                TZ_UNSUPPORTED, "", "does not end");
    tz_walker_destroy(walker);
}

#if defined(__x86_64__)
/* Jumps to an address that a cell holds. */
__attribute__((no_sanitize("address", "undefined"))) static void stray(const tz_span *span)
{
    __asm__ volatile("mov (%0), %%rax\n jmp *(%%rax)" : : "r"(span->in) : "rax");
}

/* Stores one vector of 16 bytes if a cell is zero. The walk assumes that it is not. */
__attribute__((no_sanitize("address", "undefined"))) static void depends(const tz_span *span)
{
    __asm__ volatile("cmpl $0, (%0)\n jne 1f\n addps %%xmm0, %%xmm0\n movaps %%xmm0, (%1)\n 1:"
                     :
                     : "r"(span->in[0].at), "r"(span->out[0].at)
                     : "cc", "xmm0", "memory");
}

static void test_what_cells_decide(void **state)
{
    const tz_view in = {(const void *)UINT64_C(0x100000000000), 0};
    const tz_target out = {(void *)UINT64_C(0x200000000000), 0};
    const tz_span span = {.in = &in, .out = &out, .count = 1, .rows = 1};
    const tz_walk_range ranges[] = {{&span, sizeof span}, {&in, sizeof in}, {&out, sizeof out}};
    tz_walk result;
    tz_walker *walker = create_walker();
    check_error(tz_walker_walk(walker, stray, &span, ranges, 3, &result, &failure), TZ_UNSUPPORTED,
                "", "depends on its cells");
    assert_ok(tz_walker_walk(walker, depends, &span, ranges, 3, &result, &failure));
    assert_true(result.estimates == 1);
    assert_true(result.stored_bytes == 16);
    assert_true(result.mix.of[TZ_WORK_FP32] == 1);
    assert_int_equal(result.vector_bytes, 16);
    tz_walker_destroy(walker);
}
#endif

static int run(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_counts_of_known_stencils),
        TEST(test_every_cell_is_stored_once),
        TEST(test_counts_are_those_of_objdump),
        TEST(test_an_endless_function_is_refused),
#if defined(__x86_64__)
        TEST(test_what_cells_decide),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
TEST_FILE(run)
