#include "lua/together.h"

#include "base/file.h"
#include "lua/interrupt.h"
#include "lua/keys.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds that a failed rank waits for the others to fail, too. */
static const double END_LIMIT_S = 10.0;
/* Seconds between two questions whether a signal has arrived. */
static const double BEAT_S = 0.1;

enum { COMPARED_BYTES = 1 << 20, BEATS_MOST = 1 << 20 };

const tz_ranks *tz_ranks_of(lua_State *L)
{
    return tz_context_get(L)->options->ranks;
}

bool tz_leads(lua_State *L)
{
    return tz_ranks_leads(tz_ranks_of(L));
}

/* ---- Files ------------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t count)
{
    const unsigned char *c = bytes;
    for (size_t i = 0; i < count; i++)
        h = (h ^ c[i]) * UINT64_C(0x100000001b3);
    return h;
}

static const uint64_t HASH_BEGIN = UINT64_C(0xcbf29ce484222325);

/* A file's size, and a hash of its first and last MiB. Of a file that cannot be read: zeros. */
typedef struct content {
    uint64_t bytes, hash;
} content;

static content read_content(const char *path)
{
    content read = {0};
    int file = -1;
    size_t bytes = 0;
    char *part = malloc(COMPARED_BYTES);
    if (part && tz_file_open(path, &file, &bytes, NULL) == TZ_OK) {
        read = (content){bytes + 1, HASH_BEGIN};
        ssize_t got = pread(file, part, COMPARED_BYTES, 0);
        read.hash = hash_bytes(read.hash, part, got > 0 ? (size_t)got : 0);
        const size_t tail = bytes > COMPARED_BYTES ? bytes - COMPARED_BYTES : bytes;
        got = pread(file, part, COMPARED_BYTES, (off_t)tail);
        read.hash = hash_bytes(read.hash, part, got > 0 ? (size_t)got : 0);
        close(file);
    }
    free(part);
    return read;
}

void tz_together_check_file(lua_State *L, const char *path)
{
    const tz_ranks *ranks = tz_ranks_of(L);
    if (!ranks)
        return;
    const content mine = read_content(path);
    content led = mine;
    tz_error error = {0};
    tz_ranks_agree(ranks, &led, sizeof led);
    tz_status status = TZ_OK;
    if (mine.bytes != led.bytes || mine.hash != led.hash)
        status = tz_error_set(&error, TZ_IO, path, "%s",
                              mine.bytes == 0  ? "cannot be read here, but by rank 0"
                              : led.bytes == 0 ? "can be read here, but not by rank 0"
                                               : "is another file than that of rank 0");
    if (tz_ranks_agree_status(ranks, status, &error) != TZ_OK)
        tz_raise_error(L, NULL, &error);
}

/* ---- Start and end ----------------------------------------------------------------------------- */

/* What must be the same: lines "WHAT\tVALUE". */
typedef struct manifest {
    char *text;
    size_t bytes;
} manifest;

static void add_options(FILE *out, const tz_script_options *options)
{
    const tz_plan_wish *policy = &options->policy;
    fprintf(out, "options\t%s%s%s--backend %s --height %s%d --policy %s --family %s%s\n",
            options->check ? "--check " : "", options->unsafe ? "--unsafe " : "",
            options->sync ? "--sync " : "", options->backend ? options->backend : "auto",
            policy->height ? policy->height : "", policy->given.height,
            policy->policy ? policy->policy : "auto",
            policy->given.family[0] ? policy->given.family : "any",
            policy->forget ? " --forget" : "");
    for (size_t i = 0; i < options->sets_count; i++)
        fprintf(out, "option --set\t%s\n", options->sets[i]);
}

static void add_plugins(FILE *out, const tz_registry *registry)
{
    for (size_t i = 0; i < tz_registry_count(registry); i++) {
        const tz_registry_entry *entry = tz_registry_get(registry, i);
        const char *slash = strrchr(entry->path, '/');
        if (entry->defined)
            continue;
        const content read = read_content(entry->path);
        fprintf(out, "plugin %s\t%016" PRIx64 "\n", slash ? slash + 1 : entry->path, read.hash);
    }
}

/* False: not enough memory. */
static bool make_manifest(const tz_context *context, manifest *out)
{
    *out = (manifest){NULL, 0};
    FILE *file = open_memstream(&out->text, &out->bytes);
    if (!file)
        return false;
    fprintf(file, "version of Trapeze\t%s\n", TZ_VERSION);
    fprintf(file, "script\t%s, %zu bytes, %016" PRIx64 "\n", context->name, context->bytes,
            hash_bytes(HASH_BEGIN, context->text, context->bytes));
    add_options(file, context->options);
    add_plugins(file, context->options->registry);
    return fclose(file) == 0;
}

/* The first line that differs. */
static tz_status compare(const char *mine, const char *led, tz_error *error)
{
    while (*mine && *led) {
        const size_t length = strcspn(mine, "\n"), led_length = strcspn(led, "\n");
        const int what = (int)strcspn(mine, "\t\n"), led_what = (int)strcspn(led, "\t\n");
        if (length != led_length || strncmp(mine, led, length) != 0) {
            if (what == led_what && strncmp(mine, led, (size_t)what) == 0)
                return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                    "the %.*s differs: here it is %.*s, on rank 0 %.*s; all ranks "
                                    "need the same",
                                    what, mine, (int)length - what - 1, mine + what + 1,
                                    (int)led_length - led_what - 1, led + led_what + 1);
            break;
        }
        mine += length + (mine[length] == '\n');
        led += led_length + (led[led_length] == '\n');
    }
    if (!*mine && !*led)
        return TZ_OK;
    return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                        "here is %s%.*s, where rank 0 has %s%.*s; all ranks need the same",
                        *mine ? "the " : "nothing", (int)strcspn(mine, "\t\n"), mine,
                        *led ? "the " : "nothing", (int)strcspn(led, "\t\n"), led);
}

tz_status tz_together_compare(const tz_context *context, tz_error *error)
{
    const tz_ranks *ranks = context->options->ranks;
    manifest mine;
    if (!ranks)
        return TZ_OK;
    if (!make_manifest(context, &mine))
        ranks->abort(ranks, "not enough memory to compare the ranks");
    uint64_t bytes = mine.bytes;
    tz_ranks_agree(ranks, &bytes, sizeof bytes);
    char *led = calloc(1, bytes + 1);
    if (!led)
        ranks->abort(ranks, "not enough memory to compare the ranks");
    if (ranks->rank == 0)
        memcpy(led, mine.text, bytes);
    tz_ranks_agree(ranks, led, bytes);
    const tz_status status = compare(mine.text, led, error);
    free(led);
    free(mine.text);
    return tz_ranks_agree_status(ranks, status, error);
}

tz_status tz_together_end(const tz_ranks *ranks, tz_status status, tz_error *error)
{
    if (!ranks)
        return status;
    if (!ranks->meet(ranks, status == TZ_OK ? INFINITY : END_LIMIT_S)) {
        char text[2100];
        tz_error_format(error, text, sizeof text);
        ranks->abort(ranks, text);
    }
    return tz_ranks_agree_status(ranks, status, error);
}

int tz_together_signal(tz_context *context)
{
    /* What a rank tells the others. */
    typedef struct beat {
        int64_t noticed, stride;
    } beat;
    const tz_ranks *ranks = context->options->ranks;
    if (!ranks || tz_interrupt_signal() != 0 || --context->beat.left > 0)
        return tz_interrupt_signal();
    const double now_s = tz_machine_clock_s(), spent_s = now_s - context->beat.last_s;
    const double wanted = (double)context->beat.stride * BEAT_S / (spent_s > 1e-9 ? spent_s : 1e-9);
    const double most = 2.0 * (double)context->beat.stride + 1;
    const beat mine = {tz_interrupt_noticed(),
                       (int64_t)fmax(1, fmin(fmin(wanted, most), BEATS_MOST))};
    beat *all = malloc((size_t)ranks->count * sizeof *all);
    if (!all)
        ranks->abort(ranks, "not enough memory");
    ranks->gather_all(ranks, &mine, sizeof mine, all);
    context->beat.left = context->beat.stride = all[0].stride;
    context->beat.last_s = now_s;
    int signal = 0;
    for (int r = ranks->count; r-- > 0;)
        signal = all[r].noticed ? (int)all[r].noticed : signal;
    free(all);
    if (signal)
        tz_interrupt_take(signal);
    return signal;
}
