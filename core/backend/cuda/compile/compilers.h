/* The compilers of this process: programs (helper.c) that have NVRTC open and compile one source
 * after the other. Any thread may call any function at any time. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_COMPILERS_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_COMPILERS_H

#include "base/cancel.h"
#include "base/error.h"
#include <stdint.h>

/* A named text that a source includes. */
typedef struct tz_cuda_header {
    const char *name, *text;
} tz_cuda_header;

/* Start one, unless there is one, and return at once: it is then ready when a source comes. */
void tz_cuda_compilers_begin(void);
/* End those that have nothing to do. They keep their memory for the next source, and end by
 * themselves after a minute. */
void tz_cuda_compilers_end(void);
/* How many of tz_cuda_compile() work at once; 0: half of the processors that this process may
 * use. Seconds that a source may take; 0: 300. */
void tz_cuda_compilers_limit(int at_once, double seconds);
int tz_cuda_compilers_at_once(void);

typedef struct tz__nvrtc {
    int major;
    char version[32]; /* "13.0" */
    char library[128];
} tz__nvrtc;

/* What NVRTC this machine has. The first call starts a compiler, unless one has been started, and
 * waits for it. TZ_UNSUPPORTED names what is missing: NVRTC, or the program. */
tz_status tz__compilers_look(tz__nvrtc *out, tz_error *error);

typedef struct tz__compile_order {
    bool ptx;                   /* else a cubin */
    const char *const *options; /* the first is --gpu-architecture=… */
    int options_count;
    const char *source;
    const tz_cuda_header *headers;
    size_t headers_count;
    const tz_cancel *cancel; /* NULL: never */
    bool at_once;            /* else it waits until fewer are at work than may be */
} tz__compile_order;

/* Compile. *out is malloc'd. Errors as of tz_cuda_compile(). */
tz_status tz__compilers_compile(const tz__compile_order *order, void **out, size_t *bytes,
                                tz_error *error);

/* ---- Messages to and from helper.c ----------------------------------------------------------- */

/* What Trapeze and its helper program trapeze-compile (helper.c) say to each other, on the socket
 * that is the program's input. A message is a head and so many bytes. The helper speaks first: its
 * greeting. Then each request has one reply. */

/* Change the last character with the format. */
#define TZ__WIRE_MAGIC "TZC1"

typedef struct tz__wire_head {
    char magic[4];
    /* Of a request a tz__wire_product, else a tz_status. */
    int32_t word;
    /* Texts end with '\0'.
     *
     * Greeting: the version and name of NVRTC, "13.0" and "libnvrtc.so.13". Request: options, the
     * first of which is --gpu-architecture, then an empty text, the source, and the name and text
     * of each header. Reply: the product. If `word` is an error, greeting and reply are the place
     * and the message. */
    uint64_t bytes;
} tz__wire_head;

enum { TZ__WIRE_BYTES_MAX = 1 << 30 };

typedef enum tz__wire_product { TZ__WIRE_CUBIN, TZ__WIRE_PTX } tz__wire_product;

#endif
