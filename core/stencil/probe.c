/* Holds the cell functions of a stencil against its tables and its text. Called once by registry.c.
 * */
#include "stencil/probe.h"

#include "base/trap.h"
#include "stencil/probe_impl.h"
#include "stencil/problem.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 96, TRIALS_LEAST = 16, READS_MOST = 60000 };

tz_status tz__probe_refuse(const tz__probe *p, tz_error *error, const char *format, ...)
{
    char what[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return tz_error_set(error, TZ_PLUGIN, p->path, "stencil '%s', pass '%s': %s", p->stencil->id,
                        p->pass->name, what);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 27);
}

/* In [-1, 1), with all the bits of a double. */
static double random_real(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-52 - 1.0;
}

void tz__probe_vary(tz__probe *p, int trial)
{
    memcpy(p->constants, p->defaults, sizeof p->constants);
    for (int k = 0; k < p->stencil->constants_count; k++) {
        tz_slot *slot = &p->constants[k];
        const bool is_flag = slot->i == 0 || slot->i == 1;
        if (!tz_type_is_real(p->stencil->constants[k].type))
            slot->i = is_flag && (trial & 1) ? 1 - slot->i : slot->i;
        else if ((trial & 3) < 2)
            continue;
        else
            *slot =
                tz_slot_of(p->stencil->constants[k].type, p->precision, random_real(&p->random));
    }
}

/* Branches may depend on signs, and on sizes: some trials are about 0, some about the value that a
 * field has at first. */
tz__element tz__probe_value(tz__probe *p, int field, int trial)
{
    static const double scales[] = {1.0, 8.0, 1.0, 1e3, 1e-3};
    const tz_field *f = &p->stencil->fields[field];
    const uint64_t bits = next_random(&p->random);
    tz__element element = {.d = 0.0};
    if (tz_type_is_bits(f->type)) {
        element.w = (uint32_t)bits;
        return element;
    }
    const double centre = trial % 2 == 0 || !isfinite(f->initial) ? 0.0 : f->initial;
    double value = centre + scales[trial % 5] * ((double)(bits >> 11) * 0x1p-52 - (trial % 4 == 0));
    if (tz_type_is_integer(f->type)) /* small: texts count with them, and index tables */
        value = (double)(bits % (trial % 3 == 0 ? 2 : 9));
    tz_element_type_of(f->type, p->precision)->put(&value, 0.0, 1, &element);
    return element;
}

/* The constants of a small grid with the default parameters. A stencil that refuses these gets
 * ones. */
static void default_constants(tz__probe *p)
{
    const tz_stencil *s = p->stencil;
    tz_problem problem;
    tz_simulation_config config = {
        .stencil = s->id,
        .dims = s->dims,
        .precision = tz_stencil_has_real(s) ? (int)p->precision : -1,
    };
    for (int axis = 0; axis < TZ_AXES; axis++)
        config.extent[axis] = axis < s->dims ? 64 : 1;
    if (!tz_problem_resolve(&problem, s, &config, NULL)) {
        memcpy(p->defaults, problem.constants, sizeof p->defaults);
        tz_problem_clear(&problem);
        return;
    }
    for (int k = 0; k < s->constants_count; k++)
        p->defaults[k] = tz_slot_of(s->constants[k].type, p->precision, 1.0);
}

/* ---- The cell function ----------------------------------------------------------------------- */

typedef struct tracer {
    tz_cell_access access; /* first: the cell function gets a pointer to it */
    tz__probe *probe;
    int trial;
    int64_t reads;
    int fields; /* tz_stencil_fields_all() */
    uint32_t may_read, written;
    tz_probe_seen seen[TZ_FIELDS_MAX];
    tz_reads allowed[TZ_FIELDS_MAX];
    tz__element value, sink;
    tz_status status; /* of the first fault */
    tz_error *error;
} tracer;

/* Where the remedy for a read beyond what is declared lies. */
static tz_status refuse_offset(const tracer *t, int field, const int offset[TZ_AXES], int axis)
{
    static const char *const origins[] = {"", "%d", "%d, %d", "%d, %d, %d"};
    const tz_pass *pass = t->probe->pass;
    const tz_field *f = &t->probe->stencil->fields[field];
    const tz_reads *allowed = &t->allowed[field];
    char at[64], remedy[160];
    bool listed = false;
    for (int i = 0; i < pass->reads_count; i++)
        listed = listed || (pass->reads[i].field == field &&
                            strcmp(pass->reads[i].cell, pass->text_cell) == 0);
    snprintf(at, sizeof at, origins[t->probe->stencil->dims], offset[0], offset[1], offset[2]);
    if (abs(offset[axis]) > pass->radius && (f->role == TZ_STATE || f->radius > pass->radius))
        snprintf(remedy, sizeof remedy, "TZ_CELL_RADIUS is %d", pass->radius);
    else if (listed)
        snprintf(remedy, sizeof remedy, "TZ_READS gives it %d to %d on axis %c", allowed->low[axis],
                 allowed->high[axis], "xyz"[axis]);
    else
        snprintf(remedy, sizeof remedy, "the field's .radius is %d", f->radius);
    return tz__probe_refuse(t->probe, t->error, "it reads '%s' at offset (%s), but %s", f->name, at,
                            remedy);
}

static void check_read(tracer *t, int field, const int offset[TZ_AXES])
{
    const tz_stencil *s = t->probe->stencil;
    if (field < 0 || field >= t->fields) {
        t->status = tz__probe_refuse(t->probe, t->error, "it reads field number %d of %d", field,
                                     t->fields);
        return;
    }
    if (s->fields[field].role == TZ_DERIVED) {
        t->status = tz__probe_refuse(t->probe, t->error,
                                     "it reads '%s', which is a derived field: only frames and "
                                     "reductions see these",
                                     s->fields[field].name);
        return;
    }
    if (!(t->may_read >> field & 1)) {
        t->status = tz__probe_refuse(t->probe, t->error,
                                     "it reads '%s', which its TZ_READS does not list: for an "
                                     "output that list has all fields, or none",
                                     s->fields[field].name);
        return;
    }
    tz_probe_seen *seen = &t->seen[field];
    for (int axis = 0; axis < TZ_AXES && !t->status; axis++) {
        const int at = offset[axis];
        if (axis >= s->dims && at != 0)
            t->status = tz__probe_refuse(t->probe, t->error,
                                         "it reads '%s' along axis %c, of which the "
                                         "stencil has none",
                                         s->fields[field].name, "xyz"[axis]);
        else if (at < t->allowed[field].low[axis] || at > t->allowed[field].high[axis])
            t->status = refuse_offset(t, field, offset, axis);
        seen->low[axis] = at < seen->low[axis] ? at : seen->low[axis];
        seen->high[axis] = at > seen->high[axis] ? at : seen->high[axis];
    }
    seen->is_read = true;
    seen->read_when_written = seen->read_when_written || (t->written >> field & 1);
}

static const void *trace_read(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    tracer *t = (tracer *)(uintptr_t)access; /* the object is not const */
    t->reads++;
    if (!t->status)
        check_read(t, field, (const int[TZ_AXES]){dx, dy, dz});
    if (field < 0 || field >= t->fields)
        field = 0;
    t->value = tz__probe_value(t->probe, field, t->trial);
    return &t->value;
}

static void *trace_write(const tz_cell_access *access, int field)
{
    tracer *t = (tracer *)(uintptr_t)access;
    const tz_stencil *s = t->probe->stencil;
    if (t->status)
        return &t->sink;
    if (field < 0 || field >= t->fields) {
        t->status = tz__probe_refuse(t->probe, t->error, "it writes field number %d of %d", field,
                                     t->fields);
        return &t->sink;
    }
    if (!(t->probe->pass->writes >> field & 1)) {
        const tz_field *f = &s->fields[field];
        t->status = tz__probe_refuse(
            t->probe, t->error, "it writes '%s', which %s%s%s", f->name,
            f->role == TZ_STATE || f->role == TZ_DERIVED ? "is not in its .writes" : "is a ",
            f->role == TZ_STATE || f->role == TZ_DERIVED ? "" : tz_role_name(f->role),
            f->role == TZ_STATE || f->role == TZ_DERIVED ? "" : " field");
    }
    t->written |= 1u << field;
    return &t->sink;
}

static void call_cell(void *argument)
{
    tracer *t = argument;
    t->probe->pass->kernels->cell[t->probe->precision](&t->access);
}

static tz_status check_written(const tracer *t)
{
    const uint32_t missing = t->probe->pass->writes & ~t->written;
    for (int f = 0; f < t->fields; f++)
        if (missing >> f & 1)
            return tz__probe_refuse(t->probe, t->error,
                                    "it declares that it writes '%s', but does not write it in "
                                    "every cell: TZ_PUT() must be reached whatever the values are",
                                    t->probe->stencil->fields[f].name);
    return TZ_OK;
}

/* Cells at different places, iterations and values, which branches may depend on. */
static void place(tracer *t, int trial)
{
    const int dims = t->probe->stencil->dims;
    t->trial = trial;
    t->written = 0;
    t->access.x = 20 + (trial & 3);
    t->access.y = dims > 1 ? 20 + (trial >> 2 & 3) : 0;
    t->access.z = dims > 2 ? 20 + (trial >> 4 & 1) : 0;
    t->access.step = trial >> 5;
}

/* While a trap is open (base/trap.h). */
static tz_status probe_cell(tz__probe *p, tz_probe_seen *seen, tz_error *error)
{
    tracer t = {.access = {.read = trace_read, .write = trace_write, .constants = p->constants},
                .probe = p,
                .fields = tz_stencil_fields_all(p->stencil),
                .error = error};
    const int last = p->stencil->dims - 1;
    for (int f = 0; f < t.fields; f++) {
        t.may_read |= (uint32_t)tz_stencil_may_read(p->stencil, p->pass, f) << f;
        t.allowed[f] = tz_stencil_reads(p->stencil, p->pass, f);
        /* Row functions get the rows or planes up to the pass's radius, of static fields, too. */
        int *low = &t.allowed[f].low[last], *high = &t.allowed[f].high[last];
        *low = last > 0 && *low < -p->pass->radius ? -p->pass->radius : *low;
        *high = last > 0 && *high > p->pass->radius ? p->pass->radius : *high;
    }
    int done = 0;
    for (int trial = 0; trial < TRIALS && !t.status; trial++) {
        if (trial >= TRIALS_LEAST && t.reads > READS_MOST)
            break;
        place(&t, trial);
        tz__probe_vary(p, trial);
        const int raised = tz_trap_call(call_cell, &t);
        if (raised && raised != SIGFPE)
            t.status = tz__probe_refuse(p, error, "its cell function crashes (%s)",
                                        raised == SIGILL ? "an instruction that this machine lacks"
                                                         : "an address that is not its own");
        if (!raised && !t.status) {
            t.status = check_written(&t);
            done++;
        }
    }
    if (!t.status && done == 0)
        t.status = tz__probe_refuse(p, error, "its cell function divides by zero in every cell");
    p->reads = t.reads / (done > 0 ? done : 1);
    if (seen)
        memcpy(seen, t.seen, (size_t)t.fields * sizeof *seen);
    return t.status;
}

/* ---- All ------------------------------------------------------------------------------------- */

tz_status tz_probe_cell(const tz_stencil *stencil, const tz_pass *pass, tz_precision precision,
                        const char *path, tz_probe_seen *seen, tz_error *error)
{
    tz__probe probe = {
        .stencil = stencil, .pass = pass, .precision = precision, .path = path, .random = 1};
    tz_trap trap;
    default_constants(&probe);
    tz_trap_open(&trap);
    const tz_status status = probe_cell(&probe, seen, error);
    tz_trap_close(&trap);
    return status;
}

tz_status tz_probe_stencil(const tz_stencil *stencil, const char *path, tz_error *error)
{
    const int passes = stencil->passes_count;
    tz_status status = TZ_OK;
    for (int precision = 0; precision < tz_stencil_precisions(stencil) && !status; precision++) {
        tz__probe probe = {
            .stencil = stencil, .precision = (tz_precision)precision, .path = path, .random = 1};
        tz_trap trap;
        default_constants(&probe);
        tz_trap_open(&trap);
        for (int i = 0; i < passes + stencil->outputs_count && !status; i++) {
            probe.pass = i < passes ? &stencil->passes[i] : &stencil->outputs[i - passes];
            status = probe_cell(&probe, NULL, error);
            if (!status)
                status = tz__probe_rows(&probe, error);
        }
        tz_trap_close(&trap);
    }
    return status;
}
