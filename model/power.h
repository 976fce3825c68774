/* Power: what a plan draws from its GPU, and the clock of a long run.
 *
 * A card lowers its clock to keep its average power within a limit. The power of a plan follows
 * from its counts (work.h) and the energies of an instruction and a byte (energy_... of the record,
 * which `trapeze calibrate` measures). At a share x of the full clock
 *
 *     P(x) = base + (core * x^(k - 1) + memory) / T(x),   T(x) = T(1) + S(C / x) - S(C)
 *
 *   core    energy of an iteration in everything that runs at the multiprocessors' clock
 *   memory  energy of an iteration for the bytes that cross the memory bus
 *   C       the time of computing alone
 *   S(c)    the time of computing for c and memory at once; memory keeps its own clock
 *   k       the record's power_exponent, else 3: power is clock times voltage squared, and voltage
 *           is about proportional to the clock near its upper end
 *
 * The clock of a long run is the highest one with P(x) within the limit.
 *
 * These are pure functions. They predict nothing for a CPU or for a record without these keys. */
#ifndef TZ_MODEL_POWER_H
#define TZ_MODEL_POWER_H

#include "model/model.h"

/* One iteration at the full clock. */
typedef struct tz_power_demand {
    double core_j, memory_j;
    double base_w; /* drawn whatever runs */
    double time_s;
    double compute_s, memory_s; /* computing alone, memory alone: at least one is not 0 */
} tz_power_demand;

typedef struct tz_power_answer {
    double watts;       /* at the full clock */
    double share;       /* of the full clock in a long run; 1: the power is within the limit */
    double sustained_s; /* of an iteration at that share */
} tz_power_answer;

/* Whether the record has all numbers that power needs. */
bool tz_power_known(const tz_model_device *device);

/* From a plan's counts and its prediction by "roofs" (time_s and the details compute_roof,
 * memory_roof and l2_roof). False: the record or the prediction lacks a number. */
bool tz_power_count(const tz_model_work *work, const tz_model_device *device,
                    const tz_model_prediction *prediction, tz_power_demand *out);

/* Power at a share of the full clock. *seconds: the time of an iteration there. */
double tz_power_at(const tz_power_demand *demand, double exponent, double share, double *seconds);

/* The highest clock within the limit, at least TZ_FIT_POWER_CLOCK_LEAST of the full clock. */
void tz_power_settle(const tz_power_demand *demand, double exponent, double limit_w,
                     tz_power_answer *out);

/* Set power_w, power_limit_w, sustained_hz and sustained_s of the prediction; to 0 where
 * tz_power_count() returns false. */
void tz_power_predict(const tz_model_work *work, const tz_model_device *device,
                      tz_model_prediction *prediction);

/* The time of an iteration in a long run: sustained_s if it is known, else time_s. */
double tz_power_time(const tz_model_prediction *prediction);

/* "812 W of 700: a long run is held to 1.62 GHz, 21 % slower", or "540 W of 700". False, and "",
 * without a predicted power. */
bool tz_power_text(const tz_model_prediction *prediction, char *text, size_t size);

#endif
