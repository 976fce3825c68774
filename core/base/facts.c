/* Prints facts as text, CSV and JSON. Called by commands, and by formats of output files for
 * trapeze info. */
#include "base/facts.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

TZ_GETTER(fact_text, void, tz_facts, tz_cell_text(r->text));

static const tz_sheet_column fact_columns[] = {TZ_MEMBER("part", tz_facts, part),
                                               TZ_MEMBER("name", tz_facts, name),
                                               {.key = "text", .get = fact_text},
                                               {.key = NULL}};

bool tz_facts_begin(tz_facts *facts, tz_form form, FILE *out)
{
    *facts = (tz_facts){.form = form, .out = out, .indent = 2};
    if (form == TZ_FORM_TEXT)
        return true;
    facts->stream = open_memstream(&facts->text, &facts->size);
    facts->list = json_array();
    if (!facts->stream || !facts->list) {
        tz_facts_drop(facts);
        fprintf(stderr, "trapeze: not enough memory\n");
        return false;
    }
    const tz_sheet names = {.columns = fact_columns};
    if (form == TZ_FORM_CSV)
        tz_sheet_csv(&names, true, out);
    return true;
}

/* A line break and the blanks behind it become "; ", or a blank after a comma. There are at least
 * two such blanks. */
static void join_lines(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        if (*from != '\n') {
            *to++ = *from++;
            continue;
        }
        if (to > text && to[-1] != ',')
            *to++ = ';';
        *to++ = ' ';
        from += 1 + strspn(from + 1, " ");
    }
    *to = '\0';
}

static void end_fact(tz_facts *facts)
{
    if (!facts->open)
        return;
    facts->open = false;
    if (facts->form == TZ_FORM_TEXT) {
        fputc('\n', facts->out);
        return;
    }
    fputc('\0', facts->stream);
    fflush(facts->stream);
    join_lines(facts->text);
    const tz_sheet sheet = {.columns = fact_columns, .rows = facts, .count = 1};
    if (facts->form == TZ_FORM_CSV)
        tz_sheet_csv(&sheet, false, facts->out);
    else
        json_array_append_new(facts->list, tz_row_json(fact_columns, NULL, facts));
    rewind(facts->stream);
}

void tz_facts_part(tz_facts *facts, int level, const char *format, ...)
{
    va_list arguments;
    char text[4200]; /* may be a path */
    end_fact(facts);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (facts->form == TZ_FORM_TEXT)
        fprintf(facts->out, "%*s%s\n", 2 * level, "", text);
    facts->name[0] = '\0';
    if (level == 0)
        facts->top = 0;
    const size_t used = facts->top;
    snprintf(facts->part + used, sizeof facts->part - used, "%s%s", level > 0 ? ", " : "",
             text + (text[0] == '\n'));
    if (level == 0)
        facts->top = strlen(facts->part);
}

void tz_facts_part_end(tz_facts *facts)
{
    end_fact(facts);
    facts->name[0] = facts->part[facts->top] = '\0';
}

FILE *tz_fact(tz_facts *facts, const char *name)
{
    end_fact(facts);
    facts->open = true;
    if (name)
        snprintf(facts->name, sizeof facts->name, "%s", name);
    if (facts->form != TZ_FORM_TEXT)
        return facts->stream;
    if (facts->width > 0)
        fprintf(facts->out, "%*s%-*s ", facts->indent, "", facts->width, name ? name : "");
    else
        fprintf(facts->out, "%*s%s%s", facts->indent, "", name ? name : "",
                name && name[0] ? ": " : "");
    return facts->out;
}

void tz_fact_text(tz_facts *facts, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(tz_fact(facts, name), format, arguments);
    va_end(arguments);
}

void tz_facts_lines(tz_facts *facts, const char *lines)
{
    while (*lines != '\0') {
        char name[sizeof facts->name];
        const int length = (int)strcspn(lines, "\n");
        const char *colon = strstr(lines, ": ");
        const int named = colon && colon < lines + length && colon - lines < (int)sizeof name
                              ? (int)(colon - lines)
                              : 0;
        snprintf(name, sizeof name, "%.*s", named, lines);
        const int skip = named > 0 ? named + 2 : 0;
        tz_fact_text(facts, name, "%.*s", length - skip, lines + skip);
        lines += length + (lines[length] == '\n');
    }
}

void tz_facts_drop(tz_facts *facts)
{
    if (facts->stream)
        fclose(facts->stream);
    free(facts->text);
    json_decref(facts->list);
}

void tz_facts_end(tz_facts *facts)
{
    end_fact(facts);
    if (facts->form == TZ_FORM_JSON) {
        json_dumpf(facts->list, facts->out, JSON_INDENT(2));
        fputc('\n', facts->out);
    }
    tz_facts_drop(facts);
}
