/* The kernels of a calibration, without a GPU: every text compiles for every architecture without
 * spills, and computes the right values on the host. */
#include "calibrate/cuda_bench.h"
#include "kernels.h"

/* Unless all is tested, with fewer steps, which compile faster: these are unrolled. */
static void define(const tz__chains *chains, char definitions[TZ__DEFINITIONS_SIZE])
{
    tz__chains some = *chains;
    if (!is_complete() && some.steps > 16)
        some.steps = 16;
    tz__chains_define(&some, definitions);
}

static void compile(const char *what, char *text)
{
    compile_for(what, text, NULL);
}

TEST(texts_compile)
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
}

/* ---- On a host ------------------------------------------------------------------------------- */

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

TEST(chains_take_every_step)
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
TEST(every_chain_runs)
{
    static bench b;
    size_t count;
    const tz__chains *table = tz__chains_table(&count);
    for (size_t i = 0; i < count; i++) {
        uint64_t a = 0, other = 0;
        run_chains(&b, table[i], 1, &a, &other);
    }
}

TEST(copies_copy_everything)
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

TEST(blocks_synchronise_and_pass_words)
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

TEST_GROUP(open_machine, close_machine)
