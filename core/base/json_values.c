/* Setters and checked getters of members of a jansson object. Called by core/sim, core/policy and
 * core/lua for checkpoints; core/output and core/cli set members of reports and tables. */
#include "base/json_values.h"

#include <stdio.h>
#include <stdlib.h>

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
