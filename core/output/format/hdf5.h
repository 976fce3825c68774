/* The functions of the system's libhdf5 that are used, from 1.10.7 on: for hdf5.c and its tests. */
#ifndef TZ_CORE_OUTPUT_FORMAT_HDF5_H
#define TZ_CORE_OUTPUT_FORMAT_HDF5_H

#include "base/error.h"
#include "base/library.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Open the first library of a list that ends with NULL; NULL: those of Debian and others. Errors:
 * TZ_UNSUPPORTED, with what to do. Close it in any case. */
tz_status tz__hdf5_open(tz_hdf5 *h5, const char *const *names, tz_error *error);
void tz__hdf5_close(tz_hdf5 *h5);

/* A predefined type or class, such as "H5T_NATIVE_DOUBLE_g"; -1: it has none of that name. */
tz_h5_id tz__hdf5_constant(const tz_hdf5 *h5, const char *name);

#endif
