/* What the parts of the probe share. */
#ifndef TZ_CORE_STENCIL_PROBE_IMPL_H
#define TZ_CORE_STENCIL_PROBE_IMPL_H

#include "stencil/probe.h"

/* An element of a field. */
typedef union tz__element {
    float f;
    double d;
    int32_t i;
    uint32_t w;
} tz__element;

/* A pass in one precision, with the constants that it is called with. */
typedef struct tz__probe {
    const tz_stencil *stencil;
    const tz_pass *pass;
    tz_precision precision;
    const char *path;
    tz_slot defaults[TZ_CONSTANTS_MAX];
    tz_slot constants[TZ_CONSTANTS_MAX]; /* of this trial */
    uint64_t random;
    int64_t reads; /* of one cell, about; set by the probe of a cell */
} tz__probe;

/* "stencil 'x', pass 'y': ..." with TZ_PLUGIN. */
tz_status tz__probe_refuse(const tz__probe *p, tz_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Constants of a trial. */
void tz__probe_vary(tz__probe *p, int trial);
/* A value of a field in a trial. */
tz__element tz__probe_value(tz__probe *p, int field, int trial);

/* While a trap is open (base/trap.h). */
tz_status tz__probe_rows(tz__probe *p, tz_error *error);

#endif
