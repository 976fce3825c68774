/* The manual page and completions of shells, from the commands' own tables. */
#ifndef TZ_CORE_CLI_SHELLS_H
#define TZ_CORE_CLI_SHELLS_H

#include "cli/command.h"

/* A page for man(1), in roff, on stdout: what --help prints of every command. */
void tz_man_page(void);

/* The completion of "bash", "zsh" or "fish", on stdout. False: another shell. */
bool tz_completion(const char *shell);

#endif
