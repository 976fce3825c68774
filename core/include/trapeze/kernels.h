/* trapeze/kernels.h: the compiled forms of a cell update. <trapeze/rows.h> generates them; plugin
 * authors need this header only to write a row function by hand. Included by <trapeze/plugin.h>. */
#ifndef TRAPEZE_KERNELS_H
#define TRAPEZE_KERNELS_H

#include <trapeze/types.h>

/* Cells to read: those at one offset from the rows of the span. `at` belongs to the first cell of
 * the first row. The next row is row_stride elements after it. */
typedef struct tz_view {
    const void *at;
    ptrdiff_t row_stride;
} tz_view;

/* Cells to write, in the layout of a tz_view. */
typedef struct tz_target {
    void *at;
    ptrdiff_t row_stride;
} tz_target;

/* A span: `count` elements in x, in each of `rows` rows in y (1 row in 1-D).
 * An element is a cell, or a word of 32 cells for TZ_BITS fields. */
typedef struct tz_span {
    /* [field * window + radius + d]: window = 2*radius + 1, and d is the offset in y (2-D) or z
     * (3-D). A 1-D stencil has window 1. Only rows and planes that the pass reads are valid. */
    const tz_view *in;
    const tz_target *out; /* [field]; valid for the fields that the pass writes */
    const tz_slot *constants;
    int64_t count;
    int64_t rows;
    int64_t x, y, z;    /* coordinates of the first element */
    int64_t step;       /* iterations of the run before this one */
    const void *engine; /* tz_pass.engine */
} tz_span;

/* Advances the cells of one span by one iteration. The CPU backend calls it on many threads at
 * once. It must be pure: no state, no allocation, and for a cell the bits that the cell function
 * gives, whatever the span. What it writes never overlaps what it reads; but if tz_pass.slabs is
 * not 0, a field that is read in the cell itself alone may be written where it is read. The engine
 * compares the two functions when it loads the plugin, on made-up values. */
typedef void tz_row_fn(const tz_span *span);

/* The row functions of tz_pass.in_place advance several slabs at once, rows in 2-D and planes in
 * 3-D, which makes less traffic between registers and caches: tz_pass.slabs of them. Their span has
 * a view for each slab around them, in[field * (window + slabs - 1) + radius + s + d] for slab s,
 * and a target for each slab, out[field * slabs + s]. All are memory, also of what is not read or
 * written. In 2-D `rows` counts groups of that many rows, and row_stride leads from a group to the
 * next one; with tz_pass.slabs 0 `rows` is 1. y (2-D) or z (3-D) is that of slab 0. A function may
 * read 2 * TZ_COLUMNS_IN_PLACE columns before and after those of a row. */
#define TZ_SLABS_IN_PLACE_MAX 4
#define TZ_COLUMNS_IN_PLACE 16
/* So many if tz_pass.slabs is 0, as in plugins before 2.5. */
#define TZ_SLABS_IN_PLACE(dims) ((dims) == 2 ? 4 : 2)
/* Those of tz_pass.together, which plugins before 2.5 have. */
#define TZ_SLABS_TOGETHER 2

/* The argument of a tz_cell_fn: functions that return pointers to the cells to read and write. */
typedef struct tz_cell_access {
    const void *(*read)(const struct tz_cell_access *access, int field, int dx, int dy, int dz);
    void *(*write)(const struct tz_cell_access *access, int field);
    const tz_slot *constants;
    int64_t x, y, z;
    int64_t step;
    const void *engine; /* tz_pass.engine */
} tz_cell_access;

/* Advances one cell (or one word) by one iteration, with all values from `access`. The reference
 * backend uses it. The engine also calls it, with made-up values, to find out what an update reads
 * and writes: when it loads the plugin, to refuse what is not declared. On any thread; pure. */
typedef void tz_cell_fn(const tz_cell_access *access);

/* The row functions of one instruction set: "base" (the compiler's default; NEON on AArch64),
 * "x86-64-v3" (AVX2, FMA and BMI2) or "x86-64-v4" (AVX-512 F, BW, DQ and VL). The engine uses the
 * best that it knows and that the machine has, and ignores others. */
typedef struct tz_row_form {
    const char *isa;                /* REQUIRED */
    tz_row_fn *rows[TZ_PRECISIONS]; /* NULL: not in this form */
} tz_row_form;

/* All forms of one cell update. REQUIRED: a form "base" and cell[p], for both precisions p if a
 * field or constant of the stencil is TZ_REAL, otherwise for TZ_SINGLE. */
typedef struct tz_kernels {
    int forms_count; /* 1 or more */
    const tz_row_form *forms;
    tz_cell_fn *cell[TZ_PRECISIONS];
} tz_kernels;

/* A field or constant that a text lists. */
typedef struct tz_entry {
    const char *name;
    tz_type type; /* TZ_BITS for a tz_word field, TZ_INT for a tz_word constant */
} tz_entry;

/* The cells around a cell whose values of one field a cell update reads. */
typedef struct tz_reads {
    const char *cell; /* the update's name: tz_pass.text_cell */
    int field;
    int low[TZ_AXES], high[TZ_AXES]; /* offsets, x first: low <= 0 <= high */
} tz_reads;

#endif
