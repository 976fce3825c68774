/* error: the text must define TZ_CONSTANTS(K) before its TZ_CELL, empty without constants */
#define TZ_FIELDS(F) F(u, real)

TZ_CELL(text)
{
    TZ_PUT(u, TZ_AT(u, 1, 0));
}
