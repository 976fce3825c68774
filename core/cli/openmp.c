#include "cli/openmp.h"

#include <stdlib.h>
#include <unistd.h>

void tz_openmp_start_over(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL)
        return;
    if (setenv("GOMP_SPINCOUNT", "1000", 1) == 0)
        execv("/proc/self/exe", argv);
    /* Still here: it runs all the same, slower on a busy machine. */
}
