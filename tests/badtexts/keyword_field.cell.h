/* error: this is a keyword of C++, as which GPUs read this text, so choose another name */
#define TZ_FIELDS(F) F(this, real)
#define TZ_CONSTANTS(K) K(share, real)

TZ_CELL(text)
{
    TZ_PUT(this, TZ_K(share) * TZ_AT(this, 1, 0));
}
