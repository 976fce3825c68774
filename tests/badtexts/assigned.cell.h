/* error: lvalue required as left operand of assignment|expression is not assignable */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_AT(u, 0, 0) = TZ_K(share) * TZ_AT(u, 1, 0);
}
