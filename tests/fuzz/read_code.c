/* Machine code of GPUs, as the planner reads it from cubins. */
#include "backend/cuda/sass/mix.h"
#include "base/file.h"
#include "tests/fuzz/fuzz.h"

#include <elf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char entry[] = "tz_stage";
static const char code_words[] = "\x47\x79|\x4d\x79|\x81\x79|\x86\x79|\x1d\x7b|tz_stage|.text.|\x7f"
                                 "ELF|\x2f\x08";

/* An instruction: a class by its operation, and a branch to any place. sass.c says where the parts
 * are. */
static void make_instruction(uint64_t word[2], int index, int count, uint64_t *random)
{
    static const unsigned operations[] = {0x021, 0x023, 0x010, 0x012, 0x002, 0x181,
                                          0x186, 0x184, 0x188, 0x189, 0x11d, 0x1ae,
                                          0x024, 0x108, 0x028, 0x1a7, 0x11a};
    enum {
        OPERATIONS = sizeof operations / sizeof *operations,
        BRANCH = 0x147,
        EXIT = 0x14d,
        PLAIN = 4
    };
    const bool is_branch = fuzz_below(random, 7) == 0;
    const unsigned operation = index + 1 == count ? EXIT
                               : is_branch        ? BRANCH
                                                  : operations[fuzz_below(random, OPERATIONS)];
    const uint64_t predicate = index + 1 == count || fuzz_below(random, 3) ? 7 : 0;
    word[0] = operation | PLAIN << 9 | predicate << 12;
    word[1] = UINT64_C(7) << 23 | (uint64_t)fuzz_below(random, 16) << 41 |
              (uint64_t)fuzz_below(random, 8) << 46 | UINT64_C(7) << 49;
    if (is_branch) {
        const int64_t far = ((int64_t)fuzz_below(random, (size_t)count) - index - 1) * 4;
        const uint64_t field = (uint64_t)(far >> 8);
        word[0] |= (uint64_t)(far & 255) << 16 | field << 34;
        word[1] |= field >> 30 & 0x3ffff;
    }
}

/* A file with the sections that are read, and a kernel of random code that ends. */
static bool code_seed(int index, const char *path)
{
    enum { NAMES = 64, INFO = 24, KERNEL = 200, SECTIONS = 5, SEEDS = 16 };
    static const char names[NAMES] = "\0.names\0.nv.info\0.text.tz_stage\0.nv.shared.tz_stage";
    static const uint32_t info[INFO / 4] = {0x00082f04, 1, 40, 0x00081104, 1, 16};
    struct {
        Elf64_Ehdr head;
        char names[NAMES];
        uint32_t info[INFO / 4];
        uint64_t code[KERNEL][2];
        Elf64_Shdr sections[SECTIONS];
    } file = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1, 0, 8},
                       .e_machine = 190,
                       .e_flags = 90 << 8,
                       .e_shentsize = sizeof(Elf64_Shdr),
                       .e_shnum = SECTIONS,
                       .e_shstrndx = 1}};
    uint64_t random = (uint64_t)index;
    const int count = 8 + (int)fuzz_below(&random, KERNEL - 8);
    if (index >= SEEDS)
        return false;
    file.head.e_shoff = (Elf64_Off)((char *)file.sections - (char *)&file);
    memcpy(file.names, names, sizeof names);
    memcpy(file.info, info, sizeof info);
    for (int k = 0; k < count; k++)
        make_instruction(file.code[k], k, count, &random);
    const Elf64_Off at = (Elf64_Off)(file.names - (char *)&file);
    file.sections[1] =
        (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = NAMES};
    file.sections[2] =
        (Elf64_Shdr){.sh_name = 8, .sh_type = SHT_LOPROC, .sh_offset = at + NAMES, .sh_size = INFO};
    file.sections[3] = (Elf64_Shdr){.sh_name = 17,
                                    .sh_type = SHT_PROGBITS,
                                    .sh_offset = (Elf64_Off)((char *)file.code - (char *)&file),
                                    .sh_size = (Elf64_Xword)count * 16};
    file.sections[4] = (Elf64_Shdr){.sh_name = 32, .sh_type = SHT_NOBITS, .sh_size = 1024};
    fuzz_write(path, &file, sizeof file);
    return true;
}

static tz_status code_read(const char *path, tz_error *error)
{
    char *text;
    size_t bytes;
    tz_status status = tz_file_read(path, FUZZ_BYTES_MAX, &text, &bytes, error);
    if (status != TZ_OK)
        return status;
    tz_cuda_mix *mix = calloc(1, sizeof *mix);
    void *exact = malloc(bytes ? bytes : 1); /* a byte beyond the end is noticed */
    memcpy(exact, text, bytes);
    status = tz_cuda_mix_count(mix, exact, bytes, entry, NULL, error);
    if (status == TZ_OK && (mix->loops_count < 0 || mix->shortest_count < 0 ||
                            mix->loops_count + mix->shortest_count > TZ_CUDA_LOOPS_MAX))
        fuzz_wrong("%d and %d loops", mix->loops_count, mix->shortest_count);
    for (int k = 0; status == TZ_OK && k < mix->loops_count; k++) {
        const tz_cuda_loop *loop = &mix->loops[k];
        if (loop->parent < -1 || loop->parent >= k || loop->shortest < 0 ||
            loop->shortest >= mix->loops_count + mix->shortest_count || !isfinite(loop->clocks) ||
            loop->clocks < 0)
            fuzz_wrong("loop %d: parent %d, shortest %d, %g clocks", k, loop->parent,
                       loop->shortest, loop->clocks);
    }
    free(exact);
    free(mix);
    free(text);
    return status;
}

const fuzz_reader fuzz_code = {.name = "code",
                               .file = "input.cubin",
                               .weight = 40,
                               .least_passed = 30,
                               .base_bytes = 8 << 20,
                               .bytes_per_byte = 1000,
                               .words = code_words,
                               .seed = code_seed,
                               .read = code_read};
