/* SPDX-License-Identifier: BSD-3-Clause */
/* What `evspace perturb` finds where the slowdown is known, and whether budgets are kept. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/slowdown.h"
#include "tests/simulated.h"

static const char about[] =
	"usage: perturb [options]\n"
	"\n"
	"Slowdowns of known size, and what the experiment on the running program finds:\n"
	"\n"
	"  planted    a busy loop of 0.5, 1, 2 and 5 % in the collector's path: in --rounds runs\n"
	"             of a simulated program, and in real ones for --seconds each\n"
	"  aa         the same without a loop\n"
	"  simulated, iterate, windtunnel: the same of this program only\n"
	"  budget     a consumer that pulls all newest tuples with --budget 0.5, 1, 2 and 5 %\n"
	"             (--quick: 1 %). Wind tunnel, small and medium: one run. For --seconds the\n"
	"             consumer finds out how often, with how many waves under way and in which\n"
	"             class of agents it may look; then a fifth of --rounds pairs of blocks of\n"
	"             4 s, in random order: in one the program is collected and looked at like\n"
	"             that, in the other it is only counted, and nobody looks. hpcc: a tenth of\n"
	"             --rounds pairs of runs, with both (and the budget) and with neither. At\n"
	"             least six. held: yes, the whole interval of the median is within the\n"
	"             budget; no, all of it is above; ?, neither can be told; waves/s: those that\n"
	"             came; allowed: those that the budget allows in the end; said: what the\n"
	"             consumer's own experiment measures, of looking, with what events cost.\n"
	"             small, medium, hpcc: this program only; with --seconds 45 that is 5 minutes\n"
	"             of the wind tunnel for each budget\n"
	"\n"
	"All figures but rates are in percent.\n";

static const char *const cases[] = {"planted", "aa",	"simulated", "iterate", "windtunnel",
				    "budget",  "small", "medium",    "hpcc"};

static bool is_case(const char *name)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(cases[i], name) == 0)
			return true;
	return false;
}

/* Of JSON, which has no NAN. */
static const char *figure(char *buf, size_t n, double x)
{
	if (isfinite(x))
		snprintf(buf, n, "%.4f", x);
	else
		snprintf(buf, n, "null");
	return buf;
}

static void print_json(const struct slowdown *s)
{
	const struct {
		const char *name;
		double is;
	} figures[] = {{"estimate", s->estimate},
		       {"low", s->low},
		       {"high", s->high},
		       {"rate_hz", s->rate_hz},
		       {"allowed_hz", s->allowed_hz},
		       {"said", s->said},
		       {"said_low", s->said_low},
		       {"said_high", s->said_high}};
	char text[32];

	printf("{\"bench\":\"perturb\",\"case\":\"%s\",\"program\":\"%s\",\"percent\":%g", s->kind,
	       s->program, s->percent);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		printf(",\"%s\":%s", figures[i].name, figure(text, sizeof(text), figures[i].is));
	printf(",\"covered\":%s,\"rounds\":%u}\n", s->covered ? "true" : "false", s->rounds);
}

/* Was what was planted found, or the budget kept? */
static const char *held(const struct slowdown *s)
{
	if (s->covered)
		return "yes";
	return strcmp(s->kind, "budget") != 0 || s->low > s->percent ? "no" : "?";
}

static void print_text(const struct slowdown *s)
{
	printf("%-8s  %-18s %5g  %8.2f  %6.2f to %-6.2f  %-4s %6u", s->kind, s->program, s->percent,
	       s->estimate, s->low, s->high, held(s), s->rounds);
	if (isfinite(s->rate_hz))
		printf("  %7.1f", s->rate_hz);
	if (isfinite(s->allowed_hz))
		printf("  %7.1f", s->allowed_hz);
	if (isfinite(s->said))
		printf("  %.2f (%.2f to %.2f)", s->said, s->said_low, s->said_high);
	putchar('\n');
}

struct slowdown slowdown_of(const char *kind, const char *program, double percent)
{
	return (struct slowdown){.kind = kind,
				 .program = program,
				 .percent = percent,
				 .rate_hz = NAN,
				 .allowed_hz = NAN,
				 .said = NAN,
				 .said_low = NAN,
				 .said_high = NAN};
}

void slowdown_print(const struct slowdown *s, bool json)
{
	if (json)
		print_json(s);
	else
		print_text(s);
	fflush(stdout);
}

static struct slowdown simulated_one(uint64_t *seed, unsigned run, double percent)
{
	struct slowdown s = slowdown_of(percent > 0 ? "planted" : "aa", "simulated", percent);
	struct effect_interval interval;
	struct effect effect;

	s.covered = simulated_run(seed, run % SIMULATED_NOISES, percent / 100, &effect);
	interval = effect_interval(&effect, 0.95);
	s.rounds = (unsigned)interval.n;
	s.estimate = interval.estimate * 100;
	s.low = interval.low * 100;
	s.high = interval.high * 100;
	return s;
}

/* With --json each run, else the last one of them with how many were covered. */
static void simulated(const struct bench_options *o)
{
	static const double percents[] = {0, 0.5, 1, 2, 5};
	uint64_t seed = 11;

	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		const char *kind = percents[i] > 0 ? "planted" : "aa";
		unsigned covered = 0;

		if (o->only && strcmp(o->only, kind) != 0 && strcmp(o->only, "simulated") != 0)
			continue;
		for (unsigned run = 0; run < o->rounds; run++) {
			struct slowdown s = simulated_one(&seed, run, percents[i]);

			covered += s.covered;
			if (o->json || run + 1 == o->rounds)
				slowdown_print(&s, o->json);
		}
		if (!o->json)
			printf("%-8s  %-18s %5g  covered in %u of %u runs\n", kind, "simulated",
			       percents[i], covered, o->rounds);
	}
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 8, .rounds = 40};
	struct bench_options o = {.seconds = 25, .rounds = 100};
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	if (o.only && !is_case(o.only)) {
		fprintf(stderr, "perturb: there is no case '%s'; try --help\n", o.only);
		return 2;
	}
	if (!o.json)
		printf("%-8s  %-18s %5s  %8s  %-16s  %-4s %6s  %7s  %7s  %s\n", "case", "program",
		       "%", "measured", "95 %", "held", "rounds", "waves/s", "allowed", "said");
	simulated(&o);
	bench_begin();
	result = slowdown_planted(&o, &e);
	if (result == 0)
		result = slowdown_budgets(&o, &e);
	if (result < 0)
		fprintf(stderr, "perturb: %s\n", e.text);
	return result < 0 ? 1 : 0;
}
