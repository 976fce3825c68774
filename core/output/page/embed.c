#include "output/page/embed.h"

#include <string.h>

tz_status tz_page_json(tz_atomic_file *file, const char *json, tz_error *error)
{
    tz_status status = TZ_OK;
    while (status == TZ_OK && *json != '\0') {
        const size_t length = strcspn(json, "<");
        status = tz_atomic_write(file, json, length, error);
        json += length;
        if (status == TZ_OK && *json == '<') {
            status = tz_atomic_write(file, "\\u003c", 6, error);
            json++;
        }
    }
    return status;
}

tz_status tz_page_base64(tz_atomic_file *file, const uint8_t *data, size_t bytes, tz_error *error)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    tz_status status = TZ_OK;
    for (size_t at = 0; status == TZ_OK && at < bytes;) {
        char text[4096];
        size_t length = 0;
        for (; at < bytes && length < sizeof text; at += 3) {
            const size_t left = bytes - at;
            const uint32_t three = (uint32_t)data[at] << 16 |
                                   (left > 1 ? (uint32_t)data[at + 1] << 8 : 0) |
                                   (left > 2 ? data[at + 2] : 0);
            text[length++] = digits[three >> 18];
            text[length++] = digits[three >> 12 & 63];
            text[length++] = left > 1 ? digits[three >> 6 & 63] : '=';
            text[length++] = left > 2 ? digits[three & 63] : '=';
        }
        status = tz_atomic_write(file, text, length, error);
    }
    return status;
}
