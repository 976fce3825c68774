#include "backend/cpu/x86/walk.h"

#include <stdlib.h>
#include <string.h>

enum {
    CODE_BYTES = 1 << 16, /* of one function, from its entry on */
    STACK_BYTES = 1 << 14,
    STEPS_MAX = 1000000,
    LINE = 64,
    NARROW = 8, /* bytes of the largest element */
    RSP = 4,
    RDI = 7,
    KEPT = 1 << 3 | 1 << 5 | 0xf << 12 | 1 << RSP /* registers that a called function keeps */
};
/* Where no memory can be. */
static const uint64_t STACK_TOP = UINT64_C(0x7ff800000000), RETURN = UINT64_C(0x7ff900000000);

/* Up to 64 bytes; bit b of `known`: byte b is known. */
typedef struct value {
    uint8_t bytes[64];
    uint64_t known;
} value;

struct tz_walker {
    tz_decoder *decoder;
    tz_row_fn *function;    /* whose instructions are decoded */
    int16_t at[CODE_BYTES]; /* instruction at this offset from `base`, plus one */
    uint64_t base;
    tz_instruction *instructions;
    int count, room;

    value general[16], vector[32];
    uint8_t stack[STACK_BYTES];
    bool stack_known[STACK_BYTES];
    bool flags_known, zero, sign, carry, overflow;
    const tz_walk_range *ranges;
    size_t ranges_count;
    tz_walk *out;
};

static uint64_t low_bytes(int bytes)
{
    return bytes >= 64 ? UINT64_MAX : (UINT64_C(1) << bytes) - 1;
}

static bool known(const value *v, int bytes)
{
    return (v->known & low_bytes(bytes)) == low_bytes(bytes);
}

static uint64_t number(const value *v)
{
    uint64_t n;
    memcpy(&n, v->bytes, sizeof n);
    return n;
}

static value from_number(uint64_t n)
{
    value v = {.known = UINT64_MAX};
    memcpy(v.bytes, &n, sizeof n);
    return v;
}

static const value unknown;

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool on_stack(uint64_t address, int bytes)
{
    return address < STACK_TOP && address + (uint64_t)bytes <= STACK_TOP &&
           address >= STACK_TOP - STACK_BYTES;
}

static value memory_read(const tz_walker *w, uint64_t address, int bytes, bool image)
{
    value v = {.known = ~low_bytes(bytes)};
    if (on_stack(address, bytes)) {
        const size_t offset = address - (STACK_TOP - STACK_BYTES);
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
    if (image) { /* the function's own constants, or what the caller named */
        memcpy(v.bytes, (const void *)(uintptr_t)address, (size_t)bytes);
        v.known = UINT64_MAX;
    }
    return v;
}

static void memory_write(tz_walker *w, uint64_t address, int bytes, const value *v)
{
    if (!on_stack(address, bytes))
        return;
    const size_t offset = address - (STACK_TOP - STACK_BYTES);
    for (int b = 0; b < bytes; b++) {
        w->stack[offset + (size_t)b] = v->bytes[b];
        w->stack_known[offset + (size_t)b] = v->known >> b & 1;
    }
}

/* ---- Operands -------------------------------------------------------------------------------- */

static bool operand_address(const tz_walker *w, const tz_operand *operand, uint64_t *address)
{
    uint64_t sum = (uint64_t)operand->value;
    if (operand->segment)
        return false;
    if (operand->base >= 0) {
        if (!known(&w->general[operand->base], 8))
            return false;
        sum += number(&w->general[operand->base]);
    }
    if (operand->index >= 0) {
        if (!known(&w->general[operand->index], 8))
            return false;
        sum += number(&w->general[operand->index]) * operand->scale;
    }
    *address = sum;
    return true;
}

static value read_operand(const tz_walker *w, const tz_operand *operand)
{
    uint64_t address;
    value v = unknown;
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
        return from_number((uint64_t)operand->value);
    case TZ_OPERAND_MEMORY:
        if (operand_address(w, operand, &address))
            return memory_read(w, address, operand->bytes, operand->base == TZ_REGISTER_IP);
        return unknown;
    default:
        return unknown;
    }
}

/* `bytes` of v count; the rest of a target is what the processor makes of it. */
static void write_operand(tz_walker *w, const tz_operand *operand, const value *v, int bytes)
{
    uint64_t address;
    value *target;
    if (bytes > operand->bytes)
        bytes = operand->bytes;
    switch (operand->kind) {
    case TZ_OPERAND_GENERAL:
        target = &w->general[operand->number];
        if (operand->high || operand->bytes < 4) { /* the rest stays */
            const int first = operand->high ? 1 : 0;
            memcpy(target->bytes + first, v->bytes, operand->bytes);
            target->known &= ~(low_bytes(operand->bytes) << first);
            target->known |= (v->known & low_bytes(operand->bytes)) << first;
            return;
        }
        break;
    case TZ_OPERAND_VECTOR:
        target = &w->vector[operand->number];
        break;
    case TZ_OPERAND_MEMORY:
        if (operand_address(w, operand, &address))
            memory_write(w, address, operand->bytes, v);
        return;
    default:
        return;
    }
    memset(target, 0, sizeof *target);
    memcpy(target->bytes, v->bytes, (size_t)bytes);
    target->known = (v->known & low_bytes(bytes)) | ~low_bytes(bytes);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void count_access(tz_walker *w, const tz_operand *operand, int bytes, bool write)
{
    tz_walk *out = w->out;
    uint64_t address = 0;
    const bool is_known = operand_address(w, operand, &address);
    const bool crosses = is_known && (address & (LINE - 1)) + (uint64_t)bytes > LINE;
    bool cells = is_known && !on_stack(address, bytes) && operand->base != TZ_REGISTER_IP;
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
        out->cell_loads += cells;
    }
}

static void count(tz_walker *w, const tz_instruction *in, bool fused)
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
    bool plain = false; /* nothing but a load or store */
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

/* ---- Arithmetic ------------------------------------------------------------------------------ */

static uint64_t narrow(uint64_t n, int bytes)
{
    return bytes >= 8 ? n : n & ((UINT64_C(1) << 8 * bytes) - 1);
}

static uint64_t widen(uint64_t n, int bytes)
{
    if (bytes >= 8)
        return n;
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    return (narrow(n, bytes) ^ sign) - sign;
}

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

static bool holds(const tz_walker *w, int condition)
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
        break; /* parity: of floating-point comparisons, which are never known */
    }
    return result != (condition & 1);
}

/* Operations of two numbers (or one), with flags. */
static void do_arithmetic(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *to = &in->operands[0];
    const bool three = in->operands_count >= 3;
    const int bytes = to->bytes;
    const value left = read_operand(w, three ? &in->operands[1] : to);
    value right =
        in->operands_count >= 2 ? read_operand(w, &in->operands[three ? 2 : 1]) : from_number(1);
    const bool writes = in->operation != TZ_DO_COMPARE && in->operation != TZ_DO_TEST;
    const bool same = in->operands_count == 2 && in->operands[1].kind == TZ_OPERAND_GENERAL &&
                      to->kind == TZ_OPERAND_GENERAL && in->operands[1].number == to->number &&
                      !to->high && !in->operands[1].high;
    const bool shifts = in->operation == TZ_DO_SHIFT_LEFT || in->operation == TZ_DO_SHIFT_RIGHT ||
                        in->operation == TZ_DO_SHIFT_SIGNED;
    if (in->operation == TZ_DO_XOR && same) {
        set_flags(w, 0, bytes, false, false);
        const value zero = from_number(0);
        write_operand(w, to, &zero, 8);
        return;
    }
    if (!known(&left, bytes) || !known(&right, shifts ? 1 : bytes)) {
        w->flags_known = false;
        if (writes)
            write_operand(w, to, &unknown, 8);
        return;
    }
    const uint64_t a = number(&left), b = number(&right);
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
    const value result = from_number(narrow(r, bytes));
    if (writes)
        write_operand(w, to, &result, 8);
}

/* Moves between vectors and within them, as far as pointers travel that way. */
static void do_vector(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *ops = in->operands;
    const int n = in->operands_count;
    const value first = n > 1 ? read_operand(w, &ops[1]) : unknown;
    const value second = n > 2 ? read_operand(w, &ops[2]) : unknown;
    value out = unknown;
    switch (in->operation) {
    case TZ_DO_INSERT:
        if (n < 4)
            break;
        out = first;
        memcpy(out.bytes + 8 * (ops[3].value & 1), second.bytes, 8);
        out.known &= ~(UINT64_C(0xff) << 8 * (ops[3].value & 1));
        out.known |= (second.known & 0xff) << 8 * (ops[3].value & 1);
        write_operand(w, &ops[0], &out, 16);
        return;
    case TZ_DO_EXTRACT:
        memcpy(out.bytes, first.bytes + 8 * (ops[2].value & 1), 8);
        out.known = first.known >> 8 * (ops[2].value & 1) & 0xff;
        write_operand(w, &ops[0], &out, 8);
        return;
    case TZ_DO_INTERLEAVE:
        if (n != 3 || ops[0].bytes != 16)
            break;
        memcpy(out.bytes, first.bytes, 8);
        memcpy(out.bytes + 8, second.bytes, 8);
        out.known = (first.known & 0xff) | (second.known & 0xff) << 8;
        write_operand(w, &ops[0], &out, 16);
        return;
    case TZ_DO_REPEAT:
        for (int b = 0; b < 64; b += 8) {
            memcpy(out.bytes + b, first.bytes, 8);
            out.known |= (first.known & 0xff) << b;
        }
        write_operand(w, &ops[0], &out, ops[0].bytes);
        return;
    case TZ_DO_ADD_WIDE:
        if (n != 3)
            break;
        for (int b = 0; b < 64; b += 8) {
            uint64_t x, y;
            memcpy(&x, first.bytes + b, 8);
            memcpy(&y, second.bytes + b, 8);
            x += y;
            memcpy(out.bytes + b, &x, 8);
            if ((first.known >> b & 0xff) == 0xff && (second.known >> b & 0xff) == 0xff)
                out.known |= UINT64_C(0xff) << b;
        }
        write_operand(w, &ops[0], &out, ops[0].bytes);
        return;
    default:
        break;
    }
    write_operand(w, &ops[0], &unknown, ops[0].bytes);
}

static void do_move(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *to = &in->operands[0], *from = &in->operands[in->operands_count - 1];
    if (in->operands_count > 2) { /* under a mask */
        write_operand(w, to, &unknown, to->bytes);
        return;
    }
    value v = read_operand(w, from);
    int bytes = from->kind == TZ_OPERAND_NUMBER ? 8 : from->bytes;
    if (strcmp(in->name, "vmovq") == 0 || strcmp(in->name, "movq") == 0)
        bytes = 8;
    if (in->class == TZ_WORK_MOVE && to->kind == TZ_OPERAND_VECTOR && bytes < to->bytes)
        memset(v.bytes + bytes, 0, sizeof v.bytes - (size_t)bytes);
    if (in->operation == TZ_DO_MOVE_SIGNED) {
        const bool ok = known(&v, bytes);
        v = from_number(widen(number(&v), bytes));
        v.known = ok ? UINT64_MAX : 0;
        bytes = 8;
    } else if (bytes < 64) { /* zeros above */
        memset(v.bytes + bytes, 0, sizeof v.bytes - (size_t)bytes);
        v.known |= ~low_bytes(bytes);
    }
    write_operand(w, to, &v, to->bytes);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void push(tz_walker *w, const value *v)
{
    const uint64_t top = number(&w->general[RSP]) - 8;
    w->general[RSP] = from_number(top);
    memory_write(w, top, 8, v);
}

static value pop(tz_walker *w)
{
    const uint64_t top = number(&w->general[RSP]);
    w->general[RSP] = from_number(top + 8);
    return memory_read(w, top, 8, false);
}

/* Everything but jumps. */
static void execute(tz_walker *w, const tz_instruction *in)
{
    const tz_operand *ops = in->operands;
    uint64_t address;
    value v, u;
    switch (in->operation) {
    case TZ_DO_NOTHING:
        return;
    case TZ_DO_MOVE:
    case TZ_DO_MOVE_SIGNED:
        do_move(w, in);
        return;
    case TZ_DO_LOAD_ADDRESS:
        v = operand_address(w, &ops[1], &address) ? from_number(address) : unknown;
        write_operand(w, &ops[0], &v, 8);
        return;
    case TZ_DO_EXTEND_A:
        v = w->general[0];
        u = known(&v, 4) ? from_number(widen(number(&v), 4)) : unknown;
        w->general[0] = u;
        return;
    case TZ_DO_SET:
        v = w->flags_known ? from_number(holds(w, in->condition)) : unknown;
        write_operand(w, &ops[0], &v, 1);
        return;
    case TZ_DO_CHOOSE:
        v = read_operand(w, &ops[1]);
        u = read_operand(w, &ops[0]);
        v = !w->flags_known ? unknown : holds(w, in->condition) ? v : u;
        write_operand(w, &ops[0], &v, 8);
        return;
    case TZ_DO_EXCHANGE:
        v = read_operand(w, &ops[0]);
        u = read_operand(w, &ops[1]);
        write_operand(w, &ops[0], &u, 8);
        write_operand(w, &ops[1], &v, 8);
        return;
    case TZ_DO_PUSH:
        v = read_operand(w, &ops[0]);
        push(w, &v);
        return;
    case TZ_DO_LEAVE:
        w->general[RSP] = w->general[5];
        w->general[5] = pop(w);
        return;
    case TZ_DO_POP:
        v = pop(w);
        write_operand(w, &ops[0], &v, 8);
        return;
    case TZ_DO_INSERT:
    case TZ_DO_EXTRACT:
    case TZ_DO_INTERLEAVE:
    case TZ_DO_REPEAT:
    case TZ_DO_ADD_WIDE:
    case TZ_DO_COMPUTE:
        do_vector(w, in);
        if (in->operands_count > 0 && ops[0].kind != TZ_OPERAND_VECTOR)
            w->flags_known = false; /* comparisons of single numbers */
        w->flags_known = w->flags_known && !in->compares;
        return;
    case TZ_DO_UNKNOWN:
        if (in->operands_count > 0)
            write_operand(w, &ops[0], &unknown, ops[0].bytes);
        w->flags_known = false;
        return;
    default:
        do_arithmetic(w, in);
    }
}

static tz_status fetch(tz_walker *w, uint64_t address, const tz_instruction **out, tz_error *error)
{
    if (address < w->base || address - w->base >= CODE_BYTES)
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

/* Address of the next instruction; RETURN: the function is done. */
static tz_status step(tz_walker *w, const tz_instruction *in, uint64_t *next, tz_error *error)
{
    *next = in->address + in->length;
    value v;
    switch (in->operation) {
    case TZ_DO_BRANCH:
        w->out->branches++;
        w->out->estimates += !w->flags_known;
        if (w->flags_known && holds(w, in->condition))
            *next = (uint64_t)in->operands[0].value;
        return TZ_OK;
    case TZ_DO_JUMP:
        v = read_operand(w, &in->operands[0]);
        if (!known(&v, 8))
            return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                "a row function jumps to where its cells say: it cannot be "
                                "followed");
        *next = number(&v);
        return TZ_OK;
    case TZ_DO_CALL:
        w->out->calls++;
        w->out->mix.of[TZ_WORK_SPECIAL]++;
        for (int r = 0; r < 16; r++)
            if (!(KEPT >> r & 1))
                w->general[r] = unknown;
        memset(w->vector, 0, sizeof w->vector);
        w->flags_known = false;
        return TZ_OK;
    case TZ_DO_RETURN:
        v = pop(w);
        *next = known(&v, 8) ? number(&v) : RETURN;
        return TZ_OK;
    default:
        execute(w, in);
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
    memcpy(&w->base, &rows, sizeof w->base); /* code may be laid out before the entry, too */
    uint64_t at = w->base;
    w->base -= CODE_BYTES / 2;
    w->general[RSP] = from_number(STACK_TOP - 1024);
    w->general[RDI] = from_number((uint64_t)(uintptr_t)span);
    const value back = from_number(RETURN);
    push(w, &back);
    bool fuses = false;
    for (int steps = 0; at != RETURN; steps++) {
        const tz_instruction *in = NULL;
        if (steps == STEPS_MAX)
            return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                                "a row function does not end within %d instructions", STEPS_MAX);
        tz_status status = fetch(w, at, &in, error);
        if (status)
            return status;
        count(w, in, fuses && in->operation == TZ_DO_BRANCH);
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
