/* The rows of the element types: sizes, names and conversions. Called wherever values become
 * elements or the other way round, and by what dispatches on the type of a field. */
#include "stencil/element.h"

#include <string.h>

/* ---- Conversions ----------------------------------------------------------------------------- */

/* To a word: all of its cells have the value. */
#define TO_REAL(c_type, value) ((c_type)(value))
#define TO_INT(c_type, value) ((c_type)(value))
#define TO_BITS(c_type, value) ((value) != 0.0 ? (c_type)-1 : 0)

#define CONVERSIONS(element, type, precision, c_type, ...)                                         \
    static void put_##element(const double *values, double origin, int64_t count, void *elements)  \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            ((c_type *)elements)[i] = TO_##type(c_type, values[i] - origin);                       \
    }                                                                                              \
    static void get_##element(const void *elements, int64_t count, double *values)                 \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            values[i] = (double)((const c_type *)elements)[i];                                     \
    }                                                                                              \
    static bool is_nan_##element(const void *at)                                                   \
    {                                                                                              \
        c_type value;                                                                              \
        memcpy(&value, at, sizeof value);                                                          \
        return value != value;                                                                     \
    }
TZ_ELEMENT_TABLE(CONVERSIONS)

#define STORED_CONVERSIONS(element, stored, name, c_type, array, epsilon, value_of, element_of)    \
    static void put_##element(const double *values, double origin, int64_t count, void *elements)  \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            ((c_type *)elements)[i] = element_of((float)(values[i] - origin));                     \
    }                                                                                              \
    static void get_##element(const void *elements, int64_t count, double *values)                 \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            values[i] = value_of(((const c_type *)elements)[i]);                                   \
    }                                                                                              \
    static bool is_nan_##element(const void *at)                                                   \
    {                                                                                              \
        c_type half;                                                                               \
        memcpy(&half, at, sizeof half);                                                            \
        return value_of(half) != value_of(half);                                                   \
    }
TZ_STORED_TABLE(STORED_CONVERSIONS)

/* ---- Tables ---------------------------------------------------------------------------------- */

#define ROW(element, type, precision, c_type, array, epsilon, fma, member)                         \
    {TZ_ELEMENT_##element,                                                                         \
     TZ_##type,                                                                                    \
     TZ_##precision,                                                                               \
     sizeof(c_type),                                                                               \
     TZ_DTYPE_##array,                                                                             \
     #c_type,                                                                                      \
     epsilon,                                                                                      \
     fma,                                                                                          \
     #member,                                                                                      \
     put_##element,                                                                                \
     get_##element,                                                                                \
     is_nan_##element},
#define STORED_ROW(element, stored, name, c_type, array, epsilon, value_of, element_of)            \
    ROW(element, REAL, SINGLE, c_type, array, epsilon, "", f)
static const tz_element_type rows[TZ_ELEMENTS] = {TZ_ELEMENT_TABLE(ROW)
                                                      TZ_STORED_TABLE(STORED_ROW)};

#define AT(element, type, precision, ...) [TZ_##type][TZ_##precision] = TZ_ELEMENT_##element,
static const unsigned char places[TZ_TYPES][TZ_PRECISIONS] = {TZ_ELEMENT_TABLE(AT)};

const tz_element_type *tz_element_type_of(tz_type type, tz_precision precision)
{
    return &rows[places[type][tz_type_is_real(type) ? precision : 0]];
}

const tz_element_type *tz_element_type_stored(tz_stored as)
{
#define STORED_AT(element, stored, ...) [TZ_STORED_##stored] = TZ_ELEMENT_##element,
    static const unsigned char stored[] = {[TZ_STORED_AS_COMPUTED] = TZ_ELEMENT_F32,
                                           TZ_STORED_TABLE(STORED_AT)};
    return &rows[stored[as]];
}

const char *tz_stored_name(tz_stored as)
{
#define STORED_NAME(element, stored, name, ...) [TZ_STORED_##stored] = (name),
    static const char *const names[] = {TZ_STORED_TABLE(STORED_NAME)};
    return as == TZ_STORED_AS_COMPUTED ? tz_precision_name(rows[TZ_ELEMENT_F32].precision)
                                       : names[as];
}

int tz_stored_find(const char *name)
{
    for (int as = 0; as < TZ_STORED_COUNT; as++)
        if (strcmp(name, tz_stored_name((tz_stored)as)) == 0)
            return as;
    return -1;
}

const tz_element_type *tz_element_type_of_array(tz_dtype dtype)
{
    for (int i = 0; i < TZ_ELEMENTS; i++)
        if (rows[i].dtype == dtype)
            return &rows[i];
    return NULL;
}

#define NAME(type, kind, name, c_type) name,
#define C_NAME(type, kind, name, c_type) "TZ_" #type,
#define KEYWORD(type, kind, name, c_type) #c_type,
#define PRECISION(precision, name, c_type, member) name,
static const char *const names[] = {TZ_TYPE_TABLE(NAME)};
static const char *const c_names[] = {TZ_TYPE_TABLE(C_NAME)};
static const char *const keywords[] = {TZ_TYPE_TABLE(KEYWORD)};
static const char *const precisions[] = {TZ_PRECISION_TABLE(PRECISION)};

const char *tz_type_name(tz_type type)
{
    return names[type];
}

const char *tz_type_c_name(tz_type type)
{
    return c_names[type];
}

const char *tz_type_keyword(tz_type type)
{
    return keywords[type];
}

const char *tz_precision_name(tz_precision precision)
{
    return precisions[precision];
}

int tz_precision_find(const char *name)
{
    for (int p = 0; p < TZ_PRECISIONS; p++)
        if (strcmp(name, precisions[p]) == 0)
            return p;
    return -1;
}

tz_slot tz_slot_of(tz_type type, tz_precision precision, double value)
{
#define SLOT(precision, name, c_type, member)                                                      \
    case TZ_##precision:                                                                           \
        return (tz_slot){.member = (c_type)value};
    if (tz_type_is_real(type))
        switch (precision) {
            TZ_PRECISION_TABLE(SLOT)
        case TZ_PRECISIONS:
            break;
        }
    return (tz_slot){.i = (int64_t)value};
}
