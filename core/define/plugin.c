/* A stencil enters the registry: in memory, with its compilation for later; or compiled, with a raw
 * text. Called by core/lua. */
#include "define/plugin.h"

#include "define/compiler.h"
#include "define/describe.h"
#include <stdio.h>
#include <stdlib.h>

static const tz_cache_kind images = {
    .magic = {'T', 'Z', 'P', 'L', 'U', 'G', 'I', '1'}, .ending = "so", .folder = "stencils"};

/* The key of a stencil's image, and the compiler. */
static tz_status prepare(const char *id, const char *plugin_text, const char *cell_text,
                         tz_compiler *compiler, tz_cache_key *key, tz_error *error)
{
    tz_status status = tz_cache_check_private(&images, error);
    if (!status)
        status = tz_compiler_find(compiler, error);
    if (status)
        return status;
    *key = tz_cache_key_start();
    tz_cache_key_add(key, "tz.stencil");
    tz_cache_key_add(key, id);
    tz_cache_key_add(key, plugin_text);
    tz_cache_key_add(key, cell_text);
    status = tz_compiler_add_key(compiler, key, error);
    *key = tz_cache_key_end(*key);
    return status;
}

/* Where an image goes: the plugin of a raw text, or the stencil in memory. */
typedef struct image_taker {
    tz_registry *registry;
    const char *from;
    tz_late_rows *late;
} image_taker;

static tz_status take(const image_taker *to, const void *image, size_t bytes, tz_error *error)
{
    const tz_plugin *plugin;
    return to->late ? tz_late_rows_take(to->late, image, bytes, error)
                    : tz_registry_add(to->registry, to->from, image, bytes, &plugin, error);
}

/* The compiled source, from the cache or by the compiler. What is refused is not kept. */
static tz_status compile(const char *id, const char *plugin_text, const char *cell_text,
                         int (*stopped)(void), const image_taker *to, tz_error *error)
{
    tz_compiler compiler;
    tz_cache_key key;
    size_t bytes = 0;
    tz_status status = prepare(id, plugin_text, cell_text, &compiler, &key, error);
    if (status)
        return status;
    void *image = tz_cache_read(key, &images, &bytes);
    const bool kept = image;
    if (!kept)
        status = tz_compiler_build(&compiler, id, plugin_text, cell_text, stopped, &image, &bytes,
                                   error);
    if (!status)
        status = take(to, image, bytes, error);
    if (!status && !kept)
        tz_cache_write(key, &images, image, bytes);
    free(image);
    return status;
}

static tz_status compile_late(tz_late_rows *late, tz_error *error)
{
    const tz_described *d = (const tz_described *)late;
    const image_taker to = {.late = late};
    return compile(d->stencil.id, d->plugin_text, d->cell_text, d->stopped, &to, error);
}

static void destroy_late(tz_late_rows *late)
{
    tz_described_destroy((tz_described *)late);
}

tz_status tz_define_plugin(tz_registry *registry, const char *id, tz_defined_source *source,
                           const char *from, int (*stopped)(void), tz_error *error)
{
    const tz_plugin *plugin;
    tz_described *d = source->described;
    if (d) {
        d->late = (tz_late_rows){.compile = compile_late, .destroy = destroy_late};
        d->stopped = stopped;
        const tz_status added =
            tz_registry_add_late(registry, from, &d->plugin, &d->late, &plugin, error);
        if (!added) { /* they are the registry's now */
            d->cell_text = source->cell_text;
            d->plugin_text = source->plugin_text;
            source->cell_text = source->plugin_text = NULL;
            source->described = NULL;
        }
        return added;
    }
    const image_taker to = {.registry = registry, .from = from};
    return compile(id, source->plugin_text, source->cell_text, stopped, &to, error);
}

int tz_define_describe(char *text, size_t size)
{
    tz_compiler compiler;
    tz_error error;
    char folder[PATH_MAX];
    if (tz_compiler_find(&compiler, &error) != TZ_OK) {
        snprintf(text, size, "missing, optional: %s\n", error.message);
        return 0;
    }
    tz_cache_describe(folder, sizeof folder);
    const bool closed = tz_cache_check_private(&images, &error) == TZ_OK;
    const int used = snprintf(text, size, "compiler: %.300s (%s)\nheaders: %s\ncache: %s\n",
                              compiler.command, compiler.version, compiler.headers, folder);
    if (!closed && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "NOT usable: %s: %s\n", error.place,
                 error.message);
    return !closed;
}
