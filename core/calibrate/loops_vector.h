/* Included by calibrate/loops.c alone, once an instruction set. No include guard.
 *
 * Chains of dependent instructions: TZ__KEEP makes each a value that the compiler knows nothing of,
 * so that none is left out or put together with another. */
typedef float TZ__V(f32) __attribute__((vector_size(TZ__BYTES), aligned(TZ__BYTES), may_alias));
typedef double TZ__V(f64) __attribute__((vector_size(TZ__BYTES), aligned(TZ__BYTES), may_alias));
typedef uint32_t TZ__V(u32) __attribute__((vector_size(TZ__BYTES), aligned(TZ__BYTES), may_alias));
typedef float TZ__V(f32_off) __attribute__((vector_size(TZ__BYTES), aligned(4), may_alias));

#define TZ__KEEP(value) __asm__ volatile("" : "+" TZ__REGISTER(value))
#define TZ__USE(value) __asm__ volatile("" : : TZ__REGISTER(value))

#define TZ__HIDE(pointer) __asm__ volatile("" : "+r"(pointer))

/* A STEP changes x, with a constant c that the compiler does not know. */
#define TZ__ADD(x) x += c
#define TZ__MULTIPLY(x) x *= c
#define TZ__DIVIDE(x) x = c / x
#define TZ__XOR(x) x ^= c
#define TZ__BLEND(x) x = __builtin_shufflevector(x, c, TZ__BLENDED)
#define TZ__TURN(x) x = __builtin_shufflevector(x, x, TZ__TURNED)

/* Twelve chains that do not wait for each other, every other one of a second step. */
#define TZ__TWO(x, y, STEP, OTHER)                                                                 \
    STEP(x);                                                                                       \
    TZ__KEEP(x);                                                                                   \
    OTHER(y);                                                                                      \
    TZ__KEEP(y);
#define TZ__CHAINS(name, type, STEP, OTHER)                                                        \
    static void TZ__V(name)(long rounds, void *memory)                                             \
    {                                                                                              \
        TZ__V(type) c = *(const TZ__V(type) *)memory;                                              \
        TZ__KEEP(c);                                                                               \
        TZ__V(type) x0 = c, x1 = c, x2 = c, x3 = c, x4 = c, x5 = c;                                \
        TZ__V(type) y0 = c, y1 = c, y2 = c, y3 = c, y4 = c, y5 = c;                                \
        for (long i = 0; i < 4 * rounds; i++) {                                                    \
            TZ__TWO(x0, y0, STEP, OTHER)                                                           \
            TZ__TWO(x1, y1, STEP, OTHER)                                                           \
            TZ__TWO(x2, y2, STEP, OTHER)                                                           \
            TZ__TWO(x3, y3, STEP, OTHER)                                                           \
            TZ__TWO(x4, y4, STEP, OTHER)                                                           \
            TZ__TWO(x5, y5, STEP, OTHER)                                                           \
        }                                                                                          \
    }
/* One chain of 48. */
#define TZ__CHAIN(name, type, STEP)                                                                \
    static void TZ__V(name)(long rounds, void *memory)                                             \
    {                                                                                              \
        TZ__V(type) c = *(const TZ__V(type) *)memory, x = c;                                       \
        TZ__KEEP(c);                                                                               \
        for (long i = 0; i < 12 * rounds; i++) {                                                   \
            TZ__TWO(x, x, STEP, STEP)                                                              \
            TZ__TWO(x, x, STEP, STEP)                                                              \
        }                                                                                          \
    }

TZ__CHAINS(fp32_rate, f32, TZ__ADD, TZ__ADD)
TZ__CHAINS(fp32_multiply_rate, f32, TZ__MULTIPLY, TZ__MULTIPLY)
TZ__CHAINS(fp32_mixed_rate, f32, TZ__ADD, TZ__MULTIPLY)
TZ__CHAIN(fp32_latency, f32, TZ__ADD)
TZ__CHAINS(fp64_rate, f64, TZ__ADD, TZ__ADD)
TZ__CHAINS(fp64_multiply_rate, f64, TZ__MULTIPLY, TZ__MULTIPLY)
TZ__CHAINS(fp64_mixed_rate, f64, TZ__ADD, TZ__MULTIPLY)
TZ__CHAIN(fp64_latency, f64, TZ__ADD)
TZ__CHAINS(integer_rate, u32, TZ__ADD, TZ__ADD)
TZ__CHAIN(integer_latency, u32, TZ__ADD)
TZ__CHAINS(multiply_rate, u32, TZ__MULTIPLY, TZ__MULTIPLY)
TZ__CHAINS(logic_rate, u32, TZ__XOR, TZ__XOR)
TZ__CHAIN(logic_latency, u32, TZ__XOR)
TZ__CHAINS(alu_rate, u32, TZ__ADD, TZ__XOR)
TZ__CHAINS(move_rate, f32, TZ__BLEND, TZ__BLEND)
TZ__CHAINS(shuffle_rate, f32, TZ__TURN, TZ__TURN)
TZ__CHAIN(shuffle_latency, f32, TZ__TURN)
TZ__CHAINS(special_rate, f32, TZ__DIVIDE, TZ__DIVIDE)
TZ__CHAINS(fp64_special_rate, f64, TZ__DIVIDE, TZ__DIVIDE)

static void TZ__V(load_rate)(long rounds, void *memory)
{
    for (long i = 0; i < rounds; i++) {
        const TZ__V(f32) *at = memory;
        TZ__HIDE(at);
#pragma GCC unroll 16
        for (size_t k = 0; k < TZ_LOOP_BYTES / TZ__BYTES; k++) {
            const TZ__V(f32) value = at[k];
            TZ__USE(value);
        }
    }
}

static void TZ__V(unaligned_load_rate)(long rounds, void *memory)
{
    for (long i = 0; i < rounds; i++) {
        const TZ__V(f32_off) *at = (const TZ__V(f32_off) *)((const char *)memory + 4);
        TZ__HIDE(at);
#pragma GCC unroll 16
        for (size_t k = 0; k < TZ_LOOP_BYTES / TZ__BYTES; k++) {
            const TZ__V(f32) value = (TZ__V(f32))at[k];
            TZ__USE(value);
        }
    }
}

/* One element each, wherever it goes. */
static void TZ__V(narrow_load_rate)(long rounds, void *memory)
{
    for (long i = 0; i < rounds; i++) {
        const float *at = memory;
        TZ__HIDE(at);
#pragma GCC unroll 16
        for (size_t k = 0; k < TZ_LOOP_BYTES / 16; k++) {
            const float value = at[k];
            TZ__USE(value);
        }
    }
}

static void TZ__V(store_rate)(long rounds, void *memory)
{
    TZ__V(f32) value = {0};
    for (long i = 0; i < rounds; i++) {
        TZ__V(f32) *const at = memory;
        TZ__KEEP(value);
#pragma GCC unroll 16
        for (size_t k = 0; k < TZ_LOOP_BYTES / TZ__BYTES; k++)
            at[k] = value;
        __asm__ volatile("" : : "r"(at) : "memory");
    }
}

/* What a loop over rows is made of: a load, a vector addition or product, three scalar additions,
 * none of which waits for another kind. */
#define TZ__ISSUE(k, x, STEP, m, n, o)                                                             \
    {                                                                                              \
        const TZ__V(f32) value = at[k];                                                            \
        TZ__USE(value);                                                                            \
        STEP(x);                                                                                   \
        TZ__KEEP(x);                                                                               \
        m += step;                                                                                 \
        TZ__HIDE(m);                                                                               \
        n += step;                                                                                 \
        TZ__HIDE(n);                                                                               \
        o += step;                                                                                 \
        TZ__HIDE(o);                                                                               \
    }
static void TZ__V(issue_rate)(long rounds, void *memory)
{
    const TZ__V(f32) *at = memory;
    TZ__V(f32) x0 = at[0], x1 = x0, x2 = x0, x3 = x0, c = x0;
    TZ__V(f32) y0 = x0, y1 = x0, y2 = x0, y3 = x0;
    long k = 1, l = 2, m = 3, n = 4, o = 5, p = 6, step = rounds;
    TZ__KEEP(c);
    TZ__HIDE(step);
    for (long i = 0; i < rounds; i++) {
        TZ__HIDE(at);
        TZ__ISSUE(0, x0, TZ__ADD, k, l, m)
        TZ__ISSUE(1, y0, TZ__MULTIPLY, n, o, p)
        TZ__ISSUE(2, x1, TZ__ADD, k, l, m)
        TZ__ISSUE(3, y1, TZ__MULTIPLY, n, o, p)
        TZ__ISSUE(4, x2, TZ__ADD, k, l, m)
        TZ__ISSUE(5, y2, TZ__MULTIPLY, n, o, p)
        TZ__ISSUE(6, x3, TZ__ADD, k, l, m)
        TZ__ISSUE(7, y3, TZ__MULTIPLY, n, o, p)
    }
}

static void TZ__V(copy)(void *to, const void *from, size_t bytes)
{
    TZ__V(f32) *const out = to;
    const TZ__V(f32) *const in = from;
    for (size_t i = 0; i < bytes / TZ__BYTES; i += 4) {
        const TZ__V(f32) a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3];
        out[i] = a;
        out[i + 1] = b;
        out[i + 2] = c;
        out[i + 3] = d;
    }
    __asm__ volatile("" : : "r"(to) : "memory");
}

static void TZ__V(read)(const void *from, size_t bytes)
{
    const TZ__V(f32) *const in = from;
    for (size_t i = 0; i < bytes / TZ__BYTES; i += 4) {
        const TZ__V(f32) a = in[i], b = in[i + 1], c = in[i + 2], d = in[i + 3];
        TZ__USE(a);
        TZ__USE(b);
        TZ__USE(c);
        TZ__USE(d);
    }
}

static void TZ__V(rows9)(void *to, const void *above, const void *same, const void *below,
                         size_t bytes)
{
    const char *const rows[3] = {above, same, below};
    for (size_t i = 0; i < bytes; i += TZ__BYTES) {
        TZ__V(f32) sum = {0};
#pragma GCC unroll 3
        for (int r = 0; r < 3; r++)
#pragma GCC unroll 3
            for (int x = -4; x <= 4; x += 4)
                sum += (TZ__V(f32)) * (const TZ__V(f32_off) *)(rows[r] + i + x);
        *(TZ__V(f32) *)((char *)to + i) = sum;
    }
    __asm__ volatile("" : : "r"(to) : "memory");
}

static const tz_loop_set TZ__V(set) = {
    .vector_bytes = TZ__BYTES,
    .rows =
        {
            [TZ_LOOP_FP32_RATE] = {"fp32 additions, 12 chains", TZ__V(fp32_rate), 48},
            [TZ_LOOP_FP32_MULTIPLY_RATE] = {"fp32 multiplications, 12 chains",
                                            TZ__V(fp32_multiply_rate), 48},
            [TZ_LOOP_FP32_MIXED_RATE] = {"6 chains of fp32 additions, 6 of multiplications",
                                         TZ__V(fp32_mixed_rate), 48},
            [TZ_LOOP_FP32_LATENCY] = {"dependent fp32 additions", TZ__V(fp32_latency), 48},
            [TZ_LOOP_FP64_RATE] = {"fp64 additions, 12 chains", TZ__V(fp64_rate), 48},
            [TZ_LOOP_FP64_MULTIPLY_RATE] = {"fp64 multiplications, 12 chains",
                                            TZ__V(fp64_multiply_rate), 48},
            [TZ_LOOP_FP64_MIXED_RATE] = {"6 chains of fp64 additions, 6 of multiplications",
                                         TZ__V(fp64_mixed_rate), 48},
            [TZ_LOOP_FP64_LATENCY] = {"dependent fp64 additions", TZ__V(fp64_latency), 48},
            [TZ_LOOP_INTEGER_RATE] = {"32-bit additions, 12 chains", TZ__V(integer_rate), 48},
            [TZ_LOOP_INTEGER_LATENCY] = {"dependent 32-bit additions", TZ__V(integer_latency), 48},
            [TZ_LOOP_MULTIPLY_RATE] = {"32-bit multiplications, 12 chains", TZ__V(multiply_rate),
                                       48},
            [TZ_LOOP_LOGIC_RATE] = {"exclusive ors, 12 chains", TZ__V(logic_rate), 48},
            [TZ_LOOP_LOGIC_LATENCY] = {"dependent exclusive ors", TZ__V(logic_latency), 48},
            [TZ_LOOP_ALU_RATE] = {"6 chains of 32-bit additions, 6 of exclusive ors",
                                  TZ__V(alu_rate), 48},
            [TZ_LOOP_MOVE_RATE] = {"selections by a constant mask, 12 chains", TZ__V(move_rate),
                                   48},
            [TZ_LOOP_SHUFFLE_RATE] = {"turns by one lane, 12 chains", TZ__V(shuffle_rate), 48},
            [TZ_LOOP_SHUFFLE_LATENCY] = {"dependent turns by one lane", TZ__V(shuffle_latency), 48},
            [TZ_LOOP_SPECIAL_RATE] = {"fp32 divisions, 12 chains", TZ__V(special_rate), 48},
            [TZ_LOOP_FP64_SPECIAL_RATE] = {"fp64 divisions, 12 chains", TZ__V(fp64_special_rate),
                                           48},
            [TZ_LOOP_LOAD_RATE] = {"aligned loads over 16 KiB", TZ__V(load_rate),
                                   TZ_LOOP_BYTES / TZ__BYTES},
            [TZ_LOOP_UNALIGNED_LOAD_RATE] = {"loads over 16 KiB, 4 bytes off their alignment",
                                             TZ__V(unaligned_load_rate), TZ_LOOP_BYTES / TZ__BYTES},
            [TZ_LOOP_NARROW_LOAD_RATE] = {"loads of single elements", TZ__V(narrow_load_rate),
                                          TZ_LOOP_BYTES / 16},
            [TZ_LOOP_STORE_RATE] = {"aligned stores over 16 KiB", TZ__V(store_rate),
                                    TZ_LOOP_BYTES / TZ__BYTES},
            [TZ_LOOP_ISSUE_RATE] =
                {"a load, an addition or product, three scalar additions in turn",
                 TZ__V(issue_rate), 40},
        },
    .copy = TZ__V(copy),
    .read = TZ__V(read),
    .rows9 = TZ__V(rows9),
};

#undef TZ__KEEP
#undef TZ__USE
#undef TZ__HIDE
#undef TZ__ADD
#undef TZ__MULTIPLY
#undef TZ__DIVIDE
#undef TZ__XOR
#undef TZ__BLEND
#undef TZ__TURN
#undef TZ__TWO
#undef TZ__CHAINS
#undef TZ__CHAIN
#undef TZ__ISSUE
#undef TZ__ISA
#undef TZ__BYTES
#undef TZ__REGISTER
#undef TZ__TURNED
#undef TZ__BLENDED
