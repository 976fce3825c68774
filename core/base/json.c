/* A recursive-descent parser of JSON that builds jansson values. Called by core/output for run
 * records and the live server, core/policy for its memory, and core/sim for checkpoints. */
#include "base/json.h"

#include "base/text.h"
#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 100 };

typedef struct reader {
    const char *path;
    const char *start, *p, *end;
    int depth;
    char *room; /* for strings: as many bytes as the text has, and one */
    size_t used;
    locale_t plain; /* the C locale: numbers have a '.' */
    tz_error *error;
} reader;

static json_t *read_value(reader *r);

/* ---- Errors: all return NULL ----------------------------------------------------------------- */

static json_t *malformed(const reader *r, const char *what)
{
    int line = 1;
    for (const char *p = r->start; p < r->p && p < r->end; p++)
        line += *p == '\n';
    tz_error_set_line(r->error, TZ_FORMAT, r->path, line, "%s", what);
    return NULL;
}

static json_t *no_memory(const reader *r)
{
    tz_error_set(r->error, TZ_MEMORY, r->path, "not enough memory to read it");
    return NULL;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void skip_space(reader *r)
{
    while (r->p < r->end && strchr(" \t\r\n", *r->p) && *r->p)
        r->p++;
}

static bool take(reader *r, char c)
{
    skip_space(r);
    const bool found = r->p < r->end && *r->p == c;
    r->p += found;
    return found;
}

/* Four hexadecimal digits; -1: they are not there. */
static int read_hex(reader *r)
{
    int value = 0;
    for (int k = 0; k < 4; k++, r->p++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = r->p < r->end && *r->p ? strchr(digits, *r->p) : NULL;
        if (!digit)
            return -1;
        value = value * 16 + (int)(digit - digits) % 16;
    }
    return value;
}

static void put_character(reader *r, unsigned code)
{
    if (code < 0x80) {
        r->room[r->used++] = (char)code;
        return;
    }
    if (code < 0x800) {
        r->room[r->used++] = (char)(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            r->room[r->used++] = (char)(0xE0 | code >> 12);
        } else {
            r->room[r->used++] = (char)(0xF0 | code >> 18);
            r->room[r->used++] = (char)(0x80 | (code >> 12 & 63));
        }
        r->room[r->used++] = (char)(0x80 | (code >> 6 & 63));
    }
    r->room[r->used++] = (char)(0x80 | (code & 63));
}

/* What follows a backslash. A half of a surrogate pair becomes '?'. */
static bool read_escape(reader *r)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char c = r->p < r->end ? *r->p++ : '\0';
    const char *name = c ? strchr(names, c) : NULL;
    if (name) {
        r->room[r->used++] = meant[name - names];
        return true;
    }
    int code = c == 'u' ? read_hex(r) : -1;
    if (code < 0)
        return false;
    if (code >= 0xD800 && code < 0xDC00 && r->end - r->p >= 2 && r->p[0] == '\\' &&
        r->p[1] == 'u') {
        r->p += 2;
        const int low = read_hex(r);
        if (low < 0)
            return false;
        code =
            low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00 : '?';
    }
    put_character(r, code == 0 || (code >= 0xD800 && code < 0xE000) ? '?' : (unsigned)code);
    return true;
}

/* A string, in r->room until r->used is set back; NULL: an error. */
static const char *read_string(reader *r)
{
    char *text = r->room + r->used;
    if (!take(r, '"')) {
        malformed(r, "a text in double quotes is expected");
        return NULL;
    }
    while (r->p < r->end && *r->p != '"') {
        const char c = *r->p++;
        if (c == '\\' ? !read_escape(r) : (unsigned char)c < ' ') {
            malformed(r, c == '\\' ? "a malformed \\ in a text" : "a control character in a text");
            return NULL;
        }
        if (c != '\\')
            r->room[r->used++] = c;
    }
    if (!take(r, '"')) {
        malformed(r, "a text is not closed");
        return NULL;
    }
    r->room[r->used++] = '\0';
    tz_text_printable(text);
    return text;
}

static json_t *read_number(reader *r)
{
    const char *first = r->p;
    char text[64], *end;
    while (r->p < r->end && *r->p && strchr("+-.eE0123456789", *r->p))
        r->p++;
    const size_t length = (size_t)(r->p - first);
    if (length == 0 || length >= sizeof text)
        return malformed(r, length ? "a number is too long" : "a value is expected");
    memcpy(text, first, length);
    text[length] = '\0';
    const char *digit = text + (text[0] == '-');
    if (*digit < '0' || *digit > '9' || (digit[0] == '0' && digit[1] >= '0' && digit[1] <= '9'))
        return malformed(r, "a malformed number");
    errno = 0;
    json_t *made = NULL;
    if (!strpbrk(text, ".eE")) {
        const long long value = strtoll(text, &end, 10);
        if (errno == ERANGE)
            return malformed(r, "an integer is too large");
        made = *end ? NULL : json_integer(value);
    } else {
        const double value = strtod_l(text, &end, r->plain);
        if (!isfinite(value))
            return malformed(r, "a number is too large");
        made = *end ? NULL : json_real(value);
    }
    if (*end)
        return malformed(r, "a malformed number");
    return made ? made : no_memory(r);
}

static json_t *read_list(reader *r)
{
    json_t *list = json_array();
    if (!list)
        return no_memory(r);
    while (!take(r, ']')) {
        if (json_array_size(list) > 0 && !take(r, ',')) {
            malformed(r, "',' or ']' is expected");
            goto failed;
        }
        json_t *value = read_value(r);
        if (!value)
            goto failed;
        if (json_array_append_new(list, value) != 0) {
            no_memory(r);
            goto failed;
        }
    }
    return list;
failed:
    json_decref(list);
    return NULL;
}

static json_t *read_object(reader *r)
{
    json_t *object = json_object();
    if (!object)
        return no_memory(r);
    while (!take(r, '}')) {
        const size_t used = r->used;
        if (json_object_size(object) > 0 && !take(r, ',')) {
            malformed(r, "',' or '}' is expected");
            goto failed;
        }
        const char *key = read_string(r);
        if (!key)
            goto failed;
        if (json_object_get(object, key)) {
            malformed(r, "a name is there twice");
            goto failed;
        }
        if (!take(r, ':')) {
            malformed(r, "':' is expected");
            goto failed;
        }
        json_t *value = read_value(r);
        if (!value)
            goto failed;
        if (json_object_set_new(object, key, value) != 0) {
            no_memory(r);
            goto failed;
        }
        r->used = used;
    }
    return object;
failed:
    json_decref(object);
    return NULL;
}

static bool take_word(reader *r, const char *word)
{
    const size_t length = strlen(word);
    const bool found = (size_t)(r->end - r->p) >= length && memcmp(r->p, word, length) == 0;
    r->p += found ? length : 0;
    return found;
}

static json_t *read_value(reader *r)
{
    json_t *made = NULL;
    skip_space(r);
    if (r->p < r->end && *r->p == '"') {
        const size_t used = r->used;
        const char *text = read_string(r);
        r->used = used;
        if (!text)
            return NULL;
        made = json_string(text);
    } else if (take(r, '{') || take(r, '[')) {
        if (r->depth == DEPTH_MAX)
            return malformed(r, "too many lists and objects inside one another");
        r->depth++;
        made = r->p[-1] == '{' ? read_object(r) : read_list(r);
        r->depth--;
        return made;
    } else if (take_word(r, "true")) {
        made = json_true();
    } else if (take_word(r, "false")) {
        made = json_false();
    } else if (take_word(r, "null")) {
        made = json_null();
    } else {
        return read_number(r);
    }
    return made ? made : no_memory(r);
}

tz_status tz_json_read(const char *path, const char *text, size_t bytes, json_t **out,
                       tz_error *error)
{
    tz_error failure = {.code = TZ_OK};
    reader r = {.path = path, .start = text, .p = text, .end = text + bytes, .error = &failure};
    *out = NULL;
    r.room = malloc(bytes + 1);
    r.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    json_t *value = r.room && r.plain ? read_value(&r) : no_memory(&r);
    skip_space(&r);
    if (value && r.p != r.end) {
        malformed(&r, "something follows the end");
        json_decref(value);
        value = NULL;
    }
    free(r.room);
    if (r.plain)
        freelocale(r.plain);
    *out = value;
    if (failure.code != TZ_OK && error)
        *error = failure;
    return failure.code;
}

/* ---- Members of objects ---------------------------------------------------------------------- */

void tz_json_put(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (json_object_set_new(object, key, value) != 0)
        *failed = true;
}

void tz_json_put_double(json_t *object, const char *key, double value, bool *failed)
{
    char text[64];
    snprintf(text, sizeof text, "%a", value);
    tz_json_put(object, key, json_string(text), failed);
}

void tz_json_put_integer(json_t *object, const char *key, int64_t value, bool *failed)
{
    tz_json_put(object, key, json_integer(value), failed);
}

void tz_json_put_text(json_t *object, const char *key, const char *value, bool *failed)
{
    tz_json_put(object, key, json_string(value), failed);
}

double tz_json_get_double(const json_t *object, const char *key, bool *failed)
{
    const char *text = json_string_value(json_object_get(object, key));
    char *end = NULL;
    const double value = text ? strtod(text, &end) : 0;
    if (!text || end == text || *end != '\0')
        *failed = true;
    return *failed ? 0 : value;
}

int64_t tz_json_get_integer(const json_t *object, const char *key, int64_t least, int64_t most,
                            bool *failed)
{
    const json_t *value = json_object_get(object, key);
    const int64_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < least || number > most)
        *failed = true;
    return *failed ? 0 : number;
}

bool tz_json_get_flag(const json_t *object, const char *key, bool *failed)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        *failed = true;
    return json_is_true(value);
}

const char *tz_json_get_text(const json_t *object, const char *key, bool *failed)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text)
        *failed = true;
    return text ? text : "";
}

void tz_json_put_members(json_t *object, const tz_json_member *members, size_t count,
                         const void *from, bool *failed)
{
    for (size_t i = 0; i < count; i++) {
        const tz_json_member *m = &members[i];
        const void *at = (const char *)from + m->offset;
        if (m->kind == TZ_JSON_DOUBLE)
            tz_json_put_double(object, m->key, *(const double *)at, failed);
        else if (m->kind == TZ_JSON_FLAG)
            tz_json_put(object, m->key, json_boolean(*(const bool *)at), failed);
        else if (m->kind == TZ_JSON_TEXT)
            tz_json_put_text(object, m->key, at, failed);
        else
            tz_json_put_integer(object, m->key,
                                m->size == sizeof(int) ? *(const int *)at : *(const int64_t *)at,
                                failed);
    }
}

void tz_json_get_members(const json_t *object, const tz_json_member *members, size_t count,
                         void *to, bool *failed)
{
    for (size_t i = 0; i < count; i++) {
        const tz_json_member *m = &members[i];
        void *at = (char *)to + m->offset;
        if (m->kind == TZ_JSON_DOUBLE)
            *(double *)at = tz_json_get_double(object, m->key, failed);
        else if (m->kind == TZ_JSON_FLAG)
            *(bool *)at = tz_json_get_flag(object, m->key, failed);
        else if (m->kind == TZ_JSON_TEXT)
            snprintf(at, m->size, "%s", tz_json_get_text(object, m->key, failed));
        else if (m->size == sizeof(int))
            *(int *)at = (int)tz_json_get_integer(object, m->key, m->least, m->most, failed);
        else
            *(int64_t *)at = tz_json_get_integer(object, m->key, m->least, m->most, failed);
    }
}
