/* SPDX-License-Identifier: BSD-3-Clause */
/* The Common Trace Format 1.8 (diamon.org/ctf/v1.8.3): a folder of a metadata file, and a stream of
 * one packet for each thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "consumers/keep/export.h"
#include "pathmap/base/memory.h"
#include "tree/data/op.h"

#define MAGIC 0xc1fc1fc1u

static const char types[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n";

static const char streams[] =
	"typealias integer { size = 64; align = 8; signed = false; map = clock.reference.value; } "
	":= "
	"stamp_t;\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end; uint64_t "
	"content_size; uint64_t packet_size; };\n"
	"\tevent.header := struct { uint8_t id; stamp_t timestamp; };\n"
	"\tevent.context := struct { int32_t rank; uint32_t thread; };\n"
	"};\n"
	"event { id = 0; name = \"enter\"; stream_id = 0; fields := struct { string op; uint64_t "
	"bytes; int32_t peer; uint32_t seq_or_tag; uint32_t comm; }; };\n"
	"event { id = 1; name = \"leave\"; stream_id = 0; fields := struct { string op; }; };\n"
	"event { id = 2; name = \"send\"; stream_id = 0; fields := struct { uint64_t bytes; "
	"int32_t "
	"to; uint32_t tag; uint32_t comm; }; };\n"
	"event { id = 3; name = \"receive\"; stream_id = 0; fields := struct { uint64_t bytes; "
	"int32_t from; uint32_t tag; uint32_t comm; }; };\n";

/* A stream while it is written. */
struct ctf_stream {
	const struct trace_run *run;
	const char *out; /* the folder */
	char *path;
	FILE *f;
	int32_t rank;
	uint32_t place;
	uint64_t first, last;
};

static void put(FILE *f, const void *data, size_t bytes)
{
	fwrite(data, 1, bytes, f);
}

static void event_begin(struct ctf_stream *s, int64_t ns, uint8_t id)
{
	uint64_t stamp = (uint64_t)ns;

	if (!s->first)
		s->first = stamp;
	s->last = stamp;
	put(s->f, &id, sizeof(id));
	put(s->f, &stamp, sizeof(stamp));
	put(s->f, &s->rank, sizeof(s->rank));
	put(s->f, &s->place, sizeof(s->place));
}

static void put_about(FILE *f, const struct trace_event *ev)
{
	put(f, &ev->bytes, sizeof(ev->bytes));
	put(f, &ev->peer, sizeof(ev->peer));
	put(f, &ev->seq_or_tag, sizeof(ev->seq_or_tag));
	put(f, &ev->comm, sizeof(ev->comm));
}

static void put_op(const struct ctf_stream *s, uint16_t op)
{
	const char *name = trace_op_name(s->run, op);

	put(s->f, name, strlen(name) + 1);
}

static void on_enter(void *arg, int64_t ns, const struct trace_event *ev)
{
	struct ctf_stream *s = arg;

	event_begin(s, ns, 0);
	put_op(s, ev->op);
	put_about(s->f, ev);
}

static void on_leave(void *arg, int64_t ns, const struct trace_event *ev)
{
	struct ctf_stream *s = arg;

	event_begin(s, ns, 1);
	put_op(s, ev->op);
}

static void on_message(void *arg, int64_t ns, const struct trace_event *ev)
{
	struct ctf_stream *s = arg;

	event_begin(s, ns, ev->message == MESSAGE_SENT ? 2 : 3);
	put_about(s->f, ev);
}

/* The packet's header and context; sizes are in bits. */
static void packet_begin(const struct ctf_stream *s, uint64_t bytes)
{
	const uint32_t front[2] = {MAGIC, 0};
	const uint64_t context[4] = {s->first, s->last, 8 * bytes, 8 * bytes};

	put(s->f, front, sizeof(front));
	put(s->f, context, sizeof(context));
}

static int on_begin(void *arg, const struct trace_thread *thread, struct error *e)
{
	struct ctf_stream *s = arg;

	s->path = memory_format("%s/stream_%u", s->out, thread->place);
	s->f = fopen(s->path, "we");
	s->rank = thread->rank;
	s->place = thread->place;
	s->first = s->last = 0;
	if (!s->f)
		return errorf(e, "%s: %m", s->path);
	packet_begin(s, 0);
	return 0;
}

static int on_end(void *arg, const struct trace_thread *thread, struct error *e)
{
	struct ctf_stream *s = arg;
	off_t bytes = ftello(s->f);
	FILE *f = s->f;
	int rc;

	(void)thread;
	rewind(f);
	packet_begin(s, (uint64_t)bytes);
	s->f = NULL;
	rc = export_close(f, s->path, e);
	free(s->path);
	s->path = NULL;
	return rc;
}

static int metadata_write(const struct trace_run *t, const char *out, struct error *e)
{
	char *path = memory_format("%s/metadata", out);
	const struct trace_thread *thread;
	FILE *f = fopen(path, "we");
	int rc = f ? 0 : errorf(e, "%s: %m", path);

	if (f) {
		fputs(types, f);
		fprintf(f,
			"trace { major = 1; minor = 8; byte_order = %s; packet.header := struct { "
			"uint32_t magic; uint32_t stream_id; }; };\n",
			__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "be" : "le");
		fputs("env { tracer_name = \"evspace\";\n", f);
		for (thread = t->threads; thread; thread = thread->hh.next) {
			fprintf(f, "\tthread_%u = ", thread->place);
			export_quoted(f, thread->name, "\\\"", "\\\\");
			fputs(";\n", f);
		}
		fputs("};\nclock { name = reference; freq = 1000000000; offset_s = 0; };\n", f);
		fputs(streams, f);
		rc = export_close(f, path, e);
	}
	free(path);
	return rc;
}

int export_ctf(struct trace_run *t, const char *out, struct error *e)
{
	struct ctf_stream s = {.run = t, .out = out};
	const struct trace_visitor visitor = {on_begin, on_end, on_enter, on_leave, on_message, &s};
	int rc;

	if (mkdir(out, 0777) < 0)
		return errorf(e, "%s: %m", out);
	t->begun = true;
	if (metadata_write(t, out, e) < 0)
		return -1;
	rc = trace_walk(t, &visitor, e);
	if (s.f)
		fclose(s.f);
	free(s.path);
	return rc;
}
