#include "tests/fuzz/interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif

void *REAL(malloc)(size_t bytes);
void *REAL(calloc)(size_t count, size_t bytes);
void *REAL(realloc)(void *old, size_t bytes);
void *REAL(memalign)(size_t alignment, size_t bytes);
void REAL(free)(void *memory);

/* All zero until a test begins: then an allocation is only passed on. */
static atomic_bool counting, any_refused;
static atomic_long live, highest;
static long limit;

/* ---- Failing --------------------------------------------------------------------------------- */

/* FAIL_FROM=n, FAIL_COUNT=k: of the allocations of a process, counted from 1, k fail from the n-th
 * on. FAIL_REPORT=FILE: at its end the process writes the number of its allocations to the file. */
static long fail_from, fail_count;
static atomic_long asked;

static void __attribute__((destructor)) report(void)
{
    const char *path = getenv("FAIL_REPORT");
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (file >= 0) {
        dprintf(file, "%ld\n", atomic_load(&asked));
        close(file);
    }
}

static void __attribute__((constructor)) read_environment(void)
{
    const char *from = getenv("FAIL_FROM"), *count = getenv("FAIL_COUNT");
    fail_count = count ? atol(count) : 1;
    fail_from = from ? atol(from) : 0;
    atomic_store(&asked, 0);
}

static bool fails(size_t bytes)
{
    const long n = atomic_fetch_add(&asked, 1) + 1;
    bool fail = fail_from > 0 && n >= fail_from && n - fail_from < fail_count;
    if (atomic_load(&counting) &&
        (bytes > (size_t)limit || atomic_load(&live) + (long)bytes > limit)) {
        atomic_store(&any_refused, true);
        fail = true;
    }
    if (fail)
        errno = ENOMEM;
    return fail;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void add(long bytes)
{
    const long now = atomic_fetch_add(&live, bytes) + bytes;
    long most = atomic_load(&highest);
    while (now > most && !atomic_compare_exchange_weak(&highest, &most, now))
        ;
}

/* Blocks with a large alignment, and the bytes that were asked for. malloc_usable_size() also
 * counts what the C library left unused before such a block, which is up to the alignment. There
 * are few of them. */
enum { ALIGNED_MAX = 64, LARGE_ALIGNMENT = 1 << 16 };
static struct {
    void *_Atomic memory;
    long bytes;
} aligned[ALIGNED_MAX];

static long size_of(void *memory)
{
    const long usable = (long)malloc_usable_size(memory);
    if ((uintptr_t)memory % LARGE_ALIGNMENT == 0)
        for (int i = 0; i < ALIGNED_MAX; i++)
            if (atomic_load(&aligned[i].memory) == memory)
                return aligned[i].bytes;
    return usable;
}

static void remember_aligned(void *memory, size_t bytes)
{
    for (int i = 0; i < ALIGNED_MAX; i++) {
        void *nothing = NULL;
        if (atomic_compare_exchange_strong(&aligned[i].memory, &nothing, memory)) {
            aligned[i].bytes = (long)bytes;
            return;
        }
    }
}

static void forget_aligned(void *memory)
{
    if ((uintptr_t)memory % LARGE_ALIGNMENT == 0)
        for (int i = 0; i < ALIGNED_MAX; i++) {
            void *expected = memory;
            atomic_compare_exchange_strong(&aligned[i].memory, &expected, NULL);
        }
}

static void *taken(void *memory)
{
    if (memory && atomic_load(&counting))
        add(size_of(memory));
    return memory;
}

void allocations_begin(size_t at_most)
{
    limit = at_most > INTPTR_MAX ? INTPTR_MAX : (long)at_most;
    atomic_store(&live, 0);
    atomic_store(&highest, 0);
    atomic_store(&any_refused, false);
    atomic_store(&counting, true);
}

long allocations_end(size_t *peak, bool *refused)
{
    atomic_store(&counting, false);
    *peak = (size_t)atomic_load(&highest);
    *refused = atomic_load(&any_refused);
    return atomic_load(&live);
}

/* Files need not be on the disk here, and waiting for it would take most of the time. */
int fsync(int file)
{
    (void)file;
    return 0;
}

/* ---- The C library's functions --------------------------------------------------------------- */

void *malloc(size_t bytes)
{
    return fails(bytes) ? NULL : taken(REAL(malloc)(bytes));
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    return fails(__builtin_mul_overflow(count, bytes, &all) ? SIZE_MAX : all)
               ? NULL
               : taken(REAL(calloc)(count, bytes));
}

void *realloc(void *old, size_t bytes)
{
    const bool count = old && atomic_load(&counting);
    const long before = count ? size_of(old) : 0;
    if (fails(bytes))
        return NULL;
    void *memory = REAL(realloc)(old, bytes);
    if (old && (memory || bytes == 0))
        forget_aligned(old);
    if (count && (memory || bytes == 0))
        add(-before);
    return taken(memory);
}

void free(void *memory)
{
    if (memory && atomic_load(&counting))
        add(-size_of(memory));
    if (memory)
        forget_aligned(memory);
    REAL(free)(memory);
}

void *memalign(size_t alignment, size_t bytes)
{
    void *memory = fails(bytes) ? NULL : REAL(memalign)(alignment, bytes);
    if (memory && alignment >= LARGE_ALIGNMENT)
        remember_aligned(memory, bytes);
    return taken(memory);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    const int before = errno;
    void *memory = memalign(alignment, bytes);
    errno = before;
    *out = memory ? memory : *out;
    return memory ? 0 : ENOMEM;
}
