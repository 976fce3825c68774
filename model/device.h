/* Device records: the numbers of a GPU or CPU that models need. record.h has the format. */
#ifndef TZ_MODEL_DEVICE_H
#define TZ_MODEL_DEVICE_H
#include "model/device_costs.h"
#include "model/record.h"

/* X(member, key, quantity, min, max, doc): every number that describes a device. tz_model.needs
 * lists the numbers that a model needs; a record may lack the others. */
#define TZ_MODEL_DEVICE_TABLE(X)                                                                   \
    X(clock_hz, "clock", FREQUENCY, 1e6, 1e11, "ClockRate: the multiprocessors' clock")            \
    X(sm_count, "sm_count", COUNT, 1, 1e5, "M: multiprocessors")                                   \
    X(sp_per_sm, "sp_per_sm", COUNT, 1, 1e4, "cores (SPs) of a multiprocessor")                    \
    X(sp_pipeline_depth, "sp_pipeline_depth", COUNT, 1, 1e3, "pipeline stages of a core")          \
    X(warp_size, "warp_size", COUNT, 1, 1e4, "WarpSize: threads that execute one instruction")     \
    X(coalesce_width, "coalesce_width", COUNT, 1, 1e4,                                             \
      "CoalesceDegree: words of one memory request")                                               \
    X(blocks_per_sm, "blocks_per_sm", COUNT, 1, 1e4,                                               \
      "BlksPerSM: thread blocks that a multiprocessor runs at once, at most")                      \
    X(threads_per_block_max, "threads_per_block_max", COUNT, 1, 1e6, "threads of a block")         \
    X(threads_per_sm_max, "threads_per_sm_max", COUNT, 1, 1e6, "threads of a multiprocessor")      \
    X(registers_per_sm, "registers_per_sm", COUNT, 1, 1e9, "32-bit registers")                     \
    X(shared_per_sm_bytes, "shared_per_sm", BYTES, 1, 1e12, "shared memory of a multiprocessor")   \
    X(l2_bytes, "l2", BYTES, 0, 1e12, "second-level cache; 0: none")                               \
    X(cpi, "cpi", RATIO, 1e-3, 1e3, "CPI: cycles that one warp instruction takes an SM")           \
    X(memory_bandwidth_bytes_per_s, "memory_bandwidth", BANDWIDTH, 1e6, 1e15,                      \
      "MemBandwidth: peak of the device memory")                                                   \
    X(memory_latency_s, "memory_latency", TIME, 0, 1e-2,                                           \
      "UncontendedLat: a memory request there and back, alone")                                    \
    X(memory_prefetch_depth, "memory_prefetch_depth", COUNT, 1, 64,                                \
      "PipelineDepth: words that the memory's prefetch buffer holds a pin")                        \
    X(memory_pitch_max_bytes, "memory_pitch_max", BYTES, 1, 1e12, "widest row of a 2-D copy")      \
    X(launch_s, "launch", TIME, 0, 1,                                                              \
      "GlbSync: ending a kernel and starting the next, with as many blocks as run at once")        \
    X(fence_s, "fence", TIME, 0, 1,                                                                \
      "synchronising all blocks inside a launch: the part that does not grow")                     \
    X(fence_per_block_s, "fence_per_block", TIME, 0, 1, "the same: more for each block")           \
    X(memory_conflict_base, "memory_conflict_base", RATIO, 1, 1e3,                                 \
      "sigma: what one more dimension multiplies the memory time by")                              \
    X(hidden_share, "hidden_share", RATIO, 0, 0.999,                                               \
      "beta: share of the instructions that overlap with memory accesses")                         \
    /* Measured by calibration. Rates are instructions (GPU: of warps) begun a clock and core. */  \
    X(compute_capability, "compute_capability", COUNT, 10, 999, "90: sm_90; of a GPU only")        \
    X(cores, "cores", COUNT, 1, 1e5, "cores of a processor: of a CPU only")                        \
    X(vector_bytes, "vector", BYTES, 4, 256, "bytes of a CPU's widest vector")                     \
    X(issue_rate, "issue_rate", RATIO, 1e-3, 64, "instructions of any kind a cycle")               \
    X(fp32_rate, "fp32_rate", RATIO, 1e-3, 64, "single precision a cycle")                         \
    X(fp64_rate, "fp64_rate", RATIO, 1e-3, 64, "double precision a cycle")                         \
    X(integer_rate, "integer_rate", RATIO, 1e-3, 64, "integer additions a cycle")                  \
    X(logic_rate, "logic_rate", RATIO, 1e-3, 64, "three-input logic a cycle")                      \
    X(alu_rate, "alu_rate", RATIO, 1e-3, 64,                                                       \
      "additions, logic and selections alternating a cycle: they may share a unit")                \
    X(multiply_rate, "multiply_rate", RATIO, 1e-3, 64, "integer multiplications a cycle")          \
    X(minimum_rate, "minimum_rate", RATIO, 1e-3, 64,                                               \
      "integer minima and additions alternating a cycle")                                          \
    X(fp32_multiply_rate, "fp32_multiply_rate", RATIO, 1e-3, 64,                                   \
      "single precision: multiplications alone a cycle")                                           \
    X(fp32_mixed_rate, "fp32_mixed_rate", RATIO, 1e-3, 64,                                         \
      "single precision: additions and multiplications alternating a cycle")                       \
    X(fp64_multiply_rate, "fp64_multiply_rate", RATIO, 1e-3, 64,                                   \
      "double precision: multiplications alone a cycle")                                           \
    X(fp64_mixed_rate, "fp64_mixed_rate", RATIO, 1e-3, 64,                                         \
      "double precision: additions and multiplications alternating a cycle")                       \
    X(fp64_special_rate, "fp64_special_rate", RATIO, 1e-3, 64,                                     \
      "divisions in double precision a cycle")                                                     \
    X(move_rate, "move_rate", RATIO, 1e-3, 64, "selections and moves a cycle")                     \
    X(shuffle_rate, "shuffle_rate", RATIO, 1e-3, 64, "exchanges between lanes a cycle")            \
    X(special_rate, "special_rate", RATIO, 1e-3, 64, "divisions and square roots a cycle")         \
    X(shared_rate, "shared_rate", RATIO, 1e-3, 64, "passes through shared memory a cycle")         \
    X(load_rate, "load_rate", RATIO, 1e-3, 64, "vector loads that hit the first level a cycle")    \
    X(unaligned_load_rate, "unaligned_load_rate", RATIO, 1e-3, 64,                                 \
      "the same, one element off the vector's own alignment")                                      \
    X(narrow_load_rate, "narrow_load_rate", RATIO, 1e-3, 64,                                       \
      "not used: records that were measured before December 2026 have it")                         \
    X(store_rate, "store_rate", RATIO, 1e-3, 64, "vector stores a cycle")                          \
    X(fp32_latency_s, "fp32_latency", TIME, 0, 1e-3, "until a dependent instruction can start")    \
    X(fp64_latency_s, "fp64_latency", TIME, 0, 1e-3, "the same, double precision")                 \
    X(integer_latency_s, "integer_latency", TIME, 0, 1e-3, "the same, integer additions")          \
    X(logic_latency_s, "logic_latency", TIME, 0, 1e-3, "the same, logic")                          \
    X(shuffle_latency_s, "shuffle_latency", TIME, 0, 1e-3, "the same, shuffles")                   \
    X(shared_latency_s, "shared_latency", TIME, 0, 1e-3, "the same, shared memory")                \
    X(l2_latency_s, "l2_latency", TIME, 0, 1e-3, "a load that hits the second level")              \
    X(l3_latency_s, "l3_latency", TIME, 0, 1e-3, "a load that hits the third level")               \
    X(barrier_s, "barrier", TIME, 0, 1e-3, "a barrier of a block of 512 threads")                  \
    X(copy_bandwidth_bytes_per_s, "copy_bandwidth", BANDWIDTH, 1e6, 1e15,                          \
      "reading and writing memory at once, both counted; all multiprocessors or cores")            \
    X(read_bandwidth_bytes_per_s, "read_bandwidth", BANDWIDTH, 1e6, 1e15,                          \
      "reading memory; all multiprocessors or cores")                                              \
    X(small_page_s, "small_page", TIME, 0, 1e-3,                                                   \
      "reading 4 KiB of memory on a page of their own: more than within a large page; one core")   \
    X(core_copy_bandwidth_bytes_per_s, "core_copy_bandwidth", BANDWIDTH, 1e6, 1e15,                \
      "copying in memory, both counted; one core")                                                 \
    X(core_read_bandwidth_bytes_per_s, "core_read_bandwidth", BANDWIDTH, 1e6, 1e15,                \
      "reading memory; one core")                                                                  \
    X(l1_bytes, "l1", BYTES, 0, 1e12, "first-level data cache of a core")                          \
    X(l3_bytes, "l3", BYTES, 0, 1e12, "third-level cache, all of it; 0: none")                     \
    X(l1_bandwidth_bytes_per_s, "l1_bandwidth", BANDWIDTH, 1e6, 1e15, "copying in it; one core")   \
    X(l2_bandwidth_bytes_per_s, "l2_bandwidth", BANDWIDTH, 1e6, 1e15,                              \
      "copying in the second level, both counted: all of a GPU's, a CPU's of one core")            \
    X(l2_overlap, "l2_overlap", RATIO, 0, 1,                                                       \
      "not used: records that were measured before November 2026 have it")                         \
    X(l2_useful_bytes, "l2_useful", BYTES, 0, 1e12,                                                \
      "not used: records that were measured before December 2026 have it")                         \
    X(l3_bandwidth_bytes_per_s, "l3_bandwidth", BANDWIDTH, 1e6, 1e15,                              \
      "copying in the third level, both counted; all cores")                                       \
    X(registers_per_thread_max, "registers_per_thread_max", COUNT, 1, 1e5, "registers")            \
    X(register_unit, "register_unit", COUNT, 1, 1e5, "registers are dealt out to warps by this")   \
    X(shared_per_block_max_bytes, "shared_per_block_max", BYTES, 1, 1e12, "shared memory")         \
    X(shared_reserved_bytes, "shared_reserved", BYTES, 0, 1e12,                                    \
      "shared memory that every block takes beyond its own")                                       \
    X(text_cache_bytes, "text_cache", BYTES, 0, 1e12,                                              \
      "loop code that runs without waiting for instructions")                                      \
    X(launch_queued_s, "launch_queued", TIME, 0, 1,                                                \
      "an empty launch in a queue of them: what a stage costs at least")                           \
    X(launch_gap_s, "launch_gap", TIME, 0, 1,                                                      \
      "the same where the host is ahead: from the end of one launch to that of the next")          \
    X(launch_alone_s, "launch_alone", TIME, 0, 1, "an empty launch and waiting for its end")       \
    X(graph_launch_s, "graph_launch", TIME, 0, 1, "the same within a graph")                       \
    X(neighbour_sync_s, "neighbour_sync", TIME, 0, 1,                                              \
      "two blocks on two multiprocessors hand each other a word and back")                         \
    X(span_s, "span", TIME, 0, 1, "the cpu backend hands three rows to a row function")            \
    X(span_view_s, "span_view", TIME, 0, 1, "each further row that it hands over")                 \
    X(span_row_s, "span_row", TIME, 0, 1, "each row of a plane that ends at the grid's edge")      \
    X(fork_s, "fork", TIME, 0, 1, "a parallel region of a CPU's threads, less their work")         \
    /* Devices that hold slabs of a grid exchange ghost zones (exchange.h). */                     \
    X(slab_start_s, "slab_start", TIME, 0, 1, "an empty stage of two devices, and its end")        \
    X(peer_latency_s, "peer_latency", TIME, 0, 1, "an exchange from GPU to GPU of a few bytes")    \
    X(peer_bandwidth_bytes_per_s, "peer_bandwidth", BANDWIDTH, 1, 1e18, "the same of many")        \
    X(mpi_latency_s, "mpi_latency", TIME, 0, 1, "an exchange between ranks of a few bytes")        \
    X(mpi_bandwidth_bytes_per_s, "mpi_bandwidth", BANDWIDTH, 1, 1e18, "the same of many")          \
    /* Energies are of the whole board, beyond power_active; of an instruction: of a warp. */      \
    X(power_limit_w, "power_limit", POWER, 0, 1e6, "what the card keeps to on average")            \
    X(power_idle_w, "power_idle", POWER, 0, 1e6, "nothing runs, at the full clock")                \
    X(power_active_w, "power_active", POWER, 0, 1e6,                                               \
      "all multiprocessors hold a warp that mostly waits")                                         \
    X(power_exponent, "power_exponent", RATIO, 1, 8,                                               \
      "k: power beyond power_active grows with the clock to the k-th")                             \
    X(energy_fp32_j, "energy_fp32", ENERGY, 0, 1, "single precision, additions and products")      \
    X(energy_fp64_j, "energy_fp64", ENERGY, 0, 1, "double precision, the same")                    \
    X(energy_integer_j, "energy_integer", ENERGY, 0, 1, "integer additions, logic, selections")    \
    X(energy_shuffle_j, "energy_shuffle", ENERGY, 0, 1, "exchanges between lanes")                 \
    X(energy_shared_j, "energy_shared", ENERGY, 0, 1, "a pass of 128 bytes through shared memory") \
    X(energy_l2_j, "energy_l2", ENERGY, 0, 1, "a byte read from or written to the second level")   \
    X(energy_memory_j, "energy_memory", ENERGY, 0, 1,                                              \
      "a byte read from or written to memory, its way through the second level with it")           \
    TZ_MODEL_DEVICE_COST_TABLE(X)

/* X(member, key, quantity, min, max, assumed, doc): if a record lacks one, models take `assumed`
 * and note it. Most are facts of the hardware that `trapeze calibrate` does not measure, with the
 * value of an H200. Clocks are those of a multiprocessor. Each scheduler has a queue to the one
 * unit of shuffles and shared memory. Code past the near cache comes in lines of 128 bytes. */
#define TZ_MODEL_DEVICE_ASSUMED_TABLE(X)                                                           \
    X(queue_depth, "queue_depth", COUNT, 1, 64, 8, "instructions that the queue holds")            \
    X(queue_clocks, "queue_clocks", RATIO, 0, 1e3, 6, "clocks from issue to the shared unit")      \
    X(queue_slots, "queue_slots", RATIO, 1, 64, 2,                                                 \
      "clocks of its scheduler that an instruction to the queue takes")                            \
    X(operand_clocks, "operand_clocks", RATIO, 0, 1e3, 12,                                         \
      "clocks from issue until operands are read")                                                 \
    X(result_clocks, "result_clocks", RATIO, 0, 1e3, 14,                                           \
      "clocks from issue to a result that a barrier waits for, of other units")                    \
    X(near_text_bytes, "near_text", BYTES, 1, 1e12, 32768,                                         \
      "loops of two kinds of warps together that run without waiting for instructions")            \
    X(text_line_clocks, "text_line_clocks", RATIO, 0, 1e5, 32, "clocks that a line of code takes") \
    X(shared_banks, "shared_banks", COUNT, 1, 1024, 32, "banks of shared memory")                  \
    X(shared_bank_bytes, "shared_bank", BYTES, 1, 64, 4, "what a bank gives a clock")              \
    X(memory_transaction_bytes, "memory_transaction", BYTES, 1, 4096, 32,                          \
      "the least that a request reads from or writes to memory")                                   \
    X(host_latency_s, "host_latency", TIME, 0, 1, 30e-6, "an exchange through host memory")        \
    X(host_bandwidth_bytes_per_s, "host_bandwidth", BANDWIDTH, 1, 1e18, 10e9, "the same of many")  \
    TZ_MODEL_DEVICE_COST_ASSUMED_TABLE(X)

typedef struct tz_model_device {
    char name[TZ_MODEL_NAME_SIZE];        /* as a user writes it: "gtx280" */
    char title[TZ_MODEL_NAME_SIZE];       /* as its maker writes it; "" if not given */
    char scaled_from[TZ_MODEL_NAME_SIZE]; /* no key; "", or see device_scaled.h */
#define TZ_MODEL_DEVICE_MEMBER(member, key, quantity, min, max, doc) tz_model_number member;
    TZ_MODEL_DEVICE_TABLE(TZ_MODEL_DEVICE_MEMBER)
#undef TZ_MODEL_DEVICE_MEMBER
#define TZ_MODEL_DEVICE_MEMBER(member, key, quantity, min, max, assumed, doc)                      \
    tz_model_number member;
    TZ_MODEL_DEVICE_ASSUMED_TABLE(TZ_MODEL_DEVICE_MEMBER)
#undef TZ_MODEL_DEVICE_MEMBER
} tz_model_device;

/* All keys of a device, texts included; *count of them. Static. */
const tz_model_key *tz_model_device_keys(size_t *count);

/* The value of one of the device's numbers, or its assumed value if the record lacks it; NAN:
 * neither. */
double tz_model_device_value(const tz_model_device *device, const tz_model_number *number);

/* A record's text as a device. `path` names the text in messages. Errors of tz__record_parse(). */
tz_status tz_model_device_parse(const char *path, const char *text, size_t length,
                                tz_model_device *out, tz_error *error);

/* The record as text, which reads back as the same device. Errors of tz__record_text(). */
enum { TZ_MODEL_DEVICE_TEXT_SIZE = TZ_MODEL_KEYS_MAX * TZ__RECORD_LINE_SIZE };
tz_status tz_model_device_text(const tz_model_device *device, char text[TZ_MODEL_DEVICE_TEXT_SIZE],
                               tz_error *error);

#endif
