/* The model of Meng and Skadron, ICS 2009, equations 1 to 24 (meng.h).
 *
 *     alpha = D / PipelineDepth  (section 4.2)    tau = 1    GlbSync: measured (eq. 15)
 *
 * With tables 1 and 2 the equations give best heights of 12 (PathFinder), 2 (HotSpot), 2 (Poisson)
 * and 1 (Cell); the paper states 14, 2, 2 and 1. At PathFinder's 14 the equations give 0.36 % more
 * cycles than at 12. We tried integer T, passes and warps, elements of 1 to 8 bytes, and no
 * latency: none gives 14. An alpha of 8 does, but then HotSpot and Poisson have 3; and so does a
 * 16th of the paper's cells. No constant is adjusted to reach it. */
#ifndef TZ_MODEL_PAPERS_MENG2009_H
#define TZ_MODEL_PAPERS_MENG2009_H

#include "model/papers/meng.h"

extern const tz_equations tz_model_meng2009;

/* Facts, device and block as the paper's parameters. `notes` may be NULL. Errors: those of
 * tz_model_predict(), and TZ_RANGE for a fence, which the paper does not have. */
tz_status tz_model_meng2009_fill(const tz_model_facts *facts, const tz_model_device *device,
                                 const tz_model_plan *plan, tz_model_meng *m, tz_model_notes *notes,
                                 tz_error *error);

#endif
