/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace colop: the paper's ColOpMon (5.3) for unmodified programs. */
#include "consumers/colop/colop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/client/client-replay.h"
#include "consumers/colop/proposal.h"
#include "node-agent/pastset/evspace-element.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

static const char colop_help[] =
	"usage: evspace colop [options]\n"
	"\n"
	"Say who is late in collective operations, until Ctrl-C or the run's end: each\n"
	"operation is joined over the ranks of its communicator, by its number there.\n"
	"Then a table has, by operation, communicator, call site and size, how far apart\n"
	"ranks came, how long they waited, and how long it took once all were there; and\n"
	"there is a sentence for each rank that is late often, and for each that was late\n"
	"once by more than is usual.\n"
	"\n"
	"Times are compared only as far as clocks allow: what is within their error bound\n"
	"is neither early nor late. What is told is so with a probability of 99 %.\n"
	"\n"
	"examples:\n"
	"  evspace colop                                # the live run, until Ctrl-C\n"
	"  evspace colop --watch                        # the table anew each second\n"
	"  evspace colop --backlog --until-end          # all of a run\n"
	"  evspace colop --check --max-spread 5ms       # exit code 1 if they came apart\n"
	"  evspace colop --show world#1200              # who came and left that one when\n"
	"  evspace colop --suggest                      # a better tree, for the map\n"
	"  evspace colop --reduced                      # joined on the way, fewer bytes\n"
	"  evspace colop --messages --wait              # late senders and receivers, too\n"
	"  evspace colop --into late                    # for others, in an element\n"
	"\n"
	"JSON: \"type\" is late (a rank was late in one operation), then at the end class\n"
	"(operations of one kind), member (a rank in these), often (a rank that is late\n"
	"often), with --messages messages (of one rank to another) and matched, of\n"
	"several hosts clocks (what operations say of these), and summary; with --show\n"
	"instance, and arrival for each rank; times are in ns.\n";

/* With which all that is told together is so. */
#define CONFIDENCE 0.99

/* What is told unless --top and --least say otherwise. */
#define TOP   10u
#define LEAST 0.001

/* Most arrivals that are kept, of open operations and until they are in order: 300 MB. */
#define ARRIVALS_MOST 1000000u

#define CHECK_NS  UINT64_C(10000000000)
#define REDRAW_NS UINT64_C(1000000000)

/* So many waves may bring what was before that which has come. */
#define PASSED_WAVES 3u

#define COLLECTIVE "/**/collective"

/* What is looked at; all but the first two for messages. What had no element is lost. */
static const char *const kinds[] = {COLLECTIVE, "/**/overflow/**", "/**/p2p", "/**/wait",
				    "/**/completion"};

#define KINDS		 (sizeof(kinds) / sizeof(kinds[0]))
#define KINDS_COLLECTIVE 2

static int take_least(void *into, const char *value, struct error *e)
{
	struct colop *c = into;

	if (strcmp(value, "0") != 0)
		return quantity_share(value, &c->least, e);
	c->least = 0;
	return 0;
}

static int take_show(void *into, const char *value, struct error *e)
{
	return instance_parse(&((struct colop *)into)->instance, value, e);
}

static int take_plot(void *into, const char *path, struct error *e)
{
	((struct colop *)into)->plot = path;
	return picture_check(path, e);
}

static const struct option_row colop_rows[] = {
	{"watch", .at = offsetof(struct colop, watch),
	 .help = "show what is known so far each second"},
	{"check", .at = offsetof(struct colop, check),
	 .help = "exit code 1 if ranks came further apart than --max-spread, or, without that, one "
		 "is late often; also if no operation could be judged (looks for 10 s, unless "
		 "--duration, --count or --until-end say otherwise)"},
	{"max-spread", "TIME", OPTION_SPAN, .at = offsetof(struct colop, max_spread_ns),
	 .help = "with --check: how far apart the ranks of an operation may come, such as 5ms"},
	{"show", "COMM#N", .take = take_show,
	 .help = "show one operation alone, by its communicator and number there: when each rank "
		 "came and left, and how long it waited (looks at what elements still hold, too; "
		 "exit code 1 if it does not come)"},
	{"plot", "FILE", .take = take_plot,
	 .help = "draw what --show shows, too: FILE.svg or FILE.png"},
	{"suggest", .at = offsetof(struct colop, suggest),
	 .help = "say instead how mapping.map could steer them: which operations, and which ranks, "
		 "as they are late often, to put on top (looks for 10 s, as --check; exit code 1 "
		 "if there is nothing to propose)"},
	{"apply", .at = offsetof(struct colop, apply),
	 .help = "--suggest, and put that into the map in effect while programs run (control); "
		 "evspace map rollback takes it back"},
	{"reduced", .at = offsetof(struct colop, reduced),
	 .help = "have operations joined on their way (view meet), so that a record for each comes "
		 "instead of all events; does not tell of all ranks, nor who waits in reductions "
		 "and scans"},
	{"messages", .at = offsetof(struct colop, with_messages),
	 .help = "also say who sends or receives messages late (begins with what the elements "
		 "still hold; of ranks whose first events they do not have nothing is said)"},
	{"into", "NAME", OPTION_TEXT, .at = offsetof(struct colop, into),
	 .help = "write what is found into the element NAME of the run, on this host, too, for "
		 "others to read meanwhile (evspace element read NAME --follow): who was late "
		 "once, "
		 "and, each second, who is late often"},
	{"least", "SHARE", .take = take_least,
	 .help = "say nothing of ranks that others wait for for less than this share of the time "
		 "of all (default 0.1%)"},
	{"top", "N", OPTION_COUNT, .at = offsetof(struct colop, top), .most = COLOP_TOP_MOST,
	 .help = "lines of the table and of each kind of sentence, those that cost most first "
		 "(default 10; JSON has all)"},
	{"backlog", NULL, OPTION_ONE, .at = offsetof(struct colop, follow.common.look.backlog),
	 .help = "begin with what the elements still hold (default: from now on)"},
	{"until-end", .at = offsetof(struct colop, follow.until_end),
	 .help = "end when all processes have ended and everything is read; a run that had ended "
		 "before ends it without this, unless --count or --duration say when"},
	{0},
};

static const struct usage colop_usage = {
	.help = colop_help,
	.own = colop_rows,
	.takes = OPTIONS_LOOK | OPTIONS_JSON | OPTIONS_VIEW | OPTIONS_WAVES,
};

/* ---- findings ---- */

static int compare_once(const void *a, const void *b)
{
	const struct late_once *x = a, *y = b;

	return (x->caused_ns < y->caused_ns) - (x->caused_ns > y->caused_ns);
}

static void take_once(void *arg, const struct late_once *late)
{
	struct colop *c = arg;

	c->all_once++;
	colop_into_once(c, late);
	if (c->follow.common.json && !c->instance.comm[0])
		colop_json_once(c, late);
	if (c->n_once < c->top)
		c->once[c->n_once++] = *late;
	else if (late->caused_ns > c->once[c->n_once - 1].caused_ns)
		c->once[c->n_once - 1] = *late;
	qsort(c->once, c->n_once, sizeof(*c->once), compare_once);
}

static void take_meeting(void *arg, const struct meeting *meeting)
{
	struct colop *c = arg;

	crossings_take(c->crossings, meeting);
	instance_take(&c->instance, c->follow.client, meeting);
	if (meeting->gap != MEETING_WHOLE)
		return;
	evenness_add(c->evenness, meeting->key.comm, meeting->key.number);
	lateness_add(c->lateness, meeting);
}

/* One in so many operations is known, if these are a fair sample; else only these are told of. */
static double scale_of(void *arg, uint32_t comm)
{
	const struct colop *c = arg;
	const double share = comm ? colop_recorded(c, comm) : 1;

	return share < 1 && evenness_is_fair(c->evenness, comm, share) ? 1 / share : 1;
}

static void scale(struct colop *c, bool end)
{
	(end ? counted_take : counted_look)(c->counted, evspace_run(c->follow.client));
	lateness_scale(c->lateness, scale_of, c);
}

/* Is it bad news? */
static bool is_bad(const struct colop *c)
{
	const struct lateness_class *const *classes;
	size_t n = lateness_classes(c->lateness, &classes);
	struct late_often *found;
	bool bad;

	if (!c->max_spread_ns) {
		found = memory_new(c->top, sizeof(*found));
		bad = n == 0 || lateness_often(c->lateness, c->least, found, c->top) > 0;
		free(found);
		return bad;
	}
	for (size_t i = 0; i < n; i++) {
		if (classes[i]->spread_most_ns > (double)c->max_spread_ns)
			return true;
	}
	return n == 0;
}

/* ---- one wave ---- */

static size_t members(void *arg, uint32_t comm, int32_t *list, size_t room)
{
	return evspace_members(arg, comm, list, room);
}

/* All events of a wave; returns whether there were any. */
static bool take_events(struct colop *c)
{
	bool any = arrivals_take(c->arrivals, c->follow.client);

	if (c->messages)
		messages_take(c->messages, c->follow.client);
	return any;
}

/* Has the one to show come, or will it not, as later ones have? Threads take turns. Or is there
 * nothing to come of what ended before looking began? */
static bool is_told(struct colop *c)
{
	const struct evspace_wave *w = evspace_wave(c->follow.client);
	const bool ended = w->processes == 0 && w->elements > 0 && w->n_missing == 0;

	c->passed += c->instance.passed && arrivals_are_read(c->follow.client);
	if (c->instance.found || c->passed > PASSED_WAVES)
		return true;
	if (!ended || c->follow.lived || c->follow.common.look.backlog || w->number > 1 ||
	    !(c->check || c->suggest))
		return false;
	table_say(stderr,
		  "evspace colop: the run has ended, so nothing comes any more; --backlog looks at "
		  "what its elements hold");
	return true;
}

static bool take_wave(void *arg, uint64_t *seen)
{
	struct colop *c = arg;
	struct follower *f = &c->follow;
	uint64_t now = clock_mono_ns();
	bool any;

	*seen = evspace_wave(f->client)->number;
	options_note_missing(f->command, &f->common, f->client);
	standing_note_unreadable(&f->standing, "evspace colop", f->client);
	follow_tell_loss(f);
	if (!colop_into_begin(c)) {
		c->into_failed = true;
		evspace_stop(f->client);
	}
	attendance_turn(c->attendance);
	any = c->reduced ? reduced_take(c, members) : take_events(c);
	colop_into_often(c, now);
	if (is_told(c))
		evspace_stop(f->client);
	if (c->watch && now - c->drawn_ns >= REDRAW_NS) {
		if (c->redraw)
			fputs("\033[H\033[2J", stdout);
		scale(c, false);
		colop_show(c, stdout);
		colop_say_sites(c, stdout);
		c->drawn_ns = now;
	}
	return any;
}

/* ---- all ---- */

static void begin(struct colop *c)
{
	struct common *common = &c->follow.common;

	if (!common->look.define && strcmp(common->look.view, "events") == 0 && c->reduced) {
		common->look.view = "meet";
	} else if (common->look.n_select == 0 && !common->look.define &&
		   strcmp(common->look.view, "events") == 0) {
		for (size_t i = 0; i < (c->with_messages ? KINDS : KINDS_COLLECTIVE); i++)
			common->select[i] = kinds[i];
		common->look.select = common->select;
		common->look.n_select = c->with_messages ? KINDS : KINDS_COLLECTIVE;
	}
	c->suggest |= c->apply;
	if ((c->check || c->suggest) && !common->duration_ns && !common->count &&
	    !c->follow.until_end)
		common->duration_ns = CHECK_NS;
	if (c->instance.comm[0] || c->with_messages)
		common->look.backlog = true;
	c->top = c->top ? c->top : TOP;
	c->least = c->least < 0 ? LEAST : c->least;
	c->redraw = c->watch && isatty(STDOUT_FILENO);
	c->once = memory_new(c->top, sizeof(*c->once));
	c->attendance = attendance_new();
	if (c->reduced)
		c->sums = reduced_new(c);
	else
		c->meetings = meetings_new(ARRIVALS_MOST, take_meeting, c);
	if (c->meetings)
		c->arrivals = arrivals_new(c->attendance, c->meetings, ARRIVALS_MOST);
	if (c->with_messages)
		c->messages = messages_new(c->attendance);
	c->counted = counted_new(&common->look);
	c->evenness = evenness_new();
	c->crossings = crossings_new();
	c->lateness = lateness_new(CONFIDENCE, take_once, c);
}

static int plot_instance(const struct colop *c)
{
	struct picture picture = {0};
	struct error e;
	int rc;

	instance_draw(&c->instance, c->follow.client, c->attendance, &picture);
	rc = picture_write(&picture, c->plot, &e);
	picture_fini(&picture);
	if (rc == 0)
		return EXIT_FINE;
	fprintf(stderr, "evspace colop: %s\n", e.text);
	return EXIT_BAD_NEWS;
}

/* That one operation. Returns the exit code. */
static int tell_instance(const struct colop *c)
{
	if (!c->instance.found) {
		table_say(stderr,
			  "evspace colop: %s#%u has not come; evspace colop names some, and "
			  "evspace events --backlog --select '" COLLECTIVE
			  "' has all that elements hold",
			  c->instance.comm, c->instance.meeting.key.number);
		return EXIT_BAD_NEWS;
	}
	if (c->follow.common.json)
		instance_json(&c->instance, c->attendance);
	else
		instance_show(&c->instance, c->follow.client, c->attendance);
	if (!c->follow.common.json)
		colop_say_sites(c, stderr);
	return c->plot ? plot_instance(c) : EXIT_FINE;
}

static void tell(struct colop *c)
{
	if (c->follow.common.json) {
		colop_json_end(c);
		return;
	}
	colop_show(c, stdout);
	colop_account(c, stderr);
}

static void end(struct colop *c)
{
	options_close(&c->follow.common, c->follow.client);
	arrivals_free(c->arrivals);
	meetings_free(c->meetings);
	meeting_sums_free(c->sums);
	messages_free(c->messages);
	counted_free(c->counted);
	evenness_free(c->evenness);
	crossings_free(c->crossings);
	lateness_free(c->lateness);
	attendance_free(c->attendance);
	instance_fini(&c->instance);
	evspace_element_close(c->element);
	free(c->once);
}

/* What does not go together, and what would do nothing. Returns 0, or -1 after a message. */
static int options_check(const struct colop *c)
{
	const bool one = c->instance.comm[0], json = c->follow.common.json;
	const bool suggest = c->suggest || c->apply;
	const struct {
		bool wrong;
		const char *why;
	} rows[] = {
		{c->plot && !one, "--plot draws one operation: add --show COMM#N"},
		{suggest && one, "--suggest and --show are two things"},
		{c->reduced && (suggest || one),
		 "--reduced does not tell of all ranks, as --show and --suggest need"},
		{c->with_messages && (c->reduced || suggest || one),
		 "--messages goes with neither --reduced, --show nor --suggest"},
		{c->into && (suggest || one),
		 "--into is about findings, which --show and --suggest do not have"},
		{c->into && client_replay_folder(c->follow.common.look.connect),
		 "--into writes into the run that is looked at, which an archive is not"},
		{c->apply && client_replay_folder(c->follow.common.look.connect),
		 "an archive has no map to put it into; --suggest says what it would be"},
		{c->check && (suggest || one),
		 "--check looks at all operations, --show and --suggest do not"},
		{c->max_spread_ns && !c->check, "--max-spread is a bound for --check: add that"},
		{c->watch && (json || suggest || one),
		 "--watch shows the table again and again, which --json, --show and --suggest do "
		 "not have"},
		{c->top && (suggest || one),
		 "--top is about the table and sentences, which --show and --suggest do not have"},
		{c->top && json, "--top shortens the text; JSON has all"},
		{c->least >= 0 && one, "--least is about findings; --show has one operation"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].wrong)
			continue;
		fprintf(stderr, "evspace colop: %s\n", rows[i].why);
		return -1;
	}
	return 0;
}

int colop_main(int argc, char **argv)
{
	struct colop c = {
		.follow = {.command = "colop", .common.look = {.view = "events", .rate_hz = 10}},
		.least = -1};
	int code = options_parse(argc, argv, &colop_usage, &c, &c.follow.common);

	if (code >= 0)
		return code;
	if (options_check(&c) < 0)
		return EXIT_USAGE;
	begin(&c);
	c.follow.client = options_open(argv[0], &c.follow.common, &code);
	if (c.follow.client) {
		if (!c.follow.common.look.backlog)
			counted_begin(c.counted, evspace_run(c.follow.client));
		code = follow_run(&c.follow, take_wave, &c);
		if (c.reduced)
			meeting_sums_end(c.sums);
		else
			arrivals_end(c.arrivals);
		if (c.messages)
			messages_end(c.messages);
		lateness_end(c.lateness);
		scale(&c, true);
		colop_into_often(&c, 0);
		if (c.instance.comm[0] && code == EXIT_FINE)
			code = tell_instance(&c);
		else if (c.suggest && code == EXIT_FINE)
			code = proposal_tell(&c);
		else if (!c.follow.unread)
			tell(&c);
		follow_tell_cost(&c.follow);
		if (code == EXIT_FINE &&
		    (c.into_failed || counted_is_damaged(c.counted) || (c.check && is_bad(&c))))
			code = EXIT_BAD_NEWS;
	}
	end(&c);
	return code;
}
