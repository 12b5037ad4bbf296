/* SPDX-License-Identifier: BSD-3-Clause */
/* zstd's streaming encoder and decoder: each piece is a block that can be unpacked when it
 * arrives. */
#include "tree/wire/packer.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <errno.h>
#include <sys/types.h>

#include "pathmap/base/memory.h"
#include "tree/wire/wire.h"

/* 40-byte tuples become 6 times smaller at 300 MB/s; higher levels hardly help. */
#define LEVEL 3
/* What zstd may add to incompressible data: frame header and block header. */
#define PIECE_ROOM (WIRE_FRONT_BYTES + ZSTD_COMPRESSBOUND(WIRE_PIECE_PLAIN) + 64u)

_Static_assert(ZSTD_COMPRESSBOUND(WIRE_PIECE_PLAIN) + 64u <= WIRE_PIECE_PACKED,
	       "what cannot be compressed fits into a piece");

struct packer {
	ZSTD_CCtx *context;
	unsigned char *piece;	/* the piece being made; NULL: none */
	ZSTD_outBuffer out;	/* after its front */
	size_t plain;		/* bytes in it */
	uint64_t before, after; /* bytes of all frames, plain and packed */
};

struct packer *packer_new(void)
{
	struct packer *p = memory_new(1, sizeof(*p));

	p->context = ZSTD_createCCtx();
	if (!p->context ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(p->context, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(p->context, ZSTD_c_windowLog, PACKER_WINDOW_LOG)))
		abort();
	return p;
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->context);
	free(p);
}

/** The output has room for everything, so zstd holds nothing back. */
static void pack(struct packer *p, ZSTD_inBuffer *in, ZSTD_EndDirective how)
{
	size_t left = ZSTD_compressStream2(p->context, &p->out, in, how);

	if (ZSTD_isError(left) || (how != ZSTD_e_continue && left) || in->pos < in->size)
		abort();
}

static void piece_begin(struct packer *p, struct bytes *to)
{
	p->piece = bytes_reserve(to, PIECE_ROOM);
	p->out = (ZSTD_outBuffer){p->piece + WIRE_FRONT_BYTES, PIECE_ROOM - WIRE_FRONT_BYTES, 0};
	p->plain = 0;
}

static void piece_end(struct packer *p, struct bytes *to, ZSTD_EndDirective how)
{
	ZSTD_inBuffer nothing = {NULL, 0, 0};
	size_t pad;

	pack(p, &nothing, how);
	pad = wire_pad(p->out.pos) - p->out.pos;
	wire_piece_put(p->out.pos, p->plain, p->piece);
	memset(p->piece + WIRE_FRONT_BYTES + p->out.pos, 0, pad);
	bytes_commit(to, WIRE_FRONT_BYTES + p->out.pos + pad);
	p->piece = NULL;
	p->before += p->plain;
	p->after += WIRE_FRONT_BYTES + p->out.pos + pad;
}

double packer_ratio(const struct packer *p)
{
	return p->before > p->after ? (double)p->before / (double)p->after : 1;
}

void packer_put(struct packer *p, const void *data, size_t bytes, struct bytes *to)
{
	const unsigned char *from = data;

	while (bytes) {
		ZSTD_inBuffer in = {from, bytes, 0};

		if (!p->piece)
			piece_begin(p, to);
		if (in.size > WIRE_PIECE_PLAIN - p->plain)
			in.size = WIRE_PIECE_PLAIN - p->plain;
		pack(p, &in, ZSTD_e_continue);
		p->plain += in.size;
		from += in.size;
		bytes -= in.size;
		if (p->plain == WIRE_PIECE_PLAIN)
			piece_end(p, to, ZSTD_e_flush);
	}
}

void packer_flush(struct packer *p, struct bytes *to)
{
	if (p->piece)
		piece_end(p, to, ZSTD_e_flush);
}

void packer_end(struct packer *p, struct bytes *to)
{
	piece_begin(p, to);
	piece_end(p, to, ZSTD_e_end);
}

/* ---- unpacking ---- */

struct unpacker {
	ZSTD_DCtx *context; /* NULL: the peer starts anew */
	ZSTD_inBuffer in;
	size_t left; /* plain bytes of the piece that are not unpacked yet */
	bool ended;  /* the last unpacked bytes ended zstd's frame */
};

struct unpacker *unpacker_new(void)
{
	return memory_new(1, sizeof(struct unpacker));
}

static void context_free(struct unpacker *u)
{
	ZSTD_freeDCtx(u->context);
	u->context = NULL;
	u->ended = false;
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	context_free(u);
	free(u);
}

static void context_new(struct unpacker *u)
{
	u->context = ZSTD_createDCtx();
	if (!u->context || ZSTD_isError(ZSTD_DCtx_setParameter(u->context, ZSTD_d_windowLogMax,
							       PACKER_WINDOW_LOG)))
		abort();
}

void unpacker_begin(struct unpacker *u, const unsigned char *packed, size_t packed_bytes,
		    size_t plain_bytes)
{
	if (!u->context)
		context_new(u);
	u->in = (ZSTD_inBuffer){packed, packed_bytes, 0};
	u->left = plain_bytes;
}

bool unpacker_busy(const struct unpacker *u)
{
	return u->left > 0 || u->in.pos < u->in.size;
}

bool unpacker_is_open(const struct unpacker *u)
{
	return u && u->context;
}

size_t unpacker_bytes(const struct unpacker *u)
{
	return unpacker_is_open(u) ? ZSTD_sizeof_DCtx(u->context) : 0;
}

/** Unpack more of the piece. Returns the number of bytes, or -1 with @e. */
static ssize_t unpack(struct unpacker *u, unsigned char *to, size_t room, struct error *e)
{
	ZSTD_outBuffer out = {to, room, 0};
	size_t result = ZSTD_decompressStream(u->context, &out, &u->in);

	if (ZSTD_isError(result))
		return errorf(e, "a compressed piece that is damaged: %s",
			      ZSTD_getErrorName(result));
	u->ended = result == 0;
	return (ssize_t)out.pos;
}

int unpacker_more(struct unpacker *u, unsigned char *to, size_t room, size_t *got, struct error *e)
{
	size_t before = u->in.pos;
	unsigned char more;
	ssize_t n = 0;

	errno = EPROTO;
	if (u->left > 0)
		n = unpack(u, to, room < u->left ? room : u->left, e);
	if (n < 0)
		return -1;
	u->left -= (size_t)n;
	*got = (size_t)n;
	if (u->left > 0)
		return n > 0 || u->in.pos > before
			       ? 0
			       : errorf(e, "a compressed piece that is shorter than it says");
	/* the piece is complete: nothing may follow */
	n = u->ended ? 0 : unpack(u, &more, 1, e);
	if (n < 0)
		return -1;
	if (n > 0 || u->in.pos < u->in.size)
		return errorf(e, "a compressed piece that is longer than it says");
	if (u->ended)
		context_free(u);
	return 0;
}
