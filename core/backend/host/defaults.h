/* What a backend need not do itself: computed on the host, from what load() and store() transfer.
 *
 * A backend whose states begin with their tz_backend_context writes TZ_HOST_DEFAULTS(NAME) before
 * its table, tz_backend_NAME, and TZ_HOST_DEFAULT_MEMBERS(NAME) in it; members that it has itself
 * are named after that. */
#ifndef TZ_CORE_BACKEND_HOST_DEFAULTS_H
#define TZ_CORE_BACKEND_HOST_DEFAULTS_H

#include "backend/host/reduce.h"

/* As the members of tz_backend. `context`: of the state. */
tz_status tz_host_default_fill(const tz_backend *backend, void *state,
                               const tz_backend_context *context, int field, const void *element,
                               tz_error *error);
tz_status tz_host_default_reduce(const tz_backend *backend, const void *state,
                                 const tz_backend_context *context, int field, tz_reduce_sums *sums,
                                 tz_error *error);
tz_status tz_host_default_all_finite(const tz_backend *backend, const void *state,
                                     const tz_backend_context *context, bool *finite,
                                     tz_error *error);
/* The cpu backend does it, with copies of the fields. */
tz_status tz_host_default_update(const tz_backend *backend, void *state,
                                 const tz_backend_context *context, int64_t step,
                                 tz_update_sums *sums, tz_error *error);
tz_status tz_host_default_refine(const tz_backend *backend, void *state,
                                 const tz_backend_context *context, void *correction,
                                 const tz_backend_context *correction_context, int64_t step,
                                 tz_update_sums *sums, tz_error *error);

#define TZ_HOST_DEFAULTS(NAME)                                                                     \
    static tz_status NAME##_default_fill(void *state, int field, const void *element,              \
                                         tz_error *error)                                          \
    {                                                                                              \
        return tz_host_default_fill(&tz_backend_##NAME, state, state, field, element, error);      \
    }                                                                                              \
    static tz_status NAME##_default_reduce(const void *state, int field, tz_reduce_sums *sums,     \
                                           tz_error *error)                                        \
    {                                                                                              \
        return tz_host_default_reduce(&tz_backend_##NAME, state, state, field, sums, error);       \
    }                                                                                              \
    static tz_status NAME##_default_all_finite(const void *state, bool *finite, tz_error *error)   \
    {                                                                                              \
        return tz_host_default_all_finite(&tz_backend_##NAME, state, state, finite, error);        \
    }                                                                                              \
    static tz_status NAME##_default_update(void *state, int64_t step, tz_update_sums *sums,        \
                                           tz_error *error)                                        \
    {                                                                                              \
        return tz_host_default_update(&tz_backend_##NAME, state, state, step, sums, error);        \
    }                                                                                              \
    static tz_status NAME##_default_refine(void *state, void *correction, int64_t step,            \
                                           tz_update_sums *sums, tz_error *error)                  \
    {                                                                                              \
        return tz_host_default_refine(&tz_backend_##NAME, state, state, correction, correction,    \
                                      step, sums, error);                                          \
    }

#define TZ_HOST_DEFAULT_MEMBERS(NAME)                                                              \
    .fill = NAME##_default_fill, .reduce = NAME##_default_reduce,                                  \
    .all_finite = NAME##_default_all_finite, .update = NAME##_default_update,                      \
    .refine = NAME##_default_refine

#endif
