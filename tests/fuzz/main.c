/* Damaged inputs for every reader of files:
 *
 *   fuzz_readers [COUNT [SEED [READER [FIRST]]]]
 *
 * COUNT inputs, shared out to the readers; or COUNT for one READER, from number FIRST on. The same
 * numbers always give the same inputs. A reader may accept an input or refuse it with a message. It
 * must not crash, hang, leak memory or take more than its table's row allows. What it accepts must
 * pass the checks of its row. And it must accept some damaged inputs: if it does not, nothing is
 * tested but what it checks first. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/interpose.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 20000, SEEDS_MAX = 64, SECONDS_MAX = 10, FAULTS_MAX = 5 };

static const fuzz_reader *const readers[] = {
    &fuzz_npy,    &fuzz_npz,       &fuzz_vti,     &fuzz_csv,        &fuzz_png,     &fuzz_rle,
    &fuzz_cells,  &fuzz_macrocell, &fuzz_life,    &fuzz_text,       &fuzz_flp,     &fuzz_ptrace,
    &fuzz_chip,   &fuzz_device,    &fuzz_run,     &fuzz_explain,    &fuzz_predict, &fuzz_memory,
    &fuzz_kernel, &fuzz_code,      &fuzz_formula, &fuzz_checkpoint, &fuzz_journal};
enum { READERS = sizeof readers / sizeof *readers };

/* Shared by the process that reads and the one that waits for it. */
typedef struct progress {
    long index, accepted, refused;
    long damaged, passed; /* inputs that are no seed, and those of them that were accepted */
    size_t peak;          /* of all inputs, bytes */
} progress;

static progress *shared;
static uint64_t run_seed = 1;

void fuzz_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("wrong: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(3);
}

void fuzz_write(const char *path, const void *data, size_t bytes)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes || close(file) != 0)
        fuzz_wrong("cannot write %s", path);
}

void fuzz_write_text(const char *path, const char *text)
{
    fuzz_write(path, text, strlen(text));
}

const char *fuzz_beside(const char *path, const char *name)
{
    static char text[PATH_MAX];
    snprintf(text, sizeof text, "%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
    unlink(text);
    return text;
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

static bool load(const char *path, fuzz_bytes *out)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    out->size = fread(out->data, 1, sizeof out->data, file);
    fclose(file);
    return true;
}

/* Input number `index` of a reader: the first ones are the seeds. */
static void make_input(const fuzz_reader *reader, const fuzz_bytes *seeds, int seeds_count,
                       long index, fuzz_bytes *out)
{
    uint64_t random = run_seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)index;
    fuzz_random(&random);
    if (index < seeds_count) {
        *out = seeds[index];
        return;
    }
    *out = seeds[fuzz_below(&random, (size_t)seeds_count)];
    fuzz_mutate(out, &seeds[fuzz_below(&random, (size_t)seeds_count)], reader->words, &random);
    if (reader->mend && fuzz_below(&random, 8) != 0)
        reader->mend(out, &random);
}

static bool is_seed(const fuzz_bytes *input, const fuzz_bytes *seeds, int seeds_count)
{
    for (int k = 0; k < seeds_count; k++)
        if (input->size == seeds[k].size && memcmp(input->data, seeds[k].data, input->size) == 0)
            return true;
    return false;
}

/* ---- Reading one input ----------------------------------------------------------------------- */

static void check_message(const tz_error *error)
{
    if (error->message[0] == '\0')
        fuzz_wrong("refused without a message");
    for (const char *text = error->message; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 127)
            fuzz_wrong("the message holds the byte 0x%02x: %s", (unsigned char)*text,
                       error->message);
}

static char said[2048]; /* of the last input that was refused */

static void read_one(const fuzz_reader *reader, const char *path, const fuzz_bytes *input)
{
    const size_t limit = reader->base_bytes + reader->bytes_per_byte * input->size;
    tz_status status = TZ_OK;
    /* What stays allocated the first time may be kept on purpose; what does so three times is a
     * leak. */
    for (int round = 0; round < 3; round++) {
        tz_error error = {.code = TZ_OK};
        size_t peak;
        bool refused;
        allocations_begin(limit);
        status = reader->read(path, &error);
        const long left = allocations_end(&peak, &refused);
        if (status != TZ_OK)
            check_message(&error), snprintf(said, sizeof said, "%s", error.message);
        if (refused && (!reader->expands || status != TZ_MEMORY))
            fuzz_wrong("it wants more than %zu bytes of memory for %zu bytes (%s)", limit,
                       input->size, error.message);
        shared->peak = peak > shared->peak ? peak : shared->peak;
        if (left <= 0)
            break;
        if (round == 2)
            fuzz_wrong("it leaks %ld bytes (%s)", left, error.message);
    }
    status == TZ_OK ? shared->accepted++ : shared->refused++;
}

/* ---- Processes ------------------------------------------------------------------------------- */

static void enter(const char *folder, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
}

static bool write_seed(const fuzz_reader *reader, int index, const char *path)
{
    int texts = 0;
    while (reader->texts && reader->texts[texts])
        texts++;
    if (index >= texts)
        return reader->seed && reader->seed(index - texts, path);
    fuzz_write_text(path, reader->texts[index]);
    return true;
}

/* A process of its own writes the seeds: readers find the library's state fresh. */
static int write_seeds(const fuzz_reader *reader, const char *folder)
{
    char path[PATH_MAX], kept[PATH_MAX];
    int status = 0, count = 0;
    enter(folder, reader->file, path);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        for (int index = 0; index < SEEDS_MAX; index++) {
            if (!write_seed(reader, index, path))
                exit(index);
            snprintf(kept, sizeof kept, "%s/%s-%d", folder, reader->name, index);
            if (rename(path, kept) != 0)
                fuzz_wrong("%s: seed %d is not there", reader->name, index);
        }
        exit(SEEDS_MAX);
    }
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
        for (char seed[PATH_MAX]; count < SEEDS_MAX; count++) {
            snprintf(seed, sizeof seed, "%s/%s-%d", folder, reader->name, count);
            if (access(seed, F_OK) != 0)
                break;
        }
    return count;
}

static void work(const fuzz_reader *reader, const char *folder, int seeds_count, long first,
                 long end)
{
    static fuzz_bytes input;
    char path[PATH_MAX];
    fuzz_bytes *seeds = malloc(sizeof *seeds * (size_t)seeds_count);
    for (int index = 0; index < seeds_count; index++) {
        snprintf(path, sizeof path, "%s/%s-%d", folder, reader->name, index);
        if (!seeds || !load(path, &seeds[index]))
            fuzz_wrong("cannot read %s", path);
    }
    enter(folder, reader->file, path);
    for (long index = first; index < end; index++) {
        const struct itimerval limit = {.it_value.tv_sec = SECONDS_MAX};
        const long accepted = shared->accepted;
        shared->index = index;
        make_input(reader, seeds, seeds_count, index, &input);
        fuzz_write(path, input.data, input.size);
        setitimer(ITIMER_PROF, &limit, NULL); /* SIGPROF ends the process */
        read_one(reader, path, &input);
        if (index < seeds_count && shared->accepted == accepted)
            fuzz_wrong("a seed is refused: %s", said);
        if (!is_seed(&input, seeds, seeds_count)) {
            shared->damaged++;
            shared->passed += shared->accepted - accepted;
        }
    }
    free(seeds);
    exit(0);
}

static void report(const fuzz_reader *reader, const char *folder, int status)
{
    char path[PATH_MAX], kept[PATH_MAX + 64];
    const char *why = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? "took too long"
                      : WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
                                            : "see above";
    enter(folder, reader->file, path);
    snprintf(kept, sizeof kept, "%s/trapeze-fuzz-%s-%lu-%ld",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", reader->name, (unsigned long)run_seed,
             shared->index);
    fuzz_bytes *input = malloc(sizeof *input);
    if (input && load(path, input))
        fuzz_write(kept, input->data, input->size);
    free(input);
    fprintf(stderr, "FAULT: %s: %s. The input is in %s; again: fuzz_readers 1 %lu %s %ld\n",
            reader->name, why, kept, (unsigned long)run_seed, reader->name, shared->index);
}

/* Returns the number of faults. */
static int run_reader(const fuzz_reader *reader, const char *folder, long first, long count)
{
    int faults = 0;
    const int seeds = write_seeds(reader, folder);
    *shared = (progress){.index = first};
    if (seeds == 0) {
        fprintf(stderr, "FAULT: %s: its seeds cannot be written\n", reader->name);
        return 1;
    }
    for (long next = first; next < first + count && faults < FAULTS_MAX;) {
        int status = 0;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            work(reader, folder, seeds, next, first + count);
        if (child < 0 || waitpid(child, &status, 0) != child)
            return faults + 1;
        next = shared->index + 1;
        if (status != 0) {
            report(reader, folder, status);
            faults++;
        }
    }
    const long least = shared->damaged * reader->least_passed / 1000;
    if (shared->passed < least) {
        fprintf(
            stderr,
            "FAULT: %s: of %ld damaged inputs it accepts only %ld, wanted are %ld: do its seeds, "
            "words and sums belong to the format?\n",
            reader->name, shared->damaged, shared->passed, least);
        faults++;
    }
    printf("%-8s %6ld inputs from %2d seeds: %ld accepted (%ld of them damaged), %ld refused, %d "
           "faults; at most %zu KiB\n",
           reader->name, count, seeds, shared->accepted, shared->passed, shared->refused, faults,
           shared->peak / 1024);
    return faults;
}

static void remove_folder(const char *folder)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "%s is left\n", folder);
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? atol(argv[1]) : COUNT, first = argc > 4 ? atol(argv[4]) : 0;
    const char *only = argc > 3 ? argv[3] : NULL;
    char folder[PATH_MAX - 64];
    int faults = 0, weights = 0, ran = 0;
    run_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    snprintf(folder, sizeof folder, "%s/trapeze-fuzz-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !mkdtemp(folder) || chdir(folder) != 0) {
        perror("fuzz_readers");
        return 1;
    }
    setenv("TRAPEZE_CACHE", folder, 1);
    setenv("HOME", folder, 1);
    for (int k = 0; k < READERS; k++)
        weights += readers[k]->weight;
    for (int k = 0; k < READERS; k++) {
        if (only && strcmp(only, readers[k]->name) != 0)
            continue;
        faults += run_reader(readers[k], folder, first,
                             only ? count : count * readers[k]->weight / weights);
        ran++;
    }
    if (ran == 0)
        fprintf(stderr, "fuzz_readers: there is no reader '%s'\n", only);
    if (chdir("/") == 0)
        remove_folder(folder);
    return faults > 0 || ran == 0;
}
