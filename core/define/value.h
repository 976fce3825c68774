/* Arithmetic in double, as in the C text that is made for derive(). */
#ifndef TZ_CORE_DEFINE_VALUE_H
#define TZ_CORE_DEFINE_VALUE_H

#include "define/expr.h"

/* floor(a / b), and 0 for b = 0; a - b*floor(a / b), and a for b = 0. */
double tz_value_floor_over(double a, double b);
double tz_value_modulo(double a, double b);
/* x*x*...*x from the left; n >= 1. */
double tz_value_power(double x, int n);

#endif
