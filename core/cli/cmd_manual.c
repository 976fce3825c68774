/* trapeze manual: prints the reference of scenarios, the page for man(1), and completions of
 * shells. */
#include "cli/command.h"

#include "backend/backend.h"
#include "calibrate/records.h"
#include "lua/script.h"
#include "policy/policy.h"
#include "predict/predictor.h"
#include "stencil/element.h"
#include <stdlib.h>
#include <string.h>

/* ---- Manual pages ---------------------------------------------------------------------------- */

/* A line of text that roff prints as it is. */
static void put_line(const char *line, size_t length)
{
    if (length > 0 && (line[0] == '.' || line[0] == '\''))
        fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\\')
            fputs("\\e", stdout);
        else if (line[i] == '-')
            fputs("\\-", stdout);
        else
            putchar(line[i]);
    }
    putchar('\n');
}

static void put_text(const char *text)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        put_line(text, (size_t)(end - text));
    }
}

static void man_page(void)
{
    fputs(".TH TRAPEZE 1 \"\" \"trapeze " TZ_VERSION "\" \"Trapeze\"\n"
          ".SH NAME\ntrapeze \\- iterative stencil loops with ghost zones, run from Lua scenarios\n"
          ".SH SYNOPSIS\n.B trapeze\n.I COMMAND\n[\\fIARGUMENT\\fR]…\n.SH COMMANDS\n",
          stdout);
    for (int i = 0; tz_commands[i]; i++) {
        char help[TZ_HELP_SIZE];
        const tz_command *command = tz_commands[i];
        printf(".SS trapeze %s ", command->name);
        put_line(command->arguments, strlen(command->arguments));
        put_line(command->doc, strlen(command->doc));
        fputs(".PP\n.nf\n", stdout);
        put_text(tz_help_text(command, help));
        fputs(".fi\n", stdout);
    }
}

/* ---- Completions ----------------------------------------------------------------------------- */

/* The next option that a help text names, as "--name"; NULL after the last. An option that was
 * named before is left out. */
static const char *next_option(const char *help, const char **at, size_t *length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    for (const char *p; (p = strstr(*at, "--"));) {
        const char *before = help;
        const size_t n = 2 + strspn(p + 2, letters);
        *at = p + n;
        if (n < 4 || (p > help && p[-1] != ' ' && p[-1] != '`'))
            continue;
        while ((before = strstr(before, "--")) < p &&
               (strncmp(before, p, n) != 0 || strspn(before + 2, letters) + 2 != n))
            before += 2;
        if (before < p)
            continue;
        *length = n;
        return p;
    }
    return NULL;
}

/* Each option of a command with text before and after it. `skip`: leading characters to leave
 * out. */
static void put_options(const tz_command *command, const char *before, const char *after,
                        size_t skip)
{
    char text[TZ_HELP_SIZE];
    const char *help = tz_help_text(command, text), *at = help, *option;
    size_t length = 0;
    while ((option = next_option(help, &at, &length)))
        printf("%s%.*s%s", before, (int)(length - skip), option + skip, after);
}

/* ---- Values of options, and arguments -------------------------------------------------------- */

typedef void put_words(void);

static void put_backends(void)
{
    fputs("auto", stdout);
    for (int i = 0; tz_backends[i]; i++)
        printf(" %s", tz_backends[i]->name);
}

static void put_policies(void)
{
    for (int i = 0; tz_policy_name(i); i++)
        printf("%s%s", i ? " " : "", tz_policy_name(i));
}

static void put_families(void)
{
    const char *names[TZ_FAMILIES_MAX];
    const size_t count = tz_family_names(names);
    for (size_t i = 0; i < count; i++)
        printf("%s%s", i ? " " : "", names[i]);
}

static void put_devices(void)
{
    tz_paths names = {0};
    tz_error ignored;
    tz_device_names(&names, &ignored);
    for (size_t i = 0; i < names.count; i++)
        printf("%s%s", i ? " " : "", names.items[i]);
    tz_paths_clear(&names);
}

static void put_models(void)
{
    for (int i = 0; tz_predictors[i]; i++)
        printf("%s%s", i ? " " : "", tz_predictors[i]->name);
}

static void put_precisions(void)
{
    for (int i = 0; i < TZ_PRECISIONS; i++)
        printf("%s%s", i ? " " : "", tz_precision_name((tz_precision)i));
}

static void put_shells(void)
{
    fputs("bash zsh fish", stdout);
}

/* The headings of the reference, "### `tz.movie([field][, options])`". */
static void put_manual_names(void)
{
    char *page = NULL;
    size_t size = 0;
    tz_error ignored;
    FILE *out = open_memstream(&page, &size);
    if (!out)
        return;
    tz_manual_write(out, NULL, &ignored);
    fclose(out);
    for (const char *at = page; (at = strstr(at, "\n### `"));) {
        at += strlen("\n### `");
        printf(" %.*s", (int)strcspn(at, "(`"), at);
    }
    free(page);
}

/* What follows an option, of any command that has it. */
static const struct {
    const char *option;
    put_words *put;
} option_values[] = {{"backend", put_backends},     {"policy", put_policies},
                     {"height", put_policies},      {"family", put_families},
                     {"device", put_devices},       {"model", put_models},
                     {"precision", put_precisions}, {"completion", put_shells}};

/* Arguments of commands: words, or what a command prints when a key is pressed. */
static const struct {
    const char *commands; /* separated by blanks */
    put_words *put;
    const char *prints; /* of a shell */
} arguments[] = {
    {"plugins predict tune", NULL, "trapeze plugins --csv 2>/dev/null | sed 1d | cut -d, -f2"},
    {"examples", NULL, "trapeze examples --csv 2>/dev/null | sed 1d | cut -d, -f1"},
    {"manual", put_manual_names, NULL}};

enum {
    OPTION_VALUES = sizeof option_values / sizeof *option_values,
    ARGUMENTS = sizeof arguments / sizeof *arguments
};

/* "a|b" of "a b". */
static void put_alternatives(const char *words)
{
    for (; *words; words++)
        putchar(*words == ' ' ? '|' : *words);
}

static void bash_completion(void)
{
    fputs("_trapeze() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} options= values=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          stdout);
    for (int i = 0; tz_commands[i]; i++)
        printf("%s ", tz_commands[i]->name);
    fputs("help --help --version' -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[COMP_CWORD - 1]} in\n",
          stdout);
    for (int i = 0; i < OPTION_VALUES; i++) {
        printf("    --%s) values='", option_values[i].option);
        option_values[i].put();
        fputs("' ;;\n", stdout);
    }
    fputs("    esac\n"
          "    if [ -n \"$values\" ]; then\n"
          "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    for (int i = 0; tz_commands[i]; i++) {
        printf("    %s) options='", tz_commands[i]->name);
        put_options(tz_commands[i], "", " ", 0);
        fputs("' ;;\n", stdout);
    }
    fputs("    esac\n"
          "    case ${COMP_WORDS[1]} in\n",
          stdout);
    for (int i = 0; i < ARGUMENTS; i++) {
        fputs("    ", stdout);
        put_alternatives(arguments[i].commands);
        fputs(arguments[i].prints ? ") values=$(" : ") values='", stdout);
        if (arguments[i].prints)
            fputs(arguments[i].prints, stdout);
        else
            arguments[i].put();
        fputs(arguments[i].prints ? ") ;;\n" : "' ;;\n", stdout);
    }
    fputs("    esac\n"
          "    case $word in\n"
          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
          "        [ ${#COMPREPLY[@]} -gt 0 ] || { compopt -o filenames 2>/dev/null; "
          "COMPREPLY=($(compgen -f -- \"$word\")); } ;;\n"
          "    esac\n"
          "}\n"
          "complete -F _trapeze trapeze\n",
          stdout);
}

/* `text` inside '…' of a shell. */
static void put_quoted(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    }
}

static void zsh_completion(void)
{
    fputs("#compdef trapeze\n"
          "_trapeze() {\n"
          "    local -a commands options\n"
          "    commands=(\n",
          stdout);
    for (int i = 0; tz_commands[i]; i++) {
        printf("        '%s:", tz_commands[i]->name);
        put_quoted(tz_commands[i]->doc);
        fputs("'\n", stdout);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    case $words[2] in\n",
          stdout);
    for (int i = 0; tz_commands[i]; i++) {
        printf("    %s) options=(", tz_commands[i]->name);
        put_options(tz_commands[i], "", " ", 0);
        fputs(") ;;\n", stdout);
    }
    fputs("    esac\n"
          "    case $words[CURRENT-1] in\n",
          stdout);
    for (int i = 0; i < OPTION_VALUES; i++) {
        printf("    --%s) compadd ", option_values[i].option);
        option_values[i].put();
        fputs("; return ;;\n", stdout);
    }
    fputs("    esac\n"
          "    if [[ $words[CURRENT] == -* ]]; then\n"
          "        compadd -a options\n"
          "        return\n"
          "    fi\n"
          "    case $words[2] in\n",
          stdout);
    for (int i = 0; i < ARGUMENTS; i++) {
        fputs("    ", stdout);
        put_alternatives(arguments[i].commands);
        fputs(") compadd ", stdout);
        if (arguments[i].prints)
            printf("${(f)\"$(%s)\"}", arguments[i].prints);
        else
            arguments[i].put();
        fputs(" ;;\n", stdout);
    }
    fputs("    *) _files ;;\n"
          "    esac\n"
          "}\n"
          "if [ \"$funcstack[1]\" = _trapeze ]; then _trapeze; else compdef _trapeze trapeze; fi\n",
          stdout);
}

static void fish_completion(void)
{
    for (int i = 0; tz_commands[i]; i++) {
        const char *name = tz_commands[i]->name;
        char before[128];
        printf("complete -c trapeze -n __fish_use_subcommand -f -a %s -d '", name);
        put_quoted(tz_commands[i]->doc);
        fputs("'\n", stdout);
        snprintf(before, sizeof before,
                 "complete -c trapeze -n '__fish_seen_subcommand_from %s' -l ", name);
        put_options(tz_commands[i], before, "\n", 2);
    }
    for (int i = 0; i < OPTION_VALUES; i++) {
        printf("complete -c trapeze -l %s -x -a '", option_values[i].option);
        option_values[i].put();
        fputs("'\n", stdout);
    }
    for (int i = 0; i < ARGUMENTS; i++) {
        printf("complete -c trapeze -n '__fish_seen_subcommand_from %s' -f -a '",
               arguments[i].commands);
        if (arguments[i].prints)
            printf("(%s)", arguments[i].prints);
        else
            arguments[i].put();
        fputs("'\n", stdout);
    }
}

/* False: not a shell that is known. */
static bool print_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash_completion();
    else if (strcmp(shell, "zsh") == 0)
        zsh_completion();
    else if (strcmp(shell, "fish") == 0)
        fish_completion();
    else
        return false;
    return true;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int manual(const tz_command *command, int argc, char **argv)
{
    bool man = false;
    const char *shell = NULL;
    const tz_option options[] = {
        TZ_FLAG("man", &man), TZ_TEXT("completion", &shell), {.name = NULL}};
    tz_error error;
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (man && shell)
        return tz_misuse(command, "--man and --completion exclude each other");
    const char *name = argv[optind];
    if (name && (man || shell || optind + 1 < argc))
        return tz_misuse(command, "takes the name of one function, not '%.60s'", argv[argc - 1]);
    if (man) {
        man_page();
    } else if (shell && !print_completion(shell)) {
        return tz_misuse(command, "--completion: '%.60s' is not bash, zsh or fish", shell);
    } else if (!shell && tz_manual_write(stdout, name, &error) != TZ_OK) {
        return tz_fail(EXIT_FAILED, &error);
    }
    return tz_finish_output();
}

const tz_command tz_command_manual = {
    .name = "manual",
    .examples = "  trapeze manual tz.movie\n"
                "  trapeze manual sim:run\n",
    .arguments = "[FUNCTION] [OPTION]…",
    .doc = "print every function, option and column of scenarios, or one function, as Markdown",
    .help = "  FUNCTION             such as tz.floorplan, sim:run or movie\n"
            "  --man                the page for man(1) instead: all commands and their options\n"
            "  --completion SHELL   the completion of bash, zsh or fish instead\n"
            "  -h, --help           print this\n\nThe page docs/scenario.md is the output without "
            "options.\n",
    .call = manual,
};
