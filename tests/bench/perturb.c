/* SPDX-License-Identifier: BSD-3-Clause */
/* What `evspace perturb` finds where the slowdown is known, and whether budgets are kept. */
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
	"  budget     a consumer that pulls all newest tuples with --budget 0.5, 1, 2 and 5 %, "
	"and\n"
	"             the wind tunnel (small, medium; each run has --seconds) and hpcc: five "
	"pairs\n"
	"             of runs with it and without (fewer by --rounds); held: the median is\n"
	"             within the budget. small, medium, hpcc: this program only\n"
	"\n"
	"All figures are in percent.\n";

void slowdown_print(const struct slowdown *s, bool json)
{
	if (json)
		printf("{\"bench\":\"perturb\",\"case\":\"%s\",\"program\":\"%s\",\"percent\":%g,"
		       "\"estimate\":%.4f,\"low\":%.4f,\"high\":%.4f,\"covered\":%s,"
		       "\"rounds\":%u,\"rate_hz\":%.1f}\n",
		       s->kind, s->program, s->percent, s->estimate, s->low, s->high,
		       s->covered ? "true" : "false", s->rounds, s->rate_hz);
	else
		printf("%-8s  %-18s %5g  %8.2f  %6.2f to %-6.2f  %-4s %6u  %.1f\n", s->kind,
		       s->program, s->percent, s->estimate, s->low, s->high,
		       s->covered ? "yes" : "no", s->rounds, s->rate_hz);
	fflush(stdout);
}

static struct slowdown simulated_one(uint64_t *seed, unsigned run, double percent)
{
	struct slowdown s = {
		.kind = percent > 0 ? "planted" : "aa", .program = "simulated", .percent = percent};
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
	static const struct bench_options quick = {.seconds = 8, .rounds = 100};
	struct bench_options o = {.seconds = 25, .rounds = 100};
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	if (!o.json)
		printf("%-8s  %-18s %5s  %8s  %-16s  %-4s %6s  %s\n", "case", "program", "%",
		       "measured", "95 %", "held", "rounds", "waves/s");
	simulated(&o);
	bench_begin();
	result = slowdown_planted(&o, &e);
	if (result == 0)
		result = slowdown_budgets(&o, &e);
	if (result < 0)
		fprintf(stderr, "perturb: %s\n", e.text);
	return result < 0 ? 1 : 0;
}
