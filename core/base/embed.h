/* Files as texts of the program: TZ_EMBED(symbol, "file"); The assembler finds the file through the
 * build's -Wa,-I. A header may declare `symbol` with TZ_EMBEDDED. */
#ifndef TZ_CORE_BASE_EMBED_H
#define TZ_CORE_BASE_EMBED_H

#define TZ_EMBEDDED(symbol) extern const char symbol[] __attribute__((visibility("hidden")))
#define TZ_EMBED(symbol, file)                                                                     \
    __asm__(".pushsection .rodata\n.globl " #symbol "\n" #symbol ":\n.incbin \"" file              \
            "\"\n.byte 0\n.popsection\n");                                                         \
    TZ_EMBEDDED(symbol)

#endif
