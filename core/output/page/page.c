/* What HTML pages share: data within them, style and scripts. Reports, sheets of sweeps and the
 * live view call it. */
#include "output/page/page.h"

#include "base/atomic.h"
#include "base/embed.h"
#include "base/file.h"
#include "base/text.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* JSON within a <script> element. There "</script" would end the data: no '<' stays. JSON has it in
 * strings alone. */
static void put_json(FILE *out, const char *json)
{
    for (; *json != '\0'; json++)
        if (*json == '<')
            fputs("\\u003c", out);
        else
            putc_unlocked(*json, out);
}

tz_status tz_page_write(const char *path, const char *page, const struct json_t *facts,
                        const tz_paths *pictures, tz_error *error)
{
    enum { PICTURE_BYTES_MAX = 1 << 30 };
    static const char place[] = "@DATA@";
    tz_atomic_file *file = NULL;
    char *whole = tz_page_assemble(page), *text = json_dumps(facts, JSON_COMPACT);
    char *at = whole && text ? strstr(whole, place) : NULL;
    tz_status status = at ? tz_atomic_open(&file, path, true, error)
                          : tz_error_set(error, TZ_MEMORY, path, "not enough memory for the page");
    if (status == TZ_OK) {
        FILE *out = tz_atomic_stream(file);
        *at = '\0';
        fprintf(out, "%s{\"facts\":", whole);
        put_json(out, text);
        fputs(",\"data\":[", out);
        for (size_t i = 0; status == TZ_OK && i < pictures->count; i++) {
            char *data = NULL;
            size_t bytes = 0;
            fputs(i ? ",\n\"" : "\n\"", out);
            status = tz_file_read(pictures->items[i], PICTURE_BYTES_MAX, &data, &bytes, error);
            tz_text_base64(out, data, bytes);
            fputc('"', out);
            free(data);
        }
        fprintf(out, "]}%s", at + sizeof place - 1);
        status = tz_atomic_end(file, status, error);
    }
    free(whole);
    free(text);
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

TZ_EMBED(tz_page_style, "output/page/style.css");
TZ_EMBED(tz_page_basics, "output/page/basics.js");
TZ_EMBED(tz_page_plot, "output/page/plot.js");

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
