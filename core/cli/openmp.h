/* How OpenMP threads wait at a barrier. */
#ifndef TZ_CORE_CLI_OPENMP_H
#define TZ_CORE_CLI_OPENMP_H

/* Execute the program again with GOMP_SPINCOUNT=1000, unless GOMP_SPINCOUNT or OMP_WAIT_POLICY is
 * set already.
 *
 * libgomp lets waiting threads spin for milliseconds, which keeps cores from the threads that write
 * frames and from other programs: on a busy machine stages of a small grid run ten to forty times
 * slower. A short spin costs nothing measurable on an idle machine. libgomp reads the variable when
 * it is loaded, before main(), and has no call for it. */
void tz_openmp_start_over(char **argv);

#endif
