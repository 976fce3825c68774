/* The cyclic cellular automaton (D. Griffeath): a cell takes the next state, modulo their number,
 * if at least `threshold` of its eight neighbours have it. */
#define TZ_FIELDS(F) F(state, int)
/* `any` is 1 if the threshold is 1, which takes half the operations. */
#define TZ_CONSTANTS(K) K(states, int) K(threshold, int) K(any, int)

#define CYCLIC_AT(dx, dy) (TZ_AT(state, dx, dy) == next)

TZ_CELL(cyclic)
{
    const int here = TZ_AT(state, 0, 0), more = here + 1;
    const int next = TZ_SELECT(more == TZ_K(states), 0, more);
    int taken;
    if (TZ_K(any))
        taken = CYCLIC_AT(-1, -1) | CYCLIC_AT(0, -1) | CYCLIC_AT(1, -1) | CYCLIC_AT(-1, 0) |
                CYCLIC_AT(1, 0) | CYCLIC_AT(-1, 1) | CYCLIC_AT(0, 1) | CYCLIC_AT(1, 1);
    else
        taken = CYCLIC_AT(-1, -1) + CYCLIC_AT(0, -1) + CYCLIC_AT(1, -1) + CYCLIC_AT(-1, 0) +
                    CYCLIC_AT(1, 0) + CYCLIC_AT(-1, 1) + CYCLIC_AT(0, 1) + CYCLIC_AT(1, 1) >=
                TZ_K(threshold);
    TZ_PUT(state, TZ_SELECT(taken, next, here));
}
#undef CYCLIC_AT
