/* Device records: which one describes a device, and where calibrated ones are kept. */
#ifndef TZ_CORE_POLICY_DEVICE_H
#define TZ_CORE_POLICY_DEVICE_H

#include "base/error.h"
#include "model/record.h"

/* By name ("h200", "gtx280", or a file's path): $TRAPEZE_DEVICES, else
 * $XDG_CONFIG_HOME/trapeze/devices, else
 * ~/.config/trapeze/devices, then the ones that come with Trapeze. TZ_UNKNOWN names the nearest. */
tz_status tz_device_find(const char *name, tz_model_device *out, tz_error *error);

/* The record of this machine's CPU, or of its GPU number `ordinal`: a calibrated one whose title is
 * the device's own name, else one that comes with Trapeze under that title. TZ_UNSUPPORTED says
 * to run `trapeze calibrate`. */
tz_status tz_device_of_cpu(tz_model_device *out, tz_error *error);
tz_status tz_device_of_gpu(int ordinal, tz_model_device *out, tz_error *error);

/* Keep a calibrated record where tz_device_find() looks first: its path in `path`. */
tz_status tz_device_keep(const tz_model_device *device, char *path, size_t size, tz_error *error);

#endif
