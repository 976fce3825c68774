/* Reads and writes registers, stack and memory for a walk, with a mark on each byte that is known.
 * Called by execute.c and walk.c. */
#include "backend/cpu/x86/value.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

bool tz__on_stack(uint64_t address, int bytes)
{
    return address < TZ__STACK_TOP && address + (uint64_t)bytes <= TZ__STACK_TOP &&
           address >= TZ__STACK_TOP - TZ__STACK_BYTES;
}

/* Whether the walk may read memory. `image`: it is in the plugin's constant data. */
static bool may_read(const tz_walker *w, uint64_t address, int bytes, bool image)
{
    for (size_t i = 0; i < w->ranges_count && !image; i++) {
        const uint64_t low = (uint64_t)(uintptr_t)w->ranges[i].at;
        image = address >= low && w->ranges[i].bytes >= (size_t)bytes &&
                address - low <= w->ranges[i].bytes - (size_t)bytes;
    }
    return image;
}

static tz__value memory_read(const tz_walker *w, uint64_t address, int bytes, bool image)
{
    tz__value v = {.known = ~tz__low_bytes(bytes)};
    if (tz__on_stack(address, bytes)) {
        const size_t offset = address - (TZ__STACK_TOP - TZ__STACK_BYTES);
        for (int b = 0; b < bytes; b++)
            if (w->stack_known[offset + (size_t)b]) {
                v.bytes[b] = w->stack[offset + (size_t)b];
                v.known |= UINT64_C(1) << b;
            }
    } else if (may_read(w, address, bytes, image)) {
        memcpy(v.bytes, (const void *)(uintptr_t)address, (size_t)bytes);
        v.known = UINT64_MAX;
    }
    return v;
}

/* Up to 8 bytes. */
static tz__word memory_read_word(const tz_walker *w, uint64_t address, int bytes, bool image)
{
    tz__word v = {0, 0xff & ~tz__low_bytes(bytes)};
    const uint8_t *from = (const uint8_t *)(uintptr_t)address;
    const bool *known = NULL;
    if (tz__on_stack(address, bytes)) {
        const size_t offset = address - (TZ__STACK_TOP - TZ__STACK_BYTES);
        from = &w->stack[offset];
        known = &w->stack_known[offset];
    } else if (!may_read(w, address, bytes, image)) {
        return v;
    }
    for (int b = 0; b < bytes; b++)
        if (!known || known[b]) {
            v.number |= (uint64_t)from[b] << 8 * b;
            v.known |= UINT64_C(1) << b;
        }
    return v;
}

static void memory_write(tz_walker *w, uint64_t address, int bytes, const tz__value *v)
{
    if (!tz__on_stack(address, bytes))
        return;
    const size_t offset = address - (TZ__STACK_TOP - TZ__STACK_BYTES);
    for (int b = 0; b < bytes; b++) {
        w->stack[offset + (size_t)b] = v->bytes[b];
        w->stack_known[offset + (size_t)b] = v->known >> b & 1;
    }
}

static void memory_write_word(tz_walker *w, uint64_t address, int bytes, tz__word v)
{
    if (!tz__on_stack(address, bytes))
        return;
    const size_t offset = address - (TZ__STACK_TOP - TZ__STACK_BYTES);
    for (int b = 0; b < bytes; b++) {
        w->stack[offset + (size_t)b] = (uint8_t)(v.number >> 8 * b);
        w->stack_known[offset + (size_t)b] = v.known >> b & 1;
    }
}

/* ---- Operands -------------------------------------------------------------------------------- */

bool tz__operand_address(const tz_walker *w, const tz_operand *operand, uint64_t *address)
{
    uint64_t sum = (uint64_t)operand->value;
    if (operand->segment)
        return false;
    if (operand->base >= 0) {
        if (!tz__word_is_known(w->general[operand->base], 8))
            return false;
        sum += w->general[operand->base].number;
    }
    if (operand->index >= 0) {
        if (!tz__word_is_known(w->general[operand->index], 8))
            return false;
        sum += w->general[operand->index].number * operand->scale;
    }
    *address = sum;
    return true;
}

tz__word tz__operand_read_word(const tz_walker *w, const tz_operand *operand)
{
    uint64_t address;
    tz__word v = {0, 0};
    switch (operand->kind) {
    case TZ_OPERAND_GENERAL:
        v = w->general[operand->number];
        if (operand->high)
            v = (tz__word){v.number >> 8 & 0xff, v.known >> 1 & 1};
        return v;
    case TZ_OPERAND_NUMBER:
        return tz__known_word((uint64_t)operand->value);
    case TZ_OPERAND_MEMORY:
        if (operand->bytes <= 8 && tz__operand_address(w, operand, &address))
            v = memory_read_word(w, address, operand->bytes, operand->base == TZ_REGISTER_IP);
        return v;
    default:
        return v;
    }
}

tz__value tz__operand_read(const tz_walker *w, const tz_operand *operand)
{
    uint64_t address;
    tz__value v = tz__unknown;
    if (operand->kind == TZ_OPERAND_VECTOR)
        return w->vector[operand->number];
    if (operand->kind == TZ_OPERAND_MEMORY) {
        if (tz__operand_address(w, operand, &address))
            v = memory_read(w, address, operand->bytes, operand->base == TZ_REGISTER_IP);
        return v;
    }
    const tz__word word = tz__operand_read_word(w, operand);
    memcpy(v.bytes, &word.number, sizeof word.number);
    v.known = word.known | (operand->kind == TZ_OPERAND_NUMBER ? ~UINT64_C(0xff) : 0);
    return v;
}

void tz__operand_write_word(tz_walker *w, const tz_operand *operand, tz__word v, int bytes)
{
    uint64_t address;
    if (bytes > operand->bytes)
        bytes = operand->bytes;
    if (operand->kind == TZ_OPERAND_MEMORY && operand->bytes <= 8 &&
        tz__operand_address(w, operand, &address))
        memory_write_word(w, address, operand->bytes, v);
    if (operand->kind != TZ_OPERAND_GENERAL)
        return;
    tz__word *target = &w->general[operand->number];
    /* Of registers of less than 4 bytes, the other bytes stay. */
    const bool stays = operand->high || operand->bytes < 4;
    const int count = stays ? operand->bytes : bytes, first = operand->high ? 1 : 0;
    const uint64_t written = tz__low_bytes(count);
    const uint64_t bits = count >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * count) - 1;
    const uint64_t number = v.number & bits, known = v.known & written;
    if (!stays) {
        *target = (tz__word){number, known | (0xff & ~written)};
        return;
    }
    target->number = (target->number & ~(bits << 8 * first)) | number << 8 * first;
    target->known = (target->known & ~(written << first)) | known << first;
}

void tz__operand_write(tz_walker *w, const tz_operand *operand, const tz__value *v, int bytes)
{
    uint64_t address;
    tz__word word = {.known = v->known & 0xff};
    if (bytes > operand->bytes)
        bytes = operand->bytes;
    switch (operand->kind) {
    case TZ_OPERAND_GENERAL:
        memcpy(&word.number, v->bytes, sizeof word.number);
        tz__operand_write_word(w, operand, word, bytes);
        return;
    case TZ_OPERAND_MEMORY:
        if (tz__operand_address(w, operand, &address))
            memory_write(w, address, operand->bytes, v);
        return;
    case TZ_OPERAND_VECTOR:
        break;
    default:
        return;
    }
    tz__value *target = &w->vector[operand->number];
    memset(target, 0, sizeof *target);
    memcpy(target->bytes, v->bytes, (size_t)bytes);
    target->known = (v->known & tz__low_bytes(bytes)) | ~tz__low_bytes(bytes);
}

void tz__push(tz_walker *w, tz__word v)
{
    w->general[TZ__RSP] = tz__known_word(w->general[TZ__RSP].number - 8);
    memory_write_word(w, w->general[TZ__RSP].number, 8, v);
}

tz__word tz__pop(tz_walker *w)
{
    const uint64_t top = w->general[TZ__RSP].number;
    w->general[TZ__RSP] = tz__known_word(top + 8);
    return memory_read_word(w, top, 8, false);
}
