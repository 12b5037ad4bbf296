/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes pictures and pages of executions. A page is space.html with the points in it. */
#include "consumers/phase/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/phase/space-page.h"

/* Where the points belong in the page. */
#define PLACE "null /* points */"

static bool is_page(const char *path)
{
	size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".html") == 0;
}

int space_check(const char *path, struct error *e)
{
	if (is_page(path))
		return picture_place(path, e);
	if (picture_check(path, e) == 0)
		return 0;
	return errno == EINVAL ? errorf(e, "'%.80s' ends in none of .svg, .png and .html", path)
			       : -1;
}

/* A name may be anything: "</script>" in it must not end the script. */
static void name_write(const char *name, FILE *out)
{
	json_t *text = json_string(name);
	char *said = json_dumps(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

	for (const char *c = said ? said : "null"; *c; c++)
		if (*c == '<')
			fputs("\\u003c", out);
		else
			fputc(*c, out);
	free(said);
	json_decref(text);
}

static void points_write(const struct space *s, FILE *out)
{
	fprintf(out, "{name: ");
	name_write(s->name, out);
	fprintf(out,
		", processes: %u, base: %u, blocks: %u, states: %llu, each: %llu, runs: %llu,\n"
		"explained: [",
		s->processes, s->base, s->blocks, (unsigned long long)s->states,
		(unsigned long long)s->each, (unsigned long long)s->runs);
	for (unsigned k = 0; k < s->n_components; k++)
		fprintf(out, "%s%.6g", k ? ", " : "", s->explained[k]);
	fprintf(out, "], subset: [");
	for (unsigned i = 0, n = 0; s->n_subset > 0 && i < s->processes; i++)
		if (s->in_subset[i])
			fprintf(out, "%s%u", n++ ? ", " : "", i);
	fprintf(out, "],\n/* run, number, time, cube, components, entropy, the subset's, its cube "
		     "*/\npoints: [\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct point *p = &s->points[i];

		fprintf(out, "[%llu,%llu,%.9g,%.5g,%.5g,%.6g,%.5g,%.5g,%.5g,%.5g",
			(unsigned long long)p->run, (unsigned long long)p->number, p->time, p->at.x,
			p->at.y, p->at.z, p->score[0], p->score[1], p->score[2], p->entropy);
		if (s->n_subset > 0)
			fprintf(out, ",%.5g,%.5g,%.5g,%.6g", p->subset_entropy, p->subset_at.x,
				p->subset_at.y, p->subset_at.z);
		fprintf(out, "],\n");
	}
	fprintf(out, "]}");
}

static int page_write(const struct space *s, const char *path, struct error *e)
{
	const char *place = strstr(space_page, PLACE);
	FILE *out = fopen(path, "we");
	bool failed;

	if (!out)
		return errorf(e, "cannot write %.200s: %s", path, strerror(errno));
	fwrite(space_page, 1, (size_t)(place - space_page), out);
	points_write(s, out);
	fputs(place + strlen(PLACE), out);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	return failed ? errorf(e, "cannot write %.200s: %s", path, strerror(errno)) : 0;
}

static int picture_make(const struct space *s, const char *path, struct error *e)
{
	struct picture picture = {0};
	int rc;

	space_draw(s, &picture);
	rc = picture_write(&picture, path, e);
	picture_fini(&picture);
	return rc;
}

int space_write(const struct space *s, const char *path, struct error *e)
{
	json_t *name = json_text(s->name); /* valid UTF-8 */
	struct space named = *s;
	int rc;

	named.name = json_string_value(name);
	rc = is_page(path) ? page_write(&named, path, e) : picture_make(&named, path, e);
	json_decref(name);
	return rc;
}
