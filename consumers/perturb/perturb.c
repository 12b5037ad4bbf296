/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace perturb: what collecting and looking do to the time of a running program's iterations. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "consumers/perturb/bracket.h"
#include "consumers/perturb/direct.h"
#include "consumers/perturb/experiment.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

#define BLOCK_NS   UINT64_C(1000000000)
#define CONFIDENCE 0.95

static const char perturb_help[] =
	"usage: evspace perturb [options]\n"
	"\n"
	"Say what collecting a running program, and looking at it, cost by direct\n"
	"measurement: collectors' own time, agents' processor time, context switches,\n"
	"bytes of each link and view; then, of events that it reads for as long again,\n"
	"how much of the collectors' time delays all, as it was on the rank that arrived\n"
	"last in a collective. Nothing is switched.\n"
	"\n"
	"With --ab: measure what they do to the time of the program's iterations, waiting\n"
	"included, by an experiment on the program itself. Blocks of collectives\n"
	"on MPI_COMM_WORLD, the same ones on all ranks, come with collecting off, off\n"
	"once more, on, and on while a view is looked at, in random order; the first\n"
	"quarter of each block does not count. Then all is as before, also when this\n"
	"command dies.\n"
	"\n"
	"Each slowdown comes with an interval that holds it with 95 % however often it is\n"
	"looked at, so Ctrl-C may end the experiment when it says enough. That of \"off\n"
	"again\" holds 0, if the machine lets one compare at all; a slowdown within it\n"
	"cannot be told from none.\n";

static const char perturb_more[] =
	"While it lasts, only collectives and, while collecting is on, all else is\n"
	"recorded; heartbeat shows little in blocks that are off. Needs a control\n"
	"certificate (evspace-certs), or to be the agent's user on its host. If the\n"
	"program ends meanwhile, what was measured until then is printed. Exit code 1\n"
	"when that is nothing, or too little.\n"
	"\n"
	"examples:\n"
	"  evspace perturb\n"
	"  evspace perturb --collector\n"
	"  evspace perturb --ab 60s\n"
	"  evspace perturb --ab 5m --view heartbeat --rate 25 --json\n";

static const struct option_row perturb_rows[] = {
	{"ab", "TIME", OPTION_SPAN, .at = offsetof(struct experiment, ab_ns),
	 .help = "make the experiment, for so long; without it, measure directly, twice for "
		 "--duration, else 2s"},
	{"collector", NULL, OPTION_FLAG, .at = offsetof(struct experiment, collector),
	 .help = "instead, measure what one collector of a gather tree takes on each host, in "
		 "its place between two others, for --duration, else 2s"},
	{"block", "TIME", OPTION_SPAN, .at = offsetof(struct experiment, block_ns),
	 .help = "how long a block is to be, about; else 1s"},
	{0},
};

static const struct usage perturb_usage = {
	.help = perturb_help,
	.after = perturb_more,
	.own = perturb_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
	.lacks = " from speed budget count monitored wait ",
	.live = "it switches what a running program collects, and measures that; of archives, "
		"evspace entropy --samples compares what was sampled",
};

static const char *const arm_names[EXPERIMENT_ARMS] = {"off", "off again", "collect", "observe"};

static const char *percent(char buf[UNIT_TEXT], double share)
{
	if (isfinite(share))
		snprintf(buf, UNIT_TEXT, "%+.2f %%", share * 100);
	else
		snprintf(buf, UNIT_TEXT, "-");
	return buf;
}

static const char *verdict(const struct effect_interval *i)
{
	return i->low > 0 ? "slower" : i->high < 0 ? "faster" : "cannot tell";
}

static void print_json(const struct experiment *p)
{
	for (unsigned arm = EXPERIMENT_AGAIN; arm < p->trial.n_arms; arm++) {
		struct effect_interval i = experiment_effect(p, arm);

		json_print(json_pack("{s:s,s:s,s:I,s:o,s:o,s:o,s:o,s:s,s:f,s:i,s:i}", "type",
				     "effect", "arm", arm_names[arm], "rounds", (json_int_t)i.n,
				     "slowdown", json_number(i.n ? i.estimate : NAN), "low",
				     json_number(i.low), "high", json_number(i.high), "visible",
				     json_number(i.visible), "verdict", verdict(&i), "confidence",
				     EXPERIMENT_CONFIDENCE, "length", (int)p->trial.length,
				     "processes", (int)p->processes),
			   stdout);
	}
}

static void print_text(const struct experiment *p)
{
	static const char *const heads[] = {"", "slowdown", "from", "to", "rounds", ""};
	char a[UNIT_TEXT], b[UNIT_TEXT], c[UNIT_TEXT];
	struct effect_interval null = experiment_effect(p, EXPERIMENT_AGAIN);
	struct table table;

	table_heads(&table, NULL, heads, 6);
	for (unsigned arm = EXPERIMENT_AGAIN; arm < p->trial.n_arms; arm++) {
		struct effect_interval i = experiment_effect(p, arm);

		table_cell(&table, "%s", arm_names[arm]);
		table_cell(&table, "%s", percent(a, i.n ? i.estimate : NAN));
		table_cell(&table, "%s", percent(b, i.low));
		table_cell(&table, "%s", percent(c, i.high));
		table_cell(&table, "%llu", (unsigned long long)i.n);
		table_cell(&table, "%s", verdict(&i));
	}
	table_print(&table, stdout);
	table_fini(&table);
	if (isfinite(null.visible))
		table_say(stdout,
			  "In %llu rounds of blocks of %u collectives, what is below %.2f %% "
			  "cannot be told from nothing.",
			  (unsigned long long)null.n, p->trial.length, null.visible * 100);
	if (null.low > 0 || null.high < 0)
		table_say(stdout, "Off differs from off again: something else on the machine keeps "
				  "step with the blocks. Try another --block.");
}

static int perturb_report(struct experiment *p)
{
	uint64_t rounds = experiment_effect(p, EXPERIMENT_AGAIN).n;

	if (rounds < EFFECT_PAIRS_LEAST)
		fprintf(stderr,
			"evspace perturb: %s%llu rounds are too few for an interval, which needs "
			"%u, each %u blocks of %u collectives: measure longer (--ab), or in "
			"shorter blocks (--block)" EXPERIMENT_ELSE "\n",
			rounds ? "" : "nothing can be compared: ", (unsigned long long)rounds,
			EFFECT_PAIRS_LEAST, p->trial.n_arms, p->trial.length);
	if (p->common.json)
		print_json(p);
	else if (rounds > 0)
		print_text(p);
	return rounds < EFFECT_PAIRS_LEAST ? EXIT_BAD_NEWS : EXIT_FINE;
}

/* Does it honour all that was said? Else says what it does not. */
static bool perturb_check(const struct experiment *p)
{
	const char *wrong = NULL;

	if (p->collector && (p->ab_ns || p->common.look.view || p->common.look.define))
		wrong = "--collector goes with neither --ab nor a view: it has one of its own";
	else if (p->ab_ns && p->common.duration_ns)
		wrong = "--ab or --duration, not both: each says how long";
	else if (!p->ab_ns && p->common.rate_said)
		wrong = "--rate needs --ab TIME: without the experiment nothing is looked at";
	else if (p->common.look.view && !p->common.rate_said)
		wrong = "a view needs --ab TIME --rate HZ: how often to look at it in the "
			"experiment";
	if (wrong)
		fprintf(stderr, "evspace perturb: %s\n", wrong);
	return !wrong;
}

int perturb_main(int argc, char **argv)
{
	struct experiment p = {.command = "evspace perturb",
			       .block_ns = BLOCK_NS,
			       .mode = EVSPACE_TRACE,
			       .code = EXIT_FINE};
	int code = options_parse(argc, argv, &perturb_usage, &p, &p.common);

	if (code >= 0)
		return code;
	if (!perturb_check(&p))
		return EXIT_USAGE;
	if (p.collector)
		return bracket_run(&p.common);
	if (!p.ab_ns)
		return direct_run(&p.common);
	code = experiment_open(&p);
	if (code == EXIT_FINE && p.common.rate_said)
		code = experiment_view(&p);
	if (code == EXIT_FINE)
		code = experiment_run(&p);
	if (code == EXIT_FINE)
		code = perturb_report(&p);
	experiment_close(&p);
	return code;
}
