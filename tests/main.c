/* main() of the test programs, one for each folder of tests: PROGRAM test_NAME [ARGUMENT…] runs the
 * tests of test_NAME.c; PROGRAM alone lists the names. */
#include "tests/unit.h"

static program_file *files;

void program_file_add(program_file *file)
{
    file->next = files;
    files = file;
}

static bool is_named(const program_file *file, const char *name)
{
    const char *slash = strrchr(file->path, '/'), *base = slash ? slash + 1 : file->path;
    const size_t length = strlen(name);
    return strncmp(base, name, length) == 0 && strcmp(base + length, ".c") == 0;
}

int main(int argc, char **argv)
{
    for (program_file *file = files; file; file = file->next) {
        if (argc == 1)
            puts(file->path);
        else if (is_named(file, argv[1]))
            return file->run(argc - 1, argv + 1);
    }
    if (argc > 1)
        fprintf(stderr, "%s: there is no test '%s'\n", argv[0], argv[1]);
    return argc > 1 || !files;
}
