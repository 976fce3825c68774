/* Counts of a kernel's instructions, against code written by hand and against a profiler's counts
 * on an H200. No GPU; without NVRTC the tests that compile are skipped. */
#include "model/constants.h"
#include "nvrtc.h"
#include "tests/archetypes.h"
#include "work_support.h"

/* ---- Code by hand ---------------------------------------------------------------------------- */

typedef struct word {
    uint64_t low, high;
} word;

enum {
    NONE = 7,
    LDG = 0x981,
    LDGSTS = 0xfae,
    LDS = 0x984,
    STG = 0x986,
    FADD = 0x221,
    SHFL = 0x589,
    EXIT = 0x94d
};

static const uint64_t plain = UINT64_C(7) << 23; /* a branch's second predicate: none */
static const uint64_t wide = UINT64_C(6) << 9;   /* of an access: 128 bits a lane */

/* An instruction without a predicate: its operation with the operands' form, and control bits. */
static word timed(uint64_t operation, uint64_t stall, uint64_t sets, uint64_t waits, uint64_t high)
{
    return (word){operation | 7u << 12,
                  high | stall << 41 | sets << 46 | (uint64_t)NONE << 49 | waits << 52};
}

static word encode(uint64_t operation, uint64_t high)
{
    return timed(operation, 1, NONE, 0, high);
}

/* A branch by `over` instructions (back: less than 0), always or if P0 holds. */
static word jump(int over, bool always)
{
    const uint64_t units = (uint64_t)(int64_t)(over * 4);
    return (word){(always ? 0x7947u : 0x0947u) | (units & 255) << 16 |
                      (over < 0 ? (uint64_t)-1 << 34 : 0),
                  (over < 0 ? 0x3ffff : 0) | plain | UINT64_C(1) << 41 | UINT64_C(63) << 46};
}

static tz_cuda_mix *mix_of(const word *code, size_t bytes)
{
    tz_sass sass;
    tz_cuda_mix *mix = test_room(sizeof *mix);
    assert_ok(tz_sass_decode(&sass, code, bytes, 90, NULL));
    assert_ok(tz_cuda_mix_of(mix, &sass, NULL, NULL));
    tz_sass_free(&sass);
    return mix;
}

TEST(loops_are_counted_by_hand)
{
    static const int known[] = {80, 90, 100};
    for (size_t a = 0; a < sizeof known / sizeof *known; a++) {
        /* Back five instructions: -20 units of four bytes. */
        const int64_t units = -20, far = known[a] >= 90 ? -1 : units;
        const uint64_t near = known[a] >= 90 ? (uint64_t)(units + 256) : 0;
        const word code[] = {
            timed(0x202, 1, NONE, 0, 0),                /* MOV */
            timed(0x221, 4, NONE, 0, 0),                /* FADD: the loop begins */
            timed(0x589, 2, 0, 0, 0),                   /* SHFL, opens barrier 0 */
            timed(0x221, 4, NONE, 1, 0),                /* FADD, waits for it */
            timed(0x986, 1, NONE, 0, UINT64_C(6) << 9), /* STG.128 */
            {0x8947 | near << 16 | (uint64_t)far << 34,
             ((uint64_t)far >> 30 & 0x3ffff) | plain | UINT64_C(5) << 41 | (uint64_t)NONE << 46 |
                 (uint64_t)NONE << 49},      /* @!P0 BRA */
            timed(0x94d, 5, NONE, 0, plain), /* EXIT */
            timed(0x918, 1, NONE, 0, 0),     /* NOP, never reached */
        };
        static tz_cuda_mix mix;
        tz_sass sass;
        assert_ok(tz_sass_decode(&sass, code, sizeof code, known[a], NULL));
        assert_int_equal(sass.count, 8);
        assert_int_equal(sass.code[5].target, 1);
        assert_true(sass.code[5].conditional);
        assert_ok(tz_cuda_mix_of(&mix, &sass, NULL, NULL));
        assert_int_equal(mix.loops_count, 1);
        const tz_cuda_loop *loop = &mix.loops[0];
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

/* A loop with two bodies. Each is counted separately, with its inner loop and without the stores of
 * lanes at an edge. */
TEST(bodies_are_distinguished)
{
    const word code[] = {
        encode(FADD, 0),      jump(5, false), /* 1: the loop begins; to 7 */
        encode(LDGSTS, wide), encode(FADD, 0),     encode(FADD, 0),
        encode(STG, wide),    jump(9, true), /* 6: to 16 */
        encode(LDGSTS, wide),                /* 7: the other body */
        encode(FADD, 0),                     /* 8: a loop inside */
        encode(FADD, 0),      jump(-3, false),     encode(LDS, wide),
        encode(STG, wide),    jump(2, false), /* 13: over what few lanes do, to 16 */
        encode(STG, 0),       encode(STG, 0),      encode(FADD, 0), /* 16 */
        jump(-17, false),     encode(EXIT, plain),
    };
    tz_cuda_mix *mix = mix_of(code, sizeof code);
    assert_int_equal(mix->loops_count, 3);
    const int other = mix->loops[0].way.of[TZ_WORK_SHARED_READ] > 0.0 ? 0 : 1;
    const tz_cuda_loop *one = &mix->loops[1 - other], *two = &mix->loops[other];
    assert_true(tz_work_mix_sum(&one->way) == 8.0 && one->way.of[TZ_WORK_FP32] == 3.0);
    assert_true(one->stores == 1.0 && one->copies_words == 4.0);
    assert_true(tz_work_mix_sum(&two->way) == 10.0 && two->way.of[TZ_WORK_FP32] == 3.0);
    assert_true(two->stores == 1.0 && two->stores_words == 4.0);
    assert_true(one->parent == -1 && two->parent == -1);
    assert_int_equal(mix->loops[2].parent, other);
    assert_true(tz_work_mix_sum(&one->all) == 8.0 && tz_work_mix_sum(&two->all) == 9.0);
    assert_true(one->shortest == 1 - other && two->shortest == other);
}

TEST(what_is_no_code_is_refused)
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

TEST(known_counts_are_found)
{
    static tz_cuda_mix mix;
    need_nvrtc();
    for (size_t a = 0; a < sizeof architectures / sizeof *architectures; a++) {
        size_t bytes = 0;
        void *cubin = compiled(architectures[a], known_source, &bytes);
        if (tz_cuda_mix_count(&mix, cubin, bytes, "tz_stage", NULL, &failure))
            fail_msg("%s: %s", architectures[a], failure.message);
        assert_int_equal(tz_cuda_mix_count(&mix, cubin, bytes, "other", NULL, NULL), TZ_FORMAT);
        assert_int_equal(tz_cuda_mix_count(&mix, cubin, bytes / 2, "tz_stage", NULL, NULL),
                         TZ_FORMAT);
        assert_ok(tz_cuda_mix_count(&mix, cubin, bytes, "tz_stage", NULL, NULL));
        assert_int_equal(mix.loops_count, 1);
        const tz_work_mix *way = &mix.loops[0].way;
        assert_true(way->of[TZ_WORK_FP32] == 3.0);
        assert_true(way->of[TZ_WORK_SHUFFLE] == 1.0);
        assert_true(way->of[TZ_WORK_WRITE] == 1.0);
        assert_true(way->of[TZ_WORK_BARRIER] == 1.0);
        assert_true(mix.loops[0].once.of[TZ_WORK_READ] == 1.0);
        assert_true(mix.registers >= 4 && mix.registers < 64);
        assert_true(mix.shared_bytes >= 256);
        assert_int_equal(mix.local_bytes, 0);
    }
}

/* ---- What a profiler counted ----------------------------------------------------------------- */

static void check(const char *id, int height, const char *what, double counted, double measured,
                  double most)
{
    if (fabs(counted / measured - 1.0) > most)
        fail_msg("%s h %d: %.2f million %s, where a profiler counted %.2f", id, height,
                 counted * 1e-6, what, measured * 1e-6);
}

/* ncu, code of NVRTC 13.0, of one stage: smsp__inst_executed and l1tex__data_pipe_lsu_wavefronts,
 * in millions, on an H200; or on an H100 instructions, and the sectors that the first level asks
 * the second for (lts__t_sectors_srcunit_tex, read and written), in megabytes. 0: not counted. */
TEST(profilers_count_the_same)
{
    static const struct {
        const char *stencil;
        int precision;
        int64_t nx, nz;
        int height, vector, warps, rows, ahead;
        double instructions, wavefronts, sectors;
    } known[] = {
        {"star2d1r", TZ_SINGLE, 16384, 1, 9, 4, 0, 0, 3, 578.6, 0.0, 2496.0},
        {"hotspot", TZ_SINGLE, 16384, 1, 11, 4, 0, 0, 3, 884.6, 0.0, 3928.0},
        {"star2d1r", TZ_DOUBLE, 16384, 1, 9, 4, 0, 0, 6, 724.67, 0.0, 4931.0},
        {"box2d1r", TZ_DOUBLE, 4096, 1, 6, 2, 0, 0, 3, 49.835, 11.968, 0.0},
        {"star3d1r", TZ_SINGLE, 256, 256, 2, 4, 16, 28, 1, 29.757, 8.888, 0.0},
        {"box3d1r", TZ_SINGLE, 256, 256, 4, 4, 8, 8, 1, 124.698, 28.563, 0.0},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!is_complete() && k != 1 && k != 3 && k != 4)
            continue; /* one of each kind: sectors, double precision, three dimensions */
        tz_plan plan = {.height = known[k].height,
                        .vector = known[k].vector,
                        .warps = known[k].warps,
                        .ahead = known[k].ahead,
                        .tile = {0, known[k].rows, 0},
                        .family = "stream"};
        const tz_model_work work = work_for(known[k].stencil, known[k].precision, known[k].nx,
                                            known[k].nx, known[k].nz, &plan, TZ_EFFORT_COMPILE);
        const tz_model_prediction p = predicted(&work, &device);
        check(known[k].stencil, plan.height, "instructions", detail_of(&p, "instructions"),
              known[k].instructions * 1e6, known[k].nz > 1 ? 0.06 : 0.03);
        if (known[k].wavefronts > 0.0)
            check(known[k].stencil, plan.height, "wavefronts", detail_of(&p, "wavefronts"),
                  known[k].wavefronts * 1e6, 0.15);
        if (known[k].sectors > 0.0)
            check(known[k].stencil, plan.height, "bytes of L2", detail_of(&p, "l2_bytes"),
                  known[k].sectors * 1e6, 0.1);
    }
}

/* ---- What counts cost ------------------------------------------------------------------------ */

TEST_GROUP(set_up, tear_down)
