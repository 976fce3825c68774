/* tz.read: files as arrays. */
#include "lua/module.h"

#include "lua/api.h"
#include "lua/array.h"
#include "lua/context.h"
#include "lua/keys.h"
#include "lua/recall.h"
#include "output/format/format.h"
#include "output/format/rle.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The option that takes the place of the file's rule, in its normal form. */
static void get_rule(lua_State *L, char text[TZ_RLE_RULE_SIZE])
{
    const char *given = NULL;
    tz_rle_rule rule;
    tz_error error;
    if (!tz_key_text(L, 2, "tz.read", "rule", &given))
        return;
    if (tz_rle_rule_parse(given, "rule", &rule, &error) != TZ_OK)
        tz_raise_error(L, "tz.read", &error);
    tz_rle_rule_format(&rule, text);
}

static TZ_KEY_NAMES(channel_names, [TZ_PNG_GREY] = "grey", [TZ_PNG_RED] = "r", [TZ_PNG_GREEN] = "g",
                    [TZ_PNG_BLUE] = "b", [TZ_PNG_ALPHA] = "a")

    static const tz_key read_options[] = {
        {"at", "{x[, y[, z]]}", "",
         "the cell of the grid that gets the first element; without it the shape must be the "
         "grid's or "
         "the box's"},
        {"shape", "{nx[, ny[, nz]]}", "",
         "the extents: text files need them, others must have them"},
        {"order", "text", "x, then y and z",
         "of text: the axes of its numbers, that of the fastest first. No file says it, and "
         "another order "
         "has as many numbers. In Rodinia's files of 3-D chips layers are the fastest: `\"zxy\"`"},
        {"channel", "text", "\"grey\"",
         "of .png: %s. `\"grey\"` is the brightness of colours; a warning tells of colours or of "
         "transparent pixels where this is not given",
         channel_names},
        {"rule", "text", "the file's", "of .rle: replaces the rule that the file names"},
        {NULL, NULL, NULL, NULL}};

/* What the brightness of a picture does not tell. */
static void warn_of_lost(lua_State *L, const char *name, const tz_png_lost *lost)
{
    if (lost->clear > 0)
        tz_context_note(
            tz_context_get(L), TZ_NOTE_WARNING,
            "tz.read: %.300s: %lld pixels are not opaque, which its numbers do not tell: "
            "channel = \"a\" reads that, \"grey\" only the brightness",
            name, (long long)lost->clear);
    if (lost->coloured > 0)
        tz_context_note(tz_context_get(L), TZ_NOTE_WARNING,
                        "tz.read: %.300s: %lld pixels are coloured, and become their brightness: "
                        "channel = \"r\", \"g\" or \"b\" reads one colour, \"grey\" the brightness",
                        name, (long long)lost->coloured);
}

static int value_read(lua_State *L)
{
    const char *name = tz_text_check(L, 1, "tz.read", "path");
    char path[PATH_MAX];
    int64_t at[TZ_AXES] = {0, 0, 0}, shape[TZ_AXES] = {1, 1, 1};
    char rule[TZ_RLE_RULE_SIZE] = "";
    int dims = 0, at_axes = 0, channel = TZ_PNG_GREY;
    bool has_channel = false;
    tz_format_reading reading = {.shape = shape};
    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        tz_options_check(L, 2, "tz.read");
        tz_keys_take(L, 2, "tz.read", read_options, false);
        at_axes = tz_key_integers(L, 2, "tz.read", "at", TZ_AXES, 0, at);
        dims = tz_key_integers(L, 2, "tz.read", "shape", TZ_AXES, 1, shape);
        tz_key_text(L, 2, "tz.read", "order", &reading.order);
        has_channel = tz_key_choice(L, 2, "tz.read", "channel", &channel);
        get_rule(L, rule);
    }
    tz_path_resolve(L, name, path, sizeof path);
    tz_array_handle *handle = tz_array_push(L, name);
    tz_error error;
    const tz_format *format = tz_format_to_read(path);
    char endings[256];
    if (rule[0] && !(format->reads & TZ_READS_RULE))
        tz_raise(L, "tz.read: 'rule' is for Life patterns (%s), not for %.300s",
                 tz_format_endings(TZ_TO_READ, TZ_READS_RULE, endings), path);
    const bool ordered = format->reads & TZ_READS_ORDER;
    if (reading.order && (!ordered || dims == 0))
        tz_raise(L, "tz.read: 'order' is for text with a 'shape'%s%.300s",
                 ordered ? "" : ", not for ", ordered ? "" : path);
    if (has_channel && !(format->reads & TZ_READS_CHANNEL))
        tz_raise(L, "tz.read: 'channel' is for %s, not for %.300s",
                 tz_format_endings(TZ_TO_READ, TZ_READS_CHANNEL, endings), path);
    reading.dims = dims;
    reading.channel = (tz_png_channel)channel;
    const tz_status status = format->read(path, &reading, &error);
    if (reading.array)
        tz_array_own(handle, reading.array);
    if (status == TZ_OK && reading.file) {
        const tz_npy_facts *facts = tz_npy_file_facts(reading.file);
        handle->memory->file = reading.file;
        handle->view = (tz_array){.dtype = facts->dtype, .dims = facts->dims};
        memcpy(handle->view.shape, facts->shape, sizeof handle->view.shape);
    }
    snprintf(handle->rule, sizeof handle->rule, "%s", reading.rule);
    handle->claims_rule = reading.has_rule;
    if (status != TZ_OK)
        tz_raise_error(L, "tz.read", &error);
    if (!has_channel)
        warn_of_lost(L, name, &reading.lost);
    if (dims > 0 && !ordered &&
        (dims != handle->view.dims || memcmp(shape, handle->view.shape, sizeof shape) != 0))
        tz_raise(L, "tz.read: the shape of %.300s is not the given 'shape'", path);
    if (rule[0]) {
        snprintf(handle->rule, sizeof handle->rule, "%s", rule);
        handle->claims_rule = true;
    }
    tz_recall_input(L, path);
    handle->at_axes = at_axes;
    memcpy(handle->at, at, sizeof at);
    return 1;
}

void tz_read_register(lua_State *L)
{
    static const tz_api_function functions[] = {
        TZ_API("tz.read(path[, options])", value_read,
               "An array from a file (see Formats). A relative path begins in the script's folder.",
               .options = read_options, .recall = TZ_RECALL_CALL),
        TZ_API_END};
    tz_api_add(L, functions);
}
