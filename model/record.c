/* Parser and writer of records, driven by a table of keys. Called by device.c, link.c and the
 * benchmarks of model/papers. */
#include "model/record.h"

#include "base/names.h"
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024, SHOWN = 40, NUMBER_SIZE = 32 };

/* Units of each quantity, the stored one first. A factor of 0 stands for cycles of the clock. */
static const struct unit {
    tz_model_quantity quantity;
    const char *name;
    double factor;
} units[] = {
    {TZ_MODEL_FREQUENCY, "Hz", 1},
    {TZ_MODEL_FREQUENCY, "kHz", 1e3},
    {TZ_MODEL_FREQUENCY, "MHz", 1e6},
    {TZ_MODEL_FREQUENCY, "GHz", 1e9},
    {TZ_MODEL_BANDWIDTH, "B/s", 1},
    {TZ_MODEL_BANDWIDTH, "kB/s", 1e3},
    {TZ_MODEL_BANDWIDTH, "MB/s", 1e6},
    {TZ_MODEL_BANDWIDTH, "GB/s", 1e9},
    {TZ_MODEL_BANDWIDTH, "TB/s", 1e12},
    {TZ_MODEL_BANDWIDTH, "GiB/s", 1073741824.0},
    {TZ_MODEL_BYTES, "B", 1},
    {TZ_MODEL_BYTES, "kB", 1e3},
    {TZ_MODEL_BYTES, "MB", 1e6},
    {TZ_MODEL_BYTES, "GB", 1e9},
    {TZ_MODEL_BYTES, "KiB", 1024},
    {TZ_MODEL_BYTES, "MiB", 1048576},
    {TZ_MODEL_BYTES, "GiB", 1073741824.0},
    {TZ_MODEL_TIME, "s", 1},
    {TZ_MODEL_TIME, "ms", 1e-3},
    {TZ_MODEL_TIME, "us", 1e-6},
    {TZ_MODEL_TIME, "ns", 1e-9},
    {TZ_MODEL_TIME, "cycles", 0},
    {TZ_MODEL_POWER, "W", 1},
    {TZ_MODEL_POWER, "mW", 1e-3},
    {TZ_MODEL_POWER, "kW", 1e3},
    {TZ_MODEL_ENERGY, "J", 1},
    {TZ_MODEL_ENERGY, "mJ", 1e-3},
    {TZ_MODEL_ENERGY, "uJ", 1e-6},
    {TZ_MODEL_ENERGY, "nJ", 1e-9},
    {TZ_MODEL_ENERGY, "pJ", 1e-12},
};
enum { UNITS = sizeof units / sizeof *units };

typedef struct reader {
    const char *path;
    int line;
    const tz_model_key *keys;
    size_t key_count;
    char *record;
    int seen[TZ_MODEL_KEYS_MAX];   /* the line of each key; 0: not seen */
    int cycles[TZ_MODEL_KEYS_MAX]; /* the same, of times that are still in cycles */
    locale_t plain;                /* the C locale: numbers have a '.' */
    tz_error *error;
} reader;

#define FAIL(r, code, ...) fail_at(r, (r)->line, code, __VA_ARGS__)

static tz_status fail_at(const reader *r, int line, tz_status code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static tz_status fail_at(const reader *r, int line, tz_status code, const char *format, ...)
{
    char place[512], message[512];
    va_list arguments;
    if (line > 0)
        snprintf(place, sizeof place, "%s:%d", r->path, line);
    else
        snprintf(place, sizeof place, "%s", r->path);
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return tz_error_set(r->error, code, place, "%s", message);
}

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    return text;
}

static const struct unit *unit_find(tz_model_quantity quantity, const char *name)
{
    for (int i = 0; i < UNITS; i++)
        if (units[i].quantity == quantity && strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

static const char *unit_names(tz_model_quantity quantity, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < UNITS; i++)
        if (units[i].quantity == quantity && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", units[i].name);
    return text;
}

/* The number's unit. NULL: an error in *status, or a quantity without units. */
static const struct unit *read_unit(reader *r, const tz_model_key *key, const char *name,
                                    tz_status *status)
{
    char names[80];
    const bool bare = key->quantity == TZ_MODEL_COUNT || key->quantity == TZ_MODEL_RATIO;
    const struct unit *unit = unit_find(key->quantity, name);
    *status = TZ_OK;
    if (bare && *name)
        *status = FAIL(r, TZ_FORMAT, "%s has no unit, and '%.*s' follows its number", key->name,
                       SHOWN, name);
    else if (!bare && !*name)
        *status = FAIL(r, TZ_FORMAT, "%s lacks its unit; one of %s", key->name,
                       unit_names(key->quantity, names, sizeof names));
    else if (!bare && !unit)
        *status = FAIL(r, TZ_FORMAT, "'%.*s' is no unit of %s; one of %s", SHOWN, name, key->name,
                       unit_names(key->quantity, names, sizeof names));
    return unit;
}

static tz_status check_range(const reader *r, int line, const tz_model_key *key, double value)
{
    int unit = 0; /* the kept one of the quantity; UNITS: it has none */
    while (unit < UNITS && units[unit].quantity != key->quantity)
        unit++;
    if (!(value >= key->min && value <= key->max))
        return fail_at(r, line, TZ_RANGE, "%s is %g, outside %g to %g%s%s", key->name, value,
                       key->min, key->max, unit < UNITS ? " " : "",
                       unit < UNITS ? units[unit].name : "");
    if (key->quantity == TZ_MODEL_COUNT && value != floor(value))
        return fail_at(r, line, TZ_RANGE, "%s is %g, and must be an integer", key->name, value);
    return TZ_OK;
}

/* `text` is VALUE [UNIT], trimmed. */
static tz_status read_number(reader *r, size_t index, char *text, const char *source)
{
    const tz_model_key *key = &r->keys[index];
    tz_model_number *number = (tz_model_number *)(r->record + key->offset);
    const size_t length = strcspn(text, " \t");
    const char *unit_name = text + length + strspn(text + length, " \t");
    char *end = text;
    tz_status status;
    /* strtod() also accepts "inf", "nan" and hexadecimal digits. */
    if (length > 0 && strspn(text, "+-.eE0123456789") == length)
        number->value = strtod_l(text, &end, r->plain);
    if (end != text + length || length == 0)
        return FAIL(r, TZ_FORMAT, "%s wants a number, not '%.*s'", key->name,
                    (int)(length < SHOWN ? length : SHOWN), text);
    const struct unit *unit = read_unit(r, key, unit_name, &status);
    if (status != TZ_OK)
        return status;
    if (!*source)
        return FAIL(r, TZ_FORMAT,
                    "%s does not say where its number is from: end the line "
                    "with # and the source",
                    key->name);
    if (strlen(source) >= sizeof number->source)
        return FAIL(r, TZ_FORMAT, "the source of %s is longer than %d bytes", key->name,
                    (int)sizeof number->source - 1);
    snprintf(number->source, sizeof number->source, "%s", source);
    number->assumed = strncmp(source, "assumed", 7) == 0;
    number->known = true;
    if (unit && unit->factor == 0) {
        r->cycles[index] = r->line;
        return TZ_OK;
    }
    if (unit)
        number->value *= unit->factor;
    return check_range(r, r->line, key, number->value);
}

static tz_status read_text(reader *r, const tz_model_key *key, const char *text)
{
    char *out = r->record + key->offset;
    if (!*text)
        return FAIL(r, TZ_FORMAT, "%s is empty", key->name);
    if (strlen(text) >= TZ_MODEL_NAME_SIZE)
        return FAIL(r, TZ_FORMAT, "%s is longer than %d bytes", key->name, TZ_MODEL_NAME_SIZE - 1);
    snprintf(out, TZ_MODEL_NAME_SIZE, "%s", text);
    return TZ_OK;
}

static tz_status read_line(reader *r, char *line)
{
    char *text = trim(line);
    if (*text == '\0' || *text == '#')
        return TZ_OK;
    char *hash = strchr(text, '#'), *source = "";
    if (hash) {
        *hash = '\0';
        source = trim(hash + 1);
    }
    char *equals = strchr(text, '=');
    if (!equals)
        return FAIL(r, TZ_FORMAT, "'%.*s' is no KEY = VALUE [UNIT] # SOURCE", SHOWN, trim(text));
    *equals = '\0';
    const char *name = trim(text);
    char *value = trim(equals + 1);
    size_t index = 0;
    while (index < r->key_count && strcmp(r->keys[index].name, name) != 0)
        index++;
    if (index == r->key_count) {
        const char *names[TZ_MODEL_KEYS_MAX];
        char hint[256];
        for (size_t k = 0; k < r->key_count; k++)
            names[k] = r->keys[k].name;
        return FAIL(r, TZ_UNKNOWN, "unknown key '%.*s'%s", SHOWN, name,
                    tz_names_hint(hint, sizeof hint, name, names, r->key_count));
    }
    if (r->seen[index] != 0)
        return FAIL(r, TZ_FORMAT, "%s is given in line %d already", name, r->seen[index]);
    r->seen[index] = r->line;
    if (r->keys[index].quantity == TZ_MODEL_TEXT)
        return read_text(r, &r->keys[index], value);
    return read_number(r, index, value, source);
}

/* Convert times in cycles to seconds. The line with the clock may follow them. */
static tz_status finish(reader *r)
{
    const tz_model_number *clock = NULL;
    for (size_t k = 0; k < r->key_count; k++)
        if (r->keys[k].quantity == TZ_MODEL_FREQUENCY && r->seen[k] != 0)
            clock = (const tz_model_number *)(r->record + r->keys[k].offset);
    for (size_t k = 0; k < r->key_count; k++) {
        tz_model_number *number = (tz_model_number *)(r->record + r->keys[k].offset);
        if (r->cycles[k] == 0)
            continue;
        if (!clock)
            return fail_at(r, r->cycles[k], TZ_FORMAT,
                           "%s is in cycles, and the record gives no clock", r->keys[k].name);
        number->value /= clock->value;
        const tz_status status = check_range(r, r->cycles[k], &r->keys[k], number->value);
        if (status != TZ_OK)
            return status;
    }
    if (r->record[r->keys[0].offset] == '\0')
        return fail_at(r, 0, TZ_FORMAT, "the record has no name: add a line 'name = ...'");
    return TZ_OK;
}

static tz_status read_text_lines(reader *r, const char *text, size_t length)
{
    tz_status status = TZ_OK;
    for (size_t at = 0; status == TZ_OK && at <= length; at++) {
        char line[LINE_SIZE];
        size_t used = 0;
        r->line++;
        for (; at < length && text[at] != '\n'; at++) {
            const unsigned char c = (unsigned char)text[at];
            if (c == '\0' || (iscntrl(c) && c != '\t' && c != '\r'))
                return FAIL(r, TZ_FORMAT, "byte 0x%02x: this is no text", c);
            if (used + 1 == sizeof line)
                return FAIL(r, TZ_FORMAT, "longer than %d bytes", LINE_SIZE - 1);
            line[used++] = (char)c;
        }
        line[used] = '\0';
        status = read_line(r, line);
    }
    return status == TZ_OK ? finish(r) : status;
}

tz_status tz__record_parse(const tz_model_key *keys, size_t count, void *record, size_t size,
                           const char *path, const char *text, size_t length, tz_error *error)
{
    reader r = {.path = path, .keys = keys, .key_count = count, .record = record, .error = error};
    memset(record, 0, size);
    r.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (r.plain == (locale_t)0)
        return fail_at(&r, 0, TZ_MEMORY, "%s", strerror(errno));
    const tz_status status = read_text_lines(&r, text, length);
    freelocale(r.plain);
    if (status != TZ_OK)
        memset(record, 0, size);
    return status;
}

/* The shortest text that reads back as `value` in a unit of `factor`, without an exponent if
 * possible. False: no text does. */
static bool number_in(double value, double factor, char text[NUMBER_SIZE])
{
    char here[NUMBER_SIZE];
    bool found = false;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(here, sizeof here, "%.*g", digits, value / factor);
        const bool plain = strchr(here, 'e') == NULL;
        if ((found && !plain) || strtod(here, NULL) * factor != value)
            continue;
        memcpy(text, here, sizeof here);
        found = true;
        if (plain)
            break;
    }
    return found;
}

/* The shortest text of a number; returns its unit. Of equally short ones the first unit counts.
 * Texts with an exponent count as the longest. */
static const char *number_text(tz_model_quantity quantity, double value, char text[NUMBER_SIZE])
{
    const char *name = "";
    size_t least = SIZE_MAX;
    for (int i = 0; i < UNITS; i++) {
        char here[NUMBER_SIZE];
        if (units[i].quantity != quantity || units[i].factor == 0 ||
            !number_in(value, units[i].factor, here))
            continue;
        const double scaled = fabs(value / units[i].factor);
        const size_t length = strlen(here) + (strchr(here, 'e') ? NUMBER_SIZE : 0) +
                              (scaled < 1 || scaled >= 1000 ? 3 : 0);
        if (length >= least)
            continue;
        least = length;
        name = units[i].name;
        memcpy(text, here, NUMBER_SIZE);
    }
    if (least == SIZE_MAX)
        number_in(value, 1, text);
    return name;
}

/* One line; "" for a number that is not known. */
static void write_key(const tz_model_key *key, const char *record, char line[TZ__RECORD_LINE_SIZE])
{
    const char *member = record + key->offset;
    line[0] = '\0';
    if (key->quantity == TZ_MODEL_TEXT) {
        if (*member)
            snprintf(line, TZ__RECORD_LINE_SIZE, "%-24s = %s\n", key->name, member);
        return;
    }
    const tz_model_number *number = (const tz_model_number *)member;
    if (!number->known)
        return;
    char text[NUMBER_SIZE];
    const char *unit = number_text(key->quantity, number->value, text);
    snprintf(line, TZ__RECORD_LINE_SIZE, "%-24s = %s%s%s # %s\n", key->name, text, *unit ? " " : "",
             unit, number->source);
}

tz_status tz__record_text(const tz_model_key *keys, size_t count, const void *record, char *text,
                          tz_error *error)
{
    const char *bytes = record;
    *text = '\0';
    if (bytes[keys[0].offset] == '\0')
        return tz_error_set(error, TZ_FORMAT, NULL, "the record has no name");
    for (size_t k = 0; k < count; k++) {
        const tz_model_number *number = (const tz_model_number *)(bytes + keys[k].offset);
        if (keys[k].quantity != TZ_MODEL_TEXT && number->known && number->source[0] == '\0')
            return tz_error_set(error, TZ_FORMAT, NULL, "%s does not say where its number is from",
                                keys[k].name);
    }
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return tz_error_set(error, TZ_MEMORY, NULL, "%s", strerror(errno));
    const locale_t before = uselocale(plain);
    for (size_t k = 0; k < count; k++) {
        write_key(&keys[k], bytes, text);
        text += strlen(text);
    }
    uselocale(before);
    freelocale(plain);
    return TZ_OK;
}
