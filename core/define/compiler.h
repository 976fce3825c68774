/* The system's C compiler, which makes plugins of the source that tz.stencil writes. */
#ifndef TZ_CORE_DEFINE_COMPILER_H
#define TZ_CORE_DEFINE_COMPILER_H

#include "base/cache.h"
#include "base/cancel.h"
#include <limits.h>

enum { TZ_COMPILER_WORDS_MAX = 16 };

typedef struct tz_compiler {
    char command[1024]; /* $CC, or the name that was found in $PATH */
    char storage[1024]; /* the words of the command, each with its '\0' */
    const char *words[TZ_COMPILER_WORDS_MAX];
    int words_count;
    char path[PATH_MAX]; /* of the first word */
    char version[256];   /* the first line of its --version */
    const char *plain;   /* its option for messages that leave macros out; NULL: not known */
    /* Its option that keeps selections from becoming branches, with which large loops are not
     * vectorised; NULL: it needs none. */
    const char *straight;
    char headers[PATH_MAX];  /* the folder with trapeze/plugin.h */
    const tz_cancel *cancel; /* asked while it runs; NULL: it is not ended */
} tz_compiler;

/* Find the compiler: $CC, a command whose words are separated by blanks; or the first of cc, gcc
 * and clang in $PATH. It is asked for its version. `cancel` (may be NULL) is kept.
 * `compiler` points into itself: do not copy it.
 * Errors: TZ_UNSUPPORTED if there is no compiler, it does not answer, or there are no headers, with
 * what to install or change. */
tz_status tz_compiler_find(tz_compiler *compiler, const tz_cancel *cancel, tz_error *error);

/* Add to a key all that compiling depends on apart from the source: the compiler, its version, the
 * flags, the headers, the ABI and this machine's instruction sets. */
tz_status tz_compiler_add_key(const tz_compiler *compiler, tz_cache_key *key, tz_error *error);

/* Compile the plugin of the files NAME.c and NAME.cell.h, which have these texts. *image is the
 * shared library, malloc'd. Errors: TZ_PLUGIN with the compiler's first error; TZ_IO; TZ_MEMORY;
 * TZ_INTERRUPTED. */
tz_status tz_compiler_build(const tz_compiler *compiler, const char *name, const char *plugin_text,
                            const char *cell_text, void **image, size_t *bytes, tz_error *error);

#endif
