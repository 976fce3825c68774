/* The effect of an instruction on a walk's values (value.h): addresses and counters, not cells. */
#ifndef TZ_CORE_BACKEND_CPU_X86_EXECUTE_H
#define TZ_CORE_BACKEND_CPU_X86_EXECUTE_H

#include "backend/cpu/x86/value.h"

/* Execute any instruction except branches, jumps, calls and returns. */
void tz__execute(tz_walker *w, const tz_instruction *in);
/* Whether a condition holds. The flags must be known. */
bool tz__condition_holds(const tz_walker *w, int condition);

#endif
