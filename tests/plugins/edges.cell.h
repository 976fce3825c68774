/* Bits that change by two neighbours, and by a third one while there is a pulse; and an output:
 * where they differ from others. */
#define TZ_FIELDS(F) F(alive, tz_word) F(edge, tz_word)
#define TZ_CONSTANTS(K) K(flip, int) K(pulse, int, varies)

TZ_CELL(edges)
{
    TZ_PUT(alive, TZ_AT(alive, -1, 0) ^ (TZ_AT(alive, 0, 1) & (tz_word)TZ_K(flip)) ^
                      (TZ_AT(alive, 1, 0) & (0u - (tz_word)TZ_K(pulse))));
}

TZ_CELL(edges_found)
{
    TZ_PUT(edge, TZ_PICK3(TZ_AT(alive, -2, 0), TZ_AT(alive, 1, -1), TZ_AT(alive, 2, 2)) ^
                     TZ_AT(alive, 0, 0));
}
