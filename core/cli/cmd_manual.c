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

/* ---- Completions: shells ask for words ------------------------------------------------------- */

/* The word, if what is typed begins it, and what it is; `doc` NULL: it is not said. */
static void put_word(const char *typed, const char *word, size_t length, const char *doc)
{
    const size_t begun = strlen(typed);
    if (begun <= length && strncmp(word, typed, begun) == 0)
        printf("%.*s%s%s\n", (int)length, word, doc ? "\t" : "", doc ? doc : "");
}

static void put_name(const char *typed, const char *name)
{
    put_word(typed, name, strlen(name), NULL);
}

/* All options that the help of a command names, as "--name". */
static void put_options(const tz_command *command, const char *typed)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    char help[TZ_HELP_SIZE];
    tz_help_text(command, help);
    for (const char *p = help; (p = strstr(p, "--")); p += 2) {
        const char *before = help;
        const size_t n = 2 + strspn(p + 2, letters);
        while ((before = strstr(before, "--")) < p &&
               (strncmp(before, p, n) != 0 || strspn(before + 2, letters) + 2 != n))
            before += 2;
        if (before == p && n >= 4 && (p == help || p[-1] == ' ' || p[-1] == '`'))
            put_word(typed, p, n, NULL);
    }
}

/* ---- Values of options, and arguments -------------------------------------------------------- */

static void put_backends(const char *typed)
{
    put_name(typed, "auto");
    for (int i = 0; tz_backends[i]; i++)
        put_name(typed, tz_backends[i]->name);
}

static void put_policies(const char *typed)
{
    for (int i = 0; tz_policy_name(i); i++)
        put_name(typed, tz_policy_name(i));
}

static void put_families(const char *typed)
{
    const char *names[TZ_FAMILIES_MAX];
    const size_t count = tz_family_names(names);
    for (size_t i = 0; i < count; i++)
        put_name(typed, names[i]);
}

static void put_devices(const char *typed)
{
    tz_paths names = {0};
    tz_error ignored;
    tz_device_names(&names, &ignored);
    for (size_t i = 0; i < names.count; i++)
        put_name(typed, names.items[i]);
    tz_paths_clear(&names);
}

static void put_models(const char *typed)
{
    for (int i = 0; tz_predictors[i]; i++)
        put_name(typed, tz_predictors[i]->name);
}

static void put_precisions(const char *typed)
{
    for (int i = 0; i < TZ_PRECISIONS; i++)
        put_name(typed, tz_precision_name((tz_precision)i));
}

static void put_stencils(const char *typed)
{
    tz_plugins plugins = {0};
    if (tz_plugins_open(&plugins))
        for (size_t i = 0; i < tz_registry_count(plugins.registry); i++) {
            const tz_plugin *plugin = tz_registry_get(plugins.registry, i)->plugin;
            for (int k = 0; plugin && k < plugin->stencils_count; k++)
                put_name(typed, plugin->stencils[k]->id);
        }
    tz_plugins_close(&plugins);
}

/* The headings of the reference, "### `tz.movie([field][, options])`". */
static void put_functions(const char *typed)
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
        put_word(typed, at, strcspn(at, "(`"), NULL);
    }
    free(page);
}

static void put_shells(const char *typed);

/* What follows an option of any command, or a command. */
static const struct {
    const char *after;
    void (*put)(const char *typed);
} lists[] = {
    {"--backend", put_backends},     {"--policy", put_policies},   {"--height", put_policies},
    {"--family", put_families},      {"--device", put_devices},    {"--model", put_models},
    {"--precision", put_precisions}, {"--completion", put_shells}, {"plugins", put_stencils},
    {"predict", put_stencils},       {"tune", put_stencils},       {"examples", tz_examples_put},
    {"manual", put_functions}};

static bool put_list(const char *after, const char *typed)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(after, lists[i].after) == 0) {
            lists[i].put(typed);
            return true;
        }
    return false;
}

/* `words`: those of the command line behind "trapeze", of which the last one is being typed. */
static void put_words(int count, char *const *words)
{
    static const char *const others[] = {"help", "--help", "--version"};
    const char *typed = count > 0 ? words[count - 1] : "";
    if (count < 2) {
        for (int i = 0; tz_commands[i]; i++)
            put_word(typed, tz_commands[i]->name, strlen(tz_commands[i]->name),
                     tz_commands[i]->doc);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            put_name(typed, others[i]);
        return;
    }
    if (words[count - 2][0] == '-' && put_list(words[count - 2], typed))
        return;
    for (int i = 0; typed[0] == '-' && tz_commands[i]; i++)
        if (strcmp(tz_commands[i]->name, words[0]) == 0)
            put_options(tz_commands[i], typed);
    if (typed[0] != '-')
        put_list(words[0], typed);
}

/* Each asks with the words up to the cursor; where there are none, files may stand. */
static const struct {
    const char *name, *text;
} shells[] = {
    {"bash", "_trapeze() {\n"
             "    local IFS=$'\\n' word=${COMP_WORDS[COMP_CWORD]}\n"
             "    COMPREPLY=($(trapeze manual --words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
             "2>/dev/null | cut -f 1))\n"
             "    case ${#COMPREPLY[@]}$word in 0-*) ;; 0*) compopt -o filenames 2>/dev/null\n"
             "        COMPREPLY=($(compgen -f -- \"$word\")) ;; esac\n"
             "}\n"
             "complete -F _trapeze trapeze\n"},
    {"zsh", "#compdef trapeze\n"
            "_trapeze() {\n"
            "    local -a found\n"
            "    found=(${(f)\"$(trapeze manual --words -- \"${(@)words[2,CURRENT]}\" "
            "2>/dev/null)\"})\n"
            "    found=(${${found//:/\\\\:}/$'\\t'/:})\n"
            "    if (( $#found )); then _describe word found; else _files; fi\n"
            "}\n"
            "if [ \"$funcstack[1]\" = _trapeze ]; then _trapeze; else compdef _trapeze trapeze; "
            "fi\n"},
    {"fish", "complete -c trapeze -a '(trapeze manual --words -- (commandline -opc)[2..-1] "
             "(commandline -ct) 2>/dev/null)'\n"}};

static void put_shells(const char *typed)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        put_name(typed, shells[i].name);
}

/* False: not a shell that is known. */
static bool print_completion(const char *shell)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0) {
            fputs(shells[i].text, stdout);
            return true;
        }
    return false;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int manual(const tz_command *command, int argc, char **argv)
{
    bool man = false, words = false;
    const char *shell = NULL;
    const tz_option options[] = {TZ_FLAG("man", &man),
                                 TZ_TEXT("completion", &shell),
                                 TZ_FLAG("words", &words),
                                 {.name = NULL}};
    tz_error error;
    const int code = tz_options_read(command, argc, argv, options);
    if (code != TZ_OPTIONS_GO_ON)
        return code;
    if (man && shell)
        return tz_misuse(command, "--man and --completion exclude each other");
    if (words) {
        put_words(argc - optind, argv + optind);
        return tz_finish_output();
    }
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
            "  --words -- WORD…     what the last of these words of a command line may become, as\n"
            "                       completions ask\n"
            "  -h, --help           print this\n\nThe page docs/scenario.md is the output without "
            "options.\n",
    .call = manual,
};
