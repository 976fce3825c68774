#include "lua/module.h"

#include "base/file.h"
#include "lua/api.h"
#include "lua/array.h"
#include "lua/context.h"
#include "lua/keys.h"
#include "lua/recall.h"
#include "output/format/life_files.h"
#include "output/format/png_read.h"
#include "output/format/text.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Larger .npy files stay on the disk: fields take them piece by piece. */
enum { LARGE_BYTES = 64 << 20 };

typedef enum file_kind {
    KIND_NPY,
    KIND_PNG,
    KIND_RLE,
    KIND_CELLS,
    KIND_MACROCELL,
    KIND_TEXT
} file_kind;

static file_kind find_kind(const char *path)
{
    static const struct {
        const char *suffix;
        file_kind kind;
    } known[] = {{".npy", KIND_NPY},     {".png", KIND_PNG},      {".rle", KIND_RLE},
                 {".cells", KIND_CELLS}, {".mc", KIND_MACROCELL}, {".txt", KIND_TEXT}};
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix && i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(suffix, known[i].suffix) == 0)
            return known[i].kind;
    /* Another name: the first bytes decide. */
    unsigned char magic[8] = {0};
    FILE *file;
    if (tz_file_stream(path, &file, NULL, NULL) != TZ_OK)
        return KIND_TEXT; /* its reader reports the error */
    const size_t got = fread(magic, 1, sizeof magic, file);
    fclose(file);
    if (got >= 6 && memcmp(magic, "\x93NUMPY", 6) == 0)
        return KIND_NPY;
    return got == 8 && memcmp(magic, "\x89PNG\r\n\x1a\n", 8) == 0 ? KIND_PNG : KIND_TEXT;
}

static tz_status read_npy(tz_array_handle *handle, const char *path, tz_array **array,
                          tz_error *error)
{
    tz_npy_file *file;
    tz_status status = tz_npy_open(&file, path, error);
    if (status != TZ_OK)
        return status;
    const tz_npy_facts *facts = tz_npy_file_facts(file);
    const int64_t count = tz_shape_count(facts->dims, facts->shape);
    if (count < LARGE_BYTES / (int64_t)tz_dtype_size(facts->dtype)) {
        status = tz_npy_read_all(file, array, error);
        tz_npy_close(file);
        return status;
    }
    handle->memory->file = file;
    handle->view = (tz_array){.dtype = facts->dtype, .dims = facts->dims};
    memcpy(handle->view.shape, facts->shape, sizeof handle->view.shape);
    return TZ_OK;
}

typedef tz_status read_pattern_fn(const char *path, tz_life_pattern *out, tz_error *error);

static tz_status read_pattern(tz_array_handle *handle, read_pattern_fn *read, const char *path,
                              tz_array **array, tz_error *error)
{
    tz_life_pattern pattern;
    memset(&pattern, 0, sizeof pattern);
    const tz_status status = read(path, &pattern, error);
    if (status == TZ_OK) {
        *array = pattern.cells;
        pattern.cells = NULL;
        snprintf(handle->rule, sizeof handle->rule, "%s", pattern.rule);
        handle->claims_rule = pattern.has_rule;
    }
    tz_life_pattern_clear(&pattern);
    return status;
}

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
    const char *order;
    int dims = 0, at_axes = 0, channel = TZ_PNG_GREY;
    bool has_order = false, has_channel = false;
    tz_png_lost lost = {0, 0};
    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        tz_options_check(L, 2, "tz.read");
        tz_keys_take(L, 2, "tz.read", read_options, false);
        at_axes = tz_key_integers(L, 2, "tz.read", "at", TZ_AXES, 0, at);
        dims = tz_key_integers(L, 2, "tz.read", "shape", TZ_AXES, 1, shape);
        has_order = tz_key_text(L, 2, "tz.read", "order", &order);
        has_channel = tz_key_choice(L, 2, "tz.read", "channel", &channel);
        get_rule(L, rule);
    }
    tz_path_resolve(L, name, path, sizeof path);
    tz_array_handle *handle = tz_array_push(L, name);
    tz_array *array = NULL;
    tz_error error;
    tz_status status = TZ_OK;
    const file_kind kind = find_kind(path);
    if (rule[0] && kind != KIND_RLE && kind != KIND_CELLS && kind != KIND_MACROCELL)
        tz_raise(L, "tz.read: 'rule' is for Life patterns (.rle, .cells, .mc), not for %.300s",
                 path);
    if (has_order && (kind != KIND_TEXT || dims == 0))
        tz_raise(L, "tz.read: 'order' is for text with a 'shape'%s%.300s",
                 kind == KIND_TEXT ? "" : ", not for ", kind == KIND_TEXT ? "" : path);
    if (has_channel && kind != KIND_PNG)
        tz_raise(L, "tz.read: 'channel' is for .png, not for %.300s", path);
    switch (kind) {
    case KIND_NPY:
        status = read_npy(handle, path, &array, &error);
        break;
    case KIND_PNG:
        status = tz_png_read(path, (tz_png_channel)channel, &array, &lost, &error);
        break;
    case KIND_RLE:
        status = read_pattern(handle, tz_rle_read, path, &array, &error);
        break;
    case KIND_CELLS:
        status = read_pattern(handle, tz_cells_read, path, &array, &error);
        break;
    case KIND_MACROCELL:
        status = read_pattern(handle, tz_macrocell_read, path, &array, &error);
        break;
    case KIND_TEXT:
        status = tz_text_read(path, dims, shape, &array, &error);
        if (status == TZ_OK && has_order)
            status = tz_array_reorder(&array, order, &error);
        dims = 0;
        break;
    }
    if (array)
        tz_array_own(handle, array);
    if (status != TZ_OK)
        tz_raise_error(L, "tz.read", &error);
    if (!has_channel)
        warn_of_lost(L, name, &lost);
    if (dims > 0 &&
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
               "An array from a file: `.npy`, `.png` (gray values), a Life pattern as `.rle`, "
               "`.cells` (plain text) or `.mc` (a macrocell of Golly, of which it is the smallest "
               "rectangle with all living cells), else text, "
               "numbers between blanks. A relative path begins in the script's folder.",
               .options = read_options, .recall = TZ_RECALL_CALL),
        TZ_API_END};
    tz_api_add(L, functions);
}
