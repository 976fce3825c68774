/* trapeze/rows_keywords.h: words of C++ that C does not have. A cell update cannot use them as
 * names: compilers of GPUs read it as C++. Included only by <trapeze/rows.h>, which undoes it and
 * <trapeze/rows_names.h> by TZ__NAMES(TZ__NAME_POP). No include guard. */
#ifndef TZ__NAMES
/* clang-format off */
#define TZ__NAMES(F)                                                                               \
    F("exp") F("expf") F("exp2") F("exp2f") F("expm1") F("expm1f") F("log") F("logf") F("log2")    \
    F("log2f") F("log10") F("log10f") F("log1p") F("log1pf") F("pow") F("powf") F("cbrt")          \
    F("cbrtf") F("sqrt") F("sqrtf") F("hypot") F("hypotf") F("sin") F("sinf") F("cos") F("cosf")   \
    F("tanh") F("tanhf") F("fabs") F("fabsf") F("abs") F("labs") F("fmin") F("fminf") F("min")     \
    F("fmax") F("fmaxf") F("max") F("fma") F("fmaf") F("tan") F("tanf") F("asin") F("asinf")       \
    F("acos") F("acosf") F("atan") F("atanf") F("atan2") F("atan2f") F("sinh") F("sinhf")          \
    F("cosh") F("coshf") F("erf") F("erff") F("floor") F("floorf") F("ceil") F("ceilf")            \
    F("round") F("roundf") F("trunc") F("truncf") F("rint") F("rintf") F("fmod") F("fmodf")        \
    F("class") F("delete") F("friend") F("mutable") F("namespace") F("new") F("operator")          \
    F("private") F("protected") F("public") F("template") F("this") F("throw") F("try")            \
    F("typename") F("using") F("virtual")
/* clang-format on */
#endif
TZ__NAMES(TZ__NAME_PUSH)

#undef class
#define class TZ__NO_KEYWORD(class) class
#undef delete
#define delete TZ__NO_KEYWORD(delete) delete
#undef friend
#define friend TZ__NO_KEYWORD(friend) friend
#undef mutable
#define mutable TZ__NO_KEYWORD(mutable) mutable
#undef namespace
#define namespace TZ__NO_KEYWORD(namespace) namespace
#undef new
#define new TZ__NO_KEYWORD(new) new
#undef operator
#define operator TZ__NO_KEYWORD(operator) operator
#undef private
#define private TZ__NO_KEYWORD(private) private
#undef protected
#define protected TZ__NO_KEYWORD(protected) protected
#undef public
#define public TZ__NO_KEYWORD(public) public
#undef template
#define template TZ__NO_KEYWORD(template) template
#undef this
#define this TZ__NO_KEYWORD(this) this
#undef throw
#define throw TZ__NO_KEYWORD(throw) throw
#undef try
#define try                                                                                        \
    TZ__NO_KEYWORD(try)                                                                            \
    try
#undef typename
#define typename TZ__NO_KEYWORD(typename) typename
#undef using
#define using TZ__NO_KEYWORD(using) using
#undef virtual
#define virtual TZ__NO_KEYWORD(virtual) virtual
