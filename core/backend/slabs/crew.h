/* Threads that work side by side, one for each slab. */
#ifndef TZ_CORE_BACKEND_SLABS_CREW_H
#define TZ_CORE_BACKEND_SLABS_CREW_H

#include "base/error.h"

typedef struct tz_crew tz_crew;

/* Errors: TZ_MEMORY, also if no threads can be started. */
tz_status tz_crew_create(tz_crew **out, int count, tz_error *error);
void tz_crew_destroy(tz_crew *crew); /* NULL is fine */

/* Call work(context, i) for each i below the crew's count, all at the same time, and wait. Number 0 is
 * called in the calling thread. Each of the others always has the same thread. */
void tz_crew_run(tz_crew *crew, void (*work)(void *context, int i), void *context);

#endif
