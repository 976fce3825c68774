/* Functions of the C library, replaced.
 *
 * Allocations are counted, limited, or made to fail. A program that is linked with interpose.c has
 * its own malloc(), calloc(), realloc() and so on, which call the C library's, or the address
 * sanitizer's. They see every allocation of the process, those of libraries too. */
#ifndef TZ_TEST_FUZZ_INTERPOSE_H
#define TZ_TEST_FUZZ_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>

/* From now on count what is allocated beyond this moment. A request that would make it more than
 * `at_most` bytes gets NULL. */
void allocations_begin(size_t at_most);

/* Stop counting. Returns the bytes that are still allocated beyond those at the beginning;
 * negative: fewer. *peak: the most at a time. *refused: did a request get NULL? */
long allocations_end(size_t *peak, bool *refused);

#endif
