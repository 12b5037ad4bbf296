/* SPDX-License-Identifier: BSD-3-Clause */
/* What a probe is about, as a view: its entities become patterns of names, its region conditions.
 */
#include "consumers/mir/probe-archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/mir/probe-cell.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/wildcard.h"
#include "pathmap/model/pattern.h"
#include "tree/data/op.h"

/* Most bytes of a view that a consumer may define, and of a condition. */
#define VIEW_MOST      4000u
#define CONDITION_MOST 250u

/* ---- entities ---- */

/* The smallest that is said by its name; "": all there are. */
static const char *smallest_of(const struct probe_chain *chain)
{
	const char *name = "";

	for (unsigned i = 0; i < MIR_LEVELS; i++)
		if (i != MIR_COMMUNICATOR && chain->id[i] && !probe_id_is_wild(chain->id[i]))
			name = chain->id[i];
	return name;
}

static bool pattern_write(FILE *out, const char *name, const char *end)
{
	char *pattern = memory_format("%s/**%s", name, end);
	struct error e;
	bool is = !strpbrk(name, "*?[") && pattern_check(pattern, &e) == 0;

	fprintf(out, " %s", pattern);
	free(pattern);
	return is;
}

/* Returns false if they are not a matter of names alone, and one communicator. */
static bool entities_write(FILE *out, const struct probe *p, const char **comm)
{
	const char *site = p->n_regions == 1 ? p->regions[0].site : NULL;
	/* several calls in a line have their addresses behind it */
	char *one = memory_format("/*:%s", site ? site : ""), *more = memory_format("%s+0x*", one);
	struct probe_chain chain;
	bool is = !site || !strpbrk(site, "*?["), first = true;

	for (size_t i = 0; i < probe_chains(p); i++) {
		const char *its;

		if (!probe_chain_of(p, i, &chain))
			continue;
		its = probe_id_is_wild(chain.id[MIR_COMMUNICATOR]) ? NULL
								   : chain.id[MIR_COMMUNICATOR];
		is &= first || (its && *comm ? strcmp(its, *comm) == 0 : its == *comm);
		*comm = its;
		first = false;
		is &= pattern_write(out, smallest_of(&chain), site ? one : "");
		if (site)
			is &= pattern_write(out, smallest_of(&chain), more);
	}
	free(one);
	free(more);
	return is;
}

/* ---- regions ---- */

static bool label_write(FILE *out, const struct probe_region *r)
{
	fprintf(out, " op=evspace_region label=%s", r->label);
	return strlen(r->label) < CONDITION_MOST && !strpbrk(r->label, " \t\r\n;{}#\"|") &&
	       (r->function || (!wildcard_is(r->label) && !strchr(r->label, ',')));
}

/* Returns false if no condition says it. */
static bool regions_write(FILE *out, const struct probe *p)
{
	const struct probe_region *r = p->regions;

	if (p->n_regions == 0 || (p->n_regions == 1 && r->site))
		return true;
	if (p->n_regions == 1 && r->label)
		return label_write(out, r);
	if (p->n_regions == 1 && r->channel >= 0)
		return fprintf(out, " channel=%s", channel_name((unsigned)r->channel)) > 0;
	for (unsigned i = 0; i < p->n_regions; i++) {
		if (r[i].op == 0 || r[i].label)
			return false;
		fprintf(out, "%s%s", i ? "|" : " op=", op_name(r[i].op));
	}
	return true;
}

/* ---- all ---- */

/* For the caller to free; NULL: no view is of just that. */
static char *view_of(const struct probe *p)
{
	char *conditions = NULL, *text = NULL;
	size_t n_conditions, n;
	FILE *of = open_memstream(&conditions, &n_conditions), *out = open_memstream(&text, &n);
	const char *comm = NULL;
	bool is;

	if (!of || !out)
		abort();
	fputs("select", out);
	is = entities_write(out, p, &comm) && regions_write(of, p);
	if (comm)
		fprintf(of, " comm=%s", comm);
	if (fclose(of) != 0)
		abort();
	fprintf(out, "; read stream;%s%s%s", *conditions ? " element filter" : "", conditions,
		*conditions ? ";" : "");
	if (fclose(out) != 0)
		abort();
	free(conditions);
	if (is && n < VIEW_MOST)
		return text;
	free(text);
	return NULL;
}

void probe_archive_check(const struct probe *probe, struct mir_request *request)
{
	char *view = view_of(probe);

	if (!view)
		request_complain(request, &probe->defined->place,
				 "an archive is of one region, or of two operations, of entities "
				 "with one communicator and plain names; have these events sent to "
				 "a file");
	free(view);
}

void probe_archive_begin(struct probes *probes, struct probe *probe)
{
	int folder = destination_archive(probe->destination);
	char *view = folder >= 0 ? view_of(probe) : NULL;

	if (view)
		probe->trace.archiver = archiver_new(&probes->archivers, probes->destinations.base,
						     probes->snapshots.options, view, folder);
	if (!probe->trace.archiver)
		probe->trace.why = errno;
	if (folder >= 0)
		close(folder);
	free(view);
}
