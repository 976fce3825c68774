/* ParaView's ImageData (.vti): named cell data on a regular grid, for ParaView and VisIt; and .pvd,
 * a list of such files with their times.
 *
 * XML with the numbers appended raw, each array after a UInt64 byte count. Cells run x fastest, in
 * the order of the arrays; VTK's y axis points up, so row 0 is at the bottom there, unless y_up turns
 * the rows. A 2-D grid has no
 * thickness there ("0 nx 0 ny 0 0"). "TimeValue" is what readers of VTK take for the time.
 * Source: "VTK File Formats", XML, ImageData; ParaView Data (PVD) File Format. */
#ifndef TZ_CORE_OUTPUT_FORMAT_VTI_H
#define TZ_CORE_OUTPUT_FORMAT_VTI_H

#include "output/format/grid_file.h"
#include "output/format/series.h"

tz_status tz_vti_begin(tz_grid_file **out, const char *path, const tz_grid *grid, tz_error *error);

/* Add a .vti file, which lies beside it, to the .pvd file at `path`. The grid has a step. */
tz_status tz_pvd_add(const char *path, const char *name, const tz_grid *grid, tz_error *error);

#endif
