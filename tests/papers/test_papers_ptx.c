/* PTX: reading, values, loops, predicates, vectors, transactions; and plain kernels by NVRTC. */
#include "model/papers/ptx.h"
#include "tests/unit.h"

#include <string.h>

static double near_clocks; /* of a load that finds its sectors; 0: as others */

static tz_luo2011_costs costs(void)
{
    tz_luo2011_costs c = {.near = near_clocks};
    for (int o = 0; o < TZ_LUO2011_OPERATIONS; o++)
        for (int k = 0; k < 4; k++)
            c.clocks[o][k / 2][k % 2] = 1;
    c.clocks[TZ_LUO2011_ADD][1][0] = 22;
    c.clocks[TZ_LUO2011_ADD][1][1] = 65;
    c.clocks[TZ_LUO2011_MEMORY][0][0] = c.clocks[TZ_LUO2011_MEMORY][0][1] = 200;
    c.clocks[TZ_LUO2011_MEMORY][1][0] = c.clocks[TZ_LUO2011_MEMORY][1][1] = 200;
    return c;
}

#define HEAD                                                                                       \
    "// made by hand\n.version 8.0\n.target sm_75\n.address_size 64\n"                             \
    ".visible .entry other(.param .u32 other_param_0)\n{\n ret;\n}\n"                              \
    ".visible .entry k(\n .param .u64 k_param_0,\n .param .u32 k_param_1\n)\n.maxntid 256, 1, "    \
    "1\n{\n"                                                                                       \
    " .reg .pred %p<9>;\n .reg .f32 %f<20>;\n .reg .b32 %r<20>;\n .reg .b64 %rd<20>;\n"

typedef struct parameters {
    uint64_t field;
    uint32_t n;
} parameters;

static tz_ptx_trace traced(const char *text, uint32_t n, int trips, bool half_warps)
{
    tz_ptx *ptx;
    tz_ptx_trace trace;
    const tz_luo2011_costs c = costs();
    const parameters arguments = {UINT64_C(1) << 40, n};
    const tz_ptx_launch launch = {.block = {32, 2, 1},
                                  .grid = {4, 4, 1},
                                  .at = {1, 1, 0},
                                  .warp = 1,
                                  .arguments = &arguments,
                                  .arguments_bytes = sizeof arguments,
                                  .trips = trips};
    assert_ok(tz_ptx_read(&ptx, text, "k", &failure));
    assert_ok(tz_ptx_run(ptx, &launch, &c, half_warps, &trace, &failure));
    tz_ptx_destroy(ptx);
    return trace;
}

TEST(classes_and_blocks)
{
    tz_ptx *ptx;
    assert_ok(tz_ptx_read(&ptx,
                          HEAD
                          " ld.param.u64 %rd1, [k_param_0]; mov.u32 %r1, %tid.x;\n"
                          " mad.lo.s32 %r2, %r1, 4, %r1; /* a\n comment */ shl.b32 %r3, %r2, 2;\n"
                          " add.f32 %f1, %f2, 0f3F800000; fma.rn.f32 %f1, %f1, %f2, %f3;\n"
                          " setp.ge.s32 %p1, %r1, 7; @%p1 bra $L_end;\n"
                          " sqrt.rn.f32 %f4, %f1; div.rn.f32 %f4, %f4, %f1;\n"
                          " bar.sync 0; ld.shared.f32 %f3, [%r1]; st.global.f32 [%rd1], %f4;\n"
                          " ld.local.f32 %f3, [%rd1]; neg.f32 %f1, %f1; min.s32 %r1, %r1, %r2;\n"
                          "$L_end:\n ret;\n}\n",
                          "k", &failure));
    const struct {
        tz_luo2011_operation operation;
        int count;
    } wanted[] = {{TZ_LUO2011_MOVE, 2},    {TZ_LUO2011_MAD, 2},     {TZ_LUO2011_SHIFT, 1},
                  {TZ_LUO2011_ADD, 1},     {TZ_LUO2011_COMPARE, 1}, {TZ_LUO2011_BRANCH, 2},
                  {TZ_LUO2011_SPECIAL, 1}, {TZ_LUO2011_DIV, 1},     {TZ_LUO2011_BARRIER, 1},
                  {TZ_LUO2011_SHARED, 1},  {TZ_LUO2011_MEMORY, 2},  {TZ_LUO2011_NEG, 1},
                  {TZ_LUO2011_MIN, 1}};
    assert_int_equal(tz_ptx_count(ptx), 17);
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        assert_int_equal(tz_ptx_count_of(ptx, wanted[k].operation), wanted[k].count);
    assert_int_equal(tz_ptx_blocks(ptx), 3);
    tz_ptx_destroy(ptx);
}

#define ADDRESS                                                                                    \
    " ld.param.u64 %rd1, [k_param_0]; cvta.to.global.u64 %rd2, %rd1;\n"                            \
    " mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"                         \
    " mad.lo.s32 %r4, %r1, %r2, %r3; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3;\n"

TEST(tasks_and_transactions)
{
    const char *text = HEAD ADDRESS " ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd4+4];\n"
                                    " add.f32 %f3, %f1, %f2;\n add.f32 %f3, %f3, 0f40000000;\n"
                                    " st.global.f32 [%rd4+-4], %f3;\n ret;\n}\n";
    tz_ptx_trace t = traced(text, 0, 1, true);
    assert_int_equal(t.count, 5); /* ret is computation */
    assert_int_equal(t.executed, 14);
    assert_false(t.tasks[0].is_memory);
    assert_int_equal(t.tasks[0].instructions, 8);
    assert_true(t.tasks[1].is_memory);
    assert_int_equal(t.tasks[1].instructions, 2);
    assert_true(t.tasks[1].clocks == 400 && t.tasks[1].bytes == 8);
    assert_true(t.tasks[1].transactions == 2 + 3);
    assert_true(t.tasks[2].clocks == 65 + 22);
    assert_true(t.tasks[3].transactions == 3);
    assert_true(t.text_memory == 600 && t.text_computation == 8 + 87 + 1);
    tz_ptx_trace_clear(&t);
    t = traced(text, 0, 1, false);
    assert_true(t.tasks[1].transactions == 4 + 5);
    tz_ptx_trace_clear(&t);
    /* The second load finds most of its sectors where the first one brought them. */
    near_clocks = 30;
    t = traced(text, 0, 1, false);
    near_clocks = 0;
    assert_true(t.tasks[1].clocks == 200 + 30 && t.tasks[3].clocks == 200);
    tz_ptx_trace_clear(&t);
}

TEST(loops_have_trip_counts)
{
    const char *text = HEAD ADDRESS " ld.param.u32 %r5, [k_param_1]; mov.u32 %r6, 0;\n"
                                    "$L_loop:\n ld.global.f32 %f1, [%rd4]; add.f32 %f2, %f2, %f1;\n"
                                    " add.s64 %rd4, %rd4, 128; add.s32 %r6, %r6, 1;\n"
                                    " setp.lt.u32 %p1, %r6, %r5; @%p1 bra $L_loop;\n ret;\n}\n";
    for (uint32_t n = 1; n < 40; n += 19) {
        tz_ptx_trace t = traced(text, n, 1, true);
        assert_int_equal(t.turns, n - 1);
        assert_int_equal(t.accesses, n);
        assert_int_equal(t.executed, 10 + 6 * n + 1);
        assert_int_equal(t.count, 2 * n + 1);
        assert_int_equal(t.unknown_branches, 0);
        tz_ptx_trace_clear(&t);
    }
    /* The end depends on what is loaded. */
    const char *data = HEAD ADDRESS "$L_loop:\n ld.global.u32 %r6, [%rd4];\n"
                                    " setp.ne.s32 %p1, %r6, 0; @%p1 bra $L_loop;\n ret;\n}\n";
    tz_ptx_trace t = traced(data, 0, 1, true);
    assert_int_equal(t.accesses, 1);
    assert_int_equal(t.unknown_branches, 1);
    tz_ptx_trace_clear(&t);
    t = traced(data, 0, 7, true);
    assert_int_equal(t.accesses, 7);
    tz_ptx_trace_clear(&t);
}

TEST(lanes_part_and_meet)
{
    /* Lanes below n take one side, the others the other; all take what follows once. */
    const char *text =
        HEAD ADDRESS " ld.param.u32 %r5, [k_param_1]; setp.lt.u32 %p1, %r3, %r5; @%p1 bra $L_low;\n"
                     " ld.global.f32 %f1, [%rd4]; bra.uni $L_meet;\n"
                     "$L_low:\n ld.global.f32 %f1, [%rd4+4096]; ld.global.f32 %f2, [%rd4+8192];\n"
                     "$L_meet:\n st.global.f32 [%rd4], %f1; ret;\n}\n";
    const int accesses[] = {2, 4, 4, 3};
    const uint32_t lanes[] = {0, 1, 16, 32};
    for (int k = 0; k < 4; k++) {
        tz_ptx_trace t = traced(text, lanes[k], 1, true);
        assert_int_equal(t.accesses, accesses[k]);
        assert_int_equal(t.unknown_branches, 0);
        tz_ptx_trace_clear(&t);
    }
}

TEST(what_is_refused)
{
    tz_ptx *ptx;
    tz_ptx_trace trace;
    const tz_luo2011_costs c = costs();
    const tz_ptx_launch launch = {.block = {32, 1, 1}, .grid = {1, 1, 1}, .trips = 1};
    const struct {
        const char *text;
        tz_status status;
        const char *message;
    } wrong[] = {
        {".visible .entry other() { ret; }", TZ_UNKNOWN, "the text has no kernel 'k'"},
        {".visible .entry k()", TZ_FORMAT, "a kernel without a body: 'k'"},
        {".visible .entry k() { ret;", TZ_FORMAT, "the kernel does not end: '}'"},
        {HEAD "bra $L_none; }", TZ_FORMAT, "a jump to a label that is not there: '$L_none'"},
        {HEAD "@%p77 bra $L; $L: ret; }", TZ_FORMAT,
         "a predicate that is not declared: '@%p77 bra $L'"},
        {HEAD "= 3; ret; }", TZ_FORMAT, "a statement that Trapeze does not read: '= 3'"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_int_equal(tz_ptx_read(&ptx, wrong[k].text, "k", &failure), wrong[k].status);
        assert_string_equal(failure.message, wrong[k].message);
        assert_null(ptx);
    }
    const char *const endless[] = {HEAD "$L: bra $L; }", HEAD "brx.idx %r1, table; ret; }"};
    for (int k = 0; k < 2; k++) {
        assert_ok(tz_ptx_read(&ptx, endless[k], "k", &failure));
        assert_int_equal(tz_ptx_run(ptx, &launch, &c, true, &trace, &failure), TZ_UNSUPPORTED);
        tz_ptx_destroy(ptx);
    }
}

/* Any prefix of a text, and a text with any one byte changed, is read or refused. */
TEST(broken_texts)
{
    const char *text = HEAD ADDRESS " ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4+16]; @!%p1 bra "
                                    "$L; shfl.sync.idx.b32 %r1|%p1, "
                                    "%r2, 1, 31, -1;\n$L: call.uni (ret0), f, (a, b); ret;\n}\n";
    const size_t length = strlen(text);
    const tz_luo2011_costs c = costs();
    const tz_ptx_launch launch = {.block = {32, 1, 1}, .grid = {1, 1, 1}, .trips = 1};
    static const char bytes[] = "{}[]();:,@%.+-<>/*0x\xff";
    for (size_t k = 0; k < 2 * length; k++) {
        char copy[2048];
        tz_ptx *ptx;
        tz_ptx_trace trace;
        strcpy(copy, text);
        copy[k / 2] = k % 2 ? '\0' : bytes[k % (sizeof bytes - 1)];
        if (tz_ptx_read(&ptx, copy, "k", &failure) != TZ_OK)
            continue;
        if (tz_ptx_count(ptx) < 40 && tz_ptx_run(ptx, &launch, &c, true, &trace, &failure) == TZ_OK)
            tz_ptx_trace_clear(&trace);
        tz_ptx_destroy(ptx);
    }
}
