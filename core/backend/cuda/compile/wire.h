/* What Trapeze and its helper program trapeze-compile (helper.c) say to each other, on the socket
 * that is the program's input. A message is a head and so many bytes. The helper speaks first: its
 * greeting. Then each request has one reply. */
#ifndef TZ_CORE_BACKEND_CUDA_COMPILE_WIRE_H
#define TZ_CORE_BACKEND_CUDA_COMPILE_WIRE_H

#include <stdint.h>

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
