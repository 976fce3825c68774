/* Every function of <trapeze/rows_math.h>, of values that stay finite. `u` and `v` come out between
 * -4 and 4. Sines of large numbers take the other reduction of arguments in single precision. */
#define TZ_FIELDS(F) F(u, real) F(v, real) F(n, int)
#define TZ_CONSTANTS(K) K(gain, real) K(far, real)

TZ_HELPER(real, folded, (real x))
{
    const real size = TZ_ABS(x);
    return TZ_SELECT(size < TZ_R(4), x, TZ_R(4) / size);
}
TZ_HELPER(int, mixed, (int a, int b, tz_word c))
{
    const tz_word sum = 33u * (tz_word)a + TZ_MAX((tz_word)b, c);
    return TZ_SELECT(sum & 1u, TZ_ABS((int)sum), TZ_MIN((int)sum, a));
}

TZ_CELL(numbers)
{
    const real u = TZ_CALL(folded, TZ_AT(u, 0, 0)), v = TZ_CALL(folded, TZ_AT(v, 0, 0));
    const real east = TZ_AT(u, 1, 0), west = TZ_AT(u, -1, 0);
    const real north = TZ_AT(u, 0, 1), south = TZ_AT(u, 0, -1);
    const real least = TZ_MIN(TZ_MIN(TZ_MIN(east, west), TZ_MIN(north, south)), TZ_AT(v, 1, 1));
    const real most = TZ_MAX(TZ_MAX(TZ_MAX(east, west), TZ_MAX(north, south)), TZ_AT(v, -1, -1));
    const real wave = TZ_SIN(TZ_K(gain) * (most - least)) + TZ_COS(TZ_K(far) * u);
    const real decay = TZ_EXP(-TZ_ABS(u)) + TZ_LOG(TZ_R(1.5) + TZ_ABS(v));
    const real root = TZ_SQRT(TZ_FMA(u, u, v * v));
    const real power = TZ_POW(TZ_ABS(v) + TZ_R(0.125), TZ_R(0.25) * u) + TZ_POW(-root, 3);
    const real turn = TZ_ATAN2(east - west, north - south) + TZ_ATAN(v) + TZ_ASIN(u / 4) -
                      TZ_ACOS(v / 4) + TZ_CALL(folded, TZ_TAN(u));
    const real swing = TZ_SINH(v) / TZ_COSH(u) + TZ_ERF(u - v);
    const real random = TZ_UNIT(TZ_AT(n, 0, 0) * 2654435761u, 7u * (tz_word)TZ_AT(n, 1, 0));
    const real whole = random + TZ_FLOOR(3 * u) + TZ_CEIL(3 * v) - TZ_ROUND(u + v);
    TZ_PUT(u, TZ_CALL(folded, TZ_FMA(TZ_K(gain), decay, wave + turn)));
    TZ_PUT(v, TZ_CALL(folded, power + swing + whole) + TZ_TANH(u - v) * TZ_R(0.1));
    TZ_PUT(n, TZ_CALL(mixed, TZ_AT(n, 0, 0), TZ_AT(n, -1, 0), (tz_word)TZ_AT(n, 0, 1)));
}
