/* What device text compiled for the host and the executor (simt.h) know of each other. Read by the
 * C compiler and, without any system header, by the C++ compiler of the text. */
#ifndef TZ_SIMT_ABI_H
#define TZ_SIMT_ABI_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where the text calls a function of device.cuh. */
typedef struct simt_place {
    const char *file;
    int line;
} simt_place;

/* What a lane is: of the lane that runs now, without a call. */
typedef struct simt_lane_facts {
    int thread, lane, warp, threads;
    int block[3], blocks[3];
    unsigned char *shared;
} simt_lane_facts;

enum { SIMT_SHUFFLE_UP, SIMT_SHUFFLE_DOWN, SIMT_SHUFFLE_XOR, SIMT_SHUFFLE, SIMT_WARP_WORD };
enum { SIMT_BARRIER = 8, SIMT_BARRIER_WARP, SIMT_BARRIER_GRID, SIMT_PAUSE };
enum { SIMT_ADJACENT_ARRIVE = 12, SIMT_ADJACENT_EVEN, SIMT_ADJACENT_ODD };
enum {
    SIMT_READ,
    SIMT_WRITE,
    SIMT_READ_FRESH, /* what other blocks have written, too */
    SIMT_ATOMIC,
    SIMT_SEND, /* 8 bytes between blocks, atomic */
    SIMT_PEEK
};

/* The executor's half. Each may switch to another lane, or report and not return. */
typedef struct simt_words {
    unsigned long long (*shuffle)(int word, unsigned long long value, int bytes, int n,
                                  simt_place place);
    void (*barrier)(int word, simt_place place);
    void (*grid_barrier)(unsigned int *barrier, simt_place place);
    void (*pause)(simt_place place); /* until others have gone on */
    /* Before `bytes` bytes, `aligned` to so many, are touched in shared or in device memory. A
     * write of device memory passes the value. */
    void (*shared)(int access, const void *at, int bytes, int aligned, simt_place place);
    void (*memory)(int access, const void *at, int bytes, int aligned, const void *value,
                   simt_place place);
    /* From device to shared memory; ends a batch; waits for all batches but the last ones. */
    void (*fetch)(void *to, const void *from, int bytes, simt_place place);
    void (*fetch_end)(simt_place place);
    void (*fetch_wait)(int batches, simt_place place);
} simt_words;

/* A text's half, made by TZ_SIMT_ENTRY(name): the symbol name_simt. */
typedef struct simt_entry {
    void (*attach)(const simt_words *words, const simt_lane_facts ***lane);
    void (*call)(void **arguments); /* as cuLaunchKernel has them */
    int threads;                    /* launch bound */
    int arguments_count;
    int arguments_bytes; /* of the first */
} simt_entry;

#ifdef __cplusplus
}
#endif
#endif
