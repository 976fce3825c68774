/* The source of a stencil, compiled, loaded and registered. Called by core/lua. */
#include "define/plugin.h"

#include "define/compiler.h"
#include <stdio.h>
#include <stdlib.h>

static const tz_cache_kind images = {
    .magic = {'T', 'Z', 'P', 'L', 'U', 'G', 'I', '1'}, .ending = "so", .folder = "stencils"};

/* The key of a stencil's image, and the compiler. */
static tz_status prepare(const char *id, const tz_defined_source *source, tz_compiler *compiler,
                         tz_cache_key *key, tz_error *error)
{
    tz_status status = tz_cache_check_private(&images, error);
    if (!status)
        status = tz_compiler_find(compiler, error);
    if (status)
        return status;
    *key = tz_cache_key_start();
    tz_cache_key_add(key, "tz.stencil");
    tz_cache_key_add(key, id);
    tz_cache_key_add(key, source->plugin_text);
    tz_cache_key_add(key, source->cell_text);
    status = tz_compiler_add_key(compiler, key, error);
    *key = tz_cache_key_end(*key);
    return status;
}

tz_status tz_define_plugin(tz_registry *registry, const char *id, const tz_defined_source *source,
                           const char *from, int (*stopped)(void), tz_error *error)
{
    tz_compiler compiler;
    tz_cache_key key;
    const tz_plugin *plugin;
    size_t bytes = 0;
    tz_status status = prepare(id, source, &compiler, &key, error);
    if (status)
        return status;
    void *image = tz_cache_read(key, &images, &bytes);
    const bool kept = image;
    if (!kept)
        status = tz_compiler_build(&compiler, id, source->plugin_text, source->cell_text, stopped,
                                   &image, &bytes, error);
    if (!status)
        status = tz_registry_add(registry, from, image, bytes, &plugin, error);
    if (!status && !kept)
        tz_cache_write(key, &images, image, bytes);
    free(image);
    return status;
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
