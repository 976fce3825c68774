/* Reads /proc/cpuinfo, /proc/meminfo and the cache files of sysfs; has the table of instruction
 * sets. Called by the backends, core/calibrate, core/cli; all of core takes its clock. */
#include "base/machine.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The first line of a file; false, and "", if it cannot be read. */
static bool read_line(const char *path, char *line, int size)
{
    line[0] = '\0';
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const bool ok = fgets(line, size, file);
    fclose(file);
    return ok;
}

static int64_t read_number(const char *path)
{
    char text[64], *end;
    read_line(path, text, sizeof text);
    const long long value = strtoll(text, &end, 10);
    if (end == text)
        return -1;
    return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

/* How many numbers a list of the kernel holds, such as "0-3,8"; 0 if it cannot be read. */
static int read_list(const char *path)
{
    char line[1024];
    int count = 0;
    if (!read_line(path, line, sizeof line))
        return 0;
    for (const char *at = line; *at >= '0' && *at <= '9';) {
        char *end;
        const long low = strtol(at, &end, 10), high = *end == '-' ? strtol(end + 1, &end, 10) : low;
        count += high >= low ? (int)(high - low + 1) : 0;
        at = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* Some virtual machines hide how caches are shared, and the kernel then names none. The C library
 * knows the first two levels from the processor, but of the third level the sum over the whole
 * package. */
static void ask_library(tz_machine *machine)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (machine->l1_bytes == 0 && l1 > 0)
        machine->l1_bytes = l1;
    if (machine->l2_bytes == 0 && l2 > 0)
        machine->l2_bytes = l2;
#endif
}

static void read_caches(tz_machine *machine)
{
    for (int i = 0; i < 8; i++) {
        char path[96], type[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        if (!read_line(path, type, sizeof type) || strncmp(type, "Instruction", 11) == 0)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        const int64_t level = read_number(path);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        const int64_t bytes = read_number(path);
        int *const sharers[] = {NULL, &machine->l2_sharers, &machine->l3_sharers};
        int64_t *const sizes[] = {&machine->l1_bytes, &machine->l2_bytes, &machine->l3_bytes};
        if (bytes <= 0 || level < 1 || level > 3)
            continue;
        *sizes[level - 1] = bytes;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/shared_cpu_list",
                 i);
        if (sharers[level - 1])
            *sharers[level - 1] = read_list(path);
    }
    ask_library(machine);
}

static void read_cpu_name(tz_machine *machine)
{
    snprintf(machine->cpu, sizeof machine->cpu, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return;
    char line[512];
    unsigned maker = 0, part; /* Arm names its processors by numbers */
    bool named = false;
    while (!named && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        named = colon && strncmp(line, "model name", 10) == 0;
        if (named)
            snprintf(machine->cpu, sizeof machine->cpu, "%.120s", colon + 2);
        else if (sscanf(line, "CPU implementer : %x", &maker) == 1)
            snprintf(machine->cpu, sizeof machine->cpu, "Arm %02x", maker);
        else if (sscanf(line, "CPU part : %x", &part) == 1) {
            snprintf(machine->cpu, sizeof machine->cpu, "Arm %02x-%03x", maker, part);
            named = true;
        }
    }
    machine->cpu[strcspn(machine->cpu, "\n")] = '\0';
    fclose(file);
}

typedef struct isa_row {
    const char *name, *form;
    int vector_bytes, rows_only;
} isa_row;
#define ISA_ROW(NAME, name, form, bytes, only, has, target) {name, form, bytes, only},
static const isa_row isas[TZ_ISA_COUNT] = {TZ_ISA_TABLE(ISA_ROW)};

tz_isa tz_machine_isa(void)
{
#define ISA_HAS(NAME, name, form, bytes, only, has, target) (has),
    const int there[TZ_ISA_COUNT] = {TZ_ISA_TABLE(ISA_HAS)};
    tz_isa isa = TZ_ISA_BASE;
    while (isa + 1 < TZ_ISA_COUNT && there[isa + 1])
        isa++;
    const char *wanted = getenv("TZ_ISA");
    for (int i = 0; wanted && i < (int)isa; i++)
        if (strcmp(wanted, tz_isa_name((tz_isa)i)) == 0)
            return (tz_isa)i;
    return isa;
}

/* A process reads the files about the processor once: reading them takes longer than a small
 * simulation. */
static pthread_once_t files_once = PTHREAD_ONCE_INIT;
static tz_machine files;

static void read_files(void)
{
    read_cpu_name(&files);
    read_caches(&files);
    files.siblings = read_list("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
    files.nodes = read_list("/sys/devices/system/node/online");
}

void tz_machine_read(tz_machine *machine)
{
    pthread_once(&files_once, read_files);
    *machine = files;
    cpu_set_t set;
    machine->cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    machine->isa = tz_machine_isa();
}

const char *tz_isa_name(tz_isa isa)
{
    return isas[isa].name;
}

const char *tz_isa_form(tz_isa isa)
{
    return isas[isa].form;
}

int tz_isa_vector_bytes(tz_isa isa)
{
    return isas[isa].vector_bytes;
}

int tz_isa_rows_only(tz_isa isa)
{
    return isas[isa].rows_only;
}

tz_isa tz_isa_of_vectors(double bytes)
{
    tz_isa isa = TZ_ISA_BASE;
    while (isa + 1 < TZ_ISA_COUNT && isas[isa + 1].vector_bytes <= bytes)
        isa++;
    return isa;
}

int tz_machine_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r"); /* "max 100000": no quota */
    double quota, period;
    if (file && fscanf(file, "%lf %lf", &quota, &period) == 2 && period > 0 &&
        quota < count * period)
        count = (int)(quota / period);
    if (file)
        fclose(file);
    return count < 1 ? 1 : count;
}

int64_t tz_machine_memory_available(void)
{
    int64_t available = INT64_MAX;
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    while (file && fgets(line, sizeof line, file)) {
        int64_t kib;
        if (sscanf(line, "MemAvailable: %" SCNd64, &kib) == 1)
            available = kib * 1024;
    }
    if (file)
        fclose(file);
    const int64_t group = read_number("/sys/fs/cgroup/memory.max");
    const int64_t used = read_number("/sys/fs/cgroup/memory.current");
    if (group > 0 && used >= 0 && group - used < available)
        available = group > used ? group - used : 0;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        const int64_t pages = read_number("/proc/self/statm");
        const int64_t left = (int64_t)limit.rlim_cur - (pages > 0 ? pages : 0) * 4096;
        if (left < available)
            available = left > 0 ? left : 0;
    }
    return available;
}

double tz_machine_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
