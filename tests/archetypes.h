/* The stencils of archetypes.txt: suites over all stencils run on these. With TZ_ALL in the
 * environment, as scripts/test-all.sh sets it, they run on every stencil and on all their cases. */
#ifndef TZ_TEST_ARCHETYPES_H
#define TZ_TEST_ARCHETYPES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool is_complete(void)
{
    return getenv("TZ_ALL") != NULL;
}

/* Ends the program if the file cannot be read or lists nothing. */
static inline bool is_archetype(const char *id)
{
    static char names[64][64];
    static int count;
    if (count == 0) {
        char line[256];
        FILE *file = fopen(TZ_TEST_SOURCE_DIR "/archetypes.txt", "r");
        while (file && count < 64 && fgets(line, sizeof line, file))
            count += line[0] != '#' && sscanf(line, "%63s", names[count]) == 1;
        if (count == 0) {
            fprintf(stderr, "tests/archetypes.txt lists nothing\n");
            exit(1);
        }
        fclose(file);
    }
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], id) == 0)
            return true;
    return is_complete();
}

#endif
