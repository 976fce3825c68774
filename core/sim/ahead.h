/* What a simulation does in a thread of its own, beside the script: it compiles the kernel of its
 * first plan; and with the backend "auto" it gets a GPU ready, on which the run may go on.
 *
 * With "auto" a simulation begins on the processor, at once. A long run starts the thread, which
 * opens the driver, allocates fields and compiles a kernel. When that is done, and the rest of the
 * run is expected to end sooner on the GPU, the fields move there between two stages. Fields have
 * the same bits before and after. */
#ifndef TZ_CORE_SIM_AHEAD_H
#define TZ_CORE_SIM_AHEAD_H

#include "policy/wish.h"
#include "sim/state.h"

/* May a simulation of this description, whose backend is not named, begin on the processor and move
 * to `gpu`? Else it stays where it begins. */
bool tz__may_move(const tz_simulation *simulation, const tz_simulation_config *config,
                  const tz_backend *gpu);
/* The thread starts when a run is long enough. Errors: TZ_MEMORY. */
tz_status tz__ahead_to_move(tz_simulation *simulation, const tz_backend *gpu,
                            const tz_plan_wish *wish, tz_error *error);
/* Compile the kernel of the first plan, if the backend compiles. A failure shows when a stage
 * compiles the kernel. */
void tz__ahead_compile(tz_simulation *simulation);
void tz__ahead_destroy(tz_ahead *ahead); /* NULL is fine */

/* Before a stage of a simulation that may move. `left`: iterations that are known to come; 0: not
 * known. Moves it, or starts the thread for that, or does nothing: if the GPU fails, the fields are
 * where they were. Errors: those of the policy; TZ_MEMORY. */
tz_status tz__ahead_move(tz_simulation *simulation, int64_t left, tz_error *error);
/* It may, and has not decided yet. */
bool tz__ahead_may_move(const tz_simulation *simulation);
/* Before the first stage: wait for its kernel. Errors: those of compiling it. */
tz_status tz__ahead_wait(tz_simulation *simulation, tz_error *error);
/* The most iterations of the next call of the backend, so that it ends soon. */
int64_t tz__ahead_longest(const tz_simulation *simulation);
/* After a call of the backend. */
void tz__ahead_timed(tz_simulation *simulation, int64_t iterations, double seconds);

/* Move now, and wait for that, if it is possible: the caller wants what only a GPU has. */
tz_status tz__move_now(tz_simulation *simulation, tz_error *error);

#endif
