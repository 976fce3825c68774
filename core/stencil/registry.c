#include "stencil/registry.h"

#include "base/names.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plugin_slot {
    tz_registry_entry entry;
    char path[PATH_MAX];
    void *handle;
    tz_plugin plugin; /* zero-filled copy */
    tz_stencil *stencils;
    const tz_stencil **stencil_pointers;
} plugin_slot;

struct tz_registry {
    plugin_slot **slots;
    size_t count;
};

const char *tz_role_name(tz_role role)
{
    static const char *const names[] = {"state", "static", "streamed"};
    return names[role];
}

const char *tz_type_name(tz_type type)
{
    static const char *const names[] = {"real", "int", "bits"};
    return names[type];
}

const char *tz_boundary_name(tz_boundary boundary)
{
    static const char *const names[] = {"clamp", "periodic", "fixed", "mirror"};
    return names[boundary];
}

int tz_boundary_find(const char *name)
{
    for (int i = TZ_CLAMP; i <= TZ_MIRROR; i++)
        if (strcmp(name, tz_boundary_name((tz_boundary)i)) == 0)
            return i;
    return -1;
}

int tz_stencil_radius(const tz_stencil *stencil)
{
    int radius = 0;
    for (int p = 0; p < stencil->passes_count; p++)
        if (stencil->passes[p].radius > radius)
            radius = stencil->passes[p].radius;
    return radius;
}

int tz_stencil_reach(const tz_stencil *stencil)
{
    int sum = 0;
    for (int p = 0; p < stencil->passes_count; p++)
        sum += stencil->passes[p].radius;
    return sum;
}

int tz_stencil_has_real(const tz_stencil *stencil)
{
    for (int f = 0; f < stencil->fields_count; f++)
        if (stencil->fields[f].type == TZ_REAL)
            return 1;
    for (int c = 0; c < stencil->constants_count; c++)
        if (stencil->constants[c].type == TZ_REAL)
            return 1;
    return 0;
}

/* Watches one cell update. */
typedef struct watcher {
    tz_cell_access access; /* first: the update sees only this */
    bool diagonal;
    double zero, written[TZ_FIELDS_MAX];
} watcher;

static const void *watch_read(const tz_cell_access *access, int field, int dx, int dy, int dz)
{
    watcher *w = (watcher *)(uintptr_t)access; /* it is one, and ours to write */
    (void)field;
    w->diagonal = w->diagonal || (dx != 0) + (dy != 0) + (dz != 0) > 1;
    return &w->zero;
}

static void *watch_write(const tz_cell_access *access, int field)
{
    return &((watcher *)(uintptr_t)access)->written[field];
}

bool tz_stencil_reads_diagonals(const tz_stencil *stencil)
{
    const tz_slot constants[TZ_CONSTANTS_MAX] = {{0}};
    watcher w = {.access = {watch_read, watch_write, constants, 0, 0, 0, 0}};
    for (int p = 0; p < stencil->passes_count; p++)
        stencil->passes[p].kernels->cell[TZ_SINGLE](&w.access);
    return w.diagonal;
}

int tz_stencil_field_index(const tz_stencil *stencil, const char *name)
{
    for (int f = 0; f < stencil->fields_count; f++)
        if (strcmp(stencil->fields[f].name, name) == 0)
            return f;
    return -1;
}

int tz_stencil_param_index(const tz_stencil *stencil, const char *name)
{
    for (int p = 0; p < stencil->params_count; p++)
        if (strcmp(stencil->params[p].name, name) == 0)
            return p;
    return -1;
}

/* ---- Checking what a plugin says of itself --------------------------------------------------- */

static tz_status check_field(const plugin_slot *slot, const tz_stencil *s, int f, tz_error *error)
{
    const tz_field *field = &s->fields[f];
    if (!field->name || !field->name[0] || !field->doc || !field->unit)
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "stencil '%s': field %d lacks a name, unit or doc", s->id, f);
    if (tz_stencil_field_index(s, field->name) != f)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "stencil '%s': two fields are named '%s'",
                            s->id, field->name);
    if (field->radius < 0 || field->radius > TZ_RADIUS_MAX)
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "stencil '%s': field '%s' has radius %d; 0 to %d are possible", s->id,
                            field->name, field->radius, TZ_RADIUS_MAX);
    if ((field->type == TZ_BITS) != (s->fields[0].type == TZ_BITS))
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "stencil '%s': bit fields cannot be mixed with others", s->id);
    if (field->role == TZ_STREAMED && (s->dims != 1 || field->type != TZ_INT || field->radius != 0))
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "stencil '%s': a streamed field must be an int of radius 0 in a 1-D "
                            "stencil",
                            s->id);
    return TZ_OK;
}

static tz_status check_pass(const plugin_slot *slot, const tz_stencil *s, int p, tz_error *error)
{
    const tz_pass *pass = &s->passes[p];
    if (pass->radius < 0 || pass->radius > TZ_RADIUS_MAX)
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "stencil '%s': pass %d has radius %d; 0 to %d are possible", s->id, p,
                            pass->radius, TZ_RADIUS_MAX);
    const int last = tz_stencil_has_real(s) ? TZ_DOUBLE : TZ_SINGLE;
    for (int precision = TZ_SINGLE; precision <= last; precision++)
        if (!pass->kernels || !pass->kernels->rows[precision][TZ_ISA_BASE] ||
            !pass->kernels->cell[precision])
            return tz_error_set(error, TZ_PLUGIN, slot->path,
                                "stencil '%s': pass %d has no %s row or cell function: include "
                                "<trapeze/rows.h> and use TZ_PASS()",
                                s->id, p, precision == TZ_SINGLE ? "single" : "double");
    if (!pass->text || !pass->text_cell || !pass->name)
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "stencil '%s': pass %d lacks its name or text", s->id, p);
    for (int f = 0; f < 32; f++)
        if (pass->writes >> f & 1 && (f >= s->fields_count || s->fields[f].role != TZ_STATE))
            return tz_error_set(error, TZ_PLUGIN, slot->path,
                                "stencil '%s': pass %d writes field %d, which is no state field",
                                s->id, p, f);
    if (!pass->writes)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "stencil '%s': pass %d writes nothing",
                            s->id, p);
    return TZ_OK;
}

static tz_status check_stencil(const plugin_slot *slot, const tz_stencil *s, tz_error *error)
{
    if (!s->id || !s->id[0] || !s->doc)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "a stencil lacks its id or doc");
    if (s->dims < 1 || s->dims > TZ_AXES)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "stencil '%s' has %d dimensions", s->id,
                            s->dims);
    if (s->fields_count < 1 || s->fields_count > TZ_FIELDS_MAX || !s->fields ||
        s->passes_count < 1 || s->passes_count > TZ_PASSES_MAX || !s->passes ||
        s->params_count < 0 || s->params_count > TZ_PARAMS_MAX || s->constants_count < 0 ||
        s->constants_count > TZ_CONSTANTS_MAX || s->methods_count < 0)
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "stencil '%s': counts of fields, passes, parameters or constants are "
                            "out of range (%d, %d, %d, %d)",
                            s->id, s->fields_count, s->passes_count, s->params_count,
                            s->constants_count);
    if (!(s->boundaries & TZ_ALLOW(s->boundary)))
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "stencil '%s': its default boundary is not among the allowed", s->id);
    tz_status status = TZ_OK;
    for (int f = 0; f < s->fields_count && !status; f++)
        status = check_field(slot, s, f, error);
    for (int p = 0; p < s->passes_count && !status; p++)
        status = check_pass(slot, s, p, error);
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Copy a struct that may be shorter than ours; what it lacks is zero. */
static void copy_struct(void *target, size_t size, const void *source, size_t source_size)
{
    memset(target, 0, size);
    memcpy(target, source, source_size < size ? source_size : size);
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
        const tz_stencil *theirs = plugin->stencils[i];
        const size_t least = offsetof(tz_stencil, derive);
        if (!theirs || theirs->struct_size < least)
            return tz_error_set(error, TZ_PLUGIN, slot->path,
                                "stencil %zu: its description is %u bytes long, at least %zu are "
                                "needed: set struct_size = sizeof(tz_stencil) and rebuild",
                                i, theirs ? theirs->struct_size : 0u, least);
        copy_struct(&slot->stencils[i], sizeof(tz_stencil), theirs, theirs->struct_size);
        slot->stencil_pointers[i] = &slot->stencils[i];
        tz_status status = check_stencil(slot, &slot->stencils[i], error);
        if (status)
            return status;
    }
    slot->plugin.stencils = slot->stencil_pointers;
    return TZ_OK;
}

static tz_status open_plugin(plugin_slot *slot, tz_error *error)
{
    slot->handle = dlopen(slot->path, RTLD_NOW | RTLD_LOCAL);
    if (!slot->handle) {
        /* dlerror starts with the path, which our message already names. */
        const char *text = dlerror(), *colon = text ? strstr(text, ": ") : NULL;
        return tz_error_set(error, TZ_PLUGIN, slot->path, "cannot be opened: %s",
                            colon && strncmp(text, slot->path, strlen(slot->path)) == 0 ? colon + 2
                            : text                                                      ? text
                                   : "unknown reason");
    }
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
                            "speaks plugin ABI %u.%u, this trapeze speaks %u.%u: rebuild the "
                            "plugin against this version's headers",
                            theirs->abi_major, theirs->abi_minor, TZ_ABI_MAJOR, TZ_ABI_MINOR);
    if (theirs->struct_size < offsetof(tz_plugin, init))
        return tz_error_set(error, TZ_PLUGIN, slot->path,
                            "its description is %u bytes long, at least %zu are needed: set "
                            "struct_size through TZ_PLUGIN_HEADER and rebuild",
                            theirs->struct_size, offsetof(tz_plugin, init));
    copy_struct(&slot->plugin, sizeof slot->plugin, theirs, theirs->struct_size);
    if (!slot->plugin.id || !slot->plugin.version)
        return tz_error_set(error, TZ_PLUGIN, slot->path, "lacks its id or version");
    tz_status status = take_stencils(slot, error);
    if (status)
        return status;
    char message[512] = "";
    if (slot->plugin.init && slot->plugin.init(message, sizeof message) != 0) {
        slot->plugin.finish = NULL; /* what did not start is not finished */
        return tz_error_set(error, TZ_PLUGIN, slot->path, "init failed: %s",
                            message[0] ? message : "no reason given");
    }
    slot->entry.plugin = &slot->plugin;
    return TZ_OK;
}

/* A second plugin with an id that is taken would make `plugin = "…"` ambiguous. */
static tz_status check_unique(const tz_registry *registry, const plugin_slot *slot, tz_error *error)
{
    for (int i = 0; i < slot->plugin.stencils_count; i++) {
        const char *id = slot->plugin.stencils[i]->id;
        for (int j = 0; j < i; j++)
            if (strcmp(id, slot->plugin.stencils[j]->id) == 0)
                return tz_error_set(error, TZ_PLUGIN, slot->path, "holds stencil '%s' twice", id);
        for (size_t k = 0; k < registry->count; k++) {
            const tz_plugin *other = registry->slots[k]->entry.plugin;
            for (int j = 0; other && j < other->stencils_count; j++)
                if (strcmp(id, other->stencils[j]->id) == 0)
                    return tz_error_set(error, TZ_PLUGIN, slot->path,
                                        "stencil '%s' is already there, from %s", id,
                                        registry->slots[k]->path);
        }
    }
    return TZ_OK;
}

static tz_status add_plugin(tz_registry *registry, const char *path, tz_error *error)
{
    plugin_slot **slots = realloc(registry->slots, (registry->count + 1) * sizeof *slots);
    if (slots)
        registry->slots = slots;
    plugin_slot *slot = slots ? calloc(1, sizeof *slot) : NULL;
    if (!slot)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plugin list");
    snprintf(slot->path, sizeof slot->path, "%s", path);
    slot->entry.path = slot->path;
    tz_status status = open_plugin(slot, &slot->entry.error);
    if (!status && check_unique(registry, slot, &slot->entry.error)) {
        if (slot->plugin.finish)
            slot->plugin.finish();
        slot->entry.plugin = NULL;
    }
    registry->slots[registry->count++] = slot;
    return TZ_OK;
}

static int is_module(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 3, ".so") == 0;
}

static tz_status add_folder(tz_registry *registry, const char *folder, tz_error *error)
{
    struct dirent **names = NULL;
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

tz_status tz_registry_create(tz_registry **out, const char *const *folders, size_t folders_count,
                             tz_error *error)
{
    *out = NULL;
    tz_registry *registry = calloc(1, sizeof *registry);
    if (!registry)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for the plugin list");
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

void tz_registry_destroy(tz_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++) {
        plugin_slot *slot = registry->slots[i];
        if (slot->entry.plugin && slot->plugin.finish)
            slot->plugin.finish();
        free(slot->stencils);
        free(slot->stencil_pointers);
        if (slot->handle)
            dlclose(slot->handle);
        free(slot);
    }
    free(registry->slots);
    free(registry);
}

size_t tz_registry_count(const tz_registry *registry)
{
    return registry->count;
}

const tz_registry_entry *tz_registry_get(const tz_registry *registry, size_t index)
{
    return &registry->slots[index]->entry;
}

/* A refused file whose name is the wanted id: its reason is the answer. */
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
    for (size_t i = 0; i < registry->count; i++) {
        const tz_plugin *candidate = registry->slots[i]->entry.plugin;
        for (int j = 0; candidate && j < candidate->stencils_count; j++) {
            if (names_count < NAMES_MAX)
                names[names_count++] = candidate->stencils[j]->id;
            if (strcmp(candidate->stencils[j]->id, id) == 0) {
                *stencil = candidate->stencils[j];
                if (plugin)
                    *plugin = candidate;
                return TZ_OK;
            }
        }
    }
    const plugin_slot *refused = find_refused(registry, id);
    if (refused) {
        if (error)
            *error = refused->entry.error;
        return TZ_PLUGIN;
    }
    char hint[512];
    tz_names_hint(hint, sizeof hint, id, names, names_count);
    return tz_error_set(error, TZ_UNKNOWN, NULL, "unknown plugin '%s'%s", id, hint);
}
