/* Appends entries to the journal's buffer and file, and reads them back. Called by recall.c for
 * entries, checkpoint.c to save and to replay, and scenario.c, which owns the journal. */
#include "lua/journal.h"

#include "base/file.h"
#include "base/text.h"
#include "sim/checkpoint_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 8,
    MEMORY_BYTES_MAX = 16 << 20, /* of a journal without a file */
    ENTRY_BYTES_MAX = 260 << 20,
    BUFFER_BYTES = 1 << 20 /* of one with a file, before it is written */
};

static const int64_t FILE_BYTES_MAX = INT64_C(8) << 30;

struct tz_journal {
    char path[PATH_MAX];
    int file;        /* -1: none */
    int64_t written; /* bytes in the file */
    uint64_t sum;    /* of all entries */
    tz_buffer kept;  /* to be written; or, when it is read, all of it */
    size_t at;       /* reading: the next entry */
    tz_error why;    /* code TZ_OK: it is whole */
};

tz_journal *tz_journal_create(void)
{
    tz_journal *journal = calloc(1, sizeof *journal);
    if (journal)
        journal->file = -1;
    return journal;
}

void tz_journal_destroy(tz_journal *journal)
{
    if (!journal)
        return;
    if (journal->file >= 0)
        close(journal->file);
    free(journal->kept.text);
    free(journal);
}

tz_status tz_journal_check(const tz_journal *journal, tz_error *error)
{
    if (journal->why.code && error)
        *error = journal->why;
    return journal->why.code;
}

size_t tz_journal_room(const tz_journal *journal)
{
    return journal->why.code   ? 0
           : journal->file < 0 ? MEMORY_BYTES_MAX - journal->kept.length
                               : ENTRY_BYTES_MAX;
}

/* Write the buffer to the file. */
static tz_status write_out(tz_journal *journal)
{
    if (!journal->why.code && tz_file_put(journal->file, journal->kept.text, journal->kept.length,
                                          journal->written) < journal->kept.length)
        tz_error_set_errno(&journal->why, errno, journal->path, "cannot write the journal");
    if (journal->why.code)
        return journal->why.code;
    journal->written += (int64_t)journal->kept.length;
    journal->kept.length = 0;
    return TZ_OK;
}

void tz_journal_add(tz_journal *journal, tz_entry_kind kind, const void *data, size_t bytes)
{
    tz_buffer *kept = &journal->kept;
    const size_t padded = (bytes + 7) / 8 * 8, total = HEAD_BYTES + padded;
    if (journal->why.code)
        return;
    if (bytes > ENTRY_BYTES_MAX ||
        journal->written + (int64_t)journal->kept.length > FILE_BYTES_MAX) {
        tz_error_set(&journal->why, TZ_RANGE, NULL, "the script has read too much to keep it");
        return;
    }
    if (journal->file < 0 && journal->kept.length + total > MEMORY_BYTES_MAX) {
        free(journal->kept.text);
        journal->kept = (tz_buffer){.text = NULL};
        tz_error_set(
            &journal->why, TZ_RANGE, NULL,
            "the script had read more than %d MiB before it asked for checkpoints: ask for "
            "them at its beginning, or with --checkpoint",
            MEMORY_BYTES_MAX >> 20);
        return;
    }
    const uint32_t head[2] = {(uint32_t)bytes, (uint32_t)kind};
    const size_t before = kept->length;
    tz_buffer_put(kept, head, HEAD_BYTES);
    tz_buffer_put(kept, data, bytes);
    tz_buffer_put(kept, (char[8]){0}, padded - bytes);
    if (kept->failed) {
        tz_error_set(&journal->why, TZ_MEMORY, NULL, "not enough memory for the journal");
        return;
    }
    journal->sum += tz_file_sum(journal->written + (int64_t)before, kept->text + before, total);
    if (journal->file >= 0 && journal->kept.length >= BUFFER_BYTES)
        write_out(journal);
}

tz_status tz_journal_attach(tz_journal *journal, const char *path, tz_error *error)
{
    if (journal->file >= 0)
        return TZ_OK;
    snprintf(journal->path, sizeof journal->path, "%s", path);
    journal->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    return journal->file >= 0 ? TZ_OK
                              : tz_error_set_errno(error, errno, path, "cannot make the journal");
}

tz_status tz_journal_flush(tz_journal *journal, int64_t *bytes, uint64_t *sum, tz_error *error)
{
    write_out(journal);
    *bytes = journal->written;
    *sum = journal->sum;
    return tz_journal_check(journal, error);
}

tz_status tz_journal_sync(const tz_journal *journal, tz_error *error)
{
    return fsync(journal->file) == 0
               ? TZ_OK
               : tz_error_set_errno(error, errno, journal->path, "cannot sync the journal");
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Every entry lies within the data. */
static bool is_whole(const tz_journal *journal)
{
    size_t at = 0;
    while (journal->kept.length - at >= HEAD_BYTES) {
        uint32_t length, kind;
        memcpy(&length, journal->kept.text + at, sizeof length);
        memcpy(&kind, journal->kept.text + at + 4, sizeof kind);
        const size_t padded = ((size_t)length + 7) / 8 * 8;
        if (kind < 1 || kind >= TZ_ENTRY_KINDS || padded > journal->kept.length - at - HEAD_BYTES)
            return false;
        at += HEAD_BYTES + padded;
    }
    return at == journal->kept.length;
}

/* Its beginning is read; the rest, if any, does not belong to the checkpoint. */
static tz_status read_all(tz_journal *journal, int64_t bytes, tz_error *error)
{
    size_t size = 0;
    char *data = NULL;
    const tz_status status = tz_file_read(journal->path, SIZE_MAX, &data, &size, error);
    if (status)
        return status;
    journal->kept.text = data;
    if (bytes < 0 || (int64_t)size < bytes)
        return tz_error_set(error, TZ_FORMAT, journal->path,
                            "the journal is damaged: it is cut short");
    journal->kept.length = (size_t)bytes;
    journal->file = open(journal->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    return journal->file >= 0 ? TZ_OK
                              : tz_error_set_errno(error, errno, journal->path, "cannot open");
}

tz_status tz_journal_open(tz_journal **out, const char *path, int64_t bytes, uint64_t sum,
                          tz_error *error)
{
    *out = NULL;
    tz_journal *journal = tz_journal_create();
    if (!journal)
        return tz_error_set(error, TZ_MEMORY, path, "not enough memory for the journal");
    snprintf(journal->path, sizeof journal->path, "%s", path);
    tz_status status = read_all(journal, bytes, error);
    if (!status) {
        journal->sum = tz_file_sum(0, journal->kept.text, journal->kept.length);
        if (journal->sum != sum || !is_whole(journal))
            status = tz_error_set(error, TZ_FORMAT, path,
                                  "the journal is damaged: its checksum is wrong");
    }
    if (status)
        tz_journal_destroy(journal);
    else
        *out = journal;
    return status;
}

static bool entry_at(const tz_journal *journal, size_t at, tz_journal_entry *out)
{
    uint32_t length, kind;
    if (at >= journal->kept.length)
        return false;
    memcpy(&length, journal->kept.text + at, sizeof length);
    memcpy(&kind, journal->kept.text + at + 4, sizeof kind);
    *out = (tz_journal_entry){.kind = (tz_entry_kind)kind,
                              .data = (const unsigned char *)journal->kept.text + at + HEAD_BYTES,
                              .bytes = length,
                              .end = (int64_t)(at + HEAD_BYTES + ((size_t)length + 7) / 8 * 8)};
    return true;
}

bool tz_journal_peek(const tz_journal *journal, tz_journal_entry *out)
{
    return entry_at(journal, journal->at, out);
}

bool tz_journal_next(tz_journal_reader *reader, tz_journal_entry *out)
{
    if (!entry_at(reader->journal, reader->at, out))
        return false;
    reader->at = (size_t)out->end;
    return true;
}

void tz_journal_skip(tz_journal *journal)
{
    tz_journal_entry entry;
    if (tz_journal_peek(journal, &entry))
        journal->at = (size_t)entry.end;
}

tz_status tz_journal_go_on(tz_journal *journal, tz_error *error)
{
    journal->written = (int64_t)journal->at;
    journal->sum = tz_file_sum(0, journal->kept.text, journal->at);
    free(journal->kept.text);
    journal->kept = (tz_buffer){.text = NULL};
    journal->at = 0;
    return ftruncate(journal->file, (off_t)journal->written) == 0
               ? TZ_OK
               : tz_error_set_errno(error, errno, journal->path, "cannot cut the journal");
}
