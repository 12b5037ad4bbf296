/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace discard: drops what elements hold, for all consumers: the paper's explicit removal. */
#include <stdio.h>
#include <stdlib.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "pathmap/base/quantity.h"

static const char discard_help[] =
	"usage: evspace discard [options]\n"
	"\n"
	"Discard the events that the elements of a view hold now: nobody gets them any\n"
	"more. They are counted as discarded wherever they would have been read; what\n"
	"comes later is not touched. Needs a control certificate (evspace-certs), or to\n"
	"be the agent's user on its host. Exit code 1 when a host does not answer, or\n"
	"nothing was selected.\n"
	"\n"
	"examples:\n"
	"  evspace discard                                 # all of the run\n"
	"  evspace discard --select '/**/rank[0-3]/**'     # of some ranks\n"
	"  evspace discard --view volume --select '/**/p2p.MPI_Send'\n";

static const struct usage discard_usage = {
	.help = discard_help,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW,
	.live = "it drops what elements hold; evspace archive --keep, or rm, drops archives"};

static void print_host(const struct evspace_host_reply *h, const char *run, bool json)
{
	if (h->missing)
		fprintf(stderr, "evspace discard: %s does not answer\n", h->name);
	else if (h->text[0])
		fprintf(stderr, "evspace discard: %s: %s\n", h->name, h->text);
	if (!json) {
		if (!h->missing)
			printf("%s: %llu tuple%s of %u element%s of %u process%s\n", h->name,
			       (unsigned long long)h->discarded, plural(h->discarded, "s"),
			       h->changed, plural(h->changed, "s"), h->processes,
			       plural(h->processes, "es"));
		return;
	}
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:i,s:i,s:I}", "type", "host", "run", json_text(run),
			     "host", json_text(h->name), "missing", json_text(h->missing),
			     "processes", (int)h->processes, "elements", (int)h->changed,
			     "discarded", (json_int_t)h->discarded),
		   stdout);
}

/* Print the result. Returns the exit code. */
static int print(const struct evspace_switched *s, bool json)
{
	uint32_t elements = 0;
	bool bad = false;

	for (size_t i = 0; i < s->n_hosts; i++) {
		const struct evspace_host_reply *h = &s->hosts[i];

		print_host(h, s->run, json);
		elements += h->changed;
		bad |= h->missing || h->text[0];
	}
	if (elements == 0 && !s->run[0])
		fprintf(stderr, "evspace discard: there is no run yet\n");
	else if (elements == 0)
		fprintf(stderr, "evspace discard: run %s has no element that is selected\n",
			s->run);
	return bad || elements == 0 ? EXIT_BAD_NEWS : EXIT_FINE;
}

struct discard_run {
	struct common common;
	int code;
};

static void discard_answered(const struct evspace_reply *reply, void *arg)
{
	struct discard_run *d = arg;

	if (options_answered("evspace discard", reply, &d->code))
		d->code = print(reply->switched, d->common.json);
}

int discard_main(int argc, char **argv)
{
	struct discard_run d = {.code = EXIT_FINE};
	int code = options_parse(argc, argv, &discard_usage, &d.common, &d.common);
	struct evspace_connection *connection;
	struct evspace_among among;

	if (code >= 0)
		return code;
	among = options_among(&d.common.look);
	connection = evspace_connect(&d.common.look);
	evspace_discard(connection, &among, discard_answered, &d);
	options_await(connection);
	return d.code;
}
