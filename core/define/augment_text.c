/* What derive() finds from the sides of an augmented stencil, as text. */
#include "define/augment.h"

#include <stdio.h>

void tz_augment_side_text(const tz_expr_node *node, bool comment, char *text, size_t size)
{
    static const char *const kinds[] = {[TZ_SIDE_CLAMP] = "TZ_ALLOW(TZ_CLAMP)",
                                        [TZ_SIDE_FIXED] = "TZ_ALLOW(TZ_FIXED)",
                                        [TZ_SIDE_FRAME] =
                                            "TZ_ALLOW(TZ_CLAMP) | TZ_ALLOW(TZ_FIXED)"};
    const int kind = node->index % TZ_SIDE_KINDS, side = node->index / TZ_SIDE_KINDS;
    const char *end = side % 2 ? "high" : "low";
    if (kind == TZ_SIDE_FRAMED)
        snprintf(text, size, comment ? "is there a frame" : "framed(setup)");
    else if (!comment)
        snprintf(text, size, "side_at(setup, %d, %d, %s, %d)", side / 2, side % 2, kinds[kind],
                 (int)node->number);
    else if (kind == TZ_SIDE_FRAME)
        snprintf(text, size, "the frame's end at %s %c", end, "xyz"[side / 2]);
    else
        snprintf(text, size, "%s side at %s %c", kind == TZ_SIDE_CLAMP ? "clamp" : "fixed", end,
                 "xyz"[side / 2]);
}

void tz_augment_host_text(const tz_build *build, tz_buffer *functions, tz_buffer *lines)
{
    const tz_build_frame *frame = &build->frame;
    const int dims = build->definition->dims;
    tz_buffer_add(
        functions,
        "/* Where the cells past a side of such a kind begin, or those `inside` of it; far "
        "away from\n * the grid for other sides. */\n"
        "static double side_at(const tz_setup *setup, int axis, int high, unsigned kinds, "
        "int inside)\n{\n"
        "    if (!(kinds >> setup->boundary[axis][high] & 1))\n"
        "        return high ? 1 << 30 : -(1 << 30);\n"
        "    return high ? (double)setup->extent[axis] - inside : inside;\n}\n\n"
        "/* Is there a clamp or fixed side? */\n"
        "static int framed(const tz_setup *setup)\n{\n"
        "    int there = 0;\n"
        "    for (int axis = 0; axis < %d; axis++)\n"
        "        for (int high = 0; high < 2; high++)\n"
        "            there |= setup->boundary[axis][high] == TZ_CLAMP ||\n"
        "                     setup->boundary[axis][high] == TZ_FIXED;\n"
        "    return there;\n}\n\n"
        "/* Cells that a mirror shows must not be past the other side. */\n"
        "static int is_narrow(const tz_setup *setup, int axis, int radius)\n{\n"
        "    const tz_boundary low = setup->boundary[axis][0], high = "
        "setup->boundary[axis][1];\n"
        "    return (low == TZ_MIRROR) != (high == TZ_MIRROR) && setup->extent[axis] <= "
        "radius;\n}\n\n",
        dims);
    for (int axis = 0; axis < dims; axis++)
        tz_buffer_add(
            lines,
            "    if (is_narrow(setup, %d, %d)) {\n"
            "        snprintf(setup->message, setup->message_size,\n"
            "                 \"augment = %d: with a mirror side and another one along %c, more "
            "than %d \"\n                 \"cells are needed there\");\n"
            "        return TZ_REFUSED;\n    }\n",
            axis, frame->radius[axis], frame->steps, "xyz"[axis], frame -> radius[axis]);
}
