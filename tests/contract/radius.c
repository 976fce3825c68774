/* The declared radius is the real one: traced read by read, and proved by perturbing cells. */
#include "contract.h"

#include "sim/fields.h"
#include "stencil/problem.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

static uint64_t mix(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 27);
}

/* ---- Tracing --------------------------------------------------------------------------------- */

enum { TRIALS = 96 };

typedef struct tracer {
    tz_cell_access access; /* first: callbacks are given a pointer to it */
    contract *c;
    tz_precision precision;
    int pass;
    uint64_t random;
    int reach[TZ_FIELDS_MAX]; /* farthest offset read; -1: never read */
    uint32_t written;
    union {
        float f;
        double d;
        int32_t i;
        uint32_t w;
    } value, sink[TZ_FIELDS_MAX];
} tracer;

static const void *trace_read(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    tracer *t = (tracer *)(uintptr_t)access;
    const tz_stencil *s = t->c->stencil;
    if (field < 0 || field >= s->fields_count) {
        contract_fail(t->c, "pass %d reads field number %d", t->pass, field);
        return &t->value;
    }
    if ((s->dims < 2 && dy != 0) || (s->dims < 3 && dz != 0))
        contract_fail(t->c, "pass %d reads '%s' off the axes that it has", t->pass,
                      s->fields[field].name);
    if (s->fields[field].role == TZ_STATE && (t->written >> field & 1))
        contract_fail(t->c, "pass %d reads '%s' after it wrote it: put all TZ_PUT at the end",
                      t->pass, s->fields[field].name);
    int far = abs(dx);
    far = abs(dy) > far ? abs(dy) : far;
    far = abs(dz) > far ? abs(dz) : far;
    if (far > t->reach[field])
        t->reach[field] = far;
    const uint64_t bits = mix(&t->random);
    switch (s->fields[field].type) {
    case TZ_BITS:
        t->value.w = (uint32_t)bits;
        break;
    case TZ_INT:
        t->value.i = (int32_t)(bits % 10);
        break;
    default:
        if (t->precision == TZ_DOUBLE)
            t->value.d = (double)(bits % 4096) / 512.0;
        else
            t->value.f = (float)(bits % 4096) / 512.0f;
    }
    return &t->value;
}

static void *trace_write(const tz_cell_access *access, int field)
{
    tracer *t = (tracer *)(uintptr_t)access;
    if (field < 0 || field >= t->c->stencil->fields_count) {
        contract_fail(t->c, "pass %d writes field number %d", t->pass, field);
        return &t->sink[0];
    }
    t->written |= 1u << field;
    return &t->sink[field];
}

/* Every read of one pass, over values, cells and steps that a branch may depend on. */
static void trace_pass(contract *c, const tz_problem *problem, int pass,
                       int field_reach[TZ_FIELDS_MAX])
{
    const tz_stencil *s = c->stencil;
    const tz_pass *p = &s->passes[pass];
    tracer t = {
        .access = {.read = trace_read, .write = trace_write, .constants = problem->constants},
        .c = c,
        .precision = problem->precision,
        .pass = pass,
        .random = (uint64_t)pass + 1};
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        t.reach[f] = -1;
    const int before = c->failures; /* a fault shows in every trial: once is enough */
    for (int trial = 0; trial < TRIALS && c->failures == before; trial++) {
        t.access.x = trial & 3;
        t.access.y = s->dims > 1 ? trial >> 2 & 3 : 0;
        t.access.z = s->dims > 2 ? trial >> 4 & 1 : 0;
        t.access.step = trial >> 5;
        t.written = 0;
        p->kernels->cell[problem->precision](&t.access);
        c->compared++;
        if (t.written != p->writes)
            contract_fail(c, "pass '%s' writes fields %#x in a cell, but declares %#x", p->name,
                          t.written, p->writes);
    }
    int state_reach = -1;
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role == TZ_STATE) {
            state_reach = t.reach[f] > state_reach ? t.reach[f] : state_reach;
            if (t.reach[f] > p->radius)
                contract_fail(c, "pass '%s' declares radius %d, but reads '%s' %d cells away",
                              p->name, p->radius, s->fields[f].name, t.reach[f]);
        }
        field_reach[f] = t.reach[f] > field_reach[f] ? t.reach[f] : field_reach[f];
    }
    if (state_reach < p->radius)
        contract_fail(c, "pass '%s' declares radius %d, but reads state at most %d cells away",
                      p->name, p->radius, state_reach < 0 ? 0 : state_reach);
}

static void trace_stencil(contract *c, int precision)
{
    const tz_stencil *s = c->stencil;
    tz_problem problem;
    tz_error error = {0};
    tz_scalar scalars[TZ_CONSTANTS_MAX];
    tz_simulation_config config = {.registry = c->registry,
                                   .stencil = s->id,
                                   .dims = s->dims,
                                   .precision = precision,
                                   .scalars_count = contract_scalars(s, scalars),
                                   .scalars = scalars};
    for (int axis = 0; axis < TZ_AXES; axis++)
        config.extent[axis] = axis < s->dims ? 67 : 1;
    if (tz_problem_resolve(&problem, s, &config, &error) != TZ_OK) {
        contract_fail(c, "cannot be set up with its defaults: %s", error.message);
        return;
    }
    int reach[TZ_FIELDS_MAX];
    for (int f = 0; f < TZ_FIELDS_MAX; f++)
        reach[f] = -1;
    for (int pass = 0; pass < s->passes_count; pass++)
        trace_pass(c, &problem, pass, reach);
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role != TZ_STATE && reach[f] != s->fields[f].radius)
            contract_fail(c, "field '%s' declares radius %d, but is read %d cells away",
                          s->fields[f].name, s->fields[f].radius, reach[f]);
    tz_problem_clear(&problem);
}

/* ---- Perturbing ------------------------------------------------------------------------------ */

typedef struct probe {
    contract *c;
    contract_case k;
    int64_t cell[TZ_AXES]; /* the perturbed one */
    int64_t bound;         /* no change may lie farther away */
    int64_t reach;         /* farthest change; -1: none */
} probe;

/* Another value for one cell of a state or static field. */
static tz_status perturb_cell(const probe *p, tz_simulation *sim, int field, int trial,
                              tz_error *error)
{
    tz_box box;
    for (int axis = 0; axis < TZ_AXES; axis++) {
        box.low[axis] = p->cell[axis];
        box.high[axis] = p->cell[axis] + 1;
    }
    double value;
    tz_status status = tz_simulation_read(sim, field, &box, &value, error);
    if (status != TZ_OK)
        return status;
    switch (p->c->stencil->fields[field].type) {
    case TZ_BITS:
        value = 1.0 - value;
        break;
    case TZ_INT:
        value += trial & 1 ? -1000.0 : 1000.0;
        break;
    default:
        value += trial & 1 ? -64.0 : 64.0;
    }
    return tz_simulation_write(sim, field, &box, &value, NULL, error);
}

/* Another value for one cell of the first slab of a streamed field. */
static tz_status perturb_slab(const probe *p, tz_simulation *sim, int field, int trial,
                              int32_t *slab, tz_error *error)
{
    double value;
    for (int64_t x = 0; x < p->k.extent[0]; x++) {
        const tz_status status = tz_simulation_streamed_read(sim, field, 0, x, 1, &value, error);
        if (status != TZ_OK)
            return status;
        slab[x] = (int32_t)value;
    }
    slab[p->cell[0]] += trial & 1 ? -1000 : 1000;
    return tz_simulation_streamed_array(sim, field, slab, 1, error);
}

/* Where two simulations differ: updates the reach, fails beyond the bound. */
static void compare(probe *p, const tz_simulation *a, const tz_simulation *b, const char *what)
{
    const tz_stencil *s = p->c->stencil;
    for (int f = 0; f < s->fields_count; f++) {
        if (s->fields[f].role != TZ_STATE)
            continue;
        tz_array *x = NULL, *y = NULL;
        tz_error error = {0};
        if (tz_simulation_read_array(a, f, &x, &error) != TZ_OK ||
            tz_simulation_read_array(b, f, &y, &error) != TZ_OK) {
            contract_fail(p->c, "%s: read_array: %s", what, error.message);
        } else {
            const size_t size = tz_dtype_size(x->dtype);
            const int64_t *n = p->k.extent;
            for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
                if (memcmp((char *)x->data + (size_t)i * size, (char *)y->data + (size_t)i * size,
                           size) == 0)
                    continue;
                const int64_t at[TZ_AXES] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
                int64_t far = 0;
                for (int axis = 0; axis < TZ_AXES; axis++) {
                    const int64_t distance = magnitude(at[axis] - p->cell[axis]);
                    far = distance > far ? distance : far;
                }
                p->reach = far > p->reach ? far : p->reach;
                if (far > p->bound) {
                    contract_fail(p->c,
                                  "%s at (%" PRId64 ", %" PRId64 ", %" PRId64
                                  ") changes '%s' at (%" PRId64 ", %" PRId64 ", %" PRId64
                                  "), farther away than %" PRId64,
                                  what, p->cell[0], p->cell[1], p->cell[2], s->fields[f].name,
                                  at[0], at[1], at[2], p->bound);
                    break;
                }
            }
        }
        tz_array_destroy(x);
        tz_array_destroy(y);
    }
}

static void perturb_once(probe *p, int field, int trial)
{
    contract *c = p->c;
    char what[128];
    snprintf(what, sizeof what, "perturbing '%s'", c->stencil->fields[field].name);
    tz_simulation *plain = NULL, *other = NULL;
    tz_error error = {0};
    int32_t *slab = calloc((size_t)p->k.extent[0], sizeof *slab);
    tz_status status = slab ? TZ_OK : TZ_MEMORY;
    if (status == TZ_OK)
        status = contract_create(c, &p->k, "reference", 1, NULL, &plain, &error);
    if (status == TZ_OK)
        status = contract_create(c, &p->k, "reference", 1, NULL, &other, &error);
    if (status == TZ_OK)
        status = c->stencil->fields[field].role == TZ_STREAMED
                     ? perturb_slab(p, other, field, trial, slab, &error)
                     : perturb_cell(p, other, field, trial, &error);
    if (status == TZ_OK)
        status = contract_run(plain, 1, &error);
    if (status == TZ_OK)
        status = contract_run(other, 1, &error);
    if (status != TZ_OK)
        contract_fail(c, "%s: %s", what, error.message);
    else
        compare(p, plain, other, what);
    c->compared++;
    tz_simulation_destroy(plain);
    tz_simulation_destroy(other);
    free(slab);
}

static void perturb_stencil(contract *c, int precision)
{
    const tz_stencil *s = c->stencil;
    int64_t all_passes = 0, later_passes = 0;
    for (int pass = 0; pass < s->passes_count; pass++) {
        all_passes += s->passes[pass].radius;
        later_passes += pass > 0 ? s->passes[pass].radius : 0;
    }
    int64_t state_reach = -1;
    for (int f = 0; f < s->fields_count; f++) {
        const bool state = s->fields[f].role == TZ_STATE;
        probe p = {.c = c,
                   .k = {.precision = precision},
                   .bound = state ? all_passes : s->fields[f].radius + later_passes,
                   .reach = -1};
        /* Bits react to few of their neighbours' patterns. */
        const int trials = s->fields[f].type == TZ_REAL ? 4 : c->quick ? 16 : 48;
        for (int trial = 0; trial < trials; trial++) {
            p.k.seed = (uint64_t)trial;
            for (int axis = 0; axis < TZ_AXES; axis++) {
                p.k.boundary[axis] = s->boundary;
                p.k.extent[axis] = 1;
                p.cell[axis] = 0;
                if (axis < s->dims) {
                    /* Far enough from every side that no boundary brings the change back. */
                    p.k.extent[axis] = 4 * all_passes + 6;
                    p.cell[axis] = 2 * all_passes + 1 + (trial >> axis & 1);
                }
            }
            if (s->fields[f].type == TZ_BITS) {
                p.k.extent[0] = 97;
                p.cell[0] = 31 + trial % 4;
            }
            perturb_once(&p, f, trial);
        }
        if (state)
            state_reach = p.reach > state_reach ? p.reach : state_reach;
        else if (p.reach < s->fields[f].radius)
            contract_fail(
                c, "'%s' declares radius %d, but changing it matters at most %lld cells away",
                s->fields[f].name, s->fields[f].radius, (long long)p.reach);
    }
    /* With several passes the sum need not be reached: no single change must travel through all. */
    const int64_t least = s->passes_count == 1 ? all_passes : tz_stencil_radius(s);
    if (state_reach < least)
        contract_fail(c, "declares radius %lld, but a changed cell matters at most %lld cells away",
                      (long long)least, (long long)state_reach);
}

void contract_radius(contract *c)
{
    int precisions[TZ_PRECISIONS];
    const int count = contract_precisions(c, precisions);
    for (int p = 0; p < count; p++)
        trace_stencil(c, precisions[p]);
    /* The most precise arithmetic shows the smallest influence. */
    perturb_stencil(c, precisions[count - 1]);
}
