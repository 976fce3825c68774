/* Running a script again up to a checkpoint. docs/checkpoints.md says how it looks to users.
 *
 * While a script runs, the journal records what its calls gave that depends on computed fields, on
 * time or on the machine (tz_api_function.recall says which). A run that goes on from a checkpoint
 * runs the script again from its start: these calls are answered from the journal, and runs compute
 * nothing, but call the functions of the script that they called before. At the checkpoint the
 * fields are loaded (checkpoint.h), and from there on everything is computed again.
 *
 * So a script must do the same again when it gets the same. A call that differs from the one in the
 * journal ends the run, with the script's line.
 *
 * Here are the entries and the failures of a replay, for all files that add to the journal. Calls
 * are in api.h. */
#ifndef TZ_CORE_LUA_RECALL_H
#define TZ_CORE_LUA_RECALL_H

#include "base/text.h"
#include "lua/context.h"
#include <stdnoreturn.h>

/* Is this a run that records, or one that is replayed? Neither: the script is only checked. */
static inline bool tz_recall_records(const tz_context *context)
{
    return context->recall.mode == TZ_RECALL_RECORDS;
}
static inline bool tz_recall_replays(const tz_context *context)
{
    return context->recall.mode == TZ_RECALL_REPLAYS;
}

/* From now on no checkpoint is written: `what`, which the script just did, cannot be replayed. */
void tz_recall_taint(lua_State *L, const char *what);

/* A file of the run folder: it stays when the run goes on from a checkpoint after this. */
void tz_recall_file(tz_context *context, const char *name);
/* A warning if files that the journal names are gone from the folder of the run that goes on. */
void tz_recall_look_for_files(tz_context *context);

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* Bytes that are read. After a failure all values are 0 or "". */
typedef struct tz_reading {
    const unsigned char *at, *end;
    bool failed; /* they end too early, or are no values */
} tz_reading;

void tz_reading_get(tz_reading *reading, void *data, size_t count);
/* The values of a format, each by its address: u: uint32_t, i: int64_t, d: double, I: int64_t and
 * how many, s: a text and the size of its room, to which it is cut. */
void tz_reading_unpack(tz_reading *reading, const char *format, ...);

/* Arrays of more bytes than this are not kept. */
enum { TZ_VALUES_ARRAY_BYTES_MAX = 256 << 20 };

/* The bytes of the arrays among `count` values from stack index `first` on, without those in
 * tables. */
size_t tz_values_array_bytes(lua_State *L, int first, int count);

/* Add `count` values from stack index `first` on: nil, booleans, numbers, texts, arrays, and plain
 * tables of these. NULL, or why they cannot be kept (static). */
const char *tz_values_put(lua_State *L, int first, int count, tz_buffer *bytes);
/* Push the values that were put. Returns their number; -1: the bytes are damaged. Raises when
 * memory runs out. */
int tz_values_push(lua_State *L, tz_reading *reading);

/* ---- Entries of other functions -------------------------------------------------------------- */

/* Add an entry of such values, if this run records. */
void tz_recall_put(tz_context *context, tz_entry_kind kind, const char *format, ...);
/* The same of bytes. */
void tz_recall_add(tz_context *context, tz_entry_kind kind, const tz_buffer *bytes);
/* In a replay: the next entry, which tz_recall_skip() takes. Passes over those for files and older
 * checkpoints. False at the checkpoint that the run goes on from, and past the end. */
bool tz_recall_peek(tz_context *context, tz_journal_entry *entry);
void tz_recall_skip(tz_context *context);
/* Take the next entry, which must be of that kind: raises otherwise. `what` is the call. */
void tz_recall_take(lua_State *L, tz_entry_kind kind, const char *what, tz_reading *reading);

/* The same without raising: fills `error` and returns TZ_SCRIPT. Every call raises from now on. */
tz_status tz_recall_break(lua_State *L, tz_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The script did something else than before: the run ends. Raises. */
noreturn void tz_recall_refuse(lua_State *L, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
