/* error: -ffast-math, -Ofast and their parts change bits: compile plugins without them */
/* options: -ffinite-math-only */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(u, 1, 0));
}
