/* error: TZ_CONSTANTS_of_text.* no member named .shar.|no member named .shar. in .*NTS_of_text */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_K(shar) * TZ_AT(u, 1, 0));
}
