/* Explorers: a thread compiles and predicts plans, best estimates first, while stages run. For the
 * policy "auto" (auto.c). */
#ifndef TZ_CORE_POLICY_EXPLORER_H
#define TZ_CORE_POLICY_EXPLORER_H

#include "policy/options.h"

typedef struct tz_explorer tz_explorer;

/* Explores the candidates that keep the members set in `given`. The problem is copied: parameters
 * may change. Without a thread it has ended. Errors: TZ_MEMORY. */
tz_status tz__explorer_create(tz_explorer **out, const tz_policy_subject *subject,
                              const tz_plan *given, tz_error *error);
/* Ends its compilations and frees it; NULL is fine. */
void tz__explorer_destroy(tz_explorer *explorer);
/* The next plan that is compiled, with its predicted time. False: none is ready. */
bool tz__explorer_take(tz_explorer *explorer, tz_policy_option *out);
/* True: nothing is left to compile. `reason`: why there is no prediction; "": there is one. */
bool tz__explorer_ended(tz_explorer *explorer, char *reason, size_t size);

#endif
