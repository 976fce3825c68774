/* The plugins of some folders, opened with dlopen, and those that are added later. A plugin of a
 * folder that is refused stays in the list, with the reason. Functions of a plugin are tested when
 * it is asked for the first time. Not for several threads at once. */
#ifndef TZ_CORE_STENCIL_REGISTRY_H
#define TZ_CORE_STENCIL_REGISTRY_H

#include "base/cancel.h"
#include "base/error.h"
#include "stencil/stencil.h"

typedef struct tz_registry tz_registry;

typedef struct tz_registry_entry {
    const char *path;        /* or where it is from; borrowed from the registry */
    const char *file;        /* from which this process can read it; borrowed; NULL: not compiled */
    const tz_plugin *plugin; /* a copy, zero where an older plugin lacks a member; NULL: refused */
    tz_error error;          /* the reason, if it is refused */
    bool defined;            /* tz_registry_add() added it: a scenario's */
} tz_registry_entry;

/* Open every *.so of each folder, in the order of names; a "folder" may also be such a file.
 * Folders that do not exist are skipped.
 * Errors: TZ_MEMORY; a plugin that is refused is not an error. */
tz_status tz_registry_create(tz_registry **out, const char *const *folders, size_t folders_count,
                             tz_error *error);
/* The same, but functions are tried in child processes: this process's signals are left alone. */
tz_status tz_registry_create_apart(tz_registry **out, const char *const *folders,
                                   size_t folders_count, tz_error *error);
/* Open a plugin that is in memory, all bytes of a shared library, and add it to the list. `name`
 * says in messages where it is from. *plugin is borrowed from the registry. A plugin that is
 * refused is not added. Errors: TZ_PLUGIN, also if a stencil's id is there already; TZ_MEMORY;
 * TZ_IO. */
tz_status tz_registry_add(tz_registry *registry, const char *name, const void *image, size_t bytes,
                          const tz_plugin **plugin, tz_error *error);

/* A stencil that is in memory, whose row functions are slow ones until they are compiled. It begins
 * what tz_stencil.engine points to. */
typedef struct tz_late_rows {
    /* [any thread] Makes the same plugin as a shared library, malloc'd. `kept`: only takes what is
     * kept of an earlier run; without that *image is NULL. */
    tz_status (*compile)(struct tz_late_rows *late, bool kept, const tz_cancel *cancel,
                         void **image, size_t *bytes, tz_error *error);
    /* [main] The library has been taken. */
    void (*keep)(struct tz_late_rows *late, const void *image, size_t bytes);
    void (*destroy)(struct tz_late_rows *late);
    /* What another process makes the same stencil of (define/plugin.h). */
    void *definition;
    size_t definition_bytes;
    struct plugin_slot *slot; /* the registry's */
} tz_late_rows;

/* Add a plugin of such a stencil. From then on the registry owns `late`. The errors of
 * tz_registry_add(), after which the caller does. */
tz_status tz_registry_add_late(tz_registry *registry, const char *name, const tz_plugin *theirs,
                               tz_late_rows *late, const tz_plugin **plugin, tz_error *error);
/* [main] Begin to compile the row functions of a stencil beside the run, unless they are compiled,
 * or cannot be. What is kept is taken at once; with `kept_only` there is no more. */
void tz_stencil_compile_begin(const tz_stencil *stencil, bool kept_only, const tz_cancel *cancel);
/* [main] Are its row functions the slow ones, since nobody has compiled them yet? */
bool tz_stencil_is_interpreted(const tz_stencil *stencil);
/* [main] Are they still being compiled? If that has ended, they take the place of the slow ones. */
bool tz_stencil_is_compiling(const tz_stencil *stencil);
/* [main] Compile them, unless they are, and wait. Compiled functions are held against the cell
 * functions in memory. After an error the slow ones stay; it is the same at each call, but
 * TZ_INTERRUPTED does not last. */
tz_status tz_stencil_compile(const tz_stencil *stencil, const tz_cancel *cancel, tz_error *error);
/* [main] Take row functions that another process has compiled, the bytes of a library. If they
 * cannot be taken, the slow ones stay. */
void tz_stencil_take(const tz_stencil *stencil, const void *image, size_t bytes);
/* A file from which this process can read the compiled library of a stencil that was in memory.
 * Borrowed from the registry; NULL: it is not compiled. */
const char *tz_stencil_file(const tz_stencil *stencil);
/* Why the row functions of a stencil are the slow ones, once for each stencil: false after that, or
 * if there is no reason. */
bool tz_stencil_take_fault(const tz_stencil *stencil, tz_error *fault);

/* Closes the plugins. NULL is fine. */
void tz_registry_destroy(tz_registry *registry);

size_t tz_registry_count(const tz_registry *registry);
/* index < tz_registry_count(). Borrowed from the registry. */
const tz_registry_entry *tz_registry_get(const tz_registry *registry, size_t index);
/* The entry of a plugin that tz_registry_find() gave, or NULL. Borrowed from the registry. */
const tz_registry_entry *tz_registry_of(const tz_registry *registry, const tz_plugin *plugin);

/* The stencil with that id, and its plugin (`plugin` may be NULL); both are borrowed from the
 * registry. Errors: TZ_PLUGIN, with the reason, if the file ID.so was refused; TZ_UNKNOWN, with
 * the nearest known id. */
tz_status tz_registry_find(const tz_registry *registry, const char *id, const tz_stencil **stencil,
                           const tz_plugin **plugin, tz_error *error);

#endif
