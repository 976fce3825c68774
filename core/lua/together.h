/* Scenarios of several ranks (base/ranks.h). All ranks run the same script, so whatever a script can
 * ask must have the same answer for all: what depends on the machine or the clock is rank 0's. All
 * functions are collective, and do nothing more in a process that runs alone. */
#ifndef TZ_CORE_LUA_TOGETHER_H
#define TZ_CORE_LUA_TOGETHER_H

#include "lua/context.h"

/* The ranks of a script; NULL: it runs alone. */
const tz_ranks *tz_ranks_of(lua_State *L);
/* Does this process write files and print? Not collective. */
bool tz_leads(lua_State *L);

/* Refuse to start unless version, script, options and plugins are the same on all ranks.
 * TZ_UNSUPPORTED, with the rank and what differs. */
tz_status tz_together_compare(const tz_context *context, tz_error *error);

/* All ranks have come to the end of their script. Returns the same status for all. If this one has
 * failed and the others do not come, the job ends with its error. */
tz_status tz_together_end(const tz_ranks *ranks, tz_status status, tz_error *error);

/* tz_interrupt_signal(), for all ranks the same. They ask each other about every tenth of a second. */
int tz_together_signal(tz_context *context);

/* The `count` values on the top of the stack become those of rank 0: nil, booleans, numbers, texts,
 * and tables of them. Other values become nil. */
void tz_together_agree(lua_State *L, int count);

/* Rank 0 alone calls the function, with the arguments on the stack; all get its results, or its
 * error. It may return what tz_together_agree() takes. Returns how many results there are. */
int tz_together_lead(lua_State *L, lua_CFunction function);

/* Raise unless the file is the same for all ranks, or missing for all: large files are compared in
 * part. */
void tz_together_check_file(lua_State *L, const char *path);

/* Replace the functions of Lua's libraries whose results would differ between ranks: clocks, random
 * seeds, and the order of pairs(). */
void tz_together_patch(lua_State *L);

#endif
