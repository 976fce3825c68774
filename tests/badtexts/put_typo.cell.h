/* error: TZ_FIELDS_of_text.* no member named .w.|no member named .w. in .*FIELDS_of_text */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(w, TZ_K(share) * TZ_AT(u, 1, 0));
}
