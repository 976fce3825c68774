/* error: a value is double in single precision: write literals as TZ_R(0.5) */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * 0.5 * TZ_AT(u, 1, 0));
}
