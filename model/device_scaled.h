/* A GPU without a record of its own: the record of another GPU, scaled by what the driver tells. */
#ifndef TZ_MODEL_DEVICE_SCALED_H
#define TZ_MODEL_DEVICE_SCALED_H

#include "model/device.h"

/* `gpu` is a record with the facts of a driver alone: title, clock, sm_count, memory_bandwidth, l2,
 * sizes of a multiprocessor, compute_capability. Facts that it lacks are those of `like`. */

/* How far the GPU of a record is from it, at least 0; INFINITY: nothing can be scaled, since one of
 * them lacks compute_capability, clock or sm_count. Another major number of the compute capability
 * counts more than another minor number, and that more than anything else: the factors between the
 * numbers of multiprocessors, the clocks and the bandwidths of memory. */
double tz_model_device_distance(const tz_model_device *like, const tz_model_device *gpu);

/* The record `like`, scaled:
 *
 *   rates, counts a clock, times of launches, latencies of memory and L2, energies    as they are
 *   times of instructions and barriers, which are counts of clocks                    by the clock
 *   bandwidths of memory                                                              by
 *   memory_bandwidth bandwidth of L2                                                 by the clock
 *   and the multiprocessors power, its limit too                                                   
 *         by the multiprocessors
 *
 * The title is that of `gpu`, the name "scaled-" and that of `like`, which `scaled_from` is, too.
 * Sources say what was done. */
void tz_model_device_scale(tz_model_device *out, const tz_model_device *like,
                           const tz_model_device *gpu);

#endif
