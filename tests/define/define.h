/* Short ways to write definitions in tests. */
#ifndef TZ_TEST_DEFINE_H
#define TZ_TEST_DEFINE_H

#include "define/source.h"
#include <math.h>
#include <string.h>

#define TEXT(formula)                                                                              \
    {                                                                                              \
        formula, sizeof formula - 1                                                                \
    }
#define REAL_STATE(id)                                                                             \
    {                                                                                              \
        .name = id, .role = TZ_STATE, .type = TZ_REAL                                              \
    }
#define REAL_STATIC(id)                                                                            \
    {                                                                                              \
        .name = id, .role = TZ_STATIC, .type = TZ_REAL                                             \
    }
#define REAL_DERIVED(id)                                                                           \
    {                                                                                              \
        .name = id, .role = TZ_DERIVED, .type = TZ_REAL                                            \
    }
#define INT_STATE(id)                                                                              \
    {                                                                                              \
        .name = id, .role = TZ_STATE, .type = TZ_INT                                               \
    }
#define BITS_STATE(id)                                                                             \
    {                                                                                              \
        .name = id, .role = TZ_STATE, .type = TZ_BITS                                              \
    }
#define PARAM(id, number)                                                                          \
    {                                                                                              \
        .name = id, .value = number, .min = -INFINITY, .max = INFINITY                             \
    }
#define INT_PARAM(id, number)                                                                      \
    {                                                                                              \
        .name = id, .integer = true, .value = number, .min = -INFINITY, .max = INFINITY            \
    }
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
#define FIELDS(array) .fields_count = COUNT_OF(array), .fields = array
#define PARAMS(array) .params_count = COUNT_OF(array), .params = array
#define SCALARS(array) .scalars_count = COUNT_OF(array), .scalars = array
#define PASSES(array) .passes_count = COUNT_OF(array), .passes = array
#define OUTPUTS(array) .outputs_count = COUNT_OF(array), .outputs = array
#define UPDATES(array) .updates_count = COUNT_OF(array), .updates = array

#endif
