/* Chooses the cases of the suite: every stencil with every family that takes it. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- What is drawn from -----------------------------------------------------------------------
 *
 * Of each list of grids: tiny ones, ones with odd ends, ones that outreach a tile or a strip. */

typedef const int64_t grid[TZ_AXES];

static grid grids_1d[SIMT_GRIDS][4] = {
    {{1, 1, 1}, {2, 1, 1}, {7, 1, 1}, {33, 1, 1}},
    {{31, 1, 1}, {129, 1, 1}, {300, 1, 1}, {97, 1, 1}},
    {{1000, 1, 1}, {2500, 1, 1}, {1537, 1, 1}, {4099, 1, 1}},
};
static grid grids_2d[SIMT_GRIDS][4] = {
    {{1, 1, 1}, {1, 9, 1}, {7, 1, 1}, {3, 2, 1}},
    {{33, 17, 1}, {130, 9, 1}, {5, 70, 1}, {61, 40, 1}},
    {{300, 40, 1}, {257, 66, 1}, {131, 150, 1}, {520, 21, 1}},
};
static grid grids_2d_bits[SIMT_GRIDS][4] = {
    {{1, 1, 1}, {31, 5, 1}, {7, 2, 1}, {33, 7, 1}},
    {{129, 5, 1}, {1100, 17, 1}, {95, 66, 1}, {64, 40, 1}},
    {{4200, 9, 1}, {9700, 21, 1}, {6000, 17, 1}, {4097, 33, 1}},
};
static grid grids_3d[SIMT_GRIDS][4] = {
    {{1, 1, 1}, {5, 3, 2}, {1, 9, 4}, {3, 1, 7}},
    {{33, 5, 3}, {17, 17, 9}, {5, 40, 7}, {64, 9, 12}},
    {{140, 20, 5}, {70, 45, 6}, {131, 36, 4}, {40, 33, 17}},
};
static grid grids_3d_bits[SIMT_GRIDS][4] = {
    {{1, 1, 1}, {31, 5, 2}, {33, 2, 5}, {2, 1, 3}},
    {{95, 9, 5}, {1100, 3, 4}, {129, 20, 7}, {64, 33, 3}},
    {{4200, 7, 3}, {1400, 26, 4}, {4500, 5, 4}, {600, 30, 7}},
};
static const int heights[][7] = {
    {0}, {1, 3, 8, 2, 20, 5, 13}, {1, 3, 4, 2, 9, 5, 6}, {1, 2, 3, 1, 4, 2, 5}};
static grid tiles[][3] = {{{0}},
                          {{40, 1, 1}, {100, 1, 1}, {256, 1, 1}},
                          {{16, 6, 1}, {32, 40, 1}, {5, 9, 1}},
                          {{8, 6, 4}, {32, 4, 8}, {5, 3, 3}}};
static const simt_room rooms[] = {{4, 1}, {1, 1}, {132, 1}, {3, 2}};

/* The random choices of a case; the same on every machine. */
static uint32_t draw(const simt_group *g, const char *what, int number)
{
    uint64_t seed = (uint64_t)number;
    const char *const names[] = {g->k.stencil->id, g->k.plan.family, what};
    for (int n = 0; n < 3; n++)
        for (const char *c = names[n]; *c; c++)
            seed = (seed ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    seed = (seed ^ (seed >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(seed >> 33);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Of several ways to fill a plan: nothing but the height, a tile, or the knobs that streams have.
 */
static void choose_plan(simt_group *g, simt_depth depth, int number, int attempt)
{
    const int dims = g->k.stencil->dims, reach = tz_stencil_reach(g->k.stencil);
    const uint32_t dice = draw(g, "plan", 16 * number + attempt);
    tz_plan *plan = &g->k.plan;
    tz_plan fresh = {.height = heights[dims][(number + attempt) % 7]};
    memcpy(fresh.family, plan->family, sizeof fresh.family);
    fresh.height = fresh.height > reach && reach > 1 ? fresh.height / reach : fresh.height;
    /* In 3-D a wide ghost zone takes most of the time: cases.txt and all cases have them. */
    if (depth == SIMT_FEW && dims == 3 && fresh.height * reach > 4)
        fresh.height = reach > 4 ? 1 : 4 / reach;
    const int way = attempt < 8 ? (number + attempt) % 4 : 0;
    /* Of a tile much smaller than its ghost zone nearly all is redundant, and takes its time. */
    for (int d = 0; way % 2 == 1 && d < TZ_AXES; d++) {
        const int64_t tile = tiles[dims][dice % 3][d], halo = (int64_t)fresh.height * reach;
        fresh.tile[d] = d < dims && tile < 2 * halo ? 2 * halo : tile;
    }
    if (way >= 2) {
        static const int vectors[] = {0, 4, 2, 8}, aheads[] = {0, 1, 2, 4}, warps[] = {0, 1, 2, 4};
        fresh.vector = vectors[dice / 4 % 4];
        fresh.ahead = aheads[dice / 16 % 4];
        fresh.warps = warps[dice / 64 % 4];
        const int two_packets = g->k.precision == TZ_DOUBLE ? 4 : 8;
        if (dims == 2 && strcmp(fresh.family, "stream") == 0 && fresh.vector == two_packets)
            fresh.swap = (int)(dice / 256 % 3);
        if (dims == 3 && strcmp(fresh.family, "stream") == 0 &&
            g->k.stencil->fields[0].type != TZ_BITS)
            fresh.lanes = dice / 256 % 2 ? 16 : 0;
    }
    *plan = fresh;
}

static tz_status try_plan(const simt_group *g, int grid_number, const tz_cuda_family *family,
                          tz_error *error)
{
    tz_problem problem, whole;
    tz_plan plan = g->k.plan;
    tz_cuda_shape shape;
    simt_case k = g->k;
    memcpy(k.extent, g->extent[grid_number], sizeof k.extent);
    tz_status status = simt_resolve(&k, &whole, error);
    if (status)
        return status;
    problem = k.slab ? simt_slab_of(&k, &whole) : whole;
    const tz_limits limits = simt_limits(&g->k.room);
    const char *why = tz_cuda_refusal(family, &problem);
    status = why ? tz_error_set(error, TZ_UNSUPPORTED, NULL, "it %s", why)
                 : tz_cuda_plan(&problem, &limits, &plan, error);
    if (!status)
        status = tz_cuda_shape_all(family, &problem, &limits, &plan,
                                   g->k.room.blocks_per_multiprocessor, &shape, error);
    tz_problem_clear(&whole);
    return status;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static void add(simt_groups *groups, const simt_group *g)
{
    if (groups->count == groups->room) {
        const int room = 2 * groups->room + 64;
        simt_group *larger = realloc(groups->at, (size_t)room * sizeof *larger);
        if (!larger) {
            groups->failed = true;
            return;
        }
        groups->at = larger;
        groups->room = room;
    }
    groups->at[groups->count++] = *g;
}

/* Different rules at the low and the high side of each axis, but periodic at both. */
static void mix_sides(const int *allowed, int n, uint32_t dice, tz_boundary sides[TZ_AXES][2])
{
    for (int axis = 0; axis < TZ_AXES; axis++, dice /= 16) {
        sides[axis][0] = (tz_boundary)allowed[dice % 4 % (unsigned)n];
        sides[axis][1] = (tz_boundary)allowed[dice / 4 % 4 % (unsigned)n];
        for (int turn = 1; !tz_boundary_wraps(sides[axis][0]) && turn <= n &&
                           (sides[axis][1] == sides[axis][0] || tz_boundary_wraps(sides[axis][1]));
             turn++)
            sides[axis][1] = (tz_boundary)allowed[(dice / 4 + (unsigned)turn) % (unsigned)n];
        if (tz_boundary_wraps(sides[axis][0]) || tz_boundary_wraps(sides[axis][1]))
            sides[axis][1] = sides[axis][0];
    }
}

enum { BOUNDARIES_MAX = 16 };

/* Each on all sides, then mixtures of axes and mixtures of sides: all, or one of each. */
static int list_boundaries(const tz_stencil *stencil, bool all, uint32_t rotation,
                           tz_boundary list[BOUNDARIES_MAX][TZ_AXES][2])
{
    int allowed[TZ_BOUNDARIES], n = 0, count = 0;
    for (int b = 0; b < TZ_BOUNDARIES; b++)
        if (stencil->boundaries & TZ_ALLOW(b))
            allowed[n++] = b;
    const int mixtures = stencil->dims == 1 || n == 1 ? 0 : all ? n : 1;
    for (; count < n + mixtures; count++)
        for (int axis = 0; axis < TZ_AXES; axis++)
            list[count][axis][0] = list[count][axis][1] =
                (tz_boundary)(count < n ? allowed[count]
                                        : allowed[(count + (int)(rotation % 64) + axis) % n]);
    for (int k = 0; n > 1 && k < (all ? 2 * n : 1); k++)
        mix_sides(allowed, n, rotation + 2654435761u * (unsigned)k, list[count++]);
    return count;
}

enum { STORED_AS_HALF = TZ_PRECISIONS }; /* and computed in single precision */

static int list_precisions(const tz_stencil *stencil, const tz_cuda_family *family,
                           int list[TZ_PRECISIONS + 1])
{
    int count = 0;
    list[0] = -1;
    for (int p = 0; p < TZ_PRECISIONS && tz_stencil_has_real(stencil); p++)
        if (stencil->passes[0].kernels->cell[p])
            list[count++] = p;
    if (list[0] == TZ_SINGLE && family->stored)
        list[count++] = STORED_AS_HALF;
    return count > 0 ? count : 1;
}

/* A large one last; before it a tiny or an odd one. In 3-D a cell of many fields, or of a wide
 * radius, takes many times as long as others: an odd one has to do, except in all cases. */
static void choose_grids(simt_group *g, simt_depth depth, int number)
{
    const tz_stencil *stencil = g->k.stencil;
    const bool bits = stencil->fields[0].type == TZ_BITS;
    const bool slow = depth == SIMT_FEW && stencil->dims == 3 &&
                      (stencil->fields_count > 8 || tz_stencil_reach(stencil) > 3);
    grid(*lists)[4] = stencil->dims == 1   ? grids_1d
                      : stencil->dims == 2 ? bits ? grids_2d_bits : grids_2d
                      : bits               ? grids_3d_bits
                                           : grids_3d;
    const uint32_t small = draw(g, "small", number) % 2;
    g->grids = 0;
    for (int i = 0; i < SIMT_GRIDS; i++)
        if (i == SIMT_GRIDS - 1 || i == (int)small)
            memcpy(g->extent[g->grids++],
                   lists[slow && i > 1 ? 1 : i][draw(g, "grid", SIMT_GRIDS * number + i) % 4],
                   sizeof g->extent[i]);
}

/* Words of bits in 1-D are not cut into slabs. */
static bool is_cut(const tz_stencil *stencil)
{
    return stencil->dims > 1 || stencil->fields[0].type != TZ_BITS;
}

/* Whether the text uses coordinates, which a slab counts from elsewhere. */
static bool has_coordinates(const tz_stencil *stencil)
{
    const char name[] = {'T', 'Z', '_', "XYZ"[stencil->dims - 1], '\0'};
    for (int p = 0; p < stencil->passes_count; p++)
        if (strstr(stencil->passes[p].text, name))
            return true;
    return false;
}

static void make_pair(simt_groups *groups, const tz_stencil *stencil, const tz_cuda_family *family,
                      simt_depth depth)
{
    tz_boundary boundaries[BOUNDARIES_MAX][TZ_AXES][2];
    int precisions[TZ_PRECISIONS + 1];
    simt_group g = {.k = {.stencil = stencil}};
    snprintf(g.k.plan.family, sizeof g.k.plan.family, "%s", family->name);
    const uint32_t rotation = draw(&g, "turn", 0);
    const int boundaries_count = list_boundaries(stencil, depth == SIMT_FULL, rotation, boundaries);
    const int precisions_count = list_precisions(stencil, family, precisions);
    const int ways = depth == SIMT_FEW ? 1 : boundaries_count * precisions_count;
    const int before = groups->count;
    tz_error error = {0};
    const int slabs = !has_coordinates(stencil) ? 0 : depth == SIMT_FULL ? 2 * boundaries_count : 1;
    /* The others are slabs: with few cases every second pair. */
    const int whole = slabs > 0 || (depth == SIMT_FEW && rotation % 2) ? ways : ways - 1;
    for (int i = 0; i < ways + slabs; i++) {
        const int number = i + (int)(rotation % 64);
        const int b = depth == SIMT_FEW
                          ? (int)(draw(&g, "boundary", i) % (unsigned)boundaries_count)
                          : i % boundaries_count;
        memcpy(g.k.boundary, boundaries[b], sizeof g.k.boundary);
        const int precision =
            precisions[(depth == SIMT_FULL ? i / boundaries_count : number) % precisions_count];
        g.k.half = precision == STORED_AS_HALF ? 1 + i % 2 : 0;
        g.k.precision = precision == STORED_AS_HALF ? TZ_SINGLE : precision;
        g.k.seed = draw(&g, "seed", i) % 100000;
        if (depth == SIMT_FEW)
            g.k.seed |= 3; /* each fixed side has a value of its own */
        g.k.slab = i < whole || !is_cut(stencil) ? 0 : 1 + number % 2;
        g.k.rest = (int)(draw(&g, "rest", i) % 60);
        choose_grids(&g, depth, number);
        if (depth == SIMT_FEW) {
            memcpy(g.extent[0], g.extent[rotation / 2 % 4 != 0], sizeof g.extent[0]);
            g.grids = 1;
        }
        /* The first plan that the family takes; the last ways are those without knobs. */
        tz_status status = TZ_RANGE;
        for (int attempt = 0; attempt < 16 && status; attempt++) {
            choose_plan(&g, depth, number + i / 7, attempt);
            g.k.room = rooms[(draw(&g, "room", i) + (unsigned)attempt) % COUNT(rooms)];
            status = try_plan(&g, g.grids - 1, family, &error);
        }
        if (!status)
            add(groups, &g);
    }
    const size_t used = strlen(groups->none);
    if (groups->count == before)
        snprintf(groups->none + used, sizeof groups->none - used, "%s takes no %s: %.200s\n",
                 family->name, stencil->id, error.message);
}

void simt_groups_make(simt_groups *groups, const tz_registry *registry, simt_depth depth,
                      bool (*wanted)(const char *stencil, const void *context), const void *context,
                      const char *family)
{
    memset(groups, 0, sizeof *groups);
    const tz_cuda_family *f;
    for (int row = 0; tz_cuda_family_at(row, 1, &f); row++)
        for (size_t i = 0; i < tz_registry_count(registry); i++) {
            const tz_plugin *plugin = tz_registry_get(registry, i)->plugin;
            for (int s = 0; plugin && s < plugin->stencils_count; s++) {
                const tz_stencil *one = plugin->stencils[s];
                tz_cuda_family_at(row, one->dims, &f);
                if (f && wanted(one->id, context) &&
                    (family ? strcmp(family, f->name) == 0 : !f->named))
                    make_pair(groups, one, f, depth);
            }
        }
}
