/* The commands of the command line and what they share. Only core/cli prints and exits. */
#ifndef TZ_CORE_CLI_COMMAND_H
#define TZ_CORE_CLI_COMMAND_H

#include "base/error.h"
#include "base/paths.h"
#include "stencil/registry.h"
#include <jansson.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct tz_command {
    const char *name;
    const char *arguments; /* "SCRIPT [OPTION]…" */
    const char *doc;       /* one line */
    const char *help;      /* the rest of --help; {families} stands for their names */
    int (*call)(const struct tz_command *command, int argc, char **argv);
} tz_command;

extern const tz_command tz_command_run, tz_command_plugins, tz_command_doctor, tz_command_info,
    tz_command_calibrate, tz_command_predict, tz_command_tune, tz_command_explain,
    tz_command_manual;

/* ---- Messages ---- */
/* Print "trapeze: place: message" on stderr. Returns `code`. */
int tz_fail(int code, const tz_error *error);
int tz_fail_text(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print what is wrong with the arguments and where help is. `command` NULL: no command was given.
 * Returns EXIT_USAGE. */
int tz_misuse(const tz_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Print the command's --help on stdout. Returns EXIT_DONE, or EXIT_FAILED. */
int tz_help(const tz_command *command);
/* Flush stdout. EXIT_DONE, or EXIT_FAILED after printing that the output could not be written. */
int tz_finish_output(void);

/* ---- Plugins ---- */
/* Begin with a zeroed struct. */
typedef struct tz_plugins {
    tz_paths given;   /* folders of --plugins */
    tz_paths folders; /* all folders that were searched, the given ones first */
    tz_registry *registry;
} tz_plugins;

/* Search the given folders, then the usual ones. False after a printed error. */
bool tz_plugins_open(tz_plugins *plugins);
void tz_plugins_close(tz_plugins *plugins);

/* ---- Runs ---- */
/* Read FOLDER/run.json. NULL after a printed error. */
json_t *tz_run_load(const char *folder);

/* "1.5 GiB", four digits. */
void tz_format_bytes(double bytes, char *text, size_t size);

#endif
