/* Questions: the options that predict, tune and their like share, made into a study. */
#ifndef TZ_CORE_CLI_QUESTION_H
#define TZ_CORE_CLI_QUESTION_H

#include "cli/command.h"
#include "policy/study.h"

enum { TZ_QUESTION_SETS_MAX = TZ_PARAMS_MAX };

typedef struct tz_question {
    tz_simulation_config simulation; /* its plan is what was given of it */
    const char *device;
    tz_paths plugins, folders;
    tz_registry *registry;
    char *sets[TZ_QUESTION_SETS_MAX]; /* "NAME\0VALUE", owned */
    tz_assignment params[TZ_QUESTION_SETS_MAX];
    char boundary[128];
    double block[TZ_AXES];
} tz_question;

/* The options, for a command's table of struct option and for its --help. */
enum {
    TZ_QUESTION_GRID = 1000,
    TZ_QUESTION_PRECISION,
    TZ_QUESTION_BOUNDARY,
    TZ_QUESTION_SET,
    TZ_QUESTION_BACKEND,
    TZ_QUESTION_DEVICE,
    TZ_QUESTION_GPU,
    TZ_QUESTION_THREADS,
    TZ_QUESTION_HEIGHT,
    TZ_QUESTION_FAMILY,
    TZ_QUESTION_BLOCK,
    TZ_QUESTION_PLUGINS,
    TZ_QUESTION_LAST
};
#define TZ_QUESTION_OPTIONS                                                                        \
    {"grid", required_argument, NULL, TZ_QUESTION_GRID},                                           \
        {"precision", required_argument, NULL, TZ_QUESTION_PRECISION},                             \
        {"boundary", required_argument, NULL, TZ_QUESTION_BOUNDARY},                               \
        {"set", required_argument, NULL, TZ_QUESTION_SET},                                         \
        {"backend", required_argument, NULL, TZ_QUESTION_BACKEND},                                 \
        {"device", required_argument, NULL, TZ_QUESTION_DEVICE},                                   \
        {"gpu", required_argument, NULL, TZ_QUESTION_GPU},                                         \
        {"threads", required_argument, NULL, TZ_QUESTION_THREADS},                                 \
        {"height", required_argument, NULL, TZ_QUESTION_HEIGHT},                                   \
        {"family", required_argument, NULL, TZ_QUESTION_FAMILY},                                   \
        {"block", required_argument, NULL, TZ_QUESTION_BLOCK},                                     \
    {                                                                                              \
        "plugins", required_argument, NULL, TZ_QUESTION_PLUGINS                                    \
    }
#define TZ_QUESTION_HELP                                                                           \
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
int tz_question_option(tz_question *question, const tz_command *command, int option,
                       const char *text);

/* All options of a command line (argc, argv), those above and the command's own, which `take`
 * takes; false from it is a misuse that was said. The stencil that was asked about, borrowed from
 * argv; NULL after a misuse that was said, or after --help, which sets *done. */
typedef bool tz_question_take(const tz_command *command, void *context, int option);
const char *tz_question_read(tz_question *question, const tz_command *command, int argc,
                             char **argv, const struct option *options, tz_question_take *take,
                             void *context, bool *done);

/* Open the plugins and make the study of the stencil `name`. EXIT_DONE, or what to exit with after
 * the reason was said. */
int tz_question_ask(tz_question *question, const tz_command *command, const char *name,
                    bool let_unstable, tz_study **out);
void tz_question_clear(tz_question *question);

/* Numbers separated by commas, 1 to `most` of them; how many, or 0 when the text is no such list.
 */
int tz_numbers_parse(const char *text, int most, double low, double high, double *out);

#endif
