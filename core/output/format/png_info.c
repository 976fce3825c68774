#include "output/format/png_info.h"

#include "base/file.h"
#include "output/format/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK_OVERHEAD = 12, TEXT_MAX_BYTES = 1 << 24 };

static uint32_t read_u32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static char *copy_bytes(const unsigned char *p, size_t n)
{
    char *text = malloc(n + 1);
    if (text) {
        memcpy(text, p, n);
        text[n] = '\0';
    }
    return text;
}

/* tEXt and zTXt are Latin-1. */
static char *copy_latin1(const unsigned char *p, size_t n)
{
    char *text = malloc(2 * n + 1), *q = text;
    for (size_t i = 0; text && i < n; i++) {
        if (p[i] < 0x80) {
            *q++ = (char)p[i];
        } else {
            *q++ = (char)(0xC0 | p[i] >> 6);
            *q++ = (char)(0x80 | (p[i] & 0x3F));
        }
    }
    if (text)
        *q = '\0';
    return text;
}

/* NULL if the stream is corrupt or too long. */
static unsigned char *inflate_text(const unsigned char *p, size_t n, size_t *length)
{
    for (size_t room = 4 * n + 256; room <= TEXT_MAX_BYTES; room *= 4) {
        unsigned char *text = malloc(room);
        uLongf used = room;
        const int code = text ? uncompress(text, &used, p, n) : Z_MEM_ERROR;
        if (code == Z_OK) {
            *length = used;
            return text;
        }
        free(text);
        if (code != Z_BUF_ERROR)
            break;
    }
    return NULL;
}

static bool append(tz_png_facts *facts, char *key, char *value)
{
    tz_png_text *grown =
        key && value ? realloc(facts->texts, (facts->text_count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(key);
        free(value);
        return false;
    }
    facts->texts = grown;
    facts->texts[facts->text_count++] = (tz_png_text){key, value};
    return true;
}

/* Add a text chunk. A malformed one is skipped, as PNG readers do. False: out of memory. */
static bool take_text(tz_png_facts *facts, const unsigned char *type, const unsigned char *body,
                      size_t length)
{
    const unsigned char *end = body + length, *zero = memchr(body, 0, length);
    if (!zero)
        return true;
    char *key = copy_latin1(body, (size_t)(zero - body));
    const unsigned char *p = zero + 1;
    bool compressed = false;
    const bool utf8 = memcmp(type, "iTXt", 4) == 0;
    if (memcmp(type, "zTXt", 4) == 0) {
        if (end - p < 1 || *p++ != 0)
            goto malformed;
        compressed = true;
    } else if (utf8) {
        if (end - p < 2 || p[0] > 1 || p[1] != 0)
            goto malformed;
        compressed = p[0] == 1;
        p += 2;
        for (int k = 0; k < 2; k++) { /* the language and the translated keyword */
            zero = memchr(p, 0, (size_t)(end - p));
            if (!zero)
                goto malformed;
            p = zero + 1;
        }
    }
    size_t n = (size_t)(end - p);
    unsigned char *inflated = NULL;
    if (compressed) {
        inflated = inflate_text(p, n, &n);
        if (!inflated)
            goto malformed;
        p = inflated;
    }
    const bool done = append(facts, key, utf8 ? copy_bytes(p, n) : copy_latin1(p, n));
    free(inflated);
    return done;
malformed:
    free(key);
    return true;
}

static tz_status take_header(tz_png_facts *facts, const unsigned char *body, size_t length,
                             const char *path, tz_error *error)
{
    static const char *const names[] = {"gray", NULL,  "RGB", "palette", "gray with alpha",
                                        NULL,   "RGBA"};
    if (length != 13 || body[9] > 6 || !names[body[9]] || !read_u32(body) || !read_u32(body + 4))
        return tz_error_set(error, TZ_FORMAT, path, "corrupt PNG: malformed IHDR at byte 8");
    facts->width = read_u32(body);
    facts->height = read_u32(body + 4);
    facts->bit_depth = body[8];
    facts->colour_type = body[9];
    facts->colour_name = names[body[9]];
    return TZ_OK;
}

tz_status tz_png_read_text(const char *path, tz_png_facts *out, tz_error *error)
{
    static const unsigned char magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    char *file = NULL;
    size_t bytes = 0, at = 8;
    bool ended = false;
    memset(out, 0, sizeof *out);
    tz_status status = tz_file_read(path, (size_t)1 << 32, &file, &bytes, error);
    if (status != TZ_OK)
        return status;
    const unsigned char *data = (const unsigned char *)file;
    if (bytes < 8 || memcmp(data, magic, 8) != 0) {
        status = tz_error_set(error, TZ_FORMAT, path, "not a PNG: its signature is missing");
        goto cleanup;
    }
    while (!ended && status == TZ_OK) {
        const size_t left = bytes - at;
        if (left < CHUNK_OVERHEAD || read_u32(data + at) > left - CHUNK_OVERHEAD) {
            status =
                tz_error_set(error, TZ_FORMAT, path,
                             "truncated: the chunk at byte %zu is cut off by the file's end", at);
            break;
        }
        const size_t length = read_u32(data + at);
        const unsigned char *type = data + at + 4, *body = data + at + 8;
        if (crc32_z(0, type, length + 4) != read_u32(body + length))
            status = tz_error_set(error, TZ_FORMAT, path,
                                  "corrupt PNG: wrong checksum in the chunk at byte %zu", at);
        else if (at == 8)
            status = memcmp(type, "IHDR", 4) == 0
                         ? take_header(out, body, length, path, error)
                         : tz_error_set(error, TZ_FORMAT, path, "corrupt PNG: no IHDR at byte 8");
        else if (memcmp(type, "acTL", 4) == 0 && length == 8)
            out->frames = read_u32(body);
        else if ((memcmp(type, "tEXt", 4) == 0 || memcmp(type, "zTXt", 4) == 0 ||
                  memcmp(type, "iTXt", 4) == 0) &&
                 !take_text(out, type, body, length))
            status = tz_error_set(error, TZ_MEMORY, path, "not enough memory for the text chunks");
        ended = memcmp(type, "IEND", 4) == 0;
        at += length + CHUNK_OVERHEAD;
    }
cleanup:
    free(file);
    if (status != TZ_OK)
        tz_png_facts_clear(out);
    return status;
}

void tz_png_facts_clear(tz_png_facts *facts)
{
    for (size_t i = 0; i < facts->text_count; i++) {
        free(facts->texts[i].key);
        free(facts->texts[i].value);
    }
    free(facts->texts);
    memset(facts, 0, sizeof *facts);
}
