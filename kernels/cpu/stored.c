/* Loads rows of stored fields into rows of single precision, calls row functions on these, and
 * stores what they wrote. Called by stream.c and diamond.c for each span. */
#include "kernels/cpu/stored.h"

#include "base/minmax.h"
#include "stencil/stencil.h"

enum {
    COLUMN,
    ROW,
    SLAB,                     /* axes of a block */
    PAD = 64,                 /* elements before and after a row that functions may read */
    COLUMNS = 512,            /* of a block, at most */
    COLUMNS_LEAST = 64,       /* and at least */
    ROWS = 8,                 /* of a block in 3-D, at most */
    SLABS = 16,               /* of a block, at most */
    SCRATCH_BYTES = 256 << 10 /* that a block may take: it stays in L2 */
};

/* What is loaded of a field around the elements that are computed, and where it lies. */
typedef struct part {
    int low[TZ_AXES], high[TZ_AXES]; /* along columns, rows and slabs */
    bool loads, stores;              /* it is stored otherwise, and read or written */
    float *in, *out;
} part;

/* How calls are cut into blocks. */
typedef struct cut {
    int64_t columns, rows, slabs; /* of a block, at most */
    ptrdiff_t stride;             /* elements from row to row */
    part part[TZ_FIELDS_MAX];
} cut;

static void set_part(const tz_stage *stage, const tz_pass *pass, int f, part *p)
{
    const tz_reads reads = tz_stencil_reads(stage->stencil, pass, f);
    const bool stored = !tz_stage_as_computed(stage, f);
    *p = (part){.loads = stored && tz_stencil_may_read(stage->stencil, pass, f),
                .stores = stored && pass->writes >> f & 1};
    for (int axis = 0; axis < stage->dims; axis++) {
        const int of_block = axis > 0 && axis == stage->dims - 1 ? SLAB : axis;
        p->low[of_block] = -reads.low[axis];
        p->high[of_block] = reads.high[axis];
    }
}

/* Rows in memory of a slab that is loaded. */
static int64_t rows_of(const cut *c, const part *p)
{
    return c->rows + p->low[ROW] + p->high[ROW];
}

/* Bytes of all rows of a block; places them in `scratch` if it is not NULL. */
static int64_t place_parts(cut *c, int fields, char *scratch)
{
    c->stride = (ptrdiff_t)tz_round_up(c->columns, PAD) + 2 * PAD;
    int64_t used = 2 * PAD + c->stride; /* before all: a row of what is not read */
    for (int f = 0; f < fields; f++) {
        part *p = &c->part[f];
        p->in = scratch ? (float *)(void *)scratch + used : NULL;
        used +=
            p->loads ? c->stride * (c->slabs + p->low[SLAB] + p->high[SLAB]) * rows_of(c, p) : 0;
        p->out = scratch ? (float *)(void *)scratch + used : NULL;
        used += p->stores ? c->stride * c->slabs * c->rows : 0;
    }
    return (used + PAD) * (int64_t)sizeof(float);
}

/* Blocks as large as the scratch allows. `least`: slabs of a call. */
static int64_t cut_calls(const tz_stage *stage, const tz_pass *pass, int64_t columns, int64_t rows,
                         int64_t slabs, int64_t least, char *scratch, cut *c)
{
    const int fields = stage->stencil->fields_count;
    for (int f = 0; f < fields; f++)
        set_part(stage, pass, f, &c->part[f]);
    c->columns = tz_min(COLUMNS, columns);
    c->rows = tz_min(ROWS, rows);
    c->slabs = tz_max(least, tz_min(SLABS, slabs) / least * least);
    while (place_parts(c, fields, NULL) > SCRATCH_BYTES) {
        if (c->columns > 4 * COLUMNS_LEAST)
            c->columns /= 2;
        else if (c->slabs > least)
            c->slabs = tz_max(least, c->slabs / 2 / least * least);
        else if (c->rows > 1)
            c->rows /= 2;
        else if (c->columns > COLUMNS_LEAST)
            c->columns /= 2;
        else
            break;
    }
    return place_parts(c, fields, scratch);
}

size_t tz_stored_scratch_bytes(const tz_stage *stage)
{
    int64_t most = 0;
    cut c;
    for (int f = 0; f < stage->stencil->fields_count; f++)
        most = tz_stage_as_computed(stage, f) ? most : SCRATCH_BYTES;
    for (int p = 0; most > 0 && p < stage->stencil->passes_count; p++)
        most = tz_max(most, cut_calls(stage, &stage->stencil->passes[p], COLUMNS, ROWS, SLABS,
                                      TZ_SLABS_IN_PLACE_MAX, NULL, &c));
    return (size_t)tz_round_up(most, 64);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* A block: elements of the spans, and slabs from the first call's on. */
typedef struct block {
    int64_t x, y, slab;
    int64_t columns, rows, slabs;
} block;

/* Element (b->x, b->y) of slab `s` of a field in memory, counted from the first view. */
static tz_view view_of(const tz_row_calls *calls, int f, ptrdiff_t size, const block *b, int64_t s)
{
    const int64_t beyond = s - calls->window + 1;
    const int64_t moves = beyond > 0 ? (beyond + calls->slabs - 1) / calls->slabs : 0;
    tz_view view = calls->span->in[f * calls->window + s - moves * calls->slabs];
    if (view.at)
        view.at = (const char *)view.at + (b->y * view.row_stride + b->x) * size +
                  (moves ? moves * calls->in_step[f] : 0);
    return view;
}

/* The same of what is written, counted from the first target. */
static tz_target target_of(const tz_row_calls *calls, int f, ptrdiff_t size, const block *b,
                           int64_t s)
{
    const int64_t moves = s / calls->slabs;
    tz_target target = calls->span->out[f * calls->slabs + s % calls->slabs];
    if (target.at)
        target.at = (char *)target.at + (b->y * target.row_stride + b->x) * size +
                    (moves ? moves * calls->out_step[f] : 0);
    return target;
}

static void load_part(const tz_stage *stage, const tz_row_calls *calls, const cut *c, int f,
                      int radius, const block *b)
{
    const part *p = &c->part[f];
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const int64_t count = b->columns + p->low[COLUMN] + p->high[COLUMN];
    float *plane = p->in + PAD - p->low[COLUMN];
    for (int64_t s = -p->low[SLAB]; s < b->slabs + p->high[SLAB]; s++) {
        const tz_view view = view_of(calls, f, size, b, radius + b->slab + s);
        for (int64_t y = -p->low[ROW]; y < b->rows + p->high[ROW]; y++)
            tz_stored_load(&stage->storage[f], stage->isa,
                           (const char *)view.at + (y * view.row_stride - p->low[COLUMN]) * size,
                           count, plane + (y + p->low[ROW]) * c->stride);
        plane += c->stride * rows_of(c, p);
    }
}

static void store_part(const tz_stage *stage, const tz_row_calls *calls, const cut *c, int f,
                       const block *b)
{
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const float *plane = c->part[f].out + PAD;
    for (int64_t s = 0; s < b->slabs; s++, plane += c->stride * c->rows) {
        const tz_target to = target_of(calls, f, size, b, b->slab + s);
        for (int64_t y = 0; y < b->rows; y++)
            tz_stored_store(&stage->storage[f], stage->isa, plane + y * c->stride, b->columns,
                            (char *)to.at + y * to.row_stride * size);
    }
}

/* The views and targets of the slabs from `s` on of a block: in the scratch, or in memory. Row
 * functions may load what they need not: a row of the scratch. */
static void set_views(const tz_stage *stage, const tz_row_calls *calls, const cut *c, int radius,
                      const block *b, int64_t s, tz_view *in, tz_target *out)
{
    const int fields = stage->stencil->fields_count, all = tz_stencil_fields_all(stage->stencil);
    const int window = 2 * radius + calls->each;
    for (int f = 0; f < all; f++) {
        const part none = {.loads = false}, *p = f < fields ? &c->part[f] : &none;
        const ptrdiff_t size = f < fields ? (ptrdiff_t)stage->element_size[f] : 0;
        const bool stored = f < fields && !tz_stage_as_computed(stage, f);
        for (int k = 0; k < window; k++) {
            const int64_t slab = tz_max(0, tz_min(s + k - radius + p->low[SLAB],
                                                  c->slabs - 1 + p->low[SLAB] + p->high[SLAB]));
            const int64_t row = slab * rows_of(c, p) + p->low[ROW];
            in[f * window + k] = p->loads ? (tz_view){p->in + PAD + c->stride * row, c->stride}
                                 : stored ? (tz_view){c->part[0].in - c->stride, 0}
                                          : view_of(calls, f, size, b, b->slab + s + k);
        }
        for (int k = 0; k < calls->each; k++)
            out[f * calls->each + k] =
                p->stores ? (tz_target){p->out + PAD + c->stride * (s + k) * c->rows, c->stride}
                          : target_of(calls, f, size, b, b->slab + s + k);
    }
}

static void run_block(const tz_stage *stage, const tz_row_calls *calls, const cut *c, int radius,
                      const block *b)
{
    const int fields = stage->stencil->fields_count;
    /* In 2-D all rows that follow one another in memory at once. */
    const bool many = stage->dims == 2 && calls->each == 1 && calls->calls > 1;
    tz_view in[TZ_FIELDS_MAX * (2 * TZ_RADIUS_MAX + TZ_SLABS_IN_PLACE_MAX)];
    tz_target out[TZ_FIELDS_MAX * TZ_SLABS_IN_PLACE_MAX];
    tz_span span = *calls->span;
    span.in = in;
    span.out = out;
    span.count = b->columns;
    span.rows = many ? b->slabs : b->rows;
    span.x += b->x;
    span.y += stage->dims == 3 ? b->y : b->slab;
    span.z += stage->dims == 3 ? b->slab : 0;
    for (int f = 0; f < fields; f++)
        if (c->part[f].loads)
            load_part(stage, calls, c, f, radius, b);
    for (int64_t s = 0; s < b->slabs; s += many ? b->slabs : calls->each) {
        set_views(stage, calls, c, radius, b, s, in, out);
        calls->function(&span);
        *(stage->dims == 3 ? &span.z : &span.y) += calls->each;
    }
    for (int f = 0; f < fields; f++)
        if (c->part[f].stores)
            store_part(stage, calls, c, f, b);
}

void tz_stored_call(const tz_stage *stage, const tz_pass *pass, const tz_row_calls *calls,
                    char *scratch)
{
    const tz_span *span = calls->span;
    const int radius = stage->dims == 1 ? 0 : (calls->window - calls->slabs) / 2;
    const int64_t slabs = calls->calls * calls->slabs;
    cut c;
    cut_calls(stage, pass, span->count, span->rows, slabs, calls->each, scratch, &c);
    for (int64_t y = 0; y < span->rows; y += c.rows)
        for (int64_t x = 0; x < span->count; x += c.columns)
            for (int64_t s = 0; s < slabs; s += c.slabs) {
                const block b = {.x = x,
                                 .y = y,
                                 .slab = s,
                                 .columns = tz_min(c.columns, span->count - x),
                                 .rows = tz_min(c.rows, span->rows - y),
                                 .slabs = tz_min(c.slabs, slabs - s)};
                run_block(stage, calls, &c, radius, &b);
            }
}
