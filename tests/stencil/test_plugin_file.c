/* A bad file among the plugins is refused in one line; the others load. A file that the check takes
 * does not end the process when it is loaded: children load what is mutated here. */
#include "base/file.h"
#include "stencil/plugin_file.h"

#include "stencil/registry.h"
#include "tests/support.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { HANGS_S = 60 };

static char *good;
static size_t good_bytes;

static int read_good(void **state)
{
    const char path[] = TZ_TEST_PLUGIN_DIR "/hotspot.so";
    return tz_file_read(path, 1 << 22, &good, &good_bytes, NULL) || good_bytes < 4096 ? -1 : 0;
}

static int free_good(void **state)
{
    free(good);
    return 0;
}

/* Load the file in a child. The child may fail to load it; it must not crash or hang. */
static void load_in_child(const char *path, const char *what, size_t at)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(HANGS_S);
        close(STDERR_FILENO);
        dlopen(path, RTLD_NOW | RTLD_LOCAL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("%s at byte %zu: the check takes the file, loading it ends with signal %d", what,
                 at, WTERMSIG(status));
}

static void put(int file, size_t at, const void *bytes, size_t count)
{
    assert_int_equal(pwrite(file, bytes, count, (off_t)at), (ssize_t)count);
}

/* ---- Cut files ------------------------------------------------------------------------------- */

SCRATCH_TEST(every_cut_is_refused)
{
    const char *path = scratch_file(*state, "cut.so", good, good_bytes);
    assert_ok(tz_plugin_file_check(path, &failure));
    const size_t steps = 400;
    for (size_t i = 0; i < steps; i++) {
        const size_t bytes = good_bytes - 1 - i * (good_bytes - 1) / steps;
        assert_int_equal(truncate(path, (off_t)bytes), 0);
        check_error(tz_plugin_file_check(path, &failure), TZ_PLUGIN, path, "is cut off");
    }
    for (size_t bytes = 0; bytes < sizeof(ElfW(Ehdr)); bytes++) {
        scratch_file(*state, "cut.so", good, bytes);
        check_error(tz_plugin_file_check(path, &failure), TZ_PLUGIN, path,
                    bytes == 0 ? "is empty" : "is cut off");
    }
}

/* strip can remove the list of sections, which lies at the end of the file. */
SCRATCH_TEST(cuts_without_sections_do_no_harm)
{
    const size_t steps = 200;
    int refused = 0;
    ElfW(Ehdr) head;
    memcpy(&head, good, sizeof head);
    head.e_shoff = 0;
    head.e_shnum = head.e_shstrndx = 0;
    const char *path = scratch_file(*state, "cut.so", good, good_bytes);
    const int file = open(path, O_RDWR);
    put(file, 0, &head, sizeof head);
    assert_ok(tz_plugin_file_check(path, &failure));
    load_in_child(path, "without sections", 0);
    for (size_t i = 0; i < steps; i++) {
        const size_t bytes = good_bytes - 1 - i * (good_bytes - 1) / steps;
        assert_int_equal(ftruncate(file, (off_t)bytes), 0);
        if (tz_plugin_file_check(path, &failure) == TZ_OK)
            load_in_child(path, "cut", bytes);
        else
            refused++;
    }
    assert_true(refused > 0); /* how many depends on debug information, which is not loaded */
    close(file);
}

/* A copy that was not finished may have its full length, with zeros at the end. */
SCRATCH_TEST(files_that_end_in_zeros_do_no_harm)
{
    const char zeros[512] = {0};
    const char *path = scratch_file(*state, "zeros.so", good, good_bytes);
    const int file = open(path, O_RDWR);
    for (size_t at = (good_bytes - 1) / sizeof zeros * sizeof zeros;; at -= sizeof zeros) {
        put(file, at, zeros, at + sizeof zeros > good_bytes ? good_bytes - at : sizeof zeros);
        if (tz_plugin_file_check(path, &failure) == TZ_OK)
            load_in_child(path, "zeros from", at);
        if (at == 0)
            break;
    }
    close(file);
}

/* ---- Flipped bits ---------------------------------------------------------------------------- */

static void flip_all(const char *path, size_t from, size_t bytes)
{
    const int file = open(path, O_RDWR);
    for (size_t at = from; at < from + bytes; at++) {
        for (int bit = 0; bit < 8; bit++) {
            const char flipped = (char)(good[at] ^ 1 << bit);
            put(file, at, &flipped, 1);
            if (tz_plugin_file_check(path, &failure) == TZ_OK)
                load_in_child(path, "a flipped bit", at);
        }
        put(file, at, good + at, 1);
    }
    close(file);
}

SCRATCH_TEST(flipped_bits_in_headers_do_no_harm)
{
    const char *path = scratch_file(*state, "flipped.so", good, good_bytes);
    ElfW(Ehdr) head;
    memcpy(&head, good, sizeof head);
    flip_all(path, 0, sizeof head);
    flip_all(path, head.e_phoff, head.e_phnum * sizeof(ElfW(Phdr)));
}

SCRATCH_TEST(random_bytes_in_headers_do_no_harm)
{
    const char *path = scratch_file(*state, "flipped.so", good, good_bytes);
    const int file = open(path, O_RDWR);
    ElfW(Ehdr) head;
    memcpy(&head, good, sizeof head);
    const size_t headers = sizeof head + head.e_phnum * sizeof(ElfW(Phdr));
    uint32_t random = 1;
    for (int round = 0; round < 2000; round++) {
        char bytes[8];
        for (size_t i = 0; i < sizeof bytes; i++, random = random * 1664525 + 1013904223)
            bytes[i] = (char)(random >> 24);
        const size_t count = 1 + (random >> 16) % sizeof bytes;
        const size_t at = (random >> 8) % (headers - sizeof bytes);
        put(file, at, bytes, count);
        if (tz_plugin_file_check(path, &failure) == TZ_OK)
            load_in_child(path, "random bytes", at);
        if (round % 3 == 0) /* otherwise damage adds up */
            put(file, 0, good, headers);
    }
    close(file);
}

/* ---- Among others ---------------------------------------------------------------------------- */

static void write_changed(scratch *s, const char *name, size_t at, unsigned char byte)
{
    char *copy = malloc(good_bytes);
    assert_non_null(copy);
    memcpy(copy, good, good_bytes);
    copy[at] = (char)byte;
    scratch_file(s, name, copy, good_bytes);
    free(copy);
}

SCRATCH_TEST(bad_entries_do_not_stop_the_others)
{
    static const struct {
        const char *name, *message;
    } wanted[] = {
        {"cut.so", "is cut off"},
        {"directory.so", "it is a directory"},
        {"empty.so", "the file is empty"},
        {"fifo.so", "it is a named pipe"},
        {"good.so", NULL},
        {"loop.so", "Too many levels of symbolic links"},
        {"machine.so", "another machine, RISC-V: rebuild"},
        {"nowhere.so", "No such file or directory"},
        {"object.so", "it is an object file"},
        {"order.so", "another machine"},
        {"program.so", "it is a program"},
        {"secret.so", "Permission denied"},
        {"socket.so", "it is a socket"},
        {"text.so", "it does not begin as one"},
        {"wordsize.so", "another machine"},
    };
    scratch *s = *state;
    const bool root = geteuid() == 0; /* who may read everything */
    scratch_file(s, "good.so", good, good_bytes);
    scratch_file(s, "cut.so", good, good_bytes / 2);
    scratch_text(s, "empty.so", "");
    scratch_text(s, "text.so", "a text\n");
    assert_int_equal(mkdir(scratch_path(s, "directory.so"), 0700), 0);
    assert_int_equal(mkfifo(scratch_path(s, "fifo.so"), 0600), 0);
    assert_int_equal(symlink("loop.so", scratch_path(s, "loop.so")), 0);
    assert_int_equal(symlink("missing", scratch_path(s, "nowhere.so")), 0);
    write_changed(s, "machine.so", offsetof(ElfW(Ehdr), e_machine), EM_RISCV);
    write_changed(s, "wordsize.so", EI_CLASS, sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64);
    write_changed(s, "order.so", EI_DATA, good[EI_DATA] == ELFDATA2LSB ? ELFDATA2MSB : ELFDATA2LSB);
    write_changed(s, "object.so", offsetof(ElfW(Ehdr), e_type), ET_REL);
    write_changed(s, "program.so", offsetof(ElfW(Ehdr), e_type), ET_EXEC);
    scratch_file(s, "secret.so", good, good_bytes);
    assert_int_equal(chmod(s->path, 0), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s", scratch_path(s, "socket.so"));
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);

    const char *folder = s->directory;
    tz_registry *registry;
    const tz_stencil *stencil;
    alarm(HANGS_S);
    assert_ok(tz_registry_create(&registry, &folder, 1, &failure));
    alarm(0);
    const size_t count = sizeof wanted / sizeof *wanted;
    assert_int_equal(tz_registry_count(registry), count);
    for (size_t i = 0; i < count; i++) {
        const tz_registry_entry *entry = tz_registry_get(registry, i);
        assert_non_null(strstr(entry->path, wanted[i].name));
        if (root && strcmp(wanted[i].name, "secret.so") == 0)
            continue; /* loads a second hotspot */
        assert_true(!entry->plugin == !!wanted[i].message);
        if (wanted[i].message)
            check_error_of(TZ_PLUGIN, TZ_PLUGIN, &entry->error, wanted[i].name, wanted[i].message);
    }
    assert_ok(tz_registry_find(registry, "hotspot", &stencil, NULL, &failure));
    tz_registry_destroy(registry);
    close(listener);
}

TEST_GROUP(read_good, free_good)
