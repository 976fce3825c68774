/* The model of Meng and Skadron's journal version (Int. J. Parallel Programming 2011, preprint).
 *
 * Against 2009 (meng.h):
 *
 *     alpha = sigma^(D - 1), sigma = 5.0             section 4.2
 *     tau = (1 - beta)(1 + BankConflictRate)         section 4.3, into eq. 11
 *     beta = 0.5                                     section 4.3
 *     `stages` is called passes; GlbSync is a new launch or a memory fence.
 *
 * Our copy of the paper ends inside section 4.3, after eq. 11. Of the rest we know only what the
 * introduction says. So:
 *   - as printed: eq. 1 to 11, alpha, tau. Eq. 6 and 7 lost their signs in our copy; both readings
 *     of the rest, and eq. 7 of 2009, agree on passes * UncontendedLat + alpha * n * x *
 *     ClockRate / MemBandwidth.
 *   - taken from 2009, since the text does not contradict it: everything after eq. 11, that is
 *     StageInstsPerWarp = once-a-stage instructions + h times an iteration's (2009 section 4.3),
 *     the active warps (2009 eq. 13, 14), the profiler's counts (2009 table 2), GlbSync's launch
 *     (2009 eq. 15). tau scales both kinds of instructions, because eq. 11 has one factor for all.
 *     Section 4.3 says both "as if the number of instructions were reduced by a factor of beta" and
 *     (1 - beta); with beta = 0.5 they are the same, and tau's definition is followed.
 *   - ours: the fence's cost. The introduction says that it grows with the input; the formula
 *     (section 4.5) is missing. A device's record gives two measured numbers, and a fence costs
 *     fence + fence_per_block * T. Nothing else changes with a fence: blocks load and store their
 *     tiles as before. Without the two numbers, predictions with a fence are refused.
 *   - missing: power, and the tables of this paper, so no benchmark has a BankConflictRate. If the
 *     facts do not give it, it is taken as 0, and noted.
 *
 * sigma and beta are fitted to the GTX 280. A record may give others (memory_conflict_base,
 * hidden_share); else the paper's values are taken, and noted.
 *
 * With 2009's tables 1 and 2 and no bank conflicts, the best heights are 13 (PathFinder), 3
 * (HotSpot), 3 (Poisson, 20 x 20) and 1 (Cell): for HotSpot and Poisson the heights that 2009
 * measured as the fastest. */
#ifndef TZ_MODEL_PAPERS_MENG2011_H
#define TZ_MODEL_PAPERS_MENG2011_H

#include "model/papers/meng.h"

/* Section 4.2 and 4.3. */
#define TZ_MODEL_MENG2011_SIGMA 5.0
#define TZ_MODEL_MENG2011_BETA 0.5

extern const tz_equations tz_model_meng2011;

/* Section 4.2: alpha for dims >= 1 and sigma > 0. */
double tz_model_meng2011_alpha(int dims, double sigma);

/* Section 4.3: tau for beta in [0, 1) and a rate >= 0. */
double tz_model_meng2011_tau(double beta, double bank_conflict_rate);

/* Facts, device and block as the paper's parameters. `notes` may be NULL. Errors: those of
 * tz_model_predict(), and TZ_UNSUPPORTED for a fence on a device whose record lacks its cost. */
tz_status tz_model_meng2011_fill(const tz_model_facts *facts, const tz_model_device *device,
                                 const tz_model_plan *plan, tz_model_meng *m, tz_model_notes *notes,
                                 tz_error *error);

#endif
