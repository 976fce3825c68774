/* An automaton over words of 32 cells. */
#define TZ_FIELDS(F) F(alive, tz_word)
#define TZ_CONSTANTS(K)

TZ_CELL(refusing)
{
    TZ_PUT(alive, TZ_AT(alive, -1) ^ TZ_AT(alive, 1));
}
