/* The words of device text: the functions that a lane calls. */
#include "machine.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NONSENSE = 0xb7, PACKET_BYTES = 16, SECTOR_BYTES = 32 };

simt *simt_here;

/* ---- Findings -------------------------------------------------------------------------------- */

const char *simt_finding_text(simt_finding finding)
{
    static const char *const texts[] = {
#define SIMT_FINDING_TEXT(name, text) text,
        SIMT_FINDINGS(SIMT_FINDING_TEXT)
#undef SIMT_FINDING_TEXT
    };
    return texts[finding];
}

/* Is there room for another message? Counts the finding if not. */
static bool wanted(simt_report *report, simt_finding finding)
{
    const bool room =
        report->count[finding] < SIMT_MESSAGES_EACH && report->messages < SIMT_MESSAGES;
    report->count[finding] += !room;
    return room;
}

void simt_report_add(simt_report *report, simt_finding finding, const char *format, ...)
{
    if (!wanted(report, finding))
        return;
    report->count[finding]++;
    char *at = report->message[report->messages++];
    const int used = snprintf(at, SIMT_MESSAGE_SIZE, "%s: ", simt_finding_text(finding));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(at + used, SIMT_MESSAGE_SIZE - (size_t)used, format, arguments);
    va_end(arguments);
}

long long simt_report_total(const simt_report *report)
{
    long long total = 0;
    for (int f = 0; f < SIMT_FINDINGS_COUNT; f++)
        total += report->count[f];
    return total;
}

static const char *word_text(int word)
{
    static const char *const texts[] = {[SIMT_SHUFFLE_UP] = "tz_shuffle_up",
                                        [SIMT_SHUFFLE_DOWN] = "tz_shuffle_down",
                                        [SIMT_SHUFFLE_XOR] = "tz_shuffle_xor",
                                        [SIMT_SHUFFLE] = "tz_shuffle",
                                        [SIMT_WARP_WORD] = "tz_warp",
                                        [SIMT_BARRIER] = "tz_barrier",
                                        [SIMT_BARRIER_WARP] = "tz_barrier_warp",
                                        [SIMT_BARRIER_GRID] = "tz_grid_barrier",
                                        [SIMT_PAUSE] = "tz_pause",
                                        [SIMT_ADJACENT_ARRIVE] = "tz_adjacent_arrive",
                                        [SIMT_ADJACENT_EVEN] = "tz_adjacent_wait",
                                        [SIMT_ADJACENT_ODD] = "tz_adjacent_wait"};
    return texts[word];
}

simt_text simt_place_text(simt_place place)
{
    simt_text t;
    const char *name = place.file ? strrchr(place.file, '/') : NULL;
    snprintf(t.text, sizeof t.text, "%.60s:%d",
             name         ? name + 1
             : place.file ? place.file
                          : "the start",
             place.line);
    return t;
}

static simt_text thread_text(int number, int thread)
{
    simt_text t;
    const int *grid = simt_here->launch->grid;
    number--;
    snprintf(t.text, sizeof t.text, "thread %d (warp %d, lane %d) of block %d,%d,%d", thread,
             thread / SIMT_WARP, thread % SIMT_WARP, number % grid[0], number / grid[0] % grid[1],
             number / grid[0] / grid[1]);
    return t;
}

simt_text simt_lane_text(const simt_lane *lane)
{
    return thread_text(lane->block->number, lane->facts.thread);
}

simt_text simt_wait_text(const simt_lane *lane)
{
    simt_text t = {"has ended"};
    char bytes[32] = "";
    if (lane->state == SIMT_IS_OVER)
        return t;
    if (lane->word < SIMT_BARRIER)
        snprintf(bytes, sizeof bytes, " of %d bytes", lane->bytes);
    snprintf(t.text, sizeof t.text, "waits at %s%s (%.100s)", word_text(lane->word), bytes,
             simt_place_text(lane->place).text);
    return t;
}

void simt_give_up(void)
{
    simt_here->failed = true;
    simt_fiber_leave(&simt_here->running->fiber, &simt_here->scheduler);
    abort();
}

/* Every word starts here. `looks`: a word that no other lane may wait for. */
static simt_lane *begin(simt_place place, bool looks)
{
    simt_lane *l = simt_here->running;
    l->place = place;
    simt_here->moved = simt_here->moved || !looks;
    if (simt_here->expired) {
        simt_report_add(simt_here->report, SIMT_FOUND_STOPPED, "no end in sight at %s: %s",
                        simt_place_text(place).text, simt_lane_text(l).text);
        simt_give_up();
    }
    return l;
}

/* ---- Words that wait ------------------------------------------------------------------------- */

static void wait_in(simt_lane *l, int state, int word)
{
    l->state = state;
    l->word = word;
    simt_fiber_switch(&l->fiber, &simt_here->scheduler);
}

static unsigned long long word_shuffle(int word, unsigned long long value, int bytes, int n,
                                       simt_place place)
{
    simt_lane *l = begin(place, false);
    if (word != SIMT_SHUFFLE && (n < 0 || n >= SIMT_WARP)) {
        simt_report_add(simt_here->report, SIMT_FOUND_LANES, "%s by %d lanes at %s: %s",
                        word_text(word), n, simt_place_text(place).text, simt_lane_text(l).text);
        simt_give_up();
    }
    l->value = value;
    l->bytes = bytes;
    l->n = n;
    wait_in(l, SIMT_AT_WARP, word);
    return l->value;
}

static void word_barrier(int word, simt_place place)
{
    simt_lane *l = begin(place, false);
    const bool adjacent = word == SIMT_ADJACENT_EVEN || word == SIMT_ADJACENT_ODD;
    l->bytes = 0;
    if (word == SIMT_ADJACENT_ARRIVE) {
        l->arrived++;
        wait_in(l, SIMT_AT_WARP, word);
        return;
    }
    if (adjacent && (l->arrived <= l->waited || l->waited % 2 != (word == SIMT_ADJACENT_ODD))) {
        simt_report_add(simt_here->report, SIMT_FOUND_BARRIER,
                        "phase %d of %s at %s, having arrived %d times: %s", l->waited,
                        word_text(word), simt_place_text(place).text, l->arrived,
                        simt_lane_text(l).text);
        simt_give_up();
    }
    wait_in(l, word == SIMT_BARRIER_WARP ? SIMT_AT_WARP : SIMT_AT_BLOCK, word);
    l->waited += adjacent;
}

static bool is_in(const simt_buffer *buffer, const void *at, int bytes)
{
    return (const char *)at >= (const char *)buffer->at &&
           (const char *)at + bytes <= (const char *)buffer->at + buffer->bytes;
}

static void word_grid_barrier(unsigned int *barrier, simt_place place)
{
    simt_lane *l = begin(place, false);
    const simt_launch *launch = simt_here->launch;
    bool known = false;
    for (int b = 0; b < launch->buffers_count; b++)
        known = known || (launch->buffers[b].writable && is_in(&launch->buffers[b], barrier, 4));
    if (!launch->cooperative || !known) {
        simt_report_add(simt_here->report, known ? SIMT_FOUND_LAUNCH : SIMT_FOUND_ADDRESS,
                        known ? "tz_grid_barrier at %s in a launch that is not cooperative: %s"
                              : "tz_grid_barrier at %s with a word in no buffer: %s",
                        simt_place_text(place).text, simt_lane_text(l).text);
        simt_give_up();
    }
    /* The word ends like the GPU's. */
    if (l->facts.thread == 0 && l->block->number == 1)
        *barrier += 0x80000000u;
    l->bytes = 0;
    wait_in(l, SIMT_AT_GRID, SIMT_BARRIER_GRID);
}

static void word_pause(simt_place place)
{
    simt_lane *l = begin(place, true);
    l->bytes = 0;
    wait_in(l, SIMT_PAUSES, SIMT_PAUSE);
}

/* ---- Words that touch memory ----------------------------------------------------------------- */

static simt_access access_now(const simt_lane *l)
{
    return (simt_access){l->block->number, l->facts.thread, l->block->round, l->block->interval,
                         l->warp_interval, l->arrived,      l->waited,       l->place};
}

static void touch(simt_cell *cell, const char *where, long long offset, bool writes,
                  const simt_access *now)
{
    simt_access other;
    const int found =
        writes ? simt_cell_write(cell, now, &other) : simt_cell_read(cell, now, &other);
    if (found && wanted(simt_here->report, SIMT_FOUND_RACE))
        simt_report_add(
            simt_here->report, SIMT_FOUND_RACE,
            "byte %lld of %s, after barrier %d: %s %s it at %s, %s %s it at %s", offset, where,
            now->interval + now->round, thread_text(other.block, other.thread).text,
            found == SIMT_RACES_WITH_WRITER ? "writes" : "reads", simt_place_text(other.place).text,
            thread_text(now->block, now->thread).text, writes ? "writes" : "reads",
            simt_place_text(now->place).text);
}

static void bad_address(const char *what, const char *where, long long offset, int bytes)
{
    const simt_lane *l = simt_here->running;
    simt_report_add(simt_here->report, SIMT_FOUND_ADDRESS,
                    "%s of %d bytes at byte %lld of %s, %s: %s", what, bytes, offset, where,
                    simt_place_text(l->place).text, simt_lane_text(l).text);
    simt_give_up();
}

static const char *access_text(int access)
{
    return access == SIMT_WRITE || access == SIMT_SEND ? "write"
           : access == SIMT_ATOMIC                     ? "atomic"
                                                       : "read";
}

enum { DEVICE_CELL = 2 }; /* of device memory, the smallest element */
enum { CELL = SIMT_CELL_BYTES };

static void word_shared(int access, const void *at, int bytes, int aligned, simt_place place)
{
    const simt_lane *l = begin(place, false);
    const simt_access now = access_now(l);
    const long long offset = (const unsigned char *)at - l->block->shared;
    if (offset < 0 || offset + bytes > simt_here->launch->shared_bytes)
        bad_address(access_text(access), "shared memory", offset, bytes);
    if (offset % aligned != 0)
        bad_address("unaligned access", "shared memory", offset, bytes);
    for (long long b = offset / CELL * CELL; b < offset + bytes; b += CELL) {
        simt_cell *cell = &l->block->cells[b / CELL];
        if (access != SIMT_WRITE && !cell->writer.block &&
            wanted(simt_here->report, SIMT_FOUND_UNWRITTEN))
            simt_report_add(simt_here->report, SIMT_FOUND_UNWRITTEN,
                            "byte %lld of shared memory, after barrier %d: %s reads it at %s", b,
                            l->block->interval, simt_lane_text(l).text,
                            simt_place_text(place).text);
        if (access != SIMT_ATOMIC)
            touch(cell, "shared memory", b, access == SIMT_WRITE, &now);
    }
}

/* The buffer that the access is in; gives up when there is none. */
static int find_buffer(int access, const void *at, int bytes)
{
    const simt_launch *launch = simt_here->launch;
    long long nearest = 0, least = -1;
    const char *name = "no buffer";
    for (int b = 0; b < launch->buffers_count; b++) {
        const simt_buffer *buffer = &launch->buffers[b];
        const long long offset = (const char *)at - (const char *)buffer->at;
        const long long away = offset < 0 ? -offset : offset - (long long)buffer->bytes;
        if (is_in(buffer, at, bytes))
            return b;
        if (least < 0 || away < least) {
            least = away;
            nearest = offset;
            name = buffer->name;
        }
    }
    bad_address(access_text(access), name, nearest, bytes);
    return 0;
}

static void report_stale(const simt_access *writer, const simt_buffer *buffer, long long offset)
{
    const simt_lane *l = simt_here->running;
    simt_report_add(simt_here->report, SIMT_FOUND_STALE,
                    "byte %lld of %s: %s wrote it at %s, %s reads it at %s, not by tz_load_fresh",
                    offset, buffer->name, thread_text(writer->block, writer->thread).text,
                    simt_place_text(writer->place).text, simt_lane_text(l).text,
                    simt_place_text(l->place).text);
}

static void word_memory(int access, const void *at, int bytes, int aligned, const void *value,
                        simt_place place)
{
    const simt_lane *l = begin(place, access == SIMT_PEEK || access == SIMT_READ_FRESH);
    const unsigned char *shared = l->block->shared, *byte = at;
    const bool writes = access == SIMT_WRITE || access == SIMT_ATOMIC || access == SIMT_SEND;
    if (byte >= shared && byte < shared + simt_here->launch->shared_bytes) {
        word_shared(access, at, bytes, aligned, place);
        return;
    }
    const int b = find_buffer(access, at, bytes);
    const simt_buffer *buffer = &simt_here->launch->buffers[b];
    const long long offset = byte - (const unsigned char *)buffer->at;
    if (offset % aligned != 0)
        bad_address("unaligned access", buffer->name, offset, bytes);
    if (!buffer->writable && writes)
        bad_address("write", buffer->name, offset, bytes);
    /* Accesses of 8 bytes are atomic: they never race. */
    if (access == SIMT_ATOMIC || access == SIMT_SEND || access == SIMT_PEEK)
        return;
    simt_cells *cells = &simt_here->memory[b];
    if (!simt_cells_provide(cells, (buffer->bytes + DEVICE_CELL - 1) / DEVICE_CELL))
        return;
    const size_t first = (size_t)offset / DEVICE_CELL;
    const size_t end = ((size_t)offset + (size_t)bytes - 1) / DEVICE_CELL + 1;
    cells->low = first < cells->low ? first : cells->low;
    cells->high = end > cells->high ? end : cells->high;
    const simt_access now = access_now(l);
    const int step = bytes < 4 ? bytes : 4;
    for (int i = 0; i < bytes; i += step) {
        simt_cell *cell = &cells->at[(offset + i) / DEVICE_CELL];
        if (access == SIMT_WRITE && cell->writer.block &&
            memcmp(byte + i, (const char *)value + i, (size_t)step) == 0)
            continue;
        if (access == SIMT_READ && cell->writer.block && cell->writer.block != now.block &&
            cell->writer.round != now.round)
            report_stale(&cell->writer, buffer, offset + i);
        touch(cell, buffer->name, offset + i, access == SIMT_WRITE, &now);
    }
}

/* ---- Words that fetch -------------------------------------------------------------------------
 *
 * What a lane has fetched arrives when it waits for it. Until then shared memory holds nonsense
 * there; to others it is written both when the fetch begins and when it ends. */

/* Counts the lanes of the warp that have begun the same copy. */
static void count_alike(const simt_lane *l, const void *from, simt_place place)
{
    const simt_lane *warp = l->block->lanes + l->facts.warp * SIMT_WARP;
    const int lanes = l->facts.threads - l->facts.warp * SIMT_WARP;
    int alike = 1;
    for (int k = 0; k < SIMT_WARP && k < lanes; k++) {
        bool same = false;
        for (int i = 0; i < warp[k].fetches_count && &warp[k] != l; i++) {
            const simt_fetch *f = &warp[k].fetches[i];
            same = same || (f->from == from && f->batch == l->batch && f->place.line == place.line);
        }
        alike += same;
    }
    if (simt_here->report->alike < alike)
        simt_here->report->alike = alike;
}

static void word_fetch(void *to, const void *from, int bytes, simt_place place)
{
    simt_lane *l = begin(place, false);
    word_memory(SIMT_READ, from, bytes, bytes, NULL, place);
    word_shared(SIMT_WRITE, to, bytes, bytes, place);
    memset(to, NONSENSE, (size_t)bytes);
    if (simt_here->report->counts_alike)
        count_alike(l, from, place);
    if (bytes == PACKET_BYTES) {
        simt_here->report->packets++;
        simt_here->report->split += ((uintptr_t)to - (uintptr_t)from) % SECTOR_BYTES != 0;
    }
    if (l->fetches_count == l->fetches_room) {
        const int room = 2 * l->fetches_room + 16;
        simt_fetch *larger = realloc(l->fetches, (size_t)room * sizeof *larger);
        if (!larger) {
            simt_report_add(simt_here->report, SIMT_FOUND_LAUNCH, "not enough memory for fetches");
            simt_give_up();
        }
        l->fetches = larger;
        l->fetches_room = room;
    }
    l->fetches[l->fetches_count++] = (simt_fetch){to, from, bytes, l->batch, place};
}

static void word_fetch_end(simt_place place)
{
    begin(place, false)->batch++;
}

static void word_fetch_wait(int batches, simt_place place)
{
    simt_lane *l = begin(place, false);
    int kept = 0;
    for (int i = 0; i < l->fetches_count; i++) {
        const simt_fetch f = l->fetches[i];
        if (f.batch >= l->batch - batches) {
            l->fetches[kept++] = f;
            continue;
        }
        word_shared(SIMT_WRITE, f.to, f.bytes, f.bytes, f.place);
        memcpy(f.to, f.from, (size_t)f.bytes);
    }
    l->fetches_count = kept;
}

const simt_words simt_words_table = {
    word_shuffle, word_barrier, word_grid_barrier, word_pause,      word_shared,
    word_memory,  word_fetch,   word_fetch_end,    word_fetch_wait,
};
