/* Questions: the options that predict, tune and their like share, made into a study. */
#ifndef TZ_CORE_CLI_PREDICT_OPTIONS_H
#define TZ_CORE_CLI_PREDICT_OPTIONS_H

#include "cli/command.h"
#include "predict/workload.h"

enum { TZ_PREDICT_OPTIONS_SETS_MAX = TZ_PARAMS_MAX };

typedef struct tz_predict_options {
    tz_simulation_config simulation; /* its plan is what was given of it */
    const char *device;
    tz_paths plugins, folders;
    tz_registry *registry;
    char *sets[TZ_PREDICT_OPTIONS_SETS_MAX]; /* "NAME\0VALUE", owned */
    tz_assignment params[TZ_PREDICT_OPTIONS_SETS_MAX];
    char boundary[128];
    double block[TZ_AXES];
} tz_predict_options;

/* The options, for a command's table of struct option and for its --help. */
enum {
    TZ_PREDICT_OPTIONS_GRID = 1000,
    TZ_PREDICT_OPTIONS_PRECISION,
    TZ_PREDICT_OPTIONS_BOUNDARY,
    TZ_PREDICT_OPTIONS_SET,
    TZ_PREDICT_OPTIONS_BACKEND,
    TZ_PREDICT_OPTIONS_DEVICE,
    TZ_PREDICT_OPTIONS_GPU,
    TZ_PREDICT_OPTIONS_THREADS,
    TZ_PREDICT_OPTIONS_HEIGHT,
    TZ_PREDICT_OPTIONS_FAMILY,
    TZ_PREDICT_OPTIONS_BLOCK,
    TZ_PREDICT_OPTIONS_PLUGINS,
    TZ_PREDICT_OPTIONS_LAST
};
#define TZ_PREDICT_OPTIONS_OPTIONS                                                                 \
    {"grid", required_argument, NULL, TZ_PREDICT_OPTIONS_GRID},                                    \
        {"precision", required_argument, NULL, TZ_PREDICT_OPTIONS_PRECISION},                      \
        {"boundary", required_argument, NULL, TZ_PREDICT_OPTIONS_BOUNDARY},                        \
        {"set", required_argument, NULL, TZ_PREDICT_OPTIONS_SET},                                  \
        {"backend", required_argument, NULL, TZ_PREDICT_OPTIONS_BACKEND},                          \
        {"device", required_argument, NULL, TZ_PREDICT_OPTIONS_DEVICE},                            \
        {"gpu", required_argument, NULL, TZ_PREDICT_OPTIONS_GPU},                                  \
        {"threads", required_argument, NULL, TZ_PREDICT_OPTIONS_THREADS},                          \
        {"height", required_argument, NULL, TZ_PREDICT_OPTIONS_HEIGHT},                            \
        {"family", required_argument, NULL, TZ_PREDICT_OPTIONS_FAMILY},                            \
        {"block", required_argument, NULL, TZ_PREDICT_OPTIONS_BLOCK},                              \
    {                                                                                              \
        "plugins", required_argument, NULL, TZ_PREDICT_OPTIONS_PLUGINS                             \
    }
#define TZ_PREDICT_OPTIONS_HELP                                                                    \
    "  --grid NX[,NY[,NZ]]   cells an axis, x first\n"                                             \
    "  --precision P         single (the default) or double\n"                                     \
    "  --boundary B          clamp, periodic, fixed or mirror; or one an axis: periodic,clamp\n"   \
    "  --set NAME=VALUE      a parameter of the stencil; may be repeated\n"                        \
    "  --backend NAME        auto, cpu or cuda\n"                                                  \
    "  --device NAME|FILE    a device's record: h200, gtx280, … (default: this machine's)\n"     \
    "  --gpu N               which GPU of this machine, from 0\n"                                  \
    "  --threads N           of the cpu backend, or to compile kernels for a GPU\n"                \
    "  --height N, --family NAME, --block BX[,BY[,BZ]]   only such plans\n"

/* One option: 0 when it was none of these; 1 when it was taken; -1 when it is wrong, which is then
 * said. */
int tz_predict_options_option(tz_predict_options *predict, const tz_command *command, int option,
                              const char *text);

/* All options of a command line (argc, argv), those above and the command's own, which `take`
 * takes; false from it is a misuse that was said. The stencil that was asked about, borrowed from
 * argv; NULL after a misuse that was said, or after --help, which sets *done. */
typedef bool tz_predict_options_take(const tz_command *command, void *context, int option);
const char *tz_predict_options_read(tz_predict_options *predict, const tz_command *command,
                                    int argc, char **argv, const struct option *options,
                                    tz_predict_options_take *take, void *context, bool *done);

/* Open the plugins and make the study of the stencil `name`. EXIT_DONE, or what to exit with after
 * the reason was said. */
int tz_predict_options_ask(tz_predict_options *predict, const tz_command *command, const char *name,
                           bool let_unstable, tz_workload **out);
void tz_predict_options_clear(tz_predict_options *predict);

/* Numbers separated by commas, 1 to `most` of them; how many, or 0 when the text is no such list.
 */
int tz_numbers_parse(const char *text, int most, double low, double high, double *out);

#endif
