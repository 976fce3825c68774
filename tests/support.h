/* A fresh directory for a test's files. */
#ifndef TZ_TEST_SUPPORT_H
#define TZ_TEST_SUPPORT_H

#include "tests/unit.h"

#include "base/array.h"
#include <dirent.h>
#include <sys/stat.h>

typedef struct scratch {
    char directory[400];
    char path[800]; /* of the last file asked for */
} scratch;

static inline int scratch_setup(void **state)
{
    scratch *s = calloc(1, sizeof *s);
    const char *base = getenv("TMPDIR");
    if (!s)
        return -1;
    snprintf(s->directory, sizeof s->directory, "%s/trapeze-test-XXXXXX",
             base && *base ? base : "/tmp");
    *state = s;
    return mkdtemp(s->directory) ? 0 : -1;
}

static inline void scratch_empty(const char *directory)
{
    DIR *dir = opendir(directory);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path)
            continue;
        if (unlink(path) != 0) {
            scratch_empty(path);
            rmdir(path);
        }
    }
    closedir(dir);
}

static inline int scratch_teardown(void **state)
{
    scratch *s = *state;
    scratch_empty(s->directory);
    rmdir(s->directory);
    free(s);
    return 0;
}

/* For tests that run in the directory. */
static inline int enter_scratch(void **state)
{
    return scratch_setup(state) || chdir(((scratch *)*state)->directory);
}

static inline int leave_scratch(void **state)
{
    return chdir("/") || scratch_teardown(state);
}

static inline const char *scratch_path(scratch *s, const char *name)
{
    snprintf(s->path, sizeof s->path, "%s/%s", s->directory, name);
    return s->path;
}

#define SCRATCH_TEST(function) TEST_WITH(scratch_setup, scratch_teardown, function)

/* A file of these bytes; its path. */
static inline const char *scratch_file(scratch *s, const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(scratch_path(s, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    return s->path;
}

static inline const char *scratch_text(scratch *s, const char *name, const char *text)
{
    return scratch_file(s, name, text, strlen(text));
}

static inline int scratch_count(const scratch *s)
{
    int count = 0;
    DIR *dir = opendir(s->directory);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2;
}

/* The whole of a file, '\0' after it; until the test ends. */
static inline char *scratch_slurp(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *data = test_room(1 << 22);
    *bytes = fread(data, 1, (1 << 22) - 1, file);
    fclose(file);
    return data;
}

#endif
