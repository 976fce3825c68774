/* roofs: the time of a plan from the work of its compiled code (work.h) and the limits of the
 * device. Each limit is a roof: issue slots, units, shared memory, memory, latency, launches.
 *
 * It extends the roofline (Williams, Waterman and Patterson, CACM 52(4), 2009) to instructions of
 * several classes and to latencies, with waves of blocks as in Meng and Skadron (ICS 2009). On a
 * CPU with caches (roofs_cpu.c) it follows the execution-cache-memory model (Stengel, Treibig,
 * Hager and Wellein, ICS 2015).
 *
 *   counted   instructions, bytes, steps, blocks: from the machine code and the geometry (work.h);
 *             on a CPU row functions are timed instead
 *   measured  rates, latencies, bandwidths, sizes: the device record (device.h)
 *   fitted    soft maxima, shares and the like, the same for all stencils and devices; fitted to
 *             measured times and counters of one H200: constants.h */
#ifndef TZ_MODEL_ROOFS_H
#define TZ_MODEL_ROOFS_H

#include "model/model.h"

/* Errors: TZ_UNSUPPORTED (the record lacks a number), TZ_RANGE (invalid work, or a block that does
 * not fit a multiprocessor). */
tz_status tz_roofs_predict(const tz_model_work *work, const tz_model_device *device,
                           tz_model_prediction *out, tz_error *error);

/* The two cases of tz_roofs_predict(), by work->kind. They leave its common members to it. */
tz_status tz_roofs_predict_gpu(const tz_model_work *work, const tz_model_device *device,
                               tz_model_prediction *out, tz_error *error);
tz_status tz_roofs_predict_cpu(const tz_model_work *work, const tz_model_device *device,
                               tz_model_prediction *out, tz_error *error);

/* Blocks of a plan (its registers, shared memory and threads) that a multiprocessor holds at once;
 * 0: none. `why` (may be NULL): "registers limit a multiprocessor to 12 warps". The record has
 * sm_count, registers_per_sm, register_unit, threads_per_sm_max, blocks_per_sm, shared_per_sm. */
int tz_roofs_blocks_per_sm(const tz_model_device *device, const tz_model_work *work, char *why,
                           size_t size);

extern const tz_model tz_model_roofs;

#endif
