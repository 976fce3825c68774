#include "define/names.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 48 };

/* Words of formulas. Functions are none: they are told by their parentheses. */
static const char *const words[] = {"x", "y", "z", "step", "pi", "and", "or", "not"};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

tz_status tz_define_check_name(const char *id, const char *what, const char *name, tz_error *error)
{
    if (!name || !*name)
        return tz_error_set(error, TZ_FORMAT, id, "a %s has no name", what);
    bool ok = is_letter(*name) && strlen(name) <= NAME_MAX_BYTES;
    for (const char *c = name; *c; c++)
        ok = ok && (is_letter(*c) || (*c >= '0' && *c <= '9') || *c == '_');
    if (!ok)
        return tz_error_set(
            error, TZ_FORMAT, id,
            "%s '%.60s': a name is a letter, then letters, digits and _, at most %d", what, name,
            NAME_MAX_BYTES);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return tz_error_set(error, TZ_FORMAT, id,
                                "%s '%s': this word has another meaning in formulas; take another "
                                "name, such as %s1",
                                what, name, name);
    return TZ_OK;
}

typedef struct named {
    const char *what, *name;
} named;

tz_status tz_define_check_names(const tz_definition *d, tz_error *error)
{
    named all[TZ_FIELDS_MAX + TZ_PARAMS_MAX + TZ_CONSTANTS_MAX];
    int count = 0;
    for (int i = 0; i < d->fields_count; i++)
        all[count++] = (named){"field", d->fields[i].name};
    for (int i = 0; i < d->params_count; i++)
        all[count++] = (named){"parameter", d->params[i].name};
    for (int i = 0; i < d->scalars_count; i++)
        all[count++] = (named){"scalar", d->scalars[i].name};
    for (int i = 0; i < count; i++) {
        tz_status status = tz_define_check_name(d->id, all[i].what, all[i].name, error);
        for (int k = 0; k < i && !status; k++)
            if (strcmp(all[i].name, all[k].name) == 0)
                status = tz_error_set(error, TZ_FORMAT, d->id, "a %s and a %s are both named '%s'",
                                      all[k].what, all[i].what, all[i].name);
        if (status)
            return status;
    }
    return TZ_OK;
}

tz_text_name tz_define_text_name(const tz_definition *definition, const char *name)
{
    tz_text_name result;
    snprintf(result.text, sizeof result.text, definition->raw ? "%s" : "tz_%s_", name);
    return result;
}
