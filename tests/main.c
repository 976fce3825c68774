/* main() of the test programs, one for each folder of tests: PROGRAM test_NAME [ARGUMENT…] runs the
 * tests of test_NAME.c in their order; PROGRAM alone lists all tests. */
#include "tests/unit.h"

static test_entry *entries, **last = &entries;
static test_group *groups;

static struct kept {
    void (*release)(void *object);
    void *object;
    struct kept *before;
} * kept;

void test_release_later(void (*release)(void *object), void *object)
{
    struct kept *const one = malloc(sizeof *one);
    assert_non_null(one);
    *one = (struct kept){release, object, kept};
    kept = one;
}

void test_release_all(void)
{
    while (kept) {
        struct kept *const latest = kept;
        kept = latest->before;
        latest->release(latest->object);
        free(latest);
    }
}

void *test_room(size_t bytes)
{
    void *const zeros = calloc(1, bytes > 0 ? bytes : 1);
    assert_non_null(zeros);
    at_end(free, zeros);
    return zeros;
}

void test_add(test_entry *entry)
{
    *last = entry;
    last = &entry->next;
}

void test_group_add(test_group *group)
{
    group->next = groups;
    groups = group;
}

static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const size_t length = strlen(name);
    return strncmp(base, name, length) == 0 && strcmp(base + length, ".c") == 0;
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[100];
    size_t count = 0;
    for (const test_entry *entry = entries; entry; entry = entry->next) {
        if (argc == 1)
            printf("%s: %s\n", entry->path, entry->test.name);
        else if (is_named(entry->path, argv[1]) && count < sizeof tests / sizeof *tests)
            tests[count++] = entry->test;
    }
    if (argc > 1 && count == 0)
        fprintf(stderr, "%s: there is no test '%s'\n", argv[0], argv[1]);
    if (count == 0)
        return argc > 1 || !entries;
    const test_group *group = groups, alone = {.path = ""};
    while (group && !is_named(group->path, argv[1]))
        group = group->next;
    group = group ? group : &alone;
    const int code = argc > 2 && group->arguments ? group->arguments(argc - 1, argv + 1) : -1;
    return code >= 0
               ? code
               : _cmocka_run_group_tests(argv[1], tests, count, group->set_up, group->tear_down);
}
