/* tz_session_scenario(): a script is run as `trapeze run` does, in a Lua state of its own. */
#include "library/session.h"

#include "base/json.h"
#include "base/names.h"
#include "base/number.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

/* A run, and what its options point to. */
typedef struct scenario {
    tz_session *session;
    json_t *given;
    tz_registry *registry; /* with the stencils of the script */
    tz_paths sets;
    tz_buffer printed;
    tz_script_options options;
    tz_script_result result;
} scenario;

static void on_print(void *context, const char *text, size_t bytes)
{
    scenario *s = ((tz_session *)context)->scenario;
    tz_buffer_put(&s->printed, text, bytes);
}

static tz_status refuse(const char *key, const char *wanted, tz_error *error)
{
    return tz_error_set(error, TZ_USAGE, NULL, "tz_session_scenario: '%.60s' must be %s", key,
                        wanted);
}

/* NAME=VALUE of a member of `set`. */
static tz_status add_set(scenario *s, const char *name, const json_t *value, tz_error *error)
{
    char text[1200];
    char *number = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
    if (!json_is_string(value) && !json_is_number(value) && !json_is_boolean(value)) {
        free(number);
        return refuse(name, "a number, a text or a boolean", error);
    }
    const int length =
        snprintf(text, sizeof text, "%s=%s", name, number ? number : json_string_value(value));
    free(number);
    return length < (int)sizeof text
               ? tz_paths_add(&s->sets, text, error)
               : tz_error_set(error, TZ_USAGE, NULL, "the value of '%.60s' is too long", name);
}

static tz_status read_set(scenario *s, const json_t *object, tz_error *error)
{
    const char *name;
    json_t *value;
    tz_status status =
        json_is_object(object) ? TZ_OK : refuse("set", "an object, { NAME: VALUE }", error);
    if (!status)
        json_object_foreach((json_t *)object, name, value)
        {
            if (!status)
                status = add_set(s, name, value, error);
        }
    s->options.sets = (const char *const *)s->sets.items;
    s->options.sets_count = s->sets.count;
    return status;
}

#define AT(member) offsetof(tz_script_options, member)

/* Members of the options, as `trapeze run` has them. */
static const struct key {
    const char *name;
    enum { TEXT, INTEGER, FLAG, TIME } kind;
    size_t at;
    int low, high;
} keys[] = {
    {"backend", TEXT, AT(backend), 0, 0},
    {"check", FLAG, AT(check), 0, 0},
    {"checkpoint", TIME, AT(checkpoint_s), 0, 0},
    {"device", INTEGER, AT(device), 0, 1023},
    {"devices", TEXT, AT(devices), 0, 0},
    {"from", TEXT, AT(from), 0, 0},
    {"height", INTEGER, AT(policy.given.height), 1, TZ_PLAN_HEIGHT_MAX},
    {"out", TEXT, AT(out), 0, 0},
    {"policy", TEXT, AT(policy.policy), 0, 0},
    {"report", FLAG, AT(report), 0, 0},
    {"resume", TEXT, AT(resume), 0, 0},
    {"threads", INTEGER, AT(threads), 1, 4096},
    {"unsafe", FLAG, AT(unsafe), 0, 0},
};
enum { KEYS = sizeof keys / sizeof *keys };

static tz_status unknown(const char *name, tz_error *error)
{
    const char *names[KEYS + 1] = {"set"};
    char hint[400];
    for (int i = 0; i < KEYS; i++)
        names[i + 1] = keys[i].name;
    return tz_error_set(error, TZ_USAGE, NULL, "tz_session_scenario: unknown key '%.60s'%s", name,
                        tz_names_hint(hint, sizeof hint, name, names, KEYS + 1));
}

static tz_status read_option(scenario *s, const char *name, const json_t *value, tz_error *error)
{
    const struct key *key = keys;
    char wanted[80];
    if (strcmp(name, "set") == 0)
        return read_set(s, value, error);
    while (key < keys + KEYS && strcmp(key->name, name) != 0)
        key++;
    if (key == keys + KEYS)
        return unknown(name, error);
    void *at = (char *)&s->options + key->at;
    switch (key->kind) {
    case TEXT:
        *(const char **)at = json_string_value(value);
        return json_is_string(value) ? TZ_OK : refuse(name, "a text", error);
    case FLAG:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value) ? TZ_OK : refuse(name, "true or false", error);
    case TIME:
        if (json_is_string(value))
            return tz_duration_parse(json_string_value(value), "s", at, error);
        *(double *)at = json_number_value(value);
        return *(double *)at > 0 ? TZ_OK : refuse(name, "\"10min\" or seconds", error);
    default:
        *(int *)at = (int)json_integer_value(value);
        snprintf(wanted, sizeof wanted, "an integer, %d to %d", key->low, key->high);
        return json_is_integer(value) && json_integer_value(value) >= key->low &&
                       json_integer_value(value) <= key->high
                   ? TZ_OK
                   : refuse(name, wanted, error);
    }
}

static tz_status read_options(scenario *s, const char *text, tz_error *error)
{
    const char *key;
    json_t *value;
    tz_status status = TZ_OK;
    if (!text)
        return TZ_OK;
    status = tz_json_read("options", text, strlen(text), &s->given, error);
    if (!status && !json_is_object(s->given))
        status = refuse("options", "an object", error);
    if (!status)
        json_object_foreach(s->given, key, value)
        {
            if (!status)
                status = read_option(s, key, value, error);
        }
    return status;
}

/* What the run came to, as session->made. */
static void take_result(scenario *s)
{
    bool failed = false;
    json_t *made = json_object();
    json_t *printed = json_stringn(s->printed.text ? s->printed.text : "", s->printed.length);
    tz_json_put_text(made, "folder", s->result.folder, &failed);
    tz_json_put_integer(made, "steps", s->result.steps, &failed);
    tz_json_put(made, "seconds", json_real(s->result.seconds), &failed);
    tz_json_put_text(made, "ending", s->result.ending, &failed);
    tz_json_put(made, "stagnated", json_boolean(s->result.stagnated), &failed);
    tz_json_put(made, "can_go_on", json_boolean(s->result.can_go_on), &failed);
    tz_json_put(made, "printed", printed ? printed : json_string(""), &failed);
    json_decref(s->session->made);
    s->session->made = failed ? NULL : made;
    if (failed)
        json_decref(made);
}

tz_status tz_session_scenario(tz_session *session, const char *path, const char *options,
                              const char **result, tz_error *error)
{
    tz_status status = tz__check_given(session, "the session", error);
    if (!status)
        status = tz__check_given(path, "an argument", error);
    if (status)
        return status;
    scenario s = {.session = session,
                  .options = {.path = path,
                              .from_step = -1,
                              .cancelled = &session->cancelled,
                              .sink = session->options.sink}};
    s.options.sink.print = on_print;
    atomic_store(&session->cancelled, false);
    session->scenario = &s;
    status = read_options(&s, options, error);
    if (!status)
        status = tz_registry_create_apart(&s.registry, (const char *const *)session->folders.items,
                                          session->folders.count, error);
    s.options.registry = s.registry;
    if (!status)
        status = tz_script_run(&s.options, &s.result, error);
    session->scenario = NULL;
    if (!status && result) {
        take_result(&s);
        status = tz__session_write(session, result, error);
    }
    tz_registry_destroy(s.registry);
    tz_paths_clear(&s.sets);
    free(s.printed.text);
    json_decref(s.given);
    return status;
}
