/* roofs: the time of a plan from what its compiled code does (work.h) and what the device can do at
 * most, each a roof: issue slots, units, shared memory, memory, latency, launches.
 *
 * Our own model. It takes the idea of the roofline (Williams, Waterman and Patterson, CACM 52(4),
 * 2009) to instructions of several classes and to latencies, the warps in flight from Little's law,
 * and waves of blocks as Meng and Skadron (ICS 2009) have them. On a CPU with caches (roofs_cpu.c)
 * it follows the execution-cache-memory model (Stengel, Treibig, Hager and Wellein, ICS 2015).
 * Nothing in it is fitted to a stencil: what a device can do comes from its record, what a plan
 * does from its code. */
#ifndef TZ_MODEL_ROOFS_H
#define TZ_MODEL_ROOFS_H

#include "model/model.h"

/* By work->kind. Errors: TZ_UNSUPPORTED (a number that the record lacks), TZ_RANGE (work
 * that makes no sense, a block that does not fit a multiprocessor). */
tz_status tz_roofs_predict(const tz_model_work *work, const tz_model_device *device,
                           tz_model_prediction *out, tz_error *error);

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
