/* Facts: what a command prints that is no table. */
#ifndef TZ_CORE_BASE_FACTS_H
#define TZ_CORE_BASE_FACTS_H

#include "base/sheet.h"

/* What is no table: lines with a name and a text, in parts with a heading. In CSV and JSON a fact
 * has the columns part, name and text. */
typedef struct tz_facts {
    tz_form form;
    /* Of text. */
    FILE *out;
    /* Blanks before a name, and its width; 0: the name is followed by ": ". */
    int indent, width;
    /* Private. */
    char part[4600], name[4100];
    /* Characters of the part of level 0. */
    size_t top;
    FILE *stream;
    char *text;
    size_t size;
    struct json_t *list;
    bool open;
} tz_facts;

/* Begins with indent 2. False: not enough memory, which is printed. */
bool tz_facts_begin(tz_facts *facts, tz_form form, FILE *out);
/* A heading on a line of its own; `level` 1: a part of the part of level 0. A line break before it
 * is an empty line. */
void tz_facts_part(tz_facts *facts, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Back to the part of level 0. */
void tz_facts_part_end(tz_facts *facts);
/* Begin a fact: its text is what is written to the result before the next one. A line break and two
 * blanks or more are "; " in CSV and JSON. `name` NULL: that of the one before, which text does not
 * repeat. */
FILE *tz_fact(tz_facts *facts, const char *name);
/* The whole fact. */
void tz_fact_text(tz_facts *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Facts from lines "NAME: TEXT", or "TEXT". */
void tz_facts_lines(tz_facts *facts, const char *lines);
/* Print what is left; or nothing more. */
void tz_facts_end(tz_facts *facts);
void tz_facts_drop(tz_facts *facts);

#endif
