/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks PVM about buffers without side effects, and parses formats of pvm_packf and pvm_unpackf. */
#include "node-agent/collect/pvm/pvm-bytes.h"

/* PVM may trace a program's calls and print errors, so call as the library itself does. */
static void buffer_ask(int mid, int *bytes, int *tag, int *tid)
{
	int top = *pvm.top;

	*pvm.top = 0;
	pvm.bufinfo(mid, bytes, tag, tid);
	*pvm.top = top;
}

uint64_t pvm_bytes_buffer(int mid)
{
	int bytes = 0, tag, tid;

	if (mid > 0 && pvm.bufinfo)
		buffer_ask(mid, &bytes, &tag, &tid);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

uint64_t pvm_bytes_sending(void)
{
	int top, mid;

	if (!pvm.getsbuf)
		return 0;
	top = *pvm.top;
	*pvm.top = 0;
	mid = pvm.getsbuf();
	*pvm.top = top;
	return pvm_bytes_buffer(mid);
}

void pvm_tuple_received(struct tuple *t, int mid)
{
	int bytes = 0, tag = 0, tid = TUPLE_NO_PEER;

	buffer_ask(mid, &bytes, &tag, &tid);
	t->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	t->seq_or_tag = (uint32_t)tag;
	t->peer = tid;
}

void pvm_tuple_placed(struct tuple *t, int tid, int tag, int bytes)
{
	t->bytes = bytes > 0 ? (uint64_t)bytes : 0;
	t->seq_or_tag = (uint32_t)tag;
	t->peer = tid;
}

/* The arguments of a format. (A va_list cannot be passed by its address portably.) */
struct arguments {
	va_list list;
	bool packs;
};

/* One conversion: '%' [count] ['.' stride] {'h' | 'l' | 'u'} and a letter. */
struct conversion {
	int count;
	bool value; /* the argument itself is packed, not what it points to */
	bool h, l;
	char what;
};

/* Read a number from the format or, for '*', from the arguments. False: there is none. */
static bool number_read(const char **p, struct arguments *a, int *out)
{
	if (**p == '*') {
		*out = va_arg(a->list, int);
		++*p;
		return true;
	}
	if (**p < '0' || **p > '9')
		return false;
	for (*out = 0; **p >= '0' && **p <= '9'; ++*p)
		*out = *out * 10 + (**p - '0');
	return true;
}

/* Read what follows a '%'. */
static struct conversion conversion_read(const char **p, struct arguments *a)
{
	struct conversion c = {.count = 1};
	int stride;

	c.value = !number_read(p, a, &c.count) && a->packs;
	if (**p == '.') {
		++*p;
		number_read(p, a, &stride);
		c.value = false;
	}
	for (; **p == 'h' || **p == 'l' || **p == 'u'; ++*p) {
		c.h = c.h || **p == 'h';
		c.l = c.l || **p == 'l';
	}
	c.what = **p;
	*p += c.what != '\0';
	return c;
}

/* Take the argument of a number, and return its type. */
static int number_take(const struct conversion *c, struct arguments *a)
{
	if (!c->value || c->what == 'x')
		(void)va_arg(a->list, void *);
	else if (c->what == 'f')
		(void)va_arg(a->list, double);
	else if (c->what == 'd' && c->l)
		(void)va_arg(a->list, long);
	else
		(void)va_arg(a->list, int);
	switch (c->what) {
	case 'c':
		return PVM_BYTE;
	case 'd':
		return c->l ? PVM_LONG : c->h ? PVM_SHORT : PVM_INT;
	case 'f':
		return c->l ? PVM_DOUBLE : PVM_FLOAT;
	default:
		return c->l ? PVM_DCPLX : PVM_CPLX;
	}
}

uint64_t pvm_bytes_format(const char *format, va_list args, bool packs)
{
	struct arguments a = {.packs = packs};
	const char *p = format;
	uint64_t sum = 0;

	va_copy(a.list, args);
	if (packs && p[0] == '%' && p[1] == '+') {
		(void)va_arg(a.list, int);
		p += 2;
	}
	while (*p) {
		struct conversion c;

		if (*p++ != '%')
			continue;
		c = conversion_read(&p, &a);
		if (c.what == 's')
			sum += pvm_bytes_text(va_arg(a.list, const char *));
		else if (c.what && strchr("cdfx", c.what))
			sum += pvm_bytes(c.count, number_take(&c, &a));
		else
			break;
	}
	va_end(a.list);
	return sum;
}
