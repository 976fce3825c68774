/* The kernels of a calibration, without a GPU: every text compiles for every architecture without
 * spills, and computes the right values on the host. */
#include "backend/cuda/family/family.h"
#include "backend/cuda/ptx/ptx.h"
#include "backend/cuda/sass/sass.h"
#include "calibrate/cuda_parts.h"
#include "tests/archetypes.h"
#include "tests/backend/cuda/simt/unit.h"

static const char *const architectures[] = {"sm_90", "sm_80", "sm_100"};

static int longest_loop(const tz_sass *code)
{
    int longest = 0;
    for (int i = 0; i < code->count; i++)
        if (code->code[i].flow == TZ_SASS_BRANCH && code->code[i].target >= 0 &&
            i - code->code[i].target + 1 > longest)
            longest = i - code->code[i].target + 1;
    return longest;
}

/* Unless all is tested, with fewer steps, which compile faster: these are unrolled. */
static void define(const tz__chains *chains, char definitions[TZ__DEFINITIONS_SIZE])
{
    tz__chains some = *chains;
    if (!is_complete() && some.steps > 16)
        some.steps = 16;
    tz__chains_define(&some, definitions);
}

/* `counts`: the instructions of the longest loop for each architecture, 0 for one that is not tried; may
 * be NULL. */
static void compile_for(const char *what, char *text, int *counts)
{
    assert_non_null(text);
    for (int a = 0; a < 3; a++) {
        if (counts)
            counts[a] = 0;
        if (a > 0 && !is_complete())
            continue;
        tz_sass code = {0};
        size_t bytes = 0;
        void *cubin = NULL;
        tz_status status = tz_cuda_compile(architectures[a], text, tz_cuda_headers,
                                           tz_cuda_headers_count, NULL, &cubin, &bytes, &failure);
        if (!status)
            status = tz_sass_read(&code, cubin, bytes, "tz_probe", &failure);
        if (status == TZ_UNSUPPORTED) {
            free(text);
            skip_test("%s", failure.message);
        }
        if (status != TZ_OK)
            fail_msg("%s: %s", what, failure.message);
        const char *keep = getenv("TZ_TEST_KEEP"); /* a folder: for a look at the code */
        if (keep) {
            char path[512];
            snprintf(path, sizeof path, "%s/%s-%.40s.cubin", keep, architectures[a], what);
            for (char *at = path + strlen(keep) + 1; *at; at++)
                *at = *at == ' ' || *at == ',' || *at == '\n' ? '-' : *at;
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            fwrite(cubin, 1, bytes, file);
            fclose(file);
        }
        free(cubin);
        if (counts)
            counts[a] = longest_loop(&code);
        tz_sass_free(&code);
        if (code.local_bytes != 0)
            fail_msg("%s on %s: %d bytes of local memory", what, architectures[a],
                     code.local_bytes);
    }
    free(text);
}

static void compile(const char *what, char *text)
{
    compile_for(what, text, NULL);
}

static void texts_compile(void **state)
{
    size_t count;
    const tz__chains *table = tz__chains_table(&count);
    for (size_t i = 0; i < count; i++) {
        char definitions[TZ__DEFINITIONS_SIZE];
        define(&table[i], definitions);
        compile(table[i].what, tz__bench_text(TZ__PROBE_CHAINS, table[i].threads, definitions));
    }
    table = tz__energy_table(&count);
    for (size_t i = 0; i < count; i++) {
        char definitions[TZ__DEFINITIONS_SIZE], what[64];
        define(&table[i], definitions);
        snprintf(what, sizeof what, "energy %zu", i);
        compile(what, tz__bench_text(TZ__PROBE_CHAINS, table[i].threads, definitions));
    }
    const tz__chains longest = tz__chains_text(256);
    char definitions[TZ__DEFINITIONS_SIZE];
    tz__chains_define(&longest, definitions);
    compile("text cache", tz__bench_text(TZ__PROBE_CHAINS, longest.threads, definitions));
    compile("lay", tz__bench_text(TZ__PROBE_LINK, 256, ""));
    const tz__copier *copiers = tz__copiers_table(&count);
    for (size_t i = 0; i < count; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s %d %s", copiers[i].writes ? "copy" : "read",
                 copiers[i].packets, copiers[i].load);
        tz__copier_define(&copiers[i], definitions);
        compile(what, tz__bench_text(TZ__PROBE_COPY, 256, definitions));
    }
    compile("empty", tz__bench_text(TZ__PROBE_EMPTY, 256, ""));
    compile("grid synchronisation", tz__bench_text(TZ__PROBE_SYNC, 256, ""));
    compile("pass", tz__bench_text(TZ__PROBE_PASS, 32, ""));
    tz__periods_define(2000, definitions);
    compile("periods", tz__bench_text(TZ__PROBE_PERIODS, 1024, definitions));
}

/* ---- Costs of PTX ---------------------------------------------------------------------------- */

static char *text_of_cost(const char *ptx)
{
    char definitions[TZ__DEFINITIONS_SIZE];
    tz__cost_define(ptx, definitions);
    return tz__bench_text(TZ__PROBE_COST, 32, definitions);
}

/* The assembler leaves every step in the loop, but for moves: a move is no instruction. */
static void steps_are_not_folded(void **state)
{
    size_t count;
    const tz__cost *costs = tz__costs_table(&count);
    int without[3], with[3];
    compile_for("step", text_of_cost(""), without);
    for (size_t i = 0; i < count; i++) {
        compile_for(costs[i].what, text_of_cost(costs[i].text), with);
        for (int a = 0; a < 3; a++) {
            const int more = with[a] - without[a];
            const bool is_move = costs[i].number == offsetof(tz_model_device, move_any);
            if (is_move ? more >= TZ__COST_STEPS
                        : with[a] > 0 && more < TZ__COST_STEPS * costs[i].instructions)
                fail_msg("%s on %s: %d instructions with it, %d without", costs[i].what,
                         architectures[a], with[a], without[a]);
        }
    }
}

/* Clocks of a kernel's text if the number at this offset of the record is 1 and all other costs are 0. */
static double clocks_of(const char *ptx, size_t number)
{
    tz_model_device device = {.name = "one"};
    tz_luo2011_gpu gpu;
    tz_ptx *read = NULL;
    tz_ptx_trace trace;
    char *text = NULL, *source = text_of_cost(ptx);
    const tz_ptx_launch launch = {.block = {32, 1, 1}, .grid = {1, 1, 1}, .trips = 1};
#define SET(member, ...) device.member = (tz_model_number){.value = 0, .known = true};
    TZ_MODEL_DEVICE_COST_TABLE(SET)
    TZ_MODEL_DEVICE_COST_ASSUMED_TABLE(SET)
    SET(clock_hz)
    SET(sm_count)
    SET(warp_size)
    SET(blocks_per_sm)
    SET(threads_per_sm_max)
    SET(memory_bandwidth_bytes_per_s)
    SET(memory_latency_s)
#undef SET
    device.clock_hz.value = device.sm_count.value = device.memory_latency_s.value = 1;
    device.warp_size.value = 32;
    device.threads_per_sm_max.value = 1024;
    ((tz_model_number *)((char *)&device + number))->value = 1;
    assert_ok(tz_luo2011_gpu_of(&device, &gpu, NULL, &failure));
    static char *empty; /* PTX of a kernel without a step, compiled once */
    tz_status status = TZ_OK;
    if (*ptx || !empty)
        status = tz_cuda_compile_ptx("compute_80", source, tz_cuda_headers, tz_cuda_headers_count,
                                     &text, &failure);
    free(source);
    if (!status && !*ptx) {
        empty = text ? text : empty;
        text = NULL;
    }
    if (status == TZ_UNSUPPORTED)
        skip_test("%s", failure.message);
    assert_ok(status);
    assert_ok(tz_ptx_read(&read, *ptx ? text : empty, "tz_probe", &failure));
    assert_ok(tz_ptx_run(read, &launch, &gpu.costs, false, &trace, &failure));
    const double clocks = trace.text_computation;
    tz_ptx_trace_clear(&trace);
    tz_ptx_destroy(read);
    free(text);
    return clocks;
}

/* What is repeated for a number of the record is what the model charges that number for. */
static void steps_are_what_the_model_charges(void **state)
{
    size_t count;
    const tz__cost *costs = tz__costs_table(&count);
    for (size_t i = 0; i < count; i++) {
        const double more =
            clocks_of(costs[i].text, costs[i].number) - clocks_of("", costs[i].number);
        if (more != TZ__COST_STEPS * costs[i].instructions)
            fail_msg("%s: the model counts %g, not %d", costs[i].what, more,
                     TZ__COST_STEPS * costs[i].instructions);
    }
}

/* ---- On a host ------------------------------------------------------------------------------- */

enum { BLOCKS = 2, WORDS = 1 << 14 };

/* The output and the report of a kernel. */
typedef struct bench {
    uint32_t cycles[64], barrier[16];
    uint32_t from[WORDS], to[WORDS];
    simt_report report;
} bench;

static void run(bench *b, char *text, int blocks, int threads, int shared_bytes, bool cooperative,
                void **arguments)
{
    const simt_entry *entry;
    assert_non_null(text);
    need_compiler();
    assert_ok(simt_build_kernel(build, text, "tz_probe", &entry, &failure));
    free(text);
    const simt_buffer buffers[] = {{"cycles", b->cycles, sizeof b->cycles, true},
                                   {"barrier", b->barrier, sizeof b->barrier, true},
                                   {"from", b->from, sizeof b->from, true},
                                   {"to", b->to, sizeof b->to, true}};
    const simt_launch how = {.grid = {blocks, 1, 1},
                             .threads = threads,
                             .shared_bytes = shared_bytes,
                             .cooperative = cooperative,
                             .buffers = buffers,
                             .buffers_count = 4};
    memset(&b->report, 0, sizeof b->report);
    if (!simt_run(machine, entry, &how, arguments, &b->report) || simt_report_total(&b->report) > 0)
        fail_msg("%s", b->report.message[0]);
}

static const tz__chains *chains_of(size_t number)
{
    size_t count;
    const tz__chains *table = tz__chains_table(&count);
    for (size_t i = 0; i < count; i++)
        if (table[i].number == number)
            return &table[i];
    fail_msg("no chains measure the number at %zu", number);
    return NULL;
}

/* The words that a kernel of chains leaves in `to`, with few threads and steps of its own. */
static void run_chains(bench *b, tz__chains chains, int rounds, void *a, void *other)
{
    char definitions[TZ__DEFINITIONS_SIZE];
    void *cycles = b->cycles, *to = b->to;
    const void *table = b->from;
    int words = chains.shared_words > 0 ? 64 : 0;
    chains.threads = 64;
    chains.steps = 16;
    tz__chains_define(&chains, definitions);
    void *arguments[] = {&cycles, &to, &table, &rounds, &words, a, other};
    run(b, tz__bench_text(TZ__PROBE_CHAINS, chains.threads, definitions), BLOCKS, chains.threads,
        4 * words, false, arguments);
    for (int k = 0; k < BLOCKS; k++)
        assert_true(b->cycles[k] > 0);
}

static void chains_take_every_step(void **state)
{
    static bench b;
    const int rounds = 3;
    /* 32-bit additions: the same on this host. */
    uint32_t a = 77, other = 5;
    tz__chains chains = *chains_of(offsetof(tz_model_device, integer_rate));
    run_chains(&b, chains, rounds, &a, &other);
    for (uint32_t t = 0; t < 64; t++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t x = t + k, y = t + k;
            for (int s = 0; s < rounds * 16 / 8; s++) {
                x = x + y + a;
                y = y + x + a;
            }
            sum += x + y + (t < 77 && t > 5);
        }
        assert_int_equal(b.to[t], sum);
        assert_int_equal(b.to[64 + t], sum);
    }
    /* Numbers, in their own order. */
    float f = 1.0009765625f, g = 0.0009765625f;
    chains = *chains_of(offsetof(tz_model_device, fp32_mixed_rate));
    run_chains(&b, chains, rounds, &f, &g);
    for (int t = 0; t < 64; t++) {
        float sum = 0, found;
        for (int k = 0; k < 4; k++) {
            float x = (float)(t + k), y = (float)(t + k);
            for (int s = 0; s < rounds * 16 / 8; s++) {
                x = (x + y) * f;
                y = (y + x) * f;
            }
            sum = sum + x + y + (float)(t < 1 && t > 0);
        }
        memcpy(&found, &b.to[t], sizeof found);
        assert_true(found == sum);
    }
    /* Shared memory leads everyone back to where they began. */
    chains = *chains_of(offsetof(tz_model_device, shared_latency_s));
    run_chains(&b, chains, rounds, &a, &other);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(b.to[t], 2 * 4 * t + (t < 77 && t > 5));
}

/* The steps of every rate and latency run on a host, without a race or an address gone wrong. */
static void every_chain_runs(void **state)
{
    static bench b;
    size_t count;
    const tz__chains *table = tz__chains_table(&count);
    for (size_t i = 0; i < count; i++) {
        uint64_t a = 0, other = 0;
        run_chains(&b, table[i], 1, &a, &other);
    }
}

/* What energies are measured with has data without order: no two threads' are the same, they do not
 * run away, and do not come to rest. */
static void energy_data_have_no_order(void **state)
{
    static bench b, later;
    size_t count;
    const tz__chains *table = tz__energy_table(&count);
    for (size_t i = 0; i < count; i++) {
        tz__operand a, other;
        const bool is_float = strcmp(table[i].type, "float") == 0;
        const bool is_double = strcmp(table[i].type, "double") == 0;
        tz__energy_operands(&table[i], &a, &other);
        run_chains(&b, table[i], 40, &a, &other);
        run_chains(&later, table[i], 41, &a, &other);
        if (table[i].shared_words > 0 || strcmp(table[i].type, "heavy") == 0)
            continue; /* addresses; two data whose sum shows nothing */
        for (int t = 0; t < 64; t++)
            for (int u = 0; u < t; u++) {
                if (is_double)
                    assert_true(((double *)b.to)[t] != ((double *)b.to)[u]);
                else if (strcmp(table[i].what, "SHFL.UP") != 0)
                    assert_true(b.to[t] != b.to[u]);
            }
        if (is_float || is_double)
            for (int t = 0; t < 64; t++) {
                float small, next;
                memcpy(&small, &b.to[t], sizeof small);
                memcpy(&next, &later.to[t], sizeof next);
                const double sum = is_double ? ((double *)b.to)[t] : (double)small;
                const double then = is_double ? ((double *)later.to)[t] : (double)next;
                assert_true(sum > -16 && sum < 16 && sum != then);
            }
    }
}

static void words_lead_through_all_lines(void **state)
{
    static bench b;
    enum { LINES = 96, LINE_WORDS = 32 };
    uint32_t order[LINES];
    int count = LINES;
    memset(&b, 0, sizeof b);
    for (uint32_t i = 0; i < LINES; i++)
        b.to[i] = order[i] = 4 * LINE_WORDS * ((i * 37 + 11) % LINES);
    void *table = b.from;
    const void *list = b.to;
    void *arguments[] = {&table, &list, &count};
    run(&b, tz__bench_text(TZ__PROBE_LINK, 32, ""), BLOCKS, 32, 0, false, arguments);
    for (int i = 0; i < LINES; i++)
        assert_int_equal(b.from[order[i] / 4], order[(i + 1) % LINES]);
    /* And they are followed: two steps a pair, from the first line on. */
    tz__chains chains = {.what = "follow",
                         .type = "tz_word",
                         .step = "x = follow(table, y)",
                         .first = "a",
                         .pairs = 1};
    uint32_t a = order[0], other = 0;
    run_chains(&b, chains, 2, &a, &other);
    assert_int_equal(b.to[0], order[32] + order[31]);
}

static void copies_copy_everything(void **state)
{
    static bench b;
    size_t count;
    const tz__copier *copiers = tz__copiers_table(&count);
    for (size_t i = 0; i < count; i++) {
        char definitions[TZ__DEFINITIONS_SIZE];
        enum { THREADS = 32 };
        const int words = THREADS * 4 * copiers[i].packets;
        int pieces = WORDS / words, rounds = 3;
        uint32_t never = 0x9e3779b9u;
        const void *from = b.from;
        void *to = b.to;
        pieces = pieces > 5 ? 5 : pieces;
        memset(&b, 0, sizeof b);
        for (uint32_t k = 0; k < WORDS; k++)
            b.from[k] = 3 * k + 1;
        tz__copier_define(&copiers[i], definitions);
        void *arguments[] = {&from, &to, &pieces, &rounds, &never};
        run(&b, tz__bench_text(TZ__PROBE_COPY, THREADS, definitions), BLOCKS, THREADS, 0, false,
            arguments);
        for (int k = 0; k < WORDS; k++)
            assert_int_equal(b.to[k], copiers[i].writes && k < pieces * words ? b.from[k] : 0);
    }
}

static void blocks_synchronise_and_pass_words(void **state)
{
    static bench b;
    int rounds = 5;
    uint32_t tag = 9;
    void *cycles = b.cycles, *barrier = b.barrier, *slots = b.to;
    memset(&b, 0, sizeof b);
    void *sync[] = {&cycles, &barrier, &rounds};
    run(&b, tz__bench_text(TZ__PROBE_SYNC, 64, ""), 3, 64, 0, true, sync);
    assert_true(b.cycles[2] > 0);
    memset(&b, 0, sizeof b);
    void *pass[] = {&cycles, &slots, &barrier, &rounds, &tag};
    run(&b, tz__bench_text(TZ__PROBE_PASS, 32, ""), 4, 32, 0, true, pass);
    for (int k = 0; k < 4; k++) { /* the last word: its number, under its tag */
        assert_true(b.cycles[k] > 0);
        assert_int_equal(b.to[32 * k], rounds - 1);
        assert_int_equal(b.to[32 * k + 1], tag + (uint32_t)rounds - 1);
    }
}

/* Each round reads the words after those of the round before, to the end of the table and on from its
 * beginning. A word that is not 0 shows which: it goes into the sum. */
static void periods_read_the_next_words(void **state)
{
    static bench b;
    char definitions[TZ__DEFINITIONS_SIZE];
    enum { THREADS = 32, ROUNDS = 3 };
    int rounds = ROUNDS;
    const float one = 1, zero = 0;
    const uint32_t words = 4 * BLOCKS * THREADS;
    uint32_t first = 2 * 4 * BLOCKS * THREADS, mask = 4 * words - 1;
    void *cycles = b.cycles, *to = b.to;
    const void *table = b.from;
    void *arguments[] = {&cycles, &to, &table, &rounds, &first, &mask, (void *)&zero};
    tz__periods_define(5, definitions);
    for (uint32_t marked = 0; marked < words; marked += 13) {
        memset(&b, 0, sizeof b);
        memcpy(&b.from[marked], &one, sizeof one);
        run(&b, tz__bench_text(TZ__PROBE_PERIODS, THREADS, definitions), BLOCKS, THREADS, 0, false,
            arguments);
        /* Rounds 0 to 2 read the third, the fourth and the first quarter. A word that is found in the
         * last round only shows in the sum. */
        for (uint32_t t = 0; t < BLOCKS * THREADS; t++)
            assert_int_equal(b.to[t], t == marked % (words / 4) && marked / (words / 4) != 1);
    }
}

TEST_MAIN(open_machine, close_machine, TEST(texts_compile), TEST(steps_are_not_folded),
          TEST(steps_are_what_the_model_charges), TEST(periods_read_the_next_words),
          TEST(chains_take_every_step), TEST(every_chain_runs), TEST(words_lead_through_all_lines),
          TEST(copies_copy_everything), TEST(blocks_synchronise_and_pass_words),
          TEST(energy_data_have_no_order))
