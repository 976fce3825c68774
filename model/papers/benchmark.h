/* Benchmark records: the stencils of Meng and Skadron 2009. record.h has the format. */
#ifndef TZ_MODEL_PAPERS_BENCHMARK_H
#define TZ_MODEL_PAPERS_BENCHMARK_H

#include "model/papers/equations.h"

/* X(member, key, quantity, min, max, doc): a row of table 2 of Meng and Skadron 2009, the grid and
 * block of the paper's evaluation, and the results that the paper states. */
#define TZ_MODEL_BENCHMARK_TABLE(X)                                                                \
    X(dims, "dims", COUNT, 1, 3, "D: dimensions")                                                  \
    X(data_length_x, "data_length_x", COUNT, 1, 1e12, "DataLength_0 of the evaluation")            \
    X(data_length_y, "data_length_y", COUNT, 1, 1e12, "DataLength_1")                              \
    X(data_length_z, "data_length_z", COUNT, 1, 1e12, "DataLength_2")                              \
    X(halo_width_x, "halo_width_x", COUNT, 0, 1e3, "HaloWidth_0: both sides together")             \
    X(halo_width_y, "halo_width_y", COUNT, 0, 1e3, "HaloWidth_1")                                  \
    X(halo_width_z, "halo_width_z", COUNT, 0, 1e3, "HaloWidth_2")                                  \
    X(block_x, "block_x", COUNT, 1, 1e6, "blk_len: threads of a block, ghost zone included")       \
    X(block_y, "block_y", COUNT, 1, 1e6, "blk_len in y")                                           \
    X(block_z, "block_z", COUNT, 1, 1e6, "blk_len in z")                                           \
    X(element_bytes, "element", BYTES, 1, 64, "x: one array element")                              \
    X(stencil_arrays, "stencil_arrays", COUNT, 1, 64, "NumStencilArrays: arrays gathered")         \
    X(elements_per_op, "elements_per_op", RATIO, 0, 1e3,                                           \
      "NumElemPerOp: elements loaded for each stencil operation")                                  \
    X(profile_cells, "profile_cells", COUNT, 1, 1e12, "N: cells of the profiled run")              \
    X(profile_sm_count, "profile_sm_count", COUNT, 1, 1e5, "M of the profiled device")             \
    X(profile_warp_size, "profile_warp_size", COUNT, 1, 1e4, "WarpSize of the profiled device")    \
    X(insts_per_sm_misc, "insts_per_sm_misc", RATIO, 0, 1e15, "InstsPerSM_MC: once a trapezoid")   \
    X(insts_per_sm_iter, "insts_per_sm_iter", RATIO, 0, 1e15, "InstsPerSM_IC: every iteration")    \
    X(bank_conflict_rate, "bank_conflict_rate", RATIO, 0, 1e3,                                     \
      "BankConflictRate: conflicts for each warp instruction")                                     \
    X(paper_height, "paper_height", COUNT, 1, 1e4, "the height that the paper's model predicts")   \
    X(paper_height_measured, "paper_height_measured", COUNT, 1, 1e4, "the fastest measured")       \
    X(paper_speedup, "paper_speedup", RATIO, 0, 1e3, "measured at the predicted height, over 1")   \
    X(paper_speedup_adaptive, "paper_speedup_adaptive", RATIO, 0, 1e3,                             \
      "measured, adaptive from the predicted height on")                                           \
    X(paper_speedup_adaptive_from_1, "paper_speedup_adaptive_from_1", RATIO, 0, 1e3,               \
      "measured, adaptive from height 1 on")

typedef struct tz_model_benchmark {
    char name[TZ_MODEL_NAME_SIZE];
    char title[TZ_MODEL_NAME_SIZE];
#define TZ_MODEL_BENCHMARK_MEMBER(member, key, quantity, min, max, doc) tz_model_number member;
    TZ_MODEL_BENCHMARK_TABLE(TZ_MODEL_BENCHMARK_MEMBER)
#undef TZ_MODEL_BENCHMARK_MEMBER
} tz_model_benchmark;

/* A record's text as a benchmark. `path` names the text in messages. Errors of
 * tz__record_parse(). */
tz_status tz_model_benchmark_parse(const char *path, const char *text, size_t length,
                                   tz_model_benchmark *out, tz_error *error);

/* A benchmark's record as facts and plan (height 0). NumStencilArrays becomes one state field and
 * static fields, NumElemPerOp streamed fields. The profiler's counts become instructions by eq. 12
 * of Meng and Skadron 2009, with the profiled device's M and WarpSize. TZ_FORMAT: the record lacks
 * a key; the message names it. */
tz_status tz_model_benchmark_facts(const tz_model_benchmark *benchmark, tz_model_facts *facts,
                                   tz_model_plan *plan, tz_error *error);

#endif
