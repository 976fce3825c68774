/* What HTML pages share: data within them, style and scripts. Reports, sheets of sweeps and the
 * live view call it. */
#include "output/page/page.h"

#include <stdlib.h>
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

/* ---- Parts ----------------------------------------------------------------------------------- */

/* The files, found by the assembler through the build's -Wa,-I. */
#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata\n" #name ":\n.incbin \"output/page/" file "\"\n"                 \
            ".byte 0\n.popsection\n");                                                             \
    extern const char name[] __attribute__((visibility("hidden")))
EMBED(tz_page_style, "style.css");
EMBED(tz_page_basics, "basics.js");
EMBED(tz_page_plot, "plot.js");

char *tz_page_assemble(const char *page)
{
    const struct {
        const char *place, *text;
    } parts[] = {
        {"@STYLE@", tz_page_style}, {"@BASICS@", tz_page_basics}, {"@PLOT@", tz_page_plot}};
    char *whole = strdup(page);
    for (size_t i = 0; whole && i < sizeof parts / sizeof *parts; i++) {
        char *at = strstr(whole, parts[i].place);
        if (!at)
            continue;
        const size_t before = (size_t)(at - whole), length = strlen(parts[i].text);
        const char *rest = at + strlen(parts[i].place);
        char *longer = malloc(before + length + strlen(rest) + 1);
        if (longer) {
            memcpy(longer, whole, before);
            memcpy(longer + before, parts[i].text, length);
            strcpy(longer + before + length, rest);
        }
        free(whole);
        whole = longer;
    }
    return whole;
}
