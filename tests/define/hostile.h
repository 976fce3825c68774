/* Stencils whose fields, parameters and passes have names that mean something in C, C++, CUDA or
 * our own headers: keywords, macros, library functions, and what texts call their own things. */
#ifndef TZ_TEST_HOSTILE_H
#define TZ_TEST_HOSTILE_H

#include "tests/define/define.h"
#include <stdio.h>

/* clang-format off */
static const char *const hostile_names[] = {
"auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double",
"else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long",
"register", "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch",
"true", "typedef", "union", "unsigned", "void", "volatile", "while", "alignas", "alignof",
"asm", "atomic_int", "catch", "char8_t", "char16_t", "char32_t", "class", "co_await",
"co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr",
"constinit", "decltype", "delete", "dynamic_cast", "explicit", "export", "final", "friend",
"import", "module", "mutable", "namespace", "new", "noexcept", "nullptr", "operator",
"override", "private", "protected", "public", "reinterpret_cast", "requires",
"static_assert", "static_cast", "template", "this", "thread_local", "throw", "try",
"typeid", "typename", "typeof", "using", "virtual", "wchar_t", "xor", "and_eq", "or_eq",
"not_eq", "xor_eq", "bitand", "bitor", "linux", "unix", "i386", "main", "errno", "NULL",
"nan", "I", "complex", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3",
"uint3", "int4", "float4", "double2", "half", "clock", "clock64", "printf", "assert",
"malloc", "free", "memcpy", "atomicAdd", "atomicCAS", "syncthreads", "rsqrt", "rsqrtf",
"fdividef", "saturate", "shared", "global", "device", "host", "constant", "managed",
"launch_bounds", "forceinline", "CUDART_VERSION", "CUDA_ARCH", "cudaStream_t",
"cooperative_groups", "std", "nvcuda", "surf2Dread", "tex2D", "exp", "log", "pow", "sin",
"cos", "tan", "sqrt", "min", "max", "abs", "fabs", "fma", "floor", "ceil", "round", "trunc",
"fmod", "select", "sum", "dx", "dy", "dz", "lap", "div", "gamma", "y0", "y1", "yn", "j0",
"j1", "jn", "index", "signgam", "real", "word", "tz", "tz_word", "tz_c", "tz_t", "tz_i",
"tz_s", "tz_p", "tz_o", "tz_a", "tz_u", "tz_u_", "tz_put", "tz_all", "tz_sum", "tz_slot",
"tz_field", "tz_near", "tz_map", "k1", "k2", "t1", "t2", "n1_0", "p", "a", "b", "c", "i",
"k", "d", "f", "s", "u", "u_", "u_at", "u_out", "u__out", "u_new", "u_edge", "u_stride",
"k_u", "F", "K", "R", "D", "S", "E", "N", "access", "arguments", "context", "nothing",
"once", "planes", "put", "field_index", "constant_index", "name", "type", "role", "value",
"step_", "derive", "at_step", "setup", "constants", "params", "fields", "passes", "outputs",
"stencil", "power", "modulo", "floor_over", "whole", "least", "greatest", "framed",
"side_at", "PARAMS", "PARAM_u", "CELL_ROWS", "CELL_SUM1", "CELL_PLANES",
"TRAPEZE_DESCRIBE_H", "TZ_CALL", "TZ_CELL_TEXT", "TZ_HELPER", "TZ_POW", "TZ_STATIC_FIELD",
"TZ__CAT_", "TZ__CONTEXT_TYPE", "TZ__FIELD_TYPE_real", "TZ__IS_REAL_float",
"TZ__MAGIC_SINGLE", "TZ__NO_WORD", "TZ__PICK", "TZ__SELECT__", "TZ__TABLE_tz_word",
"TZ_COPIES", "TZ_HALO_LOADS", "TZ_PACKETS", "TZ_ROLL", "TZ_SURPLUS_X", "TZ_X", "TZ__BLANK",
"TZ__CONTEXT_WHOLE_VALUES", "BUFSIZ", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "DBL_DECIMAL_DIG",
"DBL_DIG", "DBL_EPSILON", "DBL_HAS_SUBNORM", "DBL_MANT_DIG", "DBL_MAX", "DBL_MAX_10_EXP",
"DBL_MAX_EXP", "DBL_MIN", "DBL_MIN_10_EXP", "DBL_MIN_EXP", "DBL_TRUE_MIN", "DECIMAL_DIG",
"EDOM", "EILSEQ", "EOF", "ERANGE", "FILENAME_MAX", "FLT_DECIMAL_DIG", "FLT_DIG",
"FLT_EPSILON", "FLT_EVAL_METHOD", "FLT_HAS_SUBNORM", "FLT_MANT_DIG", "FLT_MAX",
"FLT_MAX_10_EXP", "FLT_MAX_EXP", "FLT_MIN", "FLT_MIN_10_EXP", "FLT_MIN_EXP", "FLT_RADIX",
"FLT_ROUNDS", "FLT_TRUE_MIN", "FOPEN_MAX", "FP_ILOGB0", "FP_ILOGBNAN", "FP_INFINITE",
"FP_INT_DOWNWARD", "FP_INT_TONEAREST", "FP_INT_TONEARESTFROMZERO", "FP_INT_TOWARDZERO",
"FP_INT_UPWARD", "FP_LLOGB0", "FP_LLOGBNAN", "FP_NAN", "FP_NORMAL", "FP_SUBNORMAL",
"FP_ZERO", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "INFINITY", "INTMAX_C", "INTMAX_MAX",
"INTMAX_MIN", "INTPTR_MAX", "INTPTR_MIN", "INT_MAX", "INT_MIN", "LLONG_MAX", "LLONG_MIN",
"LONG_BIT", "LONG_LONG_MAX", "LONG_LONG_MIN", "LONG_MAX", "LONG_MIN", "L_ctermid",
"L_cuserid", "L_tmpnam", "MATH_ERREXCEPT", "MATH_ERRNO", "MAXFLOAT", "MB_LEN_MAX", "M_1_PI",
"M_2_PI", "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2", "M_LOG10E", "M_LOG2E", "M_PI", "M_PI_2",
"M_PI_4", "M_SQRT1_2", "M_SQRT2", "NAME_MAX", "NAN", "NZERO", "PTRDIFF_MAX", "PTRDIFF_MIN",
"P_tmpdir", "SCHAR_MAX", "SCHAR_MIN", "SEEK_CUR", "SEEK_DATA", "SEEK_END", "SEEK_HOLE",
"SEEK_SET", "SHRT_MAX", "SHRT_MIN", "SIZE_MAX", "SNAN", "SNANF", "SNANL", "SSIZE_MAX",
"TMP_MAX", "UCHAR_MAX", "UINTMAX_C", "UINTMAX_MAX", "UINTPTR_MAX", "UINT_MAX", "ULLONG_MAX",
"ULONG_LONG_MAX", "ULONG_MAX", "USHRT_MAX", "WCHAR_MAX", "WCHAR_MIN", "WORD_BIT",
"fpclassify", "iscanonical", "iseqsig", "isfinite", "isgreater", "isgreaterequal", "isinf",
"isless", "islessequal", "islessgreater", "isnan", "isnormal", "issignaling", "issubnormal",
"isunordered", "iszero", "math_errhandling", "offsetof", "signbit", "stderr", "stdin",
"stdout", "TRAPEZE_MATH_POWER_H", "TRAPEZE_MATH_SINGLE_H", "TRAPEZE_PARAMS_H", "TZ_CELL",
"TZ_CELL_ROWS", "TZ_CELL_ROWS_OF", "TZ_CONSTANTS_COUNT", "TZ_COS", "TZ_DERIVED_FIELD",
"TZ_INTEGER_PARAM", "TZ_MAJ3", "TZ_PLUGIN_DEFINE", "TZ_REAL_PARAM", "TZ_SIN",
"TZ_SLABS_IN_PLACE", "TZ_STENCIL_HEADER", "TZ_TANH", "TZ_TEXT_PARAM", "TZ__CHECK_LIST",
"TZ__CONSTANT_AT", "TZ__CONTEXT_CONSTANT", "TZ__EMBED", "TZ__FIELD", "TZ__FIELD_TYPE_int",
"TZ__FUNCTION", "TZ__INFINITY_SINGLE", "TZ__IS_LIST_", "TZ__IS_REAL_real", "TZ__JOIN",
"TZ__KEEP_LOOP", "TZ__NAME_POP", "TZ__NAN_DOUBLE", "TZ__NO_TYPE", "TZ__OF_PRECISION__",
"TZ__ONCE_NOTHING", "TZ__OR_REAL", "TZ__PUT_VALUE", "TZ__ROWS_ADD", "TZ__SELECT_",
"TZ__SLOT_int", "TZ__STRING", "TZ__TABLE_real", "TZ__VARIES_", "TZ__VARIES_varies",
"TZ_CELL_ONCE", "TZ_DEVICE", "TZ_DEVICE_CUH"};
/* clang-format on */
enum {
    HOSTILE_STATES = 28,
    HOSTILE_FIELDS = TZ_FIELDS_MAX,
    HOSTILE_OF_ONE = HOSTILE_FIELDS + TZ_PARAMS_MAX, /* names of a stencil */
    /* stencils of words of C++ and CUDA, and our own; then macros of libraries */
    HOSTILE_ON_GPUS = 3,
    HOSTILE_STENCILS = COUNT_OF(hostile_names) / HOSTILE_OF_ONE
};

typedef struct hostile {
    tz_definition d;
    tz_defined_field fields[HOSTILE_FIELDS];
    tz_defined_param params[TZ_PARAMS_MAX];
    tz_defined_formula updates[HOSTILE_STATES], outputs[HOSTILE_FIELDS];
    tz_defined_pass passes[2];
    char texts[HOSTILE_FIELDS][300];
} hostile;

/* Stencil number `which`, one-dimensional, of the next HOSTILE_OF_ONE names: all of them are in its
 * formulas. */
static inline const tz_definition *hostile_make(hostile *h, int which)
{
    const char *const *field = hostile_names + which * HOSTILE_OF_ONE, *const *param =
                                                                           field + HOSTILE_FIELDS;
    memset(h, 0, sizeof *h);
    for (int p = 0; p < TZ_PARAMS_MAX; p++)
        h->params[p] = (tz_defined_param){.name = param[p],
                                          .integer = p % 8 == 7,
                                          .value = p % 8 == 7 ? 3 : 0.5 + p / 100.0,
                                          .min = -10,
                                          .max = 10};
    for (int f = 0; f < HOSTILE_FIELDS; f++) {
        char *text = h->texts[f];
        const bool derived = f >= HOSTILE_FIELDS - 2, state = f < HOSTILE_STATES;
        h->fields[f] = (tz_defined_field){.name = field[f],
                                          .role = derived ? TZ_DERIVED
                                                  : state ? TZ_STATE
                                                          : TZ_STATIC,
                                          .type = TZ_REAL};
        snprintf(text, sizeof h->texts[f], "%s*%s + %s*%s[1] + %s*%s*%s", param[2 * f],
                 derived ? field[0] : field[f], param[2 * f + 1], field[(f + 1) % HOSTILE_STATES],
                 param[f], param[f + 1], field[HOSTILE_STATES + f % 2]);
        const tz_defined_formula update = {field[f], {text, strlen(text)}};
        if (state)
            h->updates[f] = update;
        else if (derived)
            h->outputs[f - (HOSTILE_FIELDS - 2)] = update;
    }
    const int passes = 1 + which % 2;
    for (int p = 0; p < passes; p++)
        h->passes[p] = (tz_defined_pass){.name = param[p],
                                         .updates_count = HOSTILE_STATES / passes,
                                         .updates = h->updates + p * HOSTILE_STATES / passes};
    h->d = (tz_definition){.id = field[1],
                           .dims = 1,
                           FIELDS(h->fields),
                           PARAMS(h->params),
                           .passes_count = passes,
                           .passes = h->passes,
                           .outputs_count = 2,
                           .outputs = h->outputs};
    return &h->d;
}

#endif
