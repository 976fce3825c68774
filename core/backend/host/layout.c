#include "backend/host/layout.h"

#include "stencil/stencil.h"
#include <stdbool.h>

enum {
    ALIGN = TZ_ALIGN_ELEMENTS,
    PADDING_MAX = 24 << 20, /* bytes of padding between rows, in all arrays together, ... */
    PADDING_SHARE = 16,     /* ... or this part of the arrays, if it is more */
    PAGE = 4096,
    LINE = 64,
    FIELDS = 21 /* places in a page where the arrays of fields begin */
};

/* Whether neighbours at this distance in bytes begin at different places of a page. */
static bool neighbours_apart(int64_t bytes)
{
    enum { APART = 512 };
    return bytes % PAGE >= APART && bytes % PAGE <= PAGE - APART;
}

/* How many of the next 32 rows at this distance in bytes begin near the same place of a way of 64 KiB, or more than
 * all of them if neighbours do. */
static int crowd(int64_t bytes)
{
    enum { WAY = 64 << 10, ROWS = 32 };
    const int64_t near = bytes < PAGE ? bytes : PAGE;
    int found = neighbours_apart(bytes) ? 0 : ROWS + 1;
    for (int i = 1; i <= ROWS; i++) {
        const int64_t at = i * bytes % WAY;
        found += at < near || at > WAY - near;
    }
    return found;
}

/* The least crowded distance of rows, and of several the least one; `row` elements or up to `most`. */
static int64_t spread_rows(int64_t row, int64_t most, int64_t size)
{
    enum { FEW = 2 }; /* as many as at random distances */
    int64_t best = row;
    for (int64_t wider = row; wider <= most && crowd(best * size) > FEW; wider += ALIGN)
        if (crowd(wider * size) < crowd(best * size))
            best = wider;
    return best;
}

/* One copy is loaded while the other one is stored, and then the other way round. A value is stored some
 * time after the loads that precede it in the text, so a load is delayed if its address is a little lower in
 * the page than the last stores, which are at higher and higher addresses. The neighbours to the left, `left` bytes
 * lower, are loaded with the next vector: on some processors a load waits for the store of the vector before if
 * both touch the same bytes of a page. Returns by how many bytes no load is lower, for all neighbours of a cell. */
static int64_t loads_apart(int64_t row, int64_t plane, int64_t copy, int64_t left, int rows,
                           int planes)
{
    int64_t least = PAGE;
    for (int z = -planes; z <= planes; z++)
        for (int y = -rows; y <= rows; y++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const int64_t at = (y * row + z * plane + sign * copy - left) % PAGE;
                const int64_t lower = at < 0 ? -at : PAGE - at;
                least = lower < least ? lower : least;
            }
    return least;
}

/* The distance of planes that leaves most room to the loads, with at most a page of padding in large arrays, and
 * the distance of copies. */
static void spread_planes(const tz_problem *problem, int64_t size, bool large, tz_host_layout *l)
{
    enum { STEP = 2 * LINE };
    const bool deep = problem->dims == 3;
    /* A row function may compute several slabs at once. */
    const int more = TZ_SLABS_TOGETHER - 1;
    const int rows =
        problem->dims > 1 ? tz_stencil_reach_along(problem->stencil, 1) + (deep ? 0 : more) : 0;
    const int planes = deep ? tz_stencil_reach_along(problem->stencil, 2) + more : 0;
    const int64_t left = tz_stencil_reach_along(problem->stencil, 0) * size;
    const int64_t dense = l->plane;
    int64_t most = -1;
    for (int64_t padding = 0; padding < (deep && large ? PAGE : 1); padding += STEP)
        for (int64_t copy = 0; copy < PAGE; copy += STEP) {
            const int64_t plane = dense * size + padding;
            if (deep && large && !neighbours_apart(plane))
                continue;
            const int64_t apart = loads_apart(l->row * size, plane, copy, left, rows, planes);
            if (apart <= most)
                continue;
            most = apart;
            l->plane = dense + padding / size;
            l->copy = copy;
        }
}

/* Bytes of an element of the first state field. */
static int64_t state_size(const tz_problem *problem)
{
    int f = 0;
    while (f + 1 < problem->stencil->fields_count && problem->stencil->fields[f].role != TZ_STATE)
        f++;
    return (int64_t)tz_problem_element_size(problem, f);
}

tz_host_layout tz_host_layout_choose(const tz_problem *problem, int ghost)
{
    const int64_t w = problem->elements[0], size = state_size(problem), most = w / PADDING_SHARE;
    const int64_t rows = problem->elements[1] + (problem->dims == 3 ? 2 * ghost : 0);
    const int64_t all = rows * problem->elements[2];
    tz_host_layout l = {.row = tz_round_up(w + 2 * ghost, ALIGN)};
    if (l.row * size % PAGE == 0)
        l.row += ALIGN;
    const bool large = all > 1 && l.row * all * size >= TZ_HOST_LARGE;
    if (large)
        l.row = spread_rows(l.row, w + most, size);
    if (l.row - w > most && (l.row - w) * all * 16 > PADDING_MAX)
        l.row = w + 2 * ghost;
    l.plane = l.row * rows;
    if (all > 1)
        spread_planes(problem, size, large, &l);
    return l;
}

int64_t tz_host_layout_begin(const tz_host_layout *layout, int64_t array_bytes, int field, int copy)
{
    const int64_t fields = field % FIELDS * (PAGE / FIELDS / LINE * LINE);
    return array_bytes >= TZ_HOST_STAGGERED ? fields + copy * layout->copy : 0;
}
