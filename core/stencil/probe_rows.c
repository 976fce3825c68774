/* Row functions, of one slab and of several at once, against the cell function. */
#include "base/machine.h"
#include "base/trap.h"
#include "stencil/probe_impl.h"
#include "stencil/stencil.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A span of several vectors and a rest; fewer trials where a cell has many reads. */
enum { COUNT = 37, TRIALS = 4, READS_MANY = 100 };
enum { X = 8, Y = 5, Z = 3 }; /* coordinates of its first cell */
enum { SHIFT = 7, SLABS = TZ_SLABS_IN_PLACE_MAX, WINDOW_MAX = 2 * TZ_RADIUS_MAX + SLABS };
enum { CELLS = SLABS * COUNT }; /* of two rows, or of one row of several slabs */
enum {
    AROUND = 2 * TZ_COLUMNS_IN_PLACE + 64
}; /* elements around those of a row that may be read */

typedef struct span {
    tz_cell_access access; /* first: the cell function gets a pointer to it */
    tz__probe *probe;
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
    tz__element by_cell[TZ_FIELDS_MAX][CELLS];     /* an element each; [slab][row][i] */
    double by_rows[TZ_FIELDS_MAX][CELLS], nothing; /* packed */
} span;

static size_t element_size(const span *s, int field)
{
    return tz_element_type_of(s->probe->stencil->fields[field].type, s->probe->precision)->size;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

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
            tz__element value = tz__probe_value(s->probe, f, 3 * trial);
            if (tz_type_is_integer(s->probe->stencil->fields[f].type))
                value.i += trial & 1;
            memcpy(s->values[f] + i * size, &value, size);
        }
    }
}

/* ---- The cell function on the same values ---------------------------------------------------- */

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

/* ---- Comparing ------------------------------------------------------------------------------- */

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
                return tz__probe_refuse(
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
                return tz__probe_refuse(
                    s->probe, error,
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
    return raised ? tz__probe_refuse(s->probe, error, "its row function%s for %s crashes",
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

tz_status tz__probe_rows(tz__probe *p, tz_error *error)
{
    span *s = calloc(1, sizeof *s);
    if (!s)
        return tz_error_set(error, TZ_MEMORY, p->path, "not enough memory");
    s->probe = p;
    s->access = (tz_cell_access){.read = read_cell, .write = write_cell, .constants = p->constants};
    tz_status status = make_values(s, error);
    s->span = (tz_span){.in = s->in,
                        .out = s->out,
                        .constants = p->constants,
                        .count = COUNT,
                        .x = X,
                        .y = p->stencil->dims > 1 ? Y : 0,
                        .z = p->stencil->dims > 2 ? Z : 0};
    for (int trial = 0; trial < (p->reads > READS_MANY ? 2 : TRIALS) && !status; trial++) {
        s->span.step = trial;
        tz__probe_vary(p, trial);
        fill(s, trial);
        status = compare_forms(s, p->pass->kernels, 1, error);
        /* Once suffices: in this trial no cell is 0, by which an update might divide. */
        if (!status && trial == 1 && p->pass->together)
            status = compare_forms(s, p->pass->together, TZ_SLABS_TOGETHER, error);
        if (!status && trial == 1 && p->pass->in_place && p->stencil->dims > 1)
            status =
                compare_forms(s, p->pass->in_place, TZ_SLABS_IN_PLACE(p->stencil->dims), error);
    }
    for (int f = 0; f < tz_stencil_fields_all(p->stencil); f++)
        free(s->values[f]);
    free(s);
    return status;
}
