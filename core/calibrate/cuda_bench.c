/* Makes the text of a measuring kernel, compiles it, launches it between two events. Called by the
 * cuda_*.c files of core/calibrate, and by model/papers/costs.c. */
#include "calibrate/cuda_bench.h"

#include "backend/cuda/family/family.h"
#include "backend/cuda/family/text.h"
#include "base/embed.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TZ_EMBED(tz_cuda_text_calibrate, "cuda/calibrate.cuh");

enum { MEASUREMENTS = 100 }; /* about: progress only */

tz_status tz__bench_open(tz__bench *b)
{
    tz_cuda *cuda = b->cuda;
    const size_t cycles_bytes = (size_t)b->gpu->multiprocessors * 64 * sizeof(uint32_t);
    tz_status status = tz_cuda_queue_create(cuda, &b->queue, b->error);
    if (!status)
        status = tz_cuda_event_create(cuda, &b->begin, true, b->error);
    if (!status)
        status = tz_cuda_event_create(cuda, &b->end, true, b->error);
    if (!status)
        status = tz_cuda_allocate(cuda, &b->cycles, cycles_bytes, b->error);
    if (!status)
        status = tz_cuda_clear(cuda, b->cycles, cycles_bytes, b->error);
    if (!status)
        status =
            tz_cuda_allocate(cuda, &b->out, (size_t)b->gpu->multiprocessors * 1024 * 8, b->error);
    if (!status)
        status = tz_cuda_allocate(cuda, &b->barrier, TZ__BARRIER_BYTES, b->error);
    return status ? status : tz_cuda_clear(cuda, b->barrier, TZ__BARRIER_BYTES, b->error);
}

void tz__bench_close(tz__bench *b)
{
    tz_cuda_free(b->cuda, b->barrier);
    tz_cuda_free(b->cuda, b->out);
    tz_cuda_free(b->cuda, b->cycles);
    tz_cuda_event_destroy(b->cuda, b->end);
    tz_cuda_event_destroy(b->cuda, b->begin);
    tz_cuda_queue_destroy(b->cuda, b->queue);
}

/* ---- Launches -------------------------------------------------------------------------------- */

tz_status tz__bench_next(tz__bench *b, const char *what)
{
    const double done = (double)b->done++ / MEASUREMENTS;
    return tz_calibration_step(b->calibration, done < 0.99 ? done : 0.99, what, b->error);
}

char *tz__bench_text_of(const char *name, const char *kernels, int kind, int threads,
                        const char *definitions)
{
    tz_cuda_text text = {0};
    tz_cuda_emit(&text, "#define TZ_PROBE %d\n#define TZ_THREADS %d\n%s#line 1 \"%s\"\n%s", kind,
                 threads, definitions, name, kernels);
    if (!text.failed)
        return text.text;
    free(text.text);
    return NULL;
}

char *tz__bench_text(int kind, int threads, const char *definitions)
{
    return tz__bench_text_of("calibrate.cuh", tz_cuda_text_calibrate, kind, threads, definitions);
}

tz_status tz__bench_load_text(tz__bench *b, tz_cuda_kernel *out, char *text)
{
    if (!text)
        return tz_error_set(b->error, TZ_MEMORY, NULL, "not enough memory for a kernel's text");
    *out = (tz_cuda_kernel){0};
    const tz_status status = tz_cuda_need_kernel(b->cuda, out, text, "tz_probe", b->error);
    free(text);
    return status;
}

tz_status tz__bench_load(tz__bench *b, tz_cuda_kernel *out, int kind, int threads,
                         const char *definitions)
{
    return tz__bench_load_text(b, out, tz__bench_text(kind, threads, definitions));
}

tz_status tz__bench_time(tz__bench *b, const tz_cuda_kernel *kernel, int blocks, int threads,
                         int shared_bytes, bool cooperative, void **arguments, double *seconds)
{
    tz_status status = tz_cuda_event_record(b->cuda, b->begin, b->queue, b->error);
    if (!status)
        status =
            tz_cuda_launch(b->cuda, b->queue, kernel, (int[]){blocks, 1, 1}, (int[]){threads, 1, 1},
                           shared_bytes, cooperative, arguments, b->error);
    if (!status)
        status = tz_cuda_event_record(b->cuda, b->end, b->queue, b->error);
    if (!status)
        status = tz_cuda_event_wait(b->cuda, b->end, b->error);
    if (!status)
        status = tz_cuda_event_elapsed_s(b->cuda, b->begin, b->end, seconds, b->error);
    return status;
}

tz_status tz__bench_cycles(tz__bench *b, int blocks, double *median, double *most)
{
    uint32_t *counted = malloc((size_t)blocks * sizeof *counted);
    tz_samples samples = {0};
    if (!counted)
        return tz_error_set(b->error, TZ_MEMORY, NULL, "not enough memory to measure with");
    const tz_status status =
        tz_cuda_download(b->cuda, counted, b->cycles, (size_t)blocks * sizeof *counted, b->error);
    *most = 0;
    if (!status)
        for (int k = 0; k < blocks; k++) {
            /* Some of very many blocks are as good as all. */
            if (k % (blocks / TZ_SAMPLES_MAX + 1) == 0)
                tz_samples_add(&samples, counted[k]);
            *most = counted[k] > *most ? counted[k] : *most;
        }
    free(counted);
    if (status)
        return status;
    *median = tz_samples_median(&samples);
    if (*median > 0)
        return TZ_OK;
    return tz_error_set(b->error, TZ_BACKEND, NULL,
                        "a kernel on %s took no time: its clock cannot be measured with",
                        b->gpu->name);
}

/* ---- Chains ---------------------------------------------------------------------------------- */

void tz__chains_define(const tz__chains *chains, char definitions[TZ__DEFINITIONS_SIZE])
{
    snprintf(definitions, TZ__DEFINITIONS_SIZE,
             "#define TZ_TYPE %s\n#define TZ_STEPS %d\n#define TZ_PAIRS %d\n"
             "#define TZ_FIRST(k) (%s)\n#define TZ_STEP(x, y) %s\n#define TZ_FMA(a, b, c) %s((a), "
             "(b), (c))\n",
             chains->type, chains->steps, chains->pairs,
             chains->first ? chains->first : "(TZ_TYPE)(tz_thread() + k)", chains->step,
             strcmp(chains->type, "double") == 0 ? "__fma_rn" : "__fmaf_rn");
}

tz_status tz__bench_chains(tz__bench *b, const tz__chains *chains, int rounds, int blocks,
                           tz_cu_pointer followed, uint32_t first_word, tz__chains_time *out)
{
    char definitions[TZ__DEFINITIONS_SIZE];
    tz_cuda_kernel kernel;
    tz_samples samples = {0}, times = {0}, tops = {0};
    union {
        float f;
        double d;
        uint32_t w;
        struct {
            float f;
            uint32_t w;
        } both;
    } a = {0}, other = {0};
    if (strcmp(chains->type, "float") == 0) {
        a.f = 1.0009765625f;
        other.f = 0.0009765625f;
    } else if (strcmp(chains->type, "double") == 0) {
        a.d = 1.0009765625;
        other.d = 0.0009765625;
    } else if (strcmp(chains->type, "both") == 0) {
        a.both.f = other.both.f = 1.0009765625f;
        a.both.w = other.both.w = 0x5a5a5a5au;
    } else {
        a.w = followed ? first_word : 77;
        other.w = 5;
    }
    int words = chains->shared_words;
    tz__chains_define(chains, definitions);
    tz_status status = tz__bench_load(b, &kernel, TZ__PROBE_CHAINS, chains->threads, definitions);
    if (status)
        return status;
    void *arguments[] = {&b->cycles, &b->out, &followed, &rounds, &words, &a, &other};
    for (int i = -b->warmups; !status && i < b->repeats; i++) {
        double once = 0, here, top;
        status =
            tz__bench_time(b, &kernel, blocks, chains->threads, 4 * words, false, arguments, &once);
        if (!status)
            status = tz__bench_cycles(b, blocks, &here, &top);
        if (!status && i >= 0) {
            tz_samples_add(&samples, here / ((double)chains->steps * rounds));
            tz_samples_add(&times, once);
            tz_samples_add(&tops, top);
        }
    }
    tz_cuda_unload(b->cuda, &kernel);
    if (status)
        return status;
    *out = (tz__chains_time){.cycles = tz_samples_median(&samples),
                             .spread = 100 * tz_samples_spread(&samples),
                             .seconds = tz_samples_median(&times),
                             .most = tz_samples_median(&tops)};
    return TZ_OK;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

void tz__copier_define(const tz__copier *copier, char definitions[TZ__DEFINITIONS_SIZE])
{
    snprintf(definitions, TZ__DEFINITIONS_SIZE,
             "#define TZ_WRITES %d\n#define TZ_PACKETS %d\n#define TZ_LOAD %s\n", copier->writes,
             copier->packets, copier->load);
}

tz_status tz__copier_load(tz__bench *b, const tz__copier *copier, tz_cuda_kernel *out)
{
    char definitions[TZ__DEFINITIONS_SIZE];
    tz__copier_define(copier, definitions);
    return tz__bench_load(b, out, TZ__PROBE_COPY, TZ__COPY_THREADS, definitions);
}

size_t tz__copier_bytes(const tz__copier *copier)
{
    return (size_t)TZ__COPY_THREADS * 16 * (size_t)copier->packets;
}
