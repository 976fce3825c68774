/* The update of slip.c, with the slip that a macro selects. */
#ifdef SLIP_TEXT_ORDER
#define TZ_FIELDS(F) F(v, real) F(u, real) F(f, real) F(n, int)
#elif defined SLIP_TEXT_NAME
#define TZ_FIELDS(F) F(u, real) F(w, real) F(f, real) F(n, int)
#elif defined SLIP_TEXT_TYPE
#define TZ_FIELDS(F) F(u, real) F(v, real) F(f, real) F(n, real)
#elif defined SLIP_TEXT_FEWER
#define TZ_FIELDS(F) F(u, real) F(v, real) F(f, real)
#else
#define TZ_FIELDS(F) F(u, real) F(v, real) F(f, real) F(n, int)
#endif
#ifdef SLIP_CONSTANT_ORDER
#define TZ_CONSTANTS(K) K(rate, real) K(share, real) K(most, int)
#elif defined SLIP_CONSTANT_TYPE
#define TZ_CONSTANTS(K) K(share, real) K(rate, real) K(most, real)
#elif defined SLIP_CONSTANT_MORE
#define TZ_CONSTANTS(K) K(share, real) K(rate, real) K(most, int) K(least, int)
#else
#define TZ_CONSTANTS(K) K(share, real) K(rate, real) K(most, int)
#endif
#ifdef SLIP_READS_TOO_NARROW
#define TZ_READS(R) R(slip, u, -1, 0, -1, 1)
#elif defined SLIP_READS_TOO_WIDE
#define TZ_READS(R) R(slip, u, -2, 1, -1, 1)
#elif defined SLIP_READS_WITHOUT_CELL
#define TZ_READS(R) R(slip, u, 1, 1, -1, 1)
#elif defined SLIP_READS_UNKNOWN
#define TZ_READS(R) R(slipp, u, -1, 1, -1, 1)
#elif defined SLIP_READS_TWICE
#define TZ_READS(R) R(slip, u, -1, 1, -1, 1) R(slip, u, -1, 1, 0, 0)
#elif !defined SLIP_TEXT_NAME && !defined SLIP_DIMS
#define TZ_READS(R) R(slip, u, -1, 1, -1, 1) R(slip, v, 0, 0, 0, 0)
#endif

#if TZ_CELL_DIMS == 2
#define SLIP_AT(field, dx, dy) TZ_AT(field, dx, dy)
#else
#define SLIP_AT(field, dx, dy) TZ_AT(field, dx, dy, 0)
#endif

#ifdef SLIP_TEXT_FEWER
#define SLIP_COUNT (real) TZ_K(most)
#else
#define SLIP_COUNT (real)(TZ_K(most) / (int)SLIP_AT(n, 0, 0))
#endif

TZ_CELL(slip)
{
    real sum = SLIP_AT(u, -1, 0) + SLIP_AT(u, 1, 0) + SLIP_AT(u, 0, -1) + SLIP_AT(u, 0, 1);
#ifdef SLIP_OFFSET
    if (sum > 8) /* only some values show it */
        sum = SLIP_AT(u, -2, 1);
#endif
#ifdef SLIP_OFFSET_OF_STATIC
    sum += SLIP_AT(f, 0, 1);
#endif
    sum = TZ_FMA(TZ_K(share), sum, SLIP_AT(f, 0, 0)) + TZ_K(rate) * SLIP_AT(u, 0, 0);
    TZ_PUT(u, sum);
#ifdef SLIP_SOMETIMES
    if (sum > 0)
#endif
#ifdef SLIP_TEXT_NAME
        TZ_PUT(w, SLIP_AT(w, 0, 0));
#elif !defined SLIP_NEVER
    TZ_PUT(v, SLIP_AT(v, 0, 0) + SLIP_COUNT);
#endif
#ifdef SLIP_STATIC
    TZ_PUT(f, sum);
#endif
}
