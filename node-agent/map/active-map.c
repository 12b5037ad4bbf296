/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the map in effect in a file, so that a restarted agent continues with it. */
#include "node-agent/map/active-map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pathmap/model/deployment.h"
#include "pathmap/plan/lineage.h"
#include "pathmap/base/memory.h"
#include "tree/stage/stage.h"

/* Twelve texts and the names of 8,192 nodes, twice, fit. */
#define KEPT_MAX (16u << 20)

/* ---- the file ---- */

static char *kept_path(const char *base, const char *node)
{
	return memory_format("%s/agent-%s.map", base, node);
}

static Evspace__MapKept *kept_parse(int fd, size_t bytes)
{
	uint8_t *packed = memory_new(bytes + 1, 1);
	Evspace__MapKept *kept = NULL;
	size_t n = 0;
	ssize_t more;

	while (n < bytes && (more = read(fd, packed + n, bytes - n)) > 0)
		n += (size_t)more;
	if (n == bytes)
		kept = evspace__map_kept__unpack(NULL, bytes, packed);
	free(packed);
	if (!kept || (kept->map && kept->map->texts && kept->started && kept->map->generation &&
		      kept->map->generation < INT64_MAX))
		return kept;
	evspace__map_kept__free_unpacked(kept, NULL);
	return NULL;
}

/* The stored map, NULL: none that can be used. */
static Evspace__MapKept *kept_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	Evspace__MapKept *kept = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    st.st_size <= (off_t)KEPT_MAX)
		kept = kept_parse(fd, (size_t)st.st_size);
	close(fd);
	return kept;
}

static int packed_write(const char *path, const uint8_t *packed, size_t bytes, struct error *e)
{
	char *aside = memory_format("%s.new", path);
	int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t n = 0;
	ssize_t more = 0;

	while (fd >= 0 && n < bytes && (more = write(fd, packed + n, bytes - n)) > 0)
		n += (size_t)more;
	if (fd >= 0)
		close(fd);
	if (fd < 0 || n < bytes || rename(aside, path) < 0) {
		errorf(e, "the map cannot be kept in %s: %s", path, strerror(errno));
		unlink(aside);
		free(aside);
		return -1;
	}
	free(aside);
	return 0;
}

static void texts_message(const struct pathmap_texts *texts, Evspace__MapTexts *m)
{
	static char none[] = "";

	evspace__map_texts__init(m);
	m->application = texts->application ? texts->application : none;
	m->cluster = texts->cluster ? texts->cluster : none;
	m->mapping = texts->mapping ? texts->mapping : none;
}

/* Make a message of the active map, which still owns the texts. */
static void active_map_message(const struct active_map *c, Evspace__Map *map,
			       Evspace__MapTexts texts[2])
{
	evspace__map__init(map);
	texts_message(&c->texts, &texts[0]);
	texts_message(&c->previous, &texts[1]);
	map->generation = c->generation;
	map->texts = &texts[0];
	map->before = c->before;
	map->previous = c->before ? &texts[1] : NULL;
}

/* Copy @texts without addresses of hosts. */
static void texts_message_hidden(const struct pathmap_texts *texts, struct pathmap_texts *hidden,
				 Evspace__MapTexts *m)
{
	texts_set(hidden, texts->application, texts->cluster, texts->mapping);
	texts_hide(hidden);
	texts_message(hidden, m);
}

void active_map_send(const struct active_map *c, struct link *link)
{
	const struct peer *peer = link_peer(link);
	struct pathmap_texts hidden[2] = {{0}};
	Evspace__MapTexts texts[2];
	Evspace__Map map;

	active_map_message(c, &map, texts);
	map.hidden = !(peer->roles & ROLE_CONTROL) || peer->limits;
	if (map.hidden)
		texts_message_hidden(&c->texts, &hidden[0], &texts[0]);
	if (map.hidden && c->before)
		texts_message_hidden(&c->previous, &hidden[1], &texts[1]);
	link_send(link, &WIRE_FRAME(MAP, map, &map), NULL);
	texts_fini(&hidden[0]);
	texts_fini(&hidden[1]);
}

int active_map_keep(const struct active_map *c, struct error *e)
{
	Evspace__MapKept kept = EVSPACE__MAP_KEPT__INIT;
	Evspace__MapTexts texts[2], started, since;
	Evspace__Map map;
	uint8_t *packed;
	size_t bytes;
	int rc;

	active_map_message(c, &map, texts);
	texts_message(&c->started, &started);
	kept.map = &map;
	kept.started = &started;
	kept.n_nodes = roster_count(c->roster);
	kept.nodes = roster_nodes(c->roster);
	kept.n_behind = c->behind.n;
	kept.behind = c->behind.nodes;
	texts_message(&c->behind.since, &since);
	kept.since = c->behind.since.application ? &since : NULL;
	bytes = evspace__map_kept__get_packed_size(&kept);
	packed = memory_new(bytes, 1);
	evspace__map_kept__pack(&kept, packed);
	rc = packed_write(c->path, packed, bytes, e);
	free(packed);
	return rc;
}

/* ---- which map is in effect ---- */

enum which {
	WHICH_FILES, /* there is no stored map that can be used */
	WHICH_KEPT,  /* the files are unchanged, or equal the applied map */
	WHICH_NEWER, /* the files were changed after it was applied */
};

static void texts_take(struct pathmap_texts *texts, const Evspace__MapTexts *m)
{
	texts_set(texts, m->application, m->cluster, m->mapping);
}

static enum which kept_which(const Evspace__MapKept *kept, const struct pathmap_texts *started)
{
	struct pathmap_texts then, applied;
	enum which which;

	if (!kept)
		return WHICH_FILES;
	texts_take(&then, kept->started);
	texts_take(&applied, kept->map->texts);
	which = texts_equal(&then, started) || texts_equal(&applied, started) ? WHICH_KEPT
									      : WHICH_NEWER;
	texts_fini(&then);
	texts_fini(&applied);
	return which;
}

static int started_read(struct pathmap_texts *started, const char *node, const char *dir,
			struct error *e)
{
	if (dir)
		return texts_read(started, dir, e);
	texts_local(started, node);
	return 0;
}

/* ---- active maps ---- */

/* Restore the node indexes of this map and of the one before. */
static int active_map_remember(struct active_map *c, const Evspace__MapKept *kept, struct error *e)
{
	struct pathmap *was = c->before ? texts_parse(&c->previous, stage_check, NULL) : NULL;
	const struct pathmap *maps[2] = {c->map, was};
	int rc = roster_restore(c->roster, kept->nodes, kept->n_nodes, maps, e);

	pathmap_free(was);
	return rc;
}

static int active_map_take_kept(struct active_map *c, const Evspace__MapKept *kept)
{
	struct pathmap_texts since = {NULL, NULL, NULL};
	struct pathmap *map;

	texts_take(&c->texts, kept->map->texts);
	c->generation = kept->map->generation;
	if (kept->map->before && kept->map->previous) {
		c->before = kept->map->before;
		texts_take(&c->previous, kept->map->previous);
	}
	map = texts_parse(&c->texts, stage_check, NULL);
	if (!map)
		return -1;
	pathmap_free(c->map);
	c->map = map;
	if (kept->since)
		texts_take(&since, kept->since);
	active_map_behind_set(c, (const char *const *)kept->behind, kept->n_behind, &since);
	texts_fini(&since);
	return active_map_remember(c, kept, NULL);
}

static void active_map_forget(struct active_map *c)
{
	texts_fini(&c->texts);
	texts_fini(&c->previous);
	map_behind_fini(&c->behind);
	roster_free(c->roster);
	c->roster = roster_new();
	c->before = c->generation = 0;
}

/* Use the files; an applied map, if there is one, becomes the one before. */
static void active_map_take_files(struct active_map *c, const Evspace__MapKept *kept)
{
	const struct pathmap_texts *t = &c->started;

	texts_set(&c->texts, t->application, t->cluster, t->mapping);
	c->generation = 1;
	if (!kept)
		return;
	c->before = kept->map->generation;
	c->generation = c->before + 1;
	texts_take(&c->previous, kept->map->texts);
	(void)active_map_remember(c, kept, NULL);
	snprintf(c->note, sizeof(c->note),
		 "map generation %llu is of the files, which were changed; generation %llu, which "
		 "was applied, is the one before",
		 (unsigned long long)c->generation, (unsigned long long)c->before);
}

static void active_map_choose(struct active_map *c)
{
	Evspace__MapKept *kept = kept_read(c->path);
	enum which which = kept_which(kept, &c->started);

	if (which == WHICH_KEPT && active_map_take_kept(c, kept) == 0) {
		if (!texts_equal(&c->texts, &c->started))
			snprintf(c->note, sizeof(c->note),
				 "map generation %llu, which was applied, stays in effect; the "
				 "files have not been changed since",
				 (unsigned long long)c->generation);
	} else {
		if (which == WHICH_KEPT)
			active_map_forget(c);
		active_map_take_files(c, which == WHICH_NEWER ? kept : NULL);
	}
	if (kept)
		evspace__map_kept__free_unpacked(kept, NULL);
}

/* Read the file of costs, not for each view, since it may be on a slow file system. */
static void active_map_costs(struct active_map *c)
{
	char *path = calibration_path();

	calibration_fini(&c->costs);
	/* a file that is wrong is what doctor tells; the built-in costs are there */
	(void)calibration_read(&c->costs, path, NULL);
	free(path);
}

struct active_map *active_map_open(const char *base, const char *node, const char *dir,
				   FILE *diagnostics, struct error *e)
{
	struct active_map *c = memory_new(1, sizeof(*c));
	int saved;

	c->node = memory_copy(node);
	c->path = kept_path(base, node);
	c->roster = roster_new();
	c->map = dir ? pathmap_load(dir, stage_check, diagnostics, e)
		     : pathmap_local(node, stage_check);
	if (!c->map || started_read(&c->started, node, dir, e) < 0)
		goto fail;
	active_map_choose(c);
	if (active_map_is_entry(c, NULL) < 0) {
		active_map_forget(c);
		texts_fini(&c->started);
		return c;
	}
	active_map_costs(c);
	if (roster_fill(c->roster, c->map, e) < 0 || (c->before && active_map_keep(c, e) < 0))
		goto fail;
	return c;
fail:
	saved = errno;
	active_map_free(c);
	errno = saved;
	return NULL;
}

int active_map_is_entry(const struct active_map *c, struct error *e)
{
	const char *entry = pathmap_entry(c->map);

	if (strcmp(entry, c->node) == 0)
		return 0;
	errno = EREMOTE;
	return errorf(e, "this agent is %s; the entry of its pathmap is %s: connect to %s", c->node,
		      entry,
		      pathmap_gateway(c->map, entry) ? "it" : pathmap_address(c->map, entry));
}

int active_map_admit(const struct active_map *c, const struct peer *peer, struct error *e)
{
	const char *entry = pathmap_entry(c->map), *gateway = NULL;

	if (!peer->local && !(peer->roles & ROLE_AGENT) && strcmp(entry, c->node) != 0)
		gateway = pathmap_gateway(c->map, c->node);
	if (!gateway)
		return 0;
	errno = EREMOTE;
	return errorf(e,
		      "this agent is %s, behind the gateway %s: only agents may connect to it; the "
		      "entry of its pathmap is %s: connect to that",
		      c->node, gateway, entry);
}

struct active_map *active_map_make_own(struct active_map *c, const char *base, const char *node,
				       const char *dir, FILE *diagnostics, struct error *e)
{
	char *path = kept_path(base, node);

	/* the entry needs more, and may have stored another map */
	if (strcmp(pathmap_entry(c->map), node) == 0 || access(path, F_OK) == 0) {
		free(path);
		active_map_free(c);
		return active_map_open(base, node, dir, diagnostics, e);
	}
	lineage_free(c->above);
	c->above = NULL;
	free(c->path);
	free(c->node);
	c->path = path;
	c->node = memory_copy(node);
	return c;
}

void active_map_free(struct active_map *c)
{
	if (!c)
		return;
	lineage_free(c->above);
	pathmap_free(c->map);
	texts_fini(&c->texts);
	texts_fini(&c->previous);
	texts_fini(&c->started);
	map_behind_fini(&c->behind);
	roster_free(c->roster);
	pass_book_free(c->passes);
	calibration_fini(&c->costs);
	free(c->node);
	free(c->path);
	free(c);
}

bool active_map_has_above(struct active_map *c, const char *other)
{
	/* once per map: walking the trees of thousands of hosts takes tens of milliseconds */
	if (!c->above)
		c->above = lineage_new(c->map, c->node);
	return lineage_has(c->above, other);
}

struct pathmap *active_map_pathmap(const char *base, const char *dir, FILE *diagnostics,
				   char **note, struct error *e)
{
	struct pathmap *files = pathmap_load(dir, stage_check, diagnostics, e), *map = NULL;
	struct pathmap_texts started = {NULL, NULL, NULL}, applied;
	Evspace__MapKept *kept;
	char *path;

	*note = NULL;
	if (!files)
		return NULL;
	path = kept_path(base, pathmap_entry(files));
	kept = kept_read(path);
	if (kept && texts_read(&started, dir, NULL) == 0 &&
	    kept_which(kept, &started) == WHICH_KEPT) {
		texts_take(&applied, kept->map->texts);
		map = texts_parse(&applied, stage_check, NULL);
		if (map && !texts_equal(&applied, &started))
			*note = memory_format("map generation %llu is in effect, applied at %s",
					      (unsigned long long)kept->map->generation,
					      pathmap_entry(files));
		texts_fini(&applied);
	}
	texts_fini(&started);
	if (kept)
		evspace__map_kept__free_unpacked(kept, NULL);
	free(path);
	if (!map)
		return files;
	pathmap_free(files);
	return map;
}

int active_map_draft_make(struct active_map_draft *draft, const struct active_map *c,
			  struct error *e)
{
	draft->map = texts_parse(&draft->texts, stage_check, e);
	if (!draft->map)
		return -1;
	draft->roster = roster_copy(c->roster);
	return roster_fill(draft->roster, draft->map, e);
}

void active_map_draft_fini(struct active_map_draft *draft)
{
	pathmap_free(draft->map);
	texts_fini(&draft->texts);
	roster_free(draft->roster);
	*draft = (struct active_map_draft){.map = NULL};
}

int active_map_take(struct active_map *c, struct active_map_draft *draft, struct error *e)
{
	struct active_map next = *c;

	next.before = c->generation;
	next.previous = c->texts;
	next.generation = c->generation + 1;
	next.texts = draft->texts;
	next.map = draft->map;
	next.roster = draft->roster;
	next.above = NULL;
	if (active_map_keep(&next, e) < 0)
		return -1;
	lineage_free(c->above);
	pathmap_free(c->map);
	texts_fini(&c->previous);
	roster_free(c->roster);
	*c = next;
	active_map_costs(c);
	*draft = (struct active_map_draft){.map = NULL};
	return 0;
}
