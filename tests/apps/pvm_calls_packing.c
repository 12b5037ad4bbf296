/* SPDX-License-Identifier: BSD-3-Clause */
/* Every type packed and unpacked, one by one and by formats, in a message to itself. */
#include <string.h>

#include "tests/apps/pvm_calls.h"

#define TAG_SELF 20
#define N	 6

/* Pack and later unpack N items of @type, every second one. */
#define TYPE(name, type, width)                                                     \
	static void pack_##name(void)                                               \
	{                                                                           \
		type values[2 * N * (width)];                                       \
                                                                                    \
		for (int i = 0; i < 2 * N * (width); i++)                           \
			values[i] = (type)(i + 1);                                  \
		CHECK(pvm_pk##name(values, N, 2) == 0);                             \
		COUNT(pvm_pk##name, N *(width) * sizeof(type));                     \
	}                                                                           \
	static void unpack_##name(void)                                             \
	{                                                                           \
		type values[N * (width)];                                           \
                                                                                    \
		CHECK(pvm_upk##name(values, N, 1) == 0);                            \
		COUNT(pvm_upk##name, N *(width) * sizeof(type));                    \
		CHECK((int)values[(N - 1) * (width)] == 2 * (N - 1) * (width) + 1); \
		checksum = checksum * 31 + (uint64_t)values[N * (width)-1];         \
	}

TYPE(byte, char, 1)
TYPE(cplx, float, 2)
TYPE(dcplx, double, 2)
TYPE(double, double, 1)
TYPE(float, float, 1)
TYPE(int, int, 1)
TYPE(uint, unsigned int, 1)
TYPE(short, short, 1)
TYPE(ushort, unsigned short, 1)
TYPE(long, long, 1)
TYPE(ulong, unsigned long, 1)

static const struct {
	void (*pack)(void), (*unpack)(void);
} types[] = {
	{pack_byte, unpack_byte},     {pack_cplx, unpack_cplx},	  {pack_dcplx, unpack_dcplx},
	{pack_double, unpack_double}, {pack_float, unpack_float}, {pack_int, unpack_int},
	{pack_uint, unpack_uint},     {pack_short, unpack_short}, {pack_ushort, unpack_ushort},
	{pack_long, unpack_long},     {pack_ulong, unpack_ulong},
};

#define TYPES (sizeof(types) / sizeof(types[0]))

static int sending(void)
{
	int bytes, tag, tid;

	CHECK(pvm_bufinfo(pvm_getsbuf(), &bytes, &tag, &tid) == 0);
	return bytes;
}

/* How long a message is depends on its encoding: PVM itself says so. */
static void to_self(const struct party *p)
{
	int bytes = sending();

	CHECK(pvm_send(p->tids[p->me], TAG_SELF) == 0);
	COUNT(pvm_send, bytes);
	CHECK(pvm_recv(p->tids[p->me], TAG_SELF) > 0);
	COUNT(pvm_recv, bytes);
}

static void all_types(const struct party *p, int encoding)
{
	char text[40] = "a text";

	pvm_initsend(encoding);
	for (size_t i = 0; i < TYPES; i++)
		types[i].pack();
	CHECK(pvm_pkstr(text) == 0);
	COUNT(pvm_pkstr, 7);
	to_self(p);
	for (size_t i = 0; i < TYPES; i++)
		types[i].unpack();
	memset(text, 'x', sizeof(text));
	CHECK(pvm_upkstr(text) == 0 && strcmp(text, "a text") == 0);
	COUNT(pvm_upkstr, 7);
}

static void formats(const struct party *p)
{
	int ints[4] = {1, 2, 3, 4}, one;
	long longs[2] = {5, 6}, big;
	short small;
	double doubles[6] = {1, 2, 3, 4, 5, 6}, d;
	float complex_one[2] = {7, 8}, f;
	char text[20], letter;

	CHECK(pvm_packf("%+ %d %4d and %*.2lf %x", PvmDataRaw, 42, ints, 3, doubles, complex_one) ==
	      0);
	COUNT(pvm_packf, 4 + 16 + 24 + 8);
	CHECK(pvm_packf("%c%hd%ld%2ld%f%lf%uhd%s", 'c', 9, 10L, longs, 1.5, 2.5, 11, "text") == 0);
	COUNT(pvm_packf, 1 + 2 + 8 + 16 + 4 + 8 + 2 + 5);
	CHECK(pvm_packf("%.*d", 2, ints) == 0);
	COUNT(pvm_packf, 4);
	to_self(p);
	CHECK(pvm_unpackf("%d %4d %*lf %x", &one, ints, 3, doubles, complex_one) == 0);
	COUNT(pvm_unpackf, 4 + 16 + 24 + 8);
	CHECK(one == 42 && doubles[2] == 5);
	CHECK(pvm_unpackf("%c%hd%ld%2ld%f%lf%uhd%s", &letter, &small, &big, longs, &f, &d, &small,
			  text) == 0);
	COUNT(pvm_unpackf, 1 + 2 + 8 + 16 + 4 + 8 + 2 + 5);
	CHECK(letter == 'c' && big == 10 && f == 1.5f && small == 11 && !strcmp(text, "text"));
	CHECK(pvm_unpackf("%d", &one) == 0 && one == 1);
	COUNT(pvm_unpackf, 4);
	pvm_setopt(PvmAutoErr, 0);
	CHECK(pvm_unpackf("%d", &one) < 0);
	COUNT(pvm_unpackf, 0);
	CHECK(pvm_upkint(&one, 1, 1) < 0);
	COUNT(pvm_upkint, 0);
	pvm_setopt(PvmAutoErr, 1);
}

/* A message in a message. */
static void nested(const struct party *p)
{
	int inner = pvm_mkbuf(PvmDataRaw), outer, value = 5, got;

	outer = pvm_setsbuf(inner);
	CHECK(pvm_pkint(&value, 1, 1) == 0);
	COUNT(pvm_pkint, 4);
	CHECK(pvm_setsbuf(outer) == inner);
	pvm_initsend(PvmDataRaw);
	CHECK(pvm_pkmesg(inner) == 0);
	COUNT(pvm_pkmesg, 4);
	CHECK(pvm_pkmesgbody(inner) == 0);
	COUNT(pvm_pkmesgbody, 4);
	pvm_freebuf(inner);
	to_self(p);
	got = pvm_upkmesg();
	CHECK(got > 0);
	COUNT(pvm_upkmesg, 4);
	CHECK(pvm_upkint(&value, 1, 1) == 0 && value == 5);
	COUNT(pvm_upkint, 4);
	pvm_freebuf(got);
}

void part_packing(const struct party *p)
{
	all_types(p, PvmDataDefault);
	all_types(p, PvmDataRaw);
	formats(p);
	nested(p);
}
