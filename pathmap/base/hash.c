/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes by a random key of this process: SipHash-1-3 (Aumasson and Bernstein), and two
 * multiplications for a number. */
#include "pathmap/base/hash.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static struct {
	uint64_t bytes[2];  /* SipHash's key */
	uint64_t number[2]; /* odd */
} seed;

static void seed_make(void)
{
	struct timespec now;

	/* without random numbers, still hard to guess */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed)) {
		clock_gettime(CLOCK_REALTIME, &now);
		seed.bytes[0] ^= (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid();
		seed.bytes[1] ^= (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)&now;
		seed.number[0] ^= seed.bytes[0] * UINT64_C(0x9e3779b97f4a7c15);
		seed.number[1] ^= seed.bytes[1] * UINT64_C(0xbf58476d1ce4e5b9);
	}
	seed.number[0] |= 1;
	seed.number[1] |= 1;
}

/* Client libraries may have threads. */
static void seed_want(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, seed_make);
}

static inline uint64_t turned(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = turned(v[1], 13) ^ v[0];
	v[3] = turned(v[3], 16) ^ v[2];
	v[0] = turned(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = turned(v[1], 17) ^ v[2];
	v[3] = turned(v[3], 21) ^ v[0];
	v[2] = turned(v[2], 32);
}

uint32_t hash_bytes(const void *key, size_t bytes)
{
	const unsigned char *p = key;
	uint64_t v[4], word, last = (uint64_t)bytes << 56;

	seed_want();
	v[0] = seed.bytes[0] ^ UINT64_C(0x736f6d6570736575);
	v[1] = seed.bytes[1] ^ UINT64_C(0x646f72616e646f6d);
	v[2] = seed.bytes[0] ^ UINT64_C(0x6c7967656e657261);
	v[3] = seed.bytes[1] ^ UINT64_C(0x7465646279746573);
	for (; bytes >= sizeof(word); bytes -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	for (size_t i = 0; i < bytes; i++)
		last |= (uint64_t)p[i] << (8 * i);
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	word = v[0] ^ v[1] ^ v[2] ^ v[3];
	return (uint32_t)(word ^ word >> 32);
}

uint32_t hash_number(uint32_t number)
{
	uint64_t x;

	seed_want();
	x = number * seed.number[0];
	x ^= x >> 32;
	return (uint32_t)((x * seed.number[1]) >> 32);
}
