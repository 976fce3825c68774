/* Link records: what joins devices that are not in this machine. record.h has the format. */
#ifndef TZ_MODEL_LINK_H
#define TZ_MODEL_LINK_H

#include "model/device.h"
#include "model/exchange.h"

/* X(member, key, quantity, min, max, doc) */
#define TZ_MODEL_LINK_TABLE(X)                                                                     \
    X(latency_s, "latency", TIME, 0, 1, "an exchange of ghost zones of a few bytes")               \
    X(bandwidth_bytes_per_s, "bandwidth", BANDWIDTH, 1, 1e18,                                      \
      "what a device receives in an exchange of many bytes")

typedef struct tz_model_link {
    char name[TZ_MODEL_NAME_SIZE];
    char title[TZ_MODEL_NAME_SIZE];
#define TZ_MODEL_LINK_MEMBER(member, key, quantity, min, max, doc) tz_model_number member;
    TZ_MODEL_LINK_TABLE(TZ_MODEL_LINK_MEMBER)
#undef TZ_MODEL_LINK_MEMBER
} tz_model_link;

/* A record's text as a link. `path` names the text in messages. Errors of tz__record_parse();
 * TZ_FORMAT, too, if a number is missing. */
tz_status tz_model_link_parse(const char *path, const char *text, size_t length, tz_model_link *out,
                              tz_error *error);

/* The links in a device's record, by name: "peer", "host" or "mpi"; NULL or "": "peer" if the
 * record has it, else "host". *assumed: the record lacks a number, and an assumed one stands for
 * it. Errors: TZ_UNKNOWN; TZ_UNSUPPORTED if the record lacks the link. */
tz_status tz_model_link_of(const tz_model_device *device, const char *name, tz_model_link *out,
                           bool *assumed, tz_error *error);

#endif
