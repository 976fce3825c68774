/* The table of ranks by MPI. A module of its own, which base/ranks.c loads, so that the rest of
 * Trapeze needs no MPI. */
#include "base/ranks.h"

#include <limits.h>
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* MPI counts bytes in an int. Longer messages go in pieces. */
static const int64_t PIECE_BYTES = INT64_C(1) << 30;

/* The state of the module. MPI is one in a process, too. */
static struct {
    tz_ranks table;
    MPI_Comm all;      /* of exchanges and collective functions */
    MPI_Comm commands; /* of tell() and hear() */
    pthread_t owner;   /* the thread that opened it */
    void (*signalled)(int signal);
} own;

static _Noreturn void abort_all(const tz_ranks *ranks, const char *message)
{
    fflush(stdout);
    if (ranks->count > 1)
        fprintf(stderr, "trapeze: rank %d on %s: %s\n", ranks->rank, ranks->host, message);
    else
        fprintf(stderr, "trapeze: %s\n", message);
    fflush(stderr);
    /* mpirun must have time to pass the line on: MPICH's ends at once. */
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
}

/* MPI may be called by one thread. */
static void check_thread(const tz_ranks *ranks)
{
    if (!pthread_equal(pthread_self(), own.owner))
        abort_all(ranks, "MPI is called by a second thread");
}

static void check(const tz_ranks *ranks, int code)
{
    char text[MPI_MAX_ERROR_STRING], line[MPI_MAX_ERROR_STRING + 80];
    int length = 0;
    if (code == MPI_SUCCESS)
        return;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error %d", code);
    text[strcspn(text, ",\n")] = '\0'; /* MPICH adds its call stack */
    snprintf(line, sizeof line, "MPI failed: %s", text);
    abort_all(ranks, line);
}

/* ---- Messages -------------------------------------------------------------------------------- */

struct tz_exchange {
    int count;
    MPI_Request requests[];
};

static int64_t pieces_of(int64_t bytes)
{
    return (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

static tz_exchange *begin(const tz_ranks *ranks, const tz_part *parts, int count)
{
    int64_t requests = 0;
    check_thread(ranks);
    for (int i = 0; i < count; i++)
        requests += pieces_of(parts[i].bytes);
    tz_exchange *exchange = malloc(sizeof *exchange + (size_t)requests * sizeof(MPI_Request));
    if (!exchange || requests > INT_MAX)
        abort_all(ranks, "not enough memory for an exchange");
    exchange->count = 0;
    /* Receives come first: a message whose room is known is not copied. */
    for (int receives = 1; receives >= 0; receives--)
        for (int i = 0; i < count; i++)
            for (int64_t done = 0; done < parts[i].bytes && parts[i].is_receive == receives;
                 done += PIECE_BYTES) {
                const tz_part *part = &parts[i];
                const int64_t left = part->bytes - done;
                const int bytes = (int)(left < PIECE_BYTES ? left : PIECE_BYTES);
                char *from = (char *)part->buffer + done;
                MPI_Request *request = &exchange->requests[exchange->count++];
                check(ranks, receives ? MPI_Irecv(from, bytes, MPI_BYTE, part->peer, part->tag,
                                                  own.all, request)
                                      : MPI_Isend(from, bytes, MPI_BYTE, part->peer, part->tag,
                                                  own.all, request));
            }
    return exchange;
}

static void finish(const tz_ranks *ranks, tz_exchange *exchange)
{
    check_thread(ranks);
    for (int i = 0; i < exchange->count; i++) {
        MPI_Status status;
        check(ranks, MPI_Wait(&exchange->requests[i], &status));
    }
    free(exchange);
}

/* ---- Collective functions -------------------------------------------------------------------- */

static void broadcast(const tz_ranks *ranks, int root, void *buffer, int64_t bytes)
{
    check_thread(ranks);
    for (int64_t done = 0; done < bytes; done += PIECE_BYTES) {
        const int64_t left = bytes - done;
        check(ranks,
              MPI_Bcast((char *)buffer + done, (int)(left < PIECE_BYTES ? left : PIECE_BYTES),
                        MPI_BYTE, root, own.all));
    }
}

static void gather_all(const tz_ranks *ranks, const void *mine, int64_t bytes, void *all)
{
    check_thread(ranks);
    if (bytes <= PIECE_BYTES) {
        check(ranks, MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, own.all));
        return;
    }
    for (int r = 0; r < ranks->count; r++) {
        char *to = (char *)all + r * bytes;
        if (r == ranks->rank)
            memmove(to, mine, (size_t)bytes);
        broadcast(ranks, r, to, bytes);
    }
}

/* ---- Commands -------------------------------------------------------------------------------- */

enum { COMMAND, SIGNAL }; /* tags */

/* Those that a rank which serves passes on to rank 0. */
static sigset_t passed_on(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    return set;
}

static void tell(const tz_ranks *ranks, const void *command, int bytes)
{
    int arrived = 0, number = 0;
    check_thread(ranks);
    check(ranks, MPI_Iprobe(MPI_ANY_SOURCE, SIGNAL, own.commands, &arrived, MPI_STATUS_IGNORE));
    if (arrived) {
        check(ranks, MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, SIGNAL, own.commands,
                              MPI_STATUS_IGNORE));
        if (own.signalled)
            own.signalled(number);
    }
    for (int r = 1; r < ranks->count; r++)
        check(ranks, MPI_Send(command, bytes, MPI_BYTE, r, COMMAND, own.commands));
}

/* Rank 0 may do something else for long: after a while this one sleeps between two questions. */
static void hear(const tz_ranks *ranks, void *command, int bytes)
{
    static const double AWAKE_S = 1e-3;
    static const struct timespec nap = {.tv_nsec = 100000}, none = {.tv_nsec = 0};
    const sigset_t signals = passed_on();
    MPI_Request request;
    int done = 0;
    check_thread(ranks);
    check(ranks, MPI_Irecv(command, bytes, MPI_BYTE, 0, COMMAND, own.commands, &request));
    const double begin_s = MPI_Wtime();
    while (!done) {
        const int number = sigtimedwait(&signals, NULL, &none);
        if (number > 0)
            check(ranks, MPI_Send(&number, 1, MPI_INT, 0, SIGNAL, own.commands));
        check(ranks, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (!done && MPI_Wtime() - begin_s > AWAKE_S)
            nanosleep(&nap, NULL);
        else if (!done)
            sched_yield();
    }
}

static void listen_to(const tz_ranks *ranks, void (*signalled)(int signal))
{
    check_thread(ranks);
    own.signalled = signalled;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* How much of its cores this process has for itself, if others of the machine may use them, too. */
static double cores_share(const tz_ranks *ranks, MPI_Comm machine)
{
    cpu_set_t mine, *all = malloc((size_t)ranks->local_count * sizeof *all);
    CPU_ZERO(&mine);
    if (!all)
        abort_all(ranks, "not enough memory");
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        CPU_SET(0, &mine);
    check(ranks, MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, machine));
    double share = 0;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        int users = 0;
        for (int r = 0; r < ranks->local_count; r++)
            users += CPU_ISSET(core, &all[r]) != 0;
        if (CPU_ISSET(core, &mine))
            share += 1.0 / users;
    }
    free(all);
    return share / CPU_COUNT(&mine);
}

/* The first line of MPI's description, without what follows a comma. */
static void name_library(char *text, size_t size)
{
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(name, &length) != MPI_SUCCESS)
        snprintf(name, sizeof name, "MPI");
    name[strcspn(name, ",\n")] = '\0';
    for (char *c = name; *c; c++) /* MPICH has tabs */
        *c = *c == '\t' ? ' ' : *c;
    snprintf(text, size, "%.*s", (int)size - 1, name);
}

static tz_status open_ranks(const tz_ranks **out, tz_error *error)
{
    int done = 0, ended = 0, thread = MPI_THREAD_SINGLE;
    *out = NULL;
    MPI_Finalized(&ended);
    MPI_Initialized(&done);
    if (done || ended)
        return tz_error_set(error, TZ_BACKEND, NULL, "MPI can be started only once in a process");
    /* The threads of MPI must not take them either. */
    const sigset_t signals = passed_on();
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &thread) != MPI_SUCCESS ||
        thread < MPI_THREAD_FUNNELED)
        return tz_error_set(error, TZ_BACKEND, NULL, "MPI could not be started");
    tz_ranks *table = &own.table;
    *table = (tz_ranks){.begin = begin,
                        .finish = finish,
                        .broadcast = broadcast,
                        .gather_all = gather_all,
                        .tell = tell,
                        .hear = hear,
                        .listen = listen_to,
                        .abort = abort_all};
    own.owner = pthread_self();
    MPI_Comm_rank(MPI_COMM_WORLD, &table->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &table->count);
    if (table->rank == 0)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (gethostname(table->host, sizeof table->host - 1) != 0)
        snprintf(table->host, sizeof table->host, "an unnamed machine");
    name_library(table->library, sizeof table->library);
    MPI_Comm machine;
    check(table, MPI_Comm_dup(MPI_COMM_WORLD, &own.all));
    check(table, MPI_Comm_dup(MPI_COMM_WORLD, &own.commands));
    check(table, MPI_Comm_set_errhandler(own.all, MPI_ERRORS_RETURN));
    check(table, MPI_Comm_set_errhandler(own.commands, MPI_ERRORS_RETURN));
    check(table, MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, table->rank,
                                     MPI_INFO_NULL, &machine));
    MPI_Comm_rank(machine, &table->local_rank);
    MPI_Comm_size(machine, &table->local_count);
    table->machine = table->rank;
    check(table, MPI_Bcast(&table->machine, 1, MPI_INT, 0, machine));
    table->cores_share = cores_share(table, machine);
    check(table, MPI_Comm_free(&machine));
    *out = table;
    return TZ_OK;
}

static void close_ranks(void)
{
    MPI_Comm_free(&own.all);
    MPI_Comm_free(&own.commands);
    MPI_Finalize();
}

static void describe(char *text, size_t size)
{
    char library[96];
    int major = 0, minor = 0;
    bool pointers = false;
#if defined OPEN_MPI && defined TZ_MPI_QUERY_CUDA /* MPICH cannot tell before it is started */
    pointers = MPIX_Query_cuda_support() == 1;
#endif
    name_library(library, sizeof library);
    MPI_Get_version(&major, &minor);
    snprintf(text, size, "%s (MPI %d.%d)%s", library, major, minor,
             pointers ? ", takes the pointers of GPUs" : "");
}

extern const tz_ranks_module tz_ranks_module_of_mpi;
__attribute__((visibility("default")))
const tz_ranks_module tz_ranks_module_of_mpi = {.struct_size = sizeof(tz_ranks_module),
                                                .ranks_size = sizeof(tz_ranks),
                                                .version = TZ_VERSION,
                                                .open = open_ranks,
                                                .close = close_ranks,
                                                .describe = describe};
