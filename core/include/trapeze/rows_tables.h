/* Included only by trapeze/rows.h: the tables of a cell update that TZ_PASS() refers to. No include
 * guard. */
struct TZ__CAT(TZ_CELL_ID, _constant_index) {
    TZ_CONSTANTS(TZ__INDEX_MEMBER)
};

enum {
    TZ__CAT(TZ_CELL_ID, _dims) = TZ_CELL_DIMS,
    TZ__CAT(TZ_CELL_ID, _radius) = TZ_CELL_RADIUS,
    TZ__CAT(TZ_CELL_ID, _slabs) = TZ__SLABS == 1 ? 0 : TZ__SLABS,
};
TZ__EMBED(TZ__CAT(TZ_CELL_ID, _text), TZ_CELL_TEXT)
static const char TZ__CAT(TZ_CELL_ID, _text_file)[] __attribute__((unused)) = TZ_CELL_TEXT;
static const char TZ__CAT(TZ_CELL_ID, _text_cell)[]
    __attribute__((unused)) = TZ__STRING(TZ_CELL_NAME);
static const tz_constant TZ__CAT(TZ_CELL_ID, _constants)[]
    __attribute__((unused)) = {TZ_CONSTANTS(TZ__CONSTANT_ROW){0, TZ_REAL, 0}};

static const tz_entry TZ__CAT(TZ_CELL_ID, _text_fields)[]
    __attribute__((unused)) = {TZ_FIELDS(TZ__FIELD_ENTRY)};
static const tz_entry TZ__CAT(TZ_CELL_ID, _text_constants)[]
    __attribute__((unused)) = {TZ_CONSTANTS(TZ__CONSTANT_ENTRY){0, TZ_REAL}};
#ifdef TZ_READS
#if TZ_CELL_DIMS == 1
#define TZ__READS_ROW(cell, name, xl, xh) {#cell, TZ__READS_FIELD(name), {xl, 0, 0}, {xh, 0, 0}},
#elif TZ_CELL_DIMS == 2
#define TZ__READS_ROW(cell, name, xl, xh, yl, yh)                                                  \
    {#cell, TZ__READS_FIELD(name), {xl, yl, 0}, {xh, yh, 0}},
#else
#define TZ__READS_ROW(cell, name, xl, xh, yl, yh, zl, zh)                                          \
    {#cell, TZ__READS_FIELD(name), {xl, yl, zl}, {xh, yh, zh}},
#endif
#define TZ__READS_FIELD(name) (int)offsetof(struct TZ__CAT(TZ_CELL_ID, _field_index), name)
static const tz_reads TZ__CAT(TZ_CELL_ID, _text_reads)[]
    __attribute__((unused)) = {TZ_READS(TZ__READS_ROW)};
enum {
    TZ__CAT(TZ_CELL_ID, _reads_count) = sizeof TZ__CAT(TZ_CELL_ID, _text_reads) / sizeof(tz_reads)
};
#undef TZ__READS_ROW
#undef TZ__READS_FIELD
#else
static const tz_reads TZ__CAT(TZ_CELL_ID, _text_reads)[1] __attribute__((unused));
enum { TZ__CAT(TZ_CELL_ID, _reads_count) = 0 };
#endif

/* A form: the name of an instruction set, and the functions of both precisions. */
#if TZ_CELL_REAL
#define TZ__FORM(name, single, double)                                                             \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            single, double                                                                         \
        }                                                                                          \
    }
#else
#define TZ__FORM(name, single, double)                                                             \
    {                                                                                              \
        name,                                                                                      \
        {                                                                                          \
            single, 0                                                                              \
        }                                                                                          \
    }
#endif
#if defined(__x86_64__) && !defined(TZ_ROWS_ONLY)
#define TZ__FORMS(FORM) FORM("base", base), FORM("x86-64-v3", v3), FORM("x86-64-v4", v4)
#elif defined(__x86_64__) && TZ_ROWS_ONLY == 3
#define TZ__FORMS(FORM) FORM("base", v3), FORM("x86-64-v3", v3)
#elif defined(__x86_64__) && TZ_ROWS_ONLY == 4
#define TZ__FORMS(FORM) FORM("base", v4), FORM("x86-64-v4", v4)
#else
#define TZ__FORMS(FORM) FORM("base", base)
#endif
#define TZ__ROWS_FORM(name, isa)                                                                   \
    TZ__FORM(name, TZ__JOIN(TZ_CELL_ID, rows, isa, single), TZ__JOIN(TZ_CELL_ID, rows, isa, double))
static const tz_row_form TZ__CAT(TZ_CELL_ID, _forms)[] = {TZ__FORMS(TZ__ROWS_FORM)};
static const tz_kernels TZ__CAT(TZ_CELL_ID, _kernels) = {
    .forms_count = sizeof TZ__CAT(TZ_CELL_ID, _forms) / sizeof(tz_row_form),
    .forms = TZ__CAT(TZ_CELL_ID, _forms),
    .cell = {TZ__JOIN(TZ_CELL_ID, cell, any, single),
#if TZ_CELL_REAL
             TZ__JOIN(TZ_CELL_ID, cell, any, double)
#endif
    },
};
#ifdef TZ__SEVERAL
/* A compiler leaves out functions that are not used. */
#define TZ__SHIFTED_base base
#define TZ__SHIFTED_v3 v3
#ifdef TZ__SHIFTED
#define TZ__SHIFTED_v4 v4_shifted
#else
#define TZ__SHIFTED_v4 v4
#endif
#define TZ__IN_PLACE(isa, precision)                                                               \
    __builtin_choose_expr(TZ__FIELDS_COUNT <= 4,                                                   \
                          TZ__JOIN(TZ_CELL_ID, in_place, TZ__SHIFTED_##isa, precision),            \
                          TZ__JOIN(TZ_CELL_ID, in_place, isa, precision))
#define TZ__IN_PLACE_FORM(name, isa)                                                               \
    TZ__FORM(name, TZ__IN_PLACE(isa, single), TZ__IN_PLACE(isa, double))
static const tz_row_form TZ__CAT(TZ_CELL_ID, _in_place_forms)[]
    __attribute__((unused)) = {TZ__FORMS(TZ__IN_PLACE_FORM)};
static const tz_kernels TZ__CAT(TZ_CELL_ID, _in_place)[] __attribute__((unused)) = {
    {.forms_count = sizeof TZ__CAT(TZ_CELL_ID, _in_place_forms) / sizeof(tz_row_form),
     .forms = TZ__CAT(TZ_CELL_ID, _in_place_forms)}};
#undef TZ__SHIFTED_base
#undef TZ__SHIFTED_v3
#undef TZ__SHIFTED_v4
#undef TZ__IN_PLACE
#undef TZ__IN_PLACE_FORM
#else
enum { TZ__CAT(TZ_CELL_ID, _in_place) = 0 }; /* a null pointer */
#endif

#undef TZ__FORM
#undef TZ__FORMS
#undef TZ__ROWS_FORM
