/* Lays out a stage of the 3-D stream family: versions, their planes in registers, rings in shared
 * memory. For plans, texts and work. */
#include "backend/cuda/family/planes/scheme.h"

#include "backend/cuda/family/family.h"
#include "base/minmax.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int planes_age(const planes_pass *pass, const planes_version *version)
{
    return pass->lag - (pass->words > 0 ? pass->radius : 0) - version->lag;
}

uint32_t planes_row(const planes_scheme *s, const planes_pass *pass, int field, int dz, int dy)
{
    const tz_footprint *footprint = &s->footprints[pass->pass];
    uint32_t columns = 0;
    if (pass->words == 0)
        return tz_footprint_row(footprint, field, dz, dy);
    for (int k = -s->farthest; k <= s->farthest && dz == 0; k++)
        columns |= tz_footprint_row(footprint, field, k, dy);
    return columns;
}

/* The extent in z of what a pass reads: on all rows, or on rows other than the cell's own. */
static bool planes_read(const planes_scheme *s, const planes_pass *pass, int f, bool other_rows,
                        int *low, int *high)
{
    bool any = false;
    *low = *high = 0;
    for (int dz = -s->farthest; dz <= s->farthest; dz++)
        for (int dy = -s->farthest; dy <= s->farthest; dy++)
            if ((dy != 0 || !other_rows) && planes_row(s, pass, f, dz, dy)) {
                *low = any && *low < dz ? *low : dz;
                *high = dz;
                any = true;
            }
    return any;
}

/* The extent in y of what a pass reads. */
static void rows_read(const planes_scheme *s, const planes_pass *pass, int f, int *low, int *high)
{
    *low = *high = 0;
    for (int dy = -s->farthest; dy <= s->farthest; dy++)
        for (int dz = -s->farthest; dz <= s->farthest; dz++)
            if (planes_row(s, pass, f, dz, dy)) {
                *low = tz_min_int(*low, dy);
                *high = tz_max_int(*high, dy);
            }
}

/* ---- The ghost zone -------------------------------------------------------------------------- */

static bool holds_rows(const tz_problem *problem, int vector)
{
    const int64_t words = problem->elements[0];
    return problem->bits && problem->extent[0] % 32 == 0 && words % vector == 0 &&
           words <= 32 * vector && words >= problem->radius;
}

tz_reach planes_ghost(const tz_problem *problem, int vector, int height)
{
    tz_reach ghost = tz_cuda_reach(problem);
    for (int axis = 0; axis < TZ_AXES; axis++) {
        ghost.low[axis] *= height;
        ghost.high[axis] *= height;
    }
    ghost.low[0] = (ghost.low[0] + vector - 1) / vector * vector;
    ghost.high[0] = (ghost.high[0] + vector - 1) / vector * vector;
    if (holds_rows(problem, vector))
        ghost.low[0] = ghost.high[0] = 0;
    return ghost;
}

/* ---- Where fields are kept ------------------------------------------------------------------- */

/* Does a pass read a field at the cell's own place alone? Nowhere counts as that. */
static bool reads_centre(const tz_footprint *footprint, int f)
{
    for (int dz = -TZ_RADIUS_MAX; dz <= TZ_RADIUS_MAX; dz++)
        for (int dy = -TZ_RADIUS_MAX; dy <= TZ_RADIUS_MAX; dy++)
            if (tz_footprint_row(footprint, f, dz, dy) & (dz || dy ? ~0u : ~(1u << TZ_RADIUS_MAX)))
                return false;
    return true;
}

/* The largest distance of a row that a pass reads. */
static int farthest_of(const tz_footprint *footprint, const tz_problem *problem)
{
    int farthest = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int dz = -TZ_RADIUS_MAX; dz <= TZ_RADIUS_MAX; dz++)
            for (int dy = -TZ_RADIUS_MAX; dy <= TZ_RADIUS_MAX; dy++)
                if (tz_footprint_row(footprint, f, dz, dy))
                    farthest = tz_max_int(farthest, tz_max_int(abs(dz), abs(dy)));
    return farthest;
}

static bool reads_at_all(const tz_footprint *footprint, int f)
{
    static const tz_footprint nothing;
    return memcmp(footprint->row[f], nothing.row[f], sizeof nothing.row[f]) != 0;
}

/* Does a pass read a static field no further than its state fields, so that their ghost zone
 * suffices? */
static bool reads_within(const tz_problem *problem, const tz_pass *pass,
                         const tz_footprint *footprint, int f)
{
    const tz_reach reach = tz_pass_reach(problem->stencil, pass);
    const int r = TZ_RADIUS_MAX;
    const uint32_t columns = (2u << (r + reach.high[0])) - (1u << (r - reach.low[0]));
    for (int dz = -r; dz <= r; dz++)
        for (int dy = -r; dy <= r; dy++) {
            const bool inside = dz >= -reach.low[2] && dz <= reach.high[2] && dy >= -reach.low[1] &&
                                dy <= reach.high[1];
            if (tz_footprint_row(footprint, f, dz, dy) & (inside ? ~columns : ~0u))
                return false;
        }
    return true;
}

double planes_direct_bytes(const planes_scheme *s, const tz_problem *problem)
{
    const tz_stencil *stencil = problem->stencil;
    double bytes = 0.0;
    for (int k = 0; k < s->passes_count; k++)
        for (int f = 0; f < stencil->fields_count; f++)
            if (stencil->fields[f].role == TZ_STATIC && !(planes_streamed(s) >> f & 1) &&
                reads_at_all(&s->footprints[s->passes[k].pass], f))
                bytes += (double)tz_problem_element_size(problem, f);
    return bytes;
}

/* `direct`: passes read static fields from memory. So they do if a field is read beyond the ghost
 * zone, or makes sums. */
static void choose_places(planes_scheme *s, const tz_problem *problem, bool direct)
{
    const tz_stencil *stencil = problem->stencil;
    s->static_radius = 0;
    s->carried = s->ringed = 0;
    for (int f = 0; f < stencil->fields_count; f++) {
        const tz_role role = stencil->fields[f].role;
        bool centre = true, within = true, read = false;
        for (int p = 0; p < stencil->passes_count; p++) {
            const tz_pass *pass = &stencil->passes[p];
            centre = centre && reads_centre(&s->footprints[p], f);
            within = within && reads_within(problem, pass, &s->footprints[p], f) &&
                     !strstr(pass->text, "TZ_CELL_PLANES(");
            read = read || reads_at_all(&s->footprints[p], f);
        }
        if (role == TZ_STATIC && (direct || !within || !read))
            s->static_radius = tz_max_int(s->static_radius, stencil->fields[f].radius);
        else if (role == TZ_STATE || role == TZ_STATIC)
            *(centre && read ? &s->carried : &s->ringed) |= 1u << f;
    }
}

uint32_t planes_streamed(const planes_scheme *s)
{
    return s->carried | s->ringed;
}

/* ---- Versions -------------------------------------------------------------------------------- */

static int new_version(planes_scheme *s, int field, int number, int lag)
{
    s->versions[s->versions_count] = (planes_version){.field = field,
                                                      .number = number,
                                                      .lag = lag,
                                                      .carried = s->carried >> field & 1,
                                                      .oldest = -1,
                                                      .rows_oldest = -1};
    return s->versions_count++;
}

enum { HELD_MAX = 2 }; /* planes of a carried field that are kept in registers */

/* Keeps the planes of a version for as long as the pass reads them. */
static void read_version(planes_scheme *s, const tz_problem *problem, planes_pass *pass,
                         planes_version *v)
{
    int low, high, first, last;
    if (!planes_read(s, pass, v->field, false, &low, &high))
        return;
    const int age = planes_age(pass, v);
    v->oldest = tz_max_int(v->oldest, age - low);
    /* In shared memory, but for the plane of this step and of the last. */
    v->held = v->carried && v->number == 0 && v->oldest > 0 && v->oldest <= s->hold;
    v->planes = v->carried && !v->held && (v->number == 0 || v->oldest > 1) ? 0 : v->oldest + 1;
    if (v->carried)
        return;
    rows_read(s, pass, v->field, &first, &last);
    v->radius = tz_max_int(v->radius, pass->radius);
    v->first = tz_max_int(v->first, last);
    v->last = tz_max_int(v->last, -first);
    v->below = tz_max_int(v->below, -low);
    v->above = tz_max_int(v->above, high);
    if (v->number > 0 && tz_boundary_reflects(problem->boundary[2][0]))
        v->planes = tz_max_int(v->planes, 2 * v->below + 1);
    if (v->number > 0 && tz_boundary_reflects(problem->boundary[2][1]))
        v->planes = tz_max_int(v->planes, 2 * v->above + 1);
    if (planes_read(s, pass, v->field, true, &low, &high)) {
        v->rows_oldest = tz_max_int(v->rows_oldest, age - low);
        v->rows_below = v->rows_below || low < 0;
        /* Level 0 arrives before the barrier, the others after it. */
        if (v->number > 0 && age - high == 0)
            pass->waits = true;
    }
}

/* How far a pass must be behind a version that it reads. Planes below the grid that a mirror
 * repeats are set when the plane that they repeat has been made. */
static int lag_behind(const planes_scheme *s, const tz_problem *problem, const planes_pass *pass,
                      const planes_version *v)
{
    int low, high;
    if (!planes_read(s, pass, v->field, false, &low, &high))
        return 0;
    if (pass->words > 0)
        return v->lag + pass->radius;
    if (v->number > 0 && tz_boundary_reflects(problem->boundary[2][0]))
        high = tz_max_int(high, -low);
    return v->lag + tz_max_int(high, 0);
}

/* Words of the sums of a cell: one for each entry of the text's list PLANES(D) D(sum, type) … */
static int count_sums(const tz_problem *problem, const tz_pass *pass)
{
    int count = 0;
    const char *at = strstr(pass->text, "PLANES(D)");
    if (!at || !strstr(pass->text, "TZ_CELL_PLANES("))
        return 0;
    for (at += strlen("PLANES(D)"); *at && (*at != '\n' || at[-1] == '\\'); at++)
        count += strncmp(at, " D(", 3) == 0;
    return tz_max_int(count, 1) *
           (problem->bits ? 1 : (int)(tz_problem_real(problem)->size / sizeof(float)));
}

static void make_pass(planes_scheme *s, const tz_problem *problem, int k, int current[])
{
    const tz_stencil *stencil = problem->stencil;
    const tz_pass *what = &stencil->passes[k % stencil->passes_count];
    planes_pass *pass = &s->passes[k];
    *pass = (planes_pass){.pass = k % stencil->passes_count,
                          .iteration = k / stencil->passes_count,
                          .radius = what->radius,
                          .words = s->edges > 1 ? 0 : count_sums(problem, what)};
    for (int f = 0; f < stencil->fields_count; f++) {
        pass->reads[f] = current[f];
        pass->writes[f] = -1;
        if (current[f] >= 0)
            pass->lag =
                tz_max_int(pass->lag, lag_behind(s, problem, pass, &s->versions[current[f]]));
    }
    s->lag = tz_max_int(s->lag, pass->lag);
    for (int f = 0; f < stencil->fields_count; f++)
        if (what->writes >> f & 1) {
            const int number = s->versions[current[f]].number + 1;
            current[f] = pass->writes[f] = new_version(s, f, number, pass->lag);
        }
}

/* Planes of level 0 arrive when the first pass needs them. */
static void delay_arrivals(planes_scheme *s, const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        int first = -1, lag = INT_MAX, low, high;
        for (int k = 0; k < s->passes_count; k++) {
            const planes_pass *pass = &s->passes[k];
            if (pass->reads[f] < 0 || s->versions[pass->reads[f]].number > 0 ||
                !planes_read(s, pass, f, false, &low, &high))
                continue;
            first = pass->reads[f];
            lag = tz_min_int(lag, pass->lag - (pass->words > 0 ? pass->radius : high));
        }
        if (first >= 0)
            s->versions[first].lag = lag;
    }
}

/* Rows of the tile of which no pass needs a carried field: they are in the ghost zone that is used
 * up before its first pass. `used`: cells that the passes before and with each use. */
static void skip_rows(planes_scheme *s, const tz_problem *problem)
{
    tz_reach used = {{0}, {0}};
    for (int k = 0; k < s->passes_count; k++) {
        const planes_pass *pass = &s->passes[k];
        const tz_reach reach = tz_cuda_pass_reach(problem, &problem->stencil->passes[pass->pass]);
        used.low[1] += reach.low[1];
        used.high[1] += reach.high[1];
        for (int f = 0; f < problem->stencil->fields_count; f++) {
            planes_version *v = pass->reads[f] < 0 ? NULL : &s->versions[pass->reads[f]];
            if (!v || !v->carried || v->number > 0 || v->needed || !planes_row(s, pass, f, 0, 0))
                continue;
            v->needed = true;
            v->skip_low = used.low[1];
            v->skip_high = used.high[1];
        }
    }
}

static void make_passes(planes_scheme *s, const tz_problem *problem)
{
    const tz_stencil *stencil = problem->stencil;
    int current[TZ_FIELDS_MAX];
    int rest_low = s->ghost.low[2], rest_high = s->ghost.high[2];
    s->versions_count = s->lag = s->radius_rows = 0;
    for (int f = 0; f < stencil->fields_count; f++)
        current[f] = planes_streamed(s) >> f & 1 ? new_version(s, f, 0, 0) : -1;
    for (int k = 0; k < s->passes_count; k++) {
        const tz_pass *what = &stencil->passes[k % stencil->passes_count];
        const tz_reach reach = tz_cuda_pass_reach(problem, what);
        make_pass(s, problem, k, current);
        s->radius_rows = tz_max_int(s->radius_rows, what->radius);
        s->passes[k].rest_low = rest_low -= reach.low[2];
        s->passes[k].rest_high = rest_high -= reach.high[2];
    }
    delay_arrivals(s, problem);
    for (int k = 0; k < s->passes_count; k++)
        for (int f = 0; f < stencil->fields_count; f++)
            if (s->passes[k].reads[f] >= 0)
                read_version(s, problem, &s->passes[k], &s->versions[s->passes[k].reads[f]]);
    skip_rows(s, problem);
    for (int f = 0; f < stencil->fields_count; f++)
        if (current[f] >= 0)
            s->versions[current[f]].result = s->versions[current[f]].number > 0;
}

/* Chooses which warps a warp waits for, and which rows it reads early, as was fastest on an H200. A
 * barrier of the block is faster than one between adjacent warps for passes that make sums: their
 * steps are short, with much arithmetic. */
static void choose_waits(planes_scheme *s, const tz_problem *problem)
{
    int widest = 4;
    for (int k = 0; k < s->versions_count; k++)
        widest = tz_max_int(widest, (int)tz_problem_element_size(problem, s->versions[k].field));
    s->adjacent = s->radius_rows <= s->rows;
    for (int k = 0; k < s->passes_count; k++) {
        planes_pass *pass = &s->passes[k];
        s->adjacent = s->adjacent && pass->words == 0;
        pass->early = k > 0 && !pass->waits && 2 * pass->radius * s->vector * widest <= 8 * 4;
    }
}

static int needed_slots(const planes_scheme *s, const planes_version *v)
{
    const int rows = v->carried && v->planes == 0 ? v->oldest + 1 : v->rows_oldest + 1;
    if (v->number > 0 || v->oldest < 0)
        return rows;
    return tz_max_int(rows, 1) + s->ahead;
}

/* The first of the variable slots of a ring. Rings of the same length share them. */
static int find_slots(planes_scheme *s, int slots)
{
    int at = 0;
    for (int k = 0; k < s->slots_count; k++) {
        if (s->slots[k] == slots)
            return at;
        at += s->slots[k];
    }
    s->slots[s->slots_count++] = slots;
    return at;
}

/* A ring of loaded planes begins at the place in a sector of 32 bytes at which the rows of a tile
 * do. Else the second-level cache is asked twice for each sector. Where lanes copy less than 16
 * bytes this does not matter. */
static int64_t ring_start(const planes_scheme *s, const planes_version *v, int64_t element)
{
    if (v->number > 0 || s->vector * element != TZ_CUDA_PACKET_BYTES)
        return 0;
    return -(s->ghost.low[0] * element) & (TZ_CUDA_SECTOR_BYTES - 1);
}

/* Places the rings in shared memory. The slots of a ring are constants if their number divides the
 * group. `longer`: lengthen rings so that it does; 1: only those of versions that passes make, 2:
 * all. */
static void place_rings(planes_scheme *s, const tz_problem *problem, int longer)
{
    const int entries = 2 * s->groups * s->rows + 2 * s->radius_rows + s->lanes * s->vector +
                        2 * (s->warps + 1) + 1;
    enum { ALIGNED_BYTES = 128 };
    int64_t at = ((int64_t)entries * 4 + ALIGNED_BYTES - 1) / ALIGNED_BYTES * ALIGNED_BYTES;
    s->slots_count = 0;
    s->rings = at;
    for (int k = 0; k < s->versions_count; k++) {
        planes_version *v = &s->versions[k];
        const int needed = needed_slots(s, v);
        v->slots = needed;
        while (longer > (v->number == 0) && v->slots > 0 && v->slots <= s->group &&
               s->group % v->slots != 0)
            v->slots++;
        if (v->slots > s->group)
            v->slots = needed;
        v->first_slot = v->slots > 0 && s->group % v->slots != 0 ? find_slots(s, v->slots) : -1;
        const int64_t element = (int64_t)tz_problem_element_size(problem, v->field);
        v->shared = at + ring_start(s, v, element);
        at = v->shared + (int64_t)v->slots * s->groups * s->rows * s->lanes * s->vector * element;
        at = (at + ALIGNED_BYTES - 1) / ALIGNED_BYTES * ALIGNED_BYTES;
    }
    s->shared_bytes = at;
}

enum { GROUP_UNROLLED_MAX = 5, FIELDS_UNROLLED_MAX = 8 };

/* A group has as many steps as the longest ring has planes, so that no plane moves in registers.
 * Planes do move where it is rolled: for a wide stencil or for many fields the code of all steps is
 * longer than the instruction caches, and is compiled for ten seconds. */
static void choose_group(planes_scheme *s, const tz_problem *problem, int64_t shared_max)
{
    s->group = 1;
    for (int k = 0; k < s->versions_count; k++)
        s->group = tz_max_int(s->group, s->versions[k].planes);
    for (int k = 0; k < s->passes_count; k++)
        s->group = tz_max_int(s->group, s->passes[k].words > 0 ? 2 * s->passes[k].radius + 1 : 1);
    s->rolled =
        s->group > GROUP_UNROLLED_MAX || __builtin_popcount(s->ringed) > FIELDS_UNROLLED_MAX;
    for (int longer = 2; longer >= 0; longer--) {
        place_rings(s, problem, longer);
        if (s->shared_bytes <= shared_max)
            break;
    }
}

/* Words around a lane's own cells that a pass reads. */
static int count_near(const planes_scheme *s, const tz_problem *problem, const planes_pass *pass)
{
    const int r = TZ_RADIUS_MAX, most = s->farthest;
    int words = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int dz = -most; dz <= most && pass->reads[f] >= 0 && s->ringed >> f & 1; dz++)
            for (int j = -most; j < s->rows + most; j++) {
                const bool own = j >= 0 && j < s->rows;
                uint64_t columns = 0;
                for (int row = 0; row < s->rows; row++)
                    for (int e = 0; e < s->vector; e++)
                        columns |= (uint64_t)planes_row(s, pass, f, dz, j - row) << e;
                if (own)
                    columns &= ~(((UINT64_C(1) << s->vector) - 1) << r);
                words += __builtin_popcountll(columns) * tz_cuda_value_words(problem, f);
            }
    return words;
}

/* Counts the planes that are kept from step to step, the plane that is made, the words read around
 * it (some twice, since the compiler loads ahead), and addresses. The numbers are fitted to NVRTC's
 * allocation for sm_90. */
static int count_registers(const planes_scheme *s, const tz_problem *problem)
{
    int planes = 0, widest = 0, near = 0;
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        const int words = tz_cuda_value_words(problem, v->field);
        widest = tz_max_int(widest, words);
        planes += (v->planes > 1 ? v->planes - 1 : 0) * words;
    }
    for (int k = 0; k < s->passes_count; k++) {
        planes += 2 * s->passes[k].radius * s->passes[k].words;
        near = tz_max_int(near, count_near(s, problem, &s->passes[k]));
    }
    return (planes + widest) * s->vector * s->rows + near + (near < 24 ? near : 24) + 20;
}

bool planes_is_wide(const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (tz_problem_element_size(problem, f) > 4)
            return true;
    return false;
}

bool planes_straddles(const planes_scheme *s, const tz_problem *problem)
{
    return !tz_boundary_wraps(problem->boundary[1][0]) &&
           (s->ghost.low[1] % s->rows != 0 || problem->elements[1] % s->rows != 0);
}

int planes_lanes_of(const tz_plan *plan)
{
    return plan->lanes > 0 ? plan->lanes : 32;
}

int planes_registers_max(int warps)
{
    const int registers = 65536 / (32 * warps) / 8 * 8;
    return registers > 255 ? 255 : registers;
}

bool planes_corners(const tz_problem *problem, const tz_pass *pass)
{
    tz_footprint footprint;
    bool corners = false;
    tz_footprint_probe(problem, pass, &footprint);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int dz = -TZ_RADIUS_MAX; dz <= TZ_RADIUS_MAX; dz++)
            for (int dy = -TZ_RADIUS_MAX; dy <= TZ_RADIUS_MAX; dy++)
                corners =
                    corners || (dz != 0 && dy != 0 && tz_footprint_row(&footprint, f, dz, dy) != 0);
    return corners;
}

int planes_spare(const planes_scheme *s)
{
    int spare = 8;
    for (int k = 0; k < s->versions_count; k++) {
        const planes_version *v = &s->versions[k];
        if (v->number == 0 && v->oldest >= 0)
            spare = tz_min_int(spare, v->slots - needed_slots(s, v));
    }
    return spare == 8 ? 0 : spare;
}

bool planes_keeps_fields(const tz_problem *problem, const tz_limits *limits, const tz_plan *plan,
                         const tz_plan *other)
{
    planes_scheme *a = planes_scheme_make(problem, limits, plan);
    planes_scheme *b = planes_scheme_make(problem, limits, other);
    const bool same =
        a && b && a->hold == b->hold && a->carried == b->carried && a->ringed == b->ringed;
    free(a);
    free(b);
    return same;
}

planes_scheme *planes_scheme_make(const tz_problem *problem, const tz_limits *limits,
                                  const tz_plan *plan)
{
    const tz_stencil *stencil = problem->stencil;
    const int64_t shared_max = limits->shared_bytes / (plan->blocks > 0 ? plan->blocks : 1);
    planes_scheme *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->vector = plan->vector;
    s->warps = plan->warps;
    s->lanes = planes_lanes_of(plan);
    s->groups = 32 / s->lanes * s->warps;
    s->ahead = plan->ahead;
    s->edges = tz_cuda_edges(problem);
    s->ghost = planes_ghost(problem, s->vector, plan->height);
    s->row_lanes = holds_rows(problem, s->vector) ? (int)problem->elements[0] / s->vector : 0;
    s->rows = ((int)plan->tile[1] + s->ghost.low[1] + s->ghost.high[1] + s->groups - 1) / s->groups;
    s->passes_count = plan->height * stencil->passes_count;
    if (s->passes_count > PLANES_STEPS_MAX ||
        s->ghost.low[0] + s->ghost.high[0] >= s->lanes * s->vector) {
        free(s);
        return NULL;
    }
    for (int p = 0; p < stencil->passes_count; p++) {
        tz_footprint_probe(problem, &stencil->passes[p], &s->footprints[p]);
        s->farthest = tz_max_int(s->farthest, farthest_of(&s->footprints[p], problem));
    }
    /* First with carried planes in registers, which saves shared memory; else with them there; else
     * with static fields in neither. */
    for (int way = 0; way < 3; way++) {
        s->hold = way == 0 ? HELD_MAX : 0;
        choose_places(s, problem, way == 2);
        make_passes(s, problem);
        choose_waits(s, problem);
        choose_group(s, problem, shared_max);
        s->registers = count_registers(s, problem);
        if (s->shared_bytes <= shared_max &&
            (way > 0 || s->registers <= planes_registers_max(s->warps)))
            break;
    }
    return s;
}
