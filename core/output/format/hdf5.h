/* HDF5 files (.h5), by the system's libhdf5, which is opened at run time.
 *
 * A dataset for each field, named after it, in the file's root: extents slowest axis first, one block
 * of bytes. Attributes of the root: "spacing" and "origin" (one number an axis, x first) and, of a
 * grid with a step, "step" and, where they are known, "time" and "time_unit"; "y" is "up" where rows are turned. Attribute of a dataset:
 * "unit". No times of day, so that a file depends on its content alone. */
#ifndef TZ_CORE_OUTPUT_FORMAT_HDF5_H
#define TZ_CORE_OUTPUT_FORMAT_HDF5_H

#include "output/format/grid_file.h"

/* Is the library there? TZ_UNSUPPORTED, with the package to install. */
tz_status tz_hdf5_check(tz_error *error);
/* For `trapeze doctor`: a line with its version, or why it is missing. Returns whether it
 * is there. */
bool tz_hdf5_describe(char *text, size_t size);

/* As the other formats (grid_file.h). TZ_UNSUPPORTED: there is no library. TZ_BACKEND: it refuses. */
tz_status tz_hdf5_begin(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error);

#endif
