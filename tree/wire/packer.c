/* SPDX-License-Identifier: BSD-3-Clause */
/* zstd's streaming encoder: each piece is a block that can be unpacked when it is there. */
#include "tree/wire/packer.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "pathmap/base/memory.h"
#include "tree/wire/wire.h"

/* 40-byte tuples become 6 times smaller, at 300 MB/s; more effort hardly helps. */
#define LEVEL 3
/* What zstd may add to what cannot be compressed: the head of its frame, a block's head. */
#define PIECE_ROOM (WIRE_FRONT_BYTES + ZSTD_COMPRESSBOUND(WIRE_PIECE_PLAIN) + 64u)

_Static_assert(ZSTD_COMPRESSBOUND(WIRE_PIECE_PLAIN) + 64u <= WIRE_PIECE_PACKED,
	       "what cannot be compressed fits into a piece");

struct packer {
	ZSTD_CCtx *context;
	unsigned char *piece;	/* where the piece in the making is; NULL: none is */
	ZSTD_outBuffer out;	/* behind its front */
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

/** What remains is how much zstd still holds: nothing, as there is room for all. */
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
