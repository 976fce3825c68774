/* NumPy's archives (.npz): zip files whose members are .npy files. Stored members stay where they
 * are; those that are deflated are inflated into memory. Source: APPNOTE.TXT of PKWARE, version
 * 6.3. */
#include "base/file.h"
#include "base/number.h"
#include "output/format/format.h"
#include "output/format/npy.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { END_BYTES = 22, ENTRY_BYTES = 46, LOCAL_BYTES = 30, END64_BYTES = 56, LIST_MAX = 16 << 20 };

static uint64_t number(const unsigned char *p, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | p[i];
    return value;
}

typedef struct member {
    const char *name; /* borrowed from the list, without ".npy" */
    int length;
    int flags, method;
    uint32_t sum;
    uint64_t packed, bytes, local; /* its sizes, and the offset of its header */
} member;

typedef struct archive {
    const char *path;
    int file;
    int64_t size;
    unsigned char *list; /* of members; owned */
    size_t list_bytes;
    tz_error *error;
} archive;

static tz_status corrupt(const archive *a, const char *what)
{
    return tz_error_set(a->error, TZ_FORMAT, a->path, "corrupt zip file: %s", what);
}

/* Read bytes of the file that must be there. */
static tz_status get(const archive *a, void *out, size_t bytes, uint64_t offset, const char *what)
{
    if (offset > (uint64_t)a->size || bytes > (uint64_t)a->size - offset ||
        tz_file_get(a->file, out, bytes, (int64_t)offset) != bytes)
        return corrupt(a, what);
    return TZ_OK;
}

/* The list of members, from the record at the end of the file. */
static tz_status read_list(archive *a)
{
    enum { TAIL_MAX = END_BYTES + 65535 };
    unsigned char end64[END64_BYTES];
    const size_t tail = a->size < TAIL_MAX ? (size_t)a->size : TAIL_MAX;
    unsigned char *bytes = malloc(tail + 1);
    if (!bytes)
        return tz_error_set(a->error, TZ_MEMORY, a->path, "not enough memory to open it");
    tz_status status = get(a, bytes, tail, (uint64_t)a->size - tail, "it cannot be read");
    int64_t at = (int64_t)tail - END_BYTES;
    while (status == TZ_OK && at >= 0 && memcmp(bytes + at, "PK\5\6", 4) != 0)
        at--;
    if (status == TZ_OK && at < 0)
        status = corrupt(a, "the list at its end is missing; it may be truncated");
    uint64_t size = 0, offset = 0;
    if (status == TZ_OK) {
        size = number(bytes + at + 12, 4);
        offset = number(bytes + at + 16, 4);
        if (at >= 20 && memcmp(bytes + at - 20, "PK\6\7", 4) == 0) {
            status = get(a, end64, sizeof end64, number(bytes + at - 12, 8), "its end is wrong");
            size = number(end64 + 40, 8);
            offset = number(end64 + 48, 8);
        }
    }
    free(bytes);
    if (status == TZ_OK && (size > LIST_MAX || size > (uint64_t)a->size))
        status = corrupt(a, "its list is too long");
    if (status != TZ_OK)
        return status;
    a->list = malloc((size_t)size + 1);
    a->list_bytes = (size_t)size;
    return a->list ? get(a, a->list, a->list_bytes, offset, "its list is outside the file")
                   : tz_error_set(a->error, TZ_MEMORY, a->path, "not enough memory for its list");
}

/* Sizes that do not fit 32 bits are in a field of their own. */
static tz_status read_wide(const archive *a, const unsigned char *p, const unsigned char *end,
                           member *m)
{
    uint64_t *const wide[] = {&m->bytes, &m->packed, &m->local};
    while (end - p >= 4) {
        const unsigned char *next = p + 4 + number(p + 2, 2);
        if (next > end)
            break;
        if (number(p, 2) == 1) {
            p += 4;
            for (size_t i = 0; i < 3; i++)
                if (*wide[i] == UINT32_MAX) {
                    if (next - p < 8)
                        return corrupt(a, "a size is missing");
                    *wide[i] = number(p, 8);
                    p += 8;
                }
        }
        p = next;
    }
    return TZ_OK;
}

/* The member at *at of the list, which moves behind it. *m.name is NULL at the end. */
static tz_status next_member(const archive *a, size_t *at, member *m)
{
    const unsigned char *p = a->list + *at;
    *m = (member){.name = NULL};
    if (*at == a->list_bytes)
        return TZ_OK;
    if (a->list_bytes - *at < ENTRY_BYTES || memcmp(p, "PK\1\2", 4) != 0)
        return corrupt(a, "its list is damaged");
    const size_t name = (size_t)number(p + 28, 2), extra = (size_t)number(p + 30, 2),
                 comment = (size_t)number(p + 32, 2);
    if (a->list_bytes - *at - ENTRY_BYTES < name + extra + comment)
        return corrupt(a, "its list is damaged");
    *m = (member){.name = (const char *)p + ENTRY_BYTES,
                  .length = (int)name,
                  .flags = (int)number(p + 8, 2),
                  .method = (int)number(p + 10, 2),
                  .sum = (uint32_t)number(p + 16, 4),
                  .packed = number(p + 20, 4),
                  .bytes = number(p + 24, 4),
                  .local = number(p + 42, 4)};
    *at += ENTRY_BYTES + name + extra + comment;
    return read_wide(a, p + ENTRY_BYTES + name, p + ENTRY_BYTES + name + extra, m);
}

/* A zip file without arrays: what it is. */
static tz_status refuse(const archive *a)
{
    size_t at = 0;
    member m;
    while (next_member(a, &at, &m) == TZ_OK && m.name) {
        if (m.length >= 3 && memcmp(m.name, "xl/", 3) == 0)
            return tz_error_set(a->error, TZ_FORMAT, a->path,
                                "is a spreadsheet (.xlsx): save it as CSV");
        if (m.length >= 8 && memcmp(m.name + m.length - 8, "data.pkl", 8) == 0)
            return tz_error_set(a->error, TZ_FORMAT, a->path,
                                "is a file of PyTorch: save the tensor by numpy.save");
    }
    return tz_error_set(a->error, TZ_FORMAT, a->path,
                        "is a zip file without arrays of NumPy (.npy): unpack it first (unzip)");
}

/* The member of that name, or the only one. */
static tz_status choose(const archive *a, const char *field, member *out)
{
    char names[160] = "";
    size_t at = 0, count = 0, used = 0;
    for (;;) {
        member m;
        const tz_status status = next_member(a, &at, &m);
        if (status != TZ_OK)
            return status;
        if (!m.name)
            break;
        if (m.length < 4 || memcmp(m.name + m.length - 4, ".npy", 4) != 0)
            continue;
        m.length -= 4;
        if (!field ||
            (strlen(field) == (size_t)m.length && memcmp(field, m.name, strlen(field)) == 0))
            *out = m;
        if (field && out->name)
            return TZ_OK;
        char quoted[64];
        tz_token_quote(quoted, sizeof quoted, m.name, (size_t)m.length);
        if (used < sizeof names - 1)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", count ? ", " : "",
                                     quoted);
        count++;
    }
    if (count == 0)
        return refuse(a);
    if (field)
        return tz_error_set(a->error, TZ_UNKNOWN, a->path, "has no array '%.60s'; it has %s", field,
                            names);
    if (count > 1)
        return tz_error_set(a->error, TZ_USAGE, a->path, "has %zu arrays, %s: 'field' takes one",
                            count, names);
    return TZ_OK;
}

/* The checksum of all bytes of a file in memory. */
static bool has_sum(int file, size_t bytes, uint32_t sum)
{
    void *data = bytes > 0 ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (data == MAP_FAILED)
        return bytes == 0 && sum == 0;
    const bool same = crc32_z(0, data, bytes) == sum;
    munmap(data, bytes);
    return same;
}

static tz_status open_member(const archive *a, const member *m, FILE *stream, tz_npy_file **out)
{
    unsigned char local[LOCAL_BYTES] = {0};
    tz_status status = get(a, local, sizeof local, m->local, "a member is outside the file");
    if (status == TZ_OK && memcmp(local, "PK\3\4", 4) != 0)
        status = corrupt(a, "a member has no header");
    if (status == TZ_OK && (m->flags & 1))
        status = tz_error_set(a->error, TZ_UNSUPPORTED, a->path, "is encrypted");
    if (status == TZ_OK && m->method != 0 && m->method != 8)
        status = tz_error_set(a->error, TZ_UNSUPPORTED, a->path,
                              "is compressed by method %d, which is not read: numpy.savez and "
                              "numpy.savez_compressed write what is",
                              m->method);
    const uint64_t start = m->local + LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
    if (status == TZ_OK && (start > (uint64_t)a->size || m->packed > (uint64_t)a->size - start))
        status = corrupt(a, "a member is outside the file");
    if (status != TZ_OK) {
        fclose(stream);
        return status;
    }
    if (m->method == 0)
        return tz_npy_open_part(out, stream, a->path, (int64_t)start, (int64_t)(start + m->packed),
                                a->error);
    int inflated;
    size_t bytes;
    status = tz_file_inflate(a->path, a->file, (int64_t)start, (int64_t)m->packed, -MAX_WBITS,
                             m->bytes, &inflated, &bytes, a->error);
    fclose(stream);
    if (status != TZ_OK)
        return status;
    stream = fdopen(inflated, "rb");
    if (!stream) {
        close(inflated);
        return tz_error_set(a->error, TZ_MEMORY, a->path, "not enough memory to open it");
    }
    if (bytes == m->bytes && has_sum(inflated, bytes, m->sum))
        return tz_npy_open_part(out, stream, a->path, 0, (int64_t)bytes, a->error);
    fclose(stream);
    return corrupt(a, "a checksum is wrong");
}

static tz_status read_archive(const char *path, tz_format_reading *reading, tz_error *error)
{
    FILE *stream;
    size_t bytes;
    tz_npy_file *file = NULL;
    member m = {.name = NULL};
    tz_status status = tz_file_stream(path, &stream, &bytes, error);
    if (status != TZ_OK)
        return status;
    archive a = {.path = path, .file = fileno(stream), .size = (int64_t)bytes, .error = error};
    status = read_list(&a);
    if (status == TZ_OK)
        status = choose(&a, reading->field, &m);
    if (status == TZ_OK)
        status = open_member(&a, &m, stream, &file);
    else
        fclose(stream);
    free(a.list);
    return status == TZ_OK ? tz_npy_take(file, reading, error) : status;
}

const tz_format tz_format_npz = {
    .name = "npz",
    .suffix = ".npz",
    .magic = "PK\3\4",
    .read_doc = "an array of an archive of NumPy",
    .reads = TZ_READS_FIELD,
    .read = read_archive,
};
