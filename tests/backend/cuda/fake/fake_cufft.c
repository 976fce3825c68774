/* libcufft.so.12 without a GPU: see fake.h. Sums in long double, in the order of a stream of the
 * stand-in for the driver. Only what Trapeze uses is there: transforms in place, in double
 * precision. What the real library refuses or leaves undefined ends the transform with an error. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT(symbol, parameters)                                                                 \
    __attribute__((visibility("default"))) int symbol parameters;                                  \
    int symbol parameters

enum {
    INVALID_PLAN = 1,
    ALLOC_FAILED = 2,
    INVALID_VALUE = 4,
    EXEC_FAILED = 6,
    UNALIGNED = 9,
    NO_WORKSPACE = 13
};
enum { D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69, PLANS_MAX = 64 };

typedef struct plan {
    int used, made, type, rank;
    long long n[3], batch, apart; /* doubles from a transform to the next */
    size_t work_bytes;
    char *work;
    void *stream;
} plan;
static plan plans[PLANS_MAX];

static int fault_of(const char *symbol)
{
    const char *text = getenv("FAKE_CUFFT_FAULT");
    const size_t length = strlen(symbol);
    return text && strncmp(text, symbol, length) == 0 && text[length] == ':'
               ? atoi(text + length + 1)
               : 0;
}
#define ENTER(symbol)                                                                              \
    do {                                                                                           \
        const int fault_ = fault_of(#symbol);                                                      \
        if (fault_)                                                                                \
            return fault_;                                                                         \
    } while (0)

static plan *plan_of(int handle)
{
    return handle >= 0 && handle < PLANS_MAX && plans[handle].used ? &plans[handle] : NULL;
}

EXPORT(cufftGetVersion, (int *version))
{
    ENTER(cufftGetVersion);
    *version = 12000;
    return 0;
}

EXPORT(cufftCreate, (int *handle))
{
    ENTER(cufftCreate);
    for (*handle = 0; *handle < PLANS_MAX; ++*handle)
        if (!plans[*handle].used) {
            plans[*handle] = (plan){.used = 1};
            return 0;
        }
    return ALLOC_FAILED;
}

EXPORT(cufftDestroy, (int handle))
{
    ENTER(cufftDestroy);
    plan *p = plan_of(handle);
    if (p)
        p->used = 0;
    return p ? 0 : INVALID_PLAN;
}

/* Plans that are alive. */
EXPORT(fake_cufft_plans, (void))
{
    int count = 0;
    for (int i = 0; i < PLANS_MAX; i++)
        count += plans[i].used;
    return count;
}

EXPORT(cufftSetAutoAllocation, (int handle, int allocates))
{
    ENTER(cufftSetAutoAllocation);
    return !plan_of(handle) ? INVALID_PLAN : allocates ? INVALID_VALUE : 0;
}

EXPORT(cufftMakePlanMany64,
       (int handle, int rank, long long *n, long long *in_embed, long long in_stride,
        long long in_distance, long long *out_embed, long long out_stride, long long out_distance,
        int type, long long batch, size_t *work_bytes))
{
    ENTER(cufftMakePlanMany64);
    plan *p = plan_of(handle);
    if (!p || p->made)
        return INVALID_PLAN;
    if (rank < 1 || rank > 3 || batch < 1 || in_stride != 1 || out_stride != 1 || !in_embed ||
        !out_embed)
        return INVALID_VALUE;
    const char *bytes = getenv("FAKE_CUFFT_WORK");
    *p = (plan){.used = 1, .made = 1, .type = type, .rank = rank, .batch = batch};
    p->work_bytes = *work_bytes = bytes ? (size_t)atoll(bytes) : 256;
    long long in = 1, out = 1;
    for (int k = 0; k < rank; k++) {
        const long long least = n[k] / 2 + 1;
        const int last = k == rank - 1;
        p->n[k] = n[k];
        if (n[k] < 2 || (k > 0 && !last && (in_embed[k] != n[k] || out_embed[k] != n[k])))
            return INVALID_VALUE;
        if (last && in_embed[k] != (type == D2Z ? 2 * least : type == Z2D ? least : n[k]))
            return INVALID_VALUE;
        if (last && out_embed[k] != (type == D2Z ? least : type == Z2D ? 2 * least : n[k]))
            return INVALID_VALUE;
        in *= last ? in_embed[k] : n[k];
        out *= last ? out_embed[k] : n[k];
    }
    p->apart = type == D2Z ? in : 2 * in;
    return in == in_distance && out == out_distance ? 0 : INVALID_VALUE;
}

EXPORT(cufftSetWorkArea, (int handle, void *work))
{
    ENTER(cufftSetWorkArea);
    plan *p = plan_of(handle);
    if (p)
        p->work = work;
    return p ? 0 : INVALID_PLAN;
}

EXPORT(cufftSetStream, (int handle, void *stream))
{
    ENTER(cufftSetStream);
    plan *p = plan_of(handle);
    if (p)
        p->stream = stream;
    return p ? 0 : INVALID_PLAN;
}

/* ---- Transforms ------------------------------------------------------------------------------ */

typedef struct pair {
    long double re, im;
} pair;

/* n numbers, `stride` apart, with exp(sign i ...). */
static void along(pair *at, long long n, long long stride, int sign)
{
    const long double turn = 2 * 3.14159265358979323846264338327950288L;
    pair *out = calloc((size_t)n, sizeof *out);
    for (long long k = 0; k < n; k++)
        for (long long x = 0; x < n; x++) {
            const long double angle = turn * (long double)(k * x % n) / (long double)n;
            const long double c = cosl(angle), s = sign * sinl(angle);
            const pair v = at[x * stride];
            out[k].re += v.re * c - v.im * s;
            out[k].im += v.re * s + v.im * c;
        }
    for (long long k = 0; k < n; k++)
        at[k * stride] = out[k];
    free(out);
}

static void transform(const plan *p, double *data)
{
    const long long last = p->n[p->rank - 1], row = last / 2 + 1;
    long long rows = 1;
    for (int k = 0; k < p->rank - 1; k++)
        rows *= p->n[k];
    pair *all = calloc((size_t)(rows * last), sizeof *all);
    for (long long r = 0; r < rows; r++)
        for (long long x = 0; x < last; x++) {
            pair *to = &all[r * last + x];
            if (p->type == D2Z) {
                to->re = data[r * 2 * row + x];
            } else if (p->type == Z2Z) {
                *to = (pair){data[2 * (r * last + x)], data[2 * (r * last + x) + 1]};
            } else { /* the half that is not there is conjugate, at the negative frequencies */
                long long from = 0, size = 1, rest = r;
                for (int k = p->rank - 2; k >= 0; k--) {
                    const long long f = rest % p->n[k];
                    rest /= p->n[k];
                    from += size * (x < row ? f : (p->n[k] - f) % p->n[k]);
                    size *= p->n[k];
                }
                const double *z = data + 2 * (from * row + (x < row ? x : last - x));
                *to = (pair){z[0], x < row ? z[1] : -z[1]};
            }
        }
    for (int k = 0; k < p->rank; k++) {
        long long stride = 1;
        for (int j = k + 1; j < p->rank; j++)
            stride *= p->n[j];
        for (long long i = 0; i < rows * last; i++)
            if (i / stride % p->n[k] == 0)
                along(all + i, p->n[k], stride, p->type == Z2D ? 1 : -1);
    }
    for (long long r = 0; r < rows; r++)
        for (long long x = 0; x < last; x++) {
            const pair z = all[r * last + x];
            if (p->type == Z2D) {
                data[r * 2 * row + x] = (double)z.re;
            } else if (p->type == Z2Z || x < row) {
                double *to = data + 2 * (r * (p->type == D2Z ? row : last) + x);
                to[0] = (double)z.re;
                to[1] = (double)z.im;
            }
        }
    free(all);
}

typedef struct job {
    plan plan;
    double *data;
} job;

static void run(void *any)
{
    job *j = any;
    memset(j->plan.work, 0xcd, j->plan.work_bytes);
    for (long long b = 0; b < j->plan.batch; b++)
        transform(&j->plan, j->data + b * j->plan.apart);
    free(j);
}

static int put(int handle, int type, void *from, void *to)
{
    plan *p = plan_of(handle);
    if (!p || !p->made || p->type != type)
        return INVALID_PLAN;
    if (from != to)
        return INVALID_VALUE;
    if ((size_t)from % 16)
        return UNALIGNED;
    if (!p->work)
        return NO_WORKSPACE;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = driver ? dlsym(driver, "cuLaunchHostFunc") : NULL;
    int (*launch)(void *, void (*)(void *), void *);
    job *j = malloc(sizeof *j);
    if (!symbol || !j)
        abort();
    memcpy(&launch, &symbol, sizeof launch);
    *j = (job){*p, from};
    const int result = launch(p->stream, run, j);
    dlclose(driver);
    if (result)
        free(j);
    return result ? EXEC_FAILED : 0;
}

EXPORT(cufftExecD2Z, (int handle, void *from, void *to))
{
    ENTER(cufftExecD2Z);
    return put(handle, D2Z, from, to);
}

EXPORT(cufftExecZ2D, (int handle, void *from, void *to))
{
    ENTER(cufftExecZ2D);
    return put(handle, Z2D, from, to);
}

EXPORT(cufftExecZ2Z, (int handle, void *from, void *to, int direction))
{
    ENTER(cufftExecZ2Z);
    return direction == -1 ? put(handle, Z2Z, from, to) : INVALID_VALUE;
}
