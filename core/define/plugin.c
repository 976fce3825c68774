/* A stencil enters the registry: in memory, with its compilation for later; or compiled, with a raw
 * text. Called by core/lua. */
#include "define/plugin.h"

#include "define/compiler.h"
#include "define/describe.h"
#include <stdio.h>
#include <stdlib.h>

static const tz_cache_kind images = {
    .magic = {'T', 'Z', 'P', 'L', 'U', 'G', 'I', '1'}, .ending = "so", .folder = "stencils"};

/* The compiled source, from the cache, or else, unless `only_kept`, by the compiler. *kept: it is
 * in the cache, by this key. */
static tz_status compile(const char *id, const char *const texts[2], bool only_kept,
                         const tz_cancel *cancel, tz_cache_key *key, bool *kept, void **image,
                         size_t *bytes, tz_error *error)
{
    tz_compiler compiler;
    tz_status status = tz_cache_check_private(&images, error);
    *image = NULL;
    if (!status)
        status = tz_compiler_find(&compiler, cancel, error);
    if (status)
        return status;
    *key = tz_cache_key_start();
    tz_cache_key_add(key, "tz.stencil");
    tz_cache_key_add(key, id);
    tz_cache_key_add(key, texts[0]);
    tz_cache_key_add(key, texts[1]);
    status = tz_compiler_add_key(&compiler, key, error);
    *key = tz_cache_key_end(*key);
    if (!status)
        *image = tz_cache_read(*key, &images, bytes);
    *kept = *image;
    if (!status && !*image && !only_kept)
        status = tz_compiler_build(&compiler, id, texts[0], texts[1], image, bytes, error);
    return status;
}

static tz_status compile_late(tz_late_rows *late, bool only_kept, const tz_cancel *cancel,
                              void **image, size_t *bytes, tz_error *error)
{
    tz_described *d = (tz_described *)late;
    return compile(d->stencil.id, (const char *const[]){d->plugin_text, d->cell_text}, only_kept,
                   cancel, &d->key, &d->kept, image, bytes, error);
}

static void keep_late(tz_late_rows *late, const void *image, size_t bytes)
{
    const tz_described *d = (const tz_described *)late;
    if (!d->kept)
        tz_cache_write(d->key, &images, image, bytes);
}

static void destroy_late(tz_late_rows *late)
{
    tz_described_destroy((tz_described *)late);
}

/* A stencil in memory: the registry takes it. */
static tz_status add_late(tz_registry *registry, tz_defined_source *source, const char *from,
                          tz_error *error)
{
    const tz_plugin *plugin;
    tz_described *d = source->described;
    d->late.compile = compile_late;
    d->late.keep = keep_late;
    d->late.destroy = destroy_late;
    const tz_status status =
        tz_registry_add_late(registry, from, &d->plugin, &d->late, &plugin, error);
    if (status)
        return status;
    d->cell_text = source->cell_text;
    d->plugin_text = source->plugin_text;
    source->cell_text = source->plugin_text = NULL;
    source->described = NULL;
    return TZ_OK;
}

tz_status tz_define_plugin(tz_registry *registry, const char *id, tz_defined_source *source,
                           const char *from, const tz_cancel *cancel, tz_error *error)
{
    static const tz_cancel never = {.stopped = NULL};
    const tz_plugin *plugin;
    tz_cache_key key;
    bool kept;
    void *image;
    size_t bytes;
    if (source->described)
        return add_late(registry, source, from, error);
    tz_status status = compile(id, (const char *const[]){source->plugin_text, source->cell_text},
                               false, cancel ? cancel : &never, &key, &kept, &image, &bytes, error);
    if (!status)
        status = tz_registry_add(registry, from, image, bytes, &plugin, error);
    if (!status && !kept)
        tz_cache_write(key, &images, image, bytes);
    free(image);
    return status;
}

tz_status tz_define_again(tz_registry *registry, void *bytes, const char *from, tz_error *error)
{
    const tz_definition *definition = tz_definition_unpack(bytes);
    tz_defined_source source;
    tz_status status = tz_define_source(definition, &source, error);
    if (!status)
        status = add_late(registry, &source, from, error);
    tz_defined_source_clear(&source);
    return status;
}

int tz_define_describe(char *text, size_t size)
{
    tz_compiler compiler;
    tz_error error;
    char folder[PATH_MAX];
    if (tz_compiler_find(&compiler, NULL, &error) != TZ_OK) {
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
