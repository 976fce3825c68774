/* Decodes instructions of x86-64 for the walk (walk.h).
 *
 * libcapstone (4.x, Debian: libcapstone4) is opened at run time. Without it, plans on a CPU cannot
 * be predicted; everything else works. */
#ifndef TZ_CORE_BACKEND_CPU_X86_INSTRUCTION_H
#define TZ_CORE_BACKEND_CPU_X86_INSTRUCTION_H

#include "base/error.h"
#include "model/work.h"

#include <stdint.h>

enum { TZ_OPERANDS_MAX = 4, TZ_REGISTER_NONE = -1, TZ_REGISTER_IP = -2 };

typedef enum tz_operand_kind {
    TZ_OPERAND_GENERAL, /* rax … r15, or the low part of one */
    TZ_OPERAND_VECTOR,  /* xmm, ymm, zmm */
    TZ_OPERAND_MASK,    /* k0 to k7 */
    TZ_OPERAND_NUMBER,
    TZ_OPERAND_MEMORY,
    TZ_OPERAND_OTHER /* x87, segments, … */
} tz_operand_kind;

typedef struct tz_operand {
    tz_operand_kind kind;
    int8_t number; /* of the register, as in machine code: rax 0, rcx 1, ... */
    bool high;     /* ah, ch, dh, bh */
    uint8_t bytes;
    int8_t base, index; /* registers, or TZ_REGISTER_… */
    uint8_t scale;
    bool segment;  /* relative to fs or gs: the address is not known */
    int64_t value; /* the number, the displacement, or where a branch goes */
} tz_operand;

/* The effect of an instruction on addresses and counters. */
typedef enum tz_operation {
    TZ_DO_NOTHING,
    TZ_DO_UNKNOWN, /* the first operand is not known afterwards */
    TZ_DO_COMPUTE, /* arithmetic on vectors: the first operand is not known afterwards */
    TZ_DO_MOVE,    /* between registers and memory; a wider target is filled with zeros */
    TZ_DO_MOVE_SIGNED,
    TZ_DO_LOAD_ADDRESS,
    TZ_DO_ADD,
    TZ_DO_SUB,
    TZ_DO_AND,
    TZ_DO_OR,
    TZ_DO_XOR,
    TZ_DO_COMPARE,
    TZ_DO_TEST,
    TZ_DO_INCREMENT,
    TZ_DO_DECREMENT,
    TZ_DO_NEGATE,
    TZ_DO_NOT,
    TZ_DO_SHIFT_LEFT,
    TZ_DO_SHIFT_RIGHT,
    TZ_DO_SHIFT_SIGNED,
    TZ_DO_MULTIPLY,
    TZ_DO_AND_NOT,
    TZ_DO_EXTEND_A, /* cltq: eax into rax */
    TZ_DO_SET,
    TZ_DO_CHOOSE, /* cmov */
    TZ_DO_EXCHANGE,
    TZ_DO_PUSH,
    TZ_DO_POP,
    TZ_DO_LEAVE,
    TZ_DO_INSERT,     /* pinsrq */
    TZ_DO_EXTRACT,    /* pextrq */
    TZ_DO_INTERLEAVE, /* punpcklqdq */
    TZ_DO_REPEAT,     /* pbroadcastq */
    /* On each 8 bytes of vectors, where compilers also compute addresses. */
    TZ_DO_ADD_WIDE,         /* paddq */
    TZ_DO_SUB_WIDE,         /* psubq */
    TZ_DO_MULTIPLY_WIDE,    /* pmullq */
    TZ_DO_MULTIPLY_LOW,     /* pmuludq: the low halves */
    TZ_DO_SHIFT_LEFT_WIDE,  /* psllq */
    TZ_DO_SHIFT_RIGHT_WIDE, /* psrlq */
    TZ_DO_BRANCH,           /* conditional */
    TZ_DO_JUMP,
    TZ_DO_CALL,
    TZ_DO_RETURN
} tz_operation;

typedef struct tz_instruction {
    uint64_t address;
    uint8_t length;
    tz_operation operation;
    tz_work_class class;
    uint8_t condition; /* as in machine code: 0 overflow, 1 no overflow, 2 below, ... 15 greater */
    int operands_count;
    tz_operand operands[TZ_OPERANDS_MAX];
    bool computes; /* arithmetic: its vectors' width counts */
    /* cmp, test: the processor issues it together with the next instruction, if that is a branch */
    bool fuses;
    bool compares; /* compares vectors or cells: the flags are not known afterwards */
    bool repeats;  /* fills a vector with one element; from memory this is only a load */
    char name[24];
} tz_instruction;

typedef struct tz_decoder tz_decoder;

/* Errors: TZ_MEMORY; TZ_UNSUPPORTED without libcapstone, and on other processors. */
tz_status tz_decoder_open(tz_decoder **out, tz_error *error);
void tz_decoder_close(tz_decoder *decoder); /* NULL is fine */

/* Decode the instruction at `code`, reading up to `bytes` bytes. Errors: TZ_UNSUPPORTED if it is
 * not known. */
tz_status tz_decoder_read(tz_decoder *decoder, const void *code, size_t bytes, tz_instruction *out,
                          tz_error *error);

/* One line for `trapeze doctor`: the version of libcapstone, or what is missing. Returns whether
 * it is there. */
bool tz_decoder_describe(char *text, size_t size);

/* For tz_decoder_read(), in evex.c: decode the instruction at `code`; false: it is not one of those
 * that evex.c decodes. With `any`, all other instructions of AVX-512 are decoded as shuffles with
 * full vectors in memory. */
bool tz_evex_read(const uint8_t *code, size_t bytes, bool any, tz_instruction *out);

#endif
