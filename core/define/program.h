/* A cell update as a list of operations on rows of cells: formulas computed without a compiler,
 * with the bits that the text of emit.h has. */
#ifndef TZ_CORE_DEFINE_PROGRAM_H
#define TZ_CORE_DEFINE_PROGRAM_H

#include "define/build.h"
#include "define/emit.h"

typedef struct tz_program tz_program;

/* The program of a pass whose values are these nodes, one for each field that it writes; `framed`:
 * those near sides (build->frame), or NULL. The constants are those of `emit`. NULL: no memory. */
tz_program *tz_program_create(const tz_build *build, const tz_emit *emit, const tz_built_pass *pass,
                              const int *nodes, const int *framed);
/* NULL is fine. */
void tz_program_destroy(tz_program *program);

/* The functions of a pass whose tz_pass.engine is a tz_program, with or without reals. */
const tz_kernels *tz_program_kernels(bool has_real);

#endif
