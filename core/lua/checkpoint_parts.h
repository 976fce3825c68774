/* One checkpoint: what it says, and the job that writes it. */
#ifndef TZ_CORE_LUA_CHECKPOINT_PARTS_H
#define TZ_CORE_LUA_CHECKPOINT_PARTS_H

#include "lua/checkpoint.h"
#include "output/folder.h"
#include <jansson.h>
#include <pthread.h>

/* What became of checkpoints that were written, perhaps by another thread. */
typedef struct tz_written {
    pthread_mutex_t lock; /* for all others */
    double cost_s;        /* of the last one that was written */
    tz_error failure;     /* of one; code TZ_OK: none, or told */
    int64_t count;
} tz_written;

/* The file of an output that grows, borrowed; at most one of them is not NULL. */
typedef struct growing {
    tz_table *table;
    tz_movie *movie;
} growing;

/* A simulation, or the copy of its fields. */
typedef struct source {
    const tz_simulation *simulation;
    tz_snapshot *snapshot; /* NULL: the simulation itself */
    size_t first;          /* number of its first array */
    growing *files;        /* of its outputs; owned */
    size_t outputs;
    json_t *facts; /* of the outputs, borrowed from all facts */
} source;

typedef struct sample {
    double *values; /* owned */
    size_t count, array;
} sample;

/* All that another thread needs. */
typedef struct writing {
    tz_written *result; /* borrowed */
    int64_t number;
    const tz_run_files *files;
    const tz_journal *journal;
    char path[PATH_MAX + 32];
    json_t *facts;
    source *sources;
    size_t sources_count;
    sample *samples;
    size_t samples_count;
    tz_checkpoint_array *arrays;
    size_t arrays_count;
    double began_s;
} writing;

/* Gather what a checkpoint says of all open simulations at this moment; the journal gets an entry, and
 * is handed to the system. TZ_MEMORY, TZ_IO. */
tz_status tz__checkpoint_gather(tz_context *context, writing *w, tz_error *error);
/* tz_job.run of a `writing`: write it. Only errors of outputs are errors; others are in *result. */
tz_status tz__checkpoint_write(void *data, tz_error *error);
/* tz_job.release. */
void tz__checkpoint_release(void *data);

#endif
