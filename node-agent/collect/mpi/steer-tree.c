/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads rules of steered collectives, and cuts trees of ranks down to a communicator's members. */
#include "node-agent/collect/mpi/steer-tree.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[STEER_KINDS] = STEER_NAMES;

/* ---- rules ---- */

/* A tree while it is read. */
struct tree_reading {
	const char *at;
	struct steer_tree *tree;
	uint32_t room;
	uint8_t *seen; /* by rank */
};

static bool number_read(const char **at, uint64_t most, uint64_t *n)
{
	const char *from = *at;

	for (*n = 0; **at >= '0' && **at <= '9'; (*at)++) {
		*n = *n * 10 + (uint64_t)(**at - '0');
		if (*n > most)
			return false;
	}
	return *at > from;
}

static bool tree_grow(struct tree_reading *r)
{
	struct steer_tree *tree = r->tree;
	uint32_t room = r->room ? 2 * r->room : 64;
	int32_t *ranks = reallocarray(tree->ranks, room, sizeof(*ranks));
	int32_t *parents = reallocarray(tree->parent, room, sizeof(*parents));

	if (ranks)
		tree->ranks = ranks;
	if (parents)
		tree->parent = parents;
	if (!ranks || !parents)
		return false;
	r->room = room;
	return true;
}

static bool rank_add(struct tree_reading *r, uint64_t rank, int32_t parent)
{
	struct steer_tree *tree = r->tree;

	if (r->seen[rank] || (tree->n == r->room && !tree_grow(r)))
		return false;
	r->seen[rank] = 1;
	tree->ranks[tree->n] = (int32_t)rank;
	tree->parent[tree->n++] = parent;
	return true;
}

/* "3" or "3-7" below @parent; *@last is where the last of them is. */
static bool ranks_read(struct tree_reading *r, int32_t parent, int32_t *last)
{
	uint64_t from, to;

	if (!number_read(&r->at, STEER_RANKS_MAX - 1, &from))
		return false;
	to = from;
	if (*r->at == '-') {
		r->at++;
		if (!number_read(&r->at, STEER_RANKS_MAX - 1, &to) || to < from)
			return false;
	}
	for (; from <= to; from++) {
		*last = (int32_t)r->tree->n;
		if (!rank_add(r, from, parent))
			return false;
	}
	return true;
}

static bool tree_walk(struct tree_reading *r)
{
	int32_t above[STEER_DEPTH_MAX], last;
	unsigned depth = 0;

	for (;;) {
		if (!ranks_read(r, depth ? above[depth - 1] : -1, &last))
			return false;
		if (*r->at == '(') {
			if (depth == STEER_DEPTH_MAX)
				return false;
			above[depth++] = last;
			r->at++;
			continue;
		}
		for (; depth && *r->at == ')'; depth--)
			r->at++;
		if (*r->at != (depth ? ',' : '|'))
			return depth == 0 && (*r->at == ';' || *r->at == '\0');
		r->at++;
	}
}

static bool tree_read(struct steer_tree *tree, const char **text)
{
	struct tree_reading r = {.at = *text, .tree = tree, .seen = calloc(STEER_RANKS_MAX, 1)};
	bool right = r.seen && tree_walk(&r);

	free(r.seen);
	*text = r.at;
	return right;
}

static bool kinds_read(uint32_t *kinds, const char **text)
{
	for (;; (*text)++) {
		size_t n = strcspn(*text, ",@<!+=;");
		unsigned kind = 0;

		while (kind < STEER_KINDS && (strncmp(names[kind], *text, n) || names[kind][n]))
			kind++;
		if (kind == STEER_KINDS)
			return false;
		*kinds |= 1u << kind;
		*text += n;
		if (**text != ',')
			return true;
	}
}

static bool word_take(const char **text, const char *word)
{
	size_t n = strlen(word);
	bool is = strncmp(*text, word, n) == 0;

	*text += is ? n : 0;
	return is;
}

/* Stages by their letters behind a plus; false: another letter. */
static bool collected_read(uint32_t *collected, const char **text)
{
	const char *letter;

	*collected = STEER_COLLECTED;
	if (!word_take(text, "+"))
		return true;
	for (*collected = 0; **text && **text != '='; ++*text) {
		letter = strchr(STEER_STAGE_LETTERS, **text);
		if (!letter)
			return false;
		*collected |= 1u << (letter - STEER_STAGE_LETTERS);
	}
	return true;
}

static bool rule_read(struct steer_rule *rule, const char **text)
{
	*rule = (struct steer_rule){.most_bytes = UINT64_MAX};
	if (!kinds_read(&rule->kinds, text))
		return false;
	rule->world = word_take(text, "@world");
	if (word_take(text, "<=") && !number_read(text, UINT32_MAX, &rule->most_bytes))
		return false;
	rule->in_order = word_take(text, "!");
	return collected_read(&rule->collected, text) && word_take(text, "=") &&
	       tree_read(&rule->tree, text);
}

bool steer_rules_read(struct steer_rules *rules, const char *text)
{
	bool right = true;

	rules->n = 0;
	while (right && *text) {
		if (rules->n == STEER_RULES_MAX)
			right = false;
		else
			right = rule_read(&rules->items[rules->n++], &text);
		if (right && *text)
			text++; /* the `;` */
	}
	if (!right)
		steer_rules_fini(rules);
	return right;
}

void steer_rules_fini(struct steer_rules *rules)
{
	for (unsigned i = 0; i < rules->n; i++) {
		free(rules->items[i].tree.ranks);
		free(rules->items[i].tree.parent);
	}
	rules->n = 0;
}

/* ---- routes ---- */

/* While a route is made: by position in the tree, and by member. */
struct route_making {
	const struct steer_tree *tree;
	int32_t *member;   /* by world rank: its rank here, -1: it is not a member */
	int32_t *stand_in; /* by position: the member in its place, -1: none is below it */
	int32_t *first, *next, *last; /* children of each member, in order */
};

static bool members_find(struct route_making *m, const int32_t *world, int32_t n)
{
	uint32_t found = 0;

	memset(m->member, 0xff, STEER_RANKS_MAX * sizeof(*m->member));
	for (int32_t i = 0; i < n; i++) {
		if (world[i] < 0 || world[i] >= (int32_t)STEER_RANKS_MAX)
			return false;
		m->member[world[i]] = i;
	}
	for (uint32_t i = 0; i < m->tree->n; i++)
		found += m->member[m->tree->ranks[i]] >= 0;
	return found == (uint32_t)n;
}

/* Parents come before their children, so backwards the first child of each is the last to say. */
static void stand_ins_find(struct route_making *m)
{
	const struct steer_tree *tree = m->tree;

	memset(m->stand_in, 0xff, tree->n * sizeof(*m->stand_in));
	for (uint32_t i = tree->n; i-- > 0;) {
		int32_t own = m->member[tree->ranks[i]];

		if (own >= 0)
			m->stand_in[i] = own;
		if (tree->parent[i] >= 0 && m->stand_in[i] >= 0)
			m->stand_in[tree->parent[i]] = m->stand_in[i];
	}
}

static void child_add(struct route_making *m, struct steer_route *route, int32_t parent,
		      int32_t child)
{
	route->parent[child] = parent;
	m->next[child] = -1;
	if (m->first[parent] < 0)
		m->first[parent] = child;
	else
		m->next[m->last[parent]] = child;
	m->last[parent] = child;
}

static void members_link(struct route_making *m, struct steer_route *route)
{
	const struct steer_tree *tree = m->tree;

	memset(m->first, 0xff, (size_t)route->n * sizeof(*m->first));
	for (uint32_t i = 0; i < tree->n; i++) {
		int32_t mine = m->stand_in[i];
		int32_t above = tree->parent[i] < 0 ? -1 : m->stand_in[tree->parent[i]];

		if (mine >= 0 && above < 0)
			route->roots[route->n_roots++] = mine;
		else if (mine >= 0 && above != mine)
			child_add(m, route, above, mine);
	}
	route->parent[route->roots[0]] = -1;
	for (int32_t i = 1; i < route->n_roots; i++)
		child_add(m, route, route->roots[0], route->roots[i]);
}

/* Preorder, and the sizes of subtrees, which are known when a subtree is left. */
static void members_order(const struct route_making *m, struct steer_route *route)
{
	int32_t at = route->roots[0], n = 0;

	while (at >= 0) {
		route->at[at] = n;
		route->order[n++] = at;
		if (m->first[at] >= 0) {
			at = m->first[at];
			continue;
		}
		for (; at >= 0; at = route->parent[at]) {
			route->size[at] = n - route->at[at];
			if (route->parent[at] >= 0 && m->next[at] >= 0)
				break;
		}
		at = at >= 0 ? m->next[at] : -1;
	}
}

static void children_take(const struct route_making *m, struct steer_route *route)
{
	int32_t roots = route->me == route->roots[0] ? route->n_roots - 1 : 0;

	for (int32_t c = m->first[route->me]; c >= 0; c = m->next[c])
		route->children[route->n_children++] = c;
	route->n_own = route->n_children - roots;
}

int steer_route_make(struct steer_route *route, const struct steer_tree *tree, const int32_t *world,
		     int32_t n, int32_t me)
{
	/* six tables of members in the route, four for making it, one by world rank */
	size_t each = (size_t)n;
	int32_t *tables = calloc(6 * each, sizeof(*tables));
	int32_t *making = calloc(3 * each + tree->n + STEER_RANKS_MAX, sizeof(*making));
	struct route_making m = {.tree = tree};
	bool is_memory = tables && making;
	bool right = n > 0 && me >= 0 && me < n && is_memory;

	*route = (struct steer_route){.n = n, .me = me};
	if (right) {
		route->parent = tables;
		route->order = tables + each;
		route->at = tables + 2 * each;
		route->size = tables + 3 * each;
		route->roots = tables + 4 * each;
		route->children = tables + 5 * each;
		m.first = making;
		m.next = making + each;
		m.last = making + 2 * each;
		m.stand_in = making + 3 * each;
		m.member = m.stand_in + tree->n;
		right = members_find(&m, world, n);
	}
	if (right) {
		stand_ins_find(&m);
		members_link(&m, route);
		members_order(&m, route);
		children_take(&m, route);
	} else {
		free(tables);
		*route = (struct steer_route){0};
	}
	free(making);
	return right ? 1 : is_memory ? 0 : -1;
}

void steer_route_fini(struct steer_route *route)
{
	free(route->parent);
	*route = (struct steer_route){0};
}

static bool is_below(const struct steer_route *route, int32_t member, int32_t top)
{
	return route->at[member] >= route->at[top] &&
	       route->at[member] < route->at[top] + route->size[top];
}

int32_t steer_route_up(const struct steer_route *route, int32_t root)
{
	if (root == route->me)
		return -1;
	if (!is_below(route, root, route->me))
		return route->parent[route->me];
	for (int32_t i = 0; i < route->n_children; i++)
		if (is_below(route, root, route->children[i]))
			return route->children[i];
	return -1;
}

/* All but the subtree of @top. */
static struct steer_span outside(const struct steer_route *route, int32_t top)
{
	int32_t behind = route->at[top] + route->size[top];

	return (struct steer_span){{0, behind}, {route->at[top], route->n - behind}};
}

static struct steer_span inside(const struct steer_route *route, int32_t top)
{
	return (struct steer_span){{route->at[top], 0}, {route->size[top], 0}};
}

struct steer_span steer_route_beyond(const struct steer_route *route, int32_t neighbour)
{
	return neighbour == route->parent[route->me] ? outside(route, route->me)
						     : inside(route, neighbour);
}

struct steer_span steer_route_hither(const struct steer_route *route, int32_t neighbour)
{
	return neighbour == route->parent[route->me] ? inside(route, route->me)
						     : outside(route, neighbour);
}
