/* error: new is a keyword of C++, as which GPUs read this text, so choose another name */
#define TZ_FIELDS(F) F(u, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    const real new = TZ_K(share) * TZ_AT(u, 1, 0);
    TZ_PUT(u, new);
}
