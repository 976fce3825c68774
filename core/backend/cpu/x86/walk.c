/* Follows the machine code of a row function and counts its instructions by class. Called by
 * walks.c. */
#include "backend/cpu/x86/walk.h"

#include "backend/cpu/x86/execute.h"
#include <stdlib.h>

enum {
    LINE = 64,  /* bytes of a cache line */
    NARROW = 8, /* bytes of the largest element */
    STEPS_MAX = 1000000,
    KEPT = 1 << 3 | 1 << 5 | 0xf << 12 | 1 << TZ__RSP /* registers that a called function keeps */
};
/* The return address of the row function. No code can be there. */
static const uint64_t RETURN = UINT64_C(0x7ff900000000);

/* ---- Counts ---------------------------------------------------------------------------------- */

static void count_access(const tz_walker *w, tz_walk *out, const tz_operand *operand, int bytes,
                         bool write)
{
    uint64_t address = 0;
    const bool is_known = tz__operand_address(w, operand, &address);
    const bool crosses = is_known && (address & (LINE - 1)) + (uint64_t)bytes > LINE;
    bool cells = is_known && !tz__on_stack(address, bytes) && operand->base != TZ_REGISTER_IP;
    for (size_t i = 0; i < w->ranges_count; i++) {
        const uint64_t low = (uint64_t)(uintptr_t)w->ranges[i].at;
        cells = cells && !(address >= low && address < low + w->ranges[i].bytes);
    }
    out->strays += !is_known;
    if (write) {
        out->stores++;
        out->store_lines += crosses ? 2 : 1;
        if (cells || !is_known)
            out->stored_bytes += bytes;
    } else {
        out->loads++;
        out->lines += crosses ? 2 : 1;
        out->narrow += bytes <= NARROW;
    }
}

/* `fused`: the processor issues it together with the comparison before it. */
static void count(const tz_walker *w, tz_walk *out, const tz_instruction *in, bool fused)
{
    const tz_operand *memory = NULL;
    int place = 0;
    for (int i = 0; i < in->operands_count; i++)
        if (in->operands[i].kind == TZ_OPERAND_MEMORY)
            memory = &in->operands[i], place = i;
    out->slots += !fused;
    tz_work_class class = in->class;
    const bool address_only = in->operation == TZ_DO_LOAD_ADDRESS || in->operation == TZ_DO_NOTHING;
    const bool stack = in->operation == TZ_DO_PUSH || in->operation == TZ_DO_POP;
    bool plain = false; /* only a load or store */
    if (memory && !address_only) {
        const bool compares = in->operation == TZ_DO_COMPARE || in->operation == TZ_DO_TEST;
        const bool write = place == 0 && !compares && in->operation != TZ_DO_PUSH &&
                           in->operation != TZ_DO_JUMP && in->operation != TZ_DO_CALL;
        const bool modify = write && in->class == TZ_WORK_CONTROL && in->operation != TZ_DO_MOVE &&
                            in->operation != TZ_DO_SET && in->operation != TZ_DO_POP;
        const int bytes = memory->bytes > 0 ? memory->bytes : 8;
        if (write)
            count_access(w, out, memory, bytes, true);
        if (!write || modify)
            count_access(w, out, memory, bytes, false);
        out->mix.of[TZ_WORK_WRITE] += write;
        out->mix.of[TZ_WORK_READ] += !write || modify;
        plain = in->operation == TZ_DO_MOVE || (!write && in->repeats);
    } else if (stack) {
        out->mix.of[in->operation == TZ_DO_PUSH ? TZ_WORK_WRITE : TZ_WORK_READ]++;
        *(in->operation == TZ_DO_PUSH ? &out->stores : &out->loads) += 1;
        *(in->operation == TZ_DO_PUSH ? &out->store_lines : &out->lines) += 1;
        out->narrow += in->operation != TZ_DO_PUSH;
        plain = true;
    }
    if (!plain)
        out->mix.of[class]++;
    if (in->computes)
        for (int i = 0; i < in->operands_count; i++)
            if (in->operands[i].kind == TZ_OPERAND_VECTOR &&
                in->operands[i].bytes > out->vector_bytes)
                out->vector_bytes = in->operands[i].bytes;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The instruction at an address, decoded once. */
static tz_status fetch(tz_walker *w, uint64_t address, const tz_instruction **out, tz_error *error)
{
    if (address < w->base || address - w->base >= TZ__CODE_BYTES)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "a row function leaves its own code: it cannot be followed");
    int16_t *slot = &w->at[address - w->base];
    if (*slot == 0) {
        if (w->count == w->room) {
            const int room = w->room ? 2 * w->room : 512;
            tz_instruction *grown =
                realloc(w->instructions, (size_t)room * sizeof *w->instructions);
            if (!grown || room > INT16_MAX)
                return tz_error_set(error, TZ_MEMORY, NULL, "a row function is too long to follow");
            w->instructions = grown;
            w->room = room;
        }
        const tz_status status = tz_decoder_read(w->decoder, (const void *)(uintptr_t)address, 15,
                                                 &w->instructions[w->count], error);
        if (status)
            return status;
        *slot = (int16_t)++w->count;
    }
    *out = &w->instructions[*slot - 1];
    return TZ_OK;
}

/* Execute an instruction; *next becomes the address of the next one, or RETURN. */
static tz_status step(tz_walker *w, tz_walk *out, const tz_instruction *in, uint64_t *next,
                      tz_error *error)
{
    *next = in->address + in->length;
    tz__word v;
    switch (in->operation) {
    case TZ_DO_BRANCH:
        out->branches++;
        out->estimates += !w->flags_known;
        if (w->flags_known && tz__condition_holds(w, in->condition))
            *next = (uint64_t)in->operands[0].value;
        return TZ_OK;
    case TZ_DO_JUMP:
        v = tz__operand_read_word(w, &in->operands[0]);
        if (!tz__word_is_known(v, 8))
            return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                "a row function jumps to an address that depends on its cells: it "
                                "cannot be followed");
        *next = v.number;
        return TZ_OK;
    case TZ_DO_CALL:
        out->calls++;
        out->mix.of[TZ_WORK_SPECIAL]++;
        for (int r = 0; r < 16; r++)
            if (!(KEPT >> r & 1))
                w->general[r].known = 0;
        memset(w->vector, 0, sizeof w->vector);
        w->flags_known = false;
        return TZ_OK;
    case TZ_DO_RETURN:
        v = tz__pop(w);
        *next = tz__word_is_known(v, 8) ? v.number : RETURN;
        return TZ_OK;
    default:
        tz__execute(w, in);
        return TZ_OK;
    }
}

tz_status tz_walker_walk(tz_walker *walker, tz_row_fn *rows, const tz_span *span,
                         const tz_walk_range *ranges, size_t ranges_count, tz_walk *out,
                         tz_error *error)
{
    tz_walker *w = walker;
    if (w->function != rows) {
        memset(w->at, 0, sizeof w->at);
        w->count = 0;
        w->function = rows;
    }
    memset(out, 0, sizeof *out);
    memset(w->general, 0, sizeof w->general);
    memset(w->vector, 0, sizeof w->vector);
    memset(w->stack_known, 0, sizeof w->stack_known);
    w->flags_known = false;
    w->ranges = ranges;
    w->ranges_count = ranges_count;
    memcpy(&w->base, &rows, sizeof w->base); /* code may also lie before the entry */
    uint64_t at = w->base;
    w->base -= TZ__CODE_BYTES / 2;
    w->general[TZ__RSP] = tz__known_word(TZ__STACK_TOP - 1024);
    w->general[TZ__RDI] = tz__known_word((uint64_t)(uintptr_t)span);
    tz__push(w, tz__known_word(RETURN));
    bool fuses = false;
    for (int steps = 0; at != RETURN; steps++) {
        const tz_instruction *in = NULL;
        if (steps == STEPS_MAX)
            return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                "a row function does not end within %d instructions", STEPS_MAX);
        tz_status status = fetch(w, at, &in, error);
        if (status)
            return status;
        count(w, out, in, fuses && in->operation == TZ_DO_BRANCH);
        fuses = in->fuses;
        status = step(w, out, in, &at, error);
        if (status)
            return status;
    }
    return TZ_OK;
}

tz_status tz_walker_create(tz_walker **out, tz_error *error)
{
    *out = NULL;
    tz_walker *walker = calloc(1, sizeof *walker);
    if (!walker)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    const tz_status status = tz_decoder_open(&walker->decoder, error);
    if (status) {
        free(walker);
        return status;
    }
    *out = walker;
    return TZ_OK;
}

void tz_walker_destroy(tz_walker *walker)
{
    if (!walker)
        return;
    tz_decoder_close(walker->decoder);
    free(walker->instructions);
    free(walker);
}
