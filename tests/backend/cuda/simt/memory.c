/* Finds races: which accesses of a word no barrier orders. */
#include "machine.h"

#include <stdlib.h>

static bool same_warp(const simt_access *a, const simt_access *b)
{
    return a->block == b->block && a->thread / 32 == b->thread / 32;
}

/* By barriers of adjacent warps: each phase makes a warp's writes visible one warp further. */
static bool ordered_adjacent(const simt_access *before, const simt_access *now)
{
    const int away = abs(before->thread / 32 - now->thread / 32);
    return now->waited - before->arrived >= (away > 1 ? away : 1);
}

/* Is `now` after `before` on any machine? */
static bool ordered(const simt_access *before, const simt_access *now)
{
    if (before->round != now->round)
        return true;
    if (before->block != now->block)
        return false;
    return before->thread == now->thread || before->interval != now->interval ||
           ordered_adjacent(before, now) ||
           (same_warp(before, now) && before->warp_interval != now->warp_interval);
}

static bool race(const simt_access *before, const simt_access *now, simt_access *other)
{
    if (!before->block || ordered(before, now))
        return false;
    *other = *before;
    return true;
}

/* Who is ordered before `now` can be forgotten: a later access that races with it races with `now`
 * too. Of the others, one of each of two blocks, else of two warps, else of two lanes. */
static void note_reader(simt_cell *cell, const simt_access *now)
{
    simt_access *slots = cell->reader;
    for (int i = 0; i < 2; i++)
        if (slots[i].block && ordered(&slots[i], now))
            slots[i].block = 0;
    for (int i = 0; i < 2; i++)
        if (!slots[i].block) {
            slots[i] = *now;
            return;
        }
    const bool blocks = slots[0].block != slots[1].block;
    const bool warps = !same_warp(&slots[0], &slots[1]);
    if ((!blocks && now->block != slots[0].block) || (!warps && !same_warp(&slots[0], now)))
        slots[1] = *now;
}

int simt_cell_read(simt_cell *cell, const simt_access *now, simt_access *other)
{
    const bool found = race(&cell->writer, now, other);
    note_reader(cell, now);
    return found ? SIMT_RACES_WITH_WRITER : SIMT_NO_RACE;
}

int simt_cell_write(simt_cell *cell, const simt_access *now, simt_access *other)
{
    int found = SIMT_NO_RACE;
    if (race(&cell->writer, now, other))
        found = SIMT_RACES_WITH_WRITER;
    else if (race(&cell->reader[0], now, other) || race(&cell->reader[1], now, other))
        found = SIMT_RACES_WITH_READER;
    cell->writer = *now;
    cell->reader[0].block = cell->reader[1].block = 0;
    return found;
}
