/* XDMF: a list of frames as XML (.xdmf), for ParaView and VisIt, with the numbers beside it, in raw
 * files (.raw) or HDF5's (hdf5.h). The fields of a raw file follow each other, x fastest, without a
 * header; the list says where each is, and its type and byte order.
 * Source: "XDMF Model and Format", version 3; what is used is the same in version 2. */
#ifndef TZ_CORE_OUTPUT_FORMAT_XDMF_H
#define TZ_CORE_OUTPUT_FORMAT_XDMF_H

#include "output/format/grid_file.h"

/* Add the grid, which is in a file beside it, to the .xdmf file at `path`: a .raw file or, if its name
 * ends in ".h5", HDF5's. Without a step it has no time. */
tz_status tz_xdmf_add(const char *path, const char *name, const tz_grid *grid, tz_error *error);

#endif
