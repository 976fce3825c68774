/* Finds the program that compiles, starts it as often as it is needed, and talks with it. Called by
 * compile.c for all that is compiled; any thread. */
#include "backend/cuda/compile/compilers.h"

#include "base/machine.h"
#include "base/minmax.h"
#include "base/paths.h"
#include "base/process.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROGRAM "trapeze-compile"

enum { IDLE_MAX = 64, TURN_MS = 5 };

/* Address space of a compiler: the largest kernels take 0.3 GiB. */
#define BYTES_MOST (INT64_C(4) << 30)
#define BYTES_LEAST (INT64_C(1) << 30)
/* Seconds that a source may take, on the clock and of the processor. Large kernels take ten on a
 * quiet machine. */
#define LIMIT_S 300.0
#define START_LIMIT_S 60.0

/* A running compiler. */
typedef struct compiler {
    tz_feed *feed; /* NULL: none */
    bool greeted;  /* its greeting has been read */
} compiler;

/* The compilers of a process outlive its backends, so that NVRTC is opened once. They end when
 * their sockets are closed, at the latest with the process. */
typedef struct compilers {
    /* Of what is looked up once: it is taken before `lock`. */
    pthread_mutex_t looking;
    bool looked;
    tz_status status;
    tz_error failure;
    tz__nvrtc nvrtc;
    /* Of the rest. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int at_once; /* 0: half of the processors, not counted yet */
    int working;
    double limit_s;
    compiler idle[IDLE_MAX];
    int idle_count;
} compilers;

#define NONE_YET                                                                                   \
    {                                                                                              \
        .looking = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER,                   \
        .changed = PTHREAD_COND_INITIALIZER, .limit_s = LIMIT_S                                    \
    }
static compilers all = NONE_YET;

/* ---- How many, and how long ------------------------------------------------------------------ */

/* With the lock. */
static int most_at_once(void)
{
    if (all.at_once <= 0)
        all.at_once = tz_max_int(tz_machine_processors() / 2, 1);
    return all.at_once;
}

int tz_cuda_compilers_at_once(void)
{
    pthread_mutex_lock(&all.lock);
    const int most = most_at_once();
    pthread_mutex_unlock(&all.lock);
    return most;
}

void tz_cuda_compilers_limit(int at_once, double seconds)
{
    pthread_mutex_lock(&all.lock);
    all.at_once = at_once;
    all.limit_s = seconds > 0 ? seconds : LIMIT_S;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.lock);
}

/* ---- Starting and ending --------------------------------------------------------------------- */

/* The program, beside the file that has this code, or where it is installed. */
static tz_status find_program(char path[PATH_MAX], tz_error *error)
{
    static const char *const tails[] = {"", "../libexec/trapeze/", "../bin/"};
    char self[PATH_MAX], folder[PATH_MAX];
    tz_path_of_code((const void *)find_program, self, sizeof self);
    tz_path_folder(self, folder, sizeof folder);
    for (size_t k = 0; k < sizeof tails / sizeof *tails; k++)
        if (snprintf(path, PATH_MAX, "%s/%s" PROGRAM, folder, tails[k]) < PATH_MAX &&
            tz_program_exists(path))
            return TZ_OK;
    return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                        "no program " PROGRAM ", which compiles kernels: it is neither in %.300s "
                        "nor in ../libexec/trapeze or ../bin from there; install Trapeze again, or "
                        "use --backend cpu",
                        folder);
}

static tz_status start(compiler *out, tz_error *error)
{
    char path[PATH_MAX], memory[32], seconds[32];
    const char *const arguments[] = {PROGRAM, memory, seconds, NULL};
    const tz_process process = {.program = path, .arguments = arguments, .limit_s = 1.0};
    const int64_t share = tz_machine_memory_available() / most_at_once();
    const int64_t bytes = tz_max(tz_min(share, BYTES_MOST), BYTES_LEAST);
    snprintf(memory, sizeof memory, "%lld", (long long)bytes);
    snprintf(seconds, sizeof seconds, "%.0f", all.limit_s + 1);
    *out = (compiler){0};
    const tz_status status = find_program(path, error);
    return status ? status : tz_feed_start(&out->feed, &process, error);
}

void tz_cuda_compilers_begin(void)
{
    pthread_mutex_lock(&all.lock);
    if (all.working == 0 && all.idle_count == 0 && start(&all.idle[0], NULL) == TZ_OK)
        all.idle_count = 1;
    pthread_mutex_unlock(&all.lock);
}

void tz_cuda_compilers_end(void)
{
    pthread_mutex_lock(&all.lock);
    while (all.idle_count > 0)
        tz_feed_kill(all.idle[--all.idle_count].feed);
    pthread_mutex_unlock(&all.lock);
}

/* Waits for a turn, and counts this compilation as one at work. */
static tz_status begin_work(const tz__compile_order *order, tz_error *error)
{
    tz_status status = TZ_OK;
    pthread_mutex_lock(&all.lock);
    while (!order->at_once && all.working >= most_at_once() && !status) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TURN_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (order->cancel && tz_cancelled(order->cancel))
            status = TZ_INTERRUPTED;
        else if (order->cancel)
            pthread_cond_timedwait(&all.changed, &all.lock, &until);
        else
            pthread_cond_wait(&all.changed, &all.lock);
    }
    all.working += !status;
    pthread_mutex_unlock(&all.lock);
    return status ? tz_error_set(error, status, NULL, "interrupted before a kernel was compiled")
                  : TZ_OK;
}

static void end_work(void)
{
    pthread_mutex_lock(&all.lock);
    all.working--;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.lock);
}

/* An idle one, or else a new one. */
static tz_status take(compiler *out, bool *fresh, tz_error *error)
{
    tz_status status = TZ_OK;
    pthread_mutex_lock(&all.lock);
    for (*fresh = true; *fresh && all.idle_count > 0;) {
        *out = all.idle[--all.idle_count];
        *fresh = tz_feed_has_ended(out->feed);
        if (*fresh)
            tz_feed_kill(out->feed);
    }
    if (*fresh)
        status = start(out, error);
    pthread_mutex_unlock(&all.lock);
    return status;
}

/* One that can work again. */
static void give_back(const compiler *c)
{
    pthread_mutex_lock(&all.lock);
    const bool kept = all.idle_count < IDLE_MAX;
    if (kept)
        all.idle[all.idle_count++] = *c;
    pthread_mutex_unlock(&all.lock);
    if (!kept)
        tz_feed_kill(c->feed);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The bytes of a message behind its head, with a '\0' after them. TZ_FORMAT: this is no message;
 * else errors of tz_feed_receive(). */
static tz_status receive(compiler *c, const tz_feed_wait *wait, tz_status *word, char **data,
                         size_t *bytes, tz_error *error)
{
    tz__wire_head head;
    *data = NULL;
    tz_status status = tz_feed_receive(c->feed, &head, sizeof head, wait, error);
    if (status)
        return status;
    if (memcmp(head.magic, TZ__WIRE_MAGIC, sizeof head.magic) != 0 || head.word < TZ_OK ||
        head.word > TZ_UNSUPPORTED || head.bytes > TZ__WIRE_BYTES_MAX)
        return tz_error_set(error, TZ_FORMAT, NULL, "no message");
    *word = (tz_status)head.word;
    *bytes = head.bytes;
    *data = calloc(1, head.bytes + 1);
    if (!*data)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory for a kernel");
    status = tz_feed_receive(c->feed, *data, head.bytes, wait, error);
    if (status) {
        free(*data);
        *data = NULL;
    }
    return status;
}

/* The second of two texts; "" if there is none. */
static const char *second(const char *data, size_t bytes)
{
    const size_t length = strlen(data) + 1;
    return length <= bytes ? data + length : "";
}

/* Reads what a compiler says first, if nobody has. `out` may be NULL. */
static tz_status greet(compiler *c, const tz_feed_wait *wait, tz__nvrtc *out, tz_error *error)
{
    char *data;
    size_t bytes = 0;
    tz_status said = TZ_OK;
    if (c->greeted)
        return TZ_OK;
    tz_status status = receive(c, wait, &said, &data, &bytes, error);
    if (status || !data)
        return status;
    c->greeted = true;
    if (said) {
        status = tz_error_set(error, said, data, "%s", second(data, bytes));
    } else if (out) {
        out->major = atoi(data);
        snprintf(out->version, sizeof out->version, "%s", data);
        snprintf(out->library, sizeof out->library, "%s", second(data, bytes));
    }
    free(data);
    return status;
}

static tz_status send_order(compiler *c, const tz__compile_order *order, const tz_feed_wait *wait,
                            tz_error *error)
{
    tz__wire_head head = {.word = order->ptx ? TZ__WIRE_PTX : TZ__WIRE_CUBIN};
    size_t bytes = 0;
    char *data = NULL;
    tz_status status = TZ_OK;
    FILE *file = open_memstream(&data, &bytes);
    for (int k = 0; file && k < order->options_count; k++)
        fprintf(file, "%s%c", order->options[k], 0);
    if (file)
        fprintf(file, "%c%s%c", 0, order->source, 0);
    for (size_t k = 0; file && k < order->headers_count; k++)
        fprintf(file, "%s%c%s%c", order->headers[k].name, 0, order->headers[k].text, 0);
    if (!file || fclose(file) != 0 || !data) {
        status = tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to compile a kernel");
        goto done;
    }
    memcpy(head.magic, TZ__WIRE_MAGIC, sizeof head.magic);
    head.bytes = bytes;
    status = tz_feed_send(c->feed, &head, sizeof head, wait, error);
    if (!status)
        status = tz_feed_send(c->feed, data, bytes, wait, error);
done:
    free(data);
    return status;
}

/* ---- Compiling ------------------------------------------------------------------------------- */

/* Ends a compiler after an error of its socket, and says what has happened. *in_order: it had ended
 * by itself. */
static tz_status end_broken(const compiler *c, tz_status status, const char *doing, double limit_s,
                            bool *in_order, tz_error *error)
{
    tz_error why = {.message = "has ended"};
    *in_order = status == TZ_IO && tz_feed_end(c->feed, &why) == TZ_OK; /* within a second */
    if (status != TZ_IO)
        tz_feed_kill(c->feed);
    switch (status) {
    case TZ_IO:
        break;
    case TZ_RANGE:
        snprintf(why.message, sizeof why.message, "took more than %.3g s and was killed", limit_s);
        break;
    case TZ_FORMAT:
        snprintf(why.message, sizeof why.message, "did not answer as it should");
        break;
    case TZ_INTERRUPTED:
        return tz_error_set(error, status, NULL, "interrupted while a kernel compiled");
    default:
        return status;
    }
    return tz_error_set(error, TZ_BACKEND, NULL, "while it %s, the compiler %s; use --backend cpu",
                        doing, why.message);
}

/* A request and its reply. */
static tz_status ask(compiler *c, const tz__compile_order *order, const tz_feed_wait *wait,
                     tz_status *said, char **data, size_t *bytes, tz_error *error)
{
    tz_status status = greet(c, wait, NULL, error);
    if (!status)
        status = send_order(c, order, wait, error);
    return status ? status : receive(c, wait, said, data, bytes, error);
}

tz_status tz__compilers_compile(const tz__compile_order *order, void **out, size_t *bytes,
                                tz_error *error)
{
    compiler c;
    char *data = NULL, doing[96];
    bool fresh, again;
    tz_status said = TZ_OK, status = begin_work(order, error);
    if (status)
        return status;
    pthread_mutex_lock(&all.lock);
    const double limit_s = all.limit_s;
    pthread_mutex_unlock(&all.lock);
    const tz_feed_wait wait = {.end_s = tz_machine_clock_s() + limit_s, .cancel = order->cancel};
    snprintf(doing, sizeof doing, "compiled a kernel for %.40s",
             strchr(order->options[0], '=') + 1);
    do { /* again, if one that has been idle for long ends just before it reads this request */
        again = false;
        status = take(&c, &fresh, error);
        if (status)
            break;
        status = ask(&c, order, &wait, &said, &data, bytes, error);
        if (status)
            status = end_broken(&c, status, doing, limit_s, &again, error);
        else
            give_back(&c);
    } while (again && !fresh);
    end_work();
    if (!status && said)
        status = tz_error_set(error, said, data, "%s", second(data, *bytes));
    if (status)
        free(data);
    else
        *out = data;
    return status;
}

/* Asks a compiler what NVRTC it has. */
static tz_status look(tz__nvrtc *out, tz_error *error)
{
    compiler c;
    bool fresh, in_order;
    const tz_feed_wait wait = {.end_s = tz_machine_clock_s() + START_LIMIT_S};
    tz_status status = take(&c, &fresh, error);
    if (status)
        return status;
    status = greet(&c, &wait, out, error);
    if (status && c.greeted)
        tz_feed_kill(c.feed);
    else if (status)
        status = end_broken(&c, status, "opened NVRTC", START_LIMIT_S, &in_order, error);
    else
        give_back(&c);
    return status;
}

tz_status tz__compilers_look(tz__nvrtc *out, tz_error *error)
{
    pthread_mutex_lock(&all.looking);
    if (!all.looked) {
        all.failure = (tz_error){0};
        all.status = look(&all.nvrtc, &all.failure);
        all.looked = all.status != TZ_MEMORY;
    }
    const tz_status status = all.status;
    *out = all.nvrtc;
    if (status && error)
        *error = all.failure;
    pthread_mutex_unlock(&all.looking);
    return status;
}
