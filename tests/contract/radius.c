/* The declared radius is the real one: traced read by read, and proved by perturbing cells. */
#include "contract.h"

#include "sim/fields.h"
#include "stencil/probe.h"
#include "stencil/stencil.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

static bool is_listed(const tz_pass *pass, int field)
{
    for (int i = 0; i < pass->reads_count; i++)
        if (pass->reads[i].field == field && strcmp(pass->reads[i].cell, pass->text_cell) == 0)
            return true;
    return false;
}

/* ---- Tracing --------------------------------------------------------------------------------- */

/* The text reads no farther than it declares, or the plugin would not have been loaded; here, also
 * not less far. What TZ_READS lists must be exact. */
static void trace_pass(contract *c, const tz_pass *pass, tz_precision precision,
                       int field_reach[TZ_FIELDS_MAX])
{
    const tz_stencil *s = c->stencil;
    tz_probe_seen seen[TZ_FIELDS_MAX];
    tz_error error = {0};
    if (tz_probe_cell(s, pass, precision, c->plugin->id, seen, &error) != TZ_OK) {
        contract_fail(c, "%s", error.message);
        return;
    }
    int reach = 0;
    for (int f = 0; f < s->fields_count; f++) {
        const tz_reads declared = tz_stencil_reads(s, pass, f);
        c->compared++;
        if (seen[f].read_when_written && s->fields[f].role == TZ_STATE)
            contract_fail(c, "pass '%s' reads '%s' after it wrote it: put all TZ_PUT at the end",
                          pass->name, s->fields[f].name);
        for (int axis = 0; axis < TZ_AXES; axis++) {
            const int low = seen[f].low[axis], high = seen[f].high[axis];
            const int far = -low > high ? -low : high;
            reach = far > reach ? far : reach;
            if (s->fields[f].role != TZ_STATE && far > field_reach[f])
                field_reach[f] = far;
            if (is_listed(pass, f) && (low > declared.low[axis] || high < declared.high[axis]))
                contract_fail(
                    c,
                    "pass '%s' reads '%s' from %d to %d on axis %c, but its TZ_READS says "
                    "%d to %d: ghost zones are larger than they need to be",
                    pass->name, s->fields[f].name, low, high, "xyz"[axis], declared.low[axis],
                    declared.high[axis]);
        }
    }
    if (reach < pass->radius)
        contract_fail(c,
                      "pass '%s' declares radius %d, but reads at most %d cells away: ghost zones "
                      "are larger than they need to be",
                      pass->name, pass->radius, reach);
}

static void trace_stencil(contract *c, int precision)
{
    const tz_stencil *s = c->stencil;
    int reach[TZ_FIELDS_MAX] = {0};
    for (int pass = 0; pass < s->passes_count + s->outputs_count; pass++)
        trace_pass(c,
                   pass < s->passes_count ? &s->passes[pass] : &s->outputs[pass - s->passes_count],
                   precision == TZ_DOUBLE ? TZ_DOUBLE : TZ_SINGLE, reach);
    for (int f = 0; f < s->fields_count; f++)
        if (s->fields[f].role != TZ_STATE && s->fields[f].role != TZ_DERIVED &&
            reach[f] != s->fields[f].radius)
            contract_fail(c, "field '%s' declares radius %d, but is read %d cells away",
                          s->fields[f].name, s->fields[f].radius, reach[f]);
}

/* ---- Perturbing ------------------------------------------------------------------------------ */

typedef struct probe {
    contract *c;
    contract_case k;
    int64_t cell[TZ_AXES]; /* the perturbed one */
    tz_reach bound;        /* no change may lie farther away, to each side */
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
                bool beyond = false;
                for (int axis = 0; axis < TZ_AXES; axis++) {
                    const int64_t distance = at[axis] - p->cell[axis];
                    p->reach = magnitude(distance) > p->reach ? magnitude(distance) : p->reach;
                    beyond =
                        beyond || -distance > p->bound.low[axis] || distance > p->bound.high[axis];
                }
                if (beyond) {
                    contract_fail(p->c,
                                  "%s at (%" PRId64 ", %" PRId64 ", %" PRId64
                                  ") changes '%s' at (%" PRId64 ", %" PRId64 ", %" PRId64
                                  "), farther away than declared",
                                  what, p->cell[0], p->cell[1], p->cell[2], s->fields[f].name,
                                  at[0], at[1], at[2]);
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

/* How far passes read a field that is no state; outputs may read it farther. */
static int reach_of_passes(const tz_stencil *s, int field)
{
    int most = 0;
    for (int pass = 0; pass < s->passes_count; pass++) {
        const tz_reads reads = tz_stencil_reads(s, &s->passes[pass], field);
        for (int axis = 0; axis < s->dims; axis++) {
            most = -reads.low[axis] > most ? -reads.low[axis] : most;
            most = reads.high[axis] > most ? reads.high[axis] : most;
        }
    }
    return most;
}

/* How far a change of a field is seen after an iteration: the cells that read it lie on the other
 * side of it. */
static tz_reach influence(const tz_stencil *s, int field)
{
    tz_reach reach = {{0}, {0}};
    for (int pass = 0; pass < s->passes_count; pass++) {
        const tz_reach more = tz_pass_reach(s, &s->passes[pass]);
        for (int axis = 0; axis < s->dims; axis++) {
            const int64_t own = reach_of_passes(s, field);
            /* Other fields than states are read by any pass, and later ones carry the change on. */
            if (s->fields[field].role != TZ_STATE && pass == 0) {
                reach.low[axis] = reach.high[axis] = (int)own;
                continue;
            }
            reach.low[axis] += more.high[axis];
            reach.high[axis] += more.low[axis];
        }
    }
    return reach;
}

/* The farthest that a pass reads state fields. */
static int farthest(const tz_stencil *s)
{
    int most = 0;
    for (int pass = 0; pass < s->passes_count; pass++) {
        const tz_reach reach = tz_pass_reach(s, &s->passes[pass]);
        for (int axis = 0; axis < s->dims; axis++) {
            most = reach.low[axis] > most ? reach.low[axis] : most;
            most = reach.high[axis] > most ? reach.high[axis] : most;
        }
    }
    return most;
}

static void perturb_stencil(contract *c, int precision)
{
    const tz_stencil *s = c->stencil;
    const int64_t all_passes = tz_stencil_reach(s);
    int64_t state_reach = -1;
    for (int f = 0; f < s->fields_count; f++) {
        const bool state = s->fields[f].role == TZ_STATE;
        if (s->fields[f].role == TZ_DERIVED)
            continue;
        probe p = {.c = c, .k = {.precision = precision}, .bound = influence(s, f), .reach = -1};
        /* Bits react to few of their neighbours' patterns. */
        const int trials = s->fields[f].type == TZ_REAL ? 4 : c->quick ? 16 : 48;
        for (int trial = 0; trial < trials; trial++) {
            p.k.seed = (uint64_t)trial;
            contract_surround(&p.k, s->boundary);
            for (int axis = 0; axis < TZ_AXES; axis++) {
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
        else if (p.reach < reach_of_passes(s, f))
            contract_fail(
                c,
                "'%s' is declared to be read %d cells away, but changing it matters at most %lld",
                s->fields[f].name, reach_of_passes(s, f), (long long)p.reach);
    }
    /* With several passes the sum need not be reached: no single change must travel through all. */
    const int least = farthest(s);
    /* A state that nothing reads matters nowhere: 0 cells are right for it. */
    if (least > 0 && state_reach < least)
        contract_fail(c,
                      "reads state %d cells away, but a changed cell matters at most %lld cells "
                      "away: ghost zones are larger than they need to be",
                      least, (long long)state_reach);
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
