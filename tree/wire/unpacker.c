/* SPDX-License-Identifier: BSD-3-Clause */
/* zstd's streaming decoder, with bounds on what it may take and give. */
#include "tree/wire/unpacker.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <zstd.h>

#include "pathmap/base/memory.h"
#include "tree/wire/packer.h"

struct unpacker {
	ZSTD_DCtx *context; /* NULL: the peer begins anew */
	ZSTD_inBuffer in;
	size_t left; /* plain bytes of the piece that are still to come */
	bool ended;  /* what was unpacked last was the end of what refers to each other */
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

/** What zstd makes of what is left of the piece. Returns what it gave, -1 with @e. */
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
	/* All is there: nothing may follow. */
	n = u->ended ? 0 : unpack(u, &more, 1, e);
	if (n < 0)
		return -1;
	if (n > 0 || u->in.pos < u->in.size)
		return errorf(e, "a compressed piece that is longer than it says");
	if (u->ended)
		context_free(u);
	return 0;
}
