/* trapeze/rows_names.h: functions that a cell update cannot call. Included by <trapeze/rows.h>
 * before the text, and by GPU backends. No include guard.
 *
 * Functions of the mathematical library have other bits on a GPU than on a CPU. TZ__SAY(), which
 * the includer defines, makes its argument an error of the compiler; its value is an int. */
#ifndef TZ__NO_CALL
#define TZ__NO_CALL(name, instead)                                                                 \
    TZ__SAY(name() is a library function, so use instead(), which has the same bits on CPU and GPU)
#define TZ__NO_FUNCTION(name) TZ__SAY(name() is a library function, which a cell update cannot call)
#endif
#undef exp
#define exp(...) TZ__NO_CALL(exp, TZ_EXP)
#undef expf
#define expf(...) TZ__NO_CALL(expf, TZ_EXP)
#undef exp2
#define exp2(...) TZ__NO_CALL(exp2, TZ_EXP)
#undef exp2f
#define exp2f(...) TZ__NO_CALL(exp2f, TZ_EXP)
#undef expm1
#define expm1(...) TZ__NO_CALL(expm1, TZ_EXP)
#undef expm1f
#define expm1f(...) TZ__NO_CALL(expm1f, TZ_EXP)
#undef log
#define log(...) TZ__NO_CALL(log, TZ_LOG)
#undef logf
#define logf(...) TZ__NO_CALL(logf, TZ_LOG)
#undef log2
#define log2(...) TZ__NO_CALL(log2, TZ_LOG)
#undef log2f
#define log2f(...) TZ__NO_CALL(log2f, TZ_LOG)
#undef log10
#define log10(...) TZ__NO_CALL(log10, TZ_LOG)
#undef log10f
#define log10f(...) TZ__NO_CALL(log10f, TZ_LOG)
#undef log1p
#define log1p(...) TZ__NO_CALL(log1p, TZ_LOG)
#undef log1pf
#define log1pf(...) TZ__NO_CALL(log1pf, TZ_LOG)
#undef pow
#define pow(...) TZ__NO_CALL(pow, TZ_POW)
#undef powf
#define powf(...) TZ__NO_CALL(powf, TZ_POW)
#undef cbrt
#define cbrt(...) TZ__NO_CALL(cbrt, TZ_POW)
#undef cbrtf
#define cbrtf(...) TZ__NO_CALL(cbrtf, TZ_POW)
#undef sqrt
#define sqrt(...) TZ__NO_CALL(sqrt, TZ_SQRT)
#undef sqrtf
#define sqrtf(...) TZ__NO_CALL(sqrtf, TZ_SQRT)
#undef hypot
#define hypot(...) TZ__NO_CALL(hypot, TZ_SQRT)
#undef hypotf
#define hypotf(...) TZ__NO_CALL(hypotf, TZ_SQRT)
#undef sin
#define sin(...) TZ__NO_CALL(sin, TZ_SIN)
#undef sinf
#define sinf(...) TZ__NO_CALL(sinf, TZ_SIN)
#undef cos
#define cos(...) TZ__NO_CALL(cos, TZ_COS)
#undef cosf
#define cosf(...) TZ__NO_CALL(cosf, TZ_COS)
#undef tanh
#define tanh(...) TZ__NO_CALL(tanh, TZ_TANH)
#undef tanhf
#define tanhf(...) TZ__NO_CALL(tanhf, TZ_TANH)
#undef fabs
#define fabs(...) TZ__NO_CALL(fabs, TZ_ABS)
#undef fabsf
#define fabsf(...) TZ__NO_CALL(fabsf, TZ_ABS)
#undef abs
#define abs(...) TZ__NO_CALL(abs, TZ_ABS)
#undef labs
#define labs(...) TZ__NO_CALL(labs, TZ_ABS)
#undef fmin
#define fmin(...) TZ__NO_CALL(fmin, TZ_MIN)
#undef fminf
#define fminf(...) TZ__NO_CALL(fminf, TZ_MIN)
#undef min
#define min(...) TZ__NO_CALL(min, TZ_MIN)
#undef fmax
#define fmax(...) TZ__NO_CALL(fmax, TZ_MAX)
#undef fmaxf
#define fmaxf(...) TZ__NO_CALL(fmaxf, TZ_MAX)
#undef max
#define max(...) TZ__NO_CALL(max, TZ_MAX)
#undef fma
#define fma(...) TZ__NO_CALL(fma, TZ_FMA)
#undef fmaf
#define fmaf(...) TZ__NO_CALL(fmaf, TZ_FMA)
#undef tan
#define tan(...) TZ__NO_CALL(tan, TZ_TAN)
#undef tanf
#define tanf(...) TZ__NO_CALL(tanf, TZ_TAN)
#undef asin
#define asin(...) TZ__NO_CALL(asin, TZ_ASIN)
#undef asinf
#define asinf(...) TZ__NO_CALL(asinf, TZ_ASIN)
#undef acos
#define acos(...) TZ__NO_CALL(acos, TZ_ACOS)
#undef acosf
#define acosf(...) TZ__NO_CALL(acosf, TZ_ACOS)
#undef atan
#define atan(...) TZ__NO_CALL(atan, TZ_ATAN)
#undef atanf
#define atanf(...) TZ__NO_CALL(atanf, TZ_ATAN)
#undef atan2
#define atan2(...) TZ__NO_CALL(atan2, TZ_ATAN2)
#undef atan2f
#define atan2f(...) TZ__NO_CALL(atan2f, TZ_ATAN2)
#undef sinh
#define sinh(...) TZ__NO_CALL(sinh, TZ_SINH)
#undef sinhf
#define sinhf(...) TZ__NO_CALL(sinhf, TZ_SINH)
#undef cosh
#define cosh(...) TZ__NO_CALL(cosh, TZ_COSH)
#undef coshf
#define coshf(...) TZ__NO_CALL(coshf, TZ_COSH)
#undef erf
#define erf(...) TZ__NO_CALL(erf, TZ_ERF)
#undef erff
#define erff(...) TZ__NO_CALL(erff, TZ_ERF)
#undef floor
#define floor(...) TZ__NO_CALL(floor, TZ_FLOOR)
#undef floorf
#define floorf(...) TZ__NO_CALL(floorf, TZ_FLOOR)
#undef ceil
#define ceil(...) TZ__NO_CALL(ceil, TZ_CEIL)
#undef ceilf
#define ceilf(...) TZ__NO_CALL(ceilf, TZ_CEIL)
#undef round
#define round(...) TZ__NO_CALL(round, TZ_ROUND)
#undef roundf
#define roundf(...) TZ__NO_CALL(roundf, TZ_ROUND)
#undef trunc
#define trunc(...) TZ__NO_FUNCTION(trunc)
#undef truncf
#define truncf(...) TZ__NO_FUNCTION(truncf)
#undef rint
#define rint(...) TZ__NO_FUNCTION(rint)
#undef rintf
#define rintf(...) TZ__NO_FUNCTION(rintf)
#undef fmod
#define fmod(...) TZ__NO_FUNCTION(fmod)
#undef fmodf
#define fmodf(...) TZ__NO_FUNCTION(fmodf)
