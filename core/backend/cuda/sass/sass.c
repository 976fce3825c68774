/* Finds a kernel in a cubin and decodes its machine code, for mix.c. */
#include "backend/cuda/sass/sass.h"
#include "model/constants.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Instructions -----------------------------------------------------------------------------
 *
 * The class of an operation. All others are control: they take an issue slot, but no unit that the
 * model knows. */

typedef struct meaning {
    uint16_t operation;
    uint8_t class;
} meaning;

static const meaning meanings[] = {
    /* single precision, and its packed forms */
    {0x021, TZ_WORK_FP32}, /* FADD */
    {0x020, TZ_WORK_FP32}, /* FMUL */
    {0x023, TZ_WORK_FP32}, /* FFMA */
    {0x030, TZ_WORK_FP32}, /* HADD2 */
    {0x031, TZ_WORK_FP32}, /* HFMA2, which also moves constants */
    {0x032, TZ_WORK_FP32}, /* HMUL2 */
    {0x035, TZ_WORK_FP32}, /* HFMA2 of Hopper and later */
    {0x049, TZ_WORK_FP32}, /* FFMA2, FADD2, FMUL2 of Blackwell: two a lane */
    {0x04a, TZ_WORK_FP32},
    {0x04b, TZ_WORK_FP32},
    /* double precision */
    {0x028, TZ_WORK_FP64}, /* DMUL */
    {0x029, TZ_WORK_FP64}, /* DADD */
    {0x02a, TZ_WORK_FP64}, /* DSETP */
    {0x02b, TZ_WORK_FP64}, /* DFMA */
    /* integers */
    {0x00c, TZ_WORK_INTEGER}, /* ISETP */
    {0x010, TZ_WORK_INTEGER}, /* IADD3 */
    {0x011, TZ_WORK_INTEGER}, /* LEA */
    {0x013, TZ_WORK_INTEGER}, /* IABS */
    {0x017, TZ_WORK_INTEGER}, /* IMNMX */
    /* VIADD, of Hopper and later: it does not wait for the unit for integers and bits. Kernels with
     * many of them were predicted a third too slow as long as it was counted there. */
    {0x036, TZ_WORK_MULTIPLY},
    {0x048, TZ_WORK_INTEGER},  /* VIMNMX */
    {0x024, TZ_WORK_MULTIPLY}, /* IMAD */
    {0x025, TZ_WORK_MULTIPLY}, /* IMAD.WIDE */
    {0x026, TZ_WORK_MULTIPLY}, /* IDP */
    {0x027, TZ_WORK_MULTIPLY}, /* IMAD.HI */
    /* bits */
    {0x012, TZ_WORK_LOGIC}, /* LOP3 */
    {0x019, TZ_WORK_LOGIC}, /* SHF */
    {0x01b, TZ_WORK_LOGIC}, /* BMSK */
    {0x01a, TZ_WORK_LOGIC}, /* SGXT */
    /* other instructions of the unit for integers and bits */
    {0x002, TZ_WORK_MOVE},    /* MOV */
    {0x003, TZ_WORK_MOVE},    /* P2R */
    {0x004, TZ_WORK_MOVE},    /* R2P */
    {0x007, TZ_WORK_MOVE},    /* SEL */
    {0x008, TZ_WORK_MOVE},    /* FSEL */
    {0x009, TZ_WORK_MOVE},    /* FMNMX */
    {0x00b, TZ_WORK_MOVE},    /* FSETP */
    {0x016, TZ_WORK_MOVE},    /* PRMT */
    {0x01c, TZ_WORK_MOVE},    /* PLOP3 */
    {0x03c, TZ_WORK_MOVE},    /* FMNMX3 */
    {0x189, TZ_WORK_SHUFFLE}, /* SHFL */
    /* sixteen lanes a clock or fewer */
    {0x100, TZ_WORK_SPECIAL}, /* FRND */
    {0x102, TZ_WORK_SPECIAL}, /* FCHK, of a division */
    {0x104, TZ_WORK_SPECIAL}, /* F2F */
    {0x105, TZ_WORK_SPECIAL}, /* F2I */
    {0x106, TZ_WORK_SPECIAL}, /* I2F */
    {0x108, TZ_WORK_SPECIAL}, /* MUFU */
    {0x109, TZ_WORK_SPECIAL}, /* POPC */
    {0x10f, TZ_WORK_SPECIAL}, /* F2F of doubles */
    {0x110, TZ_WORK_SPECIAL},
    {0x111, TZ_WORK_SPECIAL},
    {0x112, TZ_WORK_SPECIAL},
    {0x113, TZ_WORK_SPECIAL},
    /* memory */
    {0x184, TZ_WORK_SHARED_READ},  /* LDS */
    {0x188, TZ_WORK_SHARED_WRITE}, /* STS */
    {0x181, TZ_WORK_READ},         /* LDG */
    {0x180, TZ_WORK_READ},         /* LD */
    {0x183, TZ_WORK_READ},         /* LDL */
    {0x186, TZ_WORK_WRITE},        /* STG */
    {0x185, TZ_WORK_WRITE},        /* ST */
    {0x187, TZ_WORK_WRITE},        /* STL */
    {0x18e, TZ_WORK_WRITE},        /* RED */
    {0x1a8, TZ_WORK_WRITE},        /* ATOMG */
    {0x1ae, TZ_WORK_COPY},         /* LDGSTS */
    {0x11d, TZ_WORK_BARRIER},      /* BAR */
};

enum {
    LDL = 0x183,
    STL = 0x187,
    SYNCS = 0x1a7, /* on an mbarrier: an arrival or a test, by the form of its operands */
    SYNCS_ARRIVE = 4,
    SYNCS_TEST = 2,
    DEPBAR = 0x11a,
    BRA = 0x147,
    CALL = 0x144,
    FCHK = 0x102,
    BRX = 0x149,
    EXIT = 0x14d,
    RET = 0x150,
    PREDICATE_NONE = 7,
    OPERANDS_PLAIN = 4
};

static int class_of(unsigned operation)
{
    for (size_t k = 0; k < sizeof meanings / sizeof *meanings; k++)
        if (meanings[k].operation == operation)
            return meanings[k].class;
    return TZ_WORK_CONTROL;
}

/* Words a lane of a memory access: bits 73 to 75, as LDG.U8, S8, U16, S16, 32, 64, 128. */
static int words_of(int class, uint64_t high)
{
    static const int words[] = {1, 1, 1, 1, 1, 2, 4, 4};
    switch (class) {
    case TZ_WORK_READ:
    case TZ_WORK_WRITE:
    case TZ_WORK_COPY:
    case TZ_WORK_SHARED_READ:
    case TZ_WORK_SHARED_WRITE:
        return words[high >> 9 & 7];
    default:
        return 0;
    }
}

static int kind_of(unsigned operation, unsigned operands)
{
    if (operation == LDL || operation == STL)
        return TZ_TRACE_LOCAL;
    if (operation == SYNCS && operands == SYNCS_ARRIVE)
        return TZ_TRACE_ARRIVE;
    if (operation == DEPBAR)
        return TZ_TRACE_COPIED;
    return operation == SYNCS && operands == SYNCS_TEST ? TZ_TRACE_AWAIT : TZ_TRACE_PLAIN;
}

static tz_sass_instruction decode(uint64_t low, uint64_t high, int index, int count,
                                  int architecture)
{
    const unsigned operation = (unsigned)(low & 0x1ff);
    const unsigned predicate = (unsigned)(low >> 12 & 7);
    const bool never = (low >> 15 & 1) != 0 && predicate == PREDICATE_NONE;
    tz_sass_instruction made = {
        .class = (uint8_t)class_of(operation),
        .conditional = predicate != PREDICATE_NONE,
        .local = operation == LDL || operation == STL,
        .kind = never ? TZ_TRACE_PLAIN : (uint8_t)kind_of(operation, (unsigned)(low >> 9 & 7)),
        .stall = (uint8_t)(high >> 41 & 15),
        .sets = (uint8_t)(high >> 46 & 7),
        .frees = (uint8_t)(high >> 49 & 7),
        .waits = (uint8_t)(high >> 52 & 63),
        .target = -1,
    };
    if (operation == FCHK)
        made.stall = (uint8_t)(made.stall + TZ_FIT_DIVISION_CLOCKS);
    if (never) /* it only takes an issue slot */
        made.class = TZ_WORK_CONTROL;
    made.words = (uint8_t)words_of(made.class, high);
    if ((operation == BRA || operation == CALL) && !never) {
        /* The distance from the next instruction in units of four bytes: 48 signed bits at bit 34.
         * Since Hopper, eight lower bits follow at bit 16. */
        const uint64_t field = low >> 34 | (high & 0x3ffff) << 30;
        const int64_t far = (int64_t)(field << 16) >> 16;
        const int64_t units = architecture >= 90 ? far * 256 + (int64_t)(low >> 16 & 255) : far;
        const int64_t to = index + 1 + units * 4 / TZ_SASS_BYTES;
        /* A branch may have a second predicate or a uniform one. A call returns: code goes on. */
        made.flow = TZ_SASS_BRANCH;
        made.conditional = made.conditional || (high >> 23 & 7) != PREDICATE_NONE ||
                           (low >> 9 & 7) != OPERANDS_PLAIN || operation == CALL;
        if (to >= 0 && to < count)
            made.target = (int)to;
    } else if ((operation == EXIT || operation == RET || operation == BRX) && !never) {
        made.flow = TZ_SASS_END;
    }
    return made;
}

tz_status tz_sass_decode(tz_sass *out, const void *code, size_t bytes, int architecture,
                         tz_error *error)
{
    *out = (tz_sass){.count = (int)(bytes / TZ_SASS_BYTES)};
    if (bytes == 0 || bytes % TZ_SASS_BYTES != 0)
        return tz_error_set(error, TZ_FORMAT, NULL,
                            "%zu bytes of code are no multiple of an instruction's", bytes);
    out->code = calloc((size_t)out->count, sizeof *out->code);
    if (!out->code)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory to read a kernel's code");
    for (int k = 0; k < out->count; k++) {
        uint64_t word[2];
        memcpy(word, (const char *)code + (size_t)k * TZ_SASS_BYTES, sizeof word);
        out->code[k] = decode(word[0], word[1], k, out->count, architecture);
    }
    return TZ_OK;
}

void tz_sass_free(tz_sass *sass)
{
    free(sass->code);
    sass->code = NULL;
}

/* ---- Cubins ---------------------------------------------------------------------------------- */

enum { EM_NVIDIA = 190, ATTRIBUTE_SIZED = 4, REGISTER_COUNT = 0x2f, FRAME_SIZE = 0x11 };

typedef struct file {
    const char *at;
    size_t bytes;
    const Elf64_Shdr *sections;
    int count;
    const char *names;
    size_t names_bytes;
} file;

static bool inside(const file *f, uint64_t offset, uint64_t bytes)
{
    return offset <= f->bytes && bytes <= f->bytes - offset;
}

static bool open_file(file *f, const void *cubin, size_t bytes)
{
    const Elf64_Ehdr *head = cubin;
    *f = (file){.at = cubin, .bytes = bytes};
    if (bytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_NVIDIA ||
        head->e_shoff % 8 != 0 || head->e_shentsize != sizeof(Elf64_Shdr) ||
        !inside(f, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)) ||
        head->e_shstrndx >= head->e_shnum)
        return false;
    f->sections = (const Elf64_Shdr *)(f->at + head->e_shoff);
    f->count = head->e_shnum;
    const Elf64_Shdr *names = &f->sections[head->e_shstrndx];
    if (!inside(f, names->sh_offset, names->sh_size) || names->sh_size == 0 ||
        f->at[names->sh_offset + names->sh_size - 1] != '\0')
        return false;
    f->names = f->at + names->sh_offset;
    f->names_bytes = names->sh_size;
    return true;
}

/* The section named `prefix` and `entry`; NULL if it is missing or truncated. */
static const Elf64_Shdr *find_section(const file *f, const char *prefix, const char *entry)
{
    char wanted[160];
    snprintf(wanted, sizeof wanted, "%s%s", prefix, entry);
    for (int k = 0; k < f->count; k++) {
        const Elf64_Shdr *s = &f->sections[k];
        if (s->sh_name < f->names_bytes && strcmp(f->names + s->sh_name, wanted) == 0 &&
            (s->sh_type == SHT_NOBITS || inside(f, s->sh_offset, s->sh_size)))
            return s;
    }
    return NULL;
}

/* The low byte of e_flags; since ABI 8 (CUDA 13) the second byte. */
static int architecture_of(const file *f)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)f->at;
    const unsigned flags = head->e_flags;
    return (int)(head->e_ident[EI_ABIVERSION] >= 8 ? flags >> 8 & 255 : flags & 255);
}

/* .nv.info is a list of attributes: format, number, and for some formats a size. A register count
 * or frame size is a pair of a symbol and a value. Our cubins have one kernel each. */
static void read_attributes(const file *f, tz_sass *out)
{
    const Elf64_Shdr *s = find_section(f, ".nv.info", "");
    if (!s || s->sh_type == SHT_NOBITS)
        return;
    const unsigned char *at = (const unsigned char *)f->at + s->sh_offset, *end = at + s->sh_size;
    while (end - at >= 4) {
        const unsigned format = at[0], attribute = at[1], size = at[2] | (unsigned)at[3] << 8;
        at += 4;
        if (format != ATTRIBUTE_SIZED)
            continue;
        if (size > (size_t)(end - at))
            return;
        uint32_t pair[2];
        if (size == sizeof pair) {
            memcpy(pair, at, sizeof pair);
            if (attribute == REGISTER_COUNT)
                out->registers = (int)pair[1];
            if (attribute == FRAME_SIZE)
                out->local_bytes = (int)pair[1];
        }
        at += size;
    }
}

tz_status tz_sass_read(tz_sass *out, const void *cubin, size_t bytes, const char *entry,
                       tz_error *error)
{
    file f;
    *out = (tz_sass){0};
    if (!open_file(&f, cubin, bytes))
        return tz_error_set(error, TZ_FORMAT, NULL,
                            "%zu bytes are no cubin: not a 64-bit ELF file for NVIDIA's GPUs",
                            bytes);
    const Elf64_Shdr *text = find_section(&f, ".text.", entry);
    if (!text || text->sh_type == SHT_NOBITS)
        return tz_error_set(error, TZ_FORMAT, NULL, "the cubin has no kernel '%s'", entry);
    const int architecture = architecture_of(&f);
    if (architecture < 70)
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "the code of sm_%d cannot be counted: sm_70 and later can",
                            architecture);
    tz_status status =
        tz_sass_decode(out, f.at + text->sh_offset, text->sh_size, architecture, error);
    if (status)
        return status;
    read_attributes(&f, out);
    const Elf64_Shdr *shared = find_section(&f, ".nv.shared.", entry);
    out->shared_bytes = shared ? (int)shared->sh_size : 0;
    return TZ_OK;
}
