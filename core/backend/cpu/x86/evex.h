/* Decodes those instructions of AVX-512 that libcapstone 4 does not know, or knows only for registers
 * up to 15: fused multiply-adds, logic, repetition of an element, arithmetic, moves.
 * Encoding: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, 2.7. */
#ifndef TZ_CORE_BACKEND_CPU_X86_EVEX_H
#define TZ_CORE_BACKEND_CPU_X86_EVEX_H

#include "backend/cpu/x86/instruction.h"

/* Decode the instruction at `code`; false: it is another instruction. With `any`, all other
 * instructions of AVX-512 are decoded as shuffles with full vectors in memory. */
bool tz_evex_read(const uint8_t *code, size_t bytes, bool any, tz_instruction *out);

#endif
