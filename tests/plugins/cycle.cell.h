/* Griffeath's cyclic automaton: a state gives way to the next one if enough of the eight neighbours
 * have it. */
#define TZ_FIELDS(F) F(kind, int)
#define TZ_CONSTANTS(K) K(kinds, int) K(enough, int)

TZ_CELL(cycle)
{
    const int here = TZ_AT(kind, 0, 0);
    const int next = here + 1 == TZ_K(kinds) ? 0 : here + 1;
    const int above =
        (TZ_AT(kind, -1, -1) == next) + (TZ_AT(kind, 0, -1) == next) + (TZ_AT(kind, 1, -1) == next);
    const int beside = (TZ_AT(kind, -1, 0) == next) + (TZ_AT(kind, 1, 0) == next);
    const int below =
        (TZ_AT(kind, -1, 1) == next) + (TZ_AT(kind, 0, 1) == next) + (TZ_AT(kind, 1, 1) == next);
    TZ_PUT(kind, above + beside + below >= TZ_K(enough) ? next : here);
}
