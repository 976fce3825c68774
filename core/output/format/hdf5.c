/* HDF5 files (.h5), by the system's libhdf5, which is opened at run time.
 *
 * A dataset for each field, named after it, in the file's root: extents slowest axis first, one
 * block of bytes. Attributes of the root: "spacing" and "origin" (one number an axis, x first)
 * and, of a grid with a step, "step" and, where they are known, "time" and "time_unit"; "y" is
 * "up" where rows are turned. Attribute of a dataset: "unit". No times of day, so that a file
 * depends on its content alone.
 *
 * The library writes a file with datasets whose bytes are still missing, and tells where these
 * lie. They are then written as those of the other formats. */
#include "output/format/format.h"

#include "base/atomic.h"
#include "base/library.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- The library ----------------------------------------------------------------------------- */

/* HDF5's own types, declared here so that no header of it is needed to build. */
typedef int64_t tz_h5_id;
typedef int tz_h5_error;
typedef unsigned long long tz_h5_size;

/* X(member, result, symbol, parameters) */
#define TZ_HDF5_TABLE(X)                                                                           \
    X(open, tz_h5_error, H5open, (void))                                                           \
    X(version, tz_h5_error, H5get_libversion, (unsigned *, unsigned *, unsigned *))                \
    X(quiet, tz_h5_error, H5Eset_auto2, (tz_h5_id, void *, void *))                                \
    X(walk, tz_h5_error, H5Ewalk2, (tz_h5_id, int, void *, void *))                                \
    X(properties, tz_h5_id, H5Pcreate, (tz_h5_id))                                                 \
    X(properties_close, tz_h5_error, H5Pclose, (tz_h5_id))                                         \
    X(set_alloc_time, tz_h5_error, H5Pset_alloc_time, (tz_h5_id, int))                             \
    X(set_fill_time, tz_h5_error, H5Pset_fill_time, (tz_h5_id, int))                               \
    X(set_track_times, tz_h5_error, H5Pset_obj_track_times, (tz_h5_id, bool))                      \
    X(set_locking, tz_h5_error, H5Pset_file_locking, (tz_h5_id, bool, bool))                       \
    X(file_create, tz_h5_id, H5Fcreate, (const char *, unsigned, tz_h5_id, tz_h5_id))              \
    X(file_open, tz_h5_id, H5Fopen, (const char *, unsigned, tz_h5_id))                            \
    X(file_close, tz_h5_error, H5Fclose, (tz_h5_id))                                               \
    X(space_scalar, tz_h5_id, H5Screate, (int))                                                    \
    X(space, tz_h5_id, H5Screate_simple, (int, const tz_h5_size *, const tz_h5_size *))            \
    X(space_extents, int, H5Sget_simple_extent_dims, (tz_h5_id, tz_h5_size *, tz_h5_size *))       \
    X(space_dims, int, H5Sget_simple_extent_ndims, (tz_h5_id))                                     \
    X(space_close, tz_h5_error, H5Sclose, (tz_h5_id))                                              \
    X(type_copy, tz_h5_id, H5Tcopy, (tz_h5_id))                                                    \
    X(type_set_size, tz_h5_error, H5Tset_size, (tz_h5_id, size_t))                                 \
    X(type_set_charset, tz_h5_error, H5Tset_cset, (tz_h5_id, int))                                 \
    X(type_class, int, H5Tget_class, (tz_h5_id))                                                   \
    X(type_size, size_t, H5Tget_size, (tz_h5_id))                                                  \
    X(type_sign, int, H5Tget_sign, (tz_h5_id))                                                     \
    X(type_close, tz_h5_error, H5Tclose, (tz_h5_id))                                               \
    X(name_at, ptrdiff_t, H5Lget_name_by_idx,                                                      \
      (tz_h5_id, const char *, int, int, tz_h5_size, char *, size_t, tz_h5_id))                    \
    X(data_create, tz_h5_id, H5Dcreate2,                                                           \
      (tz_h5_id, const char *, tz_h5_id, tz_h5_id, tz_h5_id, tz_h5_id, tz_h5_id))                  \
    X(data_open, tz_h5_id, H5Dopen2, (tz_h5_id, const char *, tz_h5_id))                           \
    X(data_type, tz_h5_id, H5Dget_type, (tz_h5_id))                                                \
    X(data_space, tz_h5_id, H5Dget_space, (tz_h5_id))                                              \
    X(data_read, tz_h5_error, H5Dread, (tz_h5_id, tz_h5_id, tz_h5_id, tz_h5_id, tz_h5_id, void *)) \
    X(data_offset, uint64_t, H5Dget_offset, (tz_h5_id))                                            \
    X(data_close, tz_h5_error, H5Dclose, (tz_h5_id))                                               \
    X(note_create, tz_h5_id, H5Acreate2,                                                           \
      (tz_h5_id, const char *, tz_h5_id, tz_h5_id, tz_h5_id, tz_h5_id))                            \
    X(note_exists, int, H5Aexists, (tz_h5_id, const char *))                                       \
    X(note_open, tz_h5_id, H5Aopen, (tz_h5_id, const char *, tz_h5_id))                            \
    X(note_write, tz_h5_error, H5Awrite, (tz_h5_id, tz_h5_id, const void *))                       \
    X(note_read, tz_h5_error, H5Aread, (tz_h5_id, tz_h5_id, void *))                               \
    X(note_close, tz_h5_error, H5Aclose, (tz_h5_id))

typedef struct tz_hdf5 {
    tz_library library;
#define TZ_HDF5_MEMBER(member, result, symbol, parameters) result(*member) parameters;
    TZ_HDF5_TABLE(TZ_HDF5_MEMBER)
#undef TZ_HDF5_MEMBER
} tz_hdf5;

/* By the numbers of Debian 11 to 13, Ubuntu 20.04 on, and plain builds of 1.10 to 2.0. */
static const char *const known[] = {"libhdf5_serial.so.320",
                                    "libhdf5_serial.so.310",
                                    "libhdf5_serial.so.200",
                                    "libhdf5_serial.so.103",
                                    "libhdf5_serial.so.101",
                                    "libhdf5_serial.so.100",
                                    "libhdf5.so.320",
                                    "libhdf5.so.310",
                                    "libhdf5.so.200",
                                    "libhdf5.so.103",
                                    "libhdf5.so.101",
                                    "libhdf5.so.100",
                                    "libhdf5_serial.so",
                                    "libhdf5.so",
                                    NULL};

/* TZ_UNSUPPORTED, with what to do. Close it in any case. */
static tz_status open_library(tz_hdf5 *h5, tz_error *error)
{
    static const tz_library_symbol symbols[] = {
#define SYMBOL(member, result, symbol, parameters) {#symbol, offsetof(tz_hdf5, member), false},
        TZ_HDF5_TABLE(SYMBOL)
#undef SYMBOL
    };
    *h5 = (tz_hdf5){.open = NULL};
    h5->library = tz_library_open(known, h5, symbols, sizeof symbols / sizeof *symbols);
    if (!h5->library.handle)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "HDF5 files need libhdf5, which is not found: install it (Debian, "
                            "Ubuntu: apt-get install hdf5-tools, which brings it) or use tz.xdmf, "
                            "or .npy (numpy.save) to read");
    if (h5->library.missing)
        return tz_error_set(error, TZ_UNSUPPORTED, h5->library.name,
                            "this libhdf5 is too old: it has no %s; 1.10.7 or newer is needed",
                            h5->library.missing);
    if (h5->open() < 0)
        return tz_error_set(error, TZ_UNSUPPORTED, h5->library.name, "this libhdf5 does not start");
    return TZ_OK;
}

/* A predefined type or class, such as "H5T_NATIVE_DOUBLE_g"; -1: it has none of that name. */
static tz_h5_id constant(const tz_hdf5 *h5, const char *name)
{
    const tz_h5_id *id = dlsym(h5->library.handle, name);
    return id ? *id : -1;
}

/* From H5Fpublic.h, H5Dpublic.h and H5Spublic.h. */
enum { TRUNCATE = 2, ALLOC_EARLY = 1, FILL_NEVER = 1, SCALAR = 0, WALK_UPWARD = 0, UTF8 = 1 };

/* Most builds of libhdf5 are for one thread at a time. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static tz_status check(const tz_format *format, tz_error *error)
{
    tz_hdf5 h5;
    (void)format;
    pthread_mutex_lock(&one_at_a_time);
    const tz_status status = open_library(&h5, error);
    tz_library_close(&h5.library);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

static bool describe(char *text, size_t size)
{
    tz_hdf5 h5;
    tz_error error;
    unsigned major, minor, release;
    const bool there = open_library(&h5, &error) == TZ_OK;
    if (!there)
        tz_error_format(&error, text, size);
    else if (h5.version(&major, &minor, &release) >= 0)
        snprintf(text, size, "HDF5 %u.%u.%u writes and reads .h5 files (%s)", major, minor, release,
                 h5.library.name);
    tz_library_close(&h5.library);
    return there;
}

/* ---- Making a file --------------------------------------------------------------------------- */

/* What H5Ewalk2 gives: the cause of an error. */
typedef struct h5_cause {
    tz_h5_id class_id, major, minor;
    unsigned line;
    const char *function, *file, *text;
} h5_cause;

static int keep_first(unsigned n, const void *cause, void *out)
{
    const char *text = ((const h5_cause *)cause)->text;
    if (n == 0 && text)
        snprintf(out, 160, "%s", text);
    return 0;
}

/* The library's reason for a failure of the last call. */
static tz_status refused(const tz_hdf5 *h5, const char *path, const char *what, tz_error *error)
{
    char why[160] = "it gives no reason";
    h5->walk(0, WALK_UPWARD, (void *)keep_first, why);
    return tz_error_set(error, TZ_BACKEND, path, "libhdf5 refuses %s: %s", what, why);
}

static tz_h5_id type_of(const tz_hdf5 *h5, tz_dtype dtype)
{
    static const char *const names[] = {
        "H5T_NATIVE_UINT8_g",  "H5T_NATIVE_INT8_g",  "H5T_NATIVE_UINT8_g",  "H5T_NATIVE_INT16_g",
        "H5T_NATIVE_UINT16_g", "H5T_NATIVE_INT32_g", "H5T_NATIVE_UINT32_g", "H5T_NATIVE_INT64_g",
        "H5T_NATIVE_UINT64_g", "H5T_NATIVE_FLOAT_g", "H5T_NATIVE_DOUBLE_g"};
    return constant(h5, names[dtype]);
}

/* Add an attribute of `count` numbers; -1: of one. False: the library refuses. */
static bool note(const tz_hdf5 *h5, tz_h5_id object, const char *name, tz_h5_id type, int count,
                 const void *data)
{
    const tz_h5_size extent = (tz_h5_size)(count < 0 ? 1 : count);
    const tz_h5_id space = count < 0 ? h5->space_scalar(SCALAR) : h5->space(1, &extent, NULL);
    const tz_h5_id attribute = space < 0 ? -1 : h5->note_create(object, name, type, space, 0, 0);
    bool fine = attribute >= 0 && h5->note_write(attribute, type, data) >= 0;
    if (attribute >= 0)
        fine = h5->note_close(attribute) >= 0 && fine;
    if (space >= 0)
        h5->space_close(space);
    return fine;
}

static bool note_text(const tz_hdf5 *h5, tz_h5_id object, const char *name, const char *text)
{
    const tz_h5_id type = h5->type_copy(constant(h5, "H5T_C_S1_g"));
    const bool fine = type >= 0 && h5->type_set_size(type, strlen(text) + 1) >= 0 &&
                      h5->type_set_charset(type, UTF8) >= 0 &&
                      note(h5, object, name, type, -1, text);
    if (type >= 0)
        h5->type_close(type);
    return fine;
}

static bool note_grid(const tz_hdf5 *h5, tz_h5_id file, const tz_grid *grid)
{
    const tz_h5_id real = type_of(h5, TZ_DTYPE_F64);
    if (!note(h5, file, "spacing", real, grid->dims, grid->spacing) ||
        !note(h5, file, "origin", real, grid->dims, grid->origin) ||
        (grid->y_up && !note_text(h5, file, "y", "up")))
        return false;
    if (grid->has_step && !note(h5, file, "step", type_of(h5, TZ_DTYPE_I64), -1, &grid->step))
        return false;
    if (!grid->has_step || isnan(grid->time))
        return true;
    return note(h5, file, "time", real, -1, &grid->time) &&
           (!grid->time_unit[0] || note_text(h5, file, "time_unit", grid->time_unit));
}

/* Create the dataset of field k, and write down where its bytes are. */
static bool add_field(const tz_hdf5 *h5, tz_h5_id file, tz_h5_id properties, const tz_grid *grid,
                      size_t k, tz_grid_file *target)
{
    const tz_grid_field *field = &grid->fields[k];
    tz_h5_size extents[TZ_DIMS_MAX];
    for (int d = 0; d < grid->dims; d++)
        extents[d] = (tz_h5_size)grid->shape[grid->dims - 1 - d];
    const tz_h5_id space = h5->space(grid->dims, extents, NULL);
    const tz_h5_id data = space < 0 ? -1
                                    : h5->data_create(file, field->name, type_of(h5, field->dtype),
                                                      space, 0, properties, 0);
    const uint64_t offset = data < 0 ? UINT64_MAX : h5->data_offset(data);
    bool fine = offset != UINT64_MAX;
    if (fine && field->unit && field->unit[0])
        fine = note_text(h5, data, "unit", field->unit);
    if (data >= 0)
        fine = h5->data_close(data) >= 0 && fine;
    if (space >= 0)
        h5->space_close(space);
    if (fine)
        target->columns[k].offset = (int64_t)offset;
    return fine;
}

/* Datasets of one block that is there from the start, not filled, without times of day. */
static tz_h5_id make_properties(const tz_hdf5 *h5)
{
    const tz_h5_id p = h5->properties(constant(h5, "H5P_CLS_DATASET_CREATE_ID_g"));
    if (p >= 0 && h5->set_alloc_time(p, ALLOC_EARLY) >= 0 &&
        h5->set_fill_time(p, FILL_NEVER) >= 0 && h5->set_track_times(p, false) >= 0)
        return p;
    if (p >= 0)
        h5->properties_close(p);
    return -1;
}

static tz_status make(const tz_hdf5 *h5, const char *path, const char *name, const tz_grid *grid,
                      tz_grid_file *target, tz_error *error)
{
    tz_status status = TZ_OK;
    tz_h5_id file = -1;
    h5->quiet(0, NULL, NULL);
    const tz_h5_id properties = make_properties(h5);
    const tz_h5_id access = h5->properties(constant(h5, "H5P_CLS_FILE_ACCESS_ID_g"));
    if (properties < 0 || access < 0) {
        status = refused(h5, path, "to start", error);
        goto cleanup;
    }
    h5->set_locking(access, false, true); /* the file is locked here */
    file = h5->file_create(name, TRUNCATE, 0, access);
    if (file < 0) {
        status = refused(h5, path, "to create the file", error);
        goto cleanup;
    }
    if (!note_grid(h5, file, grid))
        status = refused(h5, path, "the attributes", error);
    for (size_t k = 0; status == TZ_OK && k < grid->fields_count; k++)
        if (!add_field(h5, file, properties, grid, k, target))
            status = refused(h5, path, "a field", error);
cleanup:
    if (file >= 0 && h5->file_close(file) < 0 && status == TZ_OK)
        status = refused(h5, path, "to close the file", error);
    if (access >= 0)
        h5->properties_close(access);
    if (properties >= 0)
        h5->properties_close(properties);
    return status;
}

static tz_status begin(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error)
{
    *out = NULL;
    tz_hdf5 h5;
    tz_grid_file *file = NULL;
    tz_status status = tz__grid_file_open(&file, path, grid, error);
    if (status != TZ_OK)
        return status;
    const char *name = tz_atomic_name(file->file, error);
    pthread_mutex_lock(&one_at_a_time);
    status = name ? open_library(&h5, error) : TZ_IO;
    if (status == TZ_OK)
        status = make(&h5, path, name, grid, file, error);
    if (name)
        tz_library_close(&h5.library);
    pthread_mutex_unlock(&one_at_a_time);
    if (status != TZ_OK) {
        tz_grid_file_abort(file);
        return status;
    }
    *out = file;
    return TZ_OK;
}

static tz_status list(const char *path, const char *name, const tz_grid *grid, tz_error *error)
{
    return tz_format_xdmf.list(path, name, grid, error);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* From H5Tpublic.h. */
enum { INTEGER = 0, REAL = 1, ENUMERATION = 8, UNSIGNED = 0, READ_ONLY = 0, BY_NAME = 0, UP = 0 };

/* The dataset of that name, or the only one of the root. -1: status says why. */
static tz_h5_id open_data(const tz_hdf5 *h5, tz_h5_id file, const char *path, const char *field,
                          tz_status *status, tz_error *error)
{
    char name[160], names[160] = "";
    size_t count = 0, used = 0;
    bool full = false;
    tz_h5_id found = field ? h5->data_open(file, field, 0) : -1;
    if (found >= 0)
        return found;
    for (tz_h5_size k = 0; h5->name_at(file, "/", BY_NAME, UP, k, name, sizeof name, 0) >= 0; k++) {
        const tz_h5_id data = h5->data_open(file, name, 0);
        if (data < 0) /* a group */
            continue;
        const bool more = used + strlen(name) + 16 > sizeof names;
        if (!full)
            used += (size_t)snprintf(names + used, sizeof names - used, more ? "%s%.0s…" : "%s'%s'",
                                     count ? ", " : "", name);
        full = full || more;
        if (count++ > 0 || field)
            h5->data_close(data);
        else
            found = data;
    }
    if (!field && count == 1)
        return found;
    if (found >= 0)
        h5->data_close(found);
    if (field)
        *status = tz_error_set(error, TZ_UNKNOWN, path, "has no dataset '%.60s'; its root has %s",
                               field, count ? names : "none");
    else
        *status = tz_error_set(error, TZ_USAGE, path,
                               count ? "has %zu datasets, %s: 'field' takes one"
                                     : "has %zu datasets in its root%s: 'field' names one "
                                       "in a group, as \"group/name\"",
                               count, names);
    return -1;
}

/* The type of elements in memory; TZ_DTYPE_COUNT: none of ours. */
static tz_dtype dtype_of(const tz_hdf5 *h5, tz_h5_id data)
{
    static const tz_dtype integers[][2] = {{TZ_DTYPE_U8, TZ_DTYPE_I8},
                                           {TZ_DTYPE_U16, TZ_DTYPE_I16},
                                           {TZ_DTYPE_U32, TZ_DTYPE_I32},
                                           {TZ_DTYPE_U64, TZ_DTYPE_I64}};
    const tz_h5_id type = h5->data_type(data);
    tz_dtype dtype = TZ_DTYPE_COUNT;
    if (type < 0)
        return dtype;
    const int class = h5->type_class(type);
    const size_t size = h5->type_size(type);
    if (class == REAL && size <= 8)
        dtype = size > 4 ? TZ_DTYPE_F64 : TZ_DTYPE_F32;
    else if (class == INTEGER)
        for (int k = 0; k < 4; k++)
            dtype = size == (size_t)1 << k ? integers[k][h5->type_sign(type) != UNSIGNED] : dtype;
    else if (class == ENUMERATION && size == 1) /* truth, as h5py writes it */
        dtype = TZ_DTYPE_I8;
    h5->type_close(type);
    return dtype;
}

static tz_status read_data(const tz_hdf5 *h5, tz_h5_id data, const char *path, tz_array **out,
                           tz_error *error)
{
    tz_h5_size extents[TZ_DIMS_MAX];
    int64_t shape[TZ_DIMS_MAX] = {1, 1, 1};
    const tz_dtype dtype = dtype_of(h5, data);
    const tz_h5_id space = h5->data_space(data);
    const int dims = space < 0 ? -1 : h5->space_dims(space);
    tz_status status = TZ_OK;
    if (dtype == TZ_DTYPE_COUNT)
        status = tz_error_set(error, TZ_TYPE, path,
                              "the dataset's type is not read: integers of up to 64 bits and real "
                              "numbers are");
    else if (dims < 1 || dims > TZ_DIMS_MAX)
        status =
            tz_error_set(error, TZ_SHAPE, path,
                         "the dataset has %d dimensions; 1 to 3 are read, so reshape it", dims);
    else if (h5->space_extents(space, extents, NULL) != dims)
        status = refused(h5, path, "the dataset's extents", error);
    for (int d = 0; status == TZ_OK && d < dims; d++)
        shape[d] = extents[dims - 1 - d] > INT64_MAX ? -1 : (int64_t)extents[dims - 1 - d];
    if (status == TZ_OK && tz_shape_count(dims, shape) < 0)
        status = tz_error_set(error, TZ_SHAPE, path, "the dataset is empty or larger than memory");
    if (status == TZ_OK)
        status = tz_array_create(out, dtype, dims, shape, error);
    if (status == TZ_OK && h5->data_read(data, type_of(h5, dtype), 0, 0, 0, (*out)->data) < 0)
        status = refused(h5, path, "to read the dataset", error);
    if (space >= 0)
        h5->space_close(space);
    return status;
}

/* Does tz.hdf5's note say that rows are turned? */
static bool is_turned(const tz_hdf5 *h5, tz_h5_id file)
{
    char text[8] = "";
    const tz_h5_id note = h5->note_exists(file, "y") > 0 ? h5->note_open(file, "y", 0) : -1;
    const tz_h5_id type = h5->type_copy(constant(h5, "H5T_C_S1_g"));
    const bool fine = note >= 0 && type >= 0 && h5->type_set_size(type, sizeof text - 1) >= 0 &&
                      h5->type_set_charset(type, UTF8) >= 0 && h5->note_read(note, type, text) >= 0;
    if (type >= 0)
        h5->type_close(type);
    if (note >= 0)
        h5->note_close(note);
    return fine && strcmp(text, "up") == 0;
}

static tz_status read_open(const tz_hdf5 *h5, const char *path, tz_format_reading *reading,
                           tz_error *error)
{
    tz_status status = TZ_OK;
    h5->quiet(0, NULL, NULL);
    const tz_h5_id access = h5->properties(constant(h5, "H5P_CLS_FILE_ACCESS_ID_g"));
    if (access >= 0)
        h5->set_locking(access, false, true);
    const tz_h5_id file = access < 0 ? -1 : h5->file_open(path, READ_ONLY, access);
    if (file < 0) {
        status = refused(h5, path, "to open the file", error);
    } else {
        const tz_h5_id data = open_data(h5, file, path, reading->field, &status, error);
        if (data >= 0) {
            status = read_data(h5, data, path, &reading->array, error);
            h5->data_close(data);
        }
        if (status == TZ_OK && is_turned(h5, file))
            tz_array_turn_rows(reading->array);
        h5->file_close(file);
    }
    if (access >= 0)
        h5->properties_close(access);
    return status;
}

static tz_status read_file(const char *path, tz_format_reading *reading, tz_error *error)
{
    tz_hdf5 h5;
    const size_t length = strlen(path);
    if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0)
        return tz_error_set(error, TZ_UNSUPPORTED, path,
                            "is HDF5 within gzip: decompress it first (gunzip)");
    pthread_mutex_lock(&one_at_a_time);
    tz_status status = open_library(&h5, error);
    if (status == TZ_OK)
        status = read_open(&h5, path, reading, error);
    tz_library_close(&h5.library);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}

const tz_format tz_format_hdf5 = {
    .name = "hdf5",
    .content = TZ_CONTENT_GRID,
    .suffix = ".h5",
    .doc = "The same as `NAME-000100.h5`: a dataset for each field, with attributes `step`, "
           "`time`, `time_unit`, `spacing` and `origin` of the file. ParaView opens "
           "`NAME.xdmf`. Needs libhdf5, which `trapeze doctor` looks for.",
    .check = check,
    .describe = describe,
    .part = "HDF5 files",
    .package = "hdf5-tools",
    .begin = begin,
    .list_suffix = ".xdmf",
    .list = list,
    .magic = "\x89HDF",
    .read_doc = "a dataset of HDF5, also of NetCDF-4 and MATLAB 7.3",
    .reads = TZ_READS_FIELD,
    .read = read_file,
};
