/* Files that appear whole or not at all, directories, names. */
#include "tests/support.h"

#include "base/atomic.h"
#include "base/names.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* What the calls fsync() and rename() of this program found, about the file `path`. */
static struct {
    const char *path; /* NULL: nothing is noted */
    int synced;       /* calls of fsync() */
    off_t size;       /* of the file at the last of them */
    bool named;       /* by then the file had its name */
    bool replaced;    /* rename() put it in the place of another */
} seen;

__attribute__((visibility("default"))) int fsync(int fd)
{
    struct stat facts, target;
    if (seen.path && fstat(fd, &facts) == 0) {
        seen.synced++;
        seen.size = facts.st_size;
        seen.named = stat(seen.path, &target) == 0 && target.st_ino == facts.st_ino;
    }
    return (int)syscall(SYS_fsync, fd);
}

__attribute__((visibility("default"))) int rename(const char *from, const char *to)
{
    if (seen.path && strcmp(to, seen.path) == 0)
        seen.replaced = access(to, F_OK) == 0;
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* After a loss of power there is the old file or the new one, whole: bytes are on the disk before
 * the name is. */
SCRATCH_TEST(atomic_files_are_on_the_disk_before_they_have_a_name)
{
    static const char *const texts[] = {"first", "second"};
    char path[800];
    snprintf(path, sizeof path, "%s", scratch_path(*state, "x.bin"));
    for (int replace = 0; replace < 2; replace++) {
        tz_atomic_file *file;
        memset(&seen, 0, sizeof seen);
        seen.path = path;
        assert_ok(tz_atomic_open(&file, path, replace, &failure));
        fputs(texts[replace], tz_atomic_stream(file));
        assert_ok(tz_atomic_commit(file, &failure));
        seen.path = NULL;
        assert_int_equal(seen.synced, 1);
        assert_int_equal(seen.size, strlen(texts[replace]));
        assert_false(seen.named);
        assert_int_equal(seen.replaced, replace);
    }
}

SCRATCH_TEST(atomic_files_appear_whole)
{
    tz_atomic_file *file, *other;
    size_t bytes;
    char path[800], *text;
    snprintf(path, sizeof path, "%s", scratch_path(*state, "x.bin"));
    assert_ok(tz_atomic_open(&file, path, false, &failure));
    assert_ok(tz_atomic_open(&other, path, false, &failure));
    assert_ok(tz_atomic_write(file, "first", 5, &failure));
    fputs("second", tz_atomic_stream(other));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(tz_atomic_commit(file, &failure));
    check_error(tz_atomic_commit(other, &failure), TZ_IO, "x.bin", "exists already");
    text = scratch_slurp(path, &bytes);
    assert_string_equal(text, "first");
    assert_int_equal(scratch_count(*state), 1);
    check_error(tz_atomic_open(&file, path, false, &failure), TZ_IO, "x.bin", "exists already");
    assert_ok(tz_atomic_open(&file, path, true, &failure));
    fputs("third", tz_atomic_stream(file));
    tz_atomic_abort(file);
    assert_ok(tz_atomic_open(&file, path, true, &failure));
    fputs("fourth", tz_atomic_stream(file));
    assert_ok(tz_atomic_commit(file, &failure));
    text = scratch_slurp(path, &bytes);
    assert_string_equal(text, "fourth");
    check_error(tz_atomic_open(&file, scratch_path(*state, "no/such/x"), false, &failure), TZ_IO,
                "no/such/x", "No such file");
    assert_int_equal(scratch_count(*state), 1);
}

SCRATCH_TEST(atomic_files_survive_a_full_disk)
{
    tz_atomic_file *file;
    struct rlimit before, low;
    static char block[1 << 16];
    tz_status status = TZ_OK;
    /* A limit on file sizes stands in for a full disk. */
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    assert_ok(tz_atomic_open(&file, scratch_path(*state, "big"), false, &failure));
    low = before;
    low.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &low);
    for (int i = 0; i < 8 && status == TZ_OK; i++)
        status = tz_atomic_write(file, block, sizeof block, &failure);
    tz_error second = {0};
    const tz_status committed = tz_atomic_commit(file, &second);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    check_error_of(status, TZ_IO, &failure, "big", "cannot write: File too large");
    check_error_of(committed, TZ_IO, &second, "big", "cannot write: File too large");
    assert_int_equal(scratch_count(*state), 0);
}

/* Temporary files of killed processes are removed; those in use, and others, stay. */
SCRATCH_TEST(dead_temporary_files_are_swept)
{
    static const char *const dead[] = {".a.png.tmp-123-0", ".x.tmp-1-0.tmp-99-12"},
                             *const others[] = {"a.tmp-123-0",   ".a.png.tmp-123",   ".a.tmp-12x-0",
                                                ".a.tmp-123-0x", ".a.png.tmp-123-1", ".hidden"};
    enum { DEAD = sizeof dead / sizeof *dead, OTHERS = sizeof others / sizeof *others };
    scratch *s = *state;
    for (int i = 0; i < DEAD; i++)
        scratch_text(s, dead[i], "half of it");
    for (int i = 0; i < OTHERS; i++)
        scratch_text(s, others[i], "");
    assert_int_equal(mkdir(scratch_path(s, ".d.tmp-123-0"), 0700), 0);
    assert_int_equal(mkfifo(scratch_path(s, ".f.tmp-123-0"), 0600), 0);
    const int used = open(scratch_path(s, ".a.png.tmp-123-1"), O_RDWR);
    assert_int_equal(flock(used, LOCK_EX), 0);
    tz_atomic_sweep(s->directory);
    for (int i = 0; i < DEAD; i++)
        assert_int_not_equal(access(scratch_path(s, dead[i]), F_OK), 0);
    for (int i = 0; i < OTHERS; i++)
        assert_int_equal(access(scratch_path(s, others[i]), F_OK), 0);
    assert_int_equal(scratch_count(s), OTHERS + 2);
    close(used);
    tz_atomic_sweep(s->directory);
    assert_int_not_equal(access(scratch_path(s, ".a.png.tmp-123-1"), F_OK), 0);
    tz_atomic_sweep(scratch_path(s, "missing"));
}

/* A process that is killed while it writes leaves no file, or one that a sweep removes. */
SCRATCH_TEST(killed_processes_leave_nothing)
{
    scratch *s = *state;
    for (int replace = 0; replace < 2; replace++) {
        int ready[2], status;
        char byte;
        assert_int_equal(pipe(ready), 0);
        const pid_t child = fork();
        if (child == 0) {
            tz_atomic_file *file;
            if (tz_atomic_open(&file, scratch_path(s, "x.bin"), replace, NULL) == TZ_OK &&
                tz_atomic_write(file, "half", 4, NULL) == TZ_OK && write(ready[1], "", 1) == 1)
                pause();
            _exit(1);
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        tz_atomic_sweep(s->directory); /* does not touch what is in use */
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        tz_atomic_sweep(s->directory);
        assert_int_equal(scratch_count(s), 0);
        close(ready[0]);
        close(ready[1]);
    }
}

/* Another process that sweeps all the time takes no file away that is being written. */
SCRATCH_TEST(sweeps_leave_files_in_use)
{
    enum { FILES = 400 };
    scratch *s = *state;
    const pid_t child = fork();
    for (const pid_t parent = getppid(); child == 0 && getppid() == parent;)
        tz_atomic_sweep(s->directory);
    for (int k = 0; k < FILES; k++) {
        tz_atomic_file *file;
        assert_ok(tz_atomic_open(&file, scratch_path(s, "x.bin"), true, &failure));
        assert_ok(tz_atomic_write(file, "text", 4, &failure));
        assert_ok(tz_atomic_commit(file, &failure));
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

SCRATCH_TEST(directories_are_made)
{
    struct stat facts;
    const char *path = scratch_path(*state, "a/b//c/");
    assert_ok(tz_make_dirs(path, &failure));
    assert_ok(tz_make_dirs(path, &failure));
    assert_int_equal(stat(path, &facts), 0);
    scratch_text(*state, "file", "");
    check_error(tz_make_dirs(scratch_path(*state, "file/x"), &failure), TZ_IO, "file",
                "Not a directory");
}

SCRATCH_TEST(names_are_suggested)
{
    static const char *const names[] = {"viridis", "inferno", "gray", "balance"};
    char text[64], tiny[16];
    assert_string_equal(tz_names_nearest("virdis", names, 4), "viridis");
    assert_string_equal(tz_names_nearest("INFERNO", names, 4), "inferno");
    assert_string_equal(tz_names_nearest("gary", names, 4), "gray");
    assert_null(tz_names_nearest("xyz", names, 4));
    /* By its meaning, also where another name is nearer. */
    static const char *const kinds[] = {"cpu", "cuda", "reference"};
    assert_string_equal(tz_names_nearest("jet", names, 4), "viridis");
    assert_string_equal(tz_names_nearest("GPU", kinds, 3), "cuda");
    assert_string_equal(tz_names_nearest("host", kinds, 3), "cpu");
    assert_string_equal(tz_names_nearest("cuad", kinds, 3), "cuda");
    assert_null(tz_names_nearest("gpu", names, 4));
    assert_null(tz_names_nearest("", names, 4));
    assert_string_equal(tz_names_hint(text, sizeof text, "blance", names, 4),
                        "; did you mean 'balance'?");
    assert_string_equal(tz_names_hint(text, sizeof text, "xyz", names, 4),
                        "; known: viridis, inferno, gray, balance");
    assert_string_equal(tz_names_hint(text, 32, "xyz", names, 4), "; known: viridis, inferno, ...");
    tz_names_hint(tiny, sizeof tiny, "xyz", names, 4);
    assert_string_equal(tz_names_hint(text, sizeof text, "xyz", names, 0), "");
}
