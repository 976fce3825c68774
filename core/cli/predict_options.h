/* Options that predict and tune share, and the workload that these options describe. */
#ifndef TZ_CORE_CLI_PREDICT_OPTIONS_H
#define TZ_CORE_CLI_PREDICT_OPTIONS_H

#include "cli/command.h"
#include "predict/predictions.h"
#include "predict/workload.h"

enum { TZ_PREDICT_OPTIONS_SETS_MAX = TZ_PARAMS_MAX };

typedef struct tz_predict_options {
    tz_simulation_config simulation; /* its plan: members that were given, the others zero */
    const char *stencil;             /* its id; NULL: the one of the scenario */
    const char *device;
    const char *link;   /* what joins several devices; NULL: what the record knows */
    tz_replay from;     /* a scenario that defines the stencil; no path: none */
    const char *chosen; /* among the scenario's; NULL: its only one */
    const char *plot;   /* a file; NULL: none */
    tz_form form;
    tz_plugins plugins;
    char *sets[TZ_PREDICT_OPTIONS_SETS_MAX]; /* "NAME\0VALUE", owned, which params point into */
    tz_assignment params[TZ_PREDICT_OPTIONS_SETS_MAX];
    char boundary[128];
    double block[TZ_AXES];
} tz_predict_options;

#define TZ_BOUNDARY_WORD(kind, rule, name, doc) " " name

#define TZ_PREDICT_OPTIONS_HELP                                                                    \
    "  --from SCENARIO       the stencil is one that this scenario defines with tz.stencil; it\n"  \
    "                        needs no name then\n"                                                 \
    "  --stencil NAME        which one, if the scenario defines several\n"                         \
    "  --arg NAME=VALUE      a value for the scenario, tz.args.NAME; may be repeated\n"            \
    "  --grid NX[,NY[,NZ]]   cells along each axis, x first\n"                                     \
    "  --precision P         single (the default) or double\n"                                     \
    "  --boundary B          one of" TZ_BOUNDARY_TABLE(                                            \
        TZ_BOUNDARY_WORD) "; a list for the axes:\n"                                               \
                          "                        periodic,clamp; low and high side: "            \
                          "x=clamp:fixed\n"                                                        \
                          "  --set NAME=VALUE      a parameter of the stencil; may be repeated\n"  \
                          "  --backend NAME        auto, cpu or cuda\n"                            \
                          "  --device NAME|FILE    a device record: h200, gtx280, … (default: "  \
                          "this machine's)\n"                                                      \
                          "  --gpu N               which GPU of this machine, from 0\n"            \
                          "  --devices N           so many such devices, each with a slab of the " \
                          "grid; or devices of\n"                                                  \
                          "                        this machine, as in `trapeze run`: 0,2 or "     \
                          "cpu:2\n"                                                                \
                          "  --link NAME|FILE      what joins them: peer, host or mpi in the "     \
                          "device's record, nvlink,\n"                                             \
                          "                        pcie, or the path of a record (default: peer, " \
                          "else host)\n"                                                           \
                          "  --exchange N          iterations between two exchanges of their "     \
                          "ghost zones\n"                                                          \
                          "  --threads N           of the cpu backend\n"                           \
                          "  --compile-threads N   so many kernels for a GPU are compiled at "     \
                          "once (default:\n"                                                       \
                          "                        --threads, else half of the processors)\n"      \
                          "  --height N, --family NAME, --block BX[,BY[,BZ]], --vector N, "        \
                          "--ahead N, --warps N,\n"                                                \
                          "  --blocks N, --unroll N, --lanes N, --swap N, --lean N  only such "    \
                          "plans\n"

/* Read the command line: these options, the command's `own` ones, and the stencil. Returns as
 * tz_options_read. */
int tz_predict_options_read(tz_predict_options *predict, const tz_command *command, int argc,
                            char **argv, const tz_option *own);

/* Open the plugins and make the workload. `let_unstable`: accept parameters under which the
 * computation is unstable. EXIT_DONE, or what to exit with after a printed error. */
int tz_predict_options_apply(tz_predict_options *predict, const tz_command *command,
                             bool let_unstable, tz_workload **out);
/* A line on a terminal that says how many plans are predicted; clear it before anything else is
 * printed. */
typedef struct tz_predict_progress {
    tz_predictions_watch watch; /* for a request */
    int count;
    bool terminal;
} tz_predict_progress;
void tz_predict_progress_begin(tz_predict_progress *progress);
void tz_predict_progress_clear(const tz_predict_progress *progress);

/* Print an error. Returns what to exit with: 128 + the signal after TZ_INTERRUPTED. */
int tz_predict_fail(const tz_error *error);

void tz_predict_options_clear(tz_predict_options *predict);

/* Read 1 to `most` numbers from `low` to `high`, separated by commas. Returns how many; 0 when the
 * text is anything else. */
int tz_numbers_parse(const char *text, int most, double low, double high, double *out);

#endif
