/* The command line: one function a command, and what they share. Only core/cli prints and exits. */
#ifndef TZ_CORE_CLI_COMMAND_H
#define TZ_CORE_CLI_COMMAND_H

#include "base/error.h"
#include "base/paths.h"
#include "stencil/registry.h"
#include <getopt.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct tz_command {
    const char *name;
    const char *arguments; /* "SCRIPT [OPTION]…" */
    const char *doc;       /* one line */
    const char *help;      /* the rest of --help */
    int (*call)(const struct tz_command *command, int argc, char **argv);
} tz_command;

extern const tz_command tz_command_run, tz_command_plugins, tz_command_doctor, tz_command_info,
    tz_command_calibrate, tz_command_predict, tz_command_tune, tz_command_explain;

/* ---- Words for the user ---- */
/* "trapeze: place: message" on stderr. Returns `code`. */
int tz_fail(int code, const tz_error *error);
int tz_fail_text(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A wrong use: the message and where to find help. Returns EXIT_USAGE. */
int tz_misuse(const tz_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The command's --help on stdout. Returns EXIT_DONE. */
int tz_help(const tz_command *command);
/* Flush stdout and report what could not be written: EXIT_DONE or EXIT_FAILED. */
int tz_finish_output(void);

/* ---- Options ---- */
/* The next option, as getopt_long. Reports unknown, ambiguous and incomplete ones with the nearest
 * known name and returns '?'; -1 at the end. */
int tz_option_next(const tz_command *command, int argc, char **argv, const char *letters,
                   const struct option *options);
/* A whole number from low to high; false (and a message) otherwise. */
bool tz_option_number(const tz_command *command, const char *option, const char *text, long low,
                      long high, int *out);

/* ---- Plugins ---- */
/* Open the plugins of `folders` (given with --plugins) and of the usual places after them. Reports
 * a failure itself. */
tz_registry *tz_plugins_open(const tz_paths *given, tz_paths *folders);

/* "1.5 GiB" */
void tz_format_bytes(double bytes, char *text, size_t size);

#endif
