#include "cli/command.h"

#include <stddef.h>

const tz_command *const tz_commands[] = {
    &tz_command_run,    &tz_command_sweep,   &tz_command_resume,    &tz_command_plugins,
    &tz_command_doctor, &tz_command_info,    &tz_command_calibrate, &tz_command_predict,
    &tz_command_tune,   &tz_command_explain, &tz_command_report,    &tz_command_export,
    &tz_command_manual, &tz_command_new,     &tz_command_examples,  NULL};
