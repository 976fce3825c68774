/* Options of a command: each command has one table, and one function reads them all. */
#ifndef TZ_CORE_CLI_OPTIONS_H
#define TZ_CORE_CLI_OPTIONS_H

#include "cli/command.h"
#include "cli/print.h"
#include <getopt.h> /* optind */

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

enum { TZ_OPTIONS_MAX = 40, TZ_OPTIONS_GO_ON = -1 };

/* A tz_option_take for --backend: *(const char **)out becomes the name of a known backend. */
int tz_take_backend(const tz_command *command, void *out, const char *text);

/* The same for --set: NAME=VALUE is added to *(tz_paths *)out. */
int tz_take_set(const tz_command *command, void *out, const char *text);

/* The same for --family: the family of the tz_plan at `out` becomes that of a backend. */
int tz_take_family(const tz_command *command, void *out, const char *text);

/* Read all options of a command line. --help and -h need no entry. Returns TZ_OPTIONS_GO_ON, with
 * the arguments from argv[optind] on; or what to exit with, after --help or a printed error. */
int tz_options_read(const tz_command *command, int argc, char **argv, const tz_option *options);

#endif
