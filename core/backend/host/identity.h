/* The identity of this machine's CPU, for the backends that run on it. */
#ifndef TZ_CORE_BACKEND_HOST_IDENTITY_H
#define TZ_CORE_BACKEND_HOST_IDENTITY_H

#include "backend/backend.h"

/* tz_backend.identify; never fails. */
tz_status tz_host_identify(int device, tz_device_identity *out, tz_error *error);

#endif
