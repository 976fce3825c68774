/* The cells of slabs: into them and out of them, from memory and files. Called for commands
 * (commands.h). */
#include "backend/slabs/commands.h"
#include "backend/slabs/slabs.h"
#include "base/file.h"
#include "stencil/parts.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_CELLS = 1 << 18, WORDS_MAX = 1 << 18 };

/* Bytes of a slice of a box: a row or plane of it, or in 1-D a cell. */
static size_t slice_bytes(const tz_problem *problem, int field, const tz_box *box)
{
    size_t bytes = tz_problem_element_size(problem, field);
    for (int axis = 0; axis < problem->dims - 1; axis++)
        bytes *= (size_t)(box->high[axis] - box->low[axis]);
    return bytes;
}

/* Elements of a box of the whole grid that are some of a slab's. */
typedef struct part_of_box {
    tz_box box;    /* in the slab */
    int64_t at;    /* in slices from the box's first one */
    int64_t count; /* slices; 0: there are none */
} part_of_box;

/* Those between two cells of the whole grid along the last axis, the first of which is `here` in
 * the slab. */
static part_of_box find_part(int axis, const tz_box *box, int64_t low, int64_t high, int64_t here)
{
    part_of_box part = {.box = *box};
    const int64_t begin = box->low[axis] > low ? box->low[axis] : low;
    const int64_t end = box->high[axis] < high ? box->high[axis] : high;
    part.at = begin - box->low[axis];
    part.count = begin < end ? end - begin : 0;
    part.box.low[axis] = begin - low + here;
    part.box.high[axis] = part.box.low[axis] + part.count;
    return part;
}

static part_of_box find_own(const tz__slabs *slabs, int i, const tz_box *box)
{
    const tz_problem slab = tz_cut_slab(&slabs->cut, slabs->context.problem, i, slabs->depth);
    return find_part(slab.dims - 1, box, slabs->cut.at[i], slabs->cut.at[i + 1], slab.slab.low);
}

/* With its ghost zone, which in a ring lies at the other end of the grid. */
enum { TURNS = 3 };
static part_of_box find_copy(const tz__slabs *slabs, int i, int turn, const tz_box *box)
{
    const tz_problem slab = tz_cut_slab(&slabs->cut, slabs->context.problem, i, slabs->depth);
    const int axis = slab.dims - 1;
    const int64_t low = slab.slab.first + (turn - 1) * slabs->context.problem->elements[axis];
    return find_part(axis, box, low, low + slab.elements[axis], 0);
}

/* Elements that travel between rank 0 and the slabs of the others. */
typedef struct travel {
    const tz__slabs_call *call;
    char *of[TZ_DEVICES_MAX][TURNS]; /* what a slab gets or gives; in rank 0 a part of the box */
    void *owned[TZ_DEVICES_MAX][TURNS];
    int64_t bytes[TZ_DEVICES_MAX][TURNS];
    bool gives;
} travel;

static tz_status begin_travel(const tz__slabs *slabs, travel *t, char *cells, tz_error *error)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    const size_t slice = slice_bytes(slabs->context.problem, t->call->field, &t->call->box);
    const bool leads = !ranks || ranks->rank == 0;
    for (int i = leads ? 0 : slabs->low; i < (leads ? slabs->cut.count : slabs->high); i++)
        for (int turn = 0; turn < (t->gives ? 1 : TURNS); turn++) {
            const part_of_box part = t->gives ? find_own(slabs, i, &t->call->box)
                                              : find_copy(slabs, i, turn, &t->call->box);
            t->bytes[i][turn] = part.count * (int64_t)slice;
            if (leads)
                t->of[i][turn] = cells + (size_t)part.at * slice;
            else if (part.count > 0)
                t->of[i][turn] = t->owned[i][turn] = malloc((size_t)t->bytes[i][turn]);
            if (part.count > 0 && !t->of[i][turn])
                return tz_error_set(error, TZ_MEMORY, "devices", "not enough memory for cells");
        }
    return TZ_OK;
}

static void go(const tz__slabs *slabs, const travel *t)
{
    enum { TAG = 4 * TZ_DEVICES_MAX };
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    tz_part parts[TZ_DEVICES_MAX * TURNS];
    int count = 0;
    for (int i = 0; ranks && i < slabs->cut.count; i++)
        for (int turn = 0; turn < TURNS; turn++) {
            const int rank = slabs->devices.of[i].rank;
            if (rank > 0 && (ranks->rank == 0 || ranks->rank == rank) && t->bytes[i][turn] > 0)
                parts[count++] = (tz_part){.peer = ranks->rank == 0 ? rank : 0,
                                           .tag = TAG + TURNS * i + turn,
                                           .is_receive = (ranks->rank == 0) == t->gives,
                                           .buffer = t->of[i][turn],
                                           .bytes = t->bytes[i][turn]};
        }
    if (count > 0)
        tz_ranks_exchange(ranks, parts, count);
}

static void end_travel(travel *t)
{
    for (int i = 0; i < TZ_DEVICES_MAX; i++)
        for (int turn = 0; turn < TURNS; turn++)
            free(t->owned[i][turn]);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static tz_status store_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const travel *t = argument;
    tz_status status = TZ_OK;
    for (int turn = 0; turn < TURNS && !status; turn++) {
        const part_of_box part = find_copy(slabs, i, turn, &t->call->box);
        if (part.count > 0)
            status = slabs->inner->store(slabs->parts[i]->state, t->call->field, &part.box,
                                         t->of[i][turn], error);
    }
    return status;
}

tz_status tz__slabs_do_store(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    travel t = {.call = call};
    slabs->offered = 0;
    tz_status status = begin_travel(slabs, &t, (char *)call->from, error);
    status = tz__slabs_agree(slabs, status, error);
    if (!status) {
        go(slabs, &t);
        status = tz__slabs_all(slabs, store_part, &t, error);
    }
    end_travel(&t);
    return status;
}

static tz_status load_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const travel *t = argument;
    const part_of_box part = find_own(slabs, i, &t->call->box);
    return part.count == 0 ? TZ_OK
                           : slabs->inner->load(slabs->parts[i]->state, t->call->field, &part.box,
                                                t->of[i][0], error);
}

tz_status tz__slabs_do_load(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    travel t = {.call = call, .gives = true};
    tz_status status = begin_travel(slabs, &t, call->to, error);
    status = tz__slabs_agree(slabs, status, error);
    if (!status)
        status = tz__slabs_all(slabs, load_part, &t, error);
    if (!status)
        go(slabs, &t);
    end_travel(&t);
    return status;
}

static tz_status fill_part(tz__slabs *slabs, int i, void *argument, tz_error *error)
{
    const tz__slabs_call *call = argument;
    return slabs->inner->fill(slabs->parts[i]->state, call->field, &call->element, error);
}

tz_status tz__slabs_do_fill(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    slabs->offered = 0;
    return tz__slabs_all(slabs, fill_part, (void *)call, error);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A field in a file, x fastest, of which each rank reads or writes its part. */
typedef struct field_file {
    int file;
    char path[PATH_MAX];
    int field;
    int64_t offset;
    size_t size; /* of an element, or of a cell that is written */
    bool cells;
    uint64_t sum;
} field_file;

static tz_status move_bytes(const field_file *f, bool writes, char *bytes, size_t count,
                            int64_t offset, tz_error *error)
{
    const size_t moved = writes ? tz_file_put(f->file, bytes, count, offset)
                                : tz_file_get(f->file, bytes, count, offset);
    return moved == count ? TZ_OK
                          : tz_error_set_errno(error, errno ? errno : EIO, f->path,
                                               writes ? "cannot write" : "cannot read");
}

/* Elements of a slab as what outputs write, in `values`. Returns their number; bits are whole
 * rows. */
static int64_t values_of(const tz_problem *problem, const field_file *f, const void *elements,
                         int64_t count, void *values)
{
    const int64_t words = problem->elements[0], nx = problem->extent[0];
    if (!problem->bits) {
        tz_problem_to_cells(problem, f->field, elements, count, values);
        return count;
    }
    for (int64_t row = 0; row < count / words; row++)
        tz_bits_spread((const uint32_t *)elements + row * words, words, 0, nx,
                       (uint8_t *)values + row * nx);
    return count / words * nx;
}

static tz_status write_piece(tz__slabs *slabs, int i, field_file *f, const tz_box *piece,
                             int64_t count, char *elements, char *values, tz_error *error)
{
    const tz_problem *whole = slabs->context.problem;
    const part_of_box part = find_own(slabs, i, piece);
    const tz_status status =
        slabs->inner->load(slabs->parts[i]->state, f->field, &part.box, elements, error);
    if (status)
        return status;
    char *from = elements;
    if (values) {
        count = values_of(whole, f, elements, count, values);
        from = values;
    }
    const int64_t nx = values ? whole->extent[0] : whole->elements[0];
    const int64_t first = piece->low[0] + nx * (piece->low[1] + whole->extent[1] * piece->low[2]);
    const int64_t at = first * (int64_t)f->size;
    if (!values)
        f->sum += tz_file_sum(at, from, (size_t)count * f->size);
    return move_bytes(f, true, from, (size_t)count * f->size, f->offset + at, error);
}

static tz_status read_piece(tz__slabs *slabs, int i, int turn, field_file *f, const tz_box *piece,
                            int64_t count, char *elements, tz_error *error)
{
    const tz_problem *whole = slabs->context.problem;
    const part_of_box part = find_copy(slabs, i, turn, piece);
    const int64_t first =
        piece->low[0] + whole->elements[0] * (piece->low[1] + whole->elements[1] * piece->low[2]);
    const tz_status status = move_bytes(f, false, elements, (size_t)count * f->size,
                                        f->offset + first * (int64_t)f->size, error);
    return status
               ? status
               : slabs->inner->store(slabs->parts[i]->state, f->field, &part.box, elements, error);
}

/* All pieces of the slices that are some of slab i's. `turn` -1: its own ones are written; else
 * those of a turn are read. */
static tz_status move_slices(tz__slabs *slabs, int i, int turn, field_file *f, tz_error *error)
{
    const tz_problem *whole = slabs->context.problem;
    const int axis = whole->dims - 1;
    tz_box all = {{0, 0, 0}, {whole->elements[0], whole->elements[1], whole->elements[2]}};
    const part_of_box part = turn < 0 ? find_own(slabs, i, &all) : find_copy(slabs, i, turn, &all);
    if (part.count == 0)
        return TZ_OK;
    all.low[axis] = part.at;
    all.high[axis] = part.at + part.count;
    char *elements = malloc(PIECE_CELLS * sizeof(double));
    char *values = f->cells
                       ? malloc(PIECE_CELLS * (whole->bits ? 32 * sizeof(uint8_t) : sizeof(double)))
                       : NULL;
    tz_status status = elements && (values || !f->cells)
                           ? TZ_OK
                           : tz_error_set(error, TZ_MEMORY, f->path, "not enough memory for cells");
    for (tz_box_parts p = {.whole = all, .most = PIECE_CELLS}; !status && tz_box_next(&p);)
        status = turn < 0 ? write_piece(slabs, i, f, &p.part, p.count, elements, values, error)
                          : read_piece(slabs, i, turn, f, &p.part, p.count, elements, error);
    free(elements);
    free(values);
    return status;
}

/* Rank 0 has given the file a name. The status is TZ_UNSUPPORTED for all if one cannot open it. */
static tz_status open_file(tz__slabs *slabs, const tz__slabs_call *call, field_file *f, int flags,
                           tz_error *error)
{
    const tz_problem *problem = slabs->context.problem;
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    tz_error why = {0};
    const char *slash;
    *f = (field_file){.field = call->field, .offset = call->at};
    if (call->from)
        strncpy(f->path, call->from, sizeof f->path - 1);
    tz__slabs_pass(ranks, f->path, sizeof f->path);
    slash = strrchr(f->path, '/');
    f->file = open(f->path, flags | O_CLOEXEC);
    /* Another file may have that name there. */
    struct stat facts = {.st_ino = 0};
    if (f->file >= 0)
        fstat(f->file, &facts);
    uint64_t led = facts.st_ino;
    tz__slabs_pass(ranks, &led, sizeof led);
    f->size = tz_problem_element_size(problem, f->field);
    f->cells = call->cells && (problem->bits || !tz_problem_values_are_elements(problem, f->field));
    if (call->cells)
        f->size = tz_dtype_size(tz_problem_value_dtype(problem, f->field));
    tz_status status = TZ_OK;
    if (f->file < 0 || facts.st_ino != led)
        status = tz_error_set(&why, TZ_UNSUPPORTED, NULL, "does not see the folder %.*s of rank 0",
                              (int)(slash ? slash - f->path : 0), f->path);
    status = tz__slabs_agree(slabs, status, &why);
    if (!status)
        return TZ_OK;
    if (f->file >= 0)
        close(f->file);
    snprintf(slabs->apart, sizeof slabs->apart, "%.240s, so rank 0 writes all files alone",
             why.message);
    if (error)
        *error = why;
    return TZ_UNSUPPORTED;
}

tz_status tz__slabs_do_save(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    const tz_ranks *ranks = tz__slabs_ranks(slabs);
    field_file f;
    tz_status status = open_file(slabs, call, &f, O_WRONLY, error);
    if (status)
        return status;
    for (int i = slabs->low; i < slabs->high && !status; i++)
        status = move_slices(slabs, i, -1, &f, error);
    if (!status && fsync(f.file) != 0 && errno != EINVAL && errno != ENOTSUP)
        status = tz_error_set_errno(error, errno, f.path, "cannot write");
    /* Some file systems say only now that the disk is full. */
    if (close(f.file) != 0 && !status)
        status = tz_error_set_errno(error, errno, f.path, "cannot write");
    status = tz__slabs_agree(slabs, status, error);
    uint64_t *sums = calloc((size_t)ranks->count, sizeof *sums);
    if (!sums)
        ranks->abort(ranks, "not enough memory for the checksums of the ranks");
    ranks->gather_all(ranks, &f.sum, sizeof f.sum, sums);
    f.sum = 0;
    for (int r = 0; r < ranks->count; r++)
        f.sum += sums[r];
    free(sums);
    if (call->to)
        *(uint64_t *)call->to = f.sum;
    return status;
}

tz_status tz__slabs_do_restore(tz__slabs *slabs, const tz__slabs_call *call, tz_error *error)
{
    field_file f;
    tz_status status = open_file(slabs, call, &f, O_RDONLY, error);
    if (status)
        return status;
    slabs->offered = 0;
    for (int i = slabs->low; i < slabs->high; i++)
        for (int turn = 0; turn < TURNS && !status; turn++)
            status = move_slices(slabs, i, turn, &f, error);
    close(f.file);
    return tz__slabs_agree(slabs, status, error);
}

/* Bits of very long rows take too much memory as cells: rank 0 writes them. */
bool tz_slabs_have_parts(const void *state)
{
    const tz__slabs *slabs = state;
    const tz_problem *problem = slabs->context.problem;
    return tz__slabs_ranks(slabs) && !slabs->apart[0] &&
           (!problem->bits || problem->elements[0] <= WORDS_MAX);
}

/* Ranks may be in different folders. */
static tz_status move_file(void *state, tz__slabs_call call, const char *path, tz_error *error)
{
    char whole[PATH_MAX];
    if (!tz_slabs_have_parts(state))
        return TZ_UNSUPPORTED;
    if (!realpath(path, whole))
        return tz_error_set_errno(error, errno, path, "cannot open");
    call.from = whole;
    return tz__slabs_call_all(state, call, error);
}

tz_status tz_slabs_save(void *state, int field, bool cells, const char *path, int64_t offset,
                        uint64_t *sum, tz_error *error)
{
    const tz__slabs_call call = {
        .command = TZ__SLABS_save, .field = field, .cells = cells, .at = offset, .to = sum};
    return move_file(state, call, path, error);
}

tz_status tz_slabs_restore(void *state, int field, const char *path, int64_t offset,
                           tz_error *error)
{
    const tz__slabs_call call = {.command = TZ__SLABS_restore, .field = field, .at = offset};
    return move_file(state, call, path, error);
}
