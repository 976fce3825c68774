/* Instructions of PTX by class, and the values of those that compute with integers. */
#include "model/papers/ptx_impl.h"

#include <string.h>

static const struct operation {
    const char *name;
    tz_luo2011_operation operation;
} operations[] = {
    {"add", TZ_LUO2011_ADD},         {"sub", TZ_LUO2011_ADD},        {"addc", TZ_LUO2011_ADD},
    {"subc", TZ_LUO2011_ADD},        {"mul", TZ_LUO2011_MUL},        {"mul24", TZ_LUO2011_MUL},
    {"div", TZ_LUO2011_DIV},         {"rem", TZ_LUO2011_DIV},        {"neg", TZ_LUO2011_NEG},
    {"abs", TZ_LUO2011_NEG},         {"min", TZ_LUO2011_MIN},        {"max", TZ_LUO2011_MIN},
    {"and", TZ_LUO2011_AND},         {"or", TZ_LUO2011_OR},          {"xor", TZ_LUO2011_OR},
    {"not", TZ_LUO2011_NOT},         {"cnot", TZ_LUO2011_NOT},       {"mad", TZ_LUO2011_MAD},
    {"mad24", TZ_LUO2011_MAD},       {"madc", TZ_LUO2011_MAD},       {"fma", TZ_LUO2011_MAD},
    {"setp", TZ_LUO2011_COMPARE},    {"set", TZ_LUO2011_COMPARE},    {"selp", TZ_LUO2011_COMPARE},
    {"slct", TZ_LUO2011_COMPARE},    {"testp", TZ_LUO2011_COMPARE},  {"cvt", TZ_LUO2011_CONVERT},
    {"shl", TZ_LUO2011_SHIFT},       {"shr", TZ_LUO2011_SHIFT},      {"shf", TZ_LUO2011_SHIFT},
    {"lop3", TZ_LUO2011_SHIFT},      {"bfe", TZ_LUO2011_SHIFT},      {"bfi", TZ_LUO2011_SHIFT},
    {"bfind", TZ_LUO2011_SHIFT},     {"brev", TZ_LUO2011_SHIFT},     {"popc", TZ_LUO2011_SHIFT},
    {"clz", TZ_LUO2011_SHIFT},       {"prmt", TZ_LUO2011_SHIFT},     {"bra", TZ_LUO2011_BRANCH},
    {"brx", TZ_LUO2011_BRANCH},      {"call", TZ_LUO2011_BRANCH},    {"ret", TZ_LUO2011_BRANCH},
    {"exit", TZ_LUO2011_BRANCH},     {"trap", TZ_LUO2011_BRANCH},    {"bar", TZ_LUO2011_BARRIER},
    {"barrier", TZ_LUO2011_BARRIER}, {"membar", TZ_LUO2011_BARRIER}, {"fence", TZ_LUO2011_BARRIER},
    {"shfl", TZ_LUO2011_SHARED},     {"vote", TZ_LUO2011_SHARED},    {"match", TZ_LUO2011_SHARED},
    {"sqrt", TZ_LUO2011_SPECIAL},    {"rsqrt", TZ_LUO2011_SPECIAL},  {"rcp", TZ_LUO2011_SPECIAL},
    {"sin", TZ_LUO2011_SPECIAL},     {"cos", TZ_LUO2011_SPECIAL},    {"ex2", TZ_LUO2011_SPECIAL},
    {"lg2", TZ_LUO2011_SPECIAL},     {"tanh", TZ_LUO2011_SPECIAL},   {"tex", TZ_LUO2011_MEMORY},
    {"atom", TZ_LUO2011_MEMORY},     {"red", TZ_LUO2011_MEMORY},
};

static bool is(const tz__ptx_instruction *i, const char *name)
{
    return strcmp(i->name, name) == 0;
}

static bool has(const tz__ptx_instruction *i, const char *option)
{
    const char *at = strstr(i->options, option);
    const char end = at ? at[strlen(option)] : 'x';
    return end == '\0' || end == '.' || end == ':';
}

static bool in_shared(const tz__ptx_instruction *i)
{
    return strstr(i->options, ".shared") != NULL;
}

static void classify_access(tz__ptx_instruction *i)
{
    i->is_load = is(i, "ld") || is(i, "ldu") || is(i, "atom") || is(i, "tex");
    i->is_store = is(i, "st") || is(i, "red");
    if (!i->is_load && !i->is_store)
        return;
    i->is_parameter = has(i, ".param");
    i->is_local = has(i, ".local");
    if (in_shared(i))
        i->operation = TZ_LUO2011_SHARED;
    else if (i->is_parameter || has(i, ".const"))
        i->operation = TZ_LUO2011_MOVE;
    else
        i->operation = TZ_LUO2011_MEMORY;
}

void tz__ptx_classify(tz__ptx_instruction *i)
{
    i->operation = TZ_LUO2011_MOVE; /* mov, cvta and all that is not listed */
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
        if (is(i, operations[k].name))
            i->operation = operations[k].operation;
    classify_access(i);
    i->is_memory = i->operation == TZ_LUO2011_MEMORY;
    i->is_call = is(i, "call");
    i->flow = is(i, "bra")                                     ? TZ__PTX_JUMP
              : is(i, "brx")                                   ? TZ__PTX_TABLE
              : is(i, "ret") || is(i, "exit") || is(i, "trap") ? TZ__PTX_END
                                                               : TZ__PTX_NEXT;
}

double tz__ptx_clocks(const tz__ptx_instruction *i, const tz_luo2011_costs *costs)
{
    return costs->clocks[i->operation][i->is_float][!i->has_constant];
}

/* ---- Values ---------------------------------------------------------------------------------- */

static uint64_t cut(uint64_t value, int bytes)
{
    return bytes >= 8 ? value : value & ((UINT64_C(1) << 8 * bytes) - 1);
}

/* The value as 64 bits: with its sign, or zeros before it. */
static uint64_t widen(uint64_t value, int bytes, bool is_signed)
{
    value = cut(value, bytes);
    if (is_signed && bytes < 8 && value >> (8 * bytes - 1))
        value |= ~UINT64_C(0) << 8 * bytes;
    return value;
}

static bool compare(const tz__ptx_instruction *i, uint64_t a, uint64_t b, uint64_t *out)
{
    const bool less = i->is_signed ? (int64_t)a < (int64_t)b : a < b;
    if (has(i, ".eq"))
        *out = a == b;
    else if (has(i, ".ne"))
        *out = a != b;
    else if (has(i, ".lt") || has(i, ".lo"))
        *out = less;
    else if (has(i, ".ge") || has(i, ".hs"))
        *out = !less;
    else if (has(i, ".le") || has(i, ".ls"))
        *out = less || a == b;
    else if (has(i, ".gt") || has(i, ".hi"))
        *out = !less && a != b;
    else
        return false;
    return !has(i, ".and") && !has(i, ".or") && !has(i, ".xor");
}

static uint64_t shift(const tz__ptx_instruction *i, uint64_t a, uint64_t by)
{
    const bool all = by >= (uint64_t)(8 * i->bytes);
    if (is(i, "shl"))
        return all ? 0 : a << by;
    if (i->is_signed)
        return (uint64_t)((int64_t)a >> (all ? 63 : by));
    return all ? 0 : a >> by;
}

/* Rounds down in the type; false for a divisor of 0 and the one quotient that has no value. */
static bool divide(const tz__ptx_instruction *i, uint64_t a, uint64_t b, uint64_t *out)
{
    if (b == 0 || (i->is_signed && (int64_t)b == -1 && a == (uint64_t)INT64_MIN))
        return false;
    const bool rest = is(i, "rem");
    if (i->is_signed)
        *out = (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
    else
        *out = rest ? a % b : a / b;
    return true;
}

/* The product, of which .hi keeps the upper half. */
static bool multiply(const tz__ptx_instruction *i, uint64_t a, uint64_t b, uint64_t *out)
{
    *out = a * b;
    if (!has(i, ".hi"))
        return true;
    if (i->bytes == 8) {
        const unsigned __int128 wide = i->is_signed
                                           ? (unsigned __int128)((__int128)(int64_t)a * (int64_t)b)
                                           : (unsigned __int128)a * b;
        *out = (uint64_t)(wide >> 64);
    } else {
        *out >>= 8 * i->bytes;
    }
    return true;
}

/* Of one or two sources; false: another instruction. */
static bool arithmetic(const tz__ptx_instruction *i, uint64_t a, uint64_t b, uint64_t *out)
{
    const bool less = i->is_signed ? (int64_t)a < (int64_t)b : a < b;
    if (is(i, "add"))
        *out = a + b;
    else if (is(i, "sub"))
        *out = a - b;
    else if (is(i, "and"))
        *out = a & b;
    else if (is(i, "or"))
        *out = a | b;
    else if (is(i, "xor"))
        *out = a ^ b;
    else if (is(i, "not"))
        *out = i->is_predicate ? !a : ~a;
    else if (is(i, "neg"))
        *out = 0 - a;
    else if (is(i, "abs"))
        *out = (int64_t)a < 0 ? 0 - a : a;
    else if (is(i, "min"))
        *out = less ? a : b;
    else if (is(i, "max"))
        *out = less ? b : a;
    else if (is(i, "shl") || is(i, "shr"))
        *out = shift(i, a, cut(b, 4));
    else
        return false;
    return true;
}

bool tz__ptx_value(const tz__ptx_instruction *i, const uint64_t *sources, uint64_t *out)
{
    uint64_t s[3];
    *out = 0;
    const int bytes = has(i, ".wide") ? 2 * i->bytes : i->bytes;
    bool known;
    if (i->written != 1 || i->count - 1 > 3 || i->count < 2)
        return false;
    for (int k = 0; k < 3; k++)
        s[k] = k < i->count - 1 ? widen(sources[k], i->bytes, i->is_signed) : 0;
    if ((is(i, "mov") || is(i, "cvta")) && i->count == 2) {
        *out = cut(sources[0], i->is_predicate ? 1 : i->bytes);
        return true;
    }
    if (is(i, "cvt")) {
        *out = cut(widen(sources[0], i->from_bytes, i->from_signed), i->bytes);
        return !i->is_float && !i->from_float && !has(i, ".sat");
    }
    if (is(i, "selp")) {
        *out = cut(sources[2] & 1 ? sources[0] : sources[1], i->bytes);
        return true;
    }
    if (i->is_float)
        return false;
    if (is(i, "setp"))
        return compare(i, s[0], s[1], out);
    if (is(i, "mul")) {
        known = multiply(i, s[0], s[1], out);
    } else if (is(i, "mad")) {
        known = multiply(i, s[0], s[1], out);
        *out += widen(sources[2], bytes, i->is_signed);
    } else if (is(i, "div") || is(i, "rem")) {
        known = divide(i, s[0], s[1], out);
    } else {
        known = i->count <= 3 && arithmetic(i, s[0], s[1], out);
    }
    *out = cut(*out, bytes) & (i->is_predicate ? 1 : ~UINT64_C(0));
    return known && !has(i, ".sat") && !has(i, ".cc");
}
