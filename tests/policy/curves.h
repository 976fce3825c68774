/* Made-up times of an iteration by height, in seconds. The best height is known. */
#ifndef TZ_TEST_POLICY_CURVES_H
#define TZ_TEST_POLICY_CURVES_H

/* Memory costs a / h, redundant updates b * h: the best height is sqrt(a / b). */
static double convex(int h, double a, double b)
{
    return 1e-3 * (1 + a / h + b * h);
}
static double best_at_8(int h)
{
    return convex(h, 6.4, 0.1);
}
static double best_at_4(int h)
{
    return convex(h, 3.2, 0.2);
}
static double best_at_2(int h)
{
    return convex(h, 2, 0.5);
}
static double best_at_1(int h)
{
    return convex(h, 0, 0.15);
}
static double best_at_24(int h)
{
    return convex(h, 14.4, 0.025);
}
static double flat(int h)
{
    return 1e-3;
}
static double plateau(int h)
{
    return h < 6 ? convex(h, 4, 0) : convex(6, 4, 0);
}
/* Registers run out above 8: twice as slow. */
static double cliff_at_8(int h)
{
    return h <= 8 ? convex(h, 6.4, 0) : 2 * convex(8, 6.4, 0);
}

typedef struct curve {
    const char *name;
    double (*time)(int);
} curve;
static const curve curves[] = {{"best at 1", best_at_1},   {"best at 2", best_at_2},
                               {"best at 4", best_at_4},   {"best at 8", best_at_8},
                               {"best at 24", best_at_24}, {"flat", flat},
                               {"plateau", plateau},       {"cliff", cliff_at_8}};
enum { CURVES = sizeof curves / sizeof *curves };

#endif
