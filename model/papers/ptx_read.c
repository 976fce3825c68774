/* Reading PTX: text to instructions. */
#include "model/papers/ptx_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BANKS_MAX = 256, LABELS_MAX = 65536, PARAMETERS_MAX = 16, REGISTERS_MAX = 1 << 20 };

/* Registers of a declaration: name<count>, or one without a number. */
typedef struct bank {
    char prefix[TZ__PTX_WORD * 2];
    int count, first; /* count 0: a single one */
} bank;

typedef struct label {
    char name[TZ__PTX_WORD * 2];
    int at;
} label;

typedef struct reader {
    tz_ptx *ptx;
    bank banks[BANKS_MAX];
    int banks_count;
    struct {
        char name[TZ__PTX_WORD * 4];
        int64_t at;
    } parameters[PARAMETERS_MAX];
    int parameters_count;
    label *labels;
    int labels_count, labels_room;
    tz_error *error;
} reader;

static tz_status refuse(const reader *r, const char *why, const char *statement)
{
    return tz_error_set(r->error, TZ_FORMAT, "PTX", "%s: '%.60s'", why, statement);
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_$%.", c));
}

/* Copies a word and returns what follows it. Longer words are cut short. */
static const char *word_of(const char *at, char *out, size_t size)
{
    size_t length = 0;
    for (; in_word(*at); at++)
        if (length + 1 < size)
            out[length++] = *at;
    out[length] = '\0';
    return at;
}

static const char *skip(const char *at, const char *these)
{
    return at + strspn(at, these);
}

static int size_of_type(const char *type)
{
    const int bits = atoi(type + 1);
    return strcmp(type, "pred") == 0 ? 1 : bits >= 8 ? bits / 8 : 0;
}

/* "u32", "f64", "b8", "pred", "bf16" and so on. */
static bool is_type(const char *word)
{
    if (strcmp(word, "pred") == 0)
        return true;
    return word[0] && strchr("subf", word[0]) && isdigit((unsigned char)word[1]) &&
           size_of_type(word) > 0 && strspn(word + 1, "0123456789") == strlen(word + 1);
}

/* ---- Declarations ---------------------------------------------------------------------------- */

static tz_status declare(reader *r, const char *statement)
{
    const char *at = skip(strstr(statement, ".reg") + 4, " \t\r\n");
    char word[TZ__PTX_WORD * 2];
    at = word_of(at, word, sizeof word); /* the type */
    while (*(at = skip(at, " \t\r\n,"))) {
        if (r->banks_count == BANKS_MAX)
            return refuse(r, "more declarations of registers than Trapeze reads", statement);
        bank *b = &r->banks[r->banks_count];
        *b = (bank){.first = r->ptx->registers};
        const char *end = word_of(at, b->prefix, sizeof b->prefix);
        if (end == at)
            return refuse(r, "a declaration of registers that Trapeze does not read", statement);
        at = end;
        if (*at == '<') {
            b->count = atoi(at + 1);
            at += strcspn(at, ">");
            at += *at == '>';
            if (b->count < 1)
                return refuse(r, "registers without a number", statement);
        }
        if (b->count > REGISTERS_MAX || r->ptx->registers > REGISTERS_MAX)
            return refuse(r, "more registers than Trapeze follows", statement);
        r->ptx->registers += b->count > 0 ? b->count : 1;
        r->banks_count++;
    }
    return TZ_OK;
}

/* A register's number; -1: none of that name. Later declarations hide earlier ones. */
static int register_of(const reader *r, const char *name)
{
    size_t digits = strlen(name);
    while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
        digits--;
    for (int k = r->banks_count - 1; k >= 0; k--) {
        const bank *b = &r->banks[k];
        if (b->count == 0 && strcmp(b->prefix, name) == 0)
            return b->first;
        const long number = name[digits] ? strtol(name + digits, NULL, 10) : -1;
        if (b->count > 0 && number >= 0 && number < b->count && strlen(b->prefix) == digits &&
            strncmp(b->prefix, name, digits) == 0)
            return b->first + (int)number;
    }
    return -1;
}

/* "( .param .align 8 .b8 name[480], .param .u64 other )": places as C lays out a struct. Returns
 * what follows. */
static const char *read_parameters(reader *r, const char *at)
{
    int64_t place = 0;
    at = skip(at, " \t\r\n");
    if (*at != '(')
        return at;
    at++;
    while (*at && *at != ')') {
        char word[TZ__PTX_WORD * 4], name[TZ__PTX_WORD * 4] = "";
        int64_t align = 0, size = 4, count = 1;
        while (*at && *at != ',' && *at != ')') {
            if (*at == '[') {
                count = atoll(at + 1);
                at += strcspn(at, "]");
                at += *at == ']';
            } else if (in_word(*at)) {
                at = word_of(at, word, sizeof word);
                if (strcmp(word, ".align") == 0)
                    align = strtoll(skip(at, " \t"), NULL, 10);
                else if (word[0] == '.' && is_type(word + 1))
                    size = size_of_type(word + 1);
                else if (word[0] != '.' && !isdigit((unsigned char)word[0]))
                    strcpy(name, word);
            } else {
                at++;
            }
        }
        align = align > 0 && align <= 256 ? align : size;
        count = count > 0 && count < 65536 ? count : 1;
        place = (place + align - 1) / align * align;
        if (r->parameters_count < PARAMETERS_MAX) {
            strcpy(r->parameters[r->parameters_count].name, name);
            r->parameters[r->parameters_count++].at = place;
        }
        place += size * count;
        at += *at == ',';
    }
    return at + (*at == ')');
}

/* ---- Operands -------------------------------------------------------------------------------- */

static bool special_of(const char *name, int *out)
{
    static const struct {
        const char *name;
        int at;
    } vectors[] = {{"%tid", TZ__PTX_TID},
                   {"%ntid", TZ__PTX_NTID},
                   {"%ctaid", TZ__PTX_CTAID},
                   {"%nctaid", TZ__PTX_NCTAID}};
    for (int k = 0; k < 4; k++) {
        const size_t length = strlen(vectors[k].name);
        if (strncmp(name, vectors[k].name, length) == 0 && name[length] == '.' &&
            name[length + 1] >= 'x' && name[length + 1] <= 'z') {
            *out = vectors[k].at + name[length + 1] - 'x';
            return true;
        }
    }
    *out = TZ__PTX_LANE;
    return strcmp(name, "%laneid") == 0;
}

static tz__ptx_operand operand_of(const reader *r, const char *word)
{
    tz__ptx_operand operand = {TZ__PTX_NOTHING, 0, 0};
    const char *digits = word + (*word == '-');
    if (isdigit((unsigned char)*digits)) {
        operand.kind = TZ__PTX_NUMBER;
        if (digits[0] == '0' && digits[1] && strchr("fFdD", digits[1]))
            operand.value = (int64_t)strtoull(digits + 2, NULL, 16);
        else
            operand.value = (int64_t)strtoull(digits, NULL, 0);
        if (*word == '-')
            operand.value = (int64_t)(0 - (uint64_t)operand.value);
        return operand;
    }
    operand.at = register_of(r, word);
    if (operand.at >= 0) {
        operand.kind = TZ__PTX_REGISTER;
        return operand;
    }
    if (special_of(word, &operand.at)) {
        operand.kind = TZ__PTX_SPECIAL;
        return operand;
    }
    for (int k = 0; k < r->parameters_count; k++)
        if (strcmp(r->parameters[k].name, word) == 0) {
            operand.kind = TZ__PTX_PARAMETER;
            operand.value = r->parameters[k].at;
        }
    return operand;
}

/* Reads a word with a sign before it. */
static const char *signed_word(const char *at, char *out, size_t size)
{
    out[0] = *at == '-' ? '-' : '\0';
    return word_of(at + (*at == '-'), out + (*at == '-'), size - 1);
}

/* "[%rd1+-16]": the base with the offset. */
static const char *read_address(const reader *r, const char *at, tz__ptx_operand *out)
{
    char word[TZ__PTX_WORD * 4];
    at = signed_word(skip(at, " \t"), word, sizeof word);
    *out = operand_of(r, word);
    at = skip(at, " \t");
    if (*at == '+' || *at == '-') {
        at = signed_word(skip(at, " \t+"), word, sizeof word);
        out->value += operand_of(r, word).value;
    }
    at += strcspn(at, "]");
    return at + (*at == ']');
}

/* Vectors and pairs count as so many operands. Those of the first group are written. */
static tz_status read_operands(const reader *r, const char *at, tz__ptx_instruction *i)
{
    bool inside = false;
    int group = 0;
    i->address = -1;
    while (*at) {
        char word[TZ__PTX_WORD * 4];
        inside = (inside || *at == '{' || *at == '(') && *at != '}' && *at != ')';
        if (*at == ',' && !inside)
            group++;
        const bool is_address = *at == '[';
        if (!is_address && *at != '-' && !in_word(*at)) {
            at++;
            continue;
        }
        tz__ptx_operand operand;
        const char *begin = at;
        if (is_address) {
            at = read_address(r, at + 1, &operand);
        } else {
            at = signed_word(at, word, sizeof word);
            operand = operand_of(r, word);
            if (i->flow == TZ__PTX_JUMP && i->count == 0)
                snprintf(i->label, sizeof i->label, "%.40s", word);
        }
        if (at == begin)
            return refuse(r, "operands that Trapeze does not read", begin);
        if (i->count == TZ__PTX_OPERANDS)
            continue;
        if (is_address)
            i->address = i->count;
        else if (group > 0 && operand.kind == TZ__PTX_NUMBER)
            i->has_constant = true;
        i->written += group == 0 && !is_address;
        i->operands[i->count++] = operand;
    }
    if (i->is_store || i->flow != TZ__PTX_NEXT || i->operation == TZ_LUO2011_BARRIER)
        i->written = 0;
    return TZ_OK;
}

/* ---- Instructions ---------------------------------------------------------------------------- */

static void take_type(const char *type, bool *is_float, bool *is_signed, int *bytes)
{
    *is_float = type[0] == 'f';
    *is_signed = type[0] == 's';
    *bytes = size_of_type(type);
}

/* "ld.global.v4.f32": the name, options without the type, the type; of cvt both types. */
static void read_name(const char *word, tz__ptx_instruction *i)
{
    char types[2][TZ__PTX_WORD] = {"", ""}; /* the last two */
    size_t used = 0;
    size_t length = strcspn(word, ".");
    snprintf(i->name, sizeof i->name, "%.*s", (int)length, word);
    for (word += length; *word == '.'; word += length) {
        char part[TZ__PTX_WORD];
        length = 1 + strcspn(word + 1, ".");
        snprintf(part, sizeof part, "%.*s", (int)length - 1, word + 1);
        if (is_type(part)) {
            strcpy(types[0], types[1]);
            strcpy(types[1], part);
        } else if (used + length + 1 < sizeof i->options) {
            memcpy(i->options + used, word, length);
            used += length;
            i->options[used] = '\0';
        }
        if (part[0] == 'v' && strchr("248", part[1]) && part[1] && !part[2])
            i->vector = part[1] - '0';
    }
    i->bytes = i->from_bytes = 4;
    const bool both = strcmp(i->name, "cvt") == 0 && types[0][0];
    if (types[1][0])
        take_type(types[both ? 0 : 1], &i->is_float, &i->is_signed, &i->bytes);
    if (both)
        take_type(types[1], &i->from_float, &i->from_signed, &i->from_bytes);
    i->is_predicate = strcmp(types[1], "pred") == 0;
}

static tz_status add_instruction(reader *r, const char *statement)
{
    tz_ptx *ptx = r->ptx;
    if (ptx->count == ptx->room) {
        const int room = 2 * ptx->room + 256;
        tz__ptx_instruction *larger = realloc(ptx->at, (size_t)room * sizeof *larger);
        if (!larger)
            return tz_error_set(r->error, TZ_MEMORY, NULL, "not enough memory for PTX");
        ptx->at = larger;
        ptx->room = room;
    }
    tz__ptx_instruction *i = &ptx->at[ptx->count];
    *i = (tz__ptx_instruction){.guard = -1, .vector = 1, .target = -1, .address = -1};
    char word[TZ__PTX_WORD * 4];
    const char *at = statement;
    if (*at == '@') {
        i->guard_not = at[1] == '!';
        at = word_of(at + 1 + i->guard_not, word, sizeof word);
        i->guard = register_of(r, word);
        if (i->guard < 0)
            return refuse(r, "a predicate that is not declared", statement);
        at = skip(at, " \t\r\n");
    }
    at = word_of(at, word, sizeof word);
    if (!isalpha((unsigned char)word[0]))
        return refuse(r, "a statement that Trapeze does not read", statement);
    while (*at == ':') { /* "ld.acquire::gpu" and the like */
        char rest[TZ__PTX_WORD];
        at = word_of(skip(at, ":"), rest, sizeof rest);
        strncat(word, rest, sizeof word - strlen(word) - 1);
    }
    read_name(word, i);
    tz__ptx_classify(i);
    const tz_status status = read_operands(r, at, i);
    ptx->count += status == TZ_OK;
    return status;
}

static tz_status add_label(reader *r, const char *name)
{
    if (r->labels_count == r->labels_room) {
        const int room = 2 * r->labels_room + 64;
        label *larger =
            room > LABELS_MAX ? NULL : realloc(r->labels, (size_t)room * sizeof *larger);
        if (!larger)
            return tz_error_set(r->error, TZ_MEMORY, NULL, "too many labels in PTX");
        r->labels = larger;
        r->labels_room = room;
    }
    label *l = &r->labels[r->labels_count++];
    snprintf(l->name, sizeof l->name, "%.40s", name);
    l->at = r->ptx->count;
    return TZ_OK;
}

/* A statement, without its semicolon and without labels before it. */
static tz_status read_statement(reader *r, const char *statement)
{
    if (strncmp(statement, ".reg", 4) == 0)
        return declare(r, statement);
    if (*statement == '.' || *statement == '\0')
        return TZ_OK;
    return add_instruction(r, statement);
}

/* The body, from after its "{" on; braces of inner scopes and lines of .loc are skipped. */
static tz_status read_body(reader *r, char *at)
{
    tz_status status = TZ_OK;
    int depth = 1;
    while (!status) {
        char word[TZ__PTX_WORD * 4];
        at += strspn(at, " \t\r\n;");
        if (*at == '{' || *at == '}') {
            depth += *at == '{' ? 1 : -1;
            if (depth == 0)
                return TZ_OK;
            at++;
            continue;
        }
        if (*at == '\0')
            return refuse(r, "the kernel does not end", r->ptx->count ? "}" : "");
        if (strncmp(at, ".loc", 4) == 0 && isspace((unsigned char)at[4])) {
            at += strcspn(at, "\n");
            continue;
        }
        const char *end = word_of(at, word, sizeof word);
        end = skip(end, " \t");
        if (*end == ':' && end[1] != ':') {
            status = add_label(r, word);
            at += end - at + 1;
            continue;
        }
        const size_t length = strcspn(at, ";");
        const char last = at[length];
        at[length] = '\0';
        status = read_statement(r, at);
        at += length + (last != '\0');
    }
    return status;
}

/* Where jumps go, and where blocks begin. */
static tz_status join(reader *r)
{
    tz_ptx *ptx = r->ptx;
    for (int k = 0; k < ptx->count; k++) {
        tz__ptx_instruction *i = &ptx->at[k];
        i->leads = i->leads || k == 0 || ptx->at[k - 1].flow != TZ__PTX_NEXT;
        if (i->flow != TZ__PTX_JUMP)
            continue;
        for (int l = 0; l < r->labels_count && i->target < 0; l++)
            if (strcmp(r->labels[l].name, i->label) == 0)
                i->target = r->labels[l].at;
        if (i->target < 0)
            return refuse(r, "a jump to a label that is not there", i->label);
        if (i->target < ptx->count)
            ptx->at[i->target].leads = true;
    }
    return TZ_OK;
}

/* The text without comments, malloc'd. */
static char *without_comments(const char *text)
{
    char *out = malloc(strlen(text) + 1), *to = out;
    while (out && *text) {
        if (text[0] == '/' && text[1] == '/') {
            text += strcspn(text, "\n");
        } else if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");
            text = end ? end + 2 : text + strlen(text);
            *to++ = ' ';
        } else {
            *to++ = *text++;
        }
    }
    if (out)
        *to = '\0';
    return out;
}

/* What follows the name of the kernel; NULL: no such one. */
static char *find_entry(char *text, const char *entry)
{
    for (char *at = text; (at = strstr(at, ".entry")) != NULL;) {
        char word[256];
        at += strlen(".entry");
        char *name = at + strspn(at, " \t\r\n");
        const char *end = word_of(name, word, sizeof word);
        if (strcmp(word, entry) == 0)
            return name + (end - name);
    }
    return NULL;
}

tz_status tz_ptx_read(tz_ptx **out, const char *text, const char *entry, tz_error *error)
{
    tz_status status;
    reader *r = calloc(1, sizeof *r);
    char *copy = without_comments(text);
    *out = calloc(1, sizeof **out);
    if (!r || !copy || !*out) {
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for PTX");
        goto cleanup;
    }
    r->ptx = *out;
    r->error = error;
    char *at = find_entry(copy, entry);
    if (!at) {
        status = tz_error_set(error, TZ_UNKNOWN, "PTX", "the text has no kernel '%.60s'", entry);
        goto cleanup;
    }
    const char *body = read_parameters(r, at);
    body = strchr(body, '{');
    if (!body) {
        status = refuse(r, "a kernel without a body", entry);
        goto cleanup;
    }
    status = read_body(r, at + (body - at) + 1);
    if (!status)
        status = join(r);
cleanup:
    free(copy);
    if (r)
        free(r->labels);
    free(r);
    if (status) {
        tz_ptx_destroy(*out);
        *out = NULL;
    }
    return status;
}

void tz_ptx_destroy(tz_ptx *ptx)
{
    if (ptx)
        free(ptx->at);
    free(ptx);
}

int tz_ptx_count(const tz_ptx *ptx)
{
    return ptx->count;
}

int tz_ptx_count_of(const tz_ptx *ptx, tz_luo2011_operation operation)
{
    int count = 0;
    for (int k = 0; k < ptx->count; k++)
        count += ptx->at[k].operation == operation;
    return count;
}

int tz_ptx_blocks(const tz_ptx *ptx)
{
    int count = 0;
    for (int k = 0; k < ptx->count; k++)
        count += ptx->at[k].leads;
    return count;
}
