/* SPDX-License-Identifier: BSD-3-Clause */
/* Plan parts to and from the wire; received ones are checked before anything is built from them. */
#include "tree/wire/wire-place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "tree/data/names.h"
#include "tree/wire/wire.h"

#define STAGE_KIND_BYTES 64
#define STAGE_ARGS_BYTES 1024
#define ALTERNATES_MAX	 16
#define HOLDS_BYTES	 (1u << 20)

static ProtobufCBinaryData pass_copy(const struct plan_pass *pass)
{
	ProtobufCBinaryData data = {pass->bytes, NULL};

	if (pass->bytes)
		data.data = (uint8_t *)memory_copy_bytes(pass->data, pass->bytes);
	return data;
}

static Evspace__Stage **stages_new(const struct plan_stage *list, size_t n)
{
	Evspace__Stage **stages = memory_new(n, sizeof(*stages));

	for (size_t i = 0; i < n; i++) {
		stages[i] = memory_new(1, sizeof(*stages[i]));
		evspace__stage__init(stages[i]);
		stages[i]->level = list[i].level;
		stages[i]->kind = memory_copy(list[i].kind);
		stages[i]->args = memory_copy(list[i].args ? list[i].args : "");
	}
	return stages;
}

static Evspace__Alternate **alternates_new(const struct plan_place *place)
{
	Evspace__Alternate **list = memory_new(place->n_alternates, sizeof(*list));

	for (size_t i = 0; i < place->n_alternates; i++) {
		list[i] = memory_new(1, sizeof(*list[i]));
		evspace__alternate__init(list[i]);
		list[i]->node = memory_copy(place->alternates[i].node);
		list[i]->address = memory_copy(place->alternates[i].address);
		list[i]->pass = pass_copy(&place->alternates[i].pass);
	}
	return list;
}

Evspace__Place *wire_place_new(const struct plan_place *place)
{
	Evspace__Place *message = memory_new(1, sizeof(*message));

	evspace__place__init(message);
	message->index = place->index;
	message->node = memory_copy(place->node);
	message->cluster = memory_copy(place->cluster);
	message->address = memory_copy(place->address);
	message->leaf = place->leaf;
	message->n_local = place->n_local;
	message->local = stages_new(place->local, place->n_local);
	message->n_joined = place->n_joined;
	message->joined = stages_new(place->joined, place->n_joined);
	message->n_alternates = place->n_alternates;
	message->alternates = alternates_new(place);
	message->placed = place->placed;
	message->holds = memory_copy(place->holds ? place->holds : "");
	message->elsewhere = memory_copy(place->elsewhere ? place->elsewhere : "");
	message->concurrency = place->concurrency;
	message->gateway = place->gateway;
	message->own = place->own;
	message->pass = pass_copy(&place->pass);
	message->n_children = place->n_children;
	message->children = memory_new(place->n_children, sizeof(*message->children));
	for (size_t i = 0; i < place->n_children; i++)
		message->children[i] = wire_place_new(place->children[i]);
	return message;
}

void wire_place_free(Evspace__Place *place)
{
	if (place)
		evspace__place__free_unpacked(place, NULL);
}

/** Is @text shorter than @room and without control characters, which would disturb a terminal or a
 * log? */
static int text_check(const char *what, const char *text, size_t room, struct error *e)
{
	size_t n = strnlen(text, room);

	if (n == room)
		return errorf(e, "a plan with a %s of more than %zu bytes", what, room - 1);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return errorf(e, "a plan with a control character in a %s", what);
	return 0;
}

static int stages_check(Evspace__Stage *const *stages, size_t n, enum level from, enum level to,
			struct error *e)
{
	if (n > WIRE_PLACE_STAGES)
		return errorf(e, "a plan with %zu stages at one place (at most %u)", n,
			      WIRE_PLACE_STAGES);
	for (size_t i = 0; i < n; i++) {
		if (stages[i]->level < (uint32_t)from || stages[i]->level > (uint32_t)to)
			return errorf(e, "a plan with a stage at level %u where %d to %d are right",
				      stages[i]->level, from, to);
		if (text_check("stage kind", stages[i]->kind, STAGE_KIND_BYTES, e) < 0 ||
		    text_check("stage argument", stages[i]->args, STAGE_ARGS_BYTES, e) < 0)
			return -1;
	}
	return 0;
}

static int pass_check_size(const ProtobufCBinaryData *pass, struct error *e)
{
	if (pass->len > WIRE_PASS_MAX)
		return errorf(e, "a plan with a pass of %zu bytes (at most %u)", pass->len,
			      WIRE_PASS_MAX);
	return 0;
}

static int alternates_check(const Evspace__Place *place, struct error *e)
{
	if (place->n_alternates > ALTERNATES_MAX)
		return errorf(e, "a plan with %zu alternates of one place (at most %u)",
			      place->n_alternates, ALTERNATES_MAX);
	for (size_t i = 0; i < place->n_alternates; i++) {
		if (!place->alternates[i]->node[0])
			return errorf(e, "a plan with an alternate that has no node");
		if (text_check("node", place->alternates[i]->node, NAME_BYTES, e) < 0 ||
		    text_check("address", place->alternates[i]->address, NAME_BYTES, e) < 0 ||
		    pass_check_size(&place->alternates[i]->pass, e) < 0)
			return -1;
	}
	return 0;
}

/** Check one place and all below; @seen has one byte per index. */
static int place_check(const Evspace__Place *place, unsigned depth, unsigned char *seen,
		       struct error *e)
{
	if (depth >= WIRE_DEPTH)
		return errorf(e, "a plan of more than %u levels", WIRE_DEPTH);
	if (place->index > NAME_PLACE_MAX || seen[place->index])
		return errorf(e, "a plan with place %u %s", place->index,
			      place->index > NAME_PLACE_MAX ? "beyond the limit" : "twice");
	seen[place->index] = 1;
	if (!place->node[0])
		return errorf(e, "a plan with a place that has no node");
	if (text_check("node", place->node, NAME_BYTES, e) < 0 ||
	    text_check("cluster", place->cluster, NAME_BYTES, e) < 0 ||
	    text_check("address", place->address, NAME_BYTES, e) < 0 ||
	    text_check("list of ranks", place->holds, HOLDS_BYTES, e) < 0 ||
	    text_check("list of ranks", place->elsewhere, HOLDS_BYTES, e) < 0 ||
	    pass_check_size(&place->pass, e) < 0 || alternates_check(place, e) < 0 ||
	    stages_check(place->local, place->n_local, LEVEL_ELEMENT, LEVEL_NODE, e) < 0 ||
	    stages_check(place->joined, place->n_joined, LEVEL_ELEMENT, LEVEL_ALL, e) < 0)
		return -1;
	for (size_t i = 0; i < place->n_children; i++)
		if (place_check(place->children[i], depth + 1, seen, e) < 0)
			return -1;
	return 0;
}

static struct plan_stage *plan_stages(Evspace__Stage *const *stages, size_t n)
{
	struct plan_stage *list = memory_new(n, sizeof(*list));

	for (size_t i = 0; i < n; i++)
		list[i] = (struct plan_stage){.level = (enum level)stages[i]->level,
					      .kind = memory_copy(stages[i]->kind),
					      .args = memory_copy(stages[i]->args)};
	return list;
}

static struct plan_pass plan_pass(const ProtobufCBinaryData *pass)
{
	struct plan_pass copy = {NULL, pass->len};

	if (pass->len)
		copy.data = (unsigned char *)memory_copy_bytes(pass->data, pass->len);
	return copy;
}

static struct plan_alternate *plan_alternates(const Evspace__Place *place)
{
	struct plan_alternate *list = memory_new(place->n_alternates, sizeof(*list));

	for (size_t i = 0; i < place->n_alternates; i++)
		list[i] = (struct plan_alternate){
			.node = memory_copy(place->alternates[i]->node),
			.address = memory_copy(place->alternates[i]->address),
			.pass = plan_pass(&place->alternates[i]->pass),
		};
	return list;
}

static struct plan_place *place_build(const Evspace__Place *place)
{
	struct plan_place *built = memory_new(1, sizeof(*built));

	*built = (struct plan_place){
		.index = place->index,
		.node = memory_copy(place->node),
		.cluster = memory_copy(place->cluster),
		.address = memory_copy(place->address),
		.leaf = place->leaf,
		.local = plan_stages(place->local, place->n_local),
		.n_local = place->n_local,
		.joined = plan_stages(place->joined, place->n_joined),
		.n_joined = place->n_joined,
		.children = memory_new(place->n_children, sizeof(struct plan_place *)),
		.n_children = place->n_children,
		.alternates = plan_alternates(place),
		.n_alternates = place->n_alternates,
		.placed = place->placed,
		.holds = memory_copy(place->holds),
		.elsewhere = memory_copy(place->elsewhere),
		.concurrency = place->concurrency,
		.gateway = place->gateway,
		.own = place->own,
		.pass = plan_pass(&place->pass),
	};
	for (size_t i = 0; i < place->n_children; i++)
		built->children[i] = place_build(place->children[i]);
	return built;
}

struct plan_place *wire_plan_place(const Evspace__Place *place, struct error *e)
{
	unsigned char *seen = memory_new(NAME_PLACE_MAX + 1, 1);
	int checked = place_check(place, 0, seen, e);

	free(seen);
	if (checked < 0) {
		errno = EPROTO;
		return NULL;
	}
	return place_build(place);
}

static void plan_stages_free(struct plan_stage *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].kind);
		free(list[i].args);
	}
	free(list);
}

void wire_plan_place_free(struct plan_place *place)
{
	if (!place)
		return;
	for (size_t i = 0; i < place->n_children; i++)
		wire_plan_place_free(place->children[i]);
	free(place->children);
	for (size_t i = 0; i < place->n_alternates; i++) {
		free(place->alternates[i].node);
		free(place->alternates[i].address);
		free(place->alternates[i].pass.data);
	}
	free(place->pass.data);
	free(place->alternates);
	free(place->holds);
	free(place->elsewhere);
	plan_stages_free(place->local, place->n_local);
	plan_stages_free(place->joined, place->n_joined);
	free(place->node);
	free(place->cluster);
	free(place->address);
	free(place);
}
