/* Device records: which one describes a device, and where calibrated ones are kept. */
#ifndef TZ_CORE_CALIBRATE_RECORDS_H
#define TZ_CORE_CALIBRATE_RECORDS_H

#include "backend/backend.h"
#include "base/error.h"
#include "model/device.h"
#include <stdio.h>

/* By name ("h200", "gtx280", or a file's path): $TRAPEZE_DEVICES, else
 * $XDG_CONFIG_HOME/trapeze/devices, else
 * ~/.config/trapeze/devices, then the ones that come with Trapeze. TZ_UNKNOWN names the nearest. */
tz_status tz_device_find(const char *name, tz_model_device *out, tz_error *error);

/* The record of the backend's device number `ordinal`: a calibrated one with the device's own name as
 * its title and as many multiprocessors, or cores with vectors as wide as row functions use now; the
 * newest of those, else one that comes with Trapeze. TZ_UNSUPPORTED: there is none, run `trapeze
 * calibrate`. TZ_BACKEND: there is no such device. */
tz_status tz_device_of(const tz_backend *backend, int ordinal, tz_model_device *out,
                       tz_error *error);

/* The record as a file, with a line that says what it is. TZ_IO; TZ_FORMAT: it could not be read
 * back (no name, a number without a source). */
tz_status tz_device_write(const tz_model_device *device, FILE *stream, tz_error *error);
/* The same to a file, which appears whole or not at all. TZ_IO, also for one that exists unless
 * `replace`. */
tz_status tz_device_save(const tz_model_device *device, const char *path, bool replace,
                         tz_error *error);

/* Keep a calibrated record where tz_device_find() looks first, as NAME.txt: its path in `path`.
 * What was there before becomes NAME.txt~. TZ_IO, TZ_RANGE (the name cannot be a file's). */
tz_status tz_device_keep(const tz_model_device *device, char *path, size_t size, tz_error *error);

#endif
