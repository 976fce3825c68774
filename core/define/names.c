#include "define/names.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 48 };

/* Words of formulas; of C and C++, since GPUs compile the text as C++; and of the headers. */
static const char *const words[] = {"x",
                                    "y",
                                    "z",
                                    "step",
                                    "pi",
                                    "and",
                                    "or",
                                    "not",
                                    "real",
                                    "tz_word",
                                    "auto",
                                    "bool",
                                    "break",
                                    "case",
                                    "catch",
                                    "char",
                                    "class",
                                    "const",
                                    "constexpr",
                                    "continue",
                                    "default",
                                    "delete",
                                    "do",
                                    "double",
                                    "else",
                                    "enum",
                                    "explicit",
                                    "export",
                                    "extern",
                                    "false",
                                    "float",
                                    "for",
                                    "friend",
                                    "goto",
                                    "if",
                                    "inline",
                                    "int",
                                    "long",
                                    "mutable",
                                    "namespace",
                                    "new",
                                    "operator",
                                    "private",
                                    "protected",
                                    "public",
                                    "register",
                                    "restrict",
                                    "return",
                                    "short",
                                    "signed",
                                    "sizeof",
                                    "static",
                                    "struct",
                                    "switch",
                                    "template",
                                    "this",
                                    "throw",
                                    "true",
                                    "try",
                                    "typedef",
                                    "typeid",
                                    "typename",
                                    "union",
                                    "unsigned",
                                    "using",
                                    "virtual",
                                    "void",
                                    "volatile",
                                    "while",
                                    "asm",
                                    "alignas",
                                    "alignof",
                                    "decltype",
                                    "noexcept",
                                    "nullptr",
                                    "typeof",
                                    "xor",
                                    "and_eq",
                                    "or_eq",
                                    "not_eq",
                                    "xor_eq",
                                    "bitand",
                                    "bitor",
                                    "compl",
                                    "concept",
                                    "requires",
                                    "char8_t",
                                    "char16_t",
                                    "char32_t",
                                    "wchar_t",
                                    "const_cast",
                                    "dynamic_cast",
                                    "reinterpret_cast",
                                    "static_cast",
                                    "static_assert",
                                    "thread_local",
                                    "linux",
                                    "unix",
                                    "i386",
                                    "NULL",
                                    "EOF",
                                    "NAN",
                                    "INFINITY",
                                    "BUFSIZ",
                                    "DOMAIN",
                                    "SING",
                                    "OVERFLOW",
                                    "UNDERFLOW",
                                    "PLOSS",
                                    "TLOSS",
                                    "HUGE",
                                    "HUGE_VAL",
                                    "MAXFLOAT",
                                    "PARAMS",
                                    "access",
                                    "arguments",
                                    "context",
                                    "nothing",
                                    "field_index",
                                    "constant_index",
                                    "threadIdx",
                                    "blockIdx",
                                    "blockDim",
                                    "gridDim",
                                    "warpSize"};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool ends(const char *name, const char *end)
{
    const size_t length = strlen(name), of_end = strlen(end);
    return length >= of_end && strcmp(name + length - of_end, end) == 0;
}

/* Names that the text and its headers make. */
static bool is_macro(const char *name)
{
    return strncmp(name, "tz_", 3) == 0 || strncmp(name, "TZ_", 3) == 0 ||
           strncmp(name, "M_", 2) == 0 || strncmp(name, "FP_", 3) == 0 ||
           strncmp(name, "SEEK_", 5) == 0 || ends(name, "_MAX") || ends(name, "_MIN");
}

tz_status tz_define_check_name(const char *id, const char *what, const char *name, tz_error *error)
{
    if (!name || !*name)
        return tz_error_set(error, TZ_FORMAT, id, "a %s has no name", what);
    bool ok = is_letter(*name) && strlen(name) <= NAME_MAX_BYTES;
    for (const char *c = name; *c; c++)
        ok = ok && (is_letter(*c) || (*c >= '0' && *c <= '9') || *c == '_');
    if (!ok)
        return tz_error_set(
            error, TZ_FORMAT, id,
            "%s '%.60s': a name is a letter, then letters, digits and _, at most %d", what, name,
            NAME_MAX_BYTES);
    bool taken = is_macro(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        taken = taken || strcmp(words[i], name) == 0;
    if (taken)
        return tz_error_set(
            error, TZ_FORMAT, id,
            "%s '%s': this word has another meaning in formulas or in C; take another "
            "name, such as %s1",
            what, name, name);
    return TZ_OK;
}

typedef struct named {
    const char *what, *name;
} named;

/* Does the text make the name of one from that of the other? */
static bool clash(const named *a, const named *b)
{
    static const char *const suffixes[] = {"_at",   "_edge",  "_new",    "_next",  "_now", "_out",
                                           "_own",  "_row",   "_rows",   "_sum",   "_to",  "_w",
                                           "_near", "_width", "_stride", "_window"};
    const size_t length = strlen(a->name);
    if (strncmp(b->name, "k_", 2) == 0 && strcmp(b->name + 2, a->name) == 0)
        return true;
    if (strncmp(a->name, b->name, length) != 0)
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(b->name + length, suffixes[i]) == 0)
            return true;
    return false;
}

tz_status tz_define_check_names(const tz_definition *d, tz_error *error)
{
    named all[TZ_FIELDS_MAX + TZ_PARAMS_MAX + TZ_CONSTANTS_MAX];
    int count = 0;
    for (int i = 0; i < d->fields_count; i++)
        all[count++] = (named){"field", d->fields[i].name};
    for (int i = 0; i < d->params_count; i++)
        all[count++] = (named){"parameter", d->params[i].name};
    for (int i = 0; i < d->scalars_count; i++)
        all[count++] = (named){"scalar", d->scalars[i].name};
    for (int i = 0; i < count; i++) {
        tz_status status = tz_define_check_name(d->id, all[i].what, all[i].name, error);
        for (int k = 0; k < i && !status; k++) {
            if (strcmp(all[i].name, all[k].name) == 0)
                status = tz_error_set(error, TZ_FORMAT, d->id, "a %s and a %s are both named '%s'",
                                      all[k].what, all[i].what, all[i].name);
            else if (clash(&all[i], &all[k]) || clash(&all[k], &all[i]))
                status =
                    tz_error_set(error, TZ_FORMAT, d->id,
                                 "'%s' and '%s' cannot be in one stencil, whose text makes the "
                                 "one of the other: rename one",
                                 all[k].name, all[i].name);
        }
        if (status)
            return status;
    }
    return TZ_OK;
}
