#include "model/device.h"

static const tz_model_key keys[] = {TZ_MODEL_NAME_KEYS(tz_model_device),
#define DEVICE_KEY(member, key, quantity, min, max, doc)                                           \
    {key, TZ_MODEL_##quantity, offsetof(tz_model_device, member), min, max, doc},
                                    TZ_MODEL_DEVICE_TABLE(DEVICE_KEY)
#undef DEVICE_KEY
};

enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)KEYS <= (int)TZ_MODEL_KEYS_MAX, "TZ_MODEL_KEYS_MAX is too small");

const tz_model_key *tz_model_device_keys(size_t *count)
{
    *count = KEYS;
    return keys;
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
