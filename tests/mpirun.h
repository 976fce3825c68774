/* Tests whose program starts itself again under mpirun, with the name of its file and of what the
 * ranks do. */
#ifndef TZ_TEST_MPIRUN_H
#define TZ_TEST_MPIRUN_H

#include "base/paths.h"
#include "base/process.h"
#include "base/ranks.h"
#include "tests/unit.h"
#include <limits.h>

/* More ranks than cores, as root, in a container; leaks of MPI are no matter here. */
static inline void allow_mpirun(void)
{
    static const char *const settings[][2] = {
        {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
        {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
        {"ASAN_OPTIONS", "detect_leaks=0"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        setenv(settings[i][0], settings[i][1], 1);
}

/* So many ranks end well, or, with a `line`, badly after printing that. `late` may be NULL. */
static inline void check_ranks(const char *count, const char *file, const char *names,
                               const char *late, const char *line)
{
    char self[PATH_MAX], mpirun[PATH_MAX], text[1024], *output = NULL;
    int code;
    if (!tz_program_find("mpirun", mpirun))
        skip_test("no mpirun");
    if (!tz_ranks_describe(text, sizeof text))
        skip_test("built without MPI");
    assert_non_null(realpath("/proc/self/exe", self));
    const char *const words[] = {"mpirun", "-n", count, self, file, names, late, NULL};
    const tz_process process = {.program = mpirun, .arguments = words, .limit_s = 120};
    assert_ok(tz_process_run(&process, &output, &code, &failure));
    if (line ? code == 0 || !strstr(output, line) : code != 0)
        fail_msg("%s ranks, %s: exit code %d: %s", count, names, code, output);
    free(output);
}

#endif
