/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins similar differences between two maps into lines. */
#include "consumers/map/map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

/* One difference, and all views that have it. */
struct map_fold_line {
	UT_hash_handle hh;
	const char *what;
	char *subject, *text;
	char *views; /* "heartbeat, events"; NULL: it is about none */
	size_t n_views;
	bool printed;
};

/* Kinds of differences, in the order of output. */
struct kind {
	const char *what;
	size_t most;		     /* most lines shown */
	const char *about, *changes; /* for the others: words before and after their hosts */
};

static const struct kind kinds[] = {
	{"node", 4, "nodes", "change"},
	{"rank", 4, "the ranks of", "change"},
	{"channel", 4, "what is collected of", "changes"},
	{"elements", 8, "what elements are like,", "changes"},
	{"definable", 1, "what consumers may define in", "changes"},
	{"budget", 1, "what consumers may cost,", "changes"},
	{"steer", 1, "how collectives are steered,", "changes"},
	{"made", 1, "which elements the map makes,", "changes"},
	{"view", 4, "views", "change"},
	{"place", 8, "where in the trees", "are changes"},
	{"stages", 0, "what runs on", "changes with that"},
};

void map_fold_take(struct map_fold *fold, const struct difference *d)
{
	struct map_fold_line *line;
	char *longer;

	HASH_FIND_STR(fold->lines, d->text, line);
	if (!line) {
		line = memory_new(1, sizeof(*line));
		line->what = d->what;
		line->subject = memory_copy(d->subject);
		line->text = memory_copy(d->text);
		HASH_ADD_KEYPTR(hh, fold->lines, line->text, strlen(line->text), line);
	}
	if (!d->view)
		return;
	longer = memory_format("%s%s%s", line->views ? line->views : "", line->views ? ", " : "",
			       d->view);
	free(line->views);
	line->views = longer;
	line->n_views++;
}

/* The text after a host's name. */
static const char *line_rest(const struct map_fold_line *line)
{
	size_t length = strlen(line->subject);

	return strncmp(line->text, line->subject, length) == 0 ? line->text + length : line->text;
}

static bool lines_alike(const struct map_fold_line *a, const struct map_fold_line *b)
{
	return line_rest(a) != a->text && strcmp(line_rest(a), line_rest(b)) == 0 &&
	       strcmp(a->views ? a->views : "", b->views ? b->views : "") == 0;
}

/* Print a difference with all hosts and views that have the same. */
static void line_print(struct map_fold_line *line, size_t n_views, FILE *out)
{
	const char **subjects = NULL;
	size_t n = 0;
	char *text, *views = NULL;

	for (struct map_fold_line *other = line; other != NULL; other = other->hh.next) {
		if (other != line && !lines_alike(line, other))
			continue;
		subjects = memory_room(subjects, n, sizeof(*subjects));
		subjects[n++] = other->subject;
		other->printed = true;
	}
	text = hostlist_text(subjects, n);
	if (line->views)
		views = line->n_views == n_views ? memory_copy("all views: ")
						 : memory_format("view %s: ", line->views);
	table_say(out, "  %s%s%s", views ? views : "", n > 1 ? text : "",
		  n > 1 ? line_rest(line) : line->text);
	free(views);
	free(text);
	free(subjects);
}

static bool is_left(const struct map_fold_line *line, const struct kind *kind)
{
	return !line->printed && strcmp(line->what, kind->what) == 0;
}

/* Print how many of a kind are not shown. */
static void rest_print(const struct map_fold *fold, const struct kind *kind, FILE *out)
{
	const char **subjects = NULL;
	size_t n = 0, left = 0;
	char *text;

	for (struct map_fold_line *line = fold->lines; line != NULL; line = line->hh.next) {
		bool known = false;

		if (!is_left(line, kind))
			continue;
		left++;
		for (size_t i = 0; i < n && !known; i++)
			known = strcmp(subjects[i], line->subject) == 0;
		if (known)
			continue;
		subjects = memory_room(subjects, n, sizeof(*subjects));
		subjects[n++] = line->subject;
	}
	text = hostlist_text(subjects, n);
	if (left)
		table_say(out, "  %s %s %s in %zu%s way%s (--verbose)", kind->about, text,
			  kind->changes, left, kind->most ? " more" : "", plural(left, "s"));
	free(text);
	free(subjects);
}

void map_fold_print(struct map_fold *fold, size_t n_views, bool verbose, FILE *out)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t most = verbose ? SIZE_MAX : kinds[i].most;

		for (struct map_fold_line *line = fold->lines; line && most; line = line->hh.next) {
			if (!is_left(line, &kinds[i]))
				continue;
			line_print(line, n_views, out);
			most--;
		}
		rest_print(fold, &kinds[i], out);
	}
}

void map_fold_fini(struct map_fold *fold)
{
	struct map_fold_line *line, *next;

	HASH_ITER(hh, fold->lines, line, next)
	{
		HASH_DEL(fold->lines, line);
		free(line->subject);
		free(line->text);
		free(line->views);
		free(line);
	}
}
