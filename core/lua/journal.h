/* The journal of a script: what its calls gave it, so that it can be run again up to a checkpoint
 * without computing. recall.h decides what goes into it.
 *
 * A journal is a file of entries, each 8 bytes (length of the data, kind) and data, filled up to a
 * multiple of 8. It stays in memory until it gets a file. */
#ifndef TZ_CORE_LUA_JOURNAL_H
#define TZ_CORE_LUA_JOURNAL_H

#include "base/error.h"
#include <stdint.h>

typedef enum tz_entry_kind {
    TZ_ENTRY_RESULT = 1, /* what a call gave */
    TZ_ENTRY_CALL,       /* a call that is made again */
    TZ_ENTRY_VALUE,      /* a number or text that differs from run to run */
    TZ_ENTRY_FIRE,       /* a run called a function of the script */
    TZ_ENTRY_POLICY,     /* a run asked the script's policy */
    TZ_ENTRY_END,        /* of a run */
    TZ_ENTRY_WRITTEN,    /* sim:write */
    TZ_ENTRY_CREATED,    /* tz.simulation */
    TZ_ENTRY_FILE,       /* a file of the run folder, from now on */
    TZ_ENTRY_INPUT,      /* a file that was read */
    TZ_ENTRY_CHECKPOINT, /* one was written here */
    TZ_ENTRY_KINDS
} tz_entry_kind;

typedef struct tz_journal_entry {
    tz_entry_kind kind;
    const unsigned char *data; /* borrowed */
    size_t bytes;
    int64_t end; /* offset of the next entry */
} tz_journal_entry;

typedef struct tz_journal tz_journal;

/* ---- Writing --------------------------------------------------------------------------------- */

/* An empty journal in memory. NULL: not enough memory. */
tz_journal *tz_journal_create(void);
void tz_journal_destroy(tz_journal *journal); /* NULL is fine */

/* Add an entry. What keeps a journal from going on (memory, disk, too much without a file) is kept
 * for tz_journal_check(). */
void tz_journal_add(tz_journal *journal, tz_entry_kind kind, const void *data, size_t bytes);
/* Give it a file, which must not exist, or is replaced. Does nothing if it has one. */
tz_status tz_journal_attach(tz_journal *journal, const char *path, tz_error *error);
/* The most bytes that an entry may have now; 0: it has failed, and takes no more. */
size_t tz_journal_room(const tz_journal *journal);
/* Everything added so far is whole: otherwise the first error. */
tz_status tz_journal_check(const tz_journal *journal, tz_error *error);
/* Hand everything to the system: its bytes and checksum so far. */
tz_status tz_journal_flush(tz_journal *journal, int64_t *bytes, uint64_t *sum, tz_error *error);
/* Wait until what was flushed is on the disk. [any thread] */
tz_status tz_journal_sync(const tz_journal *journal, tz_error *error);

/* ---- Reading --------------------------------------------------------------------------------- */

/* A journal to read: the first `bytes` of a file, with that checksum. TZ_IO, TZ_FORMAT,
 * TZ_MEMORY. */
tz_status tz_journal_open(tz_journal **out, const char *path, int64_t bytes, uint64_t sum,
                          tz_error *error);
/* The next entry, without taking it. False at the end. */
bool tz_journal_peek(const tz_journal *journal, tz_journal_entry *out);
void tz_journal_skip(tz_journal *journal);
/* The same from the beginning, whatever was read. */
typedef struct tz_journal_reader {
    const tz_journal *journal;
    size_t at;
} tz_journal_reader;
bool tz_journal_next(tz_journal_reader *reader, tz_journal_entry *out);
/* Cut the file after what was read, and go on writing there. */
tz_status tz_journal_go_on(tz_journal *journal, tz_error *error);

#endif
