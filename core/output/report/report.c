/* The report of a run: `trapeze report` writes it. A section is a row of `sections`. */
#include "output/report/report.h"

#include "base/atomic.h"
#include "base/file.h"
#include "base/json_values.h"
#include "base/text.h"
#include "output/folder.h"
#include "output/page/page.h"
#include "output/report/contents.h"
#include "output/run_record.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* page.html, found by the assembler through the build's -Wa,-I. */
__asm__(".pushsection .rodata\ntz_report_page:\n.incbin \"output/report/page.html\"\n"
        ".byte 0\n.popsection\n");
extern const char tz_report_page[] __attribute__((visibility("hidden")));

/* Where the page has the data of the run. */
static const char place_of_data[] = "@DATA@";

enum { TABLE_BYTES = 4 << 20, LOG_BYTES = 1 << 20, SCENARIO_BYTES = 16 << 20 };

/* What the page shows: the JSON object `facts`, and the pictures. */
typedef struct report {
    const char *folder;
    const json_t *run; /* its record, borrowed */
    int pictures_mib;
    tz_paths *notes; /* what is missing or damaged; borrowed */
    json_t *facts;   /* owned */
    bool failed;     /* not enough memory for a fact */
    tz_report_pictures pictures;
} report;

static tz_status no_memory(const report *r, tz_error *error)
{
    return tz_error_set(error, TZ_MEMORY, r->folder, "not enough memory for a report");
}

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

/* [{"name", "simulation", "found", "frames": [{"name", "step"}]}]: pictures that the report has, in
 * the order of their data. */
static tz_status put_pictures(report *r, tz_error *error)
{
    const tz_report_pictures *p = &r->pictures;
    json_t *list = json_array();
    bool *failed = &r->failed;
    const tz_status status = tz_report_pictures_find(
        &r->pictures, r->folder, r->run, (size_t)r->pictures_mib << 20, r->notes, error);
    for (size_t i = 0, at = 0; i < p->series_count; i++) {
        json_t *entry = json_object(), *frames = json_array();
        int64_t found = 0;
        tz_json_put_text(entry, "name", p->series[i].name, failed);
        tz_json_put(entry, "simulation",
                    p->series[i].simulation < 0 ? json_null()
                                                : json_integer(p->series[i].simulation),
                    failed);
        tz_json_put(entry, "frames", frames, failed);
        for (; at < p->count && p->items[at].series == (int)i; at++, found++) {
            if (!p->items[at].kept)
                continue;
            json_t *frame = json_object();
            tz_json_put_text(frame, "name", p->items[at].name, failed);
            tz_json_put(frame, "step",
                        p->items[at].step < 0 ? json_null() : json_integer(p->items[at].step),
                        failed);
            *failed |= json_array_append_new(frames, frame) != 0;
        }
        tz_json_put_integer(entry, "found", found, failed);
        *failed |= json_array_append_new(list, entry) != 0;
    }
    tz_json_put(r->facts, "series", list, failed);
    tz_json_put_integer(r->facts, "every", (int64_t)p->every, failed);
    tz_json_put_integer(r->facts, "pictures_mib", r->pictures_mib, failed);
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
    return status == TZ_OK && r->failed ? no_memory(r, error) : status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static tz_status write_picture(const report *r, tz_atomic_file *file,
                               const tz_report_picture *picture, tz_error *error)
{
    char path[PATH_MAX + 300], *data;
    size_t bytes;
    snprintf(path, sizeof path, "%s/%s", r->folder, picture->name);
    tz_status status = tz_file_read(path, picture->bytes, &data, &bytes, error);
    if (status == TZ_OK)
        status = tz_page_base64(file, (const uint8_t *)data, bytes, error);
    free(data);
    return status;
}

/* {"facts": {…}, "data": ["BASE64", …]} */
static tz_status write_data(const report *r, tz_atomic_file *file, tz_error *error)
{
    char *facts = json_dumps(r->facts, JSON_COMPACT);
    tz_status status = facts ? tz_atomic_write(file, "{\"facts\":", 9, error) : no_memory(r, error);
    if (status == TZ_OK)
        status = tz_page_json(file, facts, error);
    free(facts);
    if (status == TZ_OK)
        status = tz_atomic_write(file, ",\"data\":[", 9, error);
    bool first = true;
    for (size_t i = 0; status == TZ_OK && i < r->pictures.count; i++) {
        if (!r->pictures.items[i].kept)
            continue;
        status = tz_atomic_write(file, first ? "\n\"" : ",\n\"", first ? 2 : 3, error);
        if (status == TZ_OK)
            status = write_picture(r, file, &r->pictures.items[i], error);
        if (status == TZ_OK)
            status = tz_atomic_write(file, "\"", 1, error);
        first = false;
    }
    return status == TZ_OK ? tz_atomic_write(file, "]}", 2, error) : status;
}

static tz_status write_page(const report *r, tz_atomic_file *file, tz_error *error)
{
    char *page = tz_page_assemble(tz_report_page);
    if (!page)
        return no_memory(r, error);
    const char *place = strstr(page, place_of_data);
    const char *rest = place + sizeof place_of_data - 1;
    tz_status status = tz_atomic_write(file, page, (size_t)(place - page), error);
    if (status == TZ_OK)
        status = write_data(r, file, error);
    if (status == TZ_OK)
        status = tz_atomic_write(file, rest, strlen(rest), error);
    free(page);
    return status;
}

tz_status tz_report_write(const char *folder, const char *path, int pictures_mib, tz_paths *notes,
                          tz_error *error)
{
    report r = {.folder = folder, .pictures_mib = pictures_mib, .notes = notes};
    json_t *run = NULL;
    tz_atomic_file *file = NULL;
    tz_status status = tz_run_load_record(folder, &run, error);
    if (status == TZ_OK)
        status = check_record(folder, run, error);
    r.run = run;
    if (status == TZ_OK)
        status = collect(&r, error);
    if (status == TZ_OK)
        status = tz_atomic_open(&file, path, true, error);
    if (status == TZ_OK) {
        status = write_page(&r, file, error);
        if (status == TZ_OK)
            status = tz_atomic_commit(file, error);
        else
            tz_atomic_abort(file);
    }
    tz_report_pictures_clear(&r.pictures);
    json_decref(r.facts);
    json_decref(run);
    return status;
}
