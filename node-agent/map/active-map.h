/* SPDX-License-Identifier: BSD-3-Clause */
/* The active map: the pathmap in effect on an agent, and the one before it. */
#ifndef EVSPACE_ACTIVE_MAP_H
#define EVSPACE_ACTIVE_MAP_H

#include <stdint.h>
#include <stdio.h>

#include "pathmap/cost/cost.h"
#include "pathmap/plan/plan.h"
#include "pathmap/plan/roster.h"
#include "pathmap/texts.h"
#include "tree/link/link.h"
#include "tree/link/pass.h"
#include "tree/wire/wire.h"

/** Nodes whose elements are not yet as the map says, as they were away. Owns what it points to;
 * none when zero-initialised. */
struct map_behind {
	char **nodes; /* sorted */
	size_t n;
	struct pathmap_texts since; /* a map that says how they all are; none: it is not known */
};

/** Plain data; owns what it points to. Only the entry has texts and roster. */
struct active_map {
	struct pathmap *map;
	uint64_t generation; /* from 1 */
	struct pathmap_texts texts;
	uint64_t before; /* generation of the map before, 0: there was none */
	struct pathmap_texts previous;
	struct map_behind behind;
	struct pathmap_texts started; /* the files that the agent was started with */
	struct roster *roster;
	struct pass_book *passes; /* signed ones; NULL: no agent has a certificate */
	struct lineage *above; /* nodes that the map puts above this one; NULL: not computed yet */
	struct calibration costs; /* of this host, by which the cost of views is predicted; the
				   * entry's, as they were when the map came */
	char *node;
	char *path;	/* of the file that stores it */
	char note[512]; /* where the map is from, if that is not obvious; else "" */
};

/** A map that may become the active one. Plain data; owns what it points to. */
struct active_map_draft {
	struct pathmap *map;
	struct pathmap_texts texts; /* its texts */
	struct roster *roster;	    /* including its nodes */
};

/** Complete the draft, whose texts are set. Returns 0, or -1 with errno and @e. */
int active_map_draft_make(struct active_map_draft *draft, const struct active_map *active_map,
			  struct error *e);
void active_map_draft_fini(struct active_map_draft *draft);

/**
 * The active map of agent @node, which is started with the pathmap in @dir (NULL: none, only this
 * machine) and keeps its state in @base. An applied map stays in effect until the files in @dir
 * differ from those that the agent was started with then: then the files are in effect, and the
 * applied map becomes the one before. @diagnostics: as of pathmap_load(). NULL with errno and @e.
 */
struct active_map *active_map_open(const char *base, const char *node, const char *dir,
				   FILE *diagnostics, struct error *e);

/** Is this the active map of the entry? Only the entry makes plans. Returns 0, or -1 with
 * EREMOTE and @e. */
int active_map_is_entry(const struct active_map *active_map, struct error *e);

/** May the peer use the agent of this active map? If that is behind a gateway, only agents and
 * peers on its host may. Returns 0, or -1 with EREMOTE and @e. */
int active_map_admit(const struct active_map *active_map, const struct peer *peer, struct error *e);

/**
 * In a child of a process that opened @active_map for no node of the map ("%n"): make it that of
 * @node, without writing to memory that the children share. Takes @active_map over. Returns like
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
 * The pathmap in effect for programs that are started with @dir on this host: the one that the
 * entry agent has stored in @base, by the same rule, else that of @dir. *@note, unless @note is
 * NULL, becomes a remark for the user, which the caller must free(), or NULL.
 */
struct pathmap *active_map_pathmap(const char *base, const char *dir, FILE *diagnostics,
				   char **note, struct error *e);

/** What a peer asks for: a view by name ("": events), or one that it defines, and its tree. Borrows
 * all of that. */
struct plan_wish active_map_wish(const Evspace__Open *open);

/**
 * The plan of @wish by @draft (NULL: by the active map), with the node indexes of all of this
 * agent's plans, and with what each leaf holds of the program. What a consumer has defined may cost
 * no more than the map says. @other, NULL or a map: see holding_compare(). Returns 0, or -1 with
 * errno and
 * @e.
 */
int active_map_plan(struct active_map *active_map, const struct active_map_draft *draft,
		    const struct plan_wish *wish, const struct pathmap *other, struct plan **plan,
		    struct error *e);

/** Sign passes (tree/link/pass.h) for all places below @root, of a plan by an applied map or a
 * draft. */
void active_map_passes(const struct active_map *active_map, struct plan_place *root);

/** The signer's certificate, DER, borrowed until the next passes are signed; empty: there is
 * none. */
ProtobufCBinaryData active_map_signer(const struct active_map *active_map);

/** plan_all() of the active map, signed if the map was applied. Free it by plan_way_free(). */
struct plan_place *active_map_all(const struct active_map *active_map);

/** Make @draft the active map: store it, then take it over and empty the draft. Returns 0, or -1
 * with errno and @e: then nothing has changed. */
int active_map_take(struct active_map *active_map, struct active_map_draft *draft, struct error *e);

/** Store it, with what is behind. Returns 0, or -1 with @e. */
int active_map_keep(const struct active_map *active_map, struct error *e);

/** Are the node's elements as a map before says? */
bool active_map_is_behind(const struct active_map *active_map, const char *node);

/** Make the @n @nodes, as far as they are in the map, those that are behind: as @since says (which
 * may be that of @active_map, or none, or NULL: it is not known). */
void active_map_behind_set(struct active_map *active_map, const char *const *nodes, size_t n,
			   const struct pathmap_texts *since);

/** Make @to, which has none, the same as @from. */
void map_behind_copy(struct map_behind *to, const struct map_behind *from);

/** Free them; then there are none. */
void map_behind_fini(struct map_behind *behind);

/** Send the map to the peer; without addresses of hosts if it may not control. */
void active_map_send(const struct active_map *active_map, struct link *link);

#endif
