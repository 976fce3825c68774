#include "output/page/parts.h"

#include <stdlib.h>
#include <string.h>

/* The files, found by the assembler through the build's -Wa,-I. */
#define EMBED(name, file)                                                                          \
    __asm__(".pushsection .rodata\n" #name ":\n.incbin \"output/page/" file "\"\n"                 \
            ".byte 0\n.popsection\n");                                                             \
    extern const char name[] __attribute__((visibility("hidden")))
EMBED(tz_page_style, "style.css");
EMBED(tz_page_basics, "basics.js");
EMBED(tz_page_plot, "plot.js");

char *tz_page_assemble(const char *page)
{
    const struct {
        const char *place, *text;
    } parts[] = {
        {"@STYLE@", tz_page_style}, {"@BASICS@", tz_page_basics}, {"@PLOT@", tz_page_plot}};
    char *whole = strdup(page);
    for (size_t i = 0; whole && i < sizeof parts / sizeof *parts; i++) {
        char *at = strstr(whole, parts[i].place);
        if (!at)
            continue;
        const size_t before = (size_t)(at - whole), length = strlen(parts[i].text);
        const char *rest = at + strlen(parts[i].place);
        char *longer = malloc(before + length + strlen(rest) + 1);
        if (longer) {
            memcpy(longer, whole, before);
            memcpy(longer + before, parts[i].text, length);
            strcpy(longer + before + length, rest);
        }
        free(whole);
        whole = longer;
    }
    return whole;
}
