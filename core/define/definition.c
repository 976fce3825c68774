/* A definition as bytes, for the other ranks of a run. Called by source.c and plugin.c. */
#include "define/definition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Goes over all that a definition points to, in the same order when it is packed and unpacked. */
typedef struct packer {
    char *bytes; /* NULL: only counts */
    size_t length;
    bool unpacks;
} packer;

/* What a pointer points to: it is copied, or the pointer is set to the copy. */
static void pass(packer *p, const void *pointer, size_t bytes)
{
    const void *from;
    memcpy(&from, pointer, sizeof from);
    if (!from)
        return;
    char *copy = p->bytes ? p->bytes + p->length : NULL;
    p->length += (bytes + 7) / 8 * 8;
    if (p->unpacks)
        memcpy((void *)(uintptr_t)pointer, &copy, sizeof copy);
    else if (copy)
        memcpy(copy, from, bytes);
}

/* Texts come with their lengths, since those of the sender cannot be read. */
static void pass_name(packer *p, const char *const *name)
{
    size_t length = 0;
    if (!*name)
        return;
    if (p->unpacks)
        memcpy(&length, p->bytes + p->length, sizeof length);
    else
        length = strlen(*name) + 1;
    if (p->bytes)
        memcpy(p->bytes + p->length, &length, sizeof length);
    p->length += sizeof length;
    pass(p, name, length);
}

static void pass_text(packer *p, const tz_defined_text *text)
{
    pass(p, &text->text, text->length);
}

static void pass_formulas(packer *p, const tz_defined_formula *const *formulas, int count)
{
    pass(p, formulas, (size_t)count * sizeof **formulas);
    for (int i = 0; i < count; i++) {
        pass_name(p, &(*formulas)[i].name);
        pass_text(p, &(*formulas)[i].formula);
    }
}

static void pass_coefficients(packer *p, const tz_defined_coefficients *c)
{
    const int count = c->side[0] * c->side[1] * c->side[2];
    pass_name(p, &c->field);
    pass(p, &c->values, (size_t)count * sizeof *c->values);
    pass(p, &c->fields, (size_t)count * sizeof *c->fields);
    for (int i = 0; c->fields && i < count; i++)
        pass_name(p, &c->fields[i]);
    pass_name(p, &c->old);
    pass_text(p, &c->a);
    pass_text(p, &c->b);
    pass_text(p, &c->v);
}

static void pass_definition(packer *p, const tz_definition *d)
{
    pass_name(p, &d->id);
    pass_name(p, &d->doc);
    pass_name(p, &d->raw);
    pass_name(p, &d->domain);
    const int fields = d->fields_count + d->temporaries_count;
    pass(p, &d->fields, (size_t)fields * sizeof *d->fields);
    for (int f = 0; f < fields; f++) {
        pass_name(p, &d->fields[f].name);
        pass_name(p, &d->fields[f].unit);
        pass_name(p, &d->fields[f].doc);
    }
    pass(p, &d->params, (size_t)d->params_count * sizeof *d->params);
    for (int i = 0; i < d->params_count; i++) {
        pass_name(p, &d->params[i].name);
        pass_name(p, &d->params[i].unit);
        pass_name(p, &d->params[i].doc);
    }
    pass_formulas(p, &d->scalars, d->scalars_count);
    pass_formulas(p, &d->parts, d->parts_count);
    pass(p, &d->outsides, (size_t)d->outsides_count * sizeof *d->outsides);
    for (int i = 0; i < d->outsides_count; i++) {
        pass_name(p, &d->outsides[i].field);
        pass_text(p, &d->outsides[i].formula);
    }
    pass(p, &d->passes, (size_t)d->passes_count * sizeof *d->passes);
    for (int i = 0; i < d->passes_count; i++) {
        pass_name(p, &d->passes[i].name);
        pass_formulas(p, &d->passes[i].updates, d->passes[i].updates_count);
    }
    pass_formulas(p, &d->outputs, d->outputs_count);
    pass(p, &d->coefficients, sizeof *d->coefficients);
    if (d->coefficients)
        pass_coefficients(p, d->coefficients);
}

const char tz_since_name[] = "t_since",
           tz_since_doc[] = "The iteration since which the time step is what it is.";
const char tz_start_name[] = "t_start", tz_start_doc[] = "The time at which that began.";

int tz_stage_owner(const tz_stencil *stencil, int field)
{
    char name[TZ_STAGE_NAME_SIZE];
    for (int f = 0; f < field; f++)
        for (int stage = 1; stage < TZ_STAGES_MAX; stage++)
            if (strcmp(tz_stage_name(name, stencil->fields[f].name, stage),
                       stencil->fields[field].name) == 0)
                return f;
    return field;
}

const char *tz_stage_name(char text[TZ_STAGE_NAME_SIZE], const char *field, int stage)
{
    snprintf(text, TZ_STAGE_NAME_SIZE, "%.48s_stage%d", field, stage);
    return text;
}

void *tz_definition_pack(const tz_definition *definition, size_t *bytes)
{
    packer count = {.length = 0};
    pass(&count, &definition, sizeof *definition);
    pass_definition(&count, definition);
    *bytes = count.length;
    packer p = {.bytes = calloc(1, count.length)};
    if (!p.bytes)
        return NULL;
    pass(&p, &definition, sizeof *definition);
    pass_definition(&p, definition);
    return p.bytes;
}

const tz_definition *tz_definition_unpack(void *bytes)
{
    packer p = {.bytes = bytes, .unpacks = true};
    const tz_definition *definition = bytes;
    pass(&p, &definition, sizeof *definition);
    pass_definition(&p, definition);
    return definition;
}
