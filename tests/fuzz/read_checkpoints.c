/* Checkpoints, and the journals that belong to them. */
#include "base/file.h"
#include "lua/journal.h"
#include "sim/checkpoint_file.h"
#include "tests/fuzz/fuzz.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Checkpoints ----------------------------------------------------------------------------- */

static const char checkpoint_words[] =
    "\"bytes\":|\"arrays\":|\"facts\":|[]|{}|null|-1|9223372036854775807|1e400|\"name\":"
    "|" TZ_CHECKPOINT_TITLE "|\"0/u\"";

static void fill(unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 37 + 11);
}

static bool checkpoint_seed(int index, const char *path)
{
    static const int64_t sizes[3] = {64, 0, 5001};
    unsigned char data[5001];
    tz_checkpoint_array arrays[3];
    tz_checkpoint_writer *writer;
    if (index > 3)
        return false;
    json_t *facts =
        json_pack("{s:i, s:[i,i], s:s}", "number", index, "list", 1, 2, "text", "\xc3\xa9");
    for (int i = 0; i < index; i++) {
        snprintf(arrays[i].name, sizeof arrays[i].name, "%d/u", i);
        arrays[i].bytes = sizes[i];
    }
    fill(data, sizeof data);
    bool good = tz_checkpoint_begin(&writer, path, facts, arrays, (size_t)index, NULL) == TZ_OK;
    for (int i = 0; good && i < index; i++)
        good = tz_checkpoint_write(writer, (size_t)i, 0, data, (size_t)sizes[i], NULL) == TZ_OK;
    json_decref(facts);
    return good && tz_checkpoint_commit(writer, NULL) == TZ_OK;
}

/* Make the first line say the length and the checksum of the JSON, which ends before the first
 * zero. The other sums cover the arrays, which are damaged elsewhere. */
static void checkpoint_mend(fuzz_bytes *bytes, uint64_t *random)
{
    enum { LINE = 64 };
    char line[LINE + 1];
    (void)random;
    if (bytes->size <= LINE)
        return;
    const unsigned char *end = memchr(bytes->data + LINE, 0, bytes->size - LINE);
    const size_t length = end ? (size_t)(end - bytes->data) - LINE : bytes->size - LINE;
    const uint64_t sum = tz_file_sum(0, bytes->data + LINE, length);
    snprintf(line, sizeof line, TZ_CHECKPOINT_TITLE " %20zu %016" PRIx64 "     \n", length, sum);
    memcpy(bytes->data, line, LINE);
    /* Without arrays the rest can be right, too. */
    const size_t sums = (LINE + length + 4095) / 4096 * 4096;
    if (sums + 8 == bytes->size)
        memcpy(bytes->data + sums, &sum, sizeof sum);
}

/* Write what was read again: the files are the same in what they say. */
static void check_again(const char *path, tz_checkpoint_reader *reader)
{
    const tz_checkpoint_array *arrays;
    const size_t count = tz_checkpoint_arrays(reader, &arrays);
    const char *copy = fuzz_beside(path, "again");
    tz_checkpoint_writer *writer;
    tz_checkpoint_reader *again;
    if (tz_checkpoint_begin(&writer, copy, tz_checkpoint_facts(reader), arrays, count, NULL) !=
        TZ_OK)
        fuzz_wrong("it cannot be written again");
    for (size_t i = 0; i < count; i++) {
        unsigned char *data = malloc((size_t)arrays[i].bytes + 1);
        if (!data ||
            tz_checkpoint_read(reader, &arrays[i], 0, data, (size_t)arrays[i].bytes, NULL) != TZ_OK)
            fuzz_wrong("array %zu cannot be read", i);
        if (tz_checkpoint_read(reader, &arrays[i], arrays[i].bytes, data, 1, NULL) == TZ_OK)
            fuzz_wrong("array %zu can be read past its end", i);
        tz_checkpoint_write(writer, i, 0, data, (size_t)arrays[i].bytes, NULL);
        free(data);
    }
    if (tz_checkpoint_commit(writer, NULL) != TZ_OK ||
        tz_checkpoint_open(&again, copy, true, NULL) != TZ_OK)
        fuzz_wrong("the copy is refused");
    if (!json_equal((json_t *)tz_checkpoint_facts(again), (json_t *)tz_checkpoint_facts(reader)))
        fuzz_wrong("the copy says something else");
    tz_checkpoint_close(again);
    remove(copy);
}

static tz_status checkpoint_read(const char *path, tz_error *error)
{
    tz_checkpoint_reader *reader;
    const tz_status status = tz_checkpoint_open(&reader, path, true, error);
    if (status)
        return status;
    check_again(path, reader);
    tz_checkpoint_close(reader);
    return TZ_OK;
}

const fuzz_reader fuzz_checkpoint = {.name = "checkpoint",
                                     .file = "1",
                                     .weight = 40,
                                     .least_passed = 15,
                                     .base_bytes = 3 << 20,
                                     .bytes_per_byte = 600,
                                     .words = checkpoint_words,
                                     .seed = checkpoint_seed,
                                     .mend = checkpoint_mend,
                                     .read = checkpoint_read};

/* ---- Journals -------------------------------------------------------------------------------- */

static const char journal_words[] = "\x01|\xff\xff\xff\xff|chip-000100.npy";

static bool journal_seed(int index, const char *path)
{
    unsigned char data[300];
    int64_t bytes;
    uint64_t sum;
    if (index > 2)
        return false;
    tz_journal *journal = tz_journal_create();
    fill(data, sizeof data);
    for (int i = 0; i < 8 * index; i++)
        tz_journal_add(journal, (tz_entry_kind)(1 + i % (TZ_ENTRY_KINDS - 1)), data, (size_t)i * 9);
    const bool good = tz_journal_attach(journal, path, NULL) == TZ_OK &&
                      tz_journal_flush(journal, &bytes, &sum, NULL) == TZ_OK;
    tz_journal_destroy(journal);
    return good;
}

/* The checksum is in another file: each input is given the right one. */
static tz_status journal_read(const char *path, tz_error *error)
{
    static unsigned char data[FUZZ_BYTES_MAX];
    struct stat facts;
    tz_journal *journal;
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    if (file)
        fclose(file);
    if (stat(path, &facts) != 0)
        fuzz_wrong("no file");
    tz_status status =
        tz_journal_open(&journal, path, (int64_t)size, tz_file_sum(0, data, size), error);
    if (status)
        return status;
    tz_journal_entry entry;
    int64_t before = 0;
    while (tz_journal_peek(journal, &entry)) {
        if (entry.end <= before || entry.end > (int64_t)size || entry.end % 8 != 0)
            fuzz_wrong("an entry ends at %lld of %zu", (long long)entry.end, size);
        unsigned char sum = 0;
        for (size_t i = 0; i < entry.bytes; i++)
            sum ^= entry.data[i];
        data[0] ^= sum; /* every byte can be read */
        before = entry.end;
        tz_journal_skip(journal);
    }
    if (before != (int64_t)size)
        fuzz_wrong("the entries end at %lld of %zu", (long long)before, size);
    tz_journal_destroy(journal);
    return TZ_OK;
}

const fuzz_reader fuzz_journal = {.name = "journal",
                                  .file = "journal",
                                  .weight = 20,
                                  .least_passed = 20,
                                  .base_bytes = 1 << 16,
                                  .bytes_per_byte = 1,
                                  .words = journal_words,
                                  .seed = journal_seed,
                                  .read = journal_read};
