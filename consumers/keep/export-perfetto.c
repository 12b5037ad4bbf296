/* SPDX-License-Identifier: BSD-3-Clause */
/* Perfetto's trace (protos/perfetto/trace of its sources): packets with tracks, slices, and flows
 * for messages, in protobuf's encoding. */
#include <errno.h>
#include <string.h>

#include "consumers/keep/export.h"
#include "tree/data/op.h"

/* Numbers of fields. */
enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_TRACK = 60 };
enum { TRACK_UUID = 1, TRACK_NAME = 2 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_FLOWS = 47, EVENT_FLOWS_END = 48 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };

/* A message while it is put together; names of threads are the longest in it. */
struct protobuf {
	unsigned char data[640];
	size_t n;
};

static void put_varint(struct protobuf *m, uint64_t value)
{
	do {
		m->data[m->n++] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
}

static void put_number(struct protobuf *m, unsigned field, uint64_t value)
{
	put_varint(m, (uint64_t)field << 3);
	put_varint(m, value);
}

static void put_fixed(struct protobuf *m, unsigned field, uint64_t value)
{
	put_varint(m, (uint64_t)field << 3 | 1);
	for (unsigned i = 0; i < 8; i++)
		m->data[m->n++] = (unsigned char)(value >> 8 * i);
}

static void put_bytes(struct protobuf *m, unsigned field, const void *data, size_t n)
{
	size_t most = sizeof(m->data) - m->n - 16;

	n = n < most ? n : most;
	put_varint(m, (uint64_t)field << 3 | 2);
	put_varint(m, n);
	memcpy(m->data + m->n, data, n);
	m->n += n;
}

static void packet_write(FILE *f, const struct protobuf *packet)
{
	struct protobuf front = {.n = 0};

	put_varint(&front, TRACE_PACKET << 3 | 2);
	put_varint(&front, packet->n);
	fwrite(front.data, 1, front.n, f);
	fwrite(packet->data, 1, packet->n, f);
}

static void track_write(FILE *f, uint32_t place, const char *name)
{
	struct protobuf track = {.n = 0}, packet = {.n = 0};

	put_number(&track, TRACK_UUID, place + 1);
	put_bytes(&track, TRACK_NAME, name, strnlen(name, 256));
	put_bytes(&packet, PACKET_TRACK, track.data, track.n);
	put_number(&packet, PACKET_SEQUENCE, 1);
	packet_write(f, &packet);
}

/* The same on both sides of a message. */
static uint64_t flow_of(const struct export_record *r)
{
	char key[EXPORT_MESSAGE];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *p = export_message(key, r); *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return hash;
}

struct perfetto {
	const struct trace_run *run;
	FILE *f;
};

static void record_write(void *arg, const struct export_record *r)
{
	const struct perfetto *to = arg;
	static const char *const names[] = {[EXPORT_SENT] = "send", [EXPORT_RECEIVED] = "receive"};
	static const unsigned char kinds[] = {TYPE_BEGIN, TYPE_END, TYPE_INSTANT, TYPE_INSTANT};
	const char *name = r->kind == EXPORT_ENTER   ? trace_op_name(to->run, r->op)
			   : r->kind == EXPORT_LEAVE ? NULL
						     : names[r->kind];
	struct protobuf event = {.n = 0}, packet = {.n = 0};

	put_number(&event, EVENT_TYPE, kinds[r->kind]);
	put_number(&event, EVENT_TRACK, r->place + 1);
	if (name)
		put_bytes(&event, EVENT_NAME, name, strnlen(name, 256));
	if (r->kind == EXPORT_SENT && r->nth != EXPORT_ALONE)
		put_fixed(&event, EVENT_FLOWS, flow_of(r));
	if (r->kind == EXPORT_RECEIVED && r->nth != EXPORT_ALONE)
		put_fixed(&event, EVENT_FLOWS_END, flow_of(r));
	put_number(&packet, PACKET_TIMESTAMP, (uint64_t)r->ns);
	put_number(&packet, PACKET_SEQUENCE, 1);
	put_bytes(&packet, PACKET_EVENT, event.data, event.n);
	packet_write(to->f, &packet);
}

int export_perfetto(struct trace_run *t, const char *out, struct error *e)
{
	const struct trace_thread *thread;
	struct perfetto to = {t, fopen(out, "we")};
	struct error why;
	int rc;

	if (!to.f)
		return errorf(e, "%s: %m", out);
	t->begun = true;
	for (thread = t->threads; thread; thread = thread->hh.next)
		track_write(to.f, thread->place, thread->name);
	rc = export_records(t, out, record_write, &to, e);
	return export_close(to.f, out, rc < 0 ? &why : e) < 0 ? -1 : rc;
}
