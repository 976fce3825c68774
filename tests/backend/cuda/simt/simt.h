/* A machine of warps on one thread of the host, for tests: runs device text that was compiled for
 * the host (build.h) and reports faults that a GPU would not report.
 *
 * Every lane is a fiber; shuffles and barriers hand over. Blocks run one after the other, or all at
 * once where the launch is cooperative. What is checked, and how strictly: simt_finding. */
#ifndef TZ_SIMT_SIMT_H
#define TZ_SIMT_SIMT_H

#include "abi.h"

#include <stdbool.h>
#include <stddef.h>

/* X(name, text): what a launch can do wrong. */
#define SIMT_FINDINGS(X)                                                                           \
    /* Two threads touch 4 bytes of memory, one of them writes, no barrier is between. */          \
    /* Shuffles order nothing; a barrier orders its warp, its block or its grid. */                \
    /* In device memory only packets are seen; writing what is there is no write. */               \
    X(RACE, "race")                                                                                \
    /* A read of shared memory that was not written in this launch. */                             \
    X(UNWRITTEN, "unwritten")                                                                      \
    /* Memory outside the block's shared memory or all buffers; a write to an input; */            \
    /* a packet that is not aligned. */                                                            \
    X(ADDRESS, "address")                                                                          \
    /* A packet that another block wrote in this launch, not read by tz_load_fresh. */             \
    X(STALE, "stale")                                                                              \
    /* Lanes of a warp that do not arrive at the same shuffle or warp barrier. */                  \
    X(LANES, "lanes")                                                                              \
    /* Threads that do not arrive at the same barrier. */                                          \
    X(BARRIER, "barrier")                                                                          \
    /* A lane that runs on without end, or divides by zero. */                                     \
    X(STOPPED, "stopped")                                                                          \
    /* A launch that a GPU refuses. */                                                             \
    X(LAUNCH, "launch")

typedef enum simt_finding {
#define SIMT_FINDING_ENUM(name, text) SIMT_FOUND_##name,
    SIMT_FINDINGS(SIMT_FINDING_ENUM)
#undef SIMT_FINDING_ENUM
        SIMT_FINDINGS_COUNT
} simt_finding;
const char *simt_finding_text(simt_finding finding);

enum { SIMT_MESSAGES = 8, SIMT_MESSAGES_EACH = 2, SIMT_MESSAGE_SIZE = 480 };
typedef struct simt_report {
    long long count[SIMT_FINDINGS_COUNT];
    /* The most lanes of a warp that copied the same cells to shared memory at once: a GPU makes
     * such copies one after the other. Counted on demand, since that takes time. */
    bool counts_alike;
    int alike;
    /* Copies of 16 bytes to shared memory, and those whose place in a sector of 32 bytes is another
     * one there than in device memory: a GPU's second-level cache is asked for the sector twice. */
    long long packets, split;
    int messages;
    char message[SIMT_MESSAGES][SIMT_MESSAGE_SIZE]; /* the first of each kind, a line each */
} simt_report;
/* Adds a finding; the message is kept while there is room. */
void simt_report_add(simt_report *report, simt_finding finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
long long simt_report_total(const simt_report *report);

/* Device memory that packets may touch. */
typedef struct simt_buffer {
    const char *name;
    void *at;
    size_t bytes;
    bool writable;
} simt_buffer;

typedef struct simt_launch {
    int grid[3];
    int threads;
    int shared_bytes;
    bool cooperative;
    bool backwards; /* the last block, warp and lane run first */
    int buffers_count;
    const simt_buffer *buffers;
} simt_launch;

typedef struct simt simt;

simt *simt_create(void); /* NULL: no memory */
void simt_destroy(simt *machine);

/* Runs a launch to its end, or to the first finding after which it cannot go on (false). One launch
 * at a time in a process. `arguments` as cuLaunchKernel has them. */
bool simt_run(simt *machine, const simt_entry *kernel, const simt_launch *launch, void **arguments,
              simt_report *report);

#endif
