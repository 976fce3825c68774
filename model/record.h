/* Records: text files that describe a device or a paper's benchmark. Each number has a unit and a
 * source. This header reads and writes both kinds; device.h and benchmark.h list their keys.
 *
 *     # a comment
 *     name             = gtx280
 *     clock            = 1.3 GHz      # Meng and Skadron 2009, table 1
 *     memory_latency   = 300 cycles   # Meng and Skadron 2009, section 4.2
 *
 * Each line gives one number: KEY = VALUE [UNIT] # SOURCE. The source is required. A source that
 * begins with "assumed" marks a number that was neither published nor measured; predictions report
 * it. A number has a unit exactly if its quantity has units (below). A time may be given in cycles
 * of the record's own clock.
 *
 * The functions here work on text in memory: they open no files. */
#ifndef TZ_MODEL_RECORD_H
#define TZ_MODEL_RECORD_H

#include "base/error.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    TZ_MODEL_NAME_SIZE = 64,
    TZ_MODEL_SOURCE_SIZE = 160,
    TZ_MODEL_KEYS_MAX = 192,            /* of a kind of record */
    TZ_MODEL_RECORD_BYTES_MAX = 1 << 20 /* of a file; longer ones are refused */
};

/* A number of a record. All zero: not known. */
typedef struct tz_model_number {
    double value; /* in the unit that the member's name ends with */
    bool known;
    bool assumed; /* neither published nor measured: the source begins with "assumed" */
    char source[TZ_MODEL_SOURCE_SIZE];
} tz_model_number;

typedef enum tz_model_quantity {
    TZ_MODEL_TEXT,      /* everything up to '#'; no source needed */
    TZ_MODEL_COUNT,     /* an integer without a unit */
    TZ_MODEL_RATIO,     /* any number without a unit */
    TZ_MODEL_FREQUENCY, /* kept in Hz; also kHz, MHz, GHz */
    TZ_MODEL_BANDWIDTH, /* kept in B/s; also kB/s, MB/s, GB/s, TB/s, GiB/s */
    TZ_MODEL_BYTES,     /* kept in B; also kB, MB, GB, KiB, MiB, GiB */
    TZ_MODEL_TIME,      /* kept in s; also ms, us, ns, and cycles of the record's clock */
    TZ_MODEL_POWER,     /* kept in W; also mW, kW */
    TZ_MODEL_ENERGY     /* kept in J; also mJ, uJ, nJ, pJ */
} tz_model_quantity;

/* A key of a kind of record. The first key is the record's name. */
typedef struct tz_model_key {
    const char *name; /* in files */
    tz_model_quantity quantity;
    size_t offset;   /* of the tz_model_number, or of a char[TZ_MODEL_NAME_SIZE] */
    double min, max; /* inclusive, in the kept unit */
    const char *doc; /* one line, with the symbol that papers use */
    double assumed;  /* used if a record lacks the number; NAN: models then refuse */
} tz_model_key;

/* The two keys that every kind of record begins with, for a struct `type` with these members. */
#define TZ_MODEL_NAME_KEYS(type)                                                                   \
    {"name", TZ_MODEL_TEXT, offsetof(type, name), 0, 0, "what a user writes", NAN},                \
        {"title", TZ_MODEL_TEXT, offsetof(type, title), 0, 0, "the full name", NAN},

/* Parse `length` bytes of text into a record of `size` bytes. `path` names the text in messages.
 *
 * Errors, with PATH:LINE as their place: TZ_FORMAT (no '=', no number, unit missing or of another
 * quantity, no source, a key given twice, a byte that is no text, cycles without a clock; with PATH
 * alone: no name), TZ_UNKNOWN (key; the nearest known one is named), TZ_RANGE. TZ_MEMORY. On error
 * the record is left zeroed. */
tz_status tz__record_parse(const tz_model_key *keys, size_t count, void *record, size_t size,
                           const char *path, const char *text, size_t length, tz_error *error);

/* The record as text, which tz__record_parse() reads back as the same record, bit for bit. Each
 * number is in the unit that makes it shortest. Each key takes less than TZ__RECORD_LINE_SIZE
 * bytes. Errors: TZ_FORMAT (no name, or a known number without a source; `text` is then ""),
 * TZ_MEMORY. */
enum { TZ__RECORD_LINE_SIZE = 256 };
tz_status tz__record_text(const tz_model_key *keys, size_t count, const void *record, char *text,
                          tz_error *error);

#endif
