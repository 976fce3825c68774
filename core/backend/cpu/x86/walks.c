/* A list of finished walks under one lock, keyed by row function and the size of its span. Called
 * by cpu/work.c; core/predict/predictions.c owns the list. */
#include "backend/cpu/x86/walks.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct kept_walk {
    tz_row_fn *rows_function;
    int64_t count, rows;
    tz_status status;
    tz_error error;
    tz_walk walk;
} kept_walk;

struct tz_walks {
    pthread_mutex_t one_at_a_time;
    tz_walker *walker;
    kept_walk *kept;
    int count, room;
};

tz_walks *tz_walks_create(void)
{
    tz_walks *walks = calloc(1, sizeof *walks);
    if (walks)
        pthread_mutex_init(&walks->one_at_a_time, NULL);
    return walks;
}

void tz_walks_destroy(tz_walks *walks)
{
    if (!walks)
        return;
    tz_walker_destroy(walks->walker);
    pthread_mutex_destroy(&walks->one_at_a_time);
    free(walks->kept);
    free(walks);
}

/* The kept walk of these; if there is none, NULL. */
static const kept_walk *look_up(const tz_walks *w, tz_row_fn *rows, const tz_span *span)
{
    for (int i = 0; i < w->count; i++)
        if (w->kept[i].rows_function == rows && w->kept[i].count == span->count &&
            w->kept[i].rows == span->rows)
            return &w->kept[i];
    return NULL;
}

/* Where the next walk goes; NULL: not enough memory. */
static kept_walk *next_place(tz_walks *w)
{
    if (w->count == w->room) {
        const int room = w->room ? 2 * w->room : 16;
        kept_walk *grown = realloc(w->kept, (size_t)room * sizeof *w->kept);
        if (!grown)
            return NULL;
        w->kept = grown;
        w->room = room;
    }
    return &w->kept[w->count];
}

static tz_status follow(tz_walks *w, tz_row_fn *rows, const tz_span *span,
                        const tz_walk_range *ranges, size_t ranges_count, const kept_walk **out,
                        tz_error *error)
{
    kept_walk *next = next_place(w);
    if (!next)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    if (!w->walker) {
        const tz_status status = tz_walker_create(&w->walker, error);
        if (status)
            return status;
    }
    *next = (kept_walk){.rows_function = rows, .count = span->count, .rows = span->rows};
    next->status =
        tz_walker_walk(w->walker, rows, span, ranges, ranges_count, &next->walk, &next->error);
    if (next->status == TZ_MEMORY)
        return tz_error_set(error, TZ_MEMORY, next->error.place, "%s", next->error.message);
    w->count++;
    *out = next;
    return TZ_OK;
}

tz_status tz_walks_find(tz_walks *walks, tz_row_fn *rows, const tz_span *span,
                        const tz_walk_range *ranges, size_t ranges_count, tz_walk *out,
                        tz_error *error)
{
    pthread_mutex_lock(&walks->one_at_a_time);
    tz_status status = TZ_OK;
    const kept_walk *found = look_up(walks, rows, span);
    if (!found)
        status = follow(walks, rows, span, ranges, ranges_count, &found, error);
    if (!status) {
        status = found->status;
        *out = found->walk;
        if (status && error)
            *error = found->error;
    }
    pthread_mutex_unlock(&walks->one_at_a_time);
    return status;
}
