#include "backend/cpu/x86/value.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

bool tz__on_stack(uint64_t address, int bytes)
{
    return address < TZ__STACK_TOP && address + (uint64_t)bytes <= TZ__STACK_TOP &&
           address >= TZ__STACK_TOP - TZ__STACK_BYTES;
}

/* `image`: the address is in the plugin's constant data. */
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
        return v;
    }
    for (size_t i = 0; i < w->ranges_count && !image; i++) {
        const uint64_t low = (uint64_t)(uintptr_t)w->ranges[i].at;
        image = address >= low && address + (uint64_t)bytes <= low + w->ranges[i].bytes;
    }
    if (image) {
        memcpy(v.bytes, (const void *)(uintptr_t)address, (size_t)bytes);
        v.known = UINT64_MAX;
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

/* ---- Operands -------------------------------------------------------------------------------- */

bool tz__operand_address(const tz_walker *w, const tz_operand *operand, uint64_t *address)
{
    uint64_t sum = (uint64_t)operand->value;
    if (operand->segment)
        return false;
    if (operand->base >= 0) {
        if (!tz__is_known(&w->general[operand->base], 8))
            return false;
        sum += tz__number(&w->general[operand->base]);
    }
    if (operand->index >= 0) {
        if (!tz__is_known(&w->general[operand->index], 8))
            return false;
        sum += tz__number(&w->general[operand->index]) * operand->scale;
    }
    *address = sum;
    return true;
}

tz__value tz__operand_read(const tz_walker *w, const tz_operand *operand)
{
    uint64_t address;
    tz__value v = tz__unknown;
    switch (operand->kind) {
    case TZ_OPERAND_GENERAL:
        v = w->general[operand->number];
        if (operand->high) {
            v.bytes[0] = v.bytes[1];
            v.known = v.known >> 1 & 1;
        }
        return v;
    case TZ_OPERAND_VECTOR:
        return w->vector[operand->number];
    case TZ_OPERAND_NUMBER:
        return tz__from_number((uint64_t)operand->value);
    case TZ_OPERAND_MEMORY:
        if (tz__operand_address(w, operand, &address))
            return memory_read(w, address, operand->bytes, operand->base == TZ_REGISTER_IP);
        return tz__unknown;
    default:
        return tz__unknown;
    }
}

void tz__operand_write(tz_walker *w, const tz_operand *operand, const tz__value *v, int bytes)
{
    uint64_t address;
    tz__value *target;
    if (bytes > operand->bytes)
        bytes = operand->bytes;
    switch (operand->kind) {
    case TZ_OPERAND_GENERAL:
        target = &w->general[operand->number];
        if (operand->high || operand->bytes < 4) { /* the rest stays */
            const int first = operand->high ? 1 : 0;
            memcpy(target->bytes + first, v->bytes, operand->bytes);
            target->known &= ~(tz__low_bytes(operand->bytes) << first);
            target->known |= (v->known & tz__low_bytes(operand->bytes)) << first;
            return;
        }
        break;
    case TZ_OPERAND_VECTOR:
        target = &w->vector[operand->number];
        break;
    case TZ_OPERAND_MEMORY:
        if (tz__operand_address(w, operand, &address))
            memory_write(w, address, operand->bytes, v);
        return;
    default:
        return;
    }
    memset(target, 0, sizeof *target);
    memcpy(target->bytes, v->bytes, (size_t)bytes);
    target->known = (v->known & tz__low_bytes(bytes)) | ~tz__low_bytes(bytes);
}

void tz__push(tz_walker *w, const tz__value *v)
{
    const uint64_t top = tz__number(&w->general[TZ__RSP]) - 8;
    w->general[TZ__RSP] = tz__from_number(top);
    memory_write(w, top, 8, v);
}

tz__value tz__pop(tz_walker *w)
{
    const uint64_t top = tz__number(&w->general[TZ__RSP]);
    w->general[TZ__RSP] = tz__from_number(top + 8);
    return memory_read(w, top, 8, false);
}
