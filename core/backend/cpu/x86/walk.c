#include "backend/cpu/x86/value.h"

#include <stdlib.h>

enum {
    STEPS_MAX = 1000000,
    KEPT = 1 << 3 | 1 << 5 | 0xf << 12 | 1 << TZ__RSP /* registers that a called function keeps */
};
/* The return address of the row function. No code can be there. */
static const uint64_t RETURN = UINT64_C(0x7ff900000000);

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
static tz_status step(tz_walker *w, const tz_instruction *in, uint64_t *next, tz_error *error)
{
    *next = in->address + in->length;
    tz__word v;
    switch (in->operation) {
    case TZ_DO_BRANCH:
        w->out->branches++;
        w->out->estimates += !w->flags_known;
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
        w->out->calls++;
        w->out->mix.of[TZ_WORK_SPECIAL]++;
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
    w->out = out;
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
        tz__count(w, in, fuses && in->operation == TZ_DO_BRANCH);
        fuses = in->fuses;
        status = step(w, in, &at, error);
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
