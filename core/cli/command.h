/* The commands of the command line and what they share: messages, plugins, options, printing. Only
 * core/cli prints and exits. */
#ifndef TZ_CORE_CLI_COMMAND_H
#define TZ_CORE_CLI_COMMAND_H

#include "base/error.h"
#include "base/facts.h"
#include "base/paths.h"
#include "define/definition.h"
#include "stencil/registry.h"
#include <getopt.h> /* optind */
#include <jansson.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

typedef struct tz_command {
    const char *name;
    const char *arguments; /* "SCRIPT [OPTION]…" */
    const char *doc;       /* one line */
    const char *examples;  /* two lines */
    const char *help;      /* the rest of --help; tz_help_text() replaces {families} and the like */
    int (*call)(const struct tz_command *command, int argc, char **argv);
} tz_command;

extern const tz_command tz_command_run, tz_command_plugins, tz_command_doctor, tz_command_info,
    tz_command_calibrate, tz_command_predict, tz_command_tune, tz_command_explain,
    tz_command_manual, tz_command_new, tz_command_resume, tz_command_report, tz_command_examples,
    tz_command_sweep, tz_command_export, tz_command_compare;

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

/* Write a blank and the word, quoted where a shell needs that. */
void tz_put_shell_word(FILE *out, const char *word);

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
    tz_paths sets;      /* NAME=VALUE, each */
    const char *option; /* which gives them: one that is never read gets a warning; NULL: none */
    bool unsafe;
    void *context; /* OPTIONAL, with stencil(): tz_script_sink has it */
    void (*stencil)(void *context, const tz_definition *definition);
    tz_paths ids, inputs; /* stencils that it has defined; files that it has read */
} tz_replay;

/* Add the stencils of a scenario to the opened plugins. Those that it defines before it fails stay.
 * Returns the status of the scenario. */
tz_status tz_plugins_define(tz_plugins *plugins, tz_replay *replay, tz_error *error);

/* Choose among its stencils: the one `wanted`, or with NULL its only one. `failure`: of the
 * scenario; NULL: it did not fail. EXIT_DONE, or EXIT_FAILED after a printed error. */
int tz_replay_choose(const tz_replay *replay, const char *wanted, const tz_error *failure,
                     const char **id);
void tz_replay_clear(tz_replay *replay);

/* ---- Runs ---- */
/* Read FOLDER/run.json. NULL after a printed error. */
json_t *tz_run_load(const char *folder);
/* Print what it says, print_run.c: all of each simulation; or three lines: what was computed, how
 * fast and by what plan, where its files are. */
void tz_print_run(tz_facts *facts, const json_t *record);
typedef struct tz_summary {
    long long steps;
    double seconds, updates; /* of cells */
    const char *ending;      /* "done" */
    const char *folder;      /* "": none */
    const char *by;          /* who chose a backend that is not "auto" */
    size_t more;             /* other simulations; tz_print_run_summary sets it */
} tz_summary;
void tz_print_run_summary(FILE *out, const json_t *record, const tz_summary *about);
/* The plan of the most steps, or NULL. Others are trials, or TZ_WHY_REST. */
const json_t *tz_main_plan(const json_t *simulation);
bool tz_is_rest(const json_t *plan);
/* Members of an object: a text or "?", an integer, a number; 0 where there is none. */
const char *tz_json_text(const json_t *object, const char *key);
long long tz_json_int(const json_t *object, const char *key);
double tz_json_number(const json_t *object, const char *key);

/* ---- Options of a command: each command has one table, and one function reads them all. ---- */
typedef enum tz_option_kind {
    TZ_OPTION_FLAG,    /* takes no value; *(bool *)out becomes true */
    TZ_OPTION_TEXT,    /* *(const char **)out, borrowed from argv */
    TZ_OPTION_INTEGER, /* *(int *)out, from low to high */
    TZ_OPTION_PATHS,   /* may be repeated: added to *(tz_paths *)out */
    TZ_OPTION_FORM,    /* takes no value; *(tz_form *)out becomes `low`; a second form is refused */
    TZ_OPTION_OPTIONAL, /* --NAME or --NAME=VALUE: the same, the text is NULL or VALUE */
    TZ_OPTION_CALL      /* what `take` makes of the text */
} tz_option_kind;

/* EXIT_DONE, or what to exit with after a printed error. */
typedef int tz_option_take(const tz_command *command, void *out, const char *text);

typedef struct tz_option {
    const char *name; /* without "--"; NULL ends a table */
    tz_option_kind kind;
    void *out;
    int low, high;
    tz_option_take *take;
    char letter; /* "-q" for "--quiet"; 0: none */
} tz_option;

/* Rows of a table; its last row is {.name = NULL}. */
#define TZ_FLAG(name_, out_)                                                                       \
    {                                                                                              \
        .name = name_, .kind = TZ_OPTION_FLAG, .out = out_                                         \
    }
#define TZ_TEXT(name_, out_)                                                                       \
    {                                                                                              \
        .name = name_, .kind = TZ_OPTION_TEXT, .out = out_                                         \
    }
#define TZ_INTEGER(name_, out_, low_, high_)                                                       \
    {                                                                                              \
        .name = name_, .kind = TZ_OPTION_INTEGER, .out = out_, .low = low_, .high = high_          \
    }
#define TZ_PATHS(name_, out_)                                                                      \
    {                                                                                              \
        .name = name_, .kind = TZ_OPTION_PATHS, .out = out_                                        \
    }
#define TZ_CALL(name_, out_, take_)                                                                \
    {                                                                                              \
        .name = name_, .kind = TZ_OPTION_CALL, .out = out_, .take = take_                          \
    }
/* --csv and --json: *(tz_form *)out_. */
#define TZ_FORMS(out_)                                                                             \
    {.name = "json", .kind = TZ_OPTION_FORM, .out = out_, .low = TZ_FORM_JSON},                    \
    {                                                                                              \
        .name = "csv", .kind = TZ_OPTION_FORM, .out = out_, .low = TZ_FORM_CSV                     \
    }
/* -v, --verbose: details after what matters first. */
#define TZ_VERBOSE(out_)                                                                           \
    {                                                                                              \
        .name = "verbose", .kind = TZ_OPTION_FLAG, .out = out_, .letter = 'v'                      \
    }

enum { TZ_OPTIONS_MAX = 64, TZ_OPTIONS_GO_ON = -1 };

/* A tz_option_take for --backend: *(const char **)out becomes the name of a known backend. */
int tz_take_backend(const tz_command *command, void *out, const char *text);
/* The same for --at: a step, in *(int64_t *)out. */
int tz_take_step(const tz_command *command, void *out, const char *text);
/* The same for --set and --arg: NAME=VALUE is added to *(tz_paths *)out. */
int tz_take_set(const tz_command *command, void *out, const char *text);
int tz_take_arg(const tz_command *command, void *out, const char *text);
/* The same for --family: the family of the tz_plan at `out` becomes that of a backend. */
int tz_take_family(const tz_command *command, void *out, const char *text);

/* Read all options of a command line. --help and -h need no entry. Returns TZ_OPTIONS_GO_ON, with
 * the arguments from argv[optind] on; or what to exit with, after --help or a printed error. */
int tz_options_read(const tz_command *command, int argc, char **argv, const tz_option *options);

/* Print the names of the examples that begin with what is typed, a line each. */
void tz_examples_put(const char *typed);
/* ---- Printing ---- */
enum { TZ_TEXT_SIZE = 96 };

/* "1.25 ms", four digits. */
void tz_format_seconds(double seconds, char *text, size_t size);
/* The unit in which `seconds` or more is at least 1, and the factor to it. */
const char *tz_time_unit(double seconds, double *scale);
/* "1.5 GiB", four digits. */
void tz_format_bytes(double bytes, char *text, size_t size);

/* Print it in lines that are indented, with so many digits a number. Takes it; NULL: not enough
 * memory. */
void tz_print_json(json_t *json, int digits);
/* Print a sheet: text, CSV, or a list in JSON. */
void tz_print_sheet(const tz_sheet *sheet, tz_form form);

#endif
