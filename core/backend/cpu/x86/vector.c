#include "backend/cpu/x86/value.h"

static uint64_t wide_result(tz_operation operation, uint64_t x, uint64_t y)
{
    switch (operation) {
    case TZ_DO_ADD_WIDE:
        return x + y;
    case TZ_DO_SUB_WIDE:
        return x - y;
    case TZ_DO_MULTIPLY_WIDE:
        return x * y;
    case TZ_DO_MULTIPLY_LOW:
        return (x & UINT32_MAX) * (y & UINT32_MAX);
    case TZ_DO_SHIFT_LEFT_WIDE:
        return y < 64 ? x << y : 0;
    default: /* TZ_DO_SHIFT_RIGHT_WIDE */
        return y < 64 ? x >> y : 0;
    }
}

/* Moves within and between vectors. Compilers also move pointers through vectors, so these moves
 * are executed. */
static void do_vector(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *ops = in->operands;
    const int n = in->operands_count;
    const tz__value first = n > 1 ? tz__operand_read(w, &ops[1]) : tz__unknown;
    const tz__value second = n > 2 ? tz__operand_read(w, &ops[2]) : tz__unknown;
    tz__value out = tz__unknown;
    switch (in->operation) {
    case TZ_DO_INSERT:
        if (n < 4)
            break;
        out = first;
        memcpy(out.bytes + 8 * (ops[3].value & 1), second.bytes, 8);
        out.known &= ~(UINT64_C(0xff) << 8 * (ops[3].value & 1));
        out.known |= (second.known & 0xff) << 8 * (ops[3].value & 1);
        tz__operand_write(w, &ops[0], &out, 16);
        return;
    case TZ_DO_EXTRACT:
        memcpy(out.bytes, first.bytes + 8 * (ops[2].value & 1), 8);
        out.known = first.known >> 8 * (ops[2].value & 1) & 0xff;
        tz__operand_write(w, &ops[0], &out, 8);
        return;
    case TZ_DO_INTERLEAVE:
        if (n != 3 || ops[0].bytes != 16)
            break;
        memcpy(out.bytes, first.bytes, 8);
        memcpy(out.bytes + 8, second.bytes, 8);
        out.known = (first.known & 0xff) | (second.known & 0xff) << 8;
        tz__operand_write(w, &ops[0], &out, 16);
        return;
    case TZ_DO_REPEAT:
        for (int b = 0; b < 64; b += 8) {
            memcpy(out.bytes + b, first.bytes, 8);
            out.known |= (first.known & 0xff) << b;
        }
        tz__operand_write(w, &ops[0], &out, ops[0].bytes);
        return;
    case TZ_DO_ADD_WIDE:
    case TZ_DO_SUB_WIDE:
    case TZ_DO_MULTIPLY_WIDE:
    case TZ_DO_MULTIPLY_LOW:
    case TZ_DO_SHIFT_LEFT_WIDE:
    case TZ_DO_SHIFT_RIGHT_WIDE:
        if (n != 3)
            break;
        for (int b = 0; b < 64; b += 8) {
            /* A vector is shifted by one number. */
            const int from = in->operation >= TZ_DO_SHIFT_LEFT_WIDE ? 0 : b;
            uint64_t x, y;
            memcpy(&x, first.bytes + b, 8);
            memcpy(&y, second.bytes + from, 8);
            x = wide_result(in->operation, x, y);
            memcpy(out.bytes + b, &x, 8);
            if ((first.known >> b & 0xff) == 0xff && (second.known >> from & 0xff) == 0xff)
                out.known |= UINT64_C(0xff) << b;
        }
        tz__operand_write(w, &ops[0], &out, ops[0].bytes);
        return;
    default:
        break;
    }
    tz__operand_write(w, &ops[0], &tz__unknown, ops[0].bytes);
}

static void do_move(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *to = &in->operands[0], *from = &in->operands[in->operands_count - 1];
    if (in->operands_count > 2) { /* under a mask */
        tz__operand_write(w, to, &tz__unknown, to->bytes);
        return;
    }
    tz__value v = tz__operand_read(w, from);
    int bytes = from->kind == TZ_OPERAND_NUMBER ? 8 : from->bytes;
    if (strcmp(in->name, "vmovq") == 0 || strcmp(in->name, "movq") == 0)
        bytes = 8;
    if (in->class == TZ_WORK_MOVE && to->kind == TZ_OPERAND_VECTOR && bytes < to->bytes)
        memset(v.bytes + bytes, 0, sizeof v.bytes - (size_t)bytes);
    if (bytes < 64) { /* zeros above */
        memset(v.bytes + bytes, 0, sizeof v.bytes - (size_t)bytes);
        v.known |= ~tz__low_bytes(bytes);
    }
    tz__operand_write(w, to, &v, to->bytes);
}

void tz__execute_vector(tz_walker *w, const tz_instruction *in)
{
    if (in->operation == TZ_DO_MOVE || in->operation == TZ_DO_MOVE_SIGNED)
        do_move(w, in);
    else
        do_vector(w, in);
}
