/* The plugins of some folders: opened, checked and kept. */
#include "stencil/registry.h"

#include "base/names.h"
#include "base/threads.h"
#include "stencil/description.h"
#include "stencil/plugin_file.h"
#include "stencil/probe.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct plugin_slot {
    tz_registry_entry entry;
    char path[PATH_MAX];
    dev_t device; /* and inode: which file it is */
    ino_t inode;
    int file;       /* of a plugin that was in memory; -1: of a folder */
    char image[32]; /* its name */
    void *handle;
    tz_plugin plugin; /* a copy: zero where an older plugin lacks a member */
    tz_stencil *stencils;
    size_t stencils_count; /* copied so far */
    const tz_stencil **stencil_pointers;
    bool probed;
    bool apart;         /* is tried in another process */
    tz_late_rows *late; /* of a stencil in memory, else NULL */
    bool compiling, compiled;
    pthread_t thread; /* that compiles: its library, or not_compiled */
    atomic_bool ended, unwanted;
    tz_cancel cancel;
    void *built;
    size_t built_bytes;
    tz_error not_compiled; /* why; code 0: not tried */
    bool fault_taken;
} plugin_slot;

struct tz_registry {
    plugin_slot **slots;
    size_t count;
    bool apart;
};

static tz_status try_functions(const plugin_slot *slot, const tz_stencil *stencil, tz_error *error)
{
    return slot->apart ? tz_probe_stencil_apart(stencil, slot->path, error)
                       : tz_probe_stencil(stencil, slot->path, error);
}

/* All passes: also outputs, and those of cells far from the edge of a domain. */
static int count_all(const tz_stencil *stencil)
{
    return stencil->passes_count * (stencil->inner ? 2 : 1) + stencil->outputs_count;
}

/* Number `i` of them, in the registry's copy. */
static tz_pass *pass_of(const tz_stencil *stencil, int i)
{
    const int outputs = i - stencil->passes_count, inner = outputs - stencil->outputs_count;
    return (tz_pass *)(uintptr_t)(inner >= 0     ? &stencil->inner[inner]
                                  : outputs >= 0 ? &stencil->outputs[outputs]
                                                 : &stencil->passes[i]);
}

/* The functions of in_place of plugins for 2.5 take one group of rows at a time, and would compute
 * wrong coordinates of the others. */
static void forget_in_place(tz_stencil *stencil)
{
    for (int i = 0; i < stencil->passes_count; i++) {
        tz_pass *pass = pass_of(stencil, i);
        pass->in_place = pass->slabs > 0 ? NULL : pass->in_place;
        pass->slabs = 0;
    }
}

/* Members that are the engine's own, whatever a library has there. */
static void forget_engine(tz_stencil *stencil)
{
    stencil->engine = NULL;
    for (int i = 0; i < count_all(stencil); i++)
        pass_of(stencil, i)->engine = NULL;
}

static tz_status take_stencils(plugin_slot *slot, tz_error *error)
{
    const tz_plugin *plugin = &slot->plugin;
    if (plugin->stencils_count < 1 || !plugin->stencils)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "the plugin holds no stencil");
    const size_t count = (size_t)plugin->stencils_count;
    slot->stencils = calloc(count, sizeof *slot->stencils);
    slot->stencil_pointers = calloc(count, sizeof *slot->stencil_pointers);
    if (!slot->stencils || !slot->stencil_pointers)
        return tz_error_set(error, TZ_MEMORY, slot->path, "not enough memory");
    for (size_t i = 0; i < count; i++) {
        const tz_status status =
            tz_description_take(&slot->stencils[i], plugin->stencils[i], slot->path, error);
        if (status)
            return status;
        if (plugin->abi_minor == 5)
            forget_in_place(&slot->stencils[i]);
        if (!slot->late)
            forget_engine(&slot->stencils[i]);
        slot->stencil_pointers[i] = &slot->stencils[i];
        slot->stencils_count++;
    }
    slot->plugin.stencils = slot->stencil_pointers;
    return TZ_OK;
}

/* How the processor rounds, and whether it keeps denormal numbers. */
static unsigned rounding(void)
{
#if defined(__SSE__)
    return __builtin_ia32_stmxcsr() & ~0x3fu; /* without the exceptions that there were */
#elif defined(__aarch64__)
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control;
#else
    return (unsigned)fegetround();
#endif
}

/* Load the library at `path`, which is the slot's own or that of its open file. dlopen() runs what
 * the library runs at its start. */
static tz_status load(plugin_slot *slot, const char *path, tz_error *error)
{
    const tz_status status = tz_plugin_file_check(path, error);
    if (status)
        return status;
    const unsigned before = rounding();
    fenv_t environment;
    fegetenv(&environment);
    slot->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!slot->handle) {
        /* dlerror() begins with the path, which the message has already. */
        const char *text = dlerror(), *colon = text ? strstr(text, ": ") : NULL;
        return tz_error_set(error, TZ_PLUGIN, slot->path, "cannot be opened: %s",
                            colon && strncmp(text, path, strlen(path)) == 0 ? colon + 2
                            : text                                          ? text
                                                                            : "unknown reason");
    }
    if (rounding() == before)
        return TZ_OK;
    fesetenv(&environment);
    return tz_error_set(error, TZ_PLUGIN, slot->path,
                        "changes how the processor rounds, for all of the process, which changes "
                        "bits: link it without -ffast-math and -Ofast");
}

/* Load a library, and ask for what it describes. */
static tz_status open_library(plugin_slot *slot, const char *path, const tz_plugin **plugin,
                              tz_error *error)
{
    tz_status status = load(slot, path, error);
    if (status)
        return status;
    tz_plugin_entry_fn *entry;
    *(void **)&entry = dlsym(slot->handle, TZ_PLUGIN_ENTRY_NAME);
    if (!entry)
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "has no function %s(): end the plugin with TZ_PLUGIN_ENTRY()",
                            TZ_PLUGIN_ENTRY_NAME);
    const tz_plugin *theirs = entry();
    if (!theirs)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "%s() returned nothing",
                            TZ_PLUGIN_ENTRY_NAME);
    if (theirs->abi_major != TZ_ABI_MAJOR || theirs->abi_minor > TZ_ABI_MINOR)
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "is built for plugin ABI %u.%u, this trapeze has %u.%u: rebuild it "
                            "with this version's headers",
                            theirs->abi_major, theirs->abi_minor, TZ_ABI_MAJOR, TZ_ABI_MINOR);
    if (theirs->struct_size < offsetof(tz_plugin, init))
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "its description is %u bytes long, at least %zu are needed: set "
                            "struct_size through TZ_PLUGIN_HEADER and rebuild",
                            theirs->struct_size, offsetof(tz_plugin, init));
    *plugin = theirs;
    return TZ_OK;
}

static tz_status take_plugin(plugin_slot *slot, const tz_plugin *theirs, tz_error *error)
{
    memcpy(&slot->plugin, theirs,
           theirs->struct_size < sizeof slot->plugin ? theirs->struct_size : sizeof slot->plugin);
    if (!slot->plugin.id || !slot->plugin.version)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "lacks its id or version");
    const tz_status status = take_stencils(slot, error);
    if (status)
        return status;
    char message[512] = "";
    if (slot->plugin.init && slot->plugin.init(message, sizeof message) != 0) {
        slot->plugin.finish = NULL; /* not called after init() failed */
        return tz_error_set(error, TZ_PLUGIN, slot->path, "init failed: %s",
                            message[0] ? message : "no reason given");
    }
    slot->entry.plugin = &slot->plugin;
    return TZ_OK;
}

static void refuse(plugin_slot *slot)
{
    if (slot->entry.plugin && slot->plugin.finish)
        slot->plugin.finish();
    slot->entry.plugin = NULL;
}

/* The plugin, or NULL: refused. The first call tests what is only seen when the plugin's functions
 * are called, which takes longer than to open it. */
static const tz_plugin *probed(plugin_slot *slot)
{
    tz_status status = TZ_OK;
    if (!slot->entry.plugin || slot->probed)
        return slot->entry.plugin;
    slot->probed = true;
    for (size_t i = 0; i < slot->stencils_count && !status; i++)
        status = try_functions(slot, &slot->stencils[i], &slot->entry.error);
    if (status)
        refuse(slot);
    return slot->entry.plugin;
}

static const tz_stencil *stencil_of(const tz_plugin *plugin, const char *id)
{
    for (int i = 0; plugin && i < plugin->stencils_count; i++)
        if (strcmp(plugin->stencils[i]->id, id) == 0)
            return plugin->stencils[i];
    return NULL;
}

/* Ids are unique: a scenario names a stencil by its id alone. */
static tz_status check_unique(const tz_registry *registry, const plugin_slot *slot, tz_error *error)
{
    for (int i = 0; i < slot->plugin.stencils_count; i++) {
        const char *id = slot->plugin.stencils[i]->id;
        for (int j = 0; j < i; j++)
            if (strcmp(id, slot->plugin.stencils[j]->id) == 0)
                return tz_error_set(error, TZ_PLUGIN, slot->path, "holds stencil '%s' twice", id);
        for (size_t k = 0; k < registry->count; k++)
            if (stencil_of(registry->slots[k]->entry.plugin, id) && probed(registry->slots[k]))
                return tz_error_set(error, TZ_PLUGIN, slot->path,
                                    "stencil '%s' is already there, from %s", id,
                                    registry->slots[k]->path);
    }
    return TZ_OK;
}

/* The same file may be found twice: a folder given twice, or a link. */
static bool is_known(const tz_registry *registry, const struct stat *facts)
{
    for (size_t i = 0; i < registry->count; i++)
        if (registry->slots[i]->device == facts->st_dev &&
            registry->slots[i]->inode == facts->st_ino)
            return true;
    return false;
}

/* A slot at the end of the list, not counted yet; NULL without memory. */
static plugin_slot *make_slot(tz_registry *registry, const char *path)
{
    plugin_slot **slots = realloc(registry->slots, (registry->count + 1) * sizeof *slots);
    if (slots)
        registry->slots = slots;
    plugin_slot *slot = slots ? calloc(1, sizeof *slot) : NULL;
    if (!slot)
        return NULL;
    snprintf(slot->path, sizeof slot->path, "%s", path);
    slot->entry.path = slot->entry.file = slot->path;
    slot->file = -1;
    slot->apart = registry->apart;
    registry->slots[registry->count] = slot;
    return slot;
}

static void close_slot(plugin_slot *slot)
{
    refuse(slot);
    for (size_t k = 0; k < slot->stencils_count; k++)
        tz_description_clear(&slot->stencils[k]);
    atomic_store(&slot->unwanted, true);
    if (slot->compiling)
        pthread_join(slot->thread, NULL);
    free(slot->built);
    if (slot->late)
        slot->late->destroy(slot->late);
    free(slot->stencils);
    free(slot->stencil_pointers);
    if (slot->handle)
        dlclose(slot->handle);
    if (slot->file >= 0)
        close(slot->file);
    free(slot);
}

/* Open the library at `path`, or else take `plugin`, for a slot that make_slot() made. */
static tz_status fill_slot(const tz_registry *registry, plugin_slot *slot, const char *path,
                           const tz_plugin *plugin, tz_error *error)
{
    const tz_plugin *theirs;
    tz_status status = path ? open_library(slot, path, &theirs, error) : TZ_OK;
    if (!status)
        status = take_plugin(slot, path ? theirs : plugin, error);
    if (status)
        return status;
    status = check_unique(registry, slot, error);
    if (status)
        refuse(slot);
    return status;
}

static tz_status add_plugin(tz_registry *registry, const char *path, tz_error *error)
{
    struct stat facts = {.st_ino = 0};
    const bool exists = stat(path, &facts) == 0;
    if (exists && is_known(registry, &facts))
        return TZ_OK;
    plugin_slot *slot = make_slot(registry, path);
    if (!slot)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plugin list");
    slot->device = facts.st_dev;
    slot->inode = facts.st_ino;
    fill_slot(registry, slot, slot->path, NULL, &slot->entry.error);
    registry->count++;
    return TZ_OK;
}

/* A file without a name that holds the image, for the slot. */
static tz_status keep_image(plugin_slot *slot, const void *image, size_t bytes, tz_error *error)
{
    const char *temporary = getenv("TMPDIR");
    slot->file = memfd_create("plugin", MFD_CLOEXEC);
    if (slot->file < 0) /* some systems forbid it */
        slot->file = open(temporary && *temporary ? temporary : "/tmp",
                          O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (slot->file < 0)
        return tz_error_set_errno(error, errno, slot->path, "cannot make a file without a name");
    for (size_t done = 0; done < bytes;) {
        const ssize_t wrote = write(slot->file, (const char *)image + done, bytes - done);
        if (wrote <= 0)
            return tz_error_set_errno(error, errno, slot->path,
                                      "cannot write a file without a name");
        done += (size_t)wrote;
    }
    return TZ_OK;
}

/* The loader knows libraries by their paths: the file stays open, so that the number stays its own.
 */
static void name_image(plugin_slot *slot)
{
    snprintf(slot->image, sizeof slot->image, "/proc/self/fd/%d", slot->file);
    slot->entry.file = slot->image;
}

/* Enter a slot that has been filled, or close it. */
static tz_status enter(tz_registry *registry, plugin_slot *slot, tz_status status,
                       const tz_plugin **plugin, tz_error *error)
{
    if (!status && !probed(slot)) {
        if (error)
            *error = slot->entry.error;
        status = TZ_PLUGIN;
    }
    if (status) {
        slot->late = NULL; /* its owner's */
        close_slot(slot);
        return status;
    }
    slot->entry.defined = true;
    *plugin = slot->entry.plugin;
    registry->count++;
    return TZ_OK;
}

tz_status tz_registry_add(tz_registry *registry, const char *name, const void *image, size_t bytes,
                          const tz_plugin **plugin, tz_error *error)
{
    *plugin = NULL;
    plugin_slot *slot = make_slot(registry, name);
    if (!slot)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plugin list");
    tz_status status = keep_image(slot, image, bytes, error);
    name_image(slot);
    if (!status)
        status = fill_slot(registry, slot, slot->image, NULL, error);
    return enter(registry, slot, status, plugin, error);
}

/* ---- Row functions that are compiled later --------------------------------------------------- */

tz_status tz_registry_add_late(tz_registry *registry, const char *name, const tz_plugin *theirs,
                               tz_late_rows *late, const tz_plugin **plugin, tz_error *error)
{
    *plugin = NULL;
    plugin_slot *slot = make_slot(registry, name);
    if (!slot)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plugin list");
    slot->entry.file = NULL;
    slot->late = late;
    late->slot = slot;
    return enter(registry, slot, fill_slot(registry, slot, NULL, theirs, error), plugin, error);
}

/* Put the functions of a compiled stencil in place of those that are there. They are held against
 * the cell function that was there. */
static tz_status replace(plugin_slot *slot, const tz_stencil *compiled, tz_error *error)
{
    tz_stencil *stencil = &slot->stencils[0];
    const int count = count_all(stencil);
    tz_pass before[3 * TZ_PASSES_MAX];
    tz_kernels checked[3 * TZ_PASSES_MAX];
    if (compiled->passes_count != stencil->passes_count ||
        compiled->outputs_count != stencil->outputs_count || count_all(compiled) != count)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "the compiled stencil is another one");
    for (int i = 0; i < count; i++) {
        tz_pass *to = pass_of(stencil, i);
        const tz_pass *from = pass_of(compiled, i);
        before[i] = *to;
        checked[i] = *from->kernels;
        memcpy(checked[i].cell, to->kernels->cell, sizeof checked[i].cell);
        to->kernels = &checked[i];
        to->together = from->together;
        to->in_place = from->in_place;
        to->slabs = from->slabs;
    }
    const tz_status status = try_functions(slot, stencil, error);
    for (int i = 0; i < count; i++)
        if (status)
            *pass_of(stencil, i) = before[i];
        else
            pass_of(stencil, i)->kernels = pass_of(compiled, i)->kernels;
    return status;
}

/* Load what was compiled. */
static tz_status take_image(plugin_slot *slot, tz_error *error)
{
    const tz_plugin *theirs = NULL;
    tz_stencil compiled;
    tz_status status = keep_image(slot, slot->built, slot->built_bytes, error);
    if (status)
        return status;
    name_image(slot);
    status = open_library(slot, slot->image, &theirs, error);
    if (!status)
        status = tz_description_take(&compiled, theirs->stencils[0], slot->path, error);
    if (status)
        return status;
    status = replace(slot, &compiled, error);
    tz_description_clear(&compiled);
    return status;
}

/* After a compilation, of this process or another, whose status and error those are. */
static tz_status finish(plugin_slot *slot, bool own)
{
    tz_status status = slot->not_compiled.code;
    if (!status)
        status = take_image(slot, &slot->not_compiled);
    if (!status && own)
        slot->late->keep(slot->late, slot->built, slot->built_bytes);
    free(slot->built);
    slot->built = NULL;
    slot->compiled = status == TZ_OK;
    slot->entry.file = status ? NULL : slot->image;
    return status;
}

static tz_status build(plugin_slot *slot, bool kept)
{
    return slot->late->compile(slot->late, kept, &slot->cancel, &slot->built, &slot->built_bytes,
                               &slot->not_compiled);
}

static void *build_beside(void *data)
{
    plugin_slot *slot = data;
    build(slot, false);
    atomic_store(&slot->ended, true);
    return NULL;
}

/* The slot of a stencil whose row functions may be compiled yet, else NULL. */
static plugin_slot *late_slot(const tz_stencil *stencil)
{
    const tz_late_rows *late = stencil->engine;
    return late && !late->slot->compiled ? late->slot : NULL;
}

void tz_stencil_compile_begin(const tz_stencil *stencil, bool kept_only, const tz_cancel *cancel)
{
    plugin_slot *slot = late_slot(stencil);
    if (!slot || slot->compiling || slot->not_compiled.code)
        return;
    /* A program that cancels a run may go on: what is compiled beside it goes on, too. */
    slot->cancel = (tz_cancel){.stopped = cancel->stopped, .unwanted = &slot->unwanted};
    if (build(slot, true) || slot->built) {
        finish(slot, true);
        return;
    }
    if (!kept_only)
        slot->compiling = tz_thread_start(&slot->thread, build_beside, slot) == 0;
}

bool tz_stencil_is_interpreted(const tz_stencil *stencil)
{
    return late_slot(stencil) != NULL;
}

/* Wait for the thread. */
static void join(plugin_slot *slot)
{
    if (slot->compiling)
        pthread_join(slot->thread, NULL);
    slot->compiling = false;
}

bool tz_stencil_is_compiling(const tz_stencil *stencil)
{
    plugin_slot *slot = late_slot(stencil);
    if (!slot || !slot->compiling)
        return false;
    if (!atomic_load(&slot->ended))
        return true;
    join(slot);
    finish(slot, true);
    return false;
}

tz_status tz_stencil_compile(const tz_stencil *stencil, const tz_cancel *cancel, tz_error *error)
{
    plugin_slot *slot = late_slot(stencil);
    if (!slot)
        return TZ_OK;
    const bool began = slot->compiling;
    if (!began) /* else its thread reads this */
        slot->cancel = (tz_cancel){cancel->stopped, &slot->unwanted, cancel->cancelled};
    join(slot);
    tz_status status = slot->not_compiled.code;
    if (!status && !began)
        status = build(slot, false);
    if (!status)
        status = finish(slot, true);
    if (status && error)
        *error = slot->not_compiled;
    if (status == TZ_INTERRUPTED)
        slot->not_compiled.code = TZ_OK;
    return status;
}

void tz_stencil_take(const tz_stencil *stencil, const void *image, size_t bytes)
{
    plugin_slot *slot = late_slot(stencil);
    if (!slot || slot->not_compiled.code)
        return;
    slot->built = malloc(bytes);
    slot->built_bytes = bytes;
    if (slot->built)
        memcpy(slot->built, image, bytes);
    else
        tz_error_set(&slot->not_compiled, TZ_MEMORY, slot->path, "not enough memory");
    finish(slot, false);
}

const char *tz_stencil_file(const tz_stencil *stencil)
{
    const tz_late_rows *late = stencil->engine;
    return late ? late->slot->entry.file : NULL;
}

bool tz_stencil_take_fault(const tz_stencil *stencil, tz_error *fault)
{
    plugin_slot *slot = late_slot(stencil);
    if (!slot || slot->compiling || !slot->not_compiled.code || slot->fault_taken)
        return false;
    *fault = slot->not_compiled;
    return slot->fault_taken = true;
}

static bool ends_in_so(const char *name)
{
    const size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".so") == 0;
}

static int is_module(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_in_so(entry->d_name);
}

static tz_status add_folder(tz_registry *registry, const char *folder, tz_error *error)
{
    struct dirent **names = NULL;
    struct stat facts;
    if (ends_in_so(folder) && stat(folder, &facts) == 0 && S_ISREG(facts.st_mode)) {
        char path[PATH_MAX]; /* dlopen() looks for a name without a slash elsewhere */
        const bool bare = !strchr(folder, '/');
        snprintf(path, sizeof path, "%s%s", bare ? "./" : "", folder);
        return add_plugin(registry, path, error);
    }
    const int count = scandir(folder, &names, is_module, alphasort);
    if (count < 0)
        return TZ_OK;
    tz_status status = TZ_OK;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        if (!status &&
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name) < (int)sizeof path)
            status = add_plugin(registry, path, error);
        free(names[i]);
    }
    free(names);
    return status;
}

static tz_status create(tz_registry **out, bool apart, const char *const *folders,
                        size_t folders_count, tz_error *error)
{
    *out = NULL;
    tz_registry *registry = calloc(1, sizeof *registry);
    if (!registry)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plugin list");
    registry->apart = apart;
    for (size_t i = 0; i < folders_count; i++) {
        tz_status status = add_folder(registry, folders[i], error);
        if (status) {
            tz_registry_destroy(registry);
            return status;
        }
    }
    *out = registry;
    return TZ_OK;
}

tz_status tz_registry_create(tz_registry **out, const char *const *folders, size_t folders_count,
                             tz_error *error)
{
    return create(out, false, folders, folders_count, error);
}

tz_status tz_registry_create_apart(tz_registry **out, const char *const *folders,
                                   size_t folders_count, tz_error *error)
{
    return create(out, true, folders, folders_count, error);
}

void tz_registry_destroy(tz_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++)
        close_slot(registry->slots[i]);
    free(registry->slots);
    free(registry);
}

size_t tz_registry_count(const tz_registry *registry)
{
    return registry->count;
}

const tz_registry_entry *tz_registry_get(const tz_registry *registry, size_t index)
{
    probed(registry->slots[index]);
    return &registry->slots[index]->entry;
}

const tz_registry_entry *tz_registry_of(const tz_registry *registry, const tz_plugin *plugin)
{
    for (size_t i = 0; i < registry->count; i++)
        if (registry->slots[i]->entry.plugin == plugin)
            return &registry->slots[i]->entry;
    return NULL;
}

/* The refused file ID.so, or NULL. */
static const plugin_slot *find_refused(const tz_registry *registry, const char *id)
{
    for (size_t i = 0; i < registry->count; i++) {
        const plugin_slot *slot = registry->slots[i];
        const char *slash = strrchr(slot->path, '/'), *name = slash ? slash + 1 : slot->path;
        if (!slot->entry.plugin && strlen(name) == strlen(id) + 3 &&
            strncmp(name, id, strlen(id)) == 0)
            return slot;
    }
    return NULL;
}

tz_status tz_registry_find(const tz_registry *registry, const char *id, const tz_stencil **stencil,
                           const tz_plugin **plugin, tz_error *error)
{
    enum { NAMES_MAX = 256 };
    const char *names[NAMES_MAX];
    size_t names_count = 0;
    const plugin_slot *refused = NULL;
    for (size_t i = 0; i < registry->count; i++) {
        plugin_slot *slot = registry->slots[i];
        const tz_plugin *candidate = slot->entry.plugin;
        const tz_stencil *found = stencil_of(candidate, id);
        for (int j = 0; candidate && j < candidate->stencils_count; j++)
            if (names_count < NAMES_MAX)
                names[names_count++] = candidate->stencils[j]->id;
        if (found && probed(slot)) {
            *stencil = found;
            if (plugin)
                *plugin = candidate;
            return TZ_OK;
        }
        if (found)
            refused = slot;
    }
    if (!refused)
        refused = find_refused(registry, id);
    if (refused) {
        if (error)
            *error = refused->entry.error;
        return TZ_PLUGIN;
    }
    char hint[512];
    if (names_count > 0)
        tz_names_hint(hint, sizeof hint, id, names, names_count);
    else
        strcpy(hint, "; there are no plugins: trapeze doctor shows where they are looked for");
    return tz_error_set(error, TZ_UNKNOWN, NULL, "unknown plugin '%s'%s", id, hint);
}
