/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace heartbeat: the paper's monitor, the last event of each thread compared over time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/watch/heartbeat.h"
#include "consumers/cli/options.h"
#include "consumers/cli/status-line.h"
#include "consumers/client/client-replay.h"
#include "pathmap/base/quantity.h"
#include "tree/data/clock.h"

static const char heartbeat_help[] =
	"usage: evspace heartbeat [options]\n"
	"\n"
	"Show what each thread of a run does now, for how long already, and who is stuck\n"
	"waiting for whom, until Ctrl-C or the run's end. A thread is stuck when it has\n"
	"been inside one operation for longer than --stuck-after; AWAITED is the one that\n"
	"others are stuck for while it does no communication. Ranks that call other\n"
	"collectives than the rest of their communicator, or with another root,\n"
	"reduction, datatype or size, are named at once.\n"
	"\n"
	"examples:\n"
	"  evspace heartbeat                              # the live run of this host\n"
	"  evspace heartbeat --check || mail -s stuck me  # exit code 1: one is stuck\n"
	"  evspace heartbeat --once --json | jq 'select(.stuck == true)'\n";

/* Calls of collectives that are compared with each other, some 40 MiB at most. */
#define AGREEMENT_MOST (1u << 18)

/* How long after its deadline the last answer of a check is waited for. */
#define LAST_NS 2000000000u

static int stuck_take(void *into, const char *value, struct error *e)
{
	struct heartbeat *h = into;
	uint64_t ns;

	if (quantity_duration(value, QUANTITY_SECONDS, &ns, e) < 0)
		return -1;
	h->stuck_after_ns = (int64_t)ns;
	return 0;
}

static int once_take(void *into, const char *value, struct error *e)
{
	struct heartbeat *h = into;

	(void)value;
	(void)e;
	h->common.count = 1;
	return 0;
}

static const struct option_row heartbeat_rows[] = {
	{"stuck-after", "TIME", .take = stuck_take,
	 .help = "how long in one operation is stuck (default 1s)"},
	{"check", .at = offsetof(struct heartbeat, check),
	 .help = "say only who is stuck, for whom, since when; exit code 1 if somebody is, "
		 "ranks disagree about a collective, processes ended without finishing "
		 "(MPI_Finalize, pvm_exit) or are not "
		 "collected, a host does not answer, or nobody has the run; 0 if all make "
		 "progress or came to an ordinary end (looks until a second after "
		 "--stuck-after, unless --count or --duration say otherwise; when that is too "
		 "short to know, exit code 1)"},
	{"once", .take = once_take, .help = "look once"},
	{0},
};

static const struct usage heartbeat_usage = {
	.help = heartbeat_help,
	.own = heartbeat_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
};

/* ---- one wave ---- */

static size_t heartbeat_members(void *arg, uint32_t comm, int32_t *members, size_t room)
{
	const struct heartbeat *h = arg;

	return evspace_members(h->client, comm, members, room);
}

/* A thread inside an operation at the first look has either gone on by the end, or is stuck. */
static void heartbeat_limit(struct heartbeat *h)
{
	h->end_ns = clock_mono_ns() + (uint64_t)h->stuck_after_ns + 1000000000u;
}

/* The first look that sees the run. With --wait, the whole time and all looks begin here. */
static void heartbeat_begin(struct heartbeat *h)
{
	h->begun = true;
	h->begun_ns = h->looked_ns;
	if (h->common.look.wait) {
		h->passed = evspace_wave(h->client)->number - 1;
		h->end_ns = h->end_ns ? h->begun_ns + h->common.duration_ns : 0;
	}
	if (h->timed)
		heartbeat_limit(h);
}

/* With --wait, a run that had ended before is not shown. */
static bool is_passed_over(const struct heartbeat *h)
{
	return heartbeat_is_waiting(h) && evspace_wave(h->client)->elements > 0;
}

/* Who is stuck, dead, or at odds with the others. */
static void judge(struct heartbeat *h)
{
	h->dead = h->stuck = 0;
	h->n_found = agreement_find(h->agreement, h->ended, &h->found);
	for (size_t i = 0; i < h->thread_states.fresh; i++)
		h->dead += h->thread_states.items[i].gone;
	if (h->ended && h->n_found)
		h->stuck = 0; /* that is why they have died */
	else if (h->ended)
		h->stuck = stall_autopsy(h->stall, h->thread_states.items, h->thread_states.fresh,
					 heartbeat_members, h);
	else
		h->stuck = stall_find(h->stall, h->thread_states.items, h->thread_states.fresh,
				      h->stuck_after_ns, heartbeat_members, h);
	if (!h->stuck)
		h->stuck_ns = 0;
	else if (!h->stuck_ns)
		h->stuck_ns = h->looked_ns;
}

/* A wave of an archive has what came up to it, also of a run that had ended when it was kept. */
static bool is_replay(const struct heartbeat *h)
{
	return client_replay_share(h->client) >= 0;
}

void heartbeat_take(struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);
	struct evspace_event ev;

	h->looked_ns = clock_mono_ns();
	/* it may have come and gone between two looks */
	if (!h->begun && (w->processes || (w->elements && h->none_yet)))
		heartbeat_begin(h);
	/* an archive begins before its program does */
	if (is_replay(h) && !h->begun && w->elements == 0)
		h->passed = w->number;
	h->none_yet = h->none_yet || (w->elements == 0 && w->n_missing == 0);
	h->dead = h->stuck = 0;
	if (heartbeat_is_waiting(h) && !h->check)
		standing_wait(&h->standing, "evspace heartbeat", &h->common);
	if (is_passed_over(h))
		return;
	h->run = standing_run(&h->standing, &h->common, h->client);
	thread_states_begin(&h->thread_states);
	while (evspace_event(h->client, &ev))
		disagreement_hear(h->agreement, h->client, &ev,
				  thread_states_add(&h->thread_states, &ev, w->number));
	thread_states_end(&h->thread_states, w->n_missing > 0);
	disagreement_locate(h->agreement, &h->thread_states);
	h->left = w->n_missing == 0 && w->processes == 0 && w->elements > 0;
	h->ended = h->left && !is_replay(h);
	judge(h);
}

bool heartbeat_is_told(const struct heartbeat *h)
{
	for (size_t i = 0; i < h->thread_states.fresh; i++) {
		const struct thread_state *p = &h->thread_states.items[i];

		if (p->stuck && (p->odd || p->culprit))
			return true;
	}
	for (size_t i = 0; i < h->n_found; i++) {
		if (h->found[i].majority)
			return true;
	}
	return h->stuck && h->looked_ns - h->stuck_ns >= (uint64_t)h->stuck_after_ns / 4;
}

/* ---- looking ---- */

/* A check ends with a look that was answered, or that is known not to be: if hosts fell silent
 * after the look before, that is not good news. */
static int look_last(struct heartbeat *h)
{
	const struct evspace_options *look = &h->common.look;
	uint64_t until = clock_mono_ns() + LAST_NS;
	int rc;

	until += (look->deadline_ms ? look->deadline_ms : 1000) * UINT64_C(1000000);
	if (look->rate_hz > 0)
		until += (uint64_t)(1e9 / look->rate_hz);
	rc = evspace_next(h->client, (int)((until - clock_mono_ns()) / 1000000u) + 1);
	/* else it was interrupted */
	h->silent = rc == 0 && clock_mono_ns() >= until;
	if (rc > 0)
		heartbeat_take(h);
	return rc < 0 ? rc : 0;
}

/* The time is over, or the user interrupts. */
static int look_end(struct heartbeat *h)
{
	if (h->check)
		return look_last(h);
	if (heartbeat_is_waiting(h))
		h->code = standing_none("evspace heartbeat", &h->common);
	else
		h->code = standing_end(&h->standing, "evspace heartbeat", &h->common, h->client);
	return 0;
}

static bool is_last(const struct heartbeat *h)
{
	return h->common.count && !heartbeat_is_waiting(h) &&
	       evspace_wave(h->client)->number >= h->passed + h->common.count;
}

/* Nothing more comes of an archive: this is how it was left. */
static void replay_end(struct heartbeat *h)
{
	h->ended = h->left;
	if (!h->ended)
		return;
	judge(h);
	if (!h->check)
		(void)heartbeat_show(h);
}

static int look_once(struct heartbeat *h)
{
	uint64_t now = clock_mono_ns();
	int left = -1, rc;

	if (h->end_ns && now >= h->end_ns)
		return look_end(h);
	if (h->end_ns)
		left = (int)((h->end_ns - now) / 1000000u) + 1;
	rc = evspace_next(h->client, left);
	status_line_clear();
	if (rc == 0 &&
	    ((h->end_ns && clock_mono_ns() >= h->end_ns) || (heartbeat_is_waiting(h) && !h->check)))
		return look_end(h);
	if (rc == 0 && is_replay(h) && !options_interrupted())
		replay_end(h);
	if (rc <= 0)
		return rc;
	options_note_remapped("heartbeat", &h->common, h->client);
	heartbeat_take(h);
	/* one look shows whether a thread is stuck; that all make progress takes the whole time */
	if (h->check)
		return !h->ended && !heartbeat_is_told(h) && !is_last(h);
	if (is_passed_over(h))
		return 1;
	h->code =
		standing_take(&h->standing, "evspace heartbeat", &h->common, h->client, is_last(h));
	/* only looks that are shown count */
	if (h->code < 0 && h->common.count && heartbeat_is_waiting(h))
		return 1;
	if ((h->common.json || !standing_is_empty(h->client)) &&
	    (!h->left || h->ended || is_last(h)) && heartbeat_show(h) < 0)
		return 0;
	toll_step(h->toll);
	return h->code < 0 && !h->ended && !is_last(h);
}

/* A check that has not seen all hosts and processes in its last look cannot say that all is
 * well. */
static bool is_whole(const struct heartbeat *h)
{
	const struct evspace_wave *w = evspace_wave(h->client);

	return w && w->n_missing == 0 && w->unreadable == 0 && !h->silent;
}

static int heartbeat_look(struct heartbeat *h)
{
	int rc;

	do
		rc = look_once(h);
	while (rc > 0);
	if (rc < 0)
		return options_ended("evspace heartbeat", h->client);
	if (!h->check)
		return h->code >= 0 ? h->code : EXIT_FINE;
	if (h->common.json)
		heartbeat_json(h, stdout);
	else
		heartbeat_verdict(h);
	if (h->common.json && !h->stuck && !heartbeat_is_known(h))
		heartbeat_unknown(h, stderr);
	if (h->stuck || h->dead || h->n_found || !is_whole(h) || !heartbeat_is_known(h) ||
	    (!h->ended && h->thread_states.fresh == 0))
		return EXIT_BAD_NEWS;
	return EXIT_FINE;
}

void heartbeat_init(struct heartbeat *h)
{
	*h = (struct heartbeat){
		.stuck_after_ns = 1000000000,
		.stall = stall_new(),
		.agreement = agreement_new(AGREEMENT_MOST),
		.written_rate = -1,
		.cost_share = -1,
		.cpu_share = -1,
		.code = -1,
		.run = "",
	};
}

void heartbeat_fini(struct heartbeat *h)
{
	thread_states_fini(&h->thread_states);
	stall_free(h->stall);
	agreement_free(h->agreement);
}

int heartbeat_main(int argc, char **argv)
{
	struct heartbeat h;
	int code;

	heartbeat_init(&h);
	h.common.look = (struct evspace_options){.view = "heartbeat", .rate_hz = 1};
	code = options_parse(argc, argv, &heartbeat_usage, &h, &h.common);
	if (code < 0)
		h.client = options_open(argv[0], &h.common, &code);
	if (!h.client) {
		heartbeat_fini(&h);
		return code;
	}
	options_catch_signals(h.client);
	h.timed = h.check && !h.common.count && !h.common.duration_ns;
	if (h.timed && !h.common.look.wait)
		heartbeat_limit(&h);
	if (h.common.duration_ns)
		h.end_ns = clock_mono_ns() + h.common.duration_ns;
	h.toll = toll_of(h.client, "heartbeat", h.common.json);
	h.redraw = isatty(STDOUT_FILENO) && !h.common.json;
	h.colour = h.redraw && !getenv("NO_COLOR");
	code = heartbeat_look(&h);
	heartbeat_summary(&h);
	toll_end(h.toll);
	toll_free(h.toll);
	options_close(&h.common, h.client);
	heartbeat_fini(&h);
	return code;
}
