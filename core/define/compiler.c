/* The system's C compiler: finds it, makes the key of what it compiles, runs it. Called by
 * plugin.c. */
#include "define/compiler.h"

#include "base/file.h"
#include "base/machine.h"
#include "base/paths.h"
#include "base/process.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trapeze/plugin.h>
#include <unistd.h>

enum { IMAGE_BYTES_MAX = 256 << 20, HEADER_BYTES_MAX = 1 << 20, FLAGS_MAX = 32 };

/* A large stencil takes some seconds on a slow machine. */
static const double compile_limit_s = 120, version_limit_s = 10;

/* ---- Finding --------------------------------------------------------------------------------- */

/* Cut `storage` at blanks. Returns the number of words, at most `most`. */
static int split(char *storage, const char **words, int most)
{
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(storage, " \t", &rest); word && count < most;
         word = strtok_r(NULL, " \t", &rest))
        words[count++] = word;
    return count;
}

static tz_status find_headers(tz_compiler *compiler, tz_error *error)
{
    tz_paths paths = {0};
    tz_status status = tz_paths_add_headers(&paths, error);
    if (!status && paths.count == 0)
        status =
            tz_error_set(error, TZ_UNSUPPORTED, NULL,
                         "the headers of plugins are missing: install the package trapeze-dev, or "
                         "include/trapeze beside the folder of the executable (cmake "
                         "--install does)");
    if (!status)
        snprintf(compiler->headers, sizeof compiler->headers, "%s", paths.items[0]);
    tz_paths_clear(&paths);
    return status;
}

static tz_status ask_version(tz_compiler *compiler, tz_error *error)
{
    const char *arguments[TZ_COMPILER_WORDS_MAX + 2] = {NULL};
    const tz_process process = {.program = compiler->path,
                                .arguments = arguments,
                                .limit_s = version_limit_s,
                                .cancel = compiler->cancel ? *compiler->cancel
                                                           : (tz_cancel){.stopped = NULL}};
    char *output = NULL;
    int code;
    memcpy(arguments, compiler->words, (size_t)compiler->words_count * sizeof *arguments);
    arguments[compiler->words_count] = "--version";
    const tz_status status = tz_process_run(&process, &output, &code, error);
    if (status)
        return status;
    if (strstr(output, "clang"))
        compiler->plain = "-fmacro-backtrace-limit=1";
    else if (strstr(output, "Free Software Foundation")) {
        compiler->plain = "-ftrack-macro-expansion=0";
        compiler->straight = "-fno-thread-jumps";
    }
    output[strcspn(output, "\n")] = '\0';
    const bool good = code == 0 && output[0];
    if (good)
        snprintf(compiler->version, sizeof compiler->version, "%s", output);
    else
        tz_error_set(
            error, TZ_UNSUPPORTED, NULL,
            "'%.200s' is no C compiler: --version ended with %d, '%.200s'; name another in "
            "CC",
            compiler->command, code, output);
    free(output);
    return good ? TZ_OK : TZ_UNSUPPORTED;
}

/* The words of CC, or a program of $PATH. */
static tz_status find_program(tz_compiler *compiler, tz_error *error)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *given = getenv("CC");
    if (given && strlen(given) >= sizeof compiler->command)
        return tz_error_set(error, TZ_UNSUPPORTED, "CC", "is longer than %zu characters",
                            sizeof compiler->command - 1);
    snprintf(compiler->storage, sizeof compiler->storage, "%s", given ? given : "");
    compiler->words_count = split(compiler->storage, compiler->words, TZ_COMPILER_WORDS_MAX);
    if (compiler->words_count > 0) {
        snprintf(compiler->command, sizeof compiler->command, "%s", given);
        if (tz_program_find(compiler->words[0], compiler->path))
            return TZ_OK;
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "CC names a C compiler that is not there, '%.200s': unset CC, or set "
                            "it to one",
                            compiler->words[0]);
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (tz_program_find(usual[i], compiler->path)) {
            snprintf(compiler->command, sizeof compiler->command, "%s", usual[i]);
            compiler->words[0] = usual[i];
            compiler->words_count = 1;
            return TZ_OK;
        }
    return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                        "a stencil of a scenario needs a C compiler, and none of cc, gcc and clang "
                        "is in PATH: install one (Debian: apt-get install gcc libc6-dev), or name "
                        "one in CC");
}

tz_status tz_compiler_find(tz_compiler *compiler, const tz_cancel *cancel, tz_error *error)
{
    *compiler = (tz_compiler){.cancel = cancel};
    tz_status status = find_program(compiler, error);
    if (!status)
        status = ask_version(compiler, error);
    return status ? status : find_headers(compiler, error);
}

/* ---- The key --------------------------------------------------------------------------------- */

static int is_header(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 2 && strcmp(entry->d_name + length - 2, ".h") == 0;
}

static tz_status add_headers(const char *folder, tz_cache_key *key, tz_error *error)
{
    char inner[PATH_MAX];
    struct dirent **names = NULL;
    tz_status status = TZ_OK;
    snprintf(inner, sizeof inner, "%.*s/trapeze", (int)sizeof inner - 16, folder);
    const int count = scandir(inner, &names, is_header, alphasort);
    for (int i = 0; i < count; i++) {
        char path[2 * PATH_MAX], *text = NULL;
        size_t bytes;
        snprintf(path, sizeof path, "%s/%s", inner, names[i]->d_name);
        if (!status)
            status = tz_file_read(path, HEADER_BYTES_MAX, &text, &bytes, error);
        if (!status) {
            tz_cache_key_add(key, names[i]->d_name);
            tz_cache_key_add(key, text);
        }
        free(text);
        free(names[i]);
    }
    free(names);
    return status;
}

tz_status tz_compiler_add_key(const tz_compiler *compiler, tz_cache_key *key, tz_error *error)
{
    char text[PATH_MAX + 128];
    tz_machine machine;
    tz_cache_key_add(key, compiler->version);
    tz_cache_key_add(key, compiler->command);
    /* A wrapper such as ccache says nothing about the compiler that it calls: each word may be a
     * program. */
    for (int i = 0; i < compiler->words_count; i++) {
        char path[PATH_MAX];
        struct stat facts;
        if (compiler->words[i][0] == '-' || !tz_program_find(compiler->words[i], path) ||
            stat(path, &facts) != 0)
            continue;
        snprintf(text, sizeof text, "%s %lld %lld.%09ld", path, (long long)facts.st_size,
                 (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
        tz_cache_key_add(key, text);
    }
    tz_machine_read(&machine);
    snprintf(text, sizeof text, "%s ABI %u.%u %s", TZ_VERSION, TZ_ABI_MAJOR, TZ_ABI_MINOR,
             tz_isa_name(machine.isa));
    tz_cache_key_add(key, text);
    tz_cache_key_add(key, TZ_PLUGIN_FLAGS);
    tz_cache_key_add(key, compiler->straight ? compiler->straight : "");
    return add_headers(compiler->headers, key, error);
}

/* ---- Compiling ------------------------------------------------------------------------------- */

static tz_status write_file(const char *folder, const char *name, const char *ending,
                            const char *text, tz_error *error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    FILE *file = fopen(path, "wxe");
    if (!file)
        return tz_error_set_errno(error, errno, path, "cannot be made");
    const bool good = fputs(text, file) >= 0;
    if (fclose(file) != 0 || !good)
        return tz_error_set_errno(error, errno, path, "cannot be written");
    return TZ_OK;
}

/* The compiler's temporary files may be among those in the folder. */
static void remove_folder(const char *folder)
{
    DIR *names = opendir(folder);
    for (struct dirent *entry; names && (entry = readdir(names));) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            unlink(path);
    }
    if (names)
        closedir(names);
    rmdir(folder);
}

static int is_error(const char *line, size_t length)
{
    static const char mark[] = "error: ";
    return memmem(line, length, mark, strlen(mark)) != NULL;
}

/* The first error of what a compiler printed, or else its first line. */
static tz_status first_error(const tz_compiler *compiler, const char *name, const char *output,
                             int code, tz_error *error)
{
    const char *line = output;
    while (*line && !is_error(line, strcspn(line, "\n"))) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    line = *line ? line : output;
    line += strncmp(line, "./", 2) == 0 ? 2 : 0;
    const int length = (int)strcspn(line, "\n");
    const char *hint =
        strstr(line, ".h: No such file") ? "; Debian: apt-get install libc6-dev" : "";
    if (length == 0)
        return tz_error_set(error, TZ_PLUGIN, name,
                            "the C compiler %.100s failed without a message (exit code %d)",
                            compiler->command, code);
    return tz_error_set(error, TZ_PLUGIN, name, "the C compiler %.100s failed: %.*s%s",
                        compiler->command, length < 800 ? length : 800, line, hint);
}

/* What a compiler has made. */
typedef struct product {
    const char *folder;
    char *image;
    size_t bytes;
} product;

static tz_status read_product(void *context, tz_error *error)
{
    product *made = context;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/plugin.so", made->folder);
    return tz_file_read(path, IMAGE_BYTES_MAX, &made->image, &made->bytes, error);
}

static tz_status call(const tz_compiler *compiler, product *made, const char *name, tz_error *error)
{
    char flags[] = TZ_PLUGIN_FLAGS, include[PATH_MAX + 8], source[300], rows[32];
    const char *arguments[TZ_COMPILER_WORDS_MAX + FLAGS_MAX + 16] = {NULL};
    const tz_process process = {.program = compiler->path,
                                .arguments = arguments,
                                .folder = made->folder,
                                .is_temporary = true,
                                .harvest = read_product,
                                .context = made,
                                .limit_s = compile_limit_s,
                                .cancel = compiler->cancel ? *compiler->cancel
                                                           : (tz_cancel){.stopped = NULL}};
    int count = compiler->words_count, code;
    char *output = NULL;
    memcpy(arguments, compiler->words, (size_t)count * sizeof *arguments);
    count += split(flags, arguments + count, FLAGS_MAX);
    /* Row functions for this machine alone: it is compiled again on another. */
    snprintf(rows, sizeof rows, "-DTZ_ROWS_ONLY=%d", tz_isa_rows_only(tz_machine_isa()));
    arguments[count++] = rows;
    if (compiler->plain)
        arguments[count++] = compiler->plain;
    if (compiler->straight)
        arguments[count++] = compiler->straight;
    snprintf(include, sizeof include, "-I%s", compiler->headers);
    snprintf(source, sizeof source, "%s.c", name);
    const char *const last[] = {"-std=gnu17", "-fPIC", "-shared", "-fvisibility=hidden",
                                include,      "-I.",   "-Wa,-I.", "-o",
                                "plugin.so",  source,  "-lm"};
    memcpy(arguments + count, last, sizeof last);
    const tz_status status = tz_process_run(&process, &output, &code, error);
    if (status)
        return status;
    const tz_status compiled = code == 0 ? TZ_OK : first_error(compiler, name, output, code, error);
    free(output);
    return compiled;
}

tz_status tz_compiler_build(const tz_compiler *compiler, const char *name, const char *plugin_text,
                            const char *cell_text, void **image, size_t *bytes, tz_error *error)
{
    char folder[PATH_MAX];
    product made = {.folder = folder};
    const char *const given = getenv("TMPDIR"), *const temporary = given && *given ? given : "/tmp";
    *image = NULL;
    if (strlen(name) > 200)
        return tz_error_set(error, TZ_RANGE, name, "is too long a name");
    tz_status status = tz_cache_check_folder(temporary, "TMPDIR", error);
    if (status)
        return status;
    snprintf(folder, sizeof folder - 256, "%s/trapeze-XXXXXX", temporary);
    if (!mkdtemp(folder))
        return tz_error_set_errno(error, errno, folder,
                                  "cannot make a folder for the compiler (TMPDIR names another)");
    status = write_file(folder, name, ".c", plugin_text, error);
    if (!status)
        status = write_file(folder, name, ".cell.h", cell_text, error);
    if (!status)
        status = call(compiler, &made, name, error);
    if (status) { /* the compiler may not have been started */
        remove_folder(folder);
        free(made.image);
    } else {
        *image = made.image;
    }
    *bytes = made.bytes;
    return status;
}
