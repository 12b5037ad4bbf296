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
#include "consumers/budget/blocks.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

#define AB_NS	   (60 * UINT64_C(1000000000))
#define BLOCK_NS   UINT64_C(1000000000)
#define LOOK_S	   1 /* to count collectives, and so often if there are none */
#define LOOKS	   5u
#define CONFIDENCE 0.95

static const char perturb_help[] =
	"usage: evspace perturb [options]\n"
	"\n"
	"Measure what collecting, and looking with --rate, do to the time of a running\n"
	"program's iterations: an experiment on the program itself. Blocks of collectives\n"
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
	"certificate (evspace-certs), or to be the agent's user on its host. Exit code 1\n"
	"when nothing could be measured.\n"
	"\n"
	"examples:\n"
	"  evspace perturb --ab 60s\n"
	"  evspace perturb --ab 5m --view heartbeat --rate 25 --json\n";

/* The experiment's arms. */
enum arm { ARM_OFF, ARM_AGAIN, ARM_COLLECT, ARM_OBSERVE, ARM_COUNT };

struct perturb {
	struct common common;
	uint64_t ab_ns, block_ns;
	struct evspace_connection *control;
	struct evspace_client *told, *view; /* of the blocks; of the observing arm, or NULL */
	uint64_t calls, before;		    /* collectives of all processes, and a second ago */
	unsigned processes;
	unsigned refused; /* processes in which it did not begin */
	struct evspace_trial trial;
	struct blocks *blocks;
	int code;
	uint64_t waves;
};

static const struct option_row perturb_rows[] = {
	{"ab", "TIME", OPTION_TIME, .at = offsetof(struct perturb, ab_ns),
	 .help = "how long to measure; else 60s"},
	{"block", "TIME", OPTION_TIME, .at = offsetof(struct perturb, block_ns),
	 .help = "how long a block is to be, about; else 1s"},
	{0},
};

static const struct usage perturb_usage = {
	.help = perturb_help,
	.after = perturb_more,
	.own = perturb_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
};

/* Ctrl-C ends the experiment, which is then reported. */
static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int perturb_end(struct perturb *p, enum exit_code code, const char *why)
{
	fprintf(stderr, "evspace perturb: %s\n", why);
	return p->code = code;
}

/* ---- the experiment's begin and end ---- */

static void classes_answered(const struct evspace_reply *reply, void *arg)
{
	struct perturb *p = arg;

	p->calls = 0;
	p->processes = 0;
	if (!options_answered("evspace perturb", reply, &p->code))
		return;
	for (size_t i = 0; i < reply->switched->n_hosts; i++)
		p->processes += reply->switched->hosts[i].processes;
	for (size_t i = 0; i < reply->switched->n_classes; i++)
		p->calls += reply->switched->classes[i].calls;
}

static void trial_answered(const struct evspace_reply *reply, void *arg)
{
	struct perturb *p = arg;

	if (!options_answered("evspace perturb", reply, &p->code))
		return;
	for (size_t i = 0; i < reply->switched->n_hosts; i++) {
		const struct evspace_host_reply *h = &reply->switched->hosts[i];

		if (h->missing || h->text[0])
			fprintf(stderr, "evspace perturb: %s: %s\n", h->name,
				h->text[0] ? h->text : h->missing);
		p->refused += h->missing ? 1 : h->processes - h->changed;
	}
}

/* Wait for what was asked. Returns whether it was answered. */
static bool perturb_await(struct perturb *p)
{
	(void)evspace_wait(p->control, -1);
	return p->code == EXIT_FINE;
}

static bool count_calls(struct perturb *p)
{
	static const char *const classes[] = {"collective@world"};
	struct evspace_among among = options_among(&p->common.look);

	among.view = NULL;
	evspace_switch(p->control, &among, classes, 1, EVSPACE_AS_IT_IS, classes_answered, p);
	return perturb_await(p);
}

static bool order(struct perturb *p)
{
	struct evspace_among among = options_among(&p->common.look);

	among.view = NULL;
	evspace_try(p->control, &among, &p->trial, trial_answered, p);
	return perturb_await(p);
}

/* Count the collectives of a process in a second, or in up to LOOKS if there are none. Returns how
 * many there were each second; 0: none, or after a message with an exit code. */
static double count_each(struct perturb *p)
{
	uint64_t since = clock_mono_ns(), first;

	if (!count_calls(p))
		return 0;
	first = p->calls;
	for (unsigned i = 0; i < LOOKS && p->processes > 0 && p->calls <= first; i++) {
		sleep(LOOK_S);
		if (!count_calls(p))
			return 0;
	}
	if (p->processes == 0 || p->calls <= first)
		return 0;
	return (double)(p->calls - first) / p->processes * 1e9 / (double)(clock_mono_ns() - since);
}

/* Find out how many collectives there are in a block. Returns EXIT_FINE, or the exit code after a
 * message. */
static int perturb_plan(struct perturb *p)
{
	double each = count_each(p);
	struct blocks_plan plan;

	if (p->code != EXIT_FINE)
		return p->code;
	if (p->processes == 0)
		return perturb_end(p, EXIT_BAD_NEWS, "there is no live program to measure");
	if (each <= 0)
		return perturb_end(
			p, EXIT_BAD_NEWS,
			"the program makes no collectives on MPI_COMM_WORLD now, so there "
			"is nothing to tell its iterations by");
	plan = blocks_plan(each, (double)p->block_ns / 1e9, p->view ? ARM_COUNT : ARM_OBSERVE,
			   clock_mono_ns());
	plan.again = true;
	p->trial = (struct evspace_trial){
		.arms = {EVSPACE_OFF, EVSPACE_OFF, EVSPACE_TRACE, EVSPACE_TRACE},
		.n_arms = plan.arms,
		.length = plan.length,
		.wash = plan.wash,
		.seed = plan.seed,
		.lease_ms = (unsigned)(p->ab_ns / 1000000 + 10000),
	};
	p->blocks = blocks_new(&plan, p->processes);
	return EXIT_FINE;
}

/* Open a view. Returns NULL after a message. */
static struct evspace_client *perturb_open(struct perturb *p, bool told)
{
	static const char *const regions[] = {"/**/user"};
	struct common common = p->common;

	if (told) {
		common.look.view = "events";
		common.look.define = NULL;
		common.look.select = regions;
		common.look.n_select = 1;
		common.look.rate_hz = 4;
		common.look.hurry = 0;
	}
	return options_open("evspace perturb", &common, &p->code);
}

/* ---- measuring ---- */

/* Take what has come of blocks. Returns evspace_next(). */
static int take_blocks(struct perturb *p, int timeout_ms)
{
	int rc = evspace_next(p->told, timeout_ms);
	struct evspace_event event;

	while (rc == 1 && evspace_event(p->told, &event))
		if (strcmp(event.op, "evspace_block") == 0)
			blocks_add(p->blocks, event.seq_or_tag, event.peer, event.start_ns,
				   event.end_ns);
	return rc;
}

static void print_progress(const struct perturb *p, uint64_t spent_ns)
{
	struct effect_interval i = blocks_effect(p->blocks, ARM_COLLECT, CONFIDENCE);

	fprintf(stderr, "\r%3.0f of %.0f s, %llu rounds: collecting %+.2f %% (%+.2f to %+.2f)   ",
		(double)spent_ns / 1e9, (double)p->ab_ns / 1e9, (unsigned long long)i.n,
		i.estimate * 100, i.low * 100, i.high * 100);
}

/* Returns EXIT_FINE, or the exit code after a message. */
static int perturb_measure(struct perturb *p)
{
	uint64_t since = clock_mono_ns(), spent = 0, said = 0;
	bool shows = isatty(STDERR_FILENO) && !p->common.json;
	int rc = 1;

	while (rc >= 0 && spent < p->ab_ns && !stopped) {
		bool looks =
			p->view && blocks_arm_now(p->blocks, clock_real_ns(), NULL) == ARM_OBSERVE;

		if (looks) {
			rc = evspace_next(p->view, 50);
			p->waves += rc == 1;
		}
		if (rc >= 0)
			rc = take_blocks(p, looks ? 0 : 50);
		spent = clock_mono_ns() - since;
		if (shows && spent - said > UINT64_C(1000000000)) {
			print_progress(p, spent);
			said = spent;
		}
	}
	if (shows)
		fputs("\n", stderr);
	if (rc < 0)
		return perturb_end(p, EXIT_NO_CONNECTION, evspace_why(p->told));
	return EXIT_FINE;
}

/* ---- output ---- */

static const char *const arm_names[ARM_COUNT] = {"off", "off again", "collect", "observe"};

static const char *percent(char buf[UNIT_TEXT], double share)
{
	if (isfinite(share))
		snprintf(buf, UNIT_TEXT, "%+.2f %%", share * 100);
	else
		snprintf(buf, UNIT_TEXT, "-");
	return buf;
}

static json_t *json_share(double share)
{
	return isfinite(share) ? json_real(share) : json_null();
}

static void print_json(const struct perturb *p)
{
	for (unsigned arm = ARM_AGAIN; arm < p->trial.n_arms; arm++) {
		struct effect_interval i = blocks_effect(p->blocks, arm, CONFIDENCE);

		json_print(json_pack("{s:s,s:s,s:I,s:o,s:o,s:o,s:o,s:f,s:i,s:i}", "type", "effect",
				     "arm", arm_names[arm], "rounds", (json_int_t)i.n, "slowdown",
				     json_share(i.n ? i.estimate : NAN), "low", json_share(i.low),
				     "high", json_share(i.high), "visible", json_share(i.visible),
				     "confidence", CONFIDENCE, "length", (int)p->trial.length,
				     "processes", (int)p->processes),
			   stdout);
	}
}

static void print_text(const struct perturb *p)
{
	static const char *const heads[] = {"", "slowdown", "from", "to", "rounds"};
	char a[UNIT_TEXT], b[UNIT_TEXT], c[UNIT_TEXT];
	struct effect_interval null = blocks_effect(p->blocks, ARM_AGAIN, CONFIDENCE);
	struct table table;

	table_heads(&table, NULL, heads, 5);
	for (unsigned arm = ARM_AGAIN; arm < p->trial.n_arms; arm++) {
		struct effect_interval i = blocks_effect(p->blocks, arm, CONFIDENCE);

		table_cell(&table, "%s", arm_names[arm]);
		table_cell(&table, "%s", percent(a, i.estimate));
		table_cell(&table, "%s", percent(b, i.low));
		table_cell(&table, "%s", percent(c, i.high));
		table_cell(&table, "%llu", (unsigned long long)i.n);
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

static int perturb_report(struct perturb *p)
{
	if (blocks_effect(p->blocks, ARM_AGAIN, CONFIDENCE).n < EFFECT_PAIRS_LEAST)
		fprintf(stderr,
			"evspace perturb: %llu rounds are too few for an interval, which needs %u: "
			"measure longer (--ab), or in shorter blocks (--block)\n",
			(unsigned long long)blocks_effect(p->blocks, ARM_AGAIN, CONFIDENCE).n,
			EFFECT_PAIRS_LEAST);
	if (p->common.json)
		print_json(p);
	else
		print_text(p);
	return blocks_effect(p->blocks, ARM_AGAIN, CONFIDENCE).n < EFFECT_PAIRS_LEAST
		       ? EXIT_BAD_NEWS
		       : EXIT_FINE;
}

/* All but opening and closing. */
static int perturb_run(struct perturb *p)
{
	int code = perturb_plan(p);

	if (code != EXIT_FINE)
		return code;
	if (!order(p))
		return p->code;
	if (p->refused == 0)
		code = perturb_measure(p);
	p->trial.n_arms = 0;
	p->code = EXIT_FINE;
	if (p->refused)
		code = perturb_end(p, EXIT_BAD_NEWS, "the experiment did not begin everywhere");
	(void)order(p);
	p->trial.n_arms = p->view ? ARM_COUNT : ARM_OBSERVE;
	return code == EXIT_FINE ? perturb_report(p) : code;
}

int perturb_main(int argc, char **argv)
{
	struct perturb p = {.ab_ns = AB_NS, .block_ns = BLOCK_NS, .code = EXIT_FINE};
	int code = options_parse(argc, argv, &perturb_usage, &p, &p.common);

	if (code >= 0)
		return code;
	catch_signals();
	p.told = perturb_open(&p, true);
	if (p.told && p.common.rate_said)
		p.view = perturb_open(&p, false);
	code = p.code;
	if (p.told && (p.view || !p.common.rate_said)) {
		p.control = evspace_connect(&p.common.look);
		code = perturb_run(&p);
		evspace_disconnect(p.control);
	}
	evspace_close(p.view);
	options_close(&p.common, p.told);
	blocks_free(p.blocks);
	return code;
}
