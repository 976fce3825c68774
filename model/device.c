/* The table of keys of device records, and their parser and writer on top of record.c. Called by
 * core/calibrate; the models read numbers through tz_model_device_value. */
#include "model/device.h"

static const tz_model_key keys[] = {TZ_MODEL_NAME_KEYS(tz_model_device)
#define DEVICE_KEY(member, key, quantity, min, max, doc)                                           \
    {key, TZ_MODEL_##quantity, offsetof(tz_model_device, member), min, max, doc, NAN},
                                        TZ_MODEL_DEVICE_TABLE(DEVICE_KEY)
#undef DEVICE_KEY
#define DEVICE_KEY(member, key, quantity, min, max, assumed, doc)                                  \
    {key, TZ_MODEL_##quantity, offsetof(tz_model_device, member), min, max, doc, assumed},
                                            TZ_MODEL_DEVICE_ASSUMED_TABLE(DEVICE_KEY)
#undef DEVICE_KEY
};

enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)KEYS <= (int)TZ_MODEL_KEYS_MAX, "TZ_MODEL_KEYS_MAX is too small");

const tz_model_key *tz_model_device_keys(size_t *count)
{
    *count = KEYS;
    return keys;
}

double tz_model_device_value(const tz_model_device *device, const tz_model_number *number)
{
    const size_t offset = (size_t)((const char *)number - (const char *)device);
    if (number->known)
        return number->value;
    for (size_t k = 0; k < KEYS; k++)
        if (keys[k].offset == offset)
            return keys[k].assumed;
    return NAN;
}

tz_status tz_model_device_parse(const char *path, const char *text, size_t length,
                                tz_model_device *out, tz_error *error)
{
    return tz__record_parse(keys, KEYS, out, sizeof *out, path, text, length, error);
}

tz_status tz_model_device_text(const tz_model_device *device, char text[TZ_MODEL_DEVICE_TEXT_SIZE],
                               tz_error *error)
{
    return tz__record_text(keys, KEYS, device, text, error);
}
