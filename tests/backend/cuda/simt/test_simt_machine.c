/* The machine reports each faulty kernel. (Right ones run in the suite and in cases.txt.) */
#include "compare.h"

#include "machine.h"
#include "unit.h"

enum { THREADS = 64, BLOCKS = 3, WORDS = THREADS * BLOCKS };

/* What a kernel of these tests is given. */
typedef struct bench {
    uint32_t in[WORDS], gap[64], out[WORDS], barrier;
    simt_report report;
} bench;

typedef struct launch {
    int threads, blocks, shared_bytes;
    bool cooperative, backwards;
} launch;

static void run(bench *b, const char *body, const launch *how)
{
    char source[4000];
    const simt_entry *entry;
    need_compiler();
    snprintf(source, sizeof source,
             "#include \"device.cuh\"\n"
             "struct tz_arguments { const unsigned *in; unsigned *out, *barrier; };\n"
             "TZ_KERNEL(tz_stage, 64)(const tz_arguments a)\n{\n"
             "  unsigned *shared = (unsigned *)tz_shared();\n"
             "  const int t = tz_thread(), lane = tz_lane(), i = tz_block(0) * tz_threads() + t;\n"
             "#line 1 \"body\"\n%s\n}\n",
             body);
    assert_ok(simt_build_kernel(build, source, "tz_stage", &entry, &failure));
    memset(b, 0, sizeof *b);
    for (uint32_t i = 0; i < WORDS; i++)
        b->in[i] = 1000 + 7 * i;
    const simt_buffer buffers[] = {{"in", b->in, sizeof b->in, false},
                                   {"out", b->out, sizeof b->out, true},
                                   {"barrier", &b->barrier, sizeof b->barrier, true}};
    const simt_launch what = {.grid = {how->blocks, 1, 1},
                              .threads = how->threads,
                              .shared_bytes = how->shared_bytes,
                              .cooperative = how->cooperative,
                              .backwards = how->backwards,
                              .buffers = buffers,
                              .buffers_count = 3};
    struct {
        const uint32_t *in;
        uint32_t *out, *barrier;
    } arguments = {b->in, b->out, &b->barrier};
    void *pointers[] = {&arguments};
    assert_int_equal(entry->arguments_bytes, sizeof arguments);
    simt_run(machine, entry, &what, pointers, &b->report);
}

/* What a warp wrote before it arrived is known one warp further with each phase. */
TEST(writes_travel_a_warp_a_phase)
{
    const simt_access writer = {.block = 1, .thread = 3, .arrived = 5, .waited = 5};
    for (int away = 0; away < 4; away++)
        for (int phases = 0; phases < 5; phases++) {
            simt_cell cell = {.writer = writer};
            simt_access other, reader = {.block = 1, .thread = 32 * away};
            reader.arrived = reader.waited = 5 + phases;
            const int found = simt_cell_read(&cell, &reader, &other);
            assert_int_equal(found, phases >= (away > 1 ? away : 1) ? SIMT_NO_RACE
                                                                    : SIMT_RACES_WITH_WRITER);
        }
}

/* ---- Wrong kernels --------------------------------------------------------------------------- */

static void wrong_in(const char *body, const launch *how, simt_finding finding, const char *wanted)
{
    for (int backwards = 0; backwards < 2; backwards++) {
        static bench b;
        launch now = *how;
        now.backwards = backwards == 1;
        run(&b, body, &now);
        const char *message = b.report.messages ? b.report.message[0] : "nothing found";
        /* A read too early is, in one order of the warps, also one of nothing. */
        const long long others = simt_report_total(&b.report) - b.report.count[finding] -
                                 b.report.count[SIMT_FOUND_UNWRITTEN];
        if (b.report.count[finding] == 0 || (finding != SIMT_FOUND_UNWRITTEN && others > 0))
            fail_msg("%s\nexpected '%s', got: %s", body, simt_finding_text(finding), message);
        bool found = false;
        for (int i = 0; i < b.report.messages; i++)
            found = found || strstr(b.report.message[i], wanted);
        if (!found)
            fail_msg("%s\nno '%s' in: %s", body, wanted, message);
    }
}

static void wrong(const char *body, simt_finding finding, const char *wanted)
{
    wrong_in(body, &(launch){.threads = THREADS, .blocks = 1, .shared_bytes = 1024}, finding,
             wanted);
}

TEST(races_are_found)
{
    /* A missing barrier: read after write and write after read. */
    wrong("tz_put(shared + t, 1u);\na.out[i] = tz_get(shared + (t ^ 32));\n", SIMT_FOUND_RACE,
          "body:2");
    wrong("tz_put(shared + t, 1u);\ntz_barrier();\n"
          "a.out[i] = tz_get(shared + (t + 1) % 64);\ntz_put(shared + t, 2u);",
          SIMT_FOUND_RACE, "after barrier 1");
    wrong("tz_put(shared + t / 2, (unsigned)t);", SIMT_FOUND_RACE, "writes it at body:1");
    /* A warp's barrier is no block's. */
    wrong("tz_put(shared + t, 1u);\ntz_barrier_warp();\na.out[i] = tz_get(shared + (t ^ 32));",
          SIMT_FOUND_RACE, "block 0,0,0");
    /* Adjacent warps: read before the wait; written over after the wait, before the reader arrived.
     */
#define ADJACENT                                                                                   \
    "unsigned long long *words = (unsigned long long *)(shared + 192);\n"                          \
    "tz_adjacent_init(words, 2);\ntz_barrier();\ntz_put(shared + t, 1u);\n"                        \
    "tz_adjacent_arrive(words, tz_warp());\n"
    wrong(ADJACENT "a.out[i] = tz_get(shared + (t ^ 32));\ntz_adjacent_wait(words, tz_warp(), 0);",
          SIMT_FOUND_RACE, "reads it at body:6");
    wrong(ADJACENT "tz_adjacent_wait(words, tz_warp(), 0);\na.out[i] = tz_get(shared + (t ^ 32));\n"
                   "tz_put(shared + t, 2u);",
          SIMT_FOUND_RACE, "after barrier 1");
    wrong(ADJACENT "tz_adjacent_wait(words, tz_warp(), 1);", SIMT_FOUND_BARRIER, "phase 0");
    wrong(ADJACENT "tz_adjacent_wait(words, tz_warp(), 0);\ntz_adjacent_wait(words, tz_warp(), 1);",
          SIMT_FOUND_BARRIER, "having arrived 1 times");
#undef ADJACENT
    /* Shuffles order no memory. */
    wrong("tz_put(shared + t, 1u);\na.out[i] = tz_shuffle_xor(1u, 1);\n"
          "a.out[i] += tz_get(shared + (t ^ 1));",
          SIMT_FOUND_RACE, "reads it at body:3");
    /* A packet's second word. */
    wrong("unsigned two[2] = {1, 2};\nif (t == 0) tz_put_packet(shared, two);\n"
          "if (t == 40) tz_put(shared + 1, 3u);",
          SIMT_FOUND_RACE, "byte 4 of shared memory");
    /* Three readers of two warps, and a writer that the first two readers are ordered before. */
    wrong("if (t == 0) tz_put(shared, 1u);\ntz_barrier();\n"
          "if (t == 1 || t == 2 || t == 33) a.out[i] = tz_get(shared);\n"
          "tz_barrier_warp();\nif (t == 3) tz_put(shared, 2u);",
          SIMT_FOUND_RACE, "thread 33");
}

TEST(unwritten_reads_are_found)
{
    wrong("if (t > 0) tz_put(shared + t, 1u);\ntz_barrier();\na.out[i] = tz_get(shared + t);",
          SIMT_FOUND_UNWRITTEN, "byte 0 of shared memory, after barrier 1: thread 0");
}

TEST(bad_addresses_are_found)
{
    wrong("a.out[i] = tz_get(shared + 193 + t);", SIMT_FOUND_ADDRESS, "byte 1024");
    wrong("tz_put(shared + t - 63, 1u);", SIMT_FOUND_ADDRESS, "of shared memory");
    wrong("unsigned four[4] = {0};\ntz_put_packet(shared + 1, four);", SIMT_FOUND_ADDRESS,
          "unaligned");
    wrong("unsigned four[4];\ntz_load(a.in + 1 + t, four);", SIMT_FOUND_ADDRESS, "unaligned");
    wrong("unsigned four[4];\ntz_load(a.in + 192, four);", SIMT_FOUND_ADDRESS,
          "byte 768 of in, body:2");
    wrong("unsigned one[1] = {1};\ntz_store((unsigned *)a.in + t, one);", SIMT_FOUND_ADDRESS,
          "of in");
    wrong("a.out[(1ll << 43) + t] = 1;", SIMT_FOUND_ADDRESS, "pointer to nowhere");
    wrong("volatile char large[160 << 10];\nlarge[t] = 1;\na.out[i] = large[t];",
          SIMT_FOUND_ADDRESS, "the stack is full");
}

TEST(divergent_lanes_are_found)
{
    wrong("if (lane != 7) a.out[i] = tz_shuffle_up(1u, 1);", SIMT_FOUND_LANES,
          "lane 7) of block 0,0,0 has ended");
    wrong("if (lane < 16) a.out[i] = tz_shuffle_up(1u, 1);\n"
          "else a.out[i] = tz_shuffle_down(1u, 1);",
          SIMT_FOUND_LANES, "waits at tz_shuffle_down of 4 bytes (body:2)");
    wrong("if (lane < 16) a.out[i] = tz_shuffle_up(1u, 1);\n"
          "else a.out[i] = tz_shuffle_up(1u, 1);",
          SIMT_FOUND_LANES, "body:2");
    wrong("if (lane != 3) tz_barrier_warp();\ntz_barrier();", SIMT_FOUND_LANES,
          "waits at tz_barrier (body:2)");
    wrong("if (lane > 0) a.out[i] = tz_warp();", SIMT_FOUND_LANES, "waits at tz_warp");
    wrong("a.out[i] = tz_shuffle_up(1u, 32);", SIMT_FOUND_LANES, "by 32 lanes");
}

TEST(lonely_barriers_are_found)
{
    wrong("if (t != 40) tz_barrier();", SIMT_FOUND_BARRIER, "thread 40 (warp 1, lane 8)");
    wrong("if (tz_warp() == 0) tz_barrier();\nelse tz_barrier();", SIMT_FOUND_BARRIER,
          "waits at tz_barrier (body:2)");
    const launch grid = {.threads = THREADS, .blocks = BLOCKS, .cooperative = true};
    wrong_in("if (tz_block(0) != 2) tz_grid_barrier(a.barrier);", &grid, SIMT_FOUND_BARRIER,
             "block 2,0,0 has ended");
    wrong("tz_grid_barrier(a.barrier);", SIMT_FOUND_LAUNCH, "not cooperative");
    wrong_in("tz_grid_barrier(a.barrier + 1);", &grid, SIMT_FOUND_ADDRESS, "no buffer");
}

TEST(races_of_blocks_are_found)
{
    const launch grid = {.threads = THREADS, .blocks = BLOCKS, .cooperative = true};
    wrong_in("unsigned one[1] = {a.in[i]}, other[1];\ntz_store(a.out + i, one);\n"
             "tz_load_fresh(a.out + (i + 64) % 192, other);",
             &grid, SIMT_FOUND_RACE, "of out");
    wrong_in("unsigned one[1] = {a.in[i]}, other[1];\ntz_store(a.out + i, one);\n"
             "tz_grid_barrier(a.barrier);\ntz_load(a.out + (i + 64) % 192, other);",
             &grid, SIMT_FOUND_STALE, "tz_load_fresh");
    wrong_in("unsigned one[1] = {a.in[i]};\ntz_store(a.out + t, one);", &grid, SIMT_FOUND_RACE,
             "of out");
}

TEST(lost_words_are_found)
{
    const launch grid = {.threads = 32, .blocks = BLOCKS, .cooperative = true};
    wrong_in("unsigned long long *slots = (unsigned long long *)a.out;\n"
             "if (tz_block(0) > 0) tz_send(slots + i, 5, 1u);\n"
             "unsigned long long value = 0;\n"
             "for (; value >> 32 != 1u; tz_pause()) tz_peek(slots + i, 1u, value);",
             &grid, SIMT_FOUND_BARRIER, "waits at tz_pause (body:4), and no other lane goes on");
}

TEST(early_reads_of_fetches_are_found)
{
    /* Others may look after the wait and a barrier only: not before the wait ... */
    wrong("tz_fetch<unsigned, 1>(shared + t, a.in + i);\ntz_fetch_end();\ntz_barrier();\n"
          "a.out[i] = tz_get(shared + (t ^ 1));\ntz_fetch_wait<0>();",
          SIMT_FOUND_RACE, "body:1");
    /* ... nor without the barrier. */
    wrong("tz_fetch<unsigned, 1>(shared + t, a.in + i);\ntz_fetch_end();\n"
          "tz_fetch_wait<0>();\na.out[i] = tz_get(shared + (t ^ 1));",
          SIMT_FOUND_RACE, "body:4");
    wrong("tz_fetch<unsigned, 4>(shared + t, a.in + i);", SIMT_FOUND_ADDRESS, "unaligned");
}

TEST(stopped_lanes_are_found)
{
    wrong("a.out[i] = a.in[i] / (unsigned)(t / 70);", SIMT_FOUND_STOPPED, "division by zero");
}

TEST(bad_launches_are_found)
{
    const launch ragged = {.threads = 48, .blocks = 1}, wide = {.threads = 96, .blocks = 1};
    const launch large = {.threads = 32, .blocks = 1, .shared_bytes = 1 << 20};
    wrong_in("a.out[i] = 1;", &ragged, SIMT_FOUND_LAUNCH, "48 threads");
    wrong_in("a.out[i] = 1;", &wide, SIMT_FOUND_LAUNCH, "compiled for 64");
    wrong_in("a.out[i] = 1;", &large, SIMT_FOUND_LAUNCH, "1048576 bytes");
}

TEST_GROUP(open_machine, close_machine)
