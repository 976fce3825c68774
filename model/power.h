/* power: what a plan draws from its GPU, and the clock that is left of it in a long run.
 *
 * A card keeps its average power within a limit by lowering its clock. What a plan draws follows
 * from its counts (work.h) and what an instruction and a byte take (energy_… of the record, which
 * `trapeze calibrate` measures). At a share x of the full clock
 *
 *     P(x) = base + (core * x^(k - 1) + memory) / T(x),   T(x) = T(1) + S(C / x) - S(C)
 *
 * with the energies of an iteration, `core` of everything that runs at the multiprocessors' clock
 * and `memory` of the bytes that cross the memory bus; C what computing takes alone, and S the
 * time of computing and memory at once; memory keeps its own clock. Voltage falls with the clock,
 * so that dynamic power goes with its k-th power: the record's power_exponent, else 3 (power is
 * clock times voltage squared, and voltage about proportional to the clock near its upper end). The
 * clock of a long run is the highest with P(x) within the limit.
 *
 * Pure functions. A record without these keys, or a CPU: nothing is claimed. */
#ifndef TZ_MODEL_POWER_H
#define TZ_MODEL_POWER_H

#include "model/model.h"

/* Of an iteration at the full clock. */
typedef struct tz_power_demand {
    double core_j, memory_j;
    double base_w; /* drawn whatever runs */
    double time_s;
    double compute_s, memory_s; /* of it, each alone: at least one is not 0 */
} tz_power_demand;

typedef struct tz_power_answer {
    double watts;       /* at the full clock */
    double share;       /* of the full clock in a long run: 1 where the limit is not met */
    double sustained_s; /* of an iteration then */
} tz_power_answer;

/* Does the record say what is needed? */
bool tz_power_known(const tz_model_device *device);

/* From a plan's counts and its prediction by "roofs" (time_s and the details compute_roof,
 * memory_roof and l2_roof). False: nothing is known. */
bool tz_power_count(const tz_model_work *work, const tz_model_device *device,
                    const tz_model_prediction *prediction, tz_power_demand *out);

/* Power at a share of the full clock, and the time of an iteration then. */
double tz_power_at(const tz_power_demand *demand, double exponent, double share, double *seconds);

/* The highest clock within the limit; a fifth of the full one at least. */
void tz_power_settle(const tz_power_demand *demand, double exponent, double limit_w,
                     tz_power_answer *out);

/* All of it, into the prediction: power_w, power_limit_w, sustained_hz, sustained_s. They stay 0
 * where nothing is known. */
void tz_power_predict(const tz_model_work *work, const tz_model_device *device,
                      tz_model_prediction *prediction);

/* The time of an iteration in a long run: sustained_s where it is known, else time_s. */
double tz_power_time(const tz_model_prediction *prediction);

/* "812 W of 700: a long run is held to 1.62 GHz, 21 % slower", or "540 W of 700"; false, and "",
 * where nothing is known. */
bool tz_power_text(const tz_model_prediction *prediction, char *text, size_t size);

#endif
