/* Instructions of PTX as ptx_read.c leaves them to ptx_run.c. */
#ifndef TZ_MODEL_PAPERS_PTX_IMPL_H
#define TZ_MODEL_PAPERS_PTX_IMPL_H

#include "model/papers/ptx.h"

enum { TZ__PTX_OPERANDS = 12, TZ__PTX_WORD = 24 };

typedef enum tz__ptx_kind {
    TZ__PTX_NOTHING, /* a sink "_", or what has no value here */
    TZ__PTX_REGISTER,
    TZ__PTX_NUMBER,   /* an integer or the bits of a float */
    TZ__PTX_SPECIAL,  /* %tid.x and the like: `at` is a tz__ptx_special */
    TZ__PTX_PARAMETER /* a parameter of the kernel: `value` is its place among them */
} tz__ptx_kind;

typedef enum tz__ptx_special {
    TZ__PTX_TID, /* x, y, z of each: +0, +1, +2 */
    TZ__PTX_NTID = 3,
    TZ__PTX_CTAID = 6,
    TZ__PTX_NCTAID = 9,
    TZ__PTX_LANE = 12,
    TZ__PTX_SPECIALS
} tz__ptx_special;

typedef struct tz__ptx_operand {
    tz__ptx_kind kind;
    int at;        /* register or special */
    int64_t value; /* number; of an address "[base+value]" the offset */
} tz__ptx_operand;

typedef enum tz__ptx_flow { TZ__PTX_NEXT, TZ__PTX_JUMP, TZ__PTX_END, TZ__PTX_TABLE } tz__ptx_flow;

typedef struct tz__ptx_instruction {
    char name[TZ__PTX_WORD];    /* "ld" */
    char options[TZ__PTX_WORD]; /* ".global.v4": without the type */
    bool is_float, is_signed, is_predicate;
    int bytes;      /* of the type: 1 to 8; predicates 1 */
    int from_bytes; /* cvt: of the source, whose sign is from_signed */
    bool from_signed, from_float;
    int vector; /* elements of an access: 1, 2, 4 or 8 */
    int guard;  /* a predicate's register; -1: none */
    bool guard_not;
    tz__ptx_flow flow;
    int target; /* of a jump: an instruction; the number of instructions is the end */
    char label[TZ__PTX_WORD * 2];
    bool leads; /* a basic block begins here */
    bool is_load, is_store, is_memory, is_local, is_parameter, is_call;
    tz_luo2011_operation operation;
    bool has_constant;
    int written; /* operands that are written: the first so many */
    int address; /* the operand in [ ]; -1: none */
    int count;
    tz__ptx_operand operands[TZ__PTX_OPERANDS];
} tz__ptx_instruction;

struct tz_ptx {
    tz__ptx_instruction *at;
    int count, room;
    int registers;
};

/* Sets operation, flow and kind of access from name and options. */
void tz__ptx_classify(tz__ptx_instruction *instruction);
/* Clocks of an instruction. */
double tz__ptx_clocks(const tz__ptx_instruction *instruction, const tz_luo2011_costs *costs);

/* The value of an instruction that computes with integers, from the values of its sources; false:
 * it is not known. */
bool tz__ptx_value(const tz__ptx_instruction *instruction, const uint64_t *sources, uint64_t *out);

#endif
