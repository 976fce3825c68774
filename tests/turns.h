/* Tests that compile much do a part of their cases in short runs, another part each day, so that a few
 * days do all. Any day's part can be repeated: TZ_TURN in the environment is its number. */
#ifndef TZ_TEST_TURNS_H
#define TZ_TEST_TURNS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Days since 1970, or TZ_TURN; the same throughout a run, which prints it once. */
static inline unsigned turn_of_today(void)
{
    static unsigned turn;
    static bool known;
    if (!known) {
        const char *given = getenv("TZ_TURN");
        turn = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)(time(NULL) / 86400);
        known = true;
        fprintf(stderr, "TZ_TURN=%u\n", turn);
    }
    return turn;
}

/* Is it the turn of case `number`, if one of `turns` cases has its turn in a day? */
static inline bool is_turn(unsigned number, unsigned turns)
{
    return (number + turn_of_today()) % turns == 0;
}

#endif
