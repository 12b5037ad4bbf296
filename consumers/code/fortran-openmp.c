/* SPDX-License-Identifier: BSD-3-Clause */
/* Directives of OpenMP in Fortran and what they are of. */
#include "consumers/code/fortran-openmp.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Names of directives as statements have them, without blanks; the longest that fits counts. */
static const struct {
	const char *stripped, *name;
	bool of_loop, of_one, alone;
} directives[] = {
	{"paralleldosimd", "parallel do simd", true, false, false},
	{"paralleldo", "parallel do", true, false, false},
	{"parallelsections", "parallel sections", false, false, false},
	{"parallelworkshare", "parallel workshare", false, false, false},
	{"parallel", "parallel", false, false, false},
	{"dosimd", "do simd", true, false, false},
	{"do", "do", true, false, false},
	{"simd", "simd", true, false, false},
	{"sections", "sections", false, false, false},
	{"single", "single", false, false, false},
	{"master", "master", false, false, false},
	{"masked", "masked", false, false, false},
	{"critical", "critical", false, false, false},
	{"atomic", "atomic", false, true, false},
	{"ordered", "ordered", false, false, false},
	{"workshare", "workshare", false, false, false},
	{"taskloopsimd", "taskloop simd", true, false, false},
	{"taskloop", "taskloop", true, false, false},
	{"taskgroup", "taskgroup", false, false, false},
	{"taskwait", "taskwait", false, false, true},
	{"taskyield", "taskyield", false, false, true},
	{"task", "task", false, false, false},
	{"barrier", "barrier", false, false, true},
	{"flush", "flush", false, false, true},
	{"cancellationpoint", "cancellation point", false, false, true},
	{"cancel", "cancel", false, false, true},
	{"targetteamsdistributeparalleldosimd", "target teams distribute parallel do simd", true,
	 false, false},
	{"targetteamsdistributeparalleldo", "target teams distribute parallel do", true, false,
	 false},
	{"targetteamsdistribute", "target teams distribute", true, false, false},
	{"targetteams", "target teams", false, false, false},
	{"targetparalleldo", "target parallel do", true, false, false},
	{"targetparallel", "target parallel", false, false, false},
	{"targetdata", "target data", false, false, false},
	{"targetenterdata", "target enter data", false, false, true},
	{"targetexitdata", "target exit data", false, false, true},
	{"targetupdate", "target update", false, false, true},
	{"target", "target", false, false, false},
	{"teamsdistributeparalleldo", "teams distribute parallel do", true, false, false},
	{"teamsdistribute", "teams distribute", true, false, false},
	{"teams", "teams", false, false, false},
	{"distributeparalleldosimd", "distribute parallel do simd", true, false, false},
	{"distributeparalleldo", "distribute parallel do", true, false, false},
	{"distribute", "distribute", true, false, false},
};

#define DIRECTIVES (sizeof(directives) / sizeof(directives[0]))

/* The directive that the text is; DIRECTIVES: none. */
static size_t directive_find(const char *text)
{
	size_t best = DIRECTIVES, longest = 0;

	for (size_t i = 0; i < DIRECTIVES; i++) {
		size_t n = strlen(directives[i].stripped);

		if (n > longest && strncmp(text, directives[i].stripped, n) == 0) {
			best = i;
			longest = n;
		}
	}
	return best;
}

/* It is no more open. One that should have had an END is its line alone. */
static void directive_close(struct fortran_openmp *o, unsigned at)
{
	memmove(&o->open[at], &o->open[at + 1], (o->n - at - 1) * sizeof(o->open[0]));
	o->n--;
}

/* What has ended, and has no END behind it. */
static void wholes_close(struct fortran_openmp *o)
{
	while (o->n > 0 && o->open[o->n - 1].whole)
		directive_close(o, o->n - 1);
}

static void end_take(struct fortran_openmp *o, struct code_text *code,
		     const struct fortran_statement *s, const char *name)
{
	for (unsigned i = o->n; i-- > 0;) {
		struct code_region *r = &code->regions[o->open[i].region];

		if (strcmp(r->name, name) != 0)
			continue;
		r->end = s->end;
		r->last = s->last;
		r->closed = s->shares;
		/* those in it have no END of their own */
		o->n = i;
		return;
	}
}

void fortran_openmp_take(struct fortran_openmp *openmp, struct code_text *code,
			 const struct fortran_statement *s)
{
	bool ends = strncmp(s->text, "end", 3) == 0;
	size_t found = directive_find(s->text + (ends ? 3 : 0));
	struct code_region region = {.kind = CODE_OPENMP,
				     .line = s->line,
				     .last = s->last,
				     .begin = s->begin,
				     .end = s->end};

	if (found == DIRECTIVES)
		return;
	if (ends) {
		end_take(openmp, code, s, directives[found].name);
		return;
	}
	wholes_close(openmp);
	region.name = (char *)directives[found].name;
	/* until what it is of has ended, nothing can be written around it */
	region.closed = !directives[found].alone;
	code_add(code, &region);
	if (!directives[found].alone && openmp->n < FORTRAN_DIRECTIVES)
		openmp->open[openmp->n++] =
			(struct fortran_directive){.region = code->n_regions - 1,
						   .loop = SIZE_MAX,
						   .of_loop = directives[found].of_loop,
						   .of_one = directives[found].of_one};
}

void fortran_openmp_statement(struct fortran_openmp *openmp, struct code_text *code,
			      const struct fortran_statement *s, bool is_loop)
{
	struct fortran_directive *d;

	wholes_close(openmp);
	d = openmp->n > 0 ? &openmp->open[openmp->n - 1] : NULL;
	if (!d || !d->of_one || is_loop)
		return;
	code->regions[d->region].end = fortran_statement_end(s);
	code->regions[d->region].last = s->last;
	code->regions[d->region].closed = s->shares;
	d->whole = true;
}

void fortran_openmp_loop(struct fortran_openmp *openmp, struct code_text *code, size_t region)
{
	struct fortran_directive *d = openmp->n > 0 ? &openmp->open[openmp->n - 1] : NULL;

	if (!d || !d->of_loop)
		return;
	/* its loops, one in the other for COLLAPSE, stay where they are */
	code->regions[region].closed = true;
	if (d->loop == SIZE_MAX)
		d->loop = region;
}

void fortran_openmp_loop_end(struct fortran_openmp *openmp, const struct code_text *code,
			     size_t region)
{
	for (unsigned i = openmp->n; i-- > 0;) {
		struct fortran_directive *d = &openmp->open[i];
		struct code_region *r = &code->regions[d->region];

		if (d->loop != region)
			continue;
		r->end = code->regions[region].end;
		r->last = code->regions[region].last;
		r->closed = false;
		d->whole = true;
		return;
	}
}

void fortran_openmp_settle(struct fortran_openmp *openmp)
{
	openmp->n = 0;
}
