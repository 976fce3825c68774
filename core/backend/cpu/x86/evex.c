/* Decodes those instructions of AVX-512 that libcapstone 4 does not know, or knows only for
 * registers up to 15: fused multiply-adds, logic, repetition of an element, arithmetic, moves.
 * Encoding: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, 2.7. */
#include "backend/cpu/x86/instruction.h"

#include <stdio.h>
#include <string.h>

/* The fields of the prefix. */
typedef struct fields {
    int map, opcode;
    int prefix;  /* 0 none, 1: 66, 2: f3, 3: f2 */
    bool wide;   /* W: elements of 8 bytes */
    bool repeat; /* b: the vector is filled with one element of memory */
    bool masked;
    int vector_bytes;
    int reg, vvvv; /* register operands, with their high bits */
    int x, b;      /* high bits of index and base; of rm when it is a register: 16 x + 8 b */
} fields;

static bool read_prefix(const uint8_t *code, fields *f)
{
    static const int lengths[] = {16, 32, 64, 0};
    const unsigned p0 = code[1], p1 = code[2], p2 = code[3];
    if (code[0] != 0x62 || p0 & 8 || !(p1 & 4))
        return false;
    f->prefix = p1 & 3;
    f->map = p0 & 7;
    f->wide = p1 >> 7;
    f->repeat = p2 >> 4 & 1;
    f->masked = p2 & 7;
    f->vector_bytes = lengths[p2 >> 5 & 3];
    f->reg = (int)((~p0 >> 7 & 1) << 3 | (~p0 >> 4 & 1) << 4);
    f->x = (int)(~p0 >> 6 & 1) << 3;
    f->b = (int)(~p0 >> 5 & 1) << 3;
    f->vvvv = (int)((~p1 >> 3 & 15) | (~p2 >> 3 & 1) << 4);
    f->opcode = code[4];
    return true;
}

typedef enum kind {
    OTHER,
    FUSED,
    ARITHMETIC,
    SPECIAL,
    LOGIC,
    TABLE,
    ADDRESS, /* what compilers also compute addresses with */
    REPEAT,
    LOAD,
    STORE,
    COPY,        /* of whole vectors: from memory, and between registers */
    FROM_NUMBER, /* of a general register or memory to a vector's first element; and back */
    TO_NUMBER,
    EXTRACT
} kind;

/* TZ_DO_NOTHING: it is none of these. */
static tz_operation find_operation(const fields *f)
{
    static const struct {
        int map, opcode;
        tz_operation operation;
    } known[] = {
        {1, 0x6c, TZ_DO_INTERLEAVE}, {1, 0xd4, TZ_DO_ADD_WIDE},      {1, 0xf4, TZ_DO_MULTIPLY_LOW},
        {1, 0xfb, TZ_DO_SUB_WIDE},   {2, 0x40, TZ_DO_MULTIPLY_WIDE}, {3, 0x22, TZ_DO_INSERT},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (f->prefix == 1 && f->wide && !f->masked && known[i].map == f->map &&
            known[i].opcode == f->opcode)
            return known[i].operation;
    return TZ_DO_NOTHING;
}

static kind find_kind(const fields *f)
{
    const int row = f->opcode >> 4, column = f->opcode & 15;
    if (find_operation(f) != TZ_DO_NOTHING)
        return ADDRESS;
    if (f->map == 2 && f->prefix == 1) {
        /* vfmadd, vfmsub, …: columns 6 to f of rows 9, a and b */
        if (row >= 9 && row <= 11 && column >= 6)
            return FUSED;
        return f->opcode == 0x58 || f->opcode == 0x59 ? REPEAT : OTHER;
    }
    if (f->map == 3 && f->prefix == 1)
        return f->opcode == 0x25                              ? TABLE
               : (f->opcode & 0xdd) == 0x19 && f->opcode < 64 ? EXTRACT
                                                              : OTHER;
    if (f->map != 1)
        return OTHER;
    switch (f->opcode) {
    case 0x10:
        return LOAD;
    case 0x11:
        return STORE;
    case 0x28:
        return f->prefix < 2 ? COPY : OTHER; /* movaps, movapd */
    case 0x6e:
        return f->prefix == 1 ? FROM_NUMBER : OTHER;
    case 0x7e:
        return f->prefix == 1 ? TO_NUMBER : OTHER;
    case 0x6f:
        return f->prefix > 0 ? COPY : OTHER; /* movdqa, movdqu */
    case 0x51:
    case 0x5e:
        return SPECIAL; /* root, quotient */
    case 0x54:
    case 0x55:
    case 0x56:
    case 0x57:
        return f->prefix < 2 ? LOGIC : OTHER;
    case 0x58:
    case 0x59:
    case 0x5c:
    case 0x5d:
    case 0x5f:
        return ARITHMETIC;
    default:
        return OTHER;
    }
}

/* Whether it computes one element, not a vector. */
static bool is_single(const fields *f)
{
    if (f->map == 2)
        return (f->opcode & 15) >= 9 && f->opcode >= 0x90 && f->opcode & 1;
    return f->map == 1 && f->prefix >= 2 && f->opcode != 0x6f;
}

/* Whether an immediate byte follows. */
static bool has_number(const fields *f)
{
    return f->map == 3 ||
           (f->map == 1 && ((f->opcode >= 0x70 && f->opcode <= 0x73) || f->opcode == 0xc2 ||
                            f->opcode == 0xc4 || f->opcode == 0xc5 || f->opcode == 0xc6));
}

/* The operand that modrm at `code` + 5 encodes, a register or memory. `element`: its size in
 * memory. Returns the offset of its end, or 0 if that is beyond `bytes`. */
static size_t read_rm(const uint8_t *code, size_t bytes, const fields *f, int element,
                      tz_operand *out)
{
    const int mod = code[5] >> 6, rm = code[5] & 7;
    size_t at = 6;
    if (mod == 3) {
        *out = (tz_operand){.kind = TZ_OPERAND_VECTOR,
                            .number = (int8_t)(rm | f->b | f->x << 1),
                            .bytes = (uint8_t)f->vector_bytes};
        return at;
    }
    *out = (tz_operand){.kind = TZ_OPERAND_MEMORY,
                        .number = TZ_REGISTER_NONE,
                        .base = (int8_t)(rm | f->b),
                        .index = TZ_REGISTER_NONE,
                        .scale = 1,
                        .bytes = (uint8_t)element};
    int base = rm;
    if (rm == 4) {
        const int sib = code[at++];
        const int index = (sib >> 3 & 7) | f->x;
        base = sib & 7;
        out->base = (int8_t)(base | f->b);
        out->index = (int8_t)(index == 4 ? TZ_REGISTER_NONE : index);
        out->scale = (uint8_t)(1 << (sib >> 6));
    }
    if (mod == 1) {
        out->value = (int64_t)(int8_t)code[at++] * out->bytes;
    } else if (mod == 2 || base == 5) {
        int32_t wide;
        if (at + sizeof wide > bytes)
            return 0;
        memcpy(&wide, code + at, sizeof wide);
        at += sizeof wide;
        out->value = wide;
        if (mod == 0) /* no base, or relative to the instruction pointer */
            out->base = rm == 4 ? TZ_REGISTER_NONE : TZ_REGISTER_IP;
    }
    return at;
}

static void classify(const fields *f, kind what, bool in_memory, tz_instruction *out)
{
    static const struct {
        const char *name;
        tz_work_class class;
    } kinds[] = {
        [OTHER] = {"vother", TZ_WORK_SHUFFLE},
        [FROM_NUMBER] = {"vmovq", TZ_WORK_MOVE},
        [TO_NUMBER] = {"vmovq", TZ_WORK_MOVE},
        [EXTRACT] = {"vextract", TZ_WORK_SHUFFLE},
        [FUSED] = {"vfma", TZ_WORK_FP32},
        [ARITHMETIC] = {"varith", TZ_WORK_FP32},
        [SPECIAL] = {"vdiv", TZ_WORK_SPECIAL},
        [LOGIC] = {"vlogic", TZ_WORK_LOGIC},
        [TABLE] = {"vpternlog", TZ_WORK_LOGIC},
        [ADDRESS] = {"vpaddress", TZ_WORK_INTEGER},
        [REPEAT] = {"vpbroadcast", TZ_WORK_SHUFFLE},
        [LOAD] = {"vmovu", TZ_WORK_MOVE},
        [STORE] = {"vmovu", TZ_WORK_MOVE},
        [COPY] = {"vmovdqa", TZ_WORK_MOVE},
    };
    const bool moves = ((what == LOAD || what == STORE) && in_memory) ||
                       (what == COPY && !f->masked) || what == FROM_NUMBER || what == TO_NUMBER;
    out->operation = moves ? TZ_DO_MOVE : what == ADDRESS ? find_operation(f) : TZ_DO_COMPUTE;
    out->class = kinds[what].class;
    if (out->operation == TZ_DO_INTERLEAVE || out->operation == TZ_DO_INSERT)
        out->class = TZ_WORK_SHUFFLE;
    if (out->class == TZ_WORK_FP32 && f->wide)
        out->class = TZ_WORK_FP64;
    out->repeats = what == REPEAT;
    out->computes = what >= FUSED && what <= ADDRESS && out->class != TZ_WORK_SHUFFLE;
    /* A move from or to a number has 8 bytes if it is called vmovq (execute.c). */
    const bool brief = (what == FROM_NUMBER || what == TO_NUMBER) && !f->wide;
    snprintf(out->name, sizeof out->name, "%s", brief ? "vmovd" : kinds[what].name);
}

bool tz_evex_read(const uint8_t *code, size_t bytes, bool any, tz_instruction *out)
{
    fields f;
    if (bytes < 7 || !read_prefix(code, &f))
        return false;
    const kind what = find_kind(&f);
    if ((what == OTHER && !any) || f.map < 1 || f.map > 3)
        return false;
    const bool in_memory = code[5] >> 6 != 3;
    if (is_single(&f))
        f.vector_bytes = 16;
    else if (f.repeat &&
             !in_memory) /* between registers this bit is a rounding mode, with 512 bits */
        f.vector_bytes = 64;
    if (f.vector_bytes == 0)
        return false;
    const bool inserts = what == ADDRESS && f.map == 3;
    const bool number = what == FROM_NUMBER || what == TO_NUMBER || inserts;
    const int element = what == REPEAT                ? 4 << (f.opcode & 1)
                        : number                      ? (f.wide ? 8 : 4)
                        : !f.repeat && !is_single(&f) ? f.vector_bytes
                        : f.wide                      ? 8
                                                      : 4;
    tz_operand rm;
    size_t end = read_rm(code, bytes, &f, element, &rm);
    if (end == 0 || (end += has_number(&f)) > bytes)
        return false;
    if (number && !in_memory)
        rm = (tz_operand){.kind = TZ_OPERAND_GENERAL,
                          .number = (int8_t)((code[5] & 7) | f.b),
                          .bytes = (uint8_t)element};
    if (in_memory && rm.base == TZ_REGISTER_IP)
        rm.value += (int64_t)(uintptr_t)code + (int64_t)end;
    const tz_operand reg = {.kind = TZ_OPERAND_VECTOR,
                            .number = (int8_t)((code[5] >> 3 & 7) | f.reg),
                            .bytes = (uint8_t)f.vector_bytes};
    out->length = (uint8_t)end;
    classify(&f, what, in_memory, out);
    /* The target comes first. */
    const bool to_rm = what == EXTRACT || what == TO_NUMBER || (what == STORE && in_memory);
    const bool two = to_rm || (what == LOAD && in_memory) || what == COPY || what == FROM_NUMBER;
    out->operands_count = two ? 2 : 3;
    out->operands[0] = to_rm ? rm : reg;
    out->operands[1] = to_rm ? reg
                       : two ? rm
                             : (tz_operand){.kind = TZ_OPERAND_VECTOR,
                                            .number = (int8_t)f.vvvv,
                                            .bytes = (uint8_t)f.vector_bytes};
    out->operands[2] = rm;
    if (inserts) { /* and the place, the last byte */
        out->operands[3] =
            (tz_operand){.kind = TZ_OPERAND_NUMBER, .bytes = 1, .value = code[end - 1]};
        out->operands_count = 4;
    }
    return true;
}
