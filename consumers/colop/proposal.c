/* SPDX-License-Identifier: BSD-3-Clause */
/* Proposes how to steer collectives: those that take time, of sizes for which a tree is better,
 * along the pathmap's own tree, with ranks that are late often near its top. */
#include "consumers/colop/proposal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/client/evspace-control.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/steering.h"
#include "tree/data/op.h"

/* Larger calls are better left to the MPI, which cuts them in pieces (docs/performance.md). */
#define MAGNITUDE_MOST 12u
#define BYTES_MOST     "4KiB"

/* Fewer operations of a kind say nothing; more ranks that lead would be an order of all. */
#define OPERATIONS_LEAST 20u
#define LEADS_MOST	 16u

/* Between these lines of a map is what was proposed. */
#define BEGIN "# {{{ evspace colop --apply\n"
#define END   "# }}} evspace colop --apply\n"

struct proposal {
	const struct colop *colop;
	uint64_t operations[STEER_KINDS];
	double cost[STEER_KINDS]; /* time of all processes in them, in ns */
	bool all_world;
	const char *host; /* "/cluster/node" of the first process */
	size_t host_bytes;
	bool hosts, clusters; /* there are several */
	int32_t leads[LEADS_MOST];
	size_t n_leads;
};

/* ---- what was measured ---- */

/* The kind of a blocking operation; STEER_KINDS: none that can be steered. */
static unsigned kind_of(uint16_t op)
{
	static const char *const names[STEER_KINDS] = STEER_NAMES;
	const char *name = op_name(op);
	unsigned kind = 0;

	if (strncmp(name, "MPI_", 4) != 0)
		return STEER_KINDS;
	while (kind < STEER_KINDS && strcasecmp(names[kind], name + 4) != 0)
		kind++;
	return kind;
}

static void classes_take(struct proposal *s)
{
	const struct lateness_class *const *classes;
	size_t n = lateness_classes(s->colop->lateness, &classes);

	s->all_world = true;
	for (size_t i = 0; i < n; i++) {
		const struct lateness_class *of = classes[i];
		unsigned kind = kind_of(of->op);

		if (kind == STEER_KINDS || of->magnitude > MAGNITUDE_MOST)
			continue;
		s->operations[kind] += of->meetings;
		s->cost[kind] += of->scale * (of->waited_ns + of->inside_ns * (double)of->members /
								      (double)of->meetings);
		s->all_world &= evspace_is_world(s->colop->follow.client, of->comm) != 0;
	}
}

/* The length of "/cluster/node" in "/cluster/node/rank". */
static size_t host_of(const char *process)
{
	const char *end = strrchr(process, '/');

	return end ? (size_t)(end - process) : 0;
}

static void member_take(void *arg, const struct lateness_member *member)
{
	struct proposal *s = arg;
	const char *name = attendance_process(s->colop->attendance, member->process);
	size_t n = host_of(name), cluster = n ? 1 + strcspn(name + 1, "/") : 0;

	if (!s->host) {
		s->host = name;
		s->host_bytes = n;
	}
	s->hosts |= n != s->host_bytes || strncmp(name, s->host, n) != 0;
	s->clusters |= strncmp(name, s->host, cluster + 1) != 0;
}

/* Ranks that are late often, the costliest first. */
static void leads_take(struct proposal *s)
{
	struct late_often *found = memory_new(COLOP_TOP_MOST, sizeof(*found));
	size_t n = lateness_often(s->colop->lateness, s->colop->least, found, COLOP_TOP_MOST);

	for (size_t i = 0; i < n && i < COLOP_TOP_MOST && s->n_leads < LEADS_MOST; i++) {
		int32_t rank = attendance_rank(s->colop->attendance, found[i].member->process);
		bool known = rank < 0;

		for (size_t k = 0; k < s->n_leads; k++)
			known |= s->leads[k] == rank;
		if (!known)
			s->leads[s->n_leads++] = rank;
	}
	free(found);
}

static bool is_proposed(const struct proposal *s, unsigned kind)
{
	return s->operations[kind] >= OPERATIONS_LEAST &&
	       lateness_share(s->colop->lateness, s->cost[kind]) >= s->colop->least;
}

/* ---- its text ---- */

static char *text_make(const struct proposal *s)
{
	static const char *const names[STEER_KINDS] = STEER_NAMES;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		abort();
	fputs("steer", out);
	for (unsigned kind = 0; kind < STEER_KINDS; kind++)
		if (is_proposed(s, kind))
			fprintf(out, " %s", names[kind]);
	fputs(" {\n", out);
	if (s->all_world)
		fputs("\tcommunicator world;\n", out);
	fputs("\tbytes at most " BYTES_MOST ";\n", out);
	if (s->n_leads > 0)
		fputs("\tlead", out);
	for (size_t i = 0; i < s->n_leads; i++)
		fprintf(out, " rank%d", (int)s->leads[i]);
	fputs(s->n_leads > 0 ? ";\n}\n" : "}\n", out);
	if (fclose(out) == EOF)
		abort();
	return text;
}

/* The mapping with @text before any other `steer`, for which the first that fits counts: in front.
 * What was put there before goes. */
static char *mapping_make(const char *mapping, const char *text)
{
	const char *begin = strstr(mapping, BEGIN), *end = begin ? strstr(begin, END) : NULL;

	if (!end)
		return memory_format(BEGIN "%s" END "%s", text, mapping);
	return memory_format("%.*s" BEGIN "%s" END "%s", (int)(begin - mapping), mapping, text,
			     end + strlen(END));
}

/* ---- applying ---- */

struct applying {
	struct evspace_connection *connection;
	const char *text;
	int code;
	uint64_t generation;
	unsigned stayed; /* hosts that could not be told */
	char *application, *cluster, *mapping;
};

static void map_taken(const struct evspace_reply *reply, void *arg)
{
	struct applying *a = arg;
	const struct evspace_texts *now = &reply->map->texts;

	if (!options_answered("evspace colop", reply, &a->code))
		return;
	a->generation = reply->map->generation;
	if (!now->mapping || reply->map->hidden)
		return;
	a->application = memory_copy(now->application);
	a->cluster = memory_copy(now->cluster);
	a->mapping = mapping_make(now->mapping, a->text);
}

static void map_applied(const struct evspace_reply *reply, void *arg)
{
	struct applying *a = arg;

	if (!options_answered("evspace colop", reply, &a->code))
		return;
	a->generation = reply->applied->generation;
	a->stayed = (unsigned)reply->applied->n_unchanged;
	for (unsigned i = 0; i < a->stayed; i++)
		fprintf(stderr, "evspace colop: %s stays as it was: %s\n",
			reply->applied->unchanged[i].node, reply->applied->unchanged[i].why);
}

static int proposal_apply(const struct colop *c, const char *text)
{
	struct applying a = {.connection = evspace_connect(&c->follow.common.look), .text = text};
	struct evspace_texts texts;
	struct evspace_apply apply = {.texts = &texts};

	evspace_map(a.connection, map_taken, &a);
	(void)evspace_wait(a.connection, -1);
	if (a.code == EXIT_FINE && !a.mapping) {
		fputs("evspace colop: the agent does not show its map; that takes the role "
		      "control\n",
		      stderr);
		a.code = EXIT_BAD_NEWS;
	}
	if (a.code == EXIT_FINE) {
		texts = (struct evspace_texts){a.application, a.cluster, a.mapping};
		apply.expected = a.generation;
		evspace_apply(a.connection, &apply, map_applied, &a);
		(void)evspace_wait(a.connection, -1);
	}
	if (a.code == EXIT_FINE)
		fprintf(stderr,
			"evspace colop: in effect as map generation %llu, as soon as ranks agree; "
			"evspace map rollback takes it back\n",
			(unsigned long long)a.generation);
	evspace_disconnect(a.connection);
	free(a.application);
	free(a.cluster);
	free(a.mapping);
	return a.code == EXIT_USAGE || a.stayed ? EXIT_BAD_NEWS : a.code;
}

/* ---- telling ---- */

static void proposal_print(const struct proposal *s, const char *text)
{
	json_t *leads = json_array();
	uint64_t all = 0;

	for (unsigned kind = 0; kind < STEER_KINDS; kind++)
		all += is_proposed(s, kind) ? s->operations[kind] : 0;
	for (size_t i = 0; i < s->n_leads; i++)
		json_array_append_new(leads, json_integer(s->leads[i]));
	if (s->colop->follow.common.json) {
		json_print(json_pack("{s:s,s:o,s:b,s:o,s:o}", "type", "suggestion", "operations",
				     json_count(all), "world", (int)s->all_world, "leads", leads,
				     "text", json_text(text)),
			   stdout);
		return;
	}
	json_decref(leads);
	printf("# of %llu operations between hosts of %s, %zu rank%s late often\n%s",
	       (unsigned long long)all, s->clusters ? "several clusters" : "one cluster",
	       s->n_leads, s->n_leads == 1 ? "" : "s", text);
}

int proposal_tell(const struct colop *c)
{
	struct proposal s = {.colop = c};
	const char *why = "ranks are all on one host, which the MPI knows how to use";
	bool any = false;
	char *text;
	int code;

	classes_take(&s);
	lateness_each(c->lateness, member_take, &s);
	leads_take(&s);
	for (unsigned kind = 0; kind < STEER_KINDS; kind++)
		any |= is_proposed(&s, kind);
	if (!any)
		why = "no collectives that can be steered, of up to " BYTES_MOST
		      ", take enough of the time (--least)";
	if (!any || !s.hosts) {
		fprintf(stderr, "evspace colop: nothing to propose: %s\n", why);
		return EXIT_BAD_NEWS;
	}
	text = text_make(&s);
	proposal_print(&s, text);
	code = c->apply ? proposal_apply(c, text) : EXIT_FINE;
	free(text);
	return code;
}
