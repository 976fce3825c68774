/* What the HTML pages share: their style, and the script that makes elements, texts and plots. */
#ifndef TZ_CORE_OUTPUT_PAGE_PARTS_H
#define TZ_CORE_OUTPUT_PAGE_PARTS_H

/* A page with the shared parts in the places @STYLE@, @BASICS@ and @PLOT@. Release it with free(). NULL:
 * not enough memory. */
char *tz_page_assemble(const char *page);

#endif
