/* Executes instructions, as far as addresses and counters depend on them. Called by walk.c. */
#include "backend/cpu/x86/execute.h"

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* The low bytes of n, the rest 0. */
static uint64_t narrow(uint64_t n, int bytes)
{
    return bytes >= 8 ? n : n & ((UINT64_C(1) << 8 * bytes) - 1);
}

/* The low bytes of n, sign-extended. */
static uint64_t widen(uint64_t n, int bytes)
{
    if (bytes >= 8)
        return n;
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    return (narrow(n, bytes) ^ sign) - sign;
}

/* The flags of an operation on `bytes` bytes. */
static void set_flags(tz_walker *w, uint64_t result, int bytes, bool carry, bool overflow)
{
    w->flags_known = true;
    w->zero = narrow(result, bytes) == 0;
    w->sign = narrow(result, bytes) >> (8 * bytes - 1) & 1;
    w->carry = carry;
    w->overflow = overflow;
}

static uint64_t subtract(tz_walker *w, uint64_t a, uint64_t b, int bytes)
{
    a = narrow(a, bytes);
    b = narrow(b, bytes);
    const uint64_t r = narrow(a - b, bytes);
    set_flags(w, r, bytes, a < b, ((a ^ b) & (a ^ r)) >> (8 * bytes - 1) & 1);
    return r;
}

static uint64_t add(tz_walker *w, uint64_t a, uint64_t b, int bytes)
{
    a = narrow(a, bytes);
    b = narrow(b, bytes);
    const uint64_t r = narrow(a + b, bytes);
    set_flags(w, r, bytes, r < a, (~(a ^ b) & (a ^ r)) >> (8 * bytes - 1) & 1);
    return r;
}

bool tz__condition_holds(const tz_walker *w, int condition)
{
    bool result = false;
    switch (condition >> 1) {
    case 0:
        result = w->overflow;
        break;
    case 1:
        result = w->carry;
        break;
    case 2:
        result = w->zero;
        break;
    case 3:
        result = w->carry || w->zero;
        break;
    case 4:
        result = w->sign;
        break;
    case 6:
        result = w->sign != w->overflow;
        break;
    case 7:
        result = w->zero || w->sign != w->overflow;
        break;
    default:
        break; /* parity, which only comparisons of cells use: not known */
    }
    return result != (condition & 1);
}

/* Integer arithmetic on one or two operands, with flags. */
static void do_arithmetic(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *to = &in->operands[0];
    const bool three = in->operands_count >= 3;
    const int bytes = to->bytes;
    const tz__word left = tz__operand_read_word(w, three ? &in->operands[1] : to);
    const tz__word right = in->operands_count >= 2
                               ? tz__operand_read_word(w, &in->operands[three ? 2 : 1])
                               : tz__known_word(1);
    const bool writes = in->operation != TZ_DO_COMPARE && in->operation != TZ_DO_TEST;
    const bool same = in->operands_count == 2 && in->operands[1].kind == TZ_OPERAND_GENERAL &&
                      to->kind == TZ_OPERAND_GENERAL && in->operands[1].number == to->number &&
                      !to->high && !in->operands[1].high;
    const bool shifts = in->operation == TZ_DO_SHIFT_LEFT || in->operation == TZ_DO_SHIFT_RIGHT ||
                        in->operation == TZ_DO_SHIFT_SIGNED;
    if (in->operation == TZ_DO_XOR && same) {
        set_flags(w, 0, bytes, false, false);
        tz__operand_write_word(w, to, tz__known_word(0), 8);
        return;
    }
    if (!tz__word_is_known(left, bytes) || !tz__word_is_known(right, shifts ? 1 : bytes)) {
        w->flags_known = false;
        if (writes)
            tz__operand_write_word(w, to, (tz__word){0, 0}, 8);
        return;
    }
    const uint64_t a = left.number, b = right.number;
    uint64_t r = 0;
    const bool carry = w->carry;
    switch (in->operation) {
    case TZ_DO_ADD:
        r = add(w, a, b, bytes);
        break;
    case TZ_DO_SUB:
    case TZ_DO_COMPARE:
        r = subtract(w, a, b, bytes);
        break;
    case TZ_DO_INCREMENT:
    case TZ_DO_DECREMENT:
        r = in->operation == TZ_DO_INCREMENT ? add(w, a, 1, bytes) : subtract(w, a, 1, bytes);
        w->carry = carry;
        break;
    case TZ_DO_NEGATE:
        r = subtract(w, 0, a, bytes);
        break;
    case TZ_DO_NOT:
        r = ~a;
        break;
    case TZ_DO_AND:
    case TZ_DO_TEST:
        set_flags(w, r = a & b, bytes, false, false);
        break;
    case TZ_DO_OR:
        set_flags(w, r = a | b, bytes, false, false);
        break;
    case TZ_DO_XOR:
        set_flags(w, r = a ^ b, bytes, false, false);
        break;
    case TZ_DO_AND_NOT:
        set_flags(w, r = ~a & b, bytes, false, false);
        break;
    case TZ_DO_MULTIPLY:
        r = widen(a, bytes) * widen(b, bytes);
        w->flags_known = false;
        break;
    default: {
        const int by = (int)(b & (bytes == 8 ? 63 : 31));
        r = in->operation == TZ_DO_SHIFT_LEFT    ? narrow(a, bytes) << by
            : in->operation == TZ_DO_SHIFT_RIGHT ? narrow(a, bytes) >> by
                                                 : (uint64_t)((int64_t)widen(a, bytes) >> by);
        if (by > 0)
            set_flags(w, r, bytes, false, false);
    }
    }
    if (writes)
        tz__operand_write_word(w, to, tz__known_word(narrow(r, bytes)), 8);
}

/* Between two words. */
static void do_move(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *to = &in->operands[0], *from = &in->operands[1];
    tz__word v = tz__operand_read_word(w, from);
    const int bytes = from->kind == TZ_OPERAND_NUMBER ? 8 : from->bytes;
    if (in->operation == TZ_DO_MOVE_SIGNED) {
        v = (tz__word){widen(v.number, bytes), tz__word_is_known(v, bytes) ? 0xff : 0};
    } else { /* zeros above */
        v.number = narrow(v.number, bytes);
        v.known |= 0xff & ~tz__low_bytes(bytes);
    }
    tz__operand_write_word(w, to, v, to->bytes);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

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

static void move_vector(tz_walker *w, const tz_instruction *in)
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

static void execute_vector(tz_walker *w, const tz_instruction *in)
{
    if (in->operation == TZ_DO_MOVE || in->operation == TZ_DO_MOVE_SIGNED)
        move_vector(w, in);
    else
        do_vector(w, in);
}

/* ---- All instructions ------------------------------------------------------------------------ */

void tz__execute(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *ops = in->operands;
    const tz__word unknown = {0, 0};
    uint64_t address;
    tz__word v, u;
    switch (in->operation) {
    case TZ_DO_NOTHING:
        return;
    case TZ_DO_MOVE:
    case TZ_DO_MOVE_SIGNED:
        if (in->operands_count == 2 && tz__operand_is_word(&ops[0]) && tz__operand_is_word(&ops[1]))
            do_move(w, in);
        else
            execute_vector(w, in);
        return;
    case TZ_DO_LOAD_ADDRESS:
        v = tz__operand_address(w, &ops[1], &address) ? tz__known_word(address) : unknown;
        tz__operand_write_word(w, &ops[0], v, 8);
        return;
    case TZ_DO_EXTEND_A:
        v = w->general[0];
        w->general[0] = tz__word_is_known(v, 4) ? tz__known_word(widen(v.number, 4)) : unknown;
        return;
    case TZ_DO_SET:
        v = w->flags_known ? tz__known_word(tz__condition_holds(w, in->condition)) : unknown;
        tz__operand_write_word(w, &ops[0], v, 1);
        return;
    case TZ_DO_CHOOSE:
        v = tz__operand_read_word(w, &ops[1]);
        u = tz__operand_read_word(w, &ops[0]);
        v = !w->flags_known ? unknown : tz__condition_holds(w, in->condition) ? v : u;
        tz__operand_write_word(w, &ops[0], v, 8);
        return;
    case TZ_DO_EXCHANGE:
        v = tz__operand_read_word(w, &ops[0]);
        u = tz__operand_read_word(w, &ops[1]);
        tz__operand_write_word(w, &ops[0], u, 8);
        tz__operand_write_word(w, &ops[1], v, 8);
        return;
    case TZ_DO_PUSH:
        tz__push(w, tz__operand_read_word(w, &ops[0]));
        return;
    case TZ_DO_LEAVE:
        w->general[TZ__RSP] = w->general[5];
        w->general[5] = tz__pop(w);
        return;
    case TZ_DO_POP:
        v = tz__pop(w);
        tz__operand_write_word(w, &ops[0], v, 8);
        return;
    case TZ_DO_INSERT:
    case TZ_DO_EXTRACT:
    case TZ_DO_INTERLEAVE:
    case TZ_DO_REPEAT:
    case TZ_DO_ADD_WIDE:
    case TZ_DO_SUB_WIDE:
    case TZ_DO_MULTIPLY_WIDE:
    case TZ_DO_MULTIPLY_LOW:
    case TZ_DO_SHIFT_LEFT_WIDE:
    case TZ_DO_SHIFT_RIGHT_WIDE:
        execute_vector(w, in);
        return;
    case TZ_DO_COMPUTE:
        execute_vector(w, in);
        if (in->operands_count > 0 && ops[0].kind != TZ_OPERAND_VECTOR)
            w->flags_known = false; /* comparisons of single elements */
        w->flags_known = w->flags_known && !in->compares;
        return;
    case TZ_DO_UNKNOWN:
        if (in->operands_count > 0)
            tz__operand_write(w, &ops[0], &tz__unknown, ops[0].bytes);
        w->flags_known = false;
        return;
    default:
        do_arithmetic(w, in);
    }
}
