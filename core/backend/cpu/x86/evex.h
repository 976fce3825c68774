/* Instructions of AVX-512 that libcapstone 4 does not know: fused multiply-adds, logic,
 * repetition of an element, and what it knows only on registers up to 15. Encoding: Intel 64 and
 * IA-32 Architectures Software Developer's Manual, volume 2, 2.7. */
#ifndef TZ_CORE_BACKEND_CPU_X86_EVEX_H
#define TZ_CORE_BACKEND_CPU_X86_EVEX_H

#include "backend/cpu/x86/instruction.h"

/* The instruction at `code`; false: it is none of these. With `any`, another of AVX-512's counts as
 * a shuffle, and what it reads from memory as a whole vector. */
bool tz_evex_read(const uint8_t *code, size_t bytes, bool any, tz_instruction *out);

#endif
