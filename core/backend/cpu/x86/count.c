#include "backend/cpu/x86/value.h"

enum {
    LINE = 64, /* bytes of a cache line */
    NARROW = 8 /* bytes of the largest element */
};

static void count_access(tz_walker *w, const tz_operand *operand, int bytes, bool write)
{
    tz_walk *out = w->out;
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

void tz__count(tz_walker *w, const tz_instruction *in, bool fused)
{
    tz_walk *out = w->out;
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
            count_access(w, memory, bytes, true);
        if (!write || modify)
            count_access(w, memory, bytes, false);
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
