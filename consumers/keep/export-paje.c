/* SPDX-License-Identifier: BSD-3-Clause */
/* Pajé's trace format (Schnorr: Paje trace file format, 1.2.5), as ViTE reads it: a container for
 * each thread, its calls as states, messages as links. */
#include <errno.h>

#include "consumers/keep/export.h"
#include "tree/data/op.h"

static const char head[] = "%EventDef PajeDefineContainerType 0\n"
			   "%  Alias string\n"
			   "%  Type string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeDefineStateType 1\n"
			   "%  Alias string\n"
			   "%  Type string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeDefineLinkType 2\n"
			   "%  Alias string\n"
			   "%  Type string\n"
			   "%  StartContainerType string\n"
			   "%  EndContainerType string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeCreateContainer 3\n"
			   "%  Time date\n"
			   "%  Alias string\n"
			   "%  Type string\n"
			   "%  Container string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeDestroyContainer 4\n"
			   "%  Time date\n"
			   "%  Type string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "%EventDef PajePushState 5\n"
			   "%  Time date\n"
			   "%  Type string\n"
			   "%  Container string\n"
			   "%  Value string\n"
			   "%EndEventDef\n"
			   "%EventDef PajePopState 6\n"
			   "%  Time date\n"
			   "%  Type string\n"
			   "%  Container string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeStartLink 7\n"
			   "%  Time date\n"
			   "%  Type string\n"
			   "%  Container string\n"
			   "%  StartContainer string\n"
			   "%  Value string\n"
			   "%  Key string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeEndLink 8\n"
			   "%  Time date\n"
			   "%  Type string\n"
			   "%  Container string\n"
			   "%  EndContainer string\n"
			   "%  Value string\n"
			   "%  Key string\n"
			   "%EndEventDef\n"
			   "0 P 0 Program\n"
			   "0 T P Thread\n"
			   "1 S T Call\n"
			   "2 M P T T Message\n"
			   "3 0.0 p P 0 program\n";

struct paje {
	const struct trace_run *run;
	FILE *f;
	int64_t from_ns;
};

/* The last word of a line; a quote cannot be in one. */
static void name_write(const char *name, FILE *f)
{
	export_quoted(f, name, "'", "\\");
	fputc('\n', f);
}

static void record_write(void *arg, const struct export_record *r)
{
	const struct paje *p = arg;
	FILE *f = p->f;
	int64_t ns = r->ns - p->from_ns;
	char key[EXPORT_MESSAGE], at[32];

	snprintf(at, sizeof(at), "%lld.%09lld", (long long)(ns / 1000000000),
		 (long long)(ns % 1000000000));
	if (r->kind == EXPORT_ENTER) {
		fprintf(f, "5 %s S t%u ", at, r->place);
		name_write(trace_op_name(p->run, r->op), f);
	} else if (r->kind == EXPORT_LEAVE)
		fprintf(f, "6 %s S t%u\n", at, r->place);
	else if (r->nth != EXPORT_ALONE) /* a link has two ends */
		fprintf(f, "%d %s M p t%u %llu %s\n", r->kind == EXPORT_SENT ? 7 : 8, at, r->place,
			(unsigned long long)r->bytes, export_message(key, r));
}

int export_paje(struct trace_run *t, const char *out, struct error *e)
{
	const struct trace_thread *thread;
	struct paje p = {t, fopen(out, "we"), t->from_ns};
	double end = (double)(t->to_ns - t->from_ns) * 1e-9;
	struct error why;
	int rc;

	if (!p.f)
		return errorf(e, "%s: %m", out);
	t->begun = true;
	fputs(head, p.f);
	for (thread = t->threads; thread; thread = thread->hh.next) {
		fprintf(p.f, "3 0.0 t%u T p ", thread->place);
		name_write(thread->name, p.f);
	}
	rc = export_records(t, out, record_write, &p, e);
	for (thread = t->threads; thread; thread = thread->hh.next)
		fprintf(p.f, "4 %.9f T t%u\n", end, thread->place);
	fprintf(p.f, "4 %.9f P p\n", end);
	return export_close(p.f, out, rc < 0 ? &why : e) < 0 ? -1 : rc;
}
