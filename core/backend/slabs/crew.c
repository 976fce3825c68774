#include "backend/slabs/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct member {
    struct tz_crew *crew;
    int number;
    pthread_t thread;
} member;

struct tz_crew {
    int count, started; /* started: threads, of members 1 on */
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    long round; /* of work; a member begins when it changes */
    int busy;
    bool leave;
    void (*work)(void *context, int i);
    void *context;
    member members[];
};

static void *serve(void *any)
{
    member *m = any;
    tz_crew *crew = m->crew;
    long round = 0;
    pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->round == round && !crew->leave)
            pthread_cond_wait(&crew->begin, &crew->lock);
        if (crew->leave)
            break;
        round = crew->round;
        pthread_mutex_unlock(&crew->lock);
        crew->work(crew->context, m->number);
        pthread_mutex_lock(&crew->lock);
        if (--crew->busy == 0)
            pthread_cond_signal(&crew->end);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

tz_status tz_crew_create(tz_crew **out, int count, tz_error *error)
{
    tz_crew *crew = calloc(1, sizeof *crew + (size_t)count * sizeof crew->members[0]);
    *out = NULL;
    if (!crew)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    crew->count = count;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->begin, NULL);
    pthread_cond_init(&crew->end, NULL);
    for (int i = 1; i < count; i++) {
        member *m = &crew->members[i];
        *m = (member){.crew = crew, .number = i};
        if (pthread_create(&m->thread, NULL, serve, m) != 0) {
            tz_crew_destroy(crew);
            return tz_error_set(error, TZ_MEMORY, "devices", "%d threads cannot be started", count);
        }
        crew->started = i;
    }
    *out = crew;
    return TZ_OK;
}

void tz_crew_destroy(tz_crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->leave = true;
    pthread_cond_broadcast(&crew->begin);
    pthread_mutex_unlock(&crew->lock);
    for (int i = 1; i <= crew->started; i++)
        pthread_join(crew->members[i].thread, NULL);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->begin);
    pthread_cond_destroy(&crew->end);
    free(crew);
}

void tz_crew_run(tz_crew *crew, void (*work)(void *context, int i), void *context)
{
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->busy = crew->count - 1;
    crew->round++;
    pthread_cond_broadcast(&crew->begin);
    pthread_mutex_unlock(&crew->lock);
    work(context, 0);
    pthread_mutex_lock(&crew->lock);
    while (crew->busy > 0)
        pthread_cond_wait(&crew->end, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}
