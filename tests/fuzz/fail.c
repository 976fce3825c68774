/* Memory that runs out:
 *
 *   fuzz_allocations FOLDER [COUNT [SEED]]
 *
 * Each case of the table below is a command of the program. It runs once with all its memory. Then
 * it runs again and again, and each time allocations fail from another one on: one, three in a row,
 * or all that follow. COUNT runs are shared out to the cases (0: every allocation of each). The
 * program must then say so and exit with 1, and leave no temporary files and no record that is
 * "running"; or, if the failure did not matter, write the same files as with all its memory. FOLDER
 * has the scenarios. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { SECONDS_MAX = 60, FAULTS_MAX = 10, TEXT_MAX = 1 << 16, ALL = 1000000000 };

/* The first case makes data/ and a run that others read. */
static const struct {
    const char *name, *arguments[8];
} cases[] = {
    {"outputs", {"run", "outputs.lua", "--out", "run"}},
    {"inputs", {"run", "inputs.lua", "--out", "run"}},
    {"check", {"run", "outputs.lua", "--check"}},
    {"info", {"info", "made"}},
    {"explain", {"explain", "made", "--device", "./data/cpu.txt"}},
    {"predict", {"predict", "hotspot", "--grid", "300,200", "--device", "./data/cpu.txt"}},
    {"plugins", {"plugins", "hotspot"}},
    {"json", {"plugins", "--json"}},
};
enum { CASES = sizeof cases / sizeof *cases };

static char program[PATH_MAX];
static int faults, refusals; /* a refusal: a run that ended with 1 */

static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return h;
}

static size_t read_text(const char *path, char text[TEXT_MAX])
{
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(text, 1, TEXT_MAX - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    return size;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The exit code, or minus the signal that ended the program. Its output is in ./out and ./err. */
static int run(const char *const *arguments, long from, long count)
{
    char from_text[32], count_text[32];
    const char *argv[16] = {program};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    for (int i = 0; arguments[i]; i++)
        argv[i + 1] = arguments[i];
    snprintf(from_text, sizeof from_text, "%ld", from);
    snprintf(count_text, sizeof count_text, "%ld", count);
    setenv("FAIL_FROM", from_text, 1);
    setenv("FAIL_COUNT", count_text, 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_addopen(&actions, 2, "err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int failed = posix_spawn(&child, program, &actions, NULL, (char **)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return 99;
    for (int waited = 0; waitpid(child, &status, WNOHANG) == 0; waited++) {
        if (waited == SECONDS_MAX * 1000)
            kill(child, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *facts, int flag, struct FTW *place)
{
    (void)facts, (void)flag, (void)place;
    return remove(path);
}

static void remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A hash of the names and bytes of all files of the run, but for the record and the log, which hold
 * times. *temporary: the name of a file that should have gone; "" if there is none. */
static uint64_t hash_files(const char *folder, char temporary[NAME_MAX + 1])
{
    struct dirent **names;
    uint64_t hash = 0xcbf29ce484222325;
    const int count = scandir(folder, &names, NULL, alphasort);
    temporary[0] = '\0';
    for (int i = 0; i < count; i++) {
        static char text[TEXT_MAX];
        char path[2 * PATH_MAX];
        const char *name = names[i]->d_name;
        if (strstr(name, ".tmp-"))
            strcpy(temporary, name);
        if (name[0] != '.' && strcmp(name, "run.json") != 0 && strcmp(name, "log.txt") != 0) {
            snprintf(path, sizeof path, "%s/%s", folder, name);
            hash = hash_bytes(hash, name, strlen(name));
            hash = hash_bytes(hash, text, read_text(path, text));
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return hash;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void fault(int c, long from, long count, const char *what, const char *detail)
{
    static char text[TEXT_MAX];
    faults++;
    read_text("err", text);
    fprintf(stderr, "FAULT: %s: %s%s\n  again: FAIL_FROM=%ld FAIL_COUNT=%ld trapeze_failing",
            cases[c].name, what, detail, from, count);
    for (int i = 0; cases[c].arguments[i]; i++)
        fprintf(stderr, " %s", cases[c].arguments[i]);
    fprintf(stderr, "\n%.3000s", text);
}

static void check(int c, long from, long count, uint64_t wanted)
{
    static char text[TEXT_MAX];
    char temporary[NAME_MAX + 1], detail[64];
    remove_folder("run");
    const int code = run(cases[c].arguments, from, count);
    const uint64_t files = hash_files("run", temporary);
    snprintf(detail, sizeof detail, "%d", code);
    refusals += code == 1;
    if (code == -SIGKILL)
        fault(c, from, count, "it does not end", "");
    else if (code < 0 || code > 1)
        fault(c, from, count, "exit code or signal ", detail);
    else if (temporary[0])
        fault(c, from, count, "a temporary file is left: ", temporary);
    else if (code == 0 && files != wanted)
        fault(c, from, count, "exit code 0, but other files", "");
    else if (code == 1 && (read_text("err", text) == 0))
        fault(c, from, count, "exit code 1 without a message", "");
    read_text("run/run.json", text);
    if (code >= 0 && strstr(text, "\"status\": \"running\""))
        fault(c, from, count, "its record is still running", "");
}

/* All allocations of a case, or `runs` of them. */
static void run_case(int c, long runs, uint64_t *random)
{
    static const long counts[] = {1, 3, ALL};
    static char text[TEXT_MAX];
    char temporary[NAME_MAX + 1];
    remove_folder("run");
    setenv("FAIL_REPORT", "asked", 1);
    if (run(cases[c].arguments, 0, 0) != 0) {
        fault(c, 0, 0, "it fails with all its memory", "");
        return;
    }
    unsetenv("FAIL_REPORT");
    const uint64_t wanted = hash_files("run", temporary);
    read_text("asked", text);
    const long asked = atol(text), before = faults;
    if (asked < 1) {
        fault(c, 0, 0, "it asks for no memory", "");
        return;
    }
    const long each = runs == 0 ? asked * 3 : runs;
    for (long i = 0; i < each && faults - before < FAULTS_MAX; i++) {
        *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
        const long from = 1 + (runs == 0 ? i / 3 : (long)((*random >> 33) % (uint64_t)asked));
        check(c, from, counts[i % 3], wanted);
    }
    printf("%-8s %6ld allocations, %ld runs, %ld faults\n", cases[c].name, asked, each,
           faults - before);
    fflush(stdout);
}

/* Files that the cases read. */
static bool make_data(const char *scenarios)
{
    const char *const make[] = {"run", "make.lua", "--out", "data", NULL};
    const char *const made[] = {"run", "outputs.lua", "--out", "made", NULL};
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, "cp '%s'/*.lua .", scenarios);
    if (system(command) != 0 || run(make, 0, 0) != 0 || run(made, 0, 0) != 0)
        return false;
    snprintf(command, sizeof command, "cp '%s'/data/* '%s'/../../predict/cpu.txt data/", scenarios,
             scenarios);
    return system(command) == 0;
}

int main(int argc, char **argv)
{
    const long count = argc > 2 ? atol(argv[2]) : 210;
    const char *base = getenv("TMPDIR"), *only = argc > 4 ? argv[4] : NULL;
    uint64_t random = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    char folder[PATH_MAX], *scenarios = argc > 1 ? realpath(argv[1], NULL) : NULL;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 32);
    if (!scenarios || length <= 0)
        return 1;
    program[length] = '\0';
    strcpy(strrchr(program, '/'), "/trapeze_failing");
    snprintf(folder, sizeof folder, "%s/trapeze-fuzz-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    setenv("HOME", folder, 1);
    if (make_data(scenarios)) {
        for (int c = 0; c < CASES; c++)
            if (!only || strcmp(only, cases[c].name) == 0)
                run_case(c, only ? count : count / CASES + (count % CASES != 0), &random);
    } else {
        fprintf(stderr, "the inputs cannot be made\n");
        faults++;
    }
    if (faults == 0 && refusals == 0) {
        fprintf(stderr, "fuzz_allocations: no run lacked memory\n");
        faults++;
    }
    free(scenarios);
    if (chdir("/") == 0)
        remove_folder(folder);
    return faults != 0;
}
