/* How OpenMP's threads wait at a barrier. */
#ifndef TZ_CORE_CLI_OPENMP_H
#define TZ_CORE_CLI_OPENMP_H

/* libgomp lets waiting threads spin for milliseconds. That takes the core away from the frame
 * encoder and from other programs: on a busy machine stages of a small grid run ten to forty times
 * slower. A short spin costs nothing measurable on an idle one. libgomp reads its environment when
 * it is loaded, before main(), and offers no call for this: so the program starts once more, with
 * GOMP_SPINCOUNT set. Whoever sets it, or OMP_WAIT_POLICY, decides instead. */
void tz_openmp_start_over(char **argv);

#endif
