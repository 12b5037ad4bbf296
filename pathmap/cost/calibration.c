/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the file of costs: a name and a number per line. */
#include "pathmap/cost/cost.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/config.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"

/* Measured on an idle server of 2020. */
static const struct calibration built_in = {
	.wake_us = 8,
	.latency_us = 10,
	.frame_us = 6,
	.encrypt_ns = 0.5,
	.copy_ns = 0.1,
	.read_ns = 20,
	.stage_ns = 25,
	.cold_us = 30,
	.cores = 8,
};

static const struct field {
	const char *name;
	size_t offset;
} fields[] = {
	{"wake_us", offsetof(struct calibration, wake_us)},
	{"latency_us", offsetof(struct calibration, latency_us)},
	{"frame_us", offsetof(struct calibration, frame_us)},
	{"encrypt_ns", offsetof(struct calibration, encrypt_ns)},
	{"copy_ns", offsetof(struct calibration, copy_ns)},
	{"read_ns", offsetof(struct calibration, read_ns)},
	{"stage_ns", offsetof(struct calibration, stage_ns)},
	{"cold_us", offsetof(struct calibration, cold_us)},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Greater values are not valid. */
#define VALUE_MOST 1e6
#define CORES_MOST 65536

/* Most lines of the file. */
#define LINES_MAX 1000u

char *calibration_path(void)
{
	return config_path("cost");
}

static bool line_read(struct calibration *c, const char *line)
{
	char name[32], rest;
	double value;

	if (*line == '#' || *line == '\n')
		return true;
	if (sscanf(line, "%31s %lf %c", name, &value, &rest) != 2 || !isfinite(value) ||
	    value <= 0 || value > VALUE_MOST)
		return false;
	if (strcmp(name, "cores") == 0) {
		c->cores = (unsigned)value;
		return value >= 1 && value <= CORES_MOST;
	}
	for (size_t i = 0; i < FIELDS; i++) {
		if (strcmp(fields[i].name, name) == 0) {
			memcpy((char *)c + fields[i].offset, &value, sizeof(value));
			return true;
		}
	}
	return false;
}

/* The next of the words in @list, which moves behind it: a name pattern as "/w[0-3]". False: no
 * more. */
static bool nodes_next(const char **list, char pattern[NAME_BYTES])
{
	const char *word = *list + strspn(*list, " \t");
	size_t length = strcspn(word, " \t");

	*list = word + length;
	if (length == 0 || length + 2 > NAME_BYTES)
		return false;
	snprintf(pattern, NAME_BYTES, "/%.*s", (int)length, word);
	return true;
}

int calibration_nodes_check(const char *nodes, struct error *e)
{
	const char *list = nodes;
	char pattern[NAME_BYTES];
	size_t n = 0;

	if (strlen(nodes) >= CALIBRATION_NODES_BYTES)
		return errorf(e, "names of nodes have at most %d characters",
			      CALIBRATION_NODES_BYTES - 1);
	for (; nodes_next(&list, pattern); n++) {
		if (strchr(pattern + 1, '/') != NULL)
			return errorf(e, "`%s` is not a node's name, like `w0` or `w[0-7]`",
				      pattern + 1);
		if (pattern_check(pattern, e) < 0)
			return -1;
	}
	return n > 0 ? 0 : errorf(e, "no names of nodes, like `w0` or `w[0-7] x*`");
}

const struct calibration *calibration_of(const struct calibration *c, const char *node)
{
	const struct calibration *found = c;
	char name[NAME_BYTES], pattern[NAME_BYTES];

	if (c->next == NULL)
		return c;
	snprintf(name, sizeof(name), "/%s", node);
	for (const struct calibration *own = c->next; own != NULL; own = own->next) {
		const char *list = own->nodes;

		while (nodes_next(&list, pattern)) {
			if (pattern_match(pattern, name))
				found = own;
		}
	}
	return found;
}

/* Begin what holds for @nodes, behind all others. NULL: that is not a list of nodes. */
static struct calibration *nodes_add(struct calibration *c, const char *nodes)
{
	if (calibration_nodes_check(nodes, NULL) < 0)
		return NULL;
	while (c->next != NULL)
		c = c->next;
	c->next = memory_new(1, sizeof(*c));
	*c->next = built_in;
	c->next->measured = true;
	snprintf(c->next->nodes, sizeof(c->next->nodes), "%s", nodes);
	return c->next;
}

void calibration_fini(struct calibration *c)
{
	struct calibration *next = c->next;

	while (next != NULL) {
		struct calibration *own = next;

		next = own->next;
		free(own);
	}
	c->next = NULL;
}

/* The lines of the file. Returns 0, or the number of the first that is not valid. */
static unsigned lines_read(struct calibration *c, FILE *in)
{
	struct calibration *now = c;
	char line[128];

	for (unsigned number = 1; fgets(line, sizeof(line), in) != NULL; number++) {
		if (number > LINES_MAX)
			return number;
		if (strncmp(line, "nodes ", strlen("nodes ")) == 0) {
			line[strcspn(line, "\n")] = '\0';
			now = nodes_add(c, line + strlen("nodes "));
			if (now == NULL)
				return number;
		} else if (!line_read(now, line)) {
			return number;
		} else {
			now->measured = now->measured || (*line != '#' && *line != '\n');
		}
	}
	return 0;
}

int calibration_read(struct calibration *c, const char *path, struct error *e)
{
	FILE *in = fopen(path, "r");
	unsigned wrong;

	*c = built_in;
	if (in == NULL)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : errorf(e, "%s: %s", path, strerror(errno));
	wrong = lines_read(c, in);
	fclose(in);
	if (wrong == 0)
		return 0;
	calibration_fini(c);
	*c = built_in;
	errno = EINVAL;
	return errorf(e,
		      "%s:%u: not a line like `wake_us 7.5`; remove the file, and have it written "
		      "anew by `evspace doctor`",
		      path, wrong);
}

static void calibration_put(const struct calibration *c, FILE *out)
{
	if (c->nodes[0] != '\0')
		fprintf(out, "nodes %s\n", c->nodes);
	for (size_t i = 0; i < FIELDS; i++) {
		double value;

		memcpy(&value, (const char *)c + fields[i].offset, sizeof(value));
		fprintf(out, "%s %.4g\n", fields[i].name, value);
	}
	fprintf(out, "cores %u\n", c->cores);
}

int calibration_write(const struct calibration *measured, const char *path, struct error *e)
{
	struct calibration all, *same;
	char *text;
	size_t bytes;
	FILE *out;
	int result;

	/* one that is not valid says nothing that could be kept */
	(void)calibration_read(&all, path, NULL);
	for (same = &all; same != NULL && strcmp(same->nodes, measured->nodes) != 0;)
		same = same->next;
	if (same == NULL)
		same = nodes_add(&all, measured->nodes);
	if (same == NULL) {
		calibration_fini(&all);
		errno = EINVAL;
		return errorf(e, "`%s` are not names of nodes", measured->nodes);
	}
	out = open_memstream(&text, &bytes);
	if (out == NULL)
		abort();
	fputs("# What the parts of a wave cost, measured by `evspace doctor`.\n", out);
	for (const struct calibration *c = &all; c != NULL; c = c->next) {
		if (c == same || c->measured)
			calibration_put(c == same ? measured : c, out);
	}
	if (fclose(out) != 0)
		abort();
	calibration_fini(&all);
	result = config_write(path, text, bytes, e);
	free(text);
	return result;
}
