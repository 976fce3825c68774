/* tz_session_scenario(): a script is run as `trapeze run` does, in a Lua state of its own. */
#include "library/session.h"

#include "base/buffer.h"
#include "base/json.h"
#include "base/names.h"
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

static tz_status read_option(scenario *s, const char *key, const json_t *value, tz_error *error)
{
    static const char *const keys[] = {"set",     "out",   "backend", "threads",
                                       "devices", "check", "report"};
    char hint[200];
    const char **text = strcmp(key, "out") == 0       ? &s->options.out
                        : strcmp(key, "backend") == 0 ? &s->options.backend
                        : strcmp(key, "devices") == 0 ? &s->options.devices
                                                      : NULL;
    bool *flag = strcmp(key, "check") == 0    ? &s->options.check
                 : strcmp(key, "report") == 0 ? &s->options.report
                                              : NULL;
    if (strcmp(key, "set") == 0)
        return read_set(s, value, error);
    if (text && !json_is_string(value))
        return refuse(key, "a text", error);
    if (flag && !json_is_boolean(value))
        return refuse(key, "true or false", error);
    if (text)
        *text = json_string_value(value);
    else if (flag)
        *flag = json_is_true(value);
    else if (strcmp(key, "threads") != 0)
        return tz_error_set(
            error, TZ_USAGE, NULL, "tz_session_scenario: unknown key '%.60s'%s", key,
            tz_names_hint(hint, sizeof hint, key, keys, sizeof keys / sizeof *keys));
    else if (!json_is_integer(value) || json_integer_value(value) < 1 ||
             json_integer_value(value) > 4096)
        return refuse(key, "an integer, 1 to 4096", error);
    else
        s->options.threads = (int)json_integer_value(value);
    return TZ_OK;
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
