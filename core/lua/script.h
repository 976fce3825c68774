/* Run a Lua scenario: everything between the command line and the simulation. */
#ifndef TZ_CORE_LUA_SCRIPT_H
#define TZ_CORE_LUA_SCRIPT_H

#include "lua/options.h"

/* Run the script at options->path to its end. TZ_INTERRUPTED (a signal), TZ_EXPECT (tz.expect
 * failed), TZ_SCRIPT (any other error of the script); the message of both begins with the script's
 * line. Otherwise the error that kept the run from starting or its files from being written. Fills
 * `result` in any case. One script at a time. */
tz_status tz_script_run(const tz_script_options *options, tz_script_result *result,
                        tz_error *error);

#endif
