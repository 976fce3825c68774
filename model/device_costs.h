/* Device records: what instructions of PTX cost a warp, and the constants of the parallel degree of
 * computation. Records have these keys whether or not this program has a model that reads them. */
#ifndef TZ_MODEL_DEVICE_COSTS_H
#define TZ_MODEL_DEVICE_COSTS_H

/* X(member, key, quantity, min, max, doc). Costs are clocks of an instruction by what it reads
 * besides registers: "constant" with a number in the instruction, "register" without. */
#define TZ_MODEL_DEVICE_COST_TABLE(X)                                                              \
    TZ_MODEL_DEVICE_COST_NEEDED_TABLE(X)                                                           \
    X(load_near_clocks, "clocks_load", RATIO, 0, 1e6, "ld of global memory: in the first level")   \
    X(load_l2_clocks, "clocks_load_l2", RATIO, 0, 1e6, "the same, in the second level")
/* Without those of loads: these cost memory_latency then. */
#define TZ_MODEL_DEVICE_COST_NEEDED_TABLE(X)                                                       \
    X(add_int_constant, "clocks_add_int_constant", RATIO, 0, 1e6, "add, sub: integer, constant")   \
    X(add_int_register, "clocks_add_int_register", RATIO, 0, 1e6, "the same, registers")           \
    X(add_float_constant, "clocks_add_float_constant", RATIO, 0, 1e6, "add, sub: float, constant") \
    X(add_float_register, "clocks_add_float_register", RATIO, 0, 1e6, "the same, registers")       \
    X(mul_int_constant, "clocks_mul_int_constant", RATIO, 0, 1e6, "mul: integer, constant")        \
    X(mul_int_register, "clocks_mul_int_register", RATIO, 0, 1e6, "the same, registers")           \
    X(mul_float_constant, "clocks_mul_float_constant", RATIO, 0, 1e6, "mul: float, constant")      \
    X(mul_float_register, "clocks_mul_float_register", RATIO, 0, 1e6, "the same, registers")       \
    X(div_int_constant, "clocks_div_int_constant", RATIO, 0, 1e6, "div: integer, constant")        \
    X(div_int_register, "clocks_div_int_register", RATIO, 0, 1e6, "the same, registers")           \
    X(div_float_constant, "clocks_div_float_constant", RATIO, 0, 1e6, "div: float, constant")      \
    X(div_float_register, "clocks_div_float_register", RATIO, 0, 1e6, "the same, registers")       \
    X(neg_int, "clocks_neg_int", RATIO, 0, 1e6, "neg, abs: integer")                               \
    X(neg_float, "clocks_neg_float", RATIO, 0, 1e6, "the same, float")                             \
    X(min_int, "clocks_min_int", RATIO, 0, 1e6, "min, max: integer")                               \
    X(min_float, "clocks_min_float", RATIO, 0, 1e6, "the same, float")                             \
    X(and_bits, "clocks_and", RATIO, 0, 1e6, "and")                                                \
    X(or_bits, "clocks_or", RATIO, 0, 1e6, "or, xor")                                              \
    X(not_bits, "clocks_not", RATIO, 0, 1e6, "not")                                                \
    X(cpd_a, "cpd_a", RATIO, -1e6, 1e6, "a: parallel degree of computation, eq. 3 and 4")          \
    X(cpd_b, "cpd_b", RATIO, -1e6, 1e6, "b: warps at which the degree is a, eq. 3")                \
    X(cpd_c, "cpd_c", RATIO, -1e6, 1e6, "c: proportion of computation, eq. 3 and 5")               \
    X(cpd_d, "cpd_d", RATIO, 0, 1e9, "d: eq. 5")

/* X(member, key, quantity, min, max, assumed, doc): instructions whose costs were not published.
 * The assumed ones are ours, after those of instructions that are most alike. */
#define TZ_MODEL_DEVICE_COST_ASSUMED_TABLE(X)                                                      \
    X(mad_int, "clocks_mad_int", RATIO, 0, 1e6, 136, "mad: integer")                               \
    X(mad_float, "clocks_mad_float", RATIO, 0, 1e6, 65, "mad, fma: float")                         \
    X(compare_any, "clocks_compare", RATIO, 0, 1e6, 62, "setp, set, selp, slct")                   \
    X(convert_any, "clocks_convert", RATIO, 0, 1e6, 22, "cvt")                                     \
    X(move_any, "clocks_move", RATIO, 0, 1e6, 22, "mov, ld.param, ld.const, cvta, any other")      \
    X(shift_bits, "clocks_shift", RATIO, 0, 1e6, 62, "shl, shr and other work on bits")            \
    X(branch_any, "clocks_branch", RATIO, 0, 1e6, 22, "bra, call, ret, exit")                      \
    X(barrier_any, "clocks_barrier", RATIO, 0, 1e6, 62, "bar, membar")                             \
    X(shared_any, "clocks_shared", RATIO, 0, 1e6, 62, "ld, st of shared memory; shfl, vote")       \
    X(special_any, "clocks_special", RATIO, 0, 1e6, 748, "sqrt, rsqrt, rcp, sin, cos, ex2, lg2")

#endif
