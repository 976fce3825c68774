/* trapeze/status.h: what a call of the library came to. Included by <trapeze/trapeze.h>. */
#ifndef TRAPEZE_STATUS_H
#define TRAPEZE_STATUS_H

/* The numbers stay as they are in later versions. */
typedef enum tz_status {
    TZ_OK,
    TZ_USAGE,
    TZ_MEMORY,
    TZ_IO,
    TZ_FORMAT, /* malformed data */
    TZ_SHAPE,
    TZ_TYPE,
    TZ_RANGE,    /* a value is out of range */
    TZ_UNKNOWN,  /* a name is not known */
    TZ_UNSTABLE, /* the time step is too large */
    TZ_DIVERGED,
    TZ_PLUGIN,  /* a plugin was refused */
    TZ_BACKEND, /* a backend failed */
    TZ_SCRIPT,  /* a scenario failed */
    TZ_EXPECT,  /* an expectation of a scenario failed */
    TZ_INTERRUPTED,
    TZ_UNSUPPORTED
} tz_status;

typedef struct tz_error {
    tz_status code;
    char place[512]; /* "" if there is none */
    /* one line, or three of a formula, which show where; no final full stop or newline */
    char message[1536];
} tz_error;

#endif
