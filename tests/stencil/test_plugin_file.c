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

/* ---- Flipped bits ---------------------------------------------------------------------------- */

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
