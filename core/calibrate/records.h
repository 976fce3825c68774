/* Device records: finding the record of a device, and keeping calibrated ones. */
#ifndef TZ_CORE_CALIBRATE_RECORDS_H
#define TZ_CORE_CALIBRATE_RECORDS_H

#include "backend/backend.h"
#include "base/error.h"
#include "base/paths.h"
#include "model/link.h"
#include <stdio.h>

/* By name ("h200", "gtx280") or by a file's path. Names are searched in $TRAPEZE_DEVICES, else in
 * $XDG_CONFIG_HOME/trapeze/devices, else in ~/.config/trapeze/devices; then among the records that
 * come with Trapeze. TZ_UNKNOWN names the nearest. */
tz_status tz_device_find(const char *name, tz_model_device *out, tz_error *error);

/* Add the names of all of them. TZ_MEMORY. */
tz_status tz_device_names(tz_paths *names, tz_error *error);

/* What joins devices like `device`: "peer", "host" or "mpi" in its own record, NULL for the first
 * of them that is known; a link that comes with Trapeze ("nvlink", "pcie"); or the path of a link's
 * record. *assumed: a number of it is assumed. TZ_UNKNOWN names the nearest; TZ_UNSUPPORTED: the
 * device's record lacks it. */
tz_status tz_link_find(const char *name, const tz_model_device *device, tz_model_link *out,
                       bool *assumed, tz_error *error);

/* The i-th link of a device's own record; NULL after the last. Static. */
const char *tz_link_own_name(int i);

/* The record of the backend's device number `ordinal`: the newest calibrated one that describes it,
 * else one that comes with Trapeze. A record describes a device if its title is the device's name
 * and it has as many multiprocessors, or as many cores and the vector width of the row functions.
 * Of a GPU without a record: the nearest other GPU's, scaled by what the driver tells
 * (out->scaled_from, model/device_scaled.h). TZ_UNSUPPORTED: no such record; run `trapeze
 * calibrate`. TZ_BACKEND: no such device. */
tz_status tz_device_of(const tz_backend *backend, int ordinal, tz_model_device *out,
                       tz_error *error);

/* Give one number another value, as in a record: "cpi" and "2", "memory_latency" and "600 cycles".
 * The number is then an assumed one, which predictions say. Errors of tz_model_device_parse(), with
 * the key as their place; the device then stays as it is. */
tz_status tz_device_change(tz_model_device *device, const char *key, const char *value,
                           tz_error *error);

/* Write the record with a heading. TZ_IO; TZ_FORMAT: it could not be read back (no name, or a
 * number without a source). */
tz_status tz_device_write(const tz_model_device *device, FILE *stream, tz_error *error);
/* Write it to a file, which appears whole or not at all. TZ_IO, also if the file exists and
 * `replace` is false. */
tz_status tz_device_save(const tz_model_device *device, const char *path, bool replace,
                         tz_error *error);

/* Keep a calibrated record as NAME.txt in the first folder of tz_device_find(); `path` gets its
 * path. An earlier record becomes NAME.txt~. TZ_IO, TZ_RANGE (NAME cannot be a file's name). */
tz_status tz_device_keep(const tz_model_device *device, char *path, size_t size, tz_error *error);

#endif
