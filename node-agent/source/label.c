/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the text of what an element of a split channel records. */
#include "node-agent/source/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "pathmap/model/pattern.h"

/* Copied from the segment by a guarded read. */
struct label_copy {
	const struct segment *segment;
	uint64_t address;
	struct segment_module module; /* path "": the address is in none */
};

static int copy_module(void *arg)
{
	struct label_copy *c = arg;
	const struct segment_module *found = segment_module_find(c->segment, c->address);

	if (!found)
		return 1;
	memcpy(&c->module, found, sizeof(c->module));
	c->module.path[sizeof(c->module.path) - 1] = '\0';
	if (c->module.build_id_bytes > sizeof(c->module.build_id))
		c->module.build_id_bytes = 0;
	return 0;
}

static int site_write(char *buf, size_t n, struct label_copy *c, struct sites *sites)
{
	int rc = segment_guarded(copy_module, c);

	if (rc < 0)
		return -1;
	if (rc > 0)
		snprintf(buf, n, ":?+0x%" PRIx64, c->address);
	else
		snprintf(buf, n, ":%s", sites_find(sites, &c->module, c->address - c->module.bias));
	return 0;
}

static void comm_write(char *buf, size_t n, const struct segment *s, uint64_t comm)
{
	if (comm && comm == s->said.world)
		snprintf(buf, n, "@world");
	else
		snprintf(buf, n, "@%08" PRIx64, comm);
}

static void op_write(char *buf, size_t n, uint64_t op)
{
	snprintf(buf, n, ".%s", op_name((uint16_t)op));
	/* "op 4711", of a later release */
	for (char *c = buf; *c; c++)
		if (*c == ' ')
			*c = '_';
}

int label_write(char *buf, size_t n, const struct segment *s, const struct segment_element *element,
		struct sites *sites)
{
	struct label_copy copy = {.segment = s, .address = element->key};
	size_t length;

	if (element->thread == SEGMENT_NO_THREAD) {
		snprintf(buf, n, "overflow");
		return 0;
	}
	snprintf(buf, n, "%s", channel_name(element->channel));
	length = strlen(buf);
	switch (element->split) {
	case SPLIT_COMM:
		comm_write(buf + length, n - length, s, element->key);
		return 0;
	case SPLIT_OP:
		op_write(buf + length, n - length, element->key);
		return 0;
	case SPLIT_SITE:
		return site_write(buf + length, n - length, &copy, sites);
	default:
		return 0;
	}
}

int label_name(char *name, const struct plan_place *place, const struct store_segment *s,
	       const struct segment_element *element, struct sites *sites)
{
	const char *cluster = place->cluster[0] ? place->cluster : "-";
	char part[16] = "overflow", label[NAME_BYTES];
	int length;

	if (element->thread != SEGMENT_NO_THREAD)
		snprintf(part, sizeof(part), "t%u", element->thread);
	if (label_write(label, sizeof(label), &s->segment, element, sites) < 0)
		return -1;
	length = snprintf(name, NAME_BYTES, "/%s/%s/%s/%s/%s", cluster, place->node, s->name, part,
			  label);
	return length < NAME_BYTES ? 0 : -1;
}
