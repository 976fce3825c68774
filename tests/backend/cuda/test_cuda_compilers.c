/* core/backend/cuda/compile: what becomes of compilers that crash, hang or answer wrongly, with the
 * stand-in of NVRTC (fake/fake.h). */
#include "test_cuda_support.h"

#include "base/machine.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { PROGRAM_BYTES = 200 };

/* Each test begins without compilers and with an empty cache. */
static tz_status compile(const char *what, const tz_cancel *cancel)
{
    char program[PROGRAM_BYTES];
    void *cubin = NULL;
    size_t bytes = 0;
    snprintf(program, sizeof program, "%s // %s", source, what);
    const tz_status status =
        tz_cuda_compile(cancel, false, "sm_90", program, NULL, 0, NULL, &cubin, &bytes, &failure);
    if (!status) {
        assert_int_equal(bytes, strlen(program) + 6);
        assert_memory_equal((char *)cubin + 4, program, strlen(program));
    } else {
        assert_null(cubin);
    }
    free(cubin);
    return status;
}

static int children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

FAKE_TEST(a_compiler_that_fails_is_one_error)
{
    static const struct {
        const char *what, *message;
    } cases[] = {
        {"fake:crash", "while it compiled a kernel for sm_90, the compiler was ended by signal 11"},
        {"fake:exit", "for sm_90, the compiler failed with exit code 3: no licence"},
        {"fake:rubbish",
         "while it compiled a kernel for sm_90, the compiler did not answer as it should"},
        {"fake:flood", "for sm_90, the compiler was ended by signal 25"},
        {"fake:memory", "for sm_90, the compiler was ended by signal 6"},
        {"nowhere", "NVRTC 13.7 does not compile this for sm_90: kernel.cu(3): error"},
    };
    need_fake();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
#ifdef __SANITIZE_ADDRESS__
        if (strstr(cases[k].message, "signal"))
            continue; /* the sanitizer reports it, and has no limit of memory */
#endif
        assert_ok(compile("before", NULL));
        check_error(compile(cases[k].what, NULL), TZ_BACKEND, "", cases[k].message);
        assert_null(strchr(failure.message, '\n'));
        assert_ok(compile("after", NULL));
    }
    tz_cuda_compilers_end();
    assert_false(children());
}

FAKE_TEST(an_endless_compilation_ends)
{
    need_fake();
    setenv("FAKE_NVRTC_MS", "600000", 1);
    tz_cuda_compilers_limit(1, 0.3);
    const double begin = tz_machine_clock_s();
    check_error(compile("sleeps", NULL), TZ_BACKEND, "",
                "the compiler took more than 0.3 s and was killed");
    unsetenv("FAKE_NVRTC_MS");
    check_error(compile("fake:spin", NULL), TZ_BACKEND, "",
                "the compiler took more than 0.3 s and was killed");
    assert_true(tz_machine_clock_s() - begin < 60);
    assert_false(children());
    tz_cuda_compilers_limit(0, 0);
    assert_ok(compile("after", NULL));
}

/* One that ends while it is idle is replaced, and nobody hears of it. */
FAKE_TEST(idle_compilers_may_end)
{
    siginfo_t info;
    need_fake();
    assert_ok(compile("fake:leave", NULL));
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    assert_ok(compile("after", NULL));
    tz_cuda_compilers_end();
    assert_false(children());
}

static double stop_at_s;
static int stop_later(void)
{
    return tz_machine_clock_s() > stop_at_s;
}

static void *compile_slowly(void *status)
{
    *(tz_status *)status = compile("slow", &(tz_cancel){.stopped = stop_later});
    return NULL;
}

/* One compiles and one waits for its turn. */
FAKE_TEST(both_are_given_up_at_once)
{
    pthread_t thread;
    tz_status other = TZ_OK;
    need_fake();
    setenv("FAKE_NVRTC_MS", "600000", 1);
    tz_cuda_compilers_limit(1, 0);
    stop_at_s = tz_machine_clock_s() + 0.2;
    assert_int_equal(pthread_create(&thread, NULL, compile_slowly, &other), 0);
    assert_int_equal(compile("slow", &(tz_cancel){.stopped = stop_later}), TZ_INTERRUPTED);
    pthread_join(thread, NULL);
    assert_int_equal(other, TZ_INTERRUPTED);
    assert_false(children());
    assert_true(tz_machine_clock_s() - stop_at_s < 30); /* milliseconds on a quiet machine */
    unsetenv("FAKE_NVRTC_MS");
    tz_cuda_compilers_limit(0, 0);
}

enum { THREADS = 8, EACH = 6, MS = 20, AT_ONCE = 2 };

static void *compile_several(void *index)
{
    char what[32];
    for (int k = 0; k < EACH; k++) {
        snprintf(what, sizeof what, "%d of thread %d", k, *(int *)index);
        assert_ok(compile(what, NULL));
    }
    return NULL;
}

FAKE_TEST(many_threads_take_turns)
{
    pthread_t threads[THREADS];
    int indices[THREADS];
    need_fake();
    setenv("FAKE_NVRTC_MS", "20", 1);
    tz_cuda_compilers_limit(AT_ONCE, 0);
    assert_int_equal(tz_cuda_compilers_at_once(), AT_ONCE);
    const double begin = tz_machine_clock_s();
    for (int k = 0; k < THREADS; k++) {
        indices[k] = k;
        assert_int_equal(pthread_create(&threads[k], NULL, compile_several, &indices[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    assert_true(tz_machine_clock_s() - begin > 1e-3 * MS * THREADS * EACH / AT_ONCE);
    unsetenv("FAKE_NVRTC_MS");
    tz_cuda_compilers_limit(0, 0);
    assert_in_range(tz_cuda_compilers_at_once(), 1, 4096);
}

/* A process that dies leaves no compiler: what it leaves comes to this one. */
FAKE_TEST(compilers_die_with_their_process)
{
    scratch *s = *state;
    char log[1024];
    struct stat facts;
    need_fake();
    snprintf(log, sizeof log, "%s/log", s->directory);
    setenv("FAKE_NVRTC_LOG", log, 1);
    setenv("FAKE_NVRTC_MS", "600000", 1);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1L), 0);
    const pid_t child = fork();
    if (child == 0) {
        compile("endless", NULL);
        _exit(0);
    }
    while (stat(log, &facts) != 0 || facts.st_size == 0) /* it has begun */
        usleep(10000);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(waitpid(-1, NULL, 0) > 0); /* the compiler */
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    prctl(PR_SET_CHILD_SUBREAPER, 0L);
    unsetenv("FAKE_NVRTC_MS");
}

TEST_GROUP(open_fake, close_fake)
