/* The loops for one instruction set. loops.c includes this file once for each, so it has no include
 * guard; the macros are explained there. */
typedef float TZ__V(f32) __attribute__((vector_size(TZ__BYTES), aligned(TZ__BYTES), may_alias));
typedef double TZ__V(f64) __attribute__((vector_size(TZ__BYTES), aligned(TZ__BYTES), may_alias));
typedef uint32_t TZ__V(u32) __attribute__((vector_size(TZ__BYTES), aligned(TZ__BYTES), may_alias));
typedef float TZ__V(f32_off) __attribute__((vector_size(TZ__BYTES), aligned(4), may_alias));

TZ__CHAINS(fp32_mixed_rate, f32, TZ__ADD, TZ__MULTIPLY)
TZ__CHAINS(fp64_mixed_rate, f64, TZ__ADD, TZ__MULTIPLY)
TZ__CHAINS(integer_rate, u32, TZ__ADD, TZ__ADD)
TZ__CHAINS(logic_rate, u32, TZ__XOR, TZ__XOR)
TZ__CHAINS(special_rate, f32, TZ__DIVIDE, TZ__DIVIDE)

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

static const tz_loop_set TZ__V(set) = {
    .vector_bytes = TZ__BYTES,
    .rows = {TZ_LOOP_TABLE(TZ__LOOP_ROW, TZ__BYTES)},
    .copy = TZ__V(copy),
    .read = TZ__V(read),
};

#undef TZ__ISA
#undef TZ__BYTES
#undef TZ__REGISTER
