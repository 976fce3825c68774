/* The stream family in two dimensions (kernels/cuda/rows.cuh): strips of a warp's width stream down
 * the rows of a chunk, all levels in registers.
 *
 * plan.tile: useful columns of a strip (follows from height and vector) and rows of a chunk (0: as
 * many as fill the GPU evenly). plan.vector: columns of a lane. plan.ahead: rows loaded before they
 * are needed. plan.slack 1: levels lag a row more, so that those of one step do not wait for each
 * other. */
#include "cuda/family.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_MAX = 96,
    REGISTERS = 255,       /* of a thread */
    REGISTERS_OTHER = 45,  /* addresses, loop, what is in flight */
    REGISTERS_GOOD = 145,  /* as estimated: three warps a scheduler, 168 as compiled */
    REGISTERS_FEW = 110,   /* as estimated: four warps a scheduler, 128 as compiled */
    REGISTERS_SMALL = 115, /* the compiler needs no limit */
    UNROLLED_WORDS =
        150, /* levels times words a lane of a loop body: more misses the instruction cache */
    UNROLL_MAX = 16,
    CHUNK_MAX = 1 << 20
};

/* A ring: the rows of a field's version that are kept. Row y + newest is in its last slot when row
 * y of level 0 arrives. */
typedef struct ring {
    int field;
    int level;  /* that made it; 0: loaded */
    int depth;  /* rows */
    int newest; /* relative to y */
    int radius; /* how far it is read in x and y */
    int halo;   /* columns of neighbouring lanes that are kept with it, on each side */
} ring;

typedef struct design {
    const tz_problem *problem;
    int vector, ahead, levels;
    int lag[LEVELS_MAX + 1];
    int reach; /* of all levels: ghost rows and columns */
    int extra; /* rows more at the start, for static fields that reach far */
    int rings_count;
    ring rings[LEVELS_MAX * 2 + TZ_FIELDS_MAX];
    int unroll;
    int group;  /* levels that take static fields out of their queue together */
    bool sums;  /* rows are summed as they come (TZ_CELL_ROWS); a ring then holds the newest */
    bool edges; /* TZ_EDGES of rows.cuh: the grid's ends are simple */
} design;

static const tz_pass *pass_of(const design *d, int level)
{
    return &d->problem->stencil->passes[(level - 1) % d->problem->stencil->passes_count];
}

/* The level that made what level `level` reads of a state field. */
static int version_before(const design *d, int field, int level)
{
    int version = level - 1;
    while (version > 0 && !(pass_of(d, version)->writes >> field & 1))
        version--;
    return version;
}

static int element_words(const tz_problem *problem, int field)
{
    return (int)tz_problem_element_size(problem, field) / 4;
}

static const ring *find_ring(const design *d, int field, int level)
{
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].field == field && d->rings[i].level == level)
            return &d->rings[i];
    return NULL;
}

static void add_state_ring(design *d, int field, int made, bool eager)
{
    ring r = {.field = field, .level = made, .newest = -d->lag[made]};
    int oldest = r.newest;
    for (int l = made + 1; l <= d->levels; l++) {
        if (version_before(d, field, l) != made)
            continue;
        const int radius = pass_of(d, l)->radius;
        const int last = -d->lag[l] + (d->sums ? radius : -radius);
        r.radius = radius > r.radius ? radius : r.radius;
        oldest = last < oldest ? last : oldest;
    }
    r.depth = r.newest - oldest + 1;
    r.halo = eager ? r.radius : 0;
    d->rings[d->rings_count++] = r;
}

/* Moves at the end of a loop body of `unroll` steps, per step. */
static double moves(const design *d, int unroll)
{
    double words = 0.0;
    for (int i = 0; i < d->rings_count; i++)
        if (unroll % d->rings[i].depth != 0)
            words += d->rings[i].depth * (d->vector + 2 * d->rings[i].halo) *
                     element_words(d->problem, d->rings[i].field);
    const int sums = d->sums ? 2 * d->problem->radius : 1;
    if (unroll % sums != 0)
        words += d->levels * sums * d->vector * element_words(d->problem, 0);
    return words / unroll;
}

/* Elements that the last lane of a row has in the grid. */
static int end_columns(const tz_problem *problem, int vector)
{
    return (int)((problem->elements[0] - 1) % vector) + 1;
}

/* How far any field is read. */
static int reads_radius(const tz_stencil *s)
{
    int radius = 0;
    for (int p = 0; p < s->passes_count; p++)
        radius = s->passes[p].radius > radius ? s->passes[p].radius : radius;
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role != TZ_STATE)
            radius = s->fields[f].radius > radius ? s->fields[f].radius : radius;
    return radius;
}

/* Is a row's end seen by one lane alone, and does a strip or a chunk see both ends of the grid at
 * most once? */
static bool has_simple_edges(const design *d)
{
    const tz_problem *problem = d->problem;
    const int64_t nx = problem->elements[0], ny = problem->elements[1];
    const int end = end_columns(problem, d->vector), radius = reads_radius(problem->stencil);
    if (nx < 32 * d->vector || ny < 2 * d->reach + 4 * radius + d->ahead + UNROLL_MAX)
        return false;
    if (problem->bits)
        return end == d->vector && problem->extent[0] == 32 * nx;
    return problem->boundary[0] == TZ_PERIODIC ? end == d->vector
                                               : radius <= d->vector && radius <= end;
}

/* Static fields are read at the cell itself alone. */
static bool reads_static_here(const tz_stencil *s)
{
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role != TZ_STATE && s->fields[f].radius > 0)
            return false;
    return true;
}

/* The first level of a level's group. */
static int group_start(const design *d, int level)
{
    return (level - 1) / d->group * d->group + 1;
}

/* Rows from what a group's first level reads of static fields to what its last one does. */
static int group_span(const design *d, int level)
{
    const int first = group_start(d, level), last = first + d->group - 1;
    return d->lag[last < d->levels ? last : d->levels] - d->lag[first];
}

/* A row is added to what waits for it when it comes, and need not be kept. */
static bool is_sum_of_rows(const tz_stencil *s)
{
    return s->passes_count == 1 && s->fields_count == 1 && s->passes[0].radius > 0 &&
           strstr(s->passes[0].text, "TZ_CELL_ROWS(") != NULL;
}

/* A simple torus has no ends but those of bit rows. */
static bool has_sides(const design *d)
{
    return !d->edges || d->problem->bits || d->problem->boundary[0] != TZ_PERIODIC;
}

/* Fails when there are more levels than registers could ever hold. */
static bool make_design(design *d, const tz_problem *problem, const tz_plan *plan)
{
    const tz_stencil *s = problem->stencil;
    *d = (design){.problem = problem, .vector = plan->vector, .ahead = plan->ahead};
    if (plan->height * s->passes_count > LEVELS_MAX)
        return false;
    d->levels = plan->height * s->passes_count;
    for (int l = 1; l <= d->levels; l++) {
        d->lag[l] = d->lag[l - 1] + pass_of(d, l)->radius + plan->slack;
        d->reach += pass_of(d, l)->radius;
    }
    /* A box reads the neighbours of every row: they are fetched once a row and kept. */
    d->group = d->levels;
    if (s->passes_count == 1 && reads_static_here(s) && getenv("TZ_G"))
        d->group = atoi(getenv("TZ_G")) < d->levels ? atoi(getenv("TZ_G")) : d->levels;
    d->edges = has_simple_edges(d);
    d->sums = d->edges && is_sum_of_rows(s) && problem->boundary[1] != TZ_MIRROR;
    const bool eager = !d->sums && tz_stencil_reads_diagonals(s);
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role == TZ_STATE) {
            add_state_ring(d, f, 0, eager);
            for (int l = 1; l <= d->levels; l++)
                if (pass_of(d, l)->writes >> f & 1)
                    add_state_ring(d, f, l, eager);
        } else {
            const int r = s->fields[f].radius;
            const int extra = 2 * r - s->passes[0].radius - d->lag[1];
            for (int l = 1; l <= d->levels; l += d->group)
                d->rings[d->rings_count++] = (ring){.field = f,
                                                    .level = l - 1,
                                                    .newest = r - d->lag[l],
                                                    .depth = group_span(d, l) + 2 * r + 1,
                                                    .radius = r};
            d->extra = extra > d->extra ? extra : d->extra;
        }
    }
    d->unroll = 1;
    for (int u = 2; u <= UNROLL_MAX && u * d->levels * d->vector <= UNROLLED_WORDS; u++)
        if (moves(d, u) < moves(d, d->unroll))
            d->unroll = u;
    return true;
}

/* An estimate, never far below what the compiler needs. The oldest row of a ring dies when the
 * newest is made. */
static int registers(const design *d)
{
    int words = REGISTERS_OTHER;
    for (int i = 0; i < d->rings_count; i++) {
        const ring *r = &d->rings[i];
        if (r->radius == 0 && r->level == d->levels)
            continue;
        words += (r->depth - 1) * (d->vector + 2 * r->halo) * element_words(d->problem, r->field);
    }
    if (d->sums)
        words += d->levels * 2 * d->problem->radius * d->vector * element_words(d->problem, 0);
    return words;
}

/* What an update takes from static fields once a cell is made for a group, or for the first level
 * of each pass: the level that makes what level `level` takes. */
static int once_made(const design *d, int level)
{
    const int passes = d->problem->stencil->passes_count;
    return passes == 1 ? group_start(d, level) : (level - 1) % passes + 1;
}

/* Rows of it: from the level that makes it to the last one that takes it. */
static int once_depth(const design *d, int made)
{
    const int passes = d->problem->stencil->passes_count;
    if (passes == 1)
        return group_span(d, made) + 1;
    return d->lag[d->levels - passes + made] - d->lag[made] + 1;
}

/* Rows of a queue, in parts of a loop body's steps: those on their way, the one that is taken and,
 * of static fields, those that later groups take. */
static int queue_rows(const design *d, bool state)
{
    const int kept = state ? 0 : d->lag[group_start(d, d->levels)] - d->lag[1];
    return (d->ahead + kept + d->unroll) / d->unroll * d->unroll;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void say_rings(tz_cuda_text *t, const design *d)
{
    tz_cuda_say(t, "struct tz_rings {\n");
    for (int i = 0; i < d->rings_count; i++) {
        const ring *r = &d->rings[i];
        const tz_field *f = &d->problem->stencil->fields[r->field];
        tz_cuda_say(t, "  %s %s_%d[%d][%d];\n", tz_cuda_type_name(f->type), f->name, r->level,
                    r->depth, d->vector + 2 * r->halo);
    }
    for (int l = 1; d->sums && l <= d->levels; l++)
        tz_cuda_say(t, "  %s sum_%d[%d][TZ_V];\n",
                    tz_cuda_type_name(d->problem->stencil->fields[0].type), l,
                    2 * d->problem->radius);
    /* What an update takes from static fields, once a cell: made for the pass's first level. */
    for (int l = 1; l <= d->levels; l++)
        if (once_made(d, l) == l)
            tz_cuda_say(t, "  pass_%d::once_%s once_%d[%d][TZ_V];\n",
                        (l - 1) % d->problem->stencil->passes_count, pass_of(d, l)->text_cell, l,
                        once_depth(d, l));
    tz_cuda_say(t, "};\n");
}

/* Where in its queue a row of a field is, `add` rows after the one that `step` takes. */
static void say_slot(char *text, size_t size, const tz_field *field, const char *step, int add)
{
    const bool state = field->role == TZ_STATE;
    snprintf(text, size, "tz_slot<%s>(w.%s, %s + %d)", state ? "TZ_QUEUE" : "TZ_QUEUE_KEPT",
             state ? "part" : "kept", step, add);
}

/* A row of a loaded field comes out of its queue into the newest slot of its ring. */
static void say_take(tz_cuda_text *t, const design *d, const ring *r)
{
    const tz_field *field = &d->problem->stencil->fields[r->field];
    const char *type = tz_cuda_type_name(field->type), *name = field->name;
    /* What a later group takes has been in the queue for a while. */
    const int back = find_ring(d, r->field, 0)->newest - r->newest;
    char slot[80];
    say_slot(slot, sizeof slot, field, "u", back > 0 ? queue_rows(d, false) - back : 0);
    tz_cuda_say(t,
                "  tz_shift(q.%s_%d);\n  { %s v[TZ_V]; tz_take_row<BORDER, ENDS>(a, s, w.%s + "
                "%s, %s_edge, y + %d, v);\n",
                name, r->level, type, name, slot, name, r->newest);
    if (r->halo)
        tz_cuda_say(
            t,
            "    %s wide[TZ_V + %d]; tz_widen<BORDER, %d>(s, v, wide, %s_edge);\n"
            "    TZ_UNROLL for (int i = 0; i < TZ_V + %d; i++) q.%s_%d[%d][i] = wide[i]; }\n",
            type, 2 * r->halo, r->halo, name, 2 * r->halo, name, r->level, r->depth - 1);
    else
        tz_cuda_say(t, "    TZ_UNROLL for (int i = 0; i < TZ_V; i++) q.%s_%d[%d][i] = v[i]; }\n",
                    name, r->level, r->depth - 1);
}

/* The window that a level has of a field. */
static void say_window(tz_cuda_text *t, const design *d, int level, int f)
{
    const tz_field *field = &d->problem->stencil->fields[f];
    const bool is_state = field->role == TZ_STATE;
    const ring *r =
        find_ring(d, f, is_state ? version_before(d, f, level) : group_start(d, level) - 1);
    const int radius = is_state ? pass_of(d, level)->radius : field->radius;
    const int centre = r->depth - 1 - (r->newest + d->lag[level]);
    tz_cuda_say(t, "    %s %s_w[%d][TZ_V + %d];\n", tz_cuda_type_name(field->type), field->name,
                2 * radius + 1, 2 * radius);
    for (int dy = -radius; dy <= radius; dy++) {
        const char *const name = field->name;
        const int slot = centre + dy, row = dy + radius;
        if (r->halo)
            tz_cuda_say(t,
                        "    TZ_UNROLL for (int i = 0; i < TZ_V + %d; i++) %s_w[%d][i] = "
                        "q.%s_%d[%d][i + %d];\n",
                        2 * radius, name, row, name, r->level, slot, r->halo - radius);
        else
            tz_cuda_say(t, "    tz_widen<BORDER, %d>(s, q.%s_%d[%d], %s_w[%d], %s_edge);\n", radius,
                        name, r->level, slot, name, row, name);
    }
    tz_cuda_say(t, "    c.%s = %s_w;\n", field->name, field->name);
}

/* An update that sees rows around it. */
static void say_update(tz_cuda_text *t, const design *d, int level)
{
    const tz_problem *problem = d->problem;
    const tz_stencil *s = problem->stencil;
    const tz_pass *pass = pass_of(d, level);
    const int p = (level - 1) % s->passes_count;
    for (int f = 0; f < s->fields_count; f++) {
        const ring *r = find_ring(d, f, level - 1);
        if (s->fields[f].role != TZ_STATE && level > 1 && r)
            say_take(t, d, r);
        say_window(t, d, level, f);
    }
    const int made = once_made(d, level);
    if (level == made)
        tz_cuda_say(t,
                    "    tz_shift(q.once_%d);\n    TZ_UNROLL for (int e = 0; e < TZ_V; e++) "
                    "q.once_%d[%d][e] = pass_%d::make_once_%s(c, e);\n",
                    made, made, once_depth(d, made) - 1, p, pass->text_cell);
    tz_cuda_say(t, "    c.once = q.once_%d[%d];\n", made,
                once_depth(d, made) - 1 - (d->lag[level] - d->lag[made]));
    for (int f = 0; f < s->fields_count; f++)
        if (pass->writes >> f & 1)
            tz_cuda_say(t, "    %s %s_new[TZ_V];\n    c.%s_out = %s_new;\n",
                        tz_cuda_type_name(s->fields[f].type), s->fields[f].name, s->fields[f].name,
                        s->fields[f].name);
    tz_cuda_say(
        t,
        "    c.y = ENDS || TZ_BOUNDARY_Y == TZ_PERIODIC ? tz_map<TZ_BOUNDARY_Y>(row, a.ny) : "
        "row;\n"
        "    c.step = a.step + %d;\n"
        "    TZ_UNROLL for (int e = 0; e < TZ_V; e++) {\n"
        "      c.x = (TZ_EDGES ? s.from : s.x) + e;\n"
        "      if (BORDER && !TZ_EDGES) c.x = %s;\n"
        "      pass_%d::update_%s(c, e);\n    }\n",
        (level - 1) / s->passes_count,
        problem->bits ? "(c.x % a.nx + a.nx) % a.nx" : "tz_map<TZ_BOUNDARY_X>(c.x, a.nx)", p,
        pass->text_cell);
}

/* An update that is a sum over rows: the newest row of the level before is added. The grid's first
 * row is all rows before it, too. */
static void say_push(tz_cuda_text *t, const design *d, int level)
{
    const tz_field *field = &d->problem->stencil->fields[0];
    const tz_pass *pass = pass_of(d, level);
    const ring *r = find_ring(d, 0, level - 1);
    const char *name = field->name, *type = tz_cuda_type_name(field->type);
    const int radius = pass->radius, slot = r->depth - 1 - (r->newest + d->lag[level] - radius);
    tz_cuda_say(t, "    %s %s_w[%d][TZ_V + %d], %s_new[TZ_V];\n", type, name, 2 * radius + 1,
                2 * radius, name);
    tz_cuda_say(t,
                "    tz_widen<BORDER, %d>(s, q.%s_%d[%d], %s_w[%d], %s_edge);\n    c.%s = %s_w;\n",
                radius, name, level - 1, slot, name, radius, name, name, name);
    tz_cuda_say(
        t,
        "    const int times = ENDS && TZ_BOUNDARY_Y == TZ_CLAMP && row + %d == 0 ? %d : 1;\n"
        "    _Pragma(\"unroll 1\") for (int k = 0; k < times; k++)\n"
        "      TZ_UNROLL for (int e = 0; e < TZ_V; e++)\n"
        "        %s_new[e] = pass_0::push_%s(c, e, q.sum_%d);\n",
        radius, radius + 1, name, pass->text_cell, level);
}

static void say_level(tz_cuda_text *t, const design *d, int level)
{
    const tz_problem *problem = d->problem;
    const tz_stencil *s = problem->stencil;
    const tz_pass *pass = pass_of(d, level);
    const int p = (level - 1) % s->passes_count;
    tz_cuda_say(t, "  { /* level %d */\n    pass_%d::context_%s c;\n    const int row = y - %d;\n",
                level, p, pass->text_cell, d->lag[level]);
    tz_cuda_say_constants(t, problem);
    if (d->sums)
        say_push(t, d, level);
    else
        say_update(t, d, level);
    for (int f = 0; f < s->fields_count; f++) {
        if (!(pass->writes >> f & 1))
            continue;
        const char *name = s->fields[f].name;
        const ring *r = find_ring(d, f, level);
        const bool last = version_before(d, f, d->levels + 1) == level;
        if (last)
            tz_cuda_say(t, "    tz_commit(s, w.%s_to, row, %s_new);\n", name, name);
        if (r->radius == 0 && last && level == d->levels)
            continue;
        tz_cuda_say(
            t,
            "    if (BORDER && (TZ_EDGES || s.border)) tz_fix_columns(a, s, %s_new, %s_edge);\n"
            "    tz_shift(q.%s_%d);\n",
            name, name, name, level);
        if (r->halo)
            tz_cuda_say(t,
                        "    {\n      %s wide[TZ_V + %d];\n      tz_widen<BORDER, %d>(s, %s_new, "
                        "wide, %s_edge);\n"
                        "      TZ_UNROLL for (int i = 0; i < TZ_V + %d; i++) q.%s_%d[%d][i] = "
                        "wide[i];\n    }\n",
                        tz_cuda_type_name(s->fields[f].type), 2 * r->halo, r->halo, name, name,
                        2 * r->halo, name, level, r->depth - 1);
        else
            tz_cuda_say(t,
                        "    TZ_UNROLL for (int i = 0; i < TZ_V; i++) q.%s_%d[%d][i] = "
                        "%s_new[i];\n",
                        name, level, r->depth - 1, name);
        if (d->sums)
            tz_cuda_say(
                t, "    if (ENDS) tz_fix_end(a, row, q.%s_%d, w.last + %d * TZ_STRIP, %s_edge);\n",
                name, level, level - 1, name);
        else
            tz_cuda_say(t, "    if (ENDS) tz_fix_rows<%d>(a, row, q.%s_%d, %s_edge);\n", r->radius,
                        name, level, name);
    }
    tz_cuda_say(t, "  }\n");
}

/* The row that is taken `ahead` steps later goes into the queue. */
static void say_fetch(tz_cuda_text *t, const design *d, const ring *r, const char *border,
                      const char *step, const char *row)
{
    const char *name = d->problem->stencil->fields[r->field].name;
    char slot[80];
    say_slot(slot, sizeof slot, &d->problem->stencil->fields[r->field], step, 0);
    tz_cuda_say(t,
                "  tz_fetch_row<%s>(a, s, w.%s + %s, w.%s_next, a.in[%d], %s_edge, %s + %d);\n"
                "  w.%s_next += a.pitch;\n",
                border, name, slot, name, r->field, name, row, r->newest, name);
}

static void say_edges(tz_cuda_text *t, const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++) {
        const tz_field *field = &problem->stencil->fields[f];
        const char *type = tz_cuda_type_name(field->type);
        tz_cuda_say(t, "  const %s %s_edge = *(const %s *)&a.edge[%d];\n", type, field->name, type,
                    f);
    }
}

static bool is_written(const design *d, int f)
{
    return version_before(d, f, d->levels + 1) > 0;
}

static void say_queues(tz_cuda_text *t, const design *d)
{
    /* The queue of each loaded field, where its next row comes from and where its result goes. */
    tz_cuda_say(t, "struct tz_queues {\n  int part, kept;\n");
    if (d->sums)
        tz_cuda_say(t, "  %s *last;\n", tz_cuda_type_name(d->problem->stencil->fields[0].type));
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        const tz_field *field = &d->problem->stencil->fields[f];
        const char *type = tz_cuda_type_name(field->type);
        tz_cuda_say(t, "  %s *%s;\n  const %s *%s_next;\n", type, field->name, type, field->name);
        if (is_written(d, f))
            tz_cuda_say(t, "  %s *%s_to;\n", type, field->name);
    }
    tz_cuda_say(t, "};\n");
}

static void say_step(tz_cuda_text *t, const design *d)
{
    tz_cuda_say(
        t, "template <bool BORDER, bool ENDS> TZ_DEVICE void tz_step(const tz_arguments &a, const "
           "tz_strip &s, tz_queues &w, tz_rings &q, const int y, const int u)\n{\n");
    say_edges(t, d->problem);
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].level == 0)
            say_fetch(t, d, &d->rings[i], "ENDS", "u + TZ_AHEAD", "y + TZ_AHEAD");
    tz_cuda_say(t, "  tz_fetch_end();\n  tz_fetch_wait<TZ_AHEAD>();\n");
    for (int i = 0; i < d->rings_count; i++)
        if (d->rings[i].level == 0)
            say_take(t, d, &d->rings[i]);
    for (int l = 1; l <= d->levels; l++)
        say_level(t, d, l);
    for (int f = 0; f < d->problem->stencil->fields_count; f++)
        if (is_written(d, f))
            tz_cuda_say(t, "  w.%s_to += a.pitch;\n", d->problem->stencil->fields[f].name);
    tz_cuda_say(t, "}\n");
}

static void say_kernel(tz_cuda_text *t, const design *d, const tz_plan *plan)
{
    char kernel[80] = "TZ_KERNEL(tz_stage, 32 * TZ_WARPS)";
    if (plan->blocks > 0)
        snprintf(kernel, sizeof kernel, "TZ_KERNEL_MANY(tz_stage, 32 * TZ_WARPS, %d)",
                 plan->blocks);
    int radius = 0;
    for (int i = 0; i < d->rings_count; i++)
        radius = d->rings[i].radius > radius ? d->rings[i].radius : radius;
    const bool wraps = d->problem->boundary[1] == TZ_PERIODIC;
    char start[80];
    snprintf(start, sizeof start, "s.low - %d", d->reach + d->extra);
    if (d->edges && !wraps) /* what is before the grid's first row need not be made */
        snprintf(start, sizeof start, "s.low > 0 ? s.low - %d : %d", d->reach + d->extra,
                 -radius - d->extra);
    say_queues(t, d);
    say_step(t, d);
    tz_cuda_say(
        t,
        "template <bool BORDER, bool ENDS> TZ_DEVICE void tz_steps(const tz_arguments &a, const "
        "tz_strip &s, "
        "tz_queues &w, tz_rings &q, const int y)\n{\n"
        "  if (BORDER && !TZ_EDGES) {\n    _Pragma(\"unroll 1\") for (int u = 0; u < TZ_STEPS; "
        "u++)\n"
        "      tz_step<BORDER, ENDS>(a, s, w, q, y + u, u);\n  } else {\n"
        "    TZ_UNROLL for (int u = 0; u < TZ_STEPS; u++)\n"
        "      tz_step<BORDER, ENDS>(a, s, w, q, y + u, u);\n  }\n"
        "  w.part = tz_slot<TZ_QUEUE>(w.part, TZ_STEPS);\n"
        "  w.kept = tz_slot<TZ_QUEUE_KEPT>(w.kept, TZ_STEPS);\n}\n"
        "%s(const tz_arguments a)\n{\n"
        "  const int strips = a.geometry[0], left = a.geometry[1], right = a.geometry[2];\n"
        "  int item = TZ_WARPS == 1 ? tz_block(0) : tz_block(0) * TZ_WARPS + tz_warp();\n"
        "  int chunk = a.geometry[4];\n"
        "  const int border = (left + right) * ((a.ny + chunk - 1) / chunk);\n"
        "  int across = left + right, strip, part;\n"
        "  tz_strip s;\n"
        "  s.border = item < border;\n"
        "  if (s.border) {\n"
        "    strip = item %% across;\n    part = item / across;\n"
        "    strip = strip < left ? strip : strips - 1 - (strip - left);\n"
        "  } else {\n"
        "    item -= border;\n    across = strips - left - right;\n    chunk = a.geometry[3];\n"
        "    if (across == 0)\n      return;\n"
        "    strip = left + item %% across;\n    part = item / across;\n  }\n"
        "  /* The ends of the grid first: they take longer. */\n"
        "  part = part == 0 ? (a.ny + chunk - 1) / chunk - 1 : part - 1;\n"
        "  s.low = part * chunk;\n  const int high = s.low + chunk < a.ny ? s.low + chunk : a.ny;\n"
        "  if (s.low >= a.ny)\n    return;\n"
        "  s.x0 = strip * (TZ_STRIP - 2 * TZ_GHOST) - TZ_GHOST;\n"
        "  tz_place(a, s);\n"
        "  const bool own = tz_lane() * TZ_V >= TZ_GHOST && tz_lane() * TZ_V < TZ_STRIP - "
        "TZ_GHOST;\n"
        "  s.rows = own && s.x < a.nx ? high - s.low : 0;\n"
        "  tz_rings q;\n  int y = %s;\n"
        "  tz_queues w;\n  w.part = w.kept = 0;\n  unsigned char *shared = tz_shared();\n",
        kernel, start);
    say_edges(t, d->problem);
    for (int f = 0; f < d->problem->stencil->fields_count; f++) {
        const tz_field *field = &d->problem->stencil->fields[f];
        const char *type = tz_cuda_type_name(field->type);
        const int rows = queue_rows(d, field->role == TZ_STATE);
        tz_cuda_say(t,
                    "  w.%s = (%s *)shared + (tz_thread() / 32 * %d * 32 + tz_lane()) * "
                    "TZ_V;\n  shared += TZ_WARPS * %d * TZ_STRIP * sizeof(%s);\n",
                    field->name, type, rows, rows, type);
        tz_cuda_say(t,
                    "  w.%s_next = (const %s *)a.in[%d] + ((long long)a.pitch * (y + %d) + "
                    "(TZ_EDGES ? s.from : s.x));\n",
                    field->name, type, f, find_ring(d, f, 0)->newest);
        if (is_written(d, f))
            tz_cuda_say(t, "  w.%s_to = (%s *)a.out[%d] + ((long long)a.pitch * (y - %d) + s.x);\n",
                        field->name, type, f, d->lag[version_before(d, f, d->levels + 1)]);
    }
    if (d->sums) {
        const char *type = tz_cuda_type_name(d->problem->stencil->fields[0].type);
        tz_cuda_say(t, "  w.last = (%s *)shared + (tz_thread() / 32 * %d + tz_lane()) * TZ_V;\n",
                    type, 32 * d->levels);
    }
    for (int i = 0; i < d->rings_count; i++)
        tz_cuda_say(t, "  tz_clear(q.%s_%d);\n",
                    d->problem->stencil->fields[d->rings[i].field].name, d->rings[i].level);
    for (int l = 1; d->sums && l <= d->levels; l++)
        tz_cuda_say(t, "  tz_clear(q.sum_%d);\n", l);
    /* Later groups take rows from the first step on, which nobody has loaded then. */
    for (int f = 0; d->group < d->levels && f < d->problem->stencil->fields_count; f++)
        if (d->problem->stencil->fields[f].role != TZ_STATE)
            tz_cuda_say(t,
                        "  _Pragma(\"unroll 1\") for (int k = 0; k < TZ_QUEUE_KEPT; k++)\n"
                        "    tz_blank(w.%s + k * TZ_STRIP);\n",
                        d->problem->stencil->fields[f].name);
    tz_cuda_say(t, "  _Pragma(\"unroll 1\") for (int k = 0; k < TZ_AHEAD; k++) {\n");
    int newest = 0, oldest = 0;
    for (int i = 0; i < d->rings_count; i++) {
        const ring *r = &d->rings[i];
        if (r->level > 0)
            continue;
        say_fetch(t, d, r, "true", "k", "(y + k)");
        newest = r->newest > newest ? r->newest : newest;
        oldest = r->newest < oldest ? r->newest : oldest;
    }
    const int last = d->lag[d->levels];
    tz_cuda_say(t,
                "    tz_fetch_end();\n  }\n  const int end = high + %d;\n"
                "  for (; y < end; y += TZ_STEPS)\n"
                "    if (!TZ_EDGES && s.border || y < %d || y + %d >= a.ny)\n"
                "      tz_steps<true, true>(a, s, w, q, y);\n"
                "    else if (TZ_EDGES && TZ_SIDES && s.border)\n"
                "      tz_steps<true, false>(a, s, w, q, y);\n    else\n"
                "      tz_steps<false, false>(a, s, w, q, y);\n  tz_fetch_wait<0>();\n}\n",
                last, wraps ? -oldest : last + radius + 1 - oldest,
                d->unroll - 1 + newest + d->ahead);
}

static int warps_of(const tz_plan *plan)
{
    return plan->warps > 0 ? plan->warps : 2;
}

static int ghost_columns(const design *d)
{
    return (d->reach + d->vector - 1) / d->vector * d->vector;
}

static void rows_say(tz_cuda_text *t, const tz_problem *problem, const tz_plan *plan)
{
    design d;
    make_design(&d, problem, plan);
    tz_cuda_say_sizes(t, problem, plan->height, plan->tile);
    tz_cuda_say(
        t,
        "#define TZ_V %d\n#define TZ_GHOST %d\n#define TZ_STEPS %d\n#define TZ_WARPS %d\n"
        "#define TZ_AHEAD %d\n#define TZ_QUEUE %d\n#define TZ_QUEUE_KEPT %d\n#define TZ_EDGES %d\n"
        "#define TZ_SIDES %d\n#define TZ_END %d\n"
        "#include \"rows.cuh\"\n",
        d.vector, ghost_columns(&d), d.unroll, warps_of(plan), d.ahead, queue_rows(&d, true),
        queue_rows(&d, false), d.edges, has_sides(&d), end_columns(problem, d.vector));
    for (int p = 0; p < problem->stencil->passes_count; p++) {
        for (int f = 0; f < problem->stencil->fields_count; f++) {
            const tz_field *field = &problem->stencil->fields[f];
            tz_cuda_say(t, "#undef TZ__R_%s\n#define TZ__R_%s %d\n", field->name, field->name,
                        field->role == TZ_STATE ? problem->stencil->passes[p].radius
                                                : field->radius);
        }
        tz_cuda_say_pass(t, problem, p);
    }
    say_rings(t, &d);
    say_kernel(t, &d, plan);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static const char *rows_refuses(const tz_problem *problem)
{
    for (int f = 0; f < problem->stencil->fields_count; f++)
        if (problem->stencil->fields[f].role == TZ_STREAMED)
            return "has fields that stream in, in two dimensions";
    return NULL;
}

/* Does a plan fit: 0, or which limit it breaks. */
enum { FITS, TOO_MANY_REGISTERS, TOO_NARROW };
static int fits(const tz_problem *problem, const tz_plan *plan)
{
    design d;
    if (!make_design(&d, problem, plan))
        return TOO_MANY_REGISTERS;
    if (32 * d.vector - 2 * ghost_columns(&d) < d.vector)
        return TOO_NARROW;
    return registers(&d) > REGISTERS ? TOO_MANY_REGISTERS : FITS;
}

static int estimate(const tz_problem *problem, const tz_plan *plan)
{
    design d;
    return make_design(&d, problem, plan) ? registers(&d) : INT_MAX;
}

static tz_status rows_plan(const tz_problem *problem, tz_plan *plan, tz_error *error)
{
    const tz_stencil *s = problem->stencil;
    const tz_plan given = *plan;
    const bool wide = problem->precision == TZ_DOUBLE && tz_stencil_has_real(s);
    if (plan->height < 0)
        return tz_error_set(error, TZ_RANGE, "height", "height %d is out of range; use 1 or more",
                            plan->height);
    if (plan->vector == 0)
        plan->vector = wide ? 2 : 4;
    if (plan->vector != 1 && plan->vector != 2 && plan->vector != 4 && plan->vector != 8)
        return tz_error_set(error, TZ_RANGE, "vector", "'vector' is 1, 2, 4 or 8, not %d",
                            plan->vector);
    if (plan->ahead == 0)
        plan->ahead = 3;
    if (plan->height == 0) {
        /* The highest that leaves three warps a scheduler, or four if eight iterations do
         * (measured: docs/performance.md). */
        const int reach = tz_stencil_reach(s) > 0 ? tz_stencil_reach(s) : 1;
        plan->height = (wide ? 10 : problem->bits ? 4 : 12) / reach;
        if (plan->height < 1)
            plan->height = 1;
        while (plan->height > 1 &&
               (fits(problem, plan) != FITS || estimate(problem, plan) > REGISTERS_GOOD))
            plan->height--;
        tz_plan eight = *plan;
        eight.height = 8;
        if (!wide && plan->height > 8 && estimate(problem, &eight) <= REGISTERS_FEW)
            plan->height = 8;
    }
    const int why = fits(problem, plan);
    if (why != FITS) {
        tz_plan lower = *plan;
        while (lower.height > 0 && fits(problem, &lower) != FITS)
            lower.height = lower.height > LEVELS_MAX ? LEVELS_MAX : lower.height - 1;
        if (lower.height == 0)
            return tz_error_set(error, TZ_RANGE, "vector",
                                "%s at any height with %d columns a lane: use family \"tile\"",
                                why == TOO_NARROW ? "the ghost zone fills the strip"
                                                  : "the rows need more registers than there are",
                                plan->vector);
        return tz_error_set(error, TZ_RANGE, "height",
                            "height %d %s: use a height up to %d, or family \"tile\"", plan->height,
                            why == TOO_NARROW ? "has a ghost zone that fills the strip"
                                              : "needs more registers than there are",
                            lower.height);
    }
    design d;
    make_design(&d, problem, plan);
    const int useful = 32 * d.vector - 2 * ghost_columns(&d);
    if (given.tile[0] != 0 && given.tile[0] != useful)
        return tz_error_set(error, TZ_RANGE, "tile",
                            "strips of height %d and %d columns a lane are %d wide, not %" PRId64
                            ": leave the tile's x out (0) or choose another 'vector'",
                            plan->height, d.vector, useful, given.tile[0]);
    plan->tile[0] = useful;
    const int needed = registers(&d);
    /* One field, one pass: the estimate is known to be good enough for that not to spill. */
    const bool simple = s->passes_count == 1 && problem->radius <= 2 &&
                        (s->passes[0].writes & (s->passes[0].writes - 1)) == 0;
    const int warps = needed > REGISTERS_SMALL ? 12 : 16;
    if (plan->blocks == 0 && simple && needed > REGISTERS_FEW - 5 && needed <= REGISTERS_GOOD &&
        (warps == 12 || needed <= REGISTERS_FEW))
        plan->blocks = warps / warps_of(plan) > 0 ? warps / warps_of(plan) : 1;
    if (plan->tile[1] < 0 || plan->tile[1] > CHUNK_MAX)
        return tz_error_set(error, TZ_RANGE, "tile", "a chunk has 1 to %d rows, not %" PRId64,
                            CHUNK_MAX, plan->tile[1]);
    plan->tile[2] = 1;
    strcpy(plan->family, "stream");
    snprintf(plan->why, sizeof plan->why, "%s height", given.height ? "given" : "default");
    return TZ_OK;
}

static int rows_threads(const tz_problem *problem, const tz_plan *plan)
{
    (void)problem;
    return 32 * warps_of(plan);
}

static int rows_shared_bytes(const tz_problem *problem, const tz_plan *plan)
{
    design d;
    int bytes = 0;
    make_design(&d, problem, plan);
    for (int f = 0; f < problem->stencil->fields_count; f++)
        bytes += (int)tz_problem_element_size(problem, f) *
                 queue_rows(&d, problem->stencil->fields[f].role == TZ_STATE);
    if (d.sums)
        bytes += (int)tz_problem_element_size(problem, 0) * d.levels;
    return bytes * rows_threads(problem, plan) * plan->vector;
}

/* Border strips take longer a row: they come first, in shorter chunks. */
static int64_t border_chunk_of(const design *d, int64_t chunk)
{
    const int64_t shorter = d->edges ? (7 * chunk + 7) / 8 : chunk / 4;
    return shorter > 0 ? shorter : 1;
}

static int64_t count_items(const design *d, int64_t rows, int64_t inner, int64_t border,
                           int64_t chunk)
{
    const int64_t short_chunk = border_chunk_of(d, chunk);
    return border * ((rows + short_chunk - 1) / short_chunk) + inner * ((rows + chunk - 1) / chunk);
}

/* Rows of a chunk so that the strips' chunks fill the GPU a whole number of times, with the warm-up
 * of each counted: the fewest row steps that the slowest warp does. */
static int64_t choose_chunk(const design *d, int64_t rows, int64_t inner, int64_t border,
                            int64_t warm_up, int64_t slots)
{
    int64_t best = rows, best_cost = INT64_MAX;
    for (int64_t parts = 1; parts <= rows && parts <= 4096; parts++) {
        const int64_t chunk = (rows + parts - 1) / parts;
        const int64_t waves = (count_items(d, rows, inner, border, chunk) + slots - 1) / slots;
        const int64_t cost = waves * (chunk + warm_up);
        if (cost < best_cost) {
            best_cost = cost;
            best = chunk;
        }
    }
    return best;
}

static tz_status rows_shape(const tz_problem *problem, const tz_plan *plan,
                            const tz_cuda_room *room, tz_cuda_shape *shape, tz_error *error)
{
    (void)error;
    design d;
    make_design(&d, problem, plan);
    const int64_t nx = problem->elements[0], ny = problem->elements[1];
    const int64_t ghost = ghost_columns(&d), useful = 32 * d.vector - 2 * ghost;
    const int64_t strips = (nx + useful - 1) / useful;
    /* Words whose last bits lie past the row's end are border too. */
    const int64_t inner =
        problem->bits && problem->extent[0] - 31 * nx < nx ? problem->extent[0] - 31 * nx : nx;
    int64_t left = 0, right = 0;
    while (has_sides(&d) && left < strips && left * useful < ghost)
        left++;
    while (has_sides(&d) && right < strips - left &&
           (strips - 1 - right) * useful - ghost + 32 * d.vector > inner)
        right++;
    const int64_t slots = (int64_t)room->processors *
                          (room->blocks_per_processor > 0 ? room->blocks_per_processor : 8) *
                          warps_of(plan);
    const int64_t warm_up = d.reach + d.extra + d.lag[d.levels];
    int64_t chunk = plan->tile[1];
    if (chunk == 0)
        chunk = choose_chunk(&d, ny, strips - left - right, left + right, warm_up, slots);
    const int64_t border_chunk = border_chunk_of(&d, chunk);
    const int64_t items = count_items(&d, ny, strips - left - right, left + right, chunk);
    const int64_t blocks = (items + warps_of(plan) - 1) / warps_of(plan);
    *shape = (tz_cuda_shape){
        .grid = {(int)blocks, 1, 1},
        .threads = rows_threads(problem, plan),
        .shared_bytes = rows_shared_bytes(problem, plan),
        .geometry = {(int)strips, (int)left, (int)right, (int)chunk, (int)border_chunk},
    };
    return TZ_OK;
}

const tz_cuda_family tz_cuda_family_rows = {
    .name = "stream",
    .doc = "strips of a warp's width stream down the rows, all iterations in registers",
    .exact = true,
    .refuses = rows_refuses,
    .plan = rows_plan,
    .say = rows_say,
    .threads = rows_threads,
    .shared_bytes = rows_shared_bytes,
    .shape = rows_shape,
};
