/* Readers of files, and how to damage their inputs. main.c says how a reader is tested. */
#ifndef TZ_TEST_FUZZ_FUZZ_H
#define TZ_TEST_FUZZ_FUZZ_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_BYTES_MAX = 1 << 17 }; /* of an input */

/* An input. */
typedef struct fuzz_bytes {
    size_t size;
    unsigned char data[FUZZ_BYTES_MAX];
} fuzz_bytes;

typedef struct fuzz_reader {
    const char *name; /* of the reader, for the command line */
    const char *file; /* the name of its input; may be in a folder */
    int weight;       /* its part of all inputs */
    /* Of 1000 inputs that are no seed it accepts so many or more: a third of what it does. 0: it
     * may accept none. */
    int least_passed;
    /* Bytes that it may allocate: a base, and so many for each byte of its input. */
    size_t base_bytes, bytes_per_byte;
    bool expands; /* a short input may describe much: it gets no more than that, and must say so */
    const char *words; /* parts of the format, with | between them */
    /* Whole files, NULL ends them; or NULL: there are none but those of seed(). */
    const char *const *texts;
    /* Write seed number `index`, a whole file, as our own writers write it. False: there are no
     * more. NULL: there are only texts. */
    bool (*seed)(int index, const char *path);
    /* Make checksums and sizes right again, so that a damage gets past them. NULL: there are
     * none. */
    void (*mend)(fuzz_bytes *bytes, uint64_t *random);
    /* Read the file. Not TZ_OK: the reader refused it, with a message. What is accepted is checked:
     * it must be whole, and be the same when it is written and read again. A fault calls
     * fuzz_wrong(). */
    tz_status (*read)(const char *path, tz_error *error);
} fuzz_reader;

extern const fuzz_reader fuzz_npy, fuzz_npz, fuzz_vti, fuzz_csv, fuzz_png, fuzz_rle, fuzz_cells,
    fuzz_macrocell, fuzz_life, fuzz_text, fuzz_flp, fuzz_ptrace, fuzz_chip, fuzz_device, fuzz_run,
    fuzz_explain, fuzz_predict, fuzz_memory, fuzz_kernel, fuzz_code, fuzz_formula, fuzz_checkpoint,
    fuzz_journal;

/* Print a fault and end the process. */
void fuzz_wrong(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Write a file, which must work. */
void fuzz_write(const char *path, const void *data, size_t bytes);
void fuzz_write_text(const char *path, const char *text);

/* A name for a file beside the input; valid until the next call. The file is removed if it is
 * there. */
const char *fuzz_beside(const char *path, const char *name);

/* ---- mutate.c ---- */
uint64_t fuzz_random(uint64_t *state);
/* 0 <= result < n; n > 0. */
size_t fuzz_below(uint64_t *state, size_t n);
/* Damage an input a few times; `other` is one to take parts from. */
void fuzz_mutate(fuzz_bytes *bytes, const fuzz_bytes *other, const char *words, uint64_t *random);

#endif
