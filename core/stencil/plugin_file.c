/* The file of a plugin, read before it is opened: a shared object for this machine that needs
 * nothing else. Called by registry.c. */
#include "stencil/plugin_file.h"

#include "base/file.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A library has a dozen segments and some forty sections; these numbers bound what is read. */
enum { SEGMENTS_MAX = 256, SECTIONS_MAX = 1 << 16, DYNAMIC_MAX = 4096 };

#define NATIVE_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define NATIVE_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

typedef struct image {
    const char *path;
    int file;
    uint64_t bytes; /* of the file */
    ElfW(Ehdr) head;
    ElfW(Phdr) segments[SEGMENTS_MAX];
} image;

/* ---- Messages -------------------------------------------------------------------------------- */

static tz_status no_library(const image *m, const char *why, tz_error *error)
{
    return tz_error_set(error, TZ_PLUGIN, m->path,
                        "is not a shared library: %s; build it with cc -shared -fPIC", why);
}

static tz_status cut_off(const image *m, const char *what, tz_error *error)
{
    return tz_error_set(error, TZ_PLUGIN, m->path,
                        "is cut off: its %s would end after the file's %llu bytes; build or copy "
                        "it again",
                        what, (unsigned long long)m->bytes);
}

static tz_status damaged(const image *m, const char *what, tz_error *error)
{
    return tz_error_set(error, TZ_PLUGIN, m->path, "is damaged: %s; build or copy it again", what);
}

static tz_status wrong_machine(const image *m, tz_error *error)
{
    static const struct {
        int number;
        const char *name;
    } known[] = {{EM_386, "32-bit x86"},  {EM_X86_64, "x86-64"}, {EM_ARM, "32-bit ARM"},
                 {EM_AARCH64, "AArch64"}, {EM_RISCV, "RISC-V"},  {EM_PPC64, "PowerPC 64"},
                 {EM_S390, "S/390"},      {EM_MIPS, "MIPS"},     {EM_CUDA, "NVIDIA GPUs"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == m->head.e_machine)
            return tz_error_set(error, TZ_PLUGIN, m->path,
                                "is built for another machine, %s: rebuild it for this one",
                                known[i].name);
    return tz_error_set(error, TZ_PLUGIN, m->path,
                        "is built for another machine (ELF number %d): rebuild it for this one",
                        m->head.e_machine);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Does [offset, offset + bytes) lie within the first `size` bytes? */
static bool within(uint64_t offset, uint64_t bytes, uint64_t size)
{
    return offset <= size && bytes <= size - offset;
}

static tz_status read_at(const image *m, uint64_t offset, void *to, size_t bytes, const char *what,
                         tz_error *error)
{
    if (!within(offset, bytes, m->bytes))
        return cut_off(m, what, error);
    if (tz_file_get(m->file, to, bytes, (int64_t)offset) == bytes)
        return TZ_OK;
    return errno ? tz_error_set_errno(error, errno, m->path, "cannot read")
                 : cut_off(m, what, error);
}

/* ---- The head -------------------------------------------------------------------------------- */

static int own_machine(void)
{
    image self;
    int fd, machine = EM_NONE;
    if (tz_file_open("/proc/self/exe", &fd, NULL, NULL) != TZ_OK)
        return EM_NONE;
    if (pread(fd, &self.head, sizeof self.head, 0) == (ssize_t)sizeof self.head)
        machine = self.head.e_machine;
    close(fd);
    return machine;
}

static tz_status check_head(image *m, tz_error *error)
{
    const unsigned char *id = m->head.e_ident;
    if (m->bytes == 0)
        return no_library(m, "the file is empty", error);
    memset(&m->head, 0, sizeof m->head);
    const size_t bytes = m->bytes < sizeof m->head ? (size_t)m->bytes : sizeof m->head;
    tz_status status = read_at(m, 0, &m->head, bytes, "head", error);
    if (status)
        return status;
    if (memcmp(id, ELFMAG, bytes < SELFMAG ? bytes : SELFMAG) != 0)
        return no_library(m, "it does not begin as one", error);
    if (bytes < sizeof m->head)
        return cut_off(m, "head", error);
    if (id[EI_CLASS] != NATIVE_CLASS || id[EI_DATA] != NATIVE_ORDER ||
        m->head.e_machine != own_machine())
        return wrong_machine(m, error);
    if (m->head.e_type != ET_DYN)
        return no_library(m,
                          m->head.e_type == ET_REL    ? "it is an object file"
                          : m->head.e_type == ET_EXEC ? "it is a program"
                                                      : "its type is another",
                          error);
    if (id[EI_VERSION] != EV_CURRENT || m->head.e_phentsize != sizeof m->segments[0] ||
        m->head.e_phnum < 1 || m->head.e_phnum > SEGMENTS_MAX)
        return damaged(m, "its head makes no sense", error);
    return read_at(m, m->head.e_phoff, m->segments, m->head.e_phnum * sizeof m->segments[0],
                   "list of segments", error);
}

/* ---- Segments -------------------------------------------------------------------------------- */

/* The loaded segment with these bytes of memory, NULL if there is none. */
static const ElfW(Phdr) * holder(const image *m, uint64_t address, uint64_t bytes)
{
    for (int i = 0; i < m->head.e_phnum; i++) {
        const ElfW(Phdr) *s = &m->segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
            within(address - s->p_vaddr, bytes, s->p_memsz))
            return s;
    }
    return NULL;
}

/* The same for bytes that come from the file's `offset`. */
static bool is_loaded(const image *m, uint64_t address, uint64_t offset, uint64_t bytes)
{
    const ElfW(Phdr) *s = holder(m, address, bytes);
    return s && offset - s->p_offset == address - s->p_vaddr &&
           within(offset - s->p_offset, bytes, s->p_filesz);
}

static tz_status check_loads(const image *m, tz_error *error)
{
    uint64_t end = 0;
    int count = 0;
    for (int i = 0; i < m->head.e_phnum; i++) {
        const ElfW(Phdr) *s = &m->segments[i];
        if (s->p_type != PT_LOAD)
            continue;
        if (!within(s->p_offset, s->p_filesz, m->bytes))
            return cut_off(m, "code and data", error);
        if (s->p_filesz > s->p_memsz || s->p_vaddr < end ||
            !within(s->p_vaddr, s->p_memsz, PTRDIFF_MAX))
            return damaged(m, "its segments overlap or are too large", error);
        end = s->p_vaddr + s->p_memsz;
        count++;
    }
    return count > 0 ? TZ_OK : damaged(m, "it has nothing to load", error);
}

/* What becomes read-only after loading: only bytes from the file, in a segment that is written
 * before, up to the end of their page. */
static bool relro_is_right(const image *m, const ElfW(Phdr) * s)
{
    const uint64_t page = 4096, end = (s->p_vaddr + s->p_filesz + page - 1) / page * page;
    const ElfW(Phdr) *segment = holder(m, s->p_vaddr, s->p_filesz);
    return is_loaded(m, s->p_vaddr, s->p_offset, s->p_filesz) && (segment->p_flags & PF_W) &&
           s->p_memsz <= end - s->p_vaddr;
}

/* Those that the loader reads or protects in memory. */
static tz_status check_others(const image *m, tz_error *error)
{
    bool dynamic = false;
    for (int i = 0; i < m->head.e_phnum; i++) {
        const ElfW(Phdr) *s = &m->segments[i];
        switch (s->p_type) {
        case PT_DYNAMIC:
            dynamic = true;
            /* fall through */
        case PT_PHDR:
        case PT_TLS:
        case PT_NOTE:
        case PT_GNU_EH_FRAME:
        case PT_GNU_PROPERTY:
            if (!is_loaded(m, s->p_vaddr, s->p_offset, s->p_filesz))
                return damaged(m, "a segment lies outside what is loaded", error);
            break;
        case PT_GNU_RELRO:
            if (!relro_is_right(m, s))
                return damaged(m, "a segment lies outside what is loaded", error);
            break;
        case PT_INTERP:
            return no_library(m, "it is a program", error);
        default:
            break;
        }
    }
    return dynamic ? TZ_OK : no_library(m, "it has no symbols", error);
}

/* ---- Sections -------------------------------------------------------------------------------- */

static bool section_is_loaded(const image *m, const ElfW(Shdr) * s)
{
    const bool in_file = s->sh_type != SHT_NOBITS;
    if (in_file && !is_loaded(m, s->sh_addr, s->sh_offset, s->sh_size))
        return false;
    const ElfW(Phdr) *segment = holder(m, s->sh_addr, s->sh_size);
    return segment && (segment->p_flags & PF_R) &&
           (!(s->sh_flags & SHF_WRITE) || (segment->p_flags & PF_W)) &&
           (!(s->sh_flags & SHF_EXECINSTR) || (segment->p_flags & PF_X));
}

/* The loader does not need sections, but they lie at the end of the file and say the same as the
 * segments: both together show most damage. A stripped library may have none. */
static tz_status check_sections(const image *m, tz_error *error)
{
    if (m->head.e_shoff == 0)
        return TZ_OK;
    if (m->head.e_shentsize != sizeof(ElfW(Shdr)) || m->head.e_shnum < 1)
        return damaged(m, "its head makes no sense", error);
    ElfW(Shdr) *sections = calloc(m->head.e_shnum, sizeof *sections);
    if (!sections)
        return tz_error_set(error, TZ_MEMORY, m->path, "not enough memory to look at it");
    tz_status status = read_at(m, m->head.e_shoff, sections, m->head.e_shnum * sizeof *sections,
                               "list of sections", error);
    for (int i = 0; !status && i < m->head.e_shnum; i++) {
        const ElfW(Shdr) *s = &sections[i];
        if (s->sh_type != SHT_NULL && s->sh_type != SHT_NOBITS &&
            !within(s->sh_offset, s->sh_size, m->bytes))
            status = cut_off(m, "sections", error);
        else if ((s->sh_flags & SHF_ALLOC) && s->sh_size > 0 &&
                 !(s->sh_type == SHT_NOBITS && (s->sh_flags & SHF_TLS)) && !section_is_loaded(m, s))
            status = damaged(m, "its sections and segments disagree", error);
    }
    free(sections);
    return status;
}

/* ---- The dynamic table ----------------------------------------------------------------------- */

/* The values of the tags that the loader cannot do without. */
typedef struct dynamic_values {
    uint64_t at[DT_NUM];
    bool has[DT_NUM];
} dynamic_values;

static tz_status read_dynamic(const image *m, dynamic_values *out, tz_error *error)
{
    const ElfW(Phdr) *s = NULL;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < m->head.e_phnum; i++)
        if (m->segments[i].p_type == PT_DYNAMIC)
            s = &m->segments[i];
    const size_t count = (size_t)(s->p_filesz / sizeof(ElfW(Dyn)));
    if (count < 1 || count > DYNAMIC_MAX)
        return damaged(m, "its dynamic table makes no sense", error);
    for (size_t i = 0; i < count; i++) {
        ElfW(Dyn) entry;
        const tz_status status = read_at(m, s->p_offset + i * sizeof entry, &entry, sizeof entry,
                                         "dynamic table", error);
        if (status)
            return status;
        if (entry.d_tag == DT_NULL)
            return TZ_OK;
        if (entry.d_tag > 0 && entry.d_tag < DT_NUM) {
            out->at[entry.d_tag] = entry.d_un.d_val;
            out->has[entry.d_tag] = true;
        }
    }
    return damaged(m, "its dynamic table has no end", error);
}

static tz_status check_dynamic(const image *m, tz_error *error)
{
    static const struct {
        int address, size;
    } tables[] = {{DT_STRTAB, DT_STRSZ},
                  {DT_RELA, DT_RELASZ},
                  {DT_REL, DT_RELSZ},
                  {DT_JMPREL, DT_PLTRELSZ},
                  {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                  {DT_FINI_ARRAY, DT_FINI_ARRAYSZ}};
    static const int addresses[] = {DT_SYMTAB, DT_HASH, DT_PLTGOT, DT_INIT, DT_FINI};
    static const struct {
        int tag;
        uint64_t value;
    } fixed[] = {{DT_SYMENT, sizeof(ElfW(Sym))},
                 {DT_RELAENT, sizeof(ElfW(Rela))},
                 {DT_RELENT, sizeof(ElfW(Rel))}};
    dynamic_values d;
    const tz_status status = read_dynamic(m, &d, error);
    if (status)
        return status;
    bool good = d.has[DT_STRTAB] && d.has[DT_SYMTAB];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        good =
            good && d.has[tables[i].address] == d.has[tables[i].size] &&
            (!d.has[tables[i].address] || holder(m, d.at[tables[i].address], d.at[tables[i].size]));
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        good = good && (!d.has[addresses[i]] || holder(m, d.at[addresses[i]], 1));
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        good = good && (!d.has[fixed[i].tag] || d.at[fixed[i].tag] == fixed[i].value);
    /* The loader ends the process on the other kind. */
    good =
        good && (!d.has[DT_PLTREL] || d.at[DT_PLTREL] == (sizeof(void *) == 8 ? DT_RELA : DT_REL));
    return good ? TZ_OK : damaged(m, "its dynamic table makes no sense", error);
}

/* ---- All ------------------------------------------------------------------------------------- */

tz_status tz_plugin_file_check(const char *path, tz_error *error)
{
    image m = {.path = path};
    size_t bytes;
    tz_status status = tz_file_open(path, &m.file, &bytes, error);
    if (status)
        return status;
    m.bytes = bytes;
    status = check_head(&m, error);
    if (!status)
        status = check_loads(&m, error);
    if (!status)
        status = check_others(&m, error);
    if (!status)
        status = check_sections(&m, error);
    if (!status)
        status = check_dynamic(&m, error);
    close(m.file);
    return status;
}
