/* Holds the cell functions of a stencil against its tables and its text, and the row functions, of
 * one slab and of several at once, against the cell function. Called once by registry.c. */
#include "stencil/probe.h"

#include "base/machine.h"
#include "base/random.h"
#include "base/trap.h"
#include "stencil/problem.h"
#include "stencil/stencil.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An element of a field. */
typedef union any_element {
    float f;
    double d;
    int32_t i;
    uint32_t w;
} any_element;

/* A pass in one precision, with the constants that it is called with. */
typedef struct pass_probe {
    const tz_stencil *stencil;
    const tz_pass *pass;
    tz_precision precision;
    const char *path;
    tz_slot defaults[TZ_CONSTANTS_MAX];
    tz_slot constants[TZ_CONSTANTS_MAX]; /* of this trial */
    uint64_t random;
    int64_t reads; /* of one cell, about; set by probe_cell() */
} pass_probe;

enum { TRIALS = 96, TRIALS_LEAST = 16, READS_MOST = 60000 };

/* "stencil 'x', pass 'y': ..." with TZ_PLUGIN. */
__attribute__((format(printf, 3, 4))) static tz_status refuse(const pass_probe *p, tz_error *error,
                                                              const char *format, ...)
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

/* Constants of a trial. */
static void vary_constants(pass_probe *p, int trial)
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
                tz_slot_of(p->stencil->constants[k].type, p->precision, tz_random_real(&p->random));
    }
}

/* A value of a field in a trial. Branches may depend on signs, and on sizes: some trials are about
 * 0, some about the value that a field has at first. */
static any_element make_value(pass_probe *p, int field, int trial)
{
    static const double scales[] = {1.0, 8.0, 1.0, 1e3, 1e-3};
    const tz_field *f = &p->stencil->fields[field];
    const uint64_t bits = tz_random_next(&p->random);
    any_element element = {.d = 0.0};
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
static void default_constants(pass_probe *p)
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
    pass_probe *probe;
    int trial;
    int64_t reads;
    int fields; /* tz_stencil_fields_all() */
    uint32_t may_read, written;
    tz_probe_seen seen[TZ_FIELDS_MAX];
    tz_reads allowed[TZ_FIELDS_MAX];
    any_element value, sink;
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
    return refuse(t->probe, t->error, "it reads '%s' at offset (%s), but %s", f->name, at, remedy);
}

static void check_read(tracer *t, int field, const int offset[TZ_AXES])
{
    const tz_stencil *s = t->probe->stencil;
    if (field < 0 || field >= t->fields) {
        t->status = refuse(t->probe, t->error, "it reads field number %d of %d", field, t->fields);
        return;
    }
    if (s->fields[field].role == TZ_DERIVED) {
        t->status = refuse(t->probe, t->error,
                           "it reads '%s', which is a derived field: only frames and "
                           "reductions see these",
                           s->fields[field].name);
        return;
    }
    if (!(t->may_read >> field & 1)) {
        t->status = refuse(t->probe, t->error,
                           "it reads '%s', which its TZ_READS does not list: for an "
                           "output that list has all fields, or none",
                           s->fields[field].name);
        return;
    }
    tz_probe_seen *seen = &t->seen[field];
    for (int axis = 0; axis < TZ_AXES && !t->status; axis++) {
        const int at = offset[axis];
        if (axis >= s->dims && at != 0)
            t->status = refuse(t->probe, t->error,
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
    t->value = make_value(t->probe, field, t->trial);
    return &t->value;
}

static void *trace_write(const tz_cell_access *access, int field)
{
    tracer *t = (tracer *)(uintptr_t)access;
    const tz_stencil *s = t->probe->stencil;
    if (t->status)
        return &t->sink;
    if (field < 0 || field >= t->fields) {
        t->status = refuse(t->probe, t->error, "it writes field number %d of %d", field, t->fields);
        return &t->sink;
    }
    if (!(t->probe->pass->writes >> field & 1)) {
        const tz_field *f = &s->fields[field];
        t->status =
            refuse(t->probe, t->error, "it writes '%s', which %s%s%s", f->name,
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
            return refuse(t->probe, t->error,
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
static tz_status probe_cell(pass_probe *p, tz_probe_seen *seen, tz_error *error)
{
    tracer t = {.access = {.read = trace_read,
                           .write = trace_write,
                           .constants = p->constants,
                           .engine = p->pass->engine},
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
        vary_constants(p, trial);
        const int raised = tz_trap_call(call_cell, &t);
        if (raised && raised != SIGFPE)
            t.status = refuse(p, error, "its cell function crashes (%s)",
                              raised == SIGILL ? "an instruction that this machine lacks"
                                               : "an address that is not its own");
        if (!raised && !t.status) {
            t.status = check_written(&t);
            done++;
        }
    }
    if (!t.status && done == 0)
        t.status = refuse(p, error, "its cell function divides by zero in every cell");
    p->reads = t.reads / (done > 0 ? done : 1);
    if (seen)
        memcpy(seen, t.seen, (size_t)t.fields * sizeof *seen);
    return t.status;
}

/* ---- The row functions ---------------------------------------------------------------------- */

/* A span of several vectors and a rest; fewer trials where a cell has many reads. */
enum { COUNT = 37, ROWS_TRIALS = 4, READS_MANY = 100 };
enum { X = 8, Y = 5, Z = 3 }; /* coordinates of its first cell */
enum { SHIFT = 7, SLABS = TZ_SLABS_IN_PLACE_MAX, WINDOW_MAX = 2 * TZ_RADIUS_MAX + SLABS };
enum { CELLS = SLABS * COUNT }; /* of two rows, or of one row of several slabs */
enum {
    AROUND = 2 * TZ_COLUMNS_IN_PLACE + 64
}; /* elements around those of a row that may be read */

typedef struct span {
    tz_cell_access access; /* first: the cell function gets a pointer to it */
    pass_probe *probe;
    int radius, rows;
    int slabs;  /* that the row function computes at once */
    int window; /* views of a field */
    int margin; /* the largest radius of the pass and the fields */
    ptrdiff_t stride;
    int64_t i, row; /* the cell that `access` stands for, ... */
    int slab;       /* ... in this slab */
    tz_row_fn *function;
    tz_span span;
    tz_view in[TZ_FIELDS_MAX * WINDOW_MAX];
    tz_target out[TZ_FIELDS_MAX * SLABS];
    size_t pool;                                   /* elements */
    char *values[TZ_FIELDS_MAX];                   /* of a type; fields of it share them */
    any_element by_cell[TZ_FIELDS_MAX][CELLS];     /* an element each; [slab][row][i] */
    double by_rows[TZ_FIELDS_MAX][CELLS], nothing; /* packed */
} span;

static size_t element_size(const span *s, int field)
{
    return tz_element_type_of(s->probe->stencil->fields[field].type, s->probe->precision)->size;
}

/* The first field of the same type: it has the values. */
static int owner_of(const span *s, int field)
{
    int f = 0;
    while (s->probe->stencil->fields[f].type != s->probe->stencil->fields[field].type)
        f++;
    return f;
}

static tz_status make_values(span *s, tz_error *error)
{
    const int fields = tz_stencil_fields_all(s->probe->stencil), dims = s->probe->stencil->dims;
    s->radius = s->probe->pass->radius;
    s->margin = s->radius;
    for (int f = 0; f < fields; f++)
        if (s->probe->stencil->fields[f].radius > s->margin)
            s->margin = s->probe->stencil->fields[f].radius;
    s->stride = dims > 1 ? COUNT + 2 * s->margin + 3 : 0;
    s->pool = (size_t)(2 * (s->margin + s->margin * s->stride) + 2 * (s->stride + COUNT)) +
              (size_t)(fields * (2 * s->radius + SLABS) * SHIFT) + 2 * AROUND;
    for (int f = 0; f < fields; f++)
        if (owner_of(s, f) == f && !(s->values[f] = malloc(s->pool * element_size(s, f))))
            return tz_error_set(error, TZ_MEMORY, s->probe->path, "not enough memory");
    return TZ_OK;
}

/* The span of a row function that computes so many slabs at once. */
static void make_views(span *s, int slabs)
{
    const int fields = tz_stencil_fields_all(s->probe->stencil), dims = s->probe->stencil->dims;
    const ptrdiff_t before = AROUND + s->margin + s->margin * s->stride;
    s->slabs = slabs;
    s->window = (dims == 1 ? 1 : 2 * s->radius + 1) + slabs - 1;
    s->rows = dims > 1 && slabs == 1 ? 2 : 1;
    s->span.rows = s->rows;
    for (int f = 0; f < fields; f++) {
        const size_t size = element_size(s, f);
        for (int k = 0; k < s->window; k++) {
            const ptrdiff_t at = before + (f * s->window + k) * SHIFT;
            s->in[f * s->window + k] =
                (tz_view){s->values[owner_of(s, f)] + (size_t)at * size, s->stride};
        }
        for (int k = 0; k < slabs; k++)
            s->out[f * slabs + k] =
                (tz_target){(char *)s->by_rows[f] + (size_t)(k * s->rows * COUNT) * size, COUNT};
    }
}

/* Integers are 0 and 1, or 1 and 2 where it may divide by them: others may be no values of the
 * stencil, and what it does with them, such as a shift by 40, depends on the machine. */
static void fill(span *s, int trial)
{
    for (int f = 0; f < tz_stencil_fields_all(s->probe->stencil); f++) {
        const size_t size = element_size(s, f);
        for (size_t i = 0; s->values[f] && i < s->pool; i++) {
            any_element value = make_value(s->probe, f, 3 * trial);
            if (tz_type_is_integer(s->probe->stencil->fields[f].type))
                value.i += trial & 1;
            memcpy(s->values[f] + i * size, &value, size);
        }
    }
}

static const void *read_cell(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    const span *s = (const span *)(const void *)access;
    const int r = s->radius, dims = s->probe->stencil->dims;
    const int d = s->slab + (dims == 1 ? 0 : r + (dims == 2 ? dy : dz));
    /* In a branch that no trial of the cell function took. */
    if (field < 0 || field >= tz_stencil_fields_all(s->probe->stencil) || d < 0 || d >= s->window ||
        abs(dx) > s->margin || abs(dy) > s->margin)
        return &s->nothing;
    const tz_view *view = &s->in[field * s->window + d];
    const ptrdiff_t row = s->row + (dims == 3 ? dy : 0);
    return (const char *)view->at +
           (row * view->row_stride + s->i + dx) * (ptrdiff_t)element_size(s, field);
}

static void *write_cell(const tz_cell_access *access, int field)
{
    span *s = (span *)(uintptr_t)access;
    const bool known = field >= 0 && field < tz_stencil_fields_all(s->probe->stencil);
    return known ? (void *)&s->by_cell[field][(s->slab * s->rows + s->row) * COUNT + s->i]
                 : (void *)&s->nothing;
}

static void call_cells(void *argument)
{
    span *s = argument;
    const int dims = s->probe->stencil->dims;
    for (s->slab = 0; s->slab < s->slabs; s->slab++)
        for (s->row = 0; s->row < s->rows; s->row++)
            for (s->i = 0; s->i < COUNT; s->i++) {
                s->access.x = X + s->i;
                s->access.y = s->span.y + s->row + (dims == 2 ? s->slab : 0);
                s->access.z = s->span.z + (dims == 3 ? s->slab : 0);
                s->access.step = s->span.step;
                s->probe->pass->kernels->cell[s->probe->precision](&s->access);
            }
}

static void call_rows(void *argument)
{
    span *s = argument;
    s->function(&s->span);
}

/* NaNs have many bits, and a compiler may choose. */
static bool is_same(const span *s, int field, const void *a, const void *b)
{
    const size_t size = element_size(s, field);
    if (memcmp(a, b, size) == 0)
        return true;
    const tz_element_type *type =
        tz_element_type_of(s->probe->stencil->fields[field].type, s->probe->precision);
    return type->is_nan(a) && type->is_nan(b);
}

static tz_status compare(const span *s, tz_isa isa, tz_error *error)
{
    const tz_stencil *stencil = s->probe->stencil;
    for (int f = 0; f < tz_stencil_fields_all(stencil); f++)
        for (int k = 0; (s->probe->pass->writes >> f & 1) && k < s->slabs * s->rows * COUNT; k++)
            if (!is_same(s, f, (const char *)s->by_rows[f] + (size_t)k * element_size(s, f),
                         &s->by_cell[f][k]))
                return refuse(
                    s->probe, error,
                    "its row function%s for %s and its cell function give '%s' other bits%s%s%s: "
                    "compile it with -ffp-contract=off and without -ffast-math, as "
                    "trapeze_add_plugin() does",
                    s->slabs > 1 ? " of several slabs" : "", tz_isa_form(isa),
                    stencil->fields[f].name, tz_type_is_real(stencil->fields[f].type) ? " in " : "",
                    tz_type_is_real(stencil->fields[f].type)
                        ? tz_precision_name(s->probe->precision)
                        : "",
                    tz_type_is_real(stencil->fields[f].type) ? " precision" : "");
    return TZ_OK;
}

/* Fields that only take over what another was. */
static tz_status check_takes(const span *s, tz_error *error)
{
    const tz_stencil *stencil = s->probe->stencil;
    for (int f = 0; f < stencil->fields_count; f++) {
        const int from = s->probe->pass->takes[f] - 1;
        for (int k = 0; from >= 0 && k < s->rows * COUNT; k++) {
            const tz_view *view = &s->in[from * s->window + (s->window - 1) / 2];
            const ptrdiff_t at = k / COUNT * view->row_stride + k % COUNT;
            if (!is_same(s, f, (const char *)view->at + at * (ptrdiff_t)element_size(s, from),
                         &s->by_cell[f][k]))
                return refuse(s->probe, error,
                              "TZ_TAKES says that '%s' becomes what '%s' was in the cell, "
                              "but it gets another value",
                              stencil->fields[f].name, stencil->fields[from].name);
        }
    }
    return TZ_OK;
}

static tz_status compare_form(span *s, const tz_kernels *kernels, tz_isa isa, tz_error *error)
{
    s->function = tz_kernels_rows(kernels, isa, s->probe->precision);
    if (!s->function)
        return TZ_OK;
    memset(s->by_rows, 0xa5, sizeof s->by_rows);
    const int raised = tz_trap_call(call_rows, s);
    if (raised == SIGFPE)
        return TZ_OK;
    return raised ? refuse(s->probe, error, "its row function%s for %s crashes",
                           s->slabs > 1 ? " of several slabs" : "", tz_isa_form(isa))
                  : compare(s, isa, error);
}

/* All forms of functions that compute so many slabs at once. */
static tz_status compare_forms(span *s, const tz_kernels *kernels, int slabs, tz_error *error)
{
    make_views(s, slabs);
    if (tz_trap_call(call_cells, s))
        return TZ_OK; /* a division by zero */
    tz_status status = slabs == 1 ? check_takes(s, error) : TZ_OK;
    for (int isa = TZ_ISA_BASE; isa <= (int)tz_machine_isa() && !status; isa++)
        status = compare_form(s, kernels, (tz_isa)isa, error);
    return status;
}

/* While a trap is open (base/trap.h). */
static tz_status probe_rows(pass_probe *p, tz_error *error)
{
    span *s = calloc(1, sizeof *s);
    if (!s)
        return tz_error_set(error, TZ_MEMORY, p->path, "not enough memory");
    s->probe = p;
    s->access = (tz_cell_access){.read = read_cell,
                                 .write = write_cell,
                                 .constants = p->constants,
                                 .engine = p->pass->engine};
    tz_status status = make_values(s, error);
    s->span = (tz_span){.in = s->in,
                        .out = s->out,
                        .constants = p->constants,
                        .engine = p->pass->engine,
                        .count = COUNT,
                        .x = X,
                        .y = p->stencil->dims > 1 ? Y : 0,
                        .z = p->stencil->dims > 2 ? Z : 0};
    for (int trial = 0; trial < (p->reads > READS_MANY ? 2 : ROWS_TRIALS) && !status; trial++) {
        s->span.step = trial;
        vary_constants(p, trial);
        fill(s, trial);
        status = compare_forms(s, p->pass->kernels, 1, error);
        /* Once suffices: in this trial no cell is 0, by which an update might divide. */
        if (!status && trial == 1 && p->pass->together)
            status = compare_forms(s, p->pass->together, TZ_SLABS_TOGETHER, error);
        if (!status && trial == 1 && p->pass->in_place && p->stencil->dims > 1)
            status = compare_forms(s, p->pass->in_place, tz_pass_slabs(p->pass, p->stencil->dims),
                                   error);
    }
    for (int f = 0; f < tz_stencil_fields_all(p->stencil); f++)
        free(s->values[f]);
    free(s);
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

tz_status tz_probe_cell(const tz_stencil *stencil, const tz_pass *pass, tz_precision precision,
                        const char *path, tz_probe_seen *seen, tz_error *error)
{
    pass_probe probe = {
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
        pass_probe probe = {
            .stencil = stencil, .precision = (tz_precision)precision, .path = path, .random = 1};
        tz_trap trap;
        default_constants(&probe);
        tz_trap_open(&trap);
        const int outputs = passes + stencil->outputs_count;
        for (int i = 0; i < outputs + (stencil->inner ? passes : 0) && !status; i++) {
            probe.pass = i < passes    ? &stencil->passes[i]
                         : i < outputs ? &stencil->outputs[i - passes]
                                       : &stencil->inner[i - outputs];
            status = probe_cell(&probe, NULL, error);
            if (!status)
                status = probe_rows(&probe, error);
        }
        tz_trap_close(&trap);
    }
    return status;
}

/* What a child process writes to its parent. */
typedef struct verdict {
    tz_status status;
    tz_error error;
} verdict;

/* In the child. */
__attribute__((noreturn)) static void try_and_tell(const tz_stencil *stencil, const char *path,
                                                   int out)
{
    enum { MOST_S = 120 };
    verdict v = {.status = TZ_OK};
    signal(SIGALRM, SIG_DFL);
    alarm(MOST_S); /* a function that never returns */
    v.status = tz_probe_stencil(stencil, path, &v.error);
    _exit(write(out, &v, sizeof v) == sizeof v ? 0 : 1);
}

tz_status tz_probe_stencil_apart(const tz_stencil *stencil, const char *path, tz_error *error)
{
    verdict v;
    int ends[2], state = 0;
    size_t got = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tz_error_set(error, TZ_IO, path, "its functions cannot be tried: %s",
                            strerror(errno));
    const pid_t child = fork();
    const int fault = errno;
    if (child == 0)
        try_and_tell(stencil, path, ends[1]);
    close(ends[1]);
    while (child > 0 && got < sizeof v) {
        const ssize_t bytes = read(ends[0], (char *)&v + got, sizeof v - got);
        if (bytes == 0 || (bytes < 0 && errno != EINTR))
            break;
        got += bytes > 0 ? (size_t)bytes : 0;
    }
    close(ends[0]);
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0)
        return tz_error_set(error, TZ_MEMORY, path, "its functions cannot be tried: %s",
                            strerror(fault));
    if (got < sizeof v)
        return tz_error_set(error, TZ_PLUGIN, path, "its functions %s when they are tried",
                            WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM ? "do not return"
                                                                             : "end the process");
    if (v.status)
        *error = v.error;
    return v.status;
}
