/* Lists of folders, found from environment variables and from the file of this code, and programs
 * in PATH. Called by core/cli, core/library, core/calibrate/records.c, core/define,
 * core/backend/cuda/compile, core/base/cache.c. */
#include "base/paths.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

tz_status tz_paths_add(tz_paths *paths, const char *text, tz_error *error)
{
    char **items = realloc(paths->items, (paths->count + 1) * sizeof *items);
    if (!items)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a list of folders");
    paths->items = items;
    items[paths->count] = strdup(text);
    if (!items[paths->count])
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a list of folders");
    paths->count++;
    return TZ_OK;
}

void tz_paths_clear(tz_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->items[i]);
    free(paths->items);
    *paths = (tz_paths){0};
}

void tz_path_folder(const char *path, char *text, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(text, size, ".");
    else
        snprintf(text, size, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* The file of this program or, in another one, that of the library. */
static void find_self(char self[PATH_MAX])
{
    tz_path_of_code((const void *)find_self, self, PATH_MAX);
}

/* Append a folder, given relative to the folder of that file, if it exists. The path has no ".."
 * and no symbolic links. */
static tz_status add_from_executable(tz_paths *paths, const char *tail, tz_error *error)
{
    char self[PATH_MAX], joined[PATH_MAX + 64], folder[PATH_MAX];
    find_self(self);
    if (!self[0])
        return TZ_OK;
    tz_path_folder(self, folder, sizeof folder);
    snprintf(joined, sizeof joined, "%s/%s", folder, tail);
    if (!realpath(joined, self) || !is_folder(self))
        return TZ_OK;
    return tz_paths_add(paths, self, error);
}

tz_status tz_paths_add_plugins(tz_paths *paths, tz_error *error)
{
    const char *list = getenv("TRAPEZE_PLUGIN_PATH");
    while (list && *list) {
        char folder[PATH_MAX];
        const size_t length = strcspn(list, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)length, list);
        if (length > 0 && tz_paths_add(paths, folder, error) != TZ_OK)
            return TZ_MEMORY;
        list += length + (list[length] == ':');
    }
    const tz_status status = add_from_executable(paths, "../lib/trapeze/plugins", error);
    return status ? status : add_from_executable(paths, "../plugins", error);
}

tz_status tz_paths_add_data(tz_paths *paths, const char *name, const char *source, tz_error *error)
{
    char tail[PATH_MAX];
    const size_t before = paths->count;
    snprintf(tail, sizeof tail, "../share/trapeze/%s", name);
    const tz_status status = add_from_executable(paths, tail, error);
    snprintf(tail, sizeof tail, TZ_SOURCE_FROM_BIN "/%s", source);
    return status || paths->count > before ? status : add_from_executable(paths, tail, error);
}

tz_status tz_paths_add_headers(tz_paths *paths, tz_error *error)
{
    /* The second is the place of the source tree as seen from the build tree. */
    static const char *const tails[] = {"../include", TZ_SOURCE_FROM_BIN "/core/include"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        char file[PATH_MAX];
        const size_t before = paths->count;
        const tz_status status = add_from_executable(paths, tails[i], error);
        if (status)
            return status;
        if (paths->count == before)
            continue;
        const int length = snprintf(file, sizeof file, "%s/trapeze/plugin.h", paths->items[before]);
        if (length < (int)sizeof file && access(file, R_OK) == 0)
            return TZ_OK;
        free(paths->items[--paths->count]);
    }
    return TZ_OK;
}

char *tz_cache_folder(bool *wanted)
{
    char *folder = NULL;
    const char *own = getenv("TRAPEZE_CACHE");
    *wanted = !own || *own;
    if (own)
        return *own ? strdup(own) : NULL;
    const char *shared = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    int length = -1;
    if (shared && *shared == '/') /* the XDG specification says to ignore relative paths */
        length = asprintf(&folder, "%s/trapeze", shared);
    else if (home && *home)
        length = asprintf(&folder, "%s/.cache/trapeze", home);
    return length < 0 ? NULL : folder;
}

void tz_path_prefix(char *text, size_t size)
{
    char self[PATH_MAX], folder[PATH_MAX];
    find_self(self);
    tz_path_folder(self, folder, sizeof folder);
    tz_path_folder(folder, text, size);
    if (!self[0])
        text[0] = '\0';
}

void tz_path_of_code(const void *code, char *text, size_t size)
{
    char self[PATH_MAX];
    Dl_info facts;
    struct link_map *file = NULL;
    const bool known = dladdr1(code, &facts, (void **)&file, RTLD_DL_LINKMAP) != 0 && file;
    /* The executable has no name there. */
    const char *name = known && file->l_name[0] ? file->l_name : "/proc/self/exe";
    snprintf(text, size, "%s", realpath(name, self) ? self : "");
}

static bool is_program(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

bool tz_program_find(const char *name, char *path)
{
    const char *list = getenv("PATH");
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
    while (name[0] && list && *list) {
        const size_t length = strcspn(list, ":");
        if (snprintf(path, PATH_MAX, "%.*s/%s", (int)length, list, name) < PATH_MAX &&
            is_program(path))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

bool tz_program_exists(const char *name)
{
    char path[PATH_MAX];
    return tz_program_find(name, path);
}
