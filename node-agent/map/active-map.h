/* SPDX-License-Identifier: BSD-3-Clause */
/* The active map: the pathmap that an agent goes by now, and the one before it. */
#ifndef EVSPACE_ACTIVE_MAP_H
#define EVSPACE_ACTIVE_MAP_H

#include <stdint.h>
#include <stdio.h>

#include "pathmap/plan/plan.h"
#include "pathmap/plan/roster.h"
#include "pathmap/texts.h"
#include "tree/link/link.h"
#include "tree/link/pass.h"
#include "tree/wire/wire.h"

/** Plain data; owns what it points to. Texts and roster are the entry's only. */
struct active_map {
	struct pathmap *map;
	uint64_t generation; /* from 1 */
	struct pathmap_texts texts;
	uint64_t before; /* generation of the map before, 0: there was none */
	struct pathmap_texts previous;
	struct pathmap_texts started; /* the files that the agent was started with */
	struct roster *roster;
	struct pass_book *passes; /* that it has signed; NULL: no agent has a certificate */
	struct lineage *above;	  /* whom the map puts above the node; NULL: nobody has asked */
	char *node;
	char *path;	/* of the file that it is kept in */
	char note[512]; /* where the map is from, when that is not plain; else "" */
};

/** A map that may come to count. Plain data; owns what it points to. */
struct active_map_draft {
	struct pathmap *map;
	struct pathmap_texts texts; /* that it is made of */
	struct roster *roster;	    /* with its nodes as well */
};

/** Make the draft of its texts, which are there. Returns 0, or -1 with errno and @e. */
int active_map_draft_make(struct active_map_draft *draft, const struct active_map *active_map,
			  struct error *e);
void active_map_draft_fini(struct active_map_draft *draft);

/**
 * The active map of agent @node, which is started with the pathmap in @dir (NULL: none, this
 * machine alone) and keeps its state in @base. A map that was applied while it ran counts, until
 * the files in @dir are other ones than those it was started with at that time: then these do, and
 * the applied map is the one before. @diagnostics: as of pathmap_load(). NULL with errno and @e.
 */
struct active_map *active_map_open(const char *base, const char *node, const char *dir,
				   FILE *diagnostics, struct error *e);

/** Is it the entry that has this active map? Only it makes plans. Returns 0, or -1 with EREMOTE and
 * @e.
 */
int active_map_is_entry(const struct active_map *active_map, struct error *e);

/**
 * May the peer ask the agent that has this active map anything? Whoever is not an agent, and not on
 * its host, comes through the gateway if there is one. Returns 0, or -1 with EREMOTE and @e.
 */
int active_map_admit(const struct active_map *active_map, const struct peer *peer, struct error *e);

/**
 * In a process forked off one that opened @active_map for no node of the map ("%n"): make it that
 * of
 * @node, without writing to what all have in common. @active_map is taken over. As
 * active_map_open().
 */
struct active_map *active_map_make_own(struct active_map *active_map, const char *base,
				       const char *node, const char *dir, FILE *diagnostics,
				       struct error *e);

/** NULL is fine. */
void active_map_free(struct active_map *active_map);

/** Does the map let the agent of node @other stand above that of @active_map
 * (pathmap/plan/lineage.h)? */
bool active_map_has_above(struct active_map *active_map, const char *other);

/**
 * The pathmap that counts for what is started with @dir on this host: the one that its entry agent
 * has kept in @base, by the same rule, else what @dir says. *@note, unless NULL, is the caller's to
 * free: what is to be said about it, or NULL.
 */
struct pathmap *active_map_pathmap(const char *base, const char *dir, FILE *diagnostics,
				   char **note, struct error *e);

/**
 * The plan of a view by @draft (NULL: by the active map's own map) with the indexes that nodes have
 * in all of this agent's plans, and what each leaf holds of @run ("": the program's). @other, NULL
 * or a map: see holding_compare(). Returns 0 or -1 with @e.
 */
int active_map_plan(struct active_map *active_map, const struct active_map_draft *draft,
		    const char *view, const char *run, const struct pathmap *other,
		    struct plan **plan, struct error *e);

/**
 * Sign for all below @root, of a plan by a map that was applied or is a draft, who may stand above
 * them (tree/link/pass.h).
 */
void active_map_passes(const struct active_map *active_map, struct plan_place *root);

/** The certificate for these, DER, borrowed until the next are signed; empty: there is none. */
ProtobufCBinaryData active_map_signer(const struct active_map *active_map);

/** plan_all() of the map that counts, signed if it was applied. plan_way_free() it. */
struct plan_place *active_map_all(const struct active_map *active_map);

/**
 * Go by @draft from now on: kept first, then taken over; the draft is empty then. Returns 0, or -1
 * with errno and @e: then nothing has changed.
 */
int active_map_take(struct active_map *active_map, struct active_map_draft *draft, struct error *e);

/** Send it to who asked for it. Whoever may not control is not told where hosts are. */
void active_map_send(const struct active_map *active_map, struct link *link);

#endif
