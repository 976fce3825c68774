/* Opens libcapstone and turns its instructions into tz_instruction: class, operands, sizes. Without
 * it, stubs that report TZ_UNSUPPORTED. Called by walk.c; cmd_doctor.c asks for the version. */
#include "backend/cpu/x86/instruction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(TZ_HAVE_CAPSTONE) && defined(__x86_64__)
#include <capstone/capstone.h>
#include <dlfcn.h>

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define LIBRARY "libcapstone.so." STRING(CS_API_MAJOR)

struct tz_decoder {
    void *library;
    csh handle;
    cs_insn *scratch;
    cs_err (*open)(cs_arch, cs_mode, csh *);
    cs_err (*close)(csh *);
    cs_err (*option)(csh, cs_opt_type, size_t);
    cs_insn *(*allocate)(csh);
    void (*free)(cs_insn *, size_t);
    bool (*decode)(csh, const uint8_t **, size_t *, uint64_t *, cs_insn *);
    unsigned (*version)(int *, int *);
};

static bool find_symbols(tz_decoder *d)
{
    const struct {
        const char *name;
        void *to;
    } symbols[] = {
        {"cs_open", &d->open},       {"cs_close", &d->close}, {"cs_option", &d->option},
        {"cs_malloc", &d->allocate}, {"cs_free", &d->free},   {"cs_disasm_iter", &d->decode},
        {"cs_version", &d->version},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(d->library, symbols[i].name);
        if (!symbol)
            return false;
        memcpy(symbols[i].to, &symbol, sizeof symbol);
    }
    return true;
}

void tz_decoder_close(tz_decoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->scratch)
        decoder->free(decoder->scratch, 1);
    if (decoder->handle)
        decoder->close(&decoder->handle);
    if (decoder->library)
        dlclose(decoder->library);
    free(decoder);
}

tz_status tz_decoder_open(tz_decoder **out, tz_error *error)
{
    *out = NULL;
    tz_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return tz_error_set(error, TZ_MEMORY, NULL, "not enough memory");
    decoder->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!decoder->library || !find_symbols(decoder)) {
        tz_decoder_close(decoder);
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "plans on a CPU are predicted from the plugin's machine code, which "
                            "needs " LIBRARY ": install it (Debian: apt-get install "
                            "libcapstone" STRING(CS_API_MAJOR) ")");
    }
    if (decoder->open(CS_ARCH_X86, CS_MODE_64, &decoder->handle) != CS_ERR_OK ||
        decoder->option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK ||
        !(decoder->scratch = decoder->allocate(decoder->handle))) {
        tz_decoder_close(decoder);
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            LIBRARY " was built without x86-64: install Debian's");
    }
    *out = decoder;
    return TZ_OK;
}

bool tz_decoder_describe(char *text, size_t size)
{
    tz_decoder *decoder;
    tz_error error;
    if (tz_decoder_open(&decoder, &error) != TZ_OK) {
        snprintf(text, size, "%s", error.message);
        return false;
    }
    int major = 0, minor = 0;
    decoder->version(&major, &minor);
    snprintf(text, size, "libcapstone %d.%d reads row functions, to predict plans on the CPU",
             major, minor);
    tz_decoder_close(decoder);
    return true;
}

/* ---- Operands -------------------------------------------------------------------------------- */

#define GENERAL(X)                                                                                 \
    X(0, RAX, EAX, AX, AL)                                                                         \
    X(1, RCX, ECX, CX, CL)                                                                         \
    X(2, RDX, EDX, DX, DL)                                                                         \
    X(3, RBX, EBX, BX, BL)                                                                         \
    X(4, RSP, ESP, SP, SPL)                                                                        \
    X(5, RBP, EBP, BP, BPL)                                                                        \
    X(6, RSI, ESI, SI, SIL)                                                                        \
    X(7, RDI, EDI, DI, DIL)                                                                        \
    X(8, R8, R8D, R8W, R8B)                                                                        \
    X(9, R9, R9D, R9W, R9B)                                                                        \
    X(10, R10, R10D, R10W, R10B)                                                                   \
    X(11, R11, R11D, R11W, R11B)                                                                   \
    X(12, R12, R12D, R12W, R12B)                                                                   \
    X(13, R13, R13D, R13W, R13B)                                                                   \
    X(14, R14, R14D, R14W, R14B)                                                                   \
    X(15, R15, R15D, R15W, R15B)

static void read_register(x86_reg reg, tz_operand *out)
{
    out->kind = TZ_OPERAND_GENERAL;
    switch (reg) {
#define CASES(number_, r64, r32, r16, r8)                                                          \
    case X86_REG_##r64:                                                                            \
        out->number = number_, out->bytes = 8;                                                     \
        return;                                                                                    \
    case X86_REG_##r32:                                                                            \
        out->number = number_, out->bytes = 4;                                                     \
        return;                                                                                    \
    case X86_REG_##r16:                                                                            \
        out->number = number_, out->bytes = 2;                                                     \
        return;                                                                                    \
    case X86_REG_##r8:                                                                             \
        out->number = number_, out->bytes = 1;                                                     \
        return;
        GENERAL(CASES)
#undef CASES
    case X86_REG_AH:
    case X86_REG_CH:
    case X86_REG_DH:
    case X86_REG_BH:
        out->high = true;
        out->bytes = 1;
        out->number = (int8_t)(reg == X86_REG_AH   ? 0
                               : reg == X86_REG_CH ? 1
                               : reg == X86_REG_DH ? 2
                                                   : 3);
        return;
    case X86_REG_RIP:
        out->number = TZ_REGISTER_IP;
        return;
    case X86_REG_INVALID:
    case X86_REG_RIZ:
    case X86_REG_EIZ:
        out->number = TZ_REGISTER_NONE;
        return;
    default:
        break;
    }
    out->kind = TZ_OPERAND_VECTOR;
    if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31)
        out->number = (int8_t)(reg - X86_REG_XMM0), out->bytes = 16;
    else if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31)
        out->number = (int8_t)(reg - X86_REG_YMM0), out->bytes = 32;
    else if (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31)
        out->number = (int8_t)(reg - X86_REG_ZMM0), out->bytes = 64;
    else if (reg >= X86_REG_K0 && reg <= X86_REG_K7)
        out->kind = TZ_OPERAND_MASK, out->number = (int8_t)(reg - X86_REG_K0), out->bytes = 8;
    else
        out->kind = TZ_OPERAND_OTHER, out->number = TZ_REGISTER_NONE;
}

static int8_t register_number(x86_reg reg)
{
    tz_operand operand = {0};
    read_register(reg, &operand);
    return operand.kind == TZ_OPERAND_GENERAL ? operand.number : TZ_REGISTER_NONE;
}

static void read_operand(const cs_insn *insn, const cs_x86_op *op, tz_operand *out)
{
    *out = (tz_operand){.number = TZ_REGISTER_NONE, .bytes = op->size};
    switch (op->type) {
    case X86_OP_REG:
        read_register(op->reg, out);
        return;
    case X86_OP_IMM:
        out->kind = TZ_OPERAND_NUMBER;
        out->value = op->imm;
        return;
    case X86_OP_MEM:
        out->kind = TZ_OPERAND_MEMORY;
        out->base = register_number(op->mem.base);
        out->index = register_number(op->mem.index);
        out->scale = (uint8_t)op->mem.scale;
        out->value = op->mem.disp;
        out->segment = op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS;
        if (out->base == TZ_REGISTER_IP) /* make the address absolute */
            out->value += (int64_t)insn->address + insn->size;
        return;
    default:
        out->kind = TZ_OPERAND_OTHER;
    }
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    tz_operation operation;
} scalar_names[] = {
    {"nop", TZ_DO_NOTHING},
    {"endbr64", TZ_DO_NOTHING},
    {"vzeroupper", TZ_DO_NOTHING},
    {"prefetcht0", TZ_DO_NOTHING},
    {"prefetchw", TZ_DO_NOTHING},
    {"mov", TZ_DO_MOVE},
    {"movabs", TZ_DO_MOVE},
    {"movzx", TZ_DO_MOVE},
    {"movsx", TZ_DO_MOVE_SIGNED},
    {"movsxd", TZ_DO_MOVE_SIGNED},
    {"lea", TZ_DO_LOAD_ADDRESS},
    {"add", TZ_DO_ADD},
    {"sub", TZ_DO_SUB},
    {"and", TZ_DO_AND},
    {"or", TZ_DO_OR},
    {"xor", TZ_DO_XOR},
    {"cmp", TZ_DO_COMPARE},
    {"test", TZ_DO_TEST},
    {"inc", TZ_DO_INCREMENT},
    {"dec", TZ_DO_DECREMENT},
    {"neg", TZ_DO_NEGATE},
    {"not", TZ_DO_NOT},
    {"shl", TZ_DO_SHIFT_LEFT},
    {"sal", TZ_DO_SHIFT_LEFT},
    {"shr", TZ_DO_SHIFT_RIGHT},
    {"sar", TZ_DO_SHIFT_SIGNED},
    {"shlx", TZ_DO_SHIFT_LEFT},
    {"shrx", TZ_DO_SHIFT_RIGHT},
    {"sarx", TZ_DO_SHIFT_SIGNED},
    {"imul", TZ_DO_MULTIPLY},
    {"andn", TZ_DO_AND_NOT},
    {"cdqe", TZ_DO_EXTEND_A},
    {"xchg", TZ_DO_EXCHANGE},
    {"push", TZ_DO_PUSH},
    {"pop", TZ_DO_POP},
    {"leave", TZ_DO_LEAVE},
    {"jmp", TZ_DO_JUMP},
    {"call", TZ_DO_CALL},
    {"ret", TZ_DO_RETURN},
};

/* The first entry whose prefix begins a name, without the name's leading v, applies. */
static const struct {
    const char *prefix;
    tz_work_class class;
    tz_operation operation;
    bool computes;
} vector_names[] = {
    {"div", TZ_WORK_SPECIAL, TZ_DO_COMPUTE, true},
    {"sqrt", TZ_WORK_SPECIAL, TZ_DO_COMPUTE, true},
    {"rcp", TZ_WORK_SPECIAL, TZ_DO_COMPUTE, true},
    {"rsqrt", TZ_WORK_SPECIAL, TZ_DO_COMPUTE, true},
    {"addsub", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"add", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"sub", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"mul", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"fmadd", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"fmsub", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"fnmadd", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"fnmsub", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"max", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"min", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"cmp", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"comi", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"ucomi", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"rndscale", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"round", TZ_WORK_FP32, TZ_DO_COMPUTE, true},
    {"and", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"or", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"xor", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"pand", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"por", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"pxor", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"ptern", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"psllq", TZ_WORK_LOGIC, TZ_DO_SHIFT_LEFT_WIDE, true},
    {"psrlq", TZ_WORK_LOGIC, TZ_DO_SHIFT_RIGHT_WIDE, true},
    {"psll", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"psrl", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"psra", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"prol", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"pror", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"ptest", TZ_WORK_LOGIC, TZ_DO_COMPUTE, true},
    {"paddq", TZ_WORK_INTEGER, TZ_DO_ADD_WIDE, true},
    {"psubq", TZ_WORK_INTEGER, TZ_DO_SUB_WIDE, true},
    {"pmullq", TZ_WORK_INTEGER, TZ_DO_MULTIPLY_WIDE, true},
    {"pmuludq", TZ_WORK_INTEGER, TZ_DO_MULTIPLY_LOW, true},
    {"padd", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"psub", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"pmul", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"pmadd", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"pmin", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"pmax", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"pcmp", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"pabs", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"pavg", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"popcnt", TZ_WORK_INTEGER, TZ_DO_COMPUTE, true},
    {"pmov", TZ_WORK_MOVE, TZ_DO_COMPUTE, false},
    {"pinsrq", TZ_WORK_SHUFFLE, TZ_DO_INSERT, false},
    {"pextrq", TZ_WORK_SHUFFLE, TZ_DO_EXTRACT, false},
    {"punpcklqdq", TZ_WORK_SHUFFLE, TZ_DO_INTERLEAVE, false},
    {"pbroadcastq", TZ_WORK_SHUFFLE, TZ_DO_REPEAT, false},
    {"p", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false}, /* pshuf, perm, punpck, pack, pblend, … */
    {"shuf", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"unpck", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"blend", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"align", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"broadcast", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"extract", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"insert", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"movdd", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"movsh", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"movsl", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"movh", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"movl", TZ_WORK_SHUFFLE, TZ_DO_COMPUTE, false},
    {"movmsk", TZ_WORK_MOVE, TZ_DO_UNKNOWN, false},
    {"mov", TZ_WORK_MOVE, TZ_DO_MOVE, false},
    {"cvt", TZ_WORK_MOVE, TZ_DO_COMPUTE, false},
    {"k", TZ_WORK_MOVE, TZ_DO_UNKNOWN, false},
};

/* The number of a condition in machine code, or -1. */
static int condition_number(const char *text)
{
    static const char *const names[16][3] = {
        {"o"},        {"no"},       {"b", "c", "nae"}, {"ae", "nb", "nc"},
        {"e", "z"},   {"ne", "nz"}, {"be", "na"},      {"a", "nbe"},
        {"s"},        {"ns"},       {"p", "pe"},       {"np", "po"},
        {"l", "nge"}, {"ge", "nl"}, {"le", "ng"},      {"g", "nle"},
    };
    for (int c = 0; c < 16; c++)
        for (int k = 0; k < 3 && names[c][k]; k++)
            if (strcmp(text, names[c][k]) == 0)
                return c;
    return -1;
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_with_double(const char *name)
{
    const size_t n = strlen(name);
    return n > 2 && name[n - 1] == 'd' && (name[n - 2] == 'p' || name[n - 2] == 's');
}

static bool has_vector(const tz_instruction *in)
{
    for (int i = 0; i < in->operands_count; i++)
        if (in->operands[i].kind == TZ_OPERAND_VECTOR || in->operands[i].kind == TZ_OPERAND_MASK)
            return true;
    return false;
}

static void name_vector(tz_instruction *in)
{
    const char *name = in->name[0] == 'v' ? in->name + 1 : in->name;
    in->class = TZ_WORK_MOVE;
    in->operation = TZ_DO_UNKNOWN;
    for (size_t i = 0; i < sizeof vector_names / sizeof *vector_names; i++)
        if (begins(name, vector_names[i].prefix)) {
            in->class = vector_names[i].class;
            in->operation = vector_names[i].operation;
            in->computes = vector_names[i].computes;
            break;
        }
    if (in->class == TZ_WORK_FP32 && ends_with_double(name))
        in->class = TZ_WORK_FP64;
}

static void name_scalar(tz_instruction *in)
{
    int condition = -1;
    in->class = TZ_WORK_CONTROL;
    in->operation = TZ_DO_UNKNOWN;
    for (size_t i = 0; i < sizeof scalar_names / sizeof *scalar_names; i++)
        if (strcmp(in->name, scalar_names[i].name) == 0) {
            in->operation = scalar_names[i].operation;
            in->fuses = in->operation == TZ_DO_COMPARE || in->operation == TZ_DO_TEST;
            return;
        }
    if (begins(in->name, "cmov") && (condition = condition_number(in->name + 4)) >= 0)
        in->operation = TZ_DO_CHOOSE;
    else if (begins(in->name, "set") && (condition = condition_number(in->name + 3)) >= 0)
        in->operation = TZ_DO_SET;
    else if (in->name[0] == 'j' && (condition = condition_number(in->name + 1)) >= 0)
        in->operation = TZ_DO_BRANCH;
    in->condition = (uint8_t)(condition < 0 ? 0 : condition);
}

/* Correct the sizes of operands in memory, of which libcapstone gets some wrong: an instruction on
 * full vectors reads as many bytes as its register has. */
static void correct_sizes(const cs_x86 *x86, tz_instruction *in)
{
    int widest = 0;
    bool broadcast = begins(in->name, "vbroadcast") || begins(in->name, "vpbroadcast");
    for (int i = 0; i < in->operands_count; i++) {
        if (in->operands[i].kind == TZ_OPERAND_VECTOR && in->operands[i].bytes > widest)
            widest = in->operands[i].bytes;
        broadcast = broadcast || x86->operands[i].avx_bcast != X86_AVX_BCAST_INVALID;
    }
    const size_t n = strlen(in->name);
    const char *bare = in->name[0] == 'v' ? in->name + 1 : in->name;
    const bool packed =
        (n > 2 && in->name[n - 2] == 'p' && (in->name[n - 1] == 's' || in->name[n - 1] == 'd')) ||
        begins(in->name, "vmovdq") || begins(in->name, "vptern") || begins(in->name, "vpand") ||
        begins(in->name, "vpor") || begins(in->name, "vpxor");
    for (int i = 0; i < in->operands_count; i++)
        if (in->operands[i].kind == TZ_OPERAND_MEMORY && packed && !broadcast && widest > 0 &&
            !begins(bare, "cvt") && !begins(bare, "movh") && !begins(bare, "movl"))
            in->operands[i].bytes = (uint8_t)widest;
}

tz_status tz_decoder_read(tz_decoder *decoder, const void *code, size_t bytes, tz_instruction *out,
                          tz_error *error)
{
    const uint8_t *const c = code, *at = code;
    uint64_t address = (uint64_t)(uintptr_t)code;
    memset(out, 0, sizeof *out);
    out->address = address;
    const size_t left = bytes;
    if (tz_evex_read(code, left, false, out))
        return TZ_OK;
    if (!decoder->decode(decoder->handle, &at, &bytes, &address, decoder->scratch)) {
        if (tz_evex_read(code, left, true, out))
            return TZ_OK;
        return tz_error_set(error, TZ_UNSUPPORTED, NULL,
                            "libcapstone does not know an instruction of the row function "
                            "(%02x %02x %02x %02x %02x %02x)",
                            c[0], c[1], c[2], c[3], c[4], c[5]);
    }
    const cs_insn *insn = decoder->scratch;
    const cs_x86 *x86 = &insn->detail->x86;
    out->length = (uint8_t)insn->size;
    snprintf(out->name, sizeof out->name, "%.23s", insn->mnemonic);
    for (int i = 0; i < x86->op_count; i++)
        if (out->operands_count < TZ_OPERANDS_MAX)
            read_operand(insn, &x86->operands[i], &out->operands[out->operands_count++]);
    if (has_vector(out))
        name_vector(out);
    else
        name_scalar(out);
    correct_sizes(x86, out);
    out->compares = strstr(out->name, "comi") || strstr(out->name, "test");
    out->repeats = strstr(out->name, "broadcast");
    return TZ_OK;
}

#else /* built without libcapstone's header, or not for x86-64 */

struct tz_decoder {
    int nothing;
};

static const char missing[] =
#if defined(__x86_64__)
    "this build cannot read machine code, from which plans on a CPU are predicted: install "
    "libcapstone-dev (sh scripts/setup.sh does) and build again";
#else
    "plans on a CPU are predicted from x86-64 machine code, which this processor does not run";
#endif

tz_status tz_decoder_open(tz_decoder **out, tz_error *error)
{
    *out = NULL;
    return tz_error_set(error, TZ_UNSUPPORTED, NULL, "%s", missing);
}

void tz_decoder_close(tz_decoder *decoder)
{
    (void)decoder;
}

tz_status tz_decoder_read(tz_decoder *decoder, const void *code, size_t bytes, tz_instruction *out,
                          tz_error *error)
{
    (void)decoder, (void)code, (void)bytes;
    memset(out, 0, sizeof *out);
    return tz_error_set(error, TZ_UNSUPPORTED, NULL, "%s", missing);
}

bool tz_decoder_describe(char *text, size_t size)
{
    snprintf(text, size, "%s", missing);
    return false;
}
#endif
