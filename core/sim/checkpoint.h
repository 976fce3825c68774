/* A simulation in a checkpoint: facts as JSON, and its state and static fields as memory holds
 * them.
 *
 * Nothing in it depends on backend, plan, threads or devices, except what the policy has learnt,
 * which only the same device takes up again. Fields are read and written in pieces. */
#ifndef TZ_CORE_SIM_CHECKPOINT_H
#define TZ_CORE_SIM_CHECKPOINT_H

#include "base/array.h"
#include "sim/checkpoint_file.h"
#include "sim/run.h"

/* What must be the same in the simulation that goes on: stencil with the hash of its text, plugin
 * and its version, grid, precision, boundaries, parameters. NULL: not enough memory. Release both
 * with json_decref(). */
struct json_t *tz_simulation_identity(const tz_simulation *simulation);
/* The rest: steps, time, plans, policy. */
struct json_t *tz_simulation_progress(const tz_simulation *simulation);

/* Describe the arrays of its fields, at most `max`, and return how many there are. Their names
 * begin with `prefix`. */
size_t tz_simulation_arrays(const tz_simulation *simulation, const char *prefix,
                            tz_checkpoint_array *arrays, size_t max);
/* Write these arrays: numbers `first` and on of the file. `simulation` may be that of a snapshot of
 * all fields. Errors of the backend, TZ_IO. */
tz_status tz_simulation_save(const tz_simulation *simulation, tz_checkpoint_writer *writer,
                             size_t first, tz_error *error);

/* Check that a simulation is the one that was written: TZ_RANGE names what differs. */
tz_status tz_simulation_check_identity(const tz_simulation *simulation,
                                       const struct json_t *identity, tz_error *error);
/* Bring a simulation to the step of the checkpoint. After an error its fields are undefined.
 * TZ_FORMAT, errors of the backend. */
tz_status tz_simulation_restore(tz_simulation *simulation, const struct json_t *progress,
                                tz_checkpoint_reader *reader, const char *prefix, tz_error *error);

/* A simulation in a checkpoint of another run, perhaps of an older version. Borrowed. */
typedef struct tz_checkpoint_entry {
    tz_checkpoint_reader *reader;
    const char *prefix;                                /* of the names of its arrays */
    const struct json_t *identity, *progress, *record; /* the last one as in run.json */
} tz_checkpoint_entry;

/* Before a simulation has run: take the state fields of the same names, the step and the time.
 * Cells are the same bits where both store them alike, else they are converted. `fields` false:
 * step and time alone. *taken gets a bit for each field that is there. TZ_RANGE (another grid),
 * TZ_TYPE, TZ_UNSUPPORTED (mixed precision), TZ_FORMAT, TZ_IO, errors of the backend. */
tz_status tz_simulation_begin_with(tz_simulation *simulation, const tz_checkpoint_entry *from,
                                   bool fields, uint32_t *taken, tz_error *error);
/* The values of a field, without a simulation: real numbers as their type or, where they count
 * from an origin, as float64; bits as uint8. TZ_UNKNOWN (no such field), TZ_UNSUPPORTED (mixed
 * precision), TZ_FORMAT, TZ_IO, TZ_MEMORY. */
tz_status tz_checkpoint_values(const tz_checkpoint_entry *from, const char *field, tz_array **out,
                               tz_error *error);
/* As tz_simulation_begin_with, of a run without a checkpoint: the step, and the time by the time
 * step of that run, in its unit (NAN: the simulation's). */
void tz_simulation_begin_at(tz_simulation *simulation, int64_t step, double dt);

/* A snapshot of all fields for another thread to save, which changes nothing in the simulation, not
 * even when its cells are checked next. TZ_UNSUPPORTED, without a message: the backend has none, or
 * the simulation is more than its fields (mixed precision). */
struct tz_snapshot;
tz_status tz_simulation_freeze(tz_simulation *simulation, struct tz_snapshot **out,
                               tz_error *error);
/* A group of stages that is being timed for the policy is begun again: something else took time. */
void tz_simulation_forget_watch(tz_simulation *simulation);

/* Where a run is, as JSON. Its sample is an array of `sample_count` doubles. */
struct json_t *tz_course_to_json(const tz_course *course);
/* That of a run of which this is wanted. TZ_FORMAT. `sample` is not read. */
tz_status tz_course_from_json(const struct json_t *object, const tz_run *wanted, tz_course *out,
                              tz_error *error);

/* While a script is replayed: what a run or an event has done to the counters. */
void tz_simulation_set_step(tz_simulation *simulation, int64_t step);
void tz_simulation_set_last_run(tz_simulation *simulation, const tz_run_result *result);

#endif
