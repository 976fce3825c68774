/* Loads rows of stored fields into rows of single precision, calls row functions on these, and
 * stores what they wrote. Called by stream.c and diamond.c for each span. */
#include "kernels/cpu/stored.h"

#include "base/minmax.h"
#include "stencil/stencil.h"

enum {
    PAD = 64,                 /* elements before and after a row that functions may read */
    COLUMNS = 512,            /* of a block, at most */
    COLUMNS_LEAST = 64,       /* and at least */
    ROWS = 8,                 /* of a block in 3-D, at most */
    SLABS = 16,               /* of a block, at most */
    SCRATCH_BYTES = 256 << 10 /* that a block may take: it stays in L2 */
};

/* What is loaded of a field around the elements that are computed, and where it lies. */
typedef struct part {
    int slabs_low, slabs_high, rows_low, rows_high, columns_low, columns_high;
    bool loads, stores; /* it is stored otherwise, and read or written */
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
    const int last = stage->dims - 1;
    *p = (part){.columns_low = -reads.low[0], .columns_high = reads.high[0]};
    p->loads = !tz_stage_as_computed(stage, f) && tz_stencil_may_read(stage->stencil, pass, f);
    p->stores = !tz_stage_as_computed(stage, f) && pass->writes >> f & 1;
    if (last > 0) {
        p->slabs_low = -reads.low[last];
        p->slabs_high = reads.high[last];
    }
    if (last > 1) {
        p->rows_low = -reads.low[1];
        p->rows_high = reads.high[1];
    }
}

static int64_t in_elements(const cut *c, const part *p)
{
    return p->loads ? c->stride * (c->slabs + p->slabs_low + p->slabs_high) *
                          (c->rows + p->rows_low + p->rows_high)
                    : 0;
}

static int64_t out_elements(const cut *c, const part *p)
{
    return p->stores ? c->stride * c->slabs * c->rows : 0;
}

/* Bytes of all rows of a block; places them in `scratch` if it is not NULL. */
static int64_t place_parts(cut *c, int fields, char *scratch)
{
    int64_t used = 2 * PAD; /* what is neither read nor written lies here */
    c->stride = (ptrdiff_t)tz_round_up(c->columns, PAD) + 2 * PAD;
    used += c->stride;
    for (int f = 0; f < fields; f++) {
        part *p = &c->part[f];
        p->in = scratch ? (float *)(void *)scratch + used : NULL;
        used += in_elements(c, p);
        p->out = scratch ? (float *)(void *)scratch + used : NULL;
        used += out_elements(c, p);
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
    bool stored = false;
    for (int f = 0; f < stage->stencil->fields_count; f++)
        stored = stored || !tz_stage_as_computed(stage, f);
    for (int p = 0; stored && p < stage->stencil->passes_count; p++)
        for (int slabs = 1; slabs <= TZ_SLABS_IN_PLACE_MAX; slabs++) {
            cut c;
            most = tz_max(most, cut_calls(stage, &stage->stencil->passes[p], COLUMNS, ROWS, SLABS,
                                          slabs, NULL, &c));
        }
    return (size_t)tz_round_up(tz_max(most, stored ? SCRATCH_BYTES : 0), 64);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* A block: elements of the spans, and slabs from the first call's on. */
typedef struct block {
    int64_t x, y, slab;
    int64_t columns, rows, slabs;
} block;

/* Element (0, 0) of slab `s` of a field, counted from the first view. */
static const char *slab_of(const tz_row_calls *calls, int f, int64_t s)
{
    const tz_view *views = &calls->span->in[f * calls->window];
    const int64_t beyond = s - calls->window + 1;
    const int64_t moves = beyond > 0 ? (beyond + calls->slabs - 1) / calls->slabs : 0;
    return (const char *)views[s - moves * calls->slabs].at +
           (moves ? moves * calls->in_step[f] : 0);
}

static void load_part(const tz_stage *stage, const tz_row_calls *calls, const cut *c, int f,
                      int radius, const block *b)
{
    const part *p = &c->part[f];
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const ptrdiff_t row_stride = calls->span->in[f * calls->window + radius].row_stride;
    const int64_t count = b->columns + p->columns_low + p->columns_high;
    float *plane = p->in + PAD - p->columns_low;
    for (int64_t s = -p->slabs_low; s < b->slabs + p->slabs_high; s++) {
        const int64_t slab = radius + b->slab + s;
        const ptrdiff_t stride = slab < calls->window
                                     ? calls->span->in[f * calls->window + slab].row_stride
                                     : row_stride;
        const char *from = slab_of(calls, f, slab) +
                           ((b->y - p->rows_low) * stride + b->x - p->columns_low) * size;
        float *to = plane;
        for (int64_t y = -p->rows_low; y < b->rows + p->rows_high; y++) {
            tz_stored_load(&stage->storage[f], stage->isa, from, count, to);
            from += stride * size;
            to += c->stride;
        }
        plane += c->stride * (c->rows + p->rows_low + p->rows_high);
    }
}

static void store_part(const tz_stage *stage, const tz_row_calls *calls, const cut *c, int f,
                       const block *b)
{
    const ptrdiff_t size = (ptrdiff_t)stage->element_size[f];
    const float *plane = c->part[f].out + PAD;
    for (int64_t s = 0; s < b->slabs; s++, plane += c->stride * c->rows) {
        const int64_t slab = b->slab + s, call = slab / calls->slabs;
        const tz_target *out = &calls->span->out[f * calls->slabs + slab % calls->slabs];
        char *to = (char *)out->at + (b->y * out->row_stride + b->x) * size +
                   (call ? call * calls->out_step[f] : 0);
        for (int64_t y = 0; y < b->rows; y++)
            tz_stored_store(&stage->storage[f], stage->isa, plane + y * c->stride, b->columns,
                            to + y * out->row_stride * size);
    }
}

/* Moved by columns and rows of a span, and by calls. */
static const void *moved(const void *at, ptrdiff_t row_stride, ptrdiff_t size, const block *b,
                         ptrdiff_t by)
{
    return at ? (const char *)at + (b->y * row_stride + b->x) * size + by : NULL;
}

/* The views and targets of the slabs from `s` on of a block. */
static void set_views(const tz_stage *stage, const tz_row_calls *calls, const cut *c, int radius,
                      const block *b, int64_t s, tz_view *in, tz_target *out)
{
    const int fields = stage->stencil->fields_count, all = tz_stencil_fields_all(stage->stencil);
    const int64_t call = (b->slab + s) / calls->slabs, first = (b->slab + s) % calls->slabs;
    const int window = 2 * radius + calls->each;
    for (int f = 0; f < all; f++) {
        const part *p = f < fields ? &c->part[f] : NULL;
        const ptrdiff_t size = f < fields ? (ptrdiff_t)stage->element_size[f] : 0;
        const bool other = f < fields && !tz_stage_as_computed(stage, f);
        for (int k = 0; k < window; k++) {
            const int64_t slab =
                tz_max(0, tz_min(s + k - radius + (p ? p->slabs_low : 0),
                                 c->slabs - 1 + (p ? p->slabs_low + p->slabs_high : 0)));
            const tz_view *of = &calls->span->in[f * calls->window + first + k];
            if (other && p->loads)
                in[f * window + k] = (tz_view){
                    p->in + PAD +
                        c->stride * (slab * (c->rows + p->rows_low + p->rows_high) + p->rows_low),
                    c->stride};
            else if (other)
                in[f * window + k] = (tz_view){c->part[0].in - c->stride, 0};
            else
                in[f * window + k] = (tz_view){
                    moved(of->at, of->row_stride, size, b, call ? call * calls->in_step[f] : 0),
                    of->row_stride};
        }
        for (int k = 0; k < calls->each; k++) {
            const tz_target *of = &calls->span->out[f * calls->slabs + first + k];
            if (other && p->stores)
                out[f * calls->each + k] =
                    (tz_target){p->out + PAD + c->stride * (s + k) * c->rows, c->stride};
            else
                out[f * calls->each + k] =
                    (tz_target){(void *)moved(of->at, of->row_stride, size, b,
                                              call ? call * calls->out_step[f] : 0),
                                of->row_stride};
        }
    }
}

/* `many`: of a span in 2-D with more rows than one, all of a block at once. */
static void run_block(const tz_stage *stage, const tz_row_calls *calls, const cut *c, int radius,
                      bool many, const block *b)
{
    const int fields = stage->stencil->fields_count;
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
    const bool many = stage->dims == 2 && span->rows > 1;
    ptrdiff_t in_step[TZ_FIELDS_MAX], out_step[TZ_FIELDS_MAX];
    tz_row_calls own = *calls;
    cut c;
    if (many) { /* as calls for a row each, whose pointers move on by rows */
        for (int f = 0; f < tz_stencil_fields_all(stage->stencil); f++) {
            const ptrdiff_t size =
                f < stage->stencil->fields_count ? (ptrdiff_t)stage->element_size[f] : 0;
            in_step[f] = span->in[f * own.window].row_stride * size;
            out_step[f] = span->out[f * own.slabs].row_stride * size;
        }
        own.calls = span->rows;
        own.in_step = in_step;
        own.out_step = out_step;
    }
    const int64_t slabs = own.calls * own.slabs, rows = many ? 1 : span->rows;
    cut_calls(stage, pass, span->count, rows, slabs, own.each, scratch, &c);
    for (int64_t y = 0; y < rows; y += c.rows)
        for (int64_t x = 0; x < span->count; x += c.columns)
            for (int64_t s = 0; s < slabs; s += c.slabs) {
                const block b = {.x = x,
                                 .y = y,
                                 .slab = s,
                                 .columns = tz_min(c.columns, span->count - x),
                                 .rows = tz_min(c.rows, rows - y),
                                 .slabs = tz_min(c.slabs, slabs - s)};
                run_block(stage, &own, &c, radius, many, &b);
            }
}
