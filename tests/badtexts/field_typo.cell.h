/* error: TZ_FIELDS_of_text.* no member named .uu.|no member named .uu. in .*FIELDS_of_text */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(share) * TZ_AT(uu, 1, 0));
}
