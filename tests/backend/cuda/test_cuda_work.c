/* The work of compiled kernels: machine code by hand and from NVRTC, the work of families, and the
 * time by roofs. No GPU; without NVRTC the tests that compile are skipped. */
#include "tests/archetypes.h"
#include "work_support.h"

/* ---- Code by hand ---------------------------------------------------------------------------- */

typedef struct word {
    uint64_t low, high;
} word;

enum { NONE = 7 };

/* An instruction without a predicate: its operation with the operands' form, and control bits. */
static word encode(uint64_t operation, uint64_t stall, uint64_t sets, uint64_t waits, uint64_t high)
{
    return (word){operation | 7u << 12,
                  high | stall << 41 | sets << 46 | (uint64_t)NONE << 49 | waits << 52};
}

static const uint64_t plain = UINT64_C(7) << 23; /* a branch's second predicate: none */

/* What the tests count. */
static tz_cuda_mix *const mix = &(tz_cuda_mix){0};

static void loops_are_counted_by_hand(void **state)
{
    static const int architectures[] = {80, 90, 100};
    for (size_t a = 0; a < sizeof architectures / sizeof *architectures; a++) {
        /* Back five instructions: -20 units of four bytes. */
        const int64_t units = -20, far = architectures[a] >= 90 ? -1 : units;
        const uint64_t near = architectures[a] >= 90 ? (uint64_t)(units + 256) : 0;
        const word code[] = {
            encode(0x202, 1, NONE, 0, 0),                /* MOV */
            encode(0x221, 4, NONE, 0, 0),                /* FADD: the loop begins */
            encode(0x589, 2, 0, 0, 0),                   /* SHFL, opens barrier 0 */
            encode(0x221, 4, NONE, 1, 0),                /* FADD, waits for it */
            encode(0x986, 1, NONE, 0, UINT64_C(6) << 9), /* STG.128 */
            {0x8947 | near << 16 | (uint64_t)far << 34,
             ((uint64_t)far >> 30 & 0x3ffff) | plain | UINT64_C(5) << 41 | (uint64_t)NONE << 46 |
                 (uint64_t)NONE << 49},       /* @!P0 BRA */
            encode(0x94d, 5, NONE, 0, plain), /* EXIT */
            encode(0x918, 1, NONE, 0, 0),     /* NOP, never reached */
        };
        tz_sass sass;
        assert_ok(tz_sass_decode(&sass, code, sizeof code, architectures[a], NULL));
        assert_int_equal(sass.count, 8);
        assert_int_equal(sass.code[5].target, 1);
        assert_true(sass.code[5].conditional);
        assert_ok(tz_cuda_mix_of(mix, &sass, NULL, NULL));
        assert_int_equal(mix->loops_count, 1);
        const tz_cuda_loop *loop = &mix->loops[0];
        assert_int_equal(loop->parent, -1);
        assert_true(loop->way.of[TZ_WORK_FP32] == 2.0);
        assert_true(loop->way.of[TZ_WORK_SHUFFLE] == 1.0);
        assert_true(loop->way.of[TZ_WORK_WRITE] == 1.0 && loop->stores == 1.0);
        assert_true(loop->way.of[TZ_WORK_CONTROL] == 1.0);
        assert_true(tz_work_mix_sum(&loop->way) == 5.0);
        assert_true(tz_work_mix_sum(&loop->once) == 2.0);
        assert_true(loop->stores_words == 4.0);
        /* The second addition waits 22 of a shuffle's 24 clocks; the rest are stalls. */
        assert_true(fabs(loop->waits.of[TZ_WORK_SHUFFLE] - 22.0 / 24.0) < 1e-12);
        assert_true(loop->clocks == 16.0);
        tz_sass_free(&sass);
    }
}

/* Two ways through a loop: the one that stores counts; of two that store, the shorter. */
static void ways_are_chosen(void **state)
{
    const word branch = {0x0947 | 8u << 16, plain | UINT64_C(1) << 41 | UINT64_C(63) << 46};
    const word back = {0x8947 | (uint64_t)(256 - 28) << 16 | (uint64_t)-1 << 34,
                       0x3ffff | plain | UINT64_C(5) << 41 | UINT64_C(63) << 46};
    const word code[] = {
        branch,                       /* 0: P0 jumps over two instructions, to 3 */
        encode(0x221, 1, NONE, 0, 0), /* FADD */
        encode(0x986, 1, NONE, 0, 0), /* STG */
        encode(0x221, 1, NONE, 0, 0), /* 3: FADD */
        encode(0x221, 1, NONE, 0, 0),
        encode(0x221, 1, NONE, 0, 0),
        back, /* 6: to 0 */
        encode(0x94d, 5, NONE, 0, plain),
    };
    tz_sass sass;
    assert_ok(tz_sass_decode(&sass, code, sizeof code, 90, NULL));
    assert_int_equal(sass.code[0].target, 3);
    assert_int_equal(sass.code[6].target, 0);
    assert_ok(tz_cuda_mix_of(mix, &sass, NULL, NULL));
    assert_int_equal(mix->loops_count, 1);
    assert_true(mix->loops[0].way.of[TZ_WORK_FP32] == 4.0 && mix->loops[0].stores == 1.0);
    assert_true(tz_work_mix_sum(&mix->loops[0].all) == 7.0);
    tz_sass_free(&sass);
}

/* Loads that are asked for together are one wait; one after the other, as many. */
static void waits_for_memory_are_counted(void **state)
{
    const word back = {0x8947 | (uint64_t)(256 - 20) << 16 | (uint64_t)-1 << 34,
                       0x3ffff | plain | UINT64_C(5) << 41 | UINT64_C(63) << 46};
    const word first = encode(0x981, 1, 0, 0, 0), second = encode(0x981, 1, 1, 0, 0); /* LDG */
    const word last = encode(0x94d, 5, NONE, 0, plain), add = encode(0x221, 4, NONE, 0, 0);
    const word use_first = encode(0x221, 4, NONE, 1, 0), use_second = encode(0x221, 4, NONE, 2, 0);
    const word codes[][6] = {{first, second, use_first, use_second, back, last},
                             {first, use_first, second, use_second, back, last},
                             {add, first, add, use_first, back, last},
                             {add, add, add, add, back, last}};
    static const double waits[] = {1.0, 2.0, 1.0, 0.0};
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
        tz_sass sass;
        assert_ok(tz_sass_decode(&sass, codes[k], sizeof codes[k], 90, NULL));
        assert_ok(tz_cuda_mix_of(mix, &sass, NULL, NULL));
        assert_int_equal(mix->loops_count, 1);
        assert_true(fabs(mix->loops[0].memory_waits - waits[k]) < 0.01);
        tz_sass_free(&sass);
    }
}

static void what_is_no_code_is_refused(void **state)
{
    tz_sass sass;
    const char text[100] = "\177ELF and then something else";
    assert_int_equal(tz_sass_decode(&sass, text, 17, 90, &failure), TZ_FORMAT);
    check_error(tz_sass_read(&sass, text, sizeof text, "k", &failure), TZ_FORMAT, "", "no cubin");
    assert_int_equal(tz_sass_read(&sass, text, 0, "k", &failure), TZ_FORMAT);
    tz_sass_free(&sass);
}

/* ---- Code by NVRTC --------------------------------------------------------------------------- */

static const char known_source[] =
    "extern \"C\" __global__ void tz_stage(float *p, int n)\n{\n"
    "  __shared__ float room[64];\n"
    "  float a = p[threadIdx.x];\n  room[threadIdx.x] = a;\n"
    "#pragma unroll 1\n  for (int i = 0; i < n; i++) {\n"
    "    asm volatile(\"add.rn.f32 %0, %0, %0;\" : \"+f\"(a));\n"
    "    asm volatile(\"add.rn.f32 %0, %0, %0;\" : \"+f\"(a));\n"
    "    asm volatile(\"mul.rn.f32 %0, %0, %0;\" : \"+f\"(a));\n"
    "    a = __shfl_up_sync(0xffffffffu, a, 1);\n"
    "    ((volatile float *)p)[i * 64 + threadIdx.x] = a;\n"
    "    __syncthreads();\n  }\n  p[0] = a + room[63 - threadIdx.x];\n}\n";

static void known_counts_are_found(void **state)
{
    static const char *const architectures[] = {"sm_80", "sm_90", "sm_100"};
    for (size_t a = 0; a < sizeof architectures / sizeof *architectures; a++) {
        void *cubin = NULL;
        size_t bytes = 0;
        const tz_status status = tz_cuda_compile(architectures[a], known_source, NULL, 0, NULL,
                                                 &cubin, &bytes, &failure);
        if (status == TZ_UNSUPPORTED) {
            skip_test("%s", failure.message);
        }
        assert_ok(status);
        if (tz_cuda_mix_count(mix, cubin, bytes, "tz_stage", NULL, &failure))
            fail_msg("%s: %s", architectures[a], failure.message);
        assert_int_equal(tz_cuda_mix_count(mix, cubin, bytes, "other", NULL, NULL), TZ_FORMAT);
        assert_int_equal(tz_cuda_mix_count(mix, cubin, bytes / 2, "tz_stage", NULL, NULL),
                         TZ_FORMAT);
        assert_ok(tz_cuda_mix_count(mix, cubin, bytes, "tz_stage", NULL, NULL));
        free(cubin);
        assert_int_equal(mix->loops_count, 1);
        const tz_work_mix *way = &mix->loops[0].way;
        assert_true(way->of[TZ_WORK_FP32] == 3.0);
        assert_true(way->of[TZ_WORK_SHUFFLE] == 1.0);
        assert_true(way->of[TZ_WORK_WRITE] == 1.0);
        assert_true(way->of[TZ_WORK_BARRIER] == 1.0);
        assert_true(mix->loops[0].once.of[TZ_WORK_READ] == 1.0);
        assert_true(mix->registers >= 4 && mix->registers < 64);
        assert_true(mix->shared_bytes >= 256);
        assert_int_equal(mix->local_bytes, 0);
    }
}

/* ---- Families -------------------------------------------------------------------------------- */

static double warps_of(const tz_model_work *work)
{
    double warps = 0.0;
    for (int p = 0; p < work->parts_count; p++)
        warps += work->parts[p].warps;
    return warps;
}

/* A star of five points is five operations a cell: four additions and products of a lane's cells.
 */
static void rows_do_what_their_text_says(void **state)
{
    tz_problem problem;
    tz_plan plan = {.height = 4, .family = "stream"};
    tz_model_work work, again, estimate;
    make_problem("star2d1r", TZ_SINGLE, 4096, 4096, 1, &problem);
    planned_work(&problem, &plan, TZ_EFFORT_COMPILE, &work);
    assert_false(work.estimated);
    assert_true(work.cells == 4.0 * 4096 * 4096);
    assert_true(work.read_bytes == 4.0 * 4096 * 4096 && work.write_bytes == work.read_bytes);
    assert_true(work.parts_count >= 2);
    assert_true(work.parts[0].step.of[TZ_WORK_FP32] == 4.0 * 5 * plan.vector);
    assert_true(work.parts[0].step.of[TZ_WORK_SHUFFLE] == 4.0 * 2);
    assert_true(work.redundancy > 1.0 && work.redundancy < 2.0);
    assert_true(work.ghost_bytes > 0.0 && work.ghost_bytes < work.read_bytes);
    assert_true(warps_of(&work) <= work.blocks * work.threads / 32 + 0.5);
    assert_true(work.registers > 32 && work.registers <= 168);
    /* The second count reads the first from the cache. */
    work_of(&problem, &plan, TZ_EFFORT_CACHED, &again);
    assert_memory_equal(&again, &work, sizeof work);
    /* Higher and not compiled: a level does about as much as the known levels. */
    plan = (tz_plan){.height = 7, .family = "stream"};
    planned_work(&problem, &plan, TZ_EFFORT_CACHED, &estimate);
    assert_true(estimate.estimated);
    work_of(&problem, &plan, TZ_EFFORT_COMPILE, &work);
    assert_false(work.estimated);
    assert_true(fabs(estimate.parts[0].step.of[TZ_WORK_FP32] / work.parts[0].step.of[TZ_WORK_FP32] -
                     1.0) < 0.05);
    assert_true(abs(estimate.registers - work.registers) <= 32);
    tz_problem_clear(&problem);
}

/* No pass reads what st writes: planes load its image alone, and tiles compute without reading
 * shared memory. */
static void fields_that_are_not_read_are_not_loaded(void **state)
{
    const double cells = 128.0 * 128 * 128;
    tz_problem problem;
    tz_plan stream = {.height = 1, .family = "stream"}, tile = {.height = 1, .family = "tile"};
    tz_model_work work;
    make_problem("st", TZ_SINGLE, 128, 128, 128, &problem);
    planned_work(&problem, &stream, TZ_EFFORT_COMPILE, &work);
    const tz_work_mix *step = &work.parts[0].step;
    assert_true(work.read_bytes == 4.0 * cells && work.write_bytes == 6 * 4.0 * cells);
    assert_true(step->of[TZ_WORK_COPY] == 0.0 && step->of[TZ_WORK_SHARED_READ] == 0.0);
    /* Six fields of a lane's two rows; differences of all three axes at each of its cells. */
    assert_true(step->of[TZ_WORK_WRITE] == 6.0 * 2);
    assert_in_range(step->of[TZ_WORK_FP32], 9 * 2 * stream.vector, 12 * 2 * stream.vector);
    planned_work(&problem, &tile, TZ_EFFORT_COMPILE, &work);
    step = &work.parts[0].step;
    assert_true(step->of[TZ_WORK_SHARED_READ] == 0.0);
    /* A cell of a pass. Warps of which all lanes are outside the tile skip it. */
    assert_in_range(1000 * step->of[TZ_WORK_SHARED_WRITE], 3000, 6000);
    assert_in_range(1000 * step->of[TZ_WORK_READ], 3000, 6000);
    tz_problem_clear(&problem);
}

static void candidates_keep_what_is_given(void **state)
{
    tz_plan plans[256];
    tz_problem problem;
    int count = 0;
    make_problem("hotspot", TZ_SINGLE, 1024, 1024, 1, &problem);
    tz_plan given = {0};
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, 256, &count, NULL));
    assert_in_range(count, 10, 100);
    bool stream = false, tile = false, resident = false, block = false;
    for (int k = 0; k < count; k++) {
        stream = stream || strcmp(plans[k].family, "stream") == 0;
        tile = tile || strcmp(plans[k].family, "tile") == 0;
        resident = resident || strcmp(plans[k].family, "resident") == 0;
        block = block || strcmp(plans[k].family, "block") == 0;
    }
    assert_true(stream && tile && resident && block);
    given = (tz_plan){.height = 3, .vector = 4, .family = "stream"};
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, 256, &count, NULL));
    assert_true(count >= 1);
    for (int k = 0; k < count; k++)
        assert_true(plans[k].height == 3 && plans[k].vector == 4 &&
                    strcmp(plans[k].family, "stream") == 0);
    tz_problem_clear(&problem);
}

/* Loops of 2-D kernels are shortened where their code is long and few moves are added. */
static void long_loops_are_shortened(void **state)
{
    tz_problem problem;
    tz_plan plan = {.height = 6, .vector = 4, .family = "stream"};
    make_problem("grayscott", TZ_SINGLE, 4096, 4096, 1, &problem);
    assert_true(plan_for(&problem, &plan));
    const tz_plan before = plan;
    assert_int_equal(plan.unroll, 0);
    double bytes = 19000.0;
    assert_false(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    assert_true(tz_plan_equal(&plan, &before));
    /* Three steps of 500 instructions; two of them, with moves, have less than 18 KB. */
    bytes = 3 * 16 * 500.0;
    assert_true(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    assert_int_equal(plan.unroll, 2);
    assert_true(bytes > 2 * 16 * 500.0 && bytes < 19968.0);
    bytes = 3 * 16 * 500.0;
    assert_false(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    assert_true(bytes == 3 * 16 * 500.0);
    plan.unroll = 0;
    assert_true(tz_plan_equal(&plan, &before));
    /* Steps of few instructions would be mostly moves. */
    plan = (tz_plan){.height = 12, .vector = 4, .family = "stream"};
    assert_true(plan_for(&problem, &plan));
    bytes = 21000.0;
    assert_false(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    assert_int_equal(plan.unroll, 0);
    /* The kernel has what the plan says. */
    tz_model_work work;
    plan = (tz_plan){.height = 2, .vector = 4, .unroll = 1, .family = "stream"};
    double text[3] = {0};
    for (; plan.unroll <= 2; plan.unroll++) {
        planned_work(&problem, &plan, TZ_EFFORT_COMPILE, &work);
        text[plan.unroll] = work.parts[0].loop_bytes;
    }
    assert_true(text[2] > 1.5 * text[1] && text[2] < 2.5 * text[1]);
    tz_problem_clear(&problem);
    /* Others have no such loops. */
    make_problem("life", -1, 4096, 4096, 1, &problem);
    plan = (tz_plan){.height = 4, .family = "stream"};
    assert_true(plan_for(&problem, &plan));
    bytes = 30000.0;
    assert_false(tz_cuda_shorten(&problem, &place, &bytes, &plan));
    static const char *const families[] = {"resident", "block", "tile"};
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        plan = (tz_plan){.height = 1, .unroll = 2};
        strcpy(plan.family, families[k]);
        assert_true(tz_cuda_plan(&problem, &limits, &plan, &failure) != TZ_OK);
    }
    tz_problem_clear(&problem);
    make_problem("star3d1r", TZ_SINGLE, 128, 128, 128, &problem);
    plan = (tz_plan){.height = 2, .unroll = 2, .family = "stream"};
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "in 2-D; this is \"stream\" in 3-D"));
    tz_problem_clear(&problem);
}

/* Plans whose lanes have two packets of a row are candidates with swaps and without. Others have
 * none. */
static void lanes_need_not_swap(void **state)
{
    enum { MAX = 256 };
    static tz_plan plans[MAX];
    tz_problem problem;
    tz_model_work work[2];
    int count = 0, with = 0, without = 0;
    const tz_plan given = {.vector = 8, .family = "stream"};
    make_problem("box2d1r", TZ_SINGLE, 4096, 4096, 1, &problem);
    assert_ok(tz_backend_cuda.candidates(&problem, &place, &given, plans, MAX, &count, NULL));
    for (int k = 0; k < count; k++) {
        assert_true(plans[k].swap == 0 || plans[k].swap == 2);
        with += plans[k].swap == 0 && plans[k].height > 1;
        without += plans[k].swap == 2 && plans[k].height > 1;
    }
    assert_true(with > 5 && with == without);
    /* A swap is four shuffles and some moves a step more. */
    for (int k = 0; k < 2; k++) {
        tz_plan plan = {.height = 4, .vector = 8, .swap = k + 1, .family = "stream"};
        planned_work(&problem, &plan, TZ_EFFORT_COMPILE, &work[k]);
    }
    const tz_work_mix *swaps = &work[0].parts[0].step, *keeps = &work[1].parts[0].step;
    assert_float_equal(swaps->of[TZ_WORK_SHUFFLE] - keeps->of[TZ_WORK_SHUFFLE], 4.0, 0.01);
    assert_true(swaps->of[TZ_WORK_MOVE] > keeps->of[TZ_WORK_MOVE] + 4.0);
    tz_plan plan = {.height = 4, .vector = 4, .swap = 2, .family = "stream"};
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "leave 'swap' out"));
    plan = (tz_plan){.height = 1, .swap = 1, .family = "block"};
    assert_int_equal(tz_cuda_plan(&problem, &limits, &plan, &failure), TZ_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "takes 'swap', in 2-D"));
    tz_problem_clear(&problem);
}

/* ---- The model ------------------------------------------------------------------------------- */

/* Four multiprocessors with room for one block. The first that is free takes the next block. */
static void blocks_follow_one_another(void **state)
{
    tz_model_device d = device;
    d.sm_count.value = 4.0;
    tz_model_work w = some_work();
    w.threads = 32;
    w.shared_bytes = (int)d.shared_per_sm_bytes.value * 2 / 3; /* one block at a time */
    w.read_bytes = w.write_bytes = w.ghost_bytes = w.ahead_bytes = 0.0;
    w.read_bytes = 1.0;
    w.parts[1] = w.parts[0];
    w.parts_count = 2;
    w.parts[1].steps = 3.0 * w.parts[0].steps; /* about three times as long */
    const struct {
        tz_work_run runs[2];
        int count;
        double blocks, longs; /* the busiest multiprocessor: blocks, and long ones among them */
    } cases[] = {
        {{{0, 4.0}}, 1, 1.0, 0.0},           {{{0, 5.0}}, 1, 2.0, 0.0},
        {{{1, 1.0}, {0, 9.0}}, 2, 3.0, 0.0}, /* one has the long block, three share the others */
        {{{0, 9.0}, {1, 1.0}}, 2, 3.0, 1.0}, /* the long one begins last */
        {{{1, 4.0}, {0, 4.0}}, 2, 2.0, 1.0},
    };
    double one[2];
    for (int p = 0; p < 2; p++) {
        w.runs[0] = (tz_work_run){p, 1.0};
        w.runs_count = 1;
        w.blocks = w.parts[p].warps = 1.0;
        w.parts[1 - p].warps = 1e-9;
        one[p] = stage_of(&w, &d);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        w.blocks = w.parts[0].warps = w.parts[1].warps = 0.0;
        w.runs_count = cases[k].count;
        for (int r = 0; r < cases[k].count; r++) {
            w.runs[r] = cases[k].runs[r];
            w.blocks += w.runs[r].blocks;
            w.parts[w.runs[r].part].warps += w.runs[r].blocks;
        }
        const double want = (cases[k].blocks - cases[k].longs) * one[0] + cases[k].longs * one[1];
        const double got = stage_of(&w, &d);
        if (fabs(got / want - 1.0) > 0.1)
            fail_msg("case %zu: %g s, of %g", k, got, want);
    }
}

static void more_work_takes_longer(void **state)
{
    const tz_model_work base = some_work();
    const double time = stage_of(&base, &device);
    tz_model_work w = base;
    w.parts[0].step.of[TZ_WORK_FP32] *= 2;
    assert_true(stage_of(&w, &device) > 1.3 * time);
    w = base;
    w.read_bytes *= 32;
    assert_true(stage_of(&w, &device) > 1.5 * time);
    w = base;
    w.registers = 255;
    assert_true(stage_of(&w, &device) >= time);
    w = base;
    w.syncs = 10;
    assert_true(stage_of(&w, &device) > time);
    tz_model_device d = device;
    d.copy_bandwidth_bytes_per_s.value *= 2;
    d.l2_bandwidth_bytes_per_s.value *= 2;
    assert_true(stage_of(&base, &d) < time);
    d = device;
    d.sm_count.value *= 2;
    assert_true(stage_of(&base, &d) < time);
    /* Half the arithmetic in double precision: its unit is the roof. */
    w = base;
    w.parts[0].step.of[TZ_WORK_FP64] = 160;
    w.parts[0].step.of[TZ_WORK_FP32] = 0;
    assert_true(stage_of(&w, &device) > time);
}

static void occupancy_is_the_devices(void **state)
{
    tz_model_work w = {.threads = 64, .registers = 121};
    char why[96];
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, why, sizeof why), 8);
    assert_string_equal(why, "registers limit a multiprocessor to 16 warps");
    w.registers = 169;
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, NULL, 0), 4);
    w = (tz_model_work){.threads = 512, .registers = 32, .shared_bytes = 100 << 10};
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, why, sizeof why), 2);
    assert_string_equal(why, "shared memory limits a multiprocessor to 32 warps");
    w = (tz_model_work){.threads = 1024, .registers = 16};
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, why, sizeof why), 2);
    w = (tz_model_work){.threads = 1024, .registers = 255};
    assert_int_equal(tz_roofs_blocks_per_sm(&device, &w, NULL, 0), 0);
}

static void what_is_missing_is_named(void **state)
{
    tz_model_device d = device;
    tz_model_work w = some_work();
    tz_model_prediction p = {0};
    d.l2_latency_s.known = false;
    check_error(tz_roofs_predict(&w, &d, &p, &failure), TZ_UNSUPPORTED, "", "l2_latency");
    w.registers = 255;
    w.threads = 1024;
    assert_int_equal(tz_roofs_predict(&w, &device, &p, &failure), TZ_RANGE);
    w = some_work();
    w.height = 0;
    assert_int_equal(tz_roofs_predict(&w, &device, &p, &failure), TZ_RANGE);
}

/* On an H100 in single precision: measured on 27 November 2026 (docs/notes/gpu-kernels.md), within
 * 15 %. */
static void measured_speeds_are_near(void **state)
{
    static const struct {
        const char *stencil;
        int precision, height;
        int64_t extent[TZ_AXES];
        int ahead, lanes;
        double gcells;
    } known[] = {
        {"star2d1r", TZ_SINGLE, 1, {16384, 16384, 1}, 0, 0, 318},
        {"star2d1r", TZ_SINGLE, 12, {16384, 16384, 1}, 0, 0, 3755},
        {"poisson", TZ_SINGLE, 1, {16384, 16384, 1}, 0, 0, 218},
        {"star3d1r", TZ_SINGLE, 4, {768, 768, 768}, 1, 32, 957},
    };
    const tz_model_device h100 = device_named("h100-80gb-hbm3");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (known[k].height > 1 && !is_complete()) /* 10 s of NVRTC; test_cuda_counts has such */
            continue;
        tz_problem problem;
        tz_plan plan = {.height = known[k].height,
                        .ahead = known[k].ahead,
                        .lanes = known[k].lanes,
                        .family = "stream"};
        tz_model_work work;
        make_problem(known[k].stencil, known[k].precision, known[k].extent[0], known[k].extent[1],
                     known[k].extent[2], &problem);
        planned_work(&problem, &plan, TZ_EFFORT_COMPILE, &work);
        const double rate = work.cells / stage_of(&work, &h100) * 1e-9;
        if (fabs(rate / known[k].gcells - 1.0) > 0.15)
            fail_msg("%s h %d: %.0f GCells/s predicted, %.0f measured", known[k].stencil,
                     known[k].height, rate, known[k].gcells);
        tz_problem_clear(&problem);
    }
}

TEST_MAIN(set_up, tear_down, TEST(loops_are_counted_by_hand), TEST(ways_are_chosen),
          TEST(waits_for_memory_are_counted), TEST(what_is_no_code_is_refused),
          TEST(known_counts_are_found), TEST(more_work_takes_longer),
          TEST(occupancy_is_the_devices), TEST(what_is_missing_is_named),
          TEST(candidates_keep_what_is_given), TEST(long_loops_are_shortened),
          TEST(lanes_need_not_swap), TEST(blocks_follow_one_another),
          TEST(rows_do_what_their_text_says), TEST(measured_speeds_are_near),
          TEST(fields_that_are_not_read_are_not_loaded))
