/* The model of Luo and Suda 2011: the time of a kernel from its PTX.
 *
 * The instructions of a warp are cut into periods: a run of computation, which costs c clocks, then
 * a run of memory accesses, which costs m clocks. How many warps overlap is the parallel degree of
 * memory accesses (MPD, eq. 1 and 2) and of computation (CPD, eq. 3 to 5). Each period has one of
 * four types (eq. 6 to 13), which says how much of the memory accesses is not hidden.
 *
 * Where this differs from what is printed:
 *   - Eq. 2 divides by the active warps, and gives 0 for many of them; eq. 10 then divides by 0. We
 *     leave that divisor out. Neither gives less than 1 to a period.
 *   - Eq. 3 is used up to P = c alone, although it falls below 0 only if (P - c)(N - b) > a: beyond
 *     c it says that more warps compute less at once (box2d1r on a GTX 260: 3.2 with 8 warps, 1.65
 *     with 32, where eq. 4 has 3.3), which is against its own sentence that the degree grows with
 *     the warps. There eq. 4 and 5 count. The degree is at least 1.
 *   `as_printed` keeps eq. 2's divisor, and eq. 3 beyond c.
 *   - n of eq. 8 is not defined: it is the number of active warps.
 *   - Eq. 13 lacks its "0".
 * Ours besides: the costs of instructions that table 1 lacks (device_costs.h); a run of accesses
 * has one MPD, from its bytes and transactions together; a grid with more blocks than run at once
 * takes several rounds. */
#ifndef TZ_MODEL_PAPERS_LUO2011_H
#define TZ_MODEL_PAPERS_LUO2011_H

#include "model/papers/equations.h"

#include <stdint.h>

extern const tz_equations tz_model_luo2011;

/* ---- Costs of instructions ------------------------------------------------------------------- */

typedef enum tz_luo2011_operation {
    TZ_LUO2011_ADD,
    TZ_LUO2011_MUL,
    TZ_LUO2011_DIV,
    TZ_LUO2011_NEG,
    TZ_LUO2011_MIN,
    TZ_LUO2011_AND,
    TZ_LUO2011_OR,
    TZ_LUO2011_NOT,
    TZ_LUO2011_MAD,
    TZ_LUO2011_COMPARE,
    TZ_LUO2011_CONVERT,
    TZ_LUO2011_MOVE,
    TZ_LUO2011_SHIFT,
    TZ_LUO2011_BRANCH,
    TZ_LUO2011_BARRIER,
    TZ_LUO2011_SHARED,
    TZ_LUO2011_SPECIAL,
    TZ_LUO2011_MEMORY, /* global and local memory */
    TZ_LUO2011_OPERATIONS
} tz_luo2011_operation;

/* Clocks by operation, by integer (0) or float (1), by constant (0) or registers (1). */
typedef struct tz_luo2011_costs {
    double clocks[TZ_LUO2011_OPERATIONS][2][2];
    double near; /* of a load whose sectors the warp has touched before; 0: as the first time */
} tz_luo2011_costs;

/* What the model needs of a device. */
typedef struct tz_luo2011_gpu {
    tz_luo2011_costs costs;
    double clock_hz;
    double bandwidth;       /* bytes a clock, of the whole GPU */
    double latency;         /* t_mem: clocks */
    double l2_bytes;        /* a grid that is smaller stays in the second level; 0: not known */
    double l2_latency;      /* clocks of a load from there */
    double multiprocessors; /* N_sm */
    double warps_max;       /* m: of a multiprocessor */
    double threads_max;     /* of a multiprocessor */
    double blocks_max;      /* of a multiprocessor */
    double a, b, c, d;      /* eq. 3 to 5 */
    bool half_warps;        /* accesses go by half a warp (compute capability 1.2 and 1.3) */
} tz_luo2011_gpu;

/* TZ_UNSUPPORTED: the record lacks a number; the message has its key. `notes` may be NULL. A load
 * costs what the paper's way of measuring gives, if the record has that (clocks_load by cache
 * level); else memory_latency. */
tz_status tz_luo2011_gpu_of(const tz_model_device *device, tz_luo2011_gpu *out,
                            tz_model_notes *notes, tz_error *error);

/* ---- Equations ------------------------------------------------------------------------------- */

/* Memory transactions of one access of a warp: lane l of the `active` mask accesses `bytes` bytes
 * (1, 2, 4, 8 or 16) at addresses[l]. With `half_warps` by the rule of compute capability 1.2 and
 * 1.3: each half of the warp takes segments of 128 bytes (64 for 2 bytes, 32 for one), halved as
 * long as what it needs lies in one half, down to 32 bytes. Else the sectors of 32 bytes that are
 * touched. */
int tz_luo2011_transactions(const uint64_t addresses[32], uint32_t active, int bytes,
                            bool half_warps);

/* Eq. 1: bytes a clock of a warp. `bytes`: D_mem, of a thread. */
double tz_luo2011_warp_bandwidth(double bytes, double transactions, double latency);
/* Eq. 2: warps whose accesses overlap. `as_printed`: with the active warps in the divisor; may give
 * 0. */
double tz_luo2011_mpd(const tz_luo2011_gpu *gpu, double active, double warp_bandwidth,
                      bool as_printed);

/* Eq. 3, and eq. 4 with 5. `share`: P, the proportion of computation, 0 to 1. */
double tz_luo2011_cpd1(const tz_luo2011_gpu *gpu, double share, double active);
double tz_luo2011_cpd2(const tz_luo2011_gpu *gpu, double share, double active);
/* The smaller one; eq. 4 alone if P > c; at least 1. */
double tz_luo2011_cpd(const tz_luo2011_gpu *gpu, double share, double active);

/* ---- Periods --------------------------------------------------------------------------------- */

/* A run of computation or of memory accesses of a warp. */
typedef struct tz_luo2011_task {
    bool is_memory;
    int instructions;
    double clocks;       /* sum of costs */
    double transactions; /* memory: sum over the accesses */
    double bytes;        /* memory: of a thread, sum over the accesses */
} tz_luo2011_task;

/* A kernel as one of its warps runs it. */
typedef struct tz_luo2011_kernel {
    const tz_luo2011_task *tasks; /* computation and memory in turn; may begin with either */
    int count;
    double text_computation, text_memory; /* clocks of all instructions in the text, each once */
    double threads;                       /* of a block */
    double blocks;                        /* of the launch */
} tz_luo2011_kernel;

typedef struct tz_luo2011_period {
    int type;                   /* 1 to 4 */
    int accesses;               /* memory instructions */
    double computation, memory; /* c and m, clocks */
    double transactions, mpd;   /* of its accesses; 0 without any */
    double base;                /* eq. 6: computation of all active warps, clocks */
    double before, after; /* T_p and T_c: waits for the period before, and for its own accesses */
    double time;          /* the sum of these three */
} tz_luo2011_period;

typedef struct tz_luo2011_result {
    double share, text_share; /* P by executions, and of the text */
    double active;            /* N_act: active warps of a multiprocessor */
    double cpd1, cpd2, cpd;
    double rounds;                    /* of blocks */
    double base, before, after, time; /* clocks of a launch: sums over periods, times rounds */
    int count;
    tz_luo2011_period *periods; /* owned */
} tz_luo2011_result;

/* The type of a period (section 3.5) from its own c and m and those before; of the first these are
 * 0. */
int tz_luo2011_type(double c_before, double m_before, double c, double m);

/* Eq. 6 to 13 for one period: from type, c and m fills base, before, after, time. `m_before`,
 * `mpd`: of the accesses of the period before. */
void tz_luo2011_period_time(tz_luo2011_period *period, double active, double cpd, double m_before,
                            double mpd);

/* The whole model. Errors: TZ_RANGE (a block that does not fit, no instructions), TZ_MEMORY. */
tz_status tz_luo2011_evaluate(const tz_luo2011_gpu *gpu, const tz_luo2011_kernel *kernel,
                              bool as_printed, tz_luo2011_result *out, tz_error *error);
void tz_luo2011_result_clear(tz_luo2011_result *result); /* zeros are fine */

/* ---- As a model ------------------------------------------------------------------------------ */

/* What tz_model_plan.own points to: the kernels of an iteration, one a pass. */
typedef struct tz_luo2011_plain {
    const tz_luo2011_kernel *kernels;
    int count;
    bool as_printed;
} tz_luo2011_plain;

/* ---- Constants from measurements: luo2011_fit.c ---------------------------------------------- */

/* A measured parallel degree of computation. The paper says that a, b and d of equations 3 to 5
 * were fitted to microbenchmarks, but not how: this way is ours. */
typedef struct tz_luo2011_point {
    double share;  /* P, 0 to 1 */
    double active; /* N_act, warps */
    double cpd;    /* at least 1 */
} tz_luo2011_point;

/* The degree by which equations 6 to 13 give `time`, for one of many equal periods: `period` has
 * computation, memory and mpd. NAN: waits for memory leave no time for computation. Only these
 * members of `period` are read. */
double tz_luo2011_measured_cpd(const tz_luo2011_period *period, double active, double time);

/* Sets a, b and d of `gpu`, whose c and warps_max are given: least squares of the relative errors
 * of the degree. *error_share: their root mean square. d is at least 0. Errors: TZ_RANGE (fewer
 * than 6 points, or a degree below 1); `gpu` is then unchanged. */
tz_status tz_luo2011_fit(const tz_luo2011_point *points, int count, tz_luo2011_gpu *gpu,
                         double *error_share, tz_error *error);

#endif
