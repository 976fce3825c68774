/* Outputs as scripts describe them: by the function tz.NAME of a format. */
#ifndef TZ_CORE_LUA_OUTPUT_H
#define TZ_CORE_LUA_OUTPUT_H

#include "output/output.h"

/* A userdata of this type is a tz_output. Its user values keep what it has of the script. */
#define TZ_TYPE_OUTPUT "trapeze.output"
enum {
    TZ_OUTPUT_COLUMNS = 1, /* of a table: functions, under the numbers of their columns from 1 */
    TZ_OUTPUT_OUTLINE = 1, /* of a picture: a floorplan, or nil */
    TZ_OUTPUT_CAPTION,     /* of a picture: the function that makes captions, or nil */
    TZ_OUTPUT_PATH,        /* of a picture: the memory of its path, or nil */
    TZ_OUTPUT_VALUES = TZ_OUTPUT_PATH
};

#endif
