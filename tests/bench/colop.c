/* SPDX-License-Identifier: BSD-3-Clause */
/* Bench: what is said of collective operations and of the clocks that it rests on. */
#include <stdio.h>
#include <string.h>

#include "tests/bench/colop.h"

static const char about[] =
	"How right is what is said of collective operations?\n"
	"\n"
	"  planted      ranks that are late as planned in operations of 16 ranks: how many are\n"
	"               found, and who else is named\n"
	"  clock        hosts whose clocks are seconds apart, drift by 200 ppm, are slewed and\n"
	"               step: the share of events whose time is within its bound, and the\n"
	"               median bound with one connection between two clocks, and with two\n"
	"  price        how much longer the small wind tunnel takes with live analysis, by\n"
	"               pairs of runs with it and without anything; and how often views of an\n"
	"               element, a thread, and all can be looked at meanwhile\n"
	"  allreduce    over two clusters 5 ms apart: along the pathmap's tree, by the best\n"
	"               algorithm of Open MPI, and by the one that it chooses (as root)\n"
	"  element      what a write to an element of a program takes\n";

static const struct {
	const char *name;
	colop_case *run;
	unsigned shorter; /* its measurements, of which there are as many more */
} cases[] = {
	{"planted", colop_planted, 1}, {"clock", colop_clock, 1},
	{"price", colop_price, 15},    {"allreduce", colop_allreduce, 1},
	{"element", colop_element, 1},
};

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 20, .rounds = 1};
	struct bench_options o = {.seconds = 150, .rounds = 1}, now;
	struct error e = {""};
	int code = 0;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (o.only && strcmp(o.only, cases[i].name) != 0)
			continue;
		now = o;
		now.seconds /= cases[i].shorter;
		now.rounds *= cases[i].shorter;
		if (cases[i].run(&now, &e) == 0)
			continue;
		fprintf(stderr, "colop: %s: %s\n", cases[i].name, e.text);
		code = 1;
	}
	return code;
}
