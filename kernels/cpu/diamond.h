/* kernels/cpu: the family "diamond", which computes no cell twice.
 *
 * A stage keeps each state field in two arrays, and each level (a pass of an iteration) reads one
 * and writes the other. The grid is cut into tiles along y (in 1-D along x). The edge between two
 * tiles moves to one side from level to level, as far as a pass reads, and then back: every other
 * tile grows while its neighbours shrink. In y and time such a tile is a diamond, from where it is
 * narrowest to where it is so again: a row of diamonds is a phase. A diamond needs its two
 * neighbours of the phase before, and waits for nothing else: there are no barriers within a stage.
 * Threads take diamonds in order, so slow processors compute fewer of them.
 *
 * Within a diamond the levels follow each other along the last axis that is left: a level computes
 * some planes (in 2-D some columns), and the next level as many behind them. So the cells stay in
 * cache. If that axis is periodic, what this leaves open at its two sides is computed at the end.
 *
 * Tiles of a periodic axis are a ring of an even number. A stage whose grid is too small for
 * several tiles has one, for one thread. Rows of bits and rows in 3-D are not cut.
 *
 * Bandishti, Pananilath and Bondhugula (SC 2012, doi:10.1109/SC.2012.107) tile in diamonds; Malas
 * and others (SIAM Journal on Scientific Computing 37, 2015, doi:10.1137/140991133) combine them
 * with a wavefront along z.
 *
 * Meaning of tz_stage.tile here: tile[1] (in 1-D tile[0]) is the extent of a diamond where it is
 * widest. In 2-D, tile[0] is the columns that a level computes before the next one does, in 3-D
 * tz_stage.batch is the planes. */
#ifndef TZ_KERNELS_CPU_DIAMOND_H
#define TZ_KERNELS_CPU_DIAMOND_H

#include "kernels/cpu/stage.h"

/* The size of the work of a stage, from geometry alone. `ring_bytes`: what the cells of all levels
 * of a diamond take at a time, in all arrays. */
void tz_diamond_count(const tz_stage *stage, tz_stage_counts *out);

/* The fields that a pass writes and that take over what another field was (tz_stencil_takes), if it
 * writes that one, too: in all iterations of a stage but the last they get that field's array, and
 * nothing is copied. A mask. */
uint32_t tz_diamond_lost(const tz_stencil *stencil, const tz_pass *pass);

/* The fields that a pass writes where they are, in all iterations of a stage but the last: it reads
 * them in the cell itself alone. A mask. */
uint32_t tz_diamond_stays(const tz_stencil *stencil, const tz_pass *pass);

/* How many arrays of a field are in use, but in the last iteration of a stage: 2 of a state field,
 * 1 if it takes over another one's values or stays where it is; 1 of a static field. */
int tz_diamond_arrays_used(const tz_stencil *stencil, int field);

/* Bytes for each thread that tz_stage.spare must have. */
size_t tz_diamond_spare_bytes(const tz_stage *stage);

/* Numbers of arrays: 2 f is stage->in[f], 2 f + 1 is stage->out[f]. */
typedef struct tz_diamond_arrays {
    uint8_t values[TZ_FIELDS_MAX]; /* of the field */
    uint8_t before[TZ_FIELDS_MAX]; /* of a field that is written, before the last iteration */
} tz_diamond_arrays;

/* Run one stage. Returns where the fields are then: maybe in an array that another field had.
 * Allocates nothing. */
tz_diamond_arrays tz_diamond_run(const tz_stage *stage);

#endif
