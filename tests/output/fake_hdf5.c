/* libhdf5.so for machines without one: what core/output/format/hdf5.c calls, with files that only
 * this library reads. Such a file has HDF5's first bytes, a table of datasets and attributes, and
 * the cells at 8 KiB. It is strict: an identifier that is wrong or closed already is an error,
 * types are not converted, and a program ends if it leaves something open. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(result, symbol, parameters)                                                         \
    __attribute__((visibility("default"))) result symbol parameters;                               \
    result symbol parameters
#define CONSTANT(name, value)                                                                      \
    extern __attribute__((visibility("default"))) const int64_t name;                              \
    const int64_t name = value;

enum kind { FREE, TYPE, SPACE, PROPERTIES, FILE_OPEN, DATA, NOTE };
enum { OBJECTS = 64, RECORDS = 24, CELLS_AT = 8192, NAME = 40, VALUE = 64, ROOT = -1 };

typedef struct h5_type {
    int class, size, sign;
} h5_type;

typedef struct h5_space {
    int dims;
    unsigned long long extents[3];
} h5_space;

/* A dataset, or an attribute of the root or of a dataset. */
typedef struct record {
    char name[NAME], value[VALUE];
    bool is_data;
    int owner;
    h5_type type;
    h5_space space;
    uint64_t offset;
} record;

typedef struct head {
    char magic[8];
    int count;
    uint64_t end;
    record records[RECORDS];
} head;
_Static_assert(sizeof(head) <= CELLS_AT, "the table is in front of the cells");

/* What an identifier stands for. Those below FIXED are predefined. */
enum { FIXED = 16 };
static struct object {
    enum kind kind;
    h5_type type;
    h5_space space;
    int record;
} objects[OBJECTS] = {[1] = {.kind = TYPE, .type = {0, 1, 1}},
                      [2] = {.kind = TYPE, .type = {0, 1, 0}},
                      [3] = {.kind = TYPE, .type = {0, 2, 1}},
                      [4] = {.kind = TYPE, .type = {0, 2, 0}},
                      [5] = {.kind = TYPE, .type = {0, 4, 1}},
                      [6] = {.kind = TYPE, .type = {0, 4, 0}},
                      [7] = {.kind = TYPE, .type = {0, 8, 1}},
                      [8] = {.kind = TYPE, .type = {0, 8, 0}},
                      [9] = {.kind = TYPE, .type = {1, 4, 1}},
                      [10] = {.kind = TYPE, .type = {1, 8, 1}},
                      [11] = {.kind = TYPE, .type = {3, 1, 0}},
                      [12] = {.kind = PROPERTIES},
                      [13] = {.kind = PROPERTIES}};
CONSTANT(H5T_NATIVE_INT8_g, 1)
CONSTANT(H5T_NATIVE_UINT8_g, 2)
CONSTANT(H5T_NATIVE_INT16_g, 3)
CONSTANT(H5T_NATIVE_UINT16_g, 4)
CONSTANT(H5T_NATIVE_INT32_g, 5)
CONSTANT(H5T_NATIVE_UINT32_g, 6)
CONSTANT(H5T_NATIVE_INT64_g, 7)
CONSTANT(H5T_NATIVE_UINT64_g, 8)
CONSTANT(H5T_NATIVE_FLOAT_g, 9)
CONSTANT(H5T_NATIVE_DOUBLE_g, 10)
CONSTANT(H5T_C_S1_g, 11)
CONSTANT(H5P_CLS_DATASET_CREATE_ID_g, 12)
CONSTANT(H5P_CLS_FILE_ACCESS_ID_g, 13)

static FILE *file; /* one at a time */
static bool writes;
static head table;
static const char *why = "";

static int64_t fail(const char *text)
{
    why = text;
    return -1;
}

static struct object *object(int64_t id, enum kind kind)
{
    if (id > 0 && id < OBJECTS && objects[id].kind == kind)
        return &objects[id];
    fail("an identifier is wrong");
    return NULL;
}

static int64_t add(struct object what)
{
    for (int id = FIXED; id < OBJECTS; id++)
        if (objects[id].kind == FREE) {
            objects[id] = what;
            return id;
        }
    return fail("too many objects are open");
}

static int close_one(int64_t id, enum kind kind)
{
    struct object *o = id < FIXED ? NULL : object(id, kind);
    if (!o)
        return (int)fail("what is closed is not open");
    o->kind = FREE;
    return 0;
}

#define CLOSES(symbol, kind)                                                                       \
    EXPORT(int, symbol, (int64_t id))                                                              \
    {                                                                                              \
        return close_one(id, kind);                                                                \
    }
#define TAKES(symbol, parameters, kind) /* a wish that changes nothing here */                     \
    EXPORT(int, symbol, parameters)                                                                \
    {                                                                                              \
        return object(id, kind) ? 0 : -1;                                                          \
    }

static bool is_same(h5_type a, h5_type b)
{
    return a.class == b.class && a.size == b.size && a.sign == b.sign;
}

static uint64_t bytes_of(const record *r)
{
    uint64_t bytes = (uint64_t)r->type.size;
    for (int d = 0; d < r->space.dims; d++)
        bytes *= r->space.extents[d];
    return bytes;
}

/* A new record; NULL if a text is too long, one of that name is there, or there is no room. */
static record *add_record(int owner, const char *name, int64_t type_id, int64_t space_id)
{
    const struct object *t = object(type_id, TYPE), *s = object(space_id, SPACE);
    if (!t || !s || !writes || table.count == RECORDS || strlen(name) >= NAME)
        return NULL;
    for (int k = 0; k < table.count; k++)
        if (table.records[k].owner == owner && strcmp(table.records[k].name, name) == 0)
            return NULL;
    record *r = &table.records[table.count++];
    *r = (record){.owner = owner, .type = t->type, .space = s->space};
    memcpy(r->name, name, strlen(name));
    return r;
}

/* The record of that name; -1: there is none. */
static int find(int owner, bool is_data, const char *name)
{
    for (int k = 0; k < table.count; k++)
        if (table.records[k].owner == owner && table.records[k].is_data == is_data &&
            strcmp(table.records[k].name, name) == 0)
            return k;
    return -1;
}

/* The owner of attributes that `id` stands for; -2: none. */
static int owner_of(int64_t id)
{
    return object(id, FILE_OPEN) ? ROOT : object(id, DATA) ? objects[id].record : -2;
}

/* ---- The library, properties, types, spaces -------------------------------------------------- */

__attribute__((destructor)) static void look_for_leaks(void)
{
    for (int id = FIXED; id < OBJECTS; id++)
        if (objects[id].kind != FREE) {
            fprintf(stderr, "libhdf5: an object of kind %d was left open\n", objects[id].kind);
            abort();
        }
}

EXPORT(int, H5open, (void))
{
    return 0;
}

EXPORT(int, H5get_libversion, (unsigned *major, unsigned *minor, unsigned *release))
{
    *major = 1, *minor = 14, *release = 0;
    return 0;
}

EXPORT(int, H5Eset_auto2, (int64_t stack, void *call, void *data))
{
    return 0;
}

EXPORT(int, H5Ewalk2, (int64_t stack, int direction, void *call, void *data))
{
    const struct {
        int64_t ids[3];
        unsigned line;
        const char *function, *file, *text;
    } cause = {.text = why};
    return ((int (*)(unsigned, const void *, void *))call)(0, &cause, data);
}

EXPORT(int64_t, H5Pcreate, (int64_t class))
{
    return object(class, PROPERTIES) ? add((struct object){.kind = PROPERTIES}) : -1;
}

CLOSES(H5Pclose, PROPERTIES)

TAKES(H5Pset_alloc_time, (int64_t id, int time), PROPERTIES)

TAKES(H5Pset_fill_time, (int64_t id, int time), PROPERTIES)

EXPORT(int, H5Pset_obj_track_times, (int64_t id, bool tracked))
{
    return object(id, PROPERTIES) && !tracked ? 0 : -1;
}

TAKES(H5Pset_file_locking, (int64_t id, bool locks, bool ignored), PROPERTIES)

EXPORT(int64_t, H5Tcopy, (int64_t id))
{
    const struct object *o = object(id, TYPE);
    return o ? add(*o) : -1;
}

EXPORT(int, H5Tset_size, (int64_t id, size_t size))
{
    struct object *o = id < FIXED ? NULL : object(id, TYPE);
    if (!o || size > VALUE)
        return (int)fail("a text is too long");
    o->type.size = (int)size;
    return 0;
}

TAKES(H5Tset_cset, (int64_t id, int set), TYPE)

EXPORT(int, H5Tget_class, (int64_t id))
{
    return object(id, TYPE) ? objects[id].type.class : -1;
}

EXPORT(size_t, H5Tget_size, (int64_t id))
{
    return object(id, TYPE) ? (size_t)objects[id].type.size : 0;
}

EXPORT(int, H5Tget_sign, (int64_t id))
{
    return object(id, TYPE) ? objects[id].type.sign : -1;
}

CLOSES(H5Tclose, TYPE)

EXPORT(int64_t, H5Screate, (int scalar))
{
    return add((struct object){.kind = SPACE});
}

EXPORT(int64_t, H5Screate_simple, (int dims, const unsigned long long *extents, const void *most))
{
    struct object o = {.kind = SPACE, .space = {.dims = dims}};
    memcpy(o.space.extents, extents, (size_t)dims * sizeof *extents);
    return add(o);
}

EXPORT(int, H5Sget_simple_extent_ndims, (int64_t id))
{
    return object(id, SPACE) ? objects[id].space.dims : -1;
}

EXPORT(int, H5Sget_simple_extent_dims, (int64_t id, unsigned long long *extents, void *most))
{
    if (!object(id, SPACE))
        return -1;
    memcpy(extents, objects[id].space.extents, sizeof objects[id].space.extents);
    return objects[id].space.dims;
}

CLOSES(H5Sclose, SPACE)

/* ---- Files ----------------------------------------------------------------------------------- */

static int64_t open_file(const char *name, const char *mode)
{
    file = file ? NULL : fopen(name, mode);
    return file ? add((struct object){.kind = FILE_OPEN}) : fail("the file cannot be opened");
}

EXPORT(int64_t, H5Fcreate, (const char *name, unsigned flags, int64_t create, int64_t access))
{
    if (!object(access, PROPERTIES))
        return -1;
    writes = true;
    table = (head){.magic = "\x89HDF\r\n\x1a", .end = CELLS_AT};
    table.magic[7] = '\n';
    return open_file(name, "wb");
}

EXPORT(int64_t, H5Fopen, (const char *name, unsigned flags, int64_t access))
{
    const int64_t id = object(access, PROPERTIES) ? open_file(name, "rb") : -1;
    writes = false;
    if (id > 0 && fread(&table, sizeof table, 1, file) == 1 && fseek(file, 0, SEEK_END) == 0 &&
        (uint64_t)ftell(file) >= table.end)
        return id;
    if (id > 0) {
        fclose(file);
        file = NULL;
        close_one(id, FILE_OPEN);
    }
    return fail("the file is cut off");
}

/* As the real library, it leaves room for all datasets that were allocated early. */
EXPORT(int, H5Fclose, (int64_t id))
{
    bool fine = object(id, FILE_OPEN) != NULL;
    if (writes)
        fine = fine && fwrite(&table, sizeof table, 1, file) == 1 &&
               fseek(file, (long)table.end - 1, SEEK_SET) == 0 && fputc(0, file) == 0;
    fine = fclose(file) == 0 && fine;
    file = NULL;
    return close_one(id, FILE_OPEN) == 0 && fine ? 0 : -1;
}

EXPORT(ptrdiff_t, H5Lget_name_by_idx,
       (int64_t id, const char *group, int by, int order, unsigned long long index, char *name,
        size_t size, int64_t properties))
{
    for (int k = 0; k < table.count; k++)
        if (table.records[k].is_data && index-- == 0)
            return snprintf(name, size, "%s", table.records[k].name);
    return fail("there is no further link");
}

EXPORT(int64_t, H5Dcreate2,
       (int64_t id, const char *name, int64_t type, int64_t space, int64_t link, int64_t create,
        int64_t access))
{
    record *r = object(id, FILE_OPEN) && object(create, PROPERTIES)
                    ? add_record(ROOT, name, type, space)
                    : NULL;
    if (!r)
        return fail("the dataset is not made");
    r->is_data = true;
    r->offset = table.end;
    table.end += bytes_of(r);
    return add((struct object){.kind = DATA, .record = table.count - 1});
}

EXPORT(int64_t, H5Dopen2, (int64_t id, const char *name, int64_t access))
{
    const int k = object(id, FILE_OPEN) ? find(ROOT, true, name) : -1;
    return k < 0 ? fail("there is no such dataset")
                 : add((struct object){.kind = DATA, .record = k});
}

EXPORT(int64_t, H5Dget_type, (int64_t id))
{
    const struct object *o = object(id, DATA);
    return o ? add((struct object){.kind = TYPE, .type = table.records[o->record].type}) : -1;
}

EXPORT(int64_t, H5Dget_space, (int64_t id))
{
    const struct object *o = object(id, DATA);
    return o ? add((struct object){.kind = SPACE, .space = table.records[o->record].space}) : -1;
}

EXPORT(int, H5Dread,
       (int64_t id, int64_t type, int64_t memory, int64_t space, int64_t properties, void *data))
{
    const struct object *o = object(id, DATA), *t = object(type, TYPE);
    const record *r = o ? &table.records[o->record] : NULL;
    if (!r || !t || !is_same(t->type, r->type))
        return (int)fail("types are not converted");
    return fseek(file, (long)r->offset, SEEK_SET) == 0 && fread(data, bytes_of(r), 1, file) == 1
               ? 0
               : (int)fail("the cells are not there");
}

EXPORT(uint64_t, H5Dget_offset, (int64_t id))
{
    return object(id, DATA) ? table.records[objects[id].record].offset : UINT64_MAX;
}

CLOSES(H5Dclose, DATA)

EXPORT(int64_t, H5Acreate2,
       (int64_t id, const char *name, int64_t type, int64_t space, int64_t create, int64_t access))
{
    const int owner = owner_of(id);
    return owner < ROOT || !add_record(owner, name, type, space)
               ? fail("the attribute is not made")
               : add((struct object){.kind = NOTE, .record = table.count - 1});
}

EXPORT(int, H5Aexists, (int64_t id, const char *name))
{
    return find(owner_of(id), false, name) >= 0;
}

EXPORT(int64_t, H5Aopen, (int64_t id, const char *name, int64_t access))
{
    const int k = find(owner_of(id), false, name);
    return k < 0 ? fail("there is no such attribute")
                 : add((struct object){.kind = NOTE, .record = k});
}

EXPORT(int, H5Awrite, (int64_t id, int64_t type, const void *data))
{
    const struct object *o = object(id, NOTE), *t = object(type, TYPE);
    record *r = o ? &table.records[o->record] : NULL;
    if (!r || !t || !is_same(t->type, r->type) || bytes_of(r) > VALUE)
        return (int)fail("the attribute is not written");
    memcpy(r->value, data, bytes_of(r));
    return 0;
}

/* A text may be read into a shorter one, as the real library does. */
EXPORT(int, H5Aread, (int64_t id, int64_t type, void *data))
{
    const struct object *o = object(id, NOTE), *t = object(type, TYPE);
    const record *r = o ? &table.records[o->record] : NULL;
    if (!r || !t || t->type.class != r->type.class || t->type.size > VALUE)
        return (int)fail("the attribute is not read");
    memcpy(data, r->value, (size_t)t->type.size);
    return 0;
}

CLOSES(H5Aclose, NOTE)
