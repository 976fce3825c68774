/* The state of a walk (walk.h): its values and operands. */
#ifndef TZ_CORE_BACKEND_CPU_X86_VALUE_H
#define TZ_CORE_BACKEND_CPU_X86_VALUE_H

#include "backend/cpu/x86/instruction.h"

#include <string.h>
#include <trapeze/plugin.h>

enum {
    TZ__CODE_BYTES = 1 << 16, /* of one function: half before its entry, half after it */
    TZ__STACK_BYTES = 1 << 16,
    TZ__RSP = 4,
    TZ__RDI = 7
};
/* The stack of the walk ends at this address. No memory of the process can be there. */
#define TZ__STACK_TOP UINT64_C(0x7ff800000000)

/* Up to 64 bytes, of which byte b is known if bit b of `known` is set. */
typedef struct tz__value {
    uint8_t bytes[64];
    uint64_t known;
} tz__value;

/* A number of up to 8 bytes, likewise. */
typedef struct tz__word {
    uint64_t number, known;
} tz__word;

/* Memory that the walk may read. */
typedef struct tz_walk_range {
    const void *at;
    size_t bytes;
} tz_walk_range;

typedef struct tz_walker {
    tz_decoder *decoder;
    tz_row_fn *function;        /* the decoded instructions are its */
    int16_t at[TZ__CODE_BYTES]; /* the instruction at this offset from `base`, plus one; 0: none */
    uint64_t base;
    tz_instruction *instructions;
    int count, room;

    tz__word general[16];
    tz__value vector[32];
    uint8_t stack[TZ__STACK_BYTES];
    bool stack_known[TZ__STACK_BYTES];
    bool flags_known, zero, sign, carry, overflow;
    const tz_walk_range *ranges;
    size_t ranges_count;
} tz_walker;

/* ---- Values and operands --------------------------------------------------------------------- */

static const tz__value tz__unknown;

static inline uint64_t tz__low_bytes(int bytes)
{
    return bytes >= 64 ? UINT64_MAX : (UINT64_C(1) << bytes) - 1;
}

static inline bool tz__word_is_known(tz__word v, int bytes)
{
    return ((v.known | ~UINT64_C(0xff)) & tz__low_bytes(bytes)) == tz__low_bytes(bytes);
}

static inline tz__word tz__known_word(uint64_t n)
{
    return (tz__word){n, 0xff};
}

bool tz__on_stack(uint64_t address, int bytes);

/* The address of an operand in memory; false: it is not known. */
bool tz__operand_address(const tz_walker *w, const tz_operand *operand, uint64_t *address);
tz__value tz__operand_read(const tz_walker *w, const tz_operand *operand);
/* Write `bytes` bytes of v. The other bytes of a register stay or become 0, as on the processor. */
void tz__operand_write(tz_walker *w, const tz_operand *operand, const tz__value *v, int bytes);

/* Whether an operand is a number, a general register, or at most 8 bytes in memory. Most operands
 * are; for them the two functions below are faster than those above. */
static inline bool tz__operand_is_word(const tz_operand *operand)
{
    return operand->kind == TZ_OPERAND_GENERAL || operand->kind == TZ_OPERAND_NUMBER ||
           (operand->kind == TZ_OPERAND_MEMORY && operand->bytes <= 8);
}
/* Of other operands, nothing is known. */
tz__word tz__operand_read_word(const tz_walker *w, const tz_operand *operand);
void tz__operand_write_word(tz_walker *w, const tz_operand *operand, tz__word v, int bytes);
void tz__push(tz_walker *w, tz__word v);
tz__word tz__pop(tz_walker *w);

#endif
