/* A plugin's use of a text. Macros say which, and what the plugin forgets to define. */
#include <math.h>
#ifndef NO_TEXT
#define TZ_CELL_TEXT TEXT
#endif
#ifndef NO_ID
#define TZ_CELL_ID text
#endif
#ifndef DIMS
#define DIMS 2
#endif
#ifndef NO_DIMS
#define TZ_CELL_DIMS DIMS
#endif
#ifndef RADIUS
#define RADIUS 1
#endif
#define TZ_CELL_RADIUS RADIUS
#ifndef REAL
#define REAL 1
#endif
#define TZ_CELL_REAL REAL
#include <trapeze/rows.h>

const tz_kernels *kernels(void)
{
    return &text_kernels;
}

/* The names that a text must not use are the plugin's own again. */
double root(double x)
{
    const double new = sqrt(fabs(x));
    return exp(new);
}
