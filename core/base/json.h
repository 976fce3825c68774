/* Reading JSON, and the members of objects. jansson makes and writes it; its own reader ends a
 * process whose memory runs out. */
#ifndef TZ_CORE_BASE_JSON_H
#define TZ_CORE_BASE_JSON_H

#include "base/error.h"
#include <jansson.h>
#include <stdint.h>

/* Read a text of that many bytes, one value with white space around it; release it with
 * json_decref(). Control characters other than newline and tab, and bytes that are not UTF-8,
 * become '?'. Errors: TZ_FORMAT with PATH:LINE as place (also for more than 100 lists and objects
 * inside one another, and for numbers that are too large), TZ_MEMORY. */
tz_status tz_json_read(const char *path, const char *text, size_t bytes, json_t **out,
                       tz_error *error);

/* ---- Values ----------------------------------------------------------------------------------
 * In checkpoints doubles are texts such as "0x1.8p+1", without loss. */

/* Set a key. Failures (no memory) become *failed = true, which is never set to false. */
void tz_json_put_double(json_t *object, const char *key, double value, bool *failed);
void tz_json_put_integer(json_t *object, const char *key, int64_t value, bool *failed);
void tz_json_put_text(json_t *object, const char *key, const char *value, bool *failed);
/* Takes `value` in any case; NULL is a failure. */
void tz_json_put(json_t *object, const char *key, json_t *value, bool *failed);

/* Read a key. A wrong type or value becomes *failed = true, and 0. */
double tz_json_get_double(const json_t *object, const char *key, bool *failed);
int64_t tz_json_get_integer(const json_t *object, const char *key, int64_t least, int64_t most,
                            bool *failed);
bool tz_json_get_flag(const json_t *object, const char *key, bool *failed);
/* Borrowed; "" after a failure. */
const char *tz_json_get_text(const json_t *object, const char *key, bool *failed);

/* ---- Members of a struct --------------------------------------------------------------------- */

/* One table says what is put and what is read. */
typedef struct tz_json_member {
    const char *key;
    enum { TZ_JSON_DOUBLE, TZ_JSON_FLAG, TZ_JSON_TEXT, TZ_JSON_INTEGER } kind;
    size_t offset, size;
    int64_t least, most; /* of an integer */
} tz_json_member;

/* A double, a flag or an array of characters; an integer or enum of 4 or 8 bytes within limits. */
#define TZ_JSON_MEMBER(type, member, key) TZ_JSON_INTEGER_MEMBER(type, member, key, 0, 0)
#define TZ_JSON_INTEGER_MEMBER(type, member, key, least, most)                                     \
    {                                                                                              \
        key, TZ__JSON_KIND(((type *)0)->member), offsetof(type, member),                           \
            sizeof((type *)0)->member, least, most                                                 \
    }
#define TZ__JSON_KIND(value)                                                                       \
    _Generic(value, double : TZ_JSON_DOUBLE, bool : TZ_JSON_FLAG, char * : TZ_JSON_TEXT,           \
             default : TZ_JSON_INTEGER)

void tz_json_put_members(json_t *object, const tz_json_member *members, size_t count,
                         const void *from, bool *failed);
void tz_json_get_members(const json_t *object, const tz_json_member *members, size_t count,
                         void *to, bool *failed);

#endif
