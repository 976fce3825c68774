/* The processes of a run under mpirun: opens the module of MPI, and agrees on errors. The command
 * line opens them, backend/slabs speaks to them. */
#include "base/ranks.h"

#include "base/machine.h"
#include "base/paths.h"
#include "base/text.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Under mpirun ---------------------------------------------------------------------------- */

static int number(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : -1;
    return text && end != text && *end == '\0' && value >= 0 && value < INT_MAX ? (int)value : -1;
}

bool tz_ranks_environment(int *rank, int *count)
{
    /* Open MPI; MPICH, Intel MPI and Slurm's PMI; MVAPICH; Slurm's and others' PMIx; a last
     * sign. */
    static const struct {
        const char *rank, *count;
    } known[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_RANK", "PMI_SIZE"},
                 {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                 {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
                 {"MPI_LOCALRANKID", NULL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!getenv(known[i].rank))
            continue;
        *rank = number(known[i].rank);
        *count = number(known[i].count);
        return true;
    }
    *rank = *count = -1;
    return false;
}

/* ---- The module ------------------------------------------------------------------------------ */

static void module_path(char *path, size_t size)
{
    char prefix[PATH_MAX];
    tz_path_prefix(prefix, sizeof prefix);
    snprintf(path, size, "%s/lib/trapeze/mpi/trapeze-mpi.so", prefix);
}

/* NULL after an error, which says what is missing. The module stays loaded: MPI cannot be started
 * twice in a process. */
static const tz_ranks_module *load_module(tz_error *error)
{
    char path[PATH_MAX + 64];
    module_path(path, sizeof path);
    if (access(path, R_OK) != 0) {
        tz_error_set(
            error, TZ_UNSUPPORTED, NULL,
            "this Trapeze was built without MPI: install the package trapeze-mpi, or install "
            "libopenmpi-dev and openmpi-bin (or MPICH), configure and build again; there is no %s",
            path);
        return NULL;
    }
    /* Open MPI's own plugins find its symbols only if they are global. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    if (!library) {
        tz_error_set(error, TZ_UNSUPPORTED, NULL,
                     "MPI cannot be loaded: %s; install the MPI that Trapeze was built with "
                     "(Debian: openmpi-bin)",
                     dlerror());
        return NULL;
    }
    const tz_ranks_module *module = dlsym(library, TZ_RANKS_MODULE_NAME);
    if (module && module->struct_size == sizeof *module && module->ranks_size == sizeof(tz_ranks) &&
        strcmp(module->version, TZ_RANKS_VERSION) == 0)
        return module;
    tz_error_set(error, TZ_UNSUPPORTED, path,
                 "is of another version of Trapeze: install both anew");
    return NULL;
}

/* All ranks need the same version, and use the smallest instruction set of all: rank 0 compiles the
 * scenario's stencils for all of them. */
static tz_status compare(const tz_ranks *ranks, tz_error *error)
{
    typedef struct fact {
        char version[32];
        int isa;
    } fact;
    fact own = {.isa = (int)tz_machine_isa()}, *all = calloc((size_t)ranks->count, sizeof *all);
    tz_status status = TZ_OK;
    if (!all)
        ranks->abort(ranks, "not enough memory");
    snprintf(own.version, sizeof own.version, "%s", TZ_RANKS_VERSION);
    ranks->gather_all(ranks, &own, sizeof own, all);
    int least = own.isa;
    for (int r = 0; r < ranks->count; r++)
        least = all[r].isa < least ? all[r].isa : least;
    if (least < own.isa)
        setenv("TZ_ISA", tz_isa_name((tz_isa)least), 1);
    if (strcmp(own.version, all[0].version) != 0)
        status =
            tz_error_set(error, TZ_UNSUPPORTED, NULL,
                         "Trapeze is version %s here, and %s on rank 0: all ranks need the same",
                         own.version, all[0].version);
    free(all);
    return tz_ranks_agree(ranks, status, error);
}

tz_status tz_ranks_open(const tz_ranks **out, tz_error *error)
{
    int rank, count;
    tz_error why = {0};
    *out = NULL;
    if (!tz_ranks_environment(&rank, &count))
        return TZ_OK;
    const tz_ranks_module *module = load_module(&why);
    if (!module && count == 1)
        return TZ_OK;
    if (!module)
        return tz_error_set(error, why.code, why.place, "started by mpirun as rank %d of %d: %s",
                            rank, count, why.message);
    tz_status status = module->open(out, error);
    if (status != TZ_OK)
        return status;
    if (count >= 0 && count != (*out)->count)
        status = tz_error_set(
            error, TZ_UNSUPPORTED, NULL,
            "mpirun started %d ranks, and the MPI that Trapeze was built with sees %d: use "
            "the mpirun of %s",
            count, (*out)->count, (*out)->library);
    else
        status = compare(*out, error);
    if (status == TZ_OK)
        return TZ_OK;
    tz_ranks_close(*out);
    *out = NULL;
    return status;
}

void tz_ranks_close(const tz_ranks *ranks)
{
    const tz_ranks_module *module = ranks ? load_module(NULL) : NULL;
    if (module)
        module->close();
}

bool tz_ranks_describe(char *text, size_t size)
{
    tz_error error = {0};
    const tz_ranks_module *module = load_module(&error);
    if (module)
        module->describe(text, size);
    else
        tz_error_format(&error, text, size);
    return module;
}

/* ---- Agreeing -------------------------------------------------------------------------------- */

/* Room for a value of each rank. */
static void *room(const tz_ranks *ranks, size_t bytes)
{
    void *all = malloc((size_t)ranks->count * bytes);
    if (!all)
        ranks->abort(ranks, "not enough memory");
    return all;
}

double tz_ranks_largest(const tz_ranks *ranks, double value)
{
    if (!ranks)
        return value;
    double *all = room(ranks, sizeof *all);
    ranks->gather_all(ranks, &value, sizeof value, all);
    for (int r = 0; r < ranks->count; r++)
        value = all[r] > value || all[r] != all[r] ? all[r] : value;
    free(all);
    return value;
}

/* What is compared of an error. */
typedef struct outcome {
    int64_t status;
    uint64_t hash;
} outcome;

tz_status tz_ranks_agree(const tz_ranks *ranks, tz_status status, tz_error *error)
{
    if (!ranks || ranks->count == 1)
        return status;
    tz_error mine = {0};
    if (status != TZ_OK && error)
        mine = *error;
    const outcome own = {
        .status = status,
        .hash = status != TZ_OK ? tz_text_hash(tz_text_hash(TZ_HASH_NONE, mine.place), mine.message)
                                : 0};
    outcome *all = room(ranks, sizeof *all);
    ranks->gather_all(ranks, &own, sizeof own, all);
    int first = ranks->count;
    bool same = true;
    for (int r = ranks->count; r-- > 0;) {
        first = all[r].status != TZ_OK ? r : first;
        same = same && all[r].status == all[0].status && all[r].hash == all[0].hash;
    }
    free(all);
    if (same)
        return status;
    if (first == ranks->rank) {
        mine.code = status;
        tz_error_set(&mine, status, mine.place, "rank %d on %s: %s", ranks->rank, ranks->host,
                     mine.message);
    }
    ranks->broadcast(ranks, first, &mine, sizeof mine);
    if (error)
        *error = mine;
    return mine.code;
}

int tz_ranks_cores(const tz_ranks *ranks)
{
    tz_machine machine;
    tz_machine_read(&machine);
    const int cores = ranks ? (int)(ranks->cores_share * machine.cores + 1e-6) : machine.cores;
    return cores > 0 ? cores : 1;
}

void tz_ranks_exchange(const tz_ranks *ranks, const tz_part *parts, int count)
{
    ranks->finish(ranks, ranks->begin(ranks, parts, count));
}
