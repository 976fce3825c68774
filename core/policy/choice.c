#include "policy/choice.h"

#include "base/names.h"
#include <stdio.h>
#include <string.h>

/* The policy of one source, before its height is considered. */
typedef struct wish {
    bool named; /* false: "auto", or nothing */
    tz_policy_kind kind;
} wish;

/* Those that a scenario may name after "auto". A height may be any of them but "fixed". */
static const tz_policy_kind kinds[] = {TZ_POLICY_PREDICTED, TZ_POLICY_ADAPTIVE,
                                       TZ_POLICY_EXHAUSTIVE, TZ_POLICY_FIXED};
enum { KINDS = sizeof kinds / sizeof *kinds, NAMES_MAX = 16 };

/* The i-th of all, those that are added before "fixed"; false: there is none. */
static bool kind_at(int i, tz_policy_kind *out)
{
    const int added = i - (KINDS - 1);
    int count = 0;
    while (tz_policy_name((tz_policy_kind)(TZ_POLICY_ADDED + count)))
        count++;
    *out = i < KINDS - 1   ? kinds[i]
           : added < count ? (tz_policy_kind)(TZ_POLICY_ADDED + added)
                           : TZ_POLICY_FIXED;
    return added <= count;
}

const char *tz_policy_choice_name(int i)
{
    tz_policy_kind kind;
    return i == 0 ? "auto" : kind_at(i - 1, &kind) ? tz_policy_name(kind) : NULL;
}

const char *tz_policy_searcher_name(int i)
{
    tz_policy_kind kind;
    for (int k = 0; kind_at(k, &kind); k++)
        if (tz_policy_searches(kind) && i-- == 0)
            return tz_policy_name(kind);
    return NULL;
}

/* False: `name` is none of them; `hint` then lists them. */
static bool read_name(const char *name, bool is_height, wish *out, char *hint, size_t size)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    while (count < NAMES_MAX && (names[count] = tz_policy_choice_name((int)count)))
        count++;
    count -= is_height;
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (wish){.named = i > 0, .kind = TZ_POLICY_PREDICTED};
            if (i > 0)
                kind_at((int)i - 1, &out->kind);
            return true;
        }
    tz_names_hint(hint, size, name, names, count);
    return false;
}

static tz_status read_wish(const tz_policy_choice *choice, wish *out, tz_error *error)
{
    char hint[256];
    *out = (wish){.kind = TZ_POLICY_PREDICTED};
    if (choice->height && !read_name(choice->height, true, out, hint, sizeof hint))
        return tz_error_set(error, TZ_UNKNOWN, NULL,
                            "'height' must be an integer, \"auto\" or a policy, not '%.60s'%s%s",
                            choice->height, hint, tz_policies_left_out);
    if (out->named && (choice->policy || choice->function))
        return tz_error_set(error, TZ_RANGE, NULL,
                            "'height' names a policy and 'policy' another: give one");
    if (choice->function)
        *out = (wish){.named = true, .kind = TZ_POLICY_FUNCTION};
    if (choice->policy && !read_name(choice->policy, false, out, hint, sizeof hint))
        return tz_error_set(error, TZ_UNKNOWN, NULL, "unknown policy '%.60s'%s%s", choice->policy,
                            hint, tz_policies_left_out);
    return TZ_OK;
}

static tz_status check_start(const tz_policy_choice *choice, const wish *policy, tz_error *error)
{
    if (choice->start == 0)
        return TZ_OK;
    if (!policy->named || !tz_policy_searches(policy->kind) || policy->kind == TZ_POLICY_FUNCTION) {
        char names[128] = "";
        const char *name;
        for (int i = 0; (name = tz_policy_searcher_name(i)); i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s\"%s\"",
                     i > 0 ? " or " : "", name);
        return tz_error_set(error, TZ_RANGE, NULL, "'start' goes with policy = %s", names);
    }
    if (choice->given.height > 0)
        return tz_error_set(error, TZ_RANGE, NULL,
                            "policy \"%s\" starts at 'start' or at 'height': give one",
                            tz_policy_name(policy->kind));
    return TZ_OK;
}

static tz_status override(tz_policy_config *config, wish *policy, const tz_policy_choice *by,
                          tz_error *error)
{
    wish other;
    const tz_status status = read_wish(by, &other, error);
    if (status)
        return status;
    const bool names_policy = by->policy || other.named;
    if (by->given.family[0])
        memcpy(config->given.family, by->given.family, sizeof config->given.family);
    if (names_policy && (!other.named || other.kind != TZ_POLICY_FIXED))
        config->given.height = 0;
    if (by->height || by->given.height > 0)
        config->given.height = by->given.height;
    if (by->height || by->given.height > 0 ||
        (names_policy && (!other.named || !policy->named || other.kind != policy->kind)))
        config->start = 0;
    if (names_policy || by->height || by->given.height > 0)
        *policy = other;
    config->forget = config->forget || by->forget;
    return TZ_OK;
}

tz_status tz_policy_choose(const tz_policy_choice *scenario, const tz_policy_choice *command_line,
                           tz_policy_config *out, tz_error *error)
{
    wish policy;
    *out = (tz_policy_config){.given = scenario->given,
                              .start = scenario->start > 0 ? scenario->start : 0,
                              .forget = scenario->forget};
    tz_status status = read_wish(scenario, &policy, error);
    if (!status)
        status = check_start(scenario, &policy, error);
    if (!status && command_line)
        status = override(out, &policy, command_line, error);
    out->kind = policy.named            ? policy.kind
                : out->given.height > 0 ? TZ_POLICY_FIXED
                                        : TZ_POLICY_PREDICTED;
    return status;
}
