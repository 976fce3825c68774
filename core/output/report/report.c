/* The report of a run: `trapeze report` writes it. A section is a row of `sections`. */
#include "output/report/report.h"

#include "base/embed.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "output/folder.h"
#include "output/page/page.h"
#include "output/report/contents.h"
#include "output/run_record.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

TZ_EMBED(tz_report_page, "output/report/page.html");

enum { TABLE_BYTES = 4 << 20, LOG_BYTES = 1 << 20, SCENARIO_BYTES = 16 << 20 };

/* What the page shows: the JSON object `facts`, and the pictures. */
typedef struct report {
    const char *folder;
    const json_t *run; /* its record, borrowed */
    int pictures_mib;
    tz_paths *notes;    /* what is missing or damaged; borrowed */
    json_t *facts;      /* owned */
    bool failed;        /* not enough memory for a fact */
    tz_paths *pictures; /* the files that it shows, in the order of their data; borrowed */
} report;

/* ---- Collecting ------------------------------------------------------------------------------ */

static tz_status check_record(const char *folder, const json_t *run, tz_error *error)
{
    if (json_is_string(json_object_get(run, "status")) &&
        json_is_array(json_object_get(run, "simulations")) &&
        json_is_array(json_object_get(run, "files")))
        return TZ_OK;
    const char *version = json_string_value(json_object_get(run, "trapeze"));
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/run.json", folder);
    return tz_error_set(error, TZ_FORMAT, path,
                        "is no record of a run that Trapeze %s can read%s%.40s", TZ_VERSION,
                        version ? "; it was written by Trapeze " : "", version ? version : "");
}

/* How the run stands, and whether it can go on from a checkpoint. */
static tz_status put_state(report *r, tz_error *error)
{
    (void)error;
    const char *status = json_string_value(json_object_get(r->run, "status"));
    const bool killed = strcmp(status, "running") == 0 && !tz_folder_is_in_use(r->folder);
    const bool stopped =
        killed || strcmp(status, "failed") == 0 || strcmp(status, "interrupted") == 0;
    tz_checkpoint_reader *reader = NULL;
    tz_error ignored;
    const bool can_go_on = stopped && tz_checkpoints_newest(&reader, r->folder, &ignored) == TZ_OK;
    tz_checkpoint_close(reader);
    tz_json_put_text(r->facts, "state", killed ? "killed" : status, &r->failed);
    tz_json_put(r->facts, "can_go_on", json_boolean(can_go_on), &r->failed);
    return TZ_OK;
}

static tz_status put_origin(report *r, tz_error *error)
{
    (void)error;
    char path[PATH_MAX];
    const char *slash = realpath(r->folder, path) ? strrchr(path, '/') : NULL;
    json_t *name = json_string(slash ? slash + 1 : r->folder);
    tz_json_put(r->facts, "run", json_incref((json_t *)r->run), &r->failed);
    tz_json_put_text(r->facts, "trapeze", TZ_VERSION, &r->failed);
    tz_json_put(r->facts, "folder", name ? name : json_null() /* not UTF-8 */, &r->failed);
    return TZ_OK;
}

/* A text that cannot be read is null, and noted. */
static tz_status put_text(report *r, const char *key, const char *name, size_t limit,
                          tz_error *error)
{
    json_t *text = NULL;
    bool cut = false;
    char note[2100];
    tz_error fault;
    tz_status status = tz_report_text(r->folder, name, limit, &text, &cut, &fault);
    if (status == TZ_MEMORY) {
        *error = fault;
        return status;
    }
    if (status != TZ_OK) {
        tz_error_format(&fault, note, sizeof note);
    } else if (cut) {
        snprintf(note, sizeof note, "%s: the report has only its last %zu KiB", name, limit >> 10);
    }
    if ((status != TZ_OK || cut) && tz_paths_add(r->notes, note, error) != TZ_OK)
        r->failed = true;
    tz_json_put(r->facts, key, text ? text : json_null(), &r->failed);
    return TZ_OK;
}

static tz_status put_scenario(report *r, tz_error *error)
{
    return put_text(r, "scenario", "scenario.lua", SCENARIO_BYTES, error);
}

static tz_status put_log(report *r, tz_error *error)
{
    return put_text(r, "log", "log.txt", LOG_BYTES, error);
}

static tz_status put_tables(report *r, tz_error *error)
{
    json_t *tables = NULL;
    const tz_status status =
        tz_report_tables(r->folder, r->run, TABLE_BYTES, r->notes, &tables, error);
    tz_json_put(r->facts, "tables", tables, &r->failed);
    return status;
}

static json_t *number_or_null(int64_t number)
{
    return number < 0 ? json_null() : json_integer(number);
}

/* [{"name", "simulation", "found", "frames": [{"name", "step"}]}]: pictures that the report has, in
 * the order of their data. */
static tz_status put_pictures(report *r, tz_error *error)
{
    tz_report_pictures p = {.series = NULL};
    json_t *list = json_array();
    tz_status status = tz_report_pictures_find(&p, r->folder, r->run, (size_t)r->pictures_mib << 20,
                                               r->notes, error);
    for (size_t i = 0, at = 0; i < p.series_count; i++) {
        json_t *frames = json_array();
        json_int_t found = 0;
        for (; at < p.count && p.items[at].series == (int)i; at++, found++) {
            char path[PATH_MAX + 300];
            if (!p.items[at].kept)
                continue;
            snprintf(path, sizeof path, "%s/%s", r->folder, p.items[at].name);
            if (status == TZ_OK)
                status = tz_paths_add(r->pictures, path, error);
            r->failed |= json_array_append_new(
                             frames, json_pack("{s:s, s:o}", "name", p.items[at].name, "step",
                                               number_or_null(p.items[at].step))) != 0;
        }
        r->failed |= json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:I}", "name",
                                                           p.series[i].name, "simulation",
                                                           number_or_null(p.series[i].simulation),
                                                           "frames", frames, "found", found)) != 0;
    }
    tz_json_put(r->facts, "series", list, &r->failed);
    tz_json_put_integer(r->facts, "every", (int64_t)p.every, &r->failed);
    tz_json_put_integer(r->facts, "pictures_mib", r->pictures_mib, &r->failed);
    tz_report_pictures_clear(&p);
    return status;
}

static tz_status put_notes(report *r, tz_error *error)
{
    (void)error;
    const tz_paths *notes = r->notes;
    json_t *list = json_array();
    for (size_t i = 0; i < notes->count; i++) {
        tz_text_utf8(notes->items[i]);
        r->failed |= json_array_append_new(list, json_string(notes->items[i])) != 0;
    }
    tz_json_put(r->facts, "notes", list, &r->failed);
    return TZ_OK;
}

/* What the page shows, in the order of its data. page.html has a section for each. */
static tz_status (*const sections[])(report *r, tz_error *error) = {
    put_origin, put_state, put_scenario, put_log, put_tables, put_pictures, put_notes};

static tz_status collect(report *r, tz_error *error)
{
    tz_status status = TZ_OK;
    r->facts = json_object();
    for (size_t i = 0; status == TZ_OK && i < sizeof sections / sizeof *sections; i++)
        status = sections[i](r, error);
    return status == TZ_OK && r->failed
               ? tz_error_set(error, TZ_MEMORY, r->folder, "not enough memory for a report")
               : status;
}

tz_status tz_report_collect(const char *folder, int pictures_mib, tz_paths *notes,
                            tz_paths *pictures, json_t **out, tz_error *error)
{
    report r = {
        .folder = folder, .pictures_mib = pictures_mib, .notes = notes, .pictures = pictures};
    json_t *run = NULL;
    tz_status status = tz_run_load_record(folder, &run, error);
    if (status == TZ_OK)
        status = check_record(folder, run, error);
    r.run = run;
    if (status == TZ_OK)
        status = collect(&r, error);
    json_decref(run);
    *out = r.facts;
    return status;
}

tz_status tz_report_write(const char *folder, const char *path, int pictures_mib, tz_paths *notes,
                          tz_error *error)
{
    tz_paths pictures = {0};
    json_t *facts = NULL;
    tz_status status = tz_report_collect(folder, pictures_mib, notes, &pictures, &facts, error);
    if (status == TZ_OK)
        status = tz_page_write(path, tz_report_page, facts, &pictures, error);
    tz_paths_clear(&pictures);
    json_decref(facts);
    return status;
}
