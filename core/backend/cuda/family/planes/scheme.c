#include "backend/cuda/family/planes/scheme.h"

#include "backend/cuda/family/family.h"
#include <string.h>

static int larger(int a, int b)
{
    return a > b ? a : b;
}

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
    for (int k = -TZ_RADIUS_MAX; k <= TZ_RADIUS_MAX && dz == 0; k++)
        columns |= tz_footprint_row(footprint, field, k, dy);
    return columns;
}

/* The extent in z of what a pass reads: on all rows, or on rows other than the cell's own. */
static bool planes_read(const planes_scheme *s, const planes_pass *pass, int f, bool other_rows,
                        int *low, int *high)
{
    bool any = false;
    *low = *high = 0;
    for (int dz = -TZ_RADIUS_MAX; dz <= TZ_RADIUS_MAX; dz++)
        for (int dy = -TZ_RADIUS_MAX; dy <= TZ_RADIUS_MAX; dy++)
            if ((dy != 0 || !other_rows) && planes_row(s, pass, f, dz, dy)) {
                *low = any && *low < dz ? *low : dz;
                *high = dz;
                any = true;
            }
    return any;
}

static int new_version(planes_scheme *s, int field, int number, int lag)
{
    s->versions[s->versions_count] =
        (planes_version){.field = field, .number = number, .lag = lag, .rows_oldest = -1};
    return s->versions_count++;
}

/* Keeps the planes of a version for as long as the pass reads them. */
static void read_version(planes_scheme *s, planes_pass *pass, planes_version *v)
{
    int low, high;
    if (!planes_read(s, pass, v->field, false, &low, &high))
        return;
    const int age = planes_age(pass, v), tall = low < 0 || high > 0 ? pass->radius : 0;
    v->planes = larger(v->planes, age + 1 + tall);
    v->radius = larger(v->radius, pass->radius);
    v->radius_z = larger(v->radius_z, tall);
    if (planes_read(s, pass, v->field, true, &low, &high)) {
        v->rows_oldest = larger(v->rows_oldest, age - low);
        v->rows_below = v->rows_below || low < 0;
        /* Level 0 arrives before the barrier, the others after it. */
        if (v->number > 0 && age - high == 0)
            pass->waits = true;
    }
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
    return larger(count, 1) * (problem->precision == TZ_DOUBLE && !problem->bits ? 2 : 1);
}

static void make_passes(planes_scheme *s, const tz_problem *problem)
{
    const tz_stencil *stencil = problem->stencil;
    int current[TZ_FIELDS_MAX];
    int rest = s->reach, lag = 0;
    for (int f = 0; f < stencil->fields_count; f++)
        current[f] = stencil->fields[f].role == TZ_STATE ? new_version(s, f, 0, 0) : -1;
    for (int k = 0; k < s->passes_count; k++) {
        planes_pass *pass = &s->passes[k];
        const tz_pass *what = &stencil->passes[k % stencil->passes_count];
        rest -= what->radius;
        lag += what->radius;
        *pass = (planes_pass){.pass = k % stencil->passes_count,
                              .iteration = k / stencil->passes_count,
                              .lag = lag,
                              .radius = what->radius,
                              .words = count_sums(problem, what),
                              .rest = rest};
        for (int f = 0; f < stencil->fields_count; f++) {
            pass->reads[f] = current[f];
            pass->writes[f] = -1;
            if (current[f] >= 0)
                read_version(s, pass, &s->versions[current[f]]);
        }
        for (int f = 0; f < stencil->fields_count; f++)
            if (what->writes >> f & 1) {
                const int number = s->versions[current[f]].number + 1;
                current[f] = pass->writes[f] = new_version(s, f, number, lag);
            }
    }
    for (int f = 0; f < stencil->fields_count; f++)
        if (current[f] >= 0)
            s->versions[current[f]].last = s->versions[current[f]].number > 0;
}

/* Chooses which warps a warp waits for, and which rows it reads early, as was fastest on an H200. A
 * barrier of the block is faster than one between adjacent warps for passes that make sums: their
 * steps are short, with much arithmetic. */
static void choose_waits(planes_scheme *s, const tz_problem *problem)
{
    int widest = 4;
    for (int k = 0; k < s->versions_count; k++)
        widest = larger(widest, (int)tz_problem_element_size(problem, s->versions[k].field));
    s->adjacent = s->radius_rows <= s->rows;
    for (int k = 0; k < s->passes_count; k++) {
        planes_pass *pass = &s->passes[k];
        s->adjacent = s->adjacent && pass->words == 0;
        pass->early = k > 0 && !pass->waits && 2 * pass->radius * s->vector * widest <= 8 * 4;
    }
}

static int needed_slots(const planes_scheme *s, const planes_version *v)
{
    const int rows = v->rows_oldest + 1;
    if (v->number > 0 || v->planes == 0)
        return rows;
    return larger(rows, 1) + s->ahead;
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

/* Places the rings in shared memory. The slots of a ring are constants if their number divides the
 * group. `longer`: lengthen rings so that it does; 1: only those of versions that passes make, 2:
 * all. */
static void place_rings(planes_scheme *s, const tz_problem *problem, int longer)
{
    const int entries =
        2 * s->warps * s->rows + 2 * s->radius_rows + 32 * s->vector + 2 * (s->warps + 1) + 1;
    int64_t at = ((int64_t)entries * 4 + 127) / 128 * 128;
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
        v->shared = at;
        at += (int64_t)v->slots * s->warps * s->rows * 32 * s->vector *
              (int64_t)tz_problem_element_size(problem, v->field);
    }
    s->shared_bytes = at;
}

/* A group has as many steps as the longest ring has planes, so that no plane moves in registers. */
static void choose_group(planes_scheme *s, const tz_problem *problem, int64_t shared_max)
{
    s->group = 1;
    for (int k = 0; k < s->versions_count; k++)
        s->group = larger(s->group, s->versions[k].planes);
    for (int k = 0; k < s->passes_count; k++)
        s->group = larger(s->group, s->passes[k].words > 0 ? 2 * s->passes[k].radius + 1 : 1);
    for (int longer = 2; longer >= 0; longer--) {
        place_rings(s, problem, longer);
        if (s->shared_bytes <= shared_max)
            break;
    }
}

/* Words around a lane's own cells that a pass reads. */
static int count_near(const planes_scheme *s, const tz_problem *problem, const planes_pass *pass)
{
    const int r = TZ_RADIUS_MAX;
    int words = 0;
    for (int f = 0; f < problem->stencil->fields_count; f++)
        for (int dz = -r; dz <= r && pass->reads[f] >= 0; dz++)
            for (int j = -r; j < s->rows + r; j++) {
                const bool own = j >= 0 && j < s->rows;
                uint64_t columns = 0;
                for (int row = 0; row < s->rows; row++)
                    for (int e = 0; e < s->vector; e++)
                        columns |= (uint64_t)planes_row(s, pass, f, dz, j - row) << e;
                if (own)
                    columns &= ~(((UINT64_C(1) << s->vector) - 1) << r);
                words +=
                    __builtin_popcountll(columns) * (int)tz_problem_element_size(problem, f) / 4;
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
        const int words = (int)tz_problem_element_size(problem, v->field) / 4;
        widest = larger(widest, words);
        planes += (v->planes > 1 ? v->planes - 1 : 0) * words;
    }
    for (int k = 0; k < s->passes_count; k++) {
        planes += 2 * s->passes[k].radius * s->passes[k].words;
        near = larger(near, count_near(s, problem, &s->passes[k]));
    }
    return (planes + widest) * s->vector * s->rows + near + (near < 24 ? near : 24) + 20;
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
        const int more = v->slots - needed_slots(s, v);
        if (v->number == 0 && v->planes > 0)
            spare = more < spare ? more : spare;
    }
    return spare == 8 ? 0 : spare;
}

static bool holds_rows(const tz_problem *problem, int vector)
{
    const int64_t words = problem->elements[0];
    return problem->bits && problem->extent[0] % 32 == 0 && words % vector == 0 &&
           words <= 32 * vector && words >= problem->radius;
}

int64_t planes_ghost_x(const tz_problem *problem, int vector, int height)
{
    const int64_t reach = (int64_t)height * tz_stencil_reach(problem->stencil);
    return holds_rows(problem, vector) ? 0 : (reach + vector - 1) / vector * vector;
}

bool planes_scheme_make(planes_scheme *s, const tz_problem *problem, const tz_limits *limits,
                        const tz_plan *plan)
{
    const tz_stencil *stencil = problem->stencil;
    const int64_t shared_max = limits->shared_bytes / (plan->blocks > 0 ? plan->blocks : 1);
    memset(s, 0, sizeof *s);
    s->vector = plan->vector;
    s->warps = plan->warps;
    s->ahead = plan->ahead;
    s->reach = plan->height * tz_stencil_reach(stencil);
    s->ghost_x = (int)planes_ghost_x(problem, s->vector, plan->height);
    s->row_lanes = holds_rows(problem, s->vector) ? (int)problem->elements[0] / s->vector : 0;
    s->rows = ((int)plan->tile[1] + 2 * s->reach + s->warps - 1) / s->warps;
    s->passes_count = plan->height * stencil->passes_count;
    if (s->passes_count > PLANES_STEPS_MAX || 2 * s->ghost_x >= 32 * s->vector)
        return false;
    for (int p = 0; p < stencil->passes_count; p++) {
        tz_footprint_probe(problem, &stencil->passes[p], &s->footprints[p]);
        s->radius_rows = larger(s->radius_rows, stencil->passes[p].radius);
    }
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].role == TZ_STATIC)
            s->static_radius = larger(s->static_radius, stencil->fields[f].radius);
    make_passes(s, problem);
    choose_waits(s, problem);
    choose_group(s, problem, shared_max);
    s->registers = count_registers(s, problem);
    return true;
}
