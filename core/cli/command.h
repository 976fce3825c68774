/* The commands of the command line and what they share. Only core/cli prints and exits. */
#ifndef TZ_CORE_CLI_COMMAND_H
#define TZ_CORE_CLI_COMMAND_H

#include "base/error.h"
#include "base/paths.h"
#include "define/definition.h"
#include "stencil/registry.h"
#include <jansson.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct tz_command {
    const char *name;
    const char *arguments; /* "SCRIPT [OPTION]…" */
    const char *doc;       /* one line */
    const char *help;      /* the rest of --help; tz_help_text() replaces {families} and the like */
    int (*call)(const struct tz_command *command, int argc, char **argv);
} tz_command;

extern const tz_command tz_command_run, tz_command_plugins, tz_command_doctor, tz_command_info,
    tz_command_calibrate, tz_command_predict, tz_command_tune, tz_command_explain,
    tz_command_manual, tz_command_new, tz_command_resume, tz_command_report, tz_command_examples,
    tz_command_sweep, tz_command_export;

/* All of them, as `trapeze --help` lists them; NULL ends the list. */
extern const tz_command *const tz_commands[];

/* ---- Messages ---- */
/* Print "trapeze: place: message" on stderr. Returns `code`. */
int tz_fail(int code, const tz_error *error);
int tz_fail_text(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Print what is wrong with the arguments and where help is. `command` NULL: no command was given.
 * Returns EXIT_USAGE. */
int tz_misuse(const tz_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The command's `help` in `text`, with names and lines of tables for {families}, {models} and so
 * on. Returns `text`. */
enum { TZ_HELP_SIZE = 16 << 10 };
const char *tz_help_text(const tz_command *command, char text[TZ_HELP_SIZE]);
/* Print the command's --help on stdout. Returns EXIT_DONE, or EXIT_FAILED. */
int tz_help(const tz_command *command);
/* Flush stdout. EXIT_DONE, or EXIT_FAILED after printing that the output could not be written. */
int tz_finish_output(void);

/* The words as one line for a shell, quoted where it needs that; free() it. NULL: not enough
 * memory. */
char *tz_shell_words(const char *const *words, size_t count);

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

/* A scenario that is run as --check does, for the stencils that it defines. */
typedef struct tz_replay {
    const char *path;
    tz_paths sets; /* NAME=VALUE, each */
    bool unsafe;
    void *context; /* OPTIONAL, with stencil(): tz_script_sink has it */
    void (*stencil)(void *context, const tz_definition *definition);
} tz_replay;

/* Add the stencils of a scenario to the opened plugins. Those that it defines before it fails stay.
 * Returns the status of the scenario. */
tz_status tz_plugins_define(tz_plugins *plugins, const tz_replay *replay, tz_error *error);

/* Find a stencil by its id, after running the scenario `from` (NULL: none), which may define it.
 * EXIT_DONE, or EXIT_FAILED after a printed error. */
int tz_plugins_find(tz_plugins *plugins, const char *id, const char *from,
                    const tz_stencil **stencil);

/* ---- Runs ---- */
/* Read FOLDER/run.json. NULL after a printed error. */
json_t *tz_run_load(const char *folder);

#endif
