#include "output/caption.h"

#include "base/names.h"
#include "base/number.h"
#include "sim/simulated_time.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 4 };
const tz_output_word tz_caption_words[NAMES + 1] = {
    {"step", "iterations so far"},
    {"time", "the simulated time with its unit, \"2.5 ms\"; of stencils with a time step"},
    {"field", "the field's name"},
    {"simulation", "the simulation's name"},
    {NULL, NULL}};

/* What a caption consists of: characters as they are, and placeholders. */
typedef struct piece {
    const char *start;
    size_t length;
    bool is_name; /* without its braces */
} piece;

/* The piece at *at, which moves behind it. False at the end, and at a brace that is not closed:
 * then *at stays there. */
static bool next_piece(const char **at, piece *out)
{
    const char *text = *at;
    *out = (piece){.start = text, .length = strcspn(text, "{}")};
    if (out->length > 0) {
        *at = text + out->length;
    } else if (text[0] != '\0' && (text[1] == text[0] || text[0] == '}')) {
        out->length = 1;
        *at = text + (text[1] == text[0] ? 2 : 1);
    } else if (text[0] == '{') {
        const char *end = strchr(text, '}');
        *out = (piece){
            .start = text + 1, .length = end ? (size_t)(end - text - 1) : 0, .is_name = true};
        *at = end ? end + 1 : text;
        return end;
    }
    return out->length > 0;
}

static bool is_name(const piece *p, const char *name)
{
    return p->is_name && strlen(name) == p->length && memcmp(p->start, name, p->length) == 0;
}

tz_status tz_caption_check(const char *caption, tz_error *error)
{
    const char *at = caption;
    piece p;
    while (next_piece(&at, &p)) {
        bool known = !p.is_name;
        for (int i = 0; i < NAMES; i++)
            known = known || is_name(&p, tz_caption_words[i].name);
        if (known)
            continue;
        char name[64], hint[128];
        const char *names[NAMES];
        for (int i = 0; i < NAMES; i++)
            names[i] = tz_caption_words[i].name;
        snprintf(name, sizeof name, "%.*s", (int)(p.length < 63 ? p.length : 63), p.start);
        return tz_error_set(error, TZ_UNKNOWN, "caption",
                            "unknown placeholder {%s}%s (write {{ for a brace)", name,
                            tz_names_hint(hint, sizeof hint, name, names, NAMES));
    }
    if (*at != '\0')
        return tz_error_set(error, TZ_FORMAT, "caption",
                            "'%.40s' lacks its closing brace (write {{ for a brace)", at);
    return TZ_OK;
}

bool tz_caption_has(const char *caption, const char *placeholder)
{
    piece p;
    while (next_piece(&caption, &p))
        if (is_name(&p, placeholder))
            return true;
    return false;
}

/* Append a piece, as far as there is room. */
static void append(char out[TZ_CAPTION_SIZE], size_t *used, const char *text, size_t length)
{
    const size_t room = TZ_CAPTION_SIZE - 1 - *used;
    memcpy(out + *used, text, length < room ? length : room);
    *used += length < room ? length : room;
    out[*used] = '\0';
}

void tz_caption_fill(char out[TZ_CAPTION_SIZE], const char *caption, const tz_simulation *source,
                     const char *field, const char *simulation)
{
    char step[24], time[TZ_DURATION_SIZE] = "";
    const tz_param *time_step = tz_simulation_time_step(source);
    snprintf(step, sizeof step, "%" PRId64, tz_simulation_step(source));
    if (time_step)
        tz_duration_text(time, tz_simulation_time(source), time_step->unit);
    const char *const values[NAMES] = {step, time, field, simulation};
    size_t used = 0;
    piece p;
    out[0] = '\0';
    while (next_piece(&caption, &p)) {
        if (!p.is_name)
            append(out, &used, p.start, p.length);
        for (int i = 0; i < NAMES; i++)
            if (is_name(&p, tz_caption_words[i].name))
                append(out, &used, values[i], strlen(values[i]));
    }
}

tz_status tz_caption_fill_none(char out[TZ_CAPTION_SIZE], const char *caption, tz_error *error)
{
    size_t used = 0;
    piece p;
    out[0] = '\0';
    while (next_piece(&caption, &p)) {
        if (p.is_name)
            return tz_error_set(error, TZ_UNSUPPORTED, "caption",
                                "{%.*s} is of a simulation; for an array make the text in Lua",
                                (int)(p.length < 40 ? p.length : 40), p.start);
        append(out, &used, p.start, p.length);
    }
    return TZ_OK;
}
