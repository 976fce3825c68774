#include "tests/fuzz/fuzz.h"

#include <string.h>

/* Vigna, "Further scramblings of Marsaglia's xorshift generators": splitmix64. */
uint64_t fuzz_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

size_t fuzz_below(uint64_t *state, size_t n)
{
    return (size_t)(fuzz_random(state) % n);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Replace `length` bytes at `at`; nothing happens if there is no room. */
static void replace(fuzz_bytes *b, size_t at, size_t length, const void *data, size_t size)
{
    if (b->size - length + size > FUZZ_BYTES_MAX)
        return;
    unsigned char kept[FUZZ_BYTES_MAX];
    memcpy(kept, data, size); /* it may be a part of the input */
    memmove(b->data + at + size, b->data + at + length, b->size - at - length);
    memcpy(b->data + at, kept, size);
    b->size += size - length;
}

/* A random place; most inputs have their structure at the beginning. */
static size_t place(const fuzz_bytes *b, uint64_t *random)
{
    const size_t head = b->size < 128 ? b->size : 128;
    return fuzz_below(random, (fuzz_below(random, 2) ? head : b->size) + 1);
}

/* A random length from 0 on, mostly short. */
static size_t length_at(const fuzz_bytes *b, size_t at, uint64_t *random)
{
    const size_t left = b->size - at, shorter = left < 16 ? left : 16;
    return fuzz_below(random, (fuzz_below(random, 4) ? shorter : left) + 1);
}

/* One of the words between |. */
static const char *draw_word(const char *words, size_t *length, uint64_t *random)
{
    size_t count = 1;
    for (const char *c = words; *c; c++)
        count += *c == '|';
    for (size_t skip = fuzz_below(random, count); skip > 0; skip--)
        words = strchr(words, '|') + 1;
    *length = strcspn(words, "|");
    return words;
}

/* ---- Damages --------------------------------------------------------------------------------- */

static void flip_bit(fuzz_bytes *b, uint64_t *random)
{
    const size_t at = place(b, random);
    if (at < b->size)
        b->data[at] ^= (unsigned char)(1 << fuzz_below(random, 8));
}

static void set_bytes(fuzz_bytes *b, uint64_t *random)
{
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff, '\n', ' ', '-', '9', '"', 0x1b};
    const size_t at = place(b, random), length = fuzz_below(random, 9);
    const int value = fuzz_below(random, 3) ? values[fuzz_below(random, sizeof values)]
                                            : (int)fuzz_below(random, 256);
    if (at + length <= b->size)
        memset(b->data + at, value, length);
}

static void insert_random(fuzz_bytes *b, uint64_t *random)
{
    unsigned char noise[32];
    const size_t length = fuzz_below(random, sizeof noise) + 1;
    for (size_t i = 0; i < length; i++)
        noise[i] = (unsigned char)fuzz_random(random);
    replace(b, place(b, random), 0, noise, length);
}

static void remove_part(fuzz_bytes *b, uint64_t *random)
{
    const size_t at = place(b, random);
    replace(b, at, length_at(b, at, random), "", 0);
}

static void cut(fuzz_bytes *b, uint64_t *random)
{
    b->size = fuzz_below(random, b->size + 1);
}

static void repeat_part(fuzz_bytes *b, uint64_t *random)
{
    const size_t at = place(b, random), length = length_at(b, at, random);
    for (size_t n = fuzz_below(random, 8) ? 1 : fuzz_below(random, 200); n > 0; n--)
        replace(b, at, 0, b->data + at, length);
}

static void move_part(fuzz_bytes *b, uint64_t *random)
{
    const size_t from = place(b, random), length = length_at(b, from, random),
                 to = place(b, random);
    replace(b, to, 0, b->data + from, length);
}

/* A number in the text becomes another one. */
static void change_number(fuzz_bytes *b, uint64_t *random)
{
    static const char numbers[] =
        "0|-1|1|-0|2|7|65536|2147483647|2147483648|1e308|4294967296|1e-320|1e999|nan|-inf|0x10|"
        "1e-9|0.5|100000|1073741824|1073741825|4611686018427387904|9223372036854775807|"
        "9223372036854775808|18446744073709551616|-9223372036854775808|"
        "99999999999999999999999999999999999999|"
        "0.1000000000000000055511151231257827021181583404541015625|1.7976931348623159e308|1e|+|"
        "1.2.3";
    size_t at = place(b, random);
    while (at < b->size && (b->data[at] < '0' || b->data[at] > '9'))
        at++;
    size_t end = at;
    while (end < b->size && ((b->data[end] >= '0' && b->data[end] <= '9') || b->data[end] == '.'))
        end++;
    size_t length;
    const char *number = draw_word(numbers, &length, random);
    if (end > at)
        replace(b, at, end - at, number, length);
}

/* A binary number of 1 to 8 bytes. */
static void set_number(fuzz_bytes *b, uint64_t *random)
{
    static const uint64_t numbers[] = {0,          1,          0x7fffffff, 0x80000000,
                                       0xffffffff, UINT64_MAX, INT64_MAX,  1u << 30};
    const size_t at = place(b, random), size = (size_t)1 << fuzz_below(random, 4);
    uint64_t value = numbers[fuzz_below(random, sizeof numbers / sizeof *numbers)];
    value += fuzz_below(random, 3) - 1;
    if (fuzz_below(random, 2))
        value = __builtin_bswap64(value) >> (64 - 8 * size);
    if (at + size <= b->size)
        memcpy(b->data + at, &value, size);
}

static void take_from(fuzz_bytes *b, const fuzz_bytes *other, uint64_t *random)
{
    const size_t from = place(other, random), length = length_at(other, from, random),
                 at = place(b, random);
    replace(b, at, fuzz_below(random, 2) ? length_at(b, at, random) : 0, other->data + from,
            length);
}

static void put_word(fuzz_bytes *b, const char *words, uint64_t *random)
{
    size_t length;
    const char *word = draw_word(words, &length, random);
    const size_t at = place(b, random);
    for (size_t n = fuzz_below(random, 16) ? 1 : fuzz_below(random, 3000) + 1; n > 0; n--)
        replace(b, at, n == 1 && fuzz_below(random, 2) ? length_at(b, at, random) : 0, word,
                length);
}

static void swap_lines(fuzz_bytes *b, uint64_t *random)
{
    const size_t at = place(b, random);
    const unsigned char *line = memchr(b->data + at, '\n', b->size - at);
    if (!line)
        return;
    const size_t first = (size_t)(line - b->data) + 1;
    const unsigned char *end = memchr(b->data + first, '\n', b->size - first);
    const size_t length = end ? (size_t)(end - b->data) + 1 - first : b->size - first;
    if (fuzz_below(random, 3) == 0) {
        replace(b, first, length, "", 0);
        return;
    }
    const size_t to = place(b, random);
    replace(b, fuzz_below(random, 2) ? first : to, 0, b->data + first, length);
}

void fuzz_mutate(fuzz_bytes *bytes, const fuzz_bytes *other, const char *words, uint64_t *random)
{
    static void (*const damages[])(fuzz_bytes *, uint64_t *) = {
        flip_bit,  set_bytes,     insert_random, remove_part, cut,        repeat_part,
        move_part, change_number, change_number, set_number,  swap_lines, remove_part};
    enum { DAMAGES = sizeof damages / sizeof *damages };
    for (int n = 0; n < 8 && (n == 0 || fuzz_below(random, 5) < 3); n++) {
        const size_t which = fuzz_below(random, DAMAGES + 3);
        if (which < DAMAGES)
            damages[which](bytes, random);
        else if (which == DAMAGES)
            take_from(bytes, other, random);
        else
            put_word(bytes, words, random);
    }
}
