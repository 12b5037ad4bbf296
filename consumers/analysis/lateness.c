/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums meetings up by class and process, and judges who was late. */
#include "consumers/analysis/lateness.h"

#include <math.h>
#include <stdlib.h>

#include "consumers/analysis/class-form.h"
#include "consumers/analysis/overlap.h"
#include "consumers/analysis/tail.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Most classes (5 MB), and processes in them (40 MB, 1 to 3 KB more for each that is late). */
#define CLASSES_MOST 1024u
#define MEMBERS_MOST (1u << 18)

/* Most that are kept until it is known better what is usual for their class: by so many values. */
#define HELD_MOST 4096u
#define SURE	  1000u

/* A process's number is below this. */
#define PROCESSES_MOST (1u << 22)

/* Most waits that are remembered: 16 MB. */
#define WAITS_MOST (1u << 20)

struct class_key {
	uint32_t comm, site; /* comm 0: those of a form on any other communicator, of so many */
	uint32_t members;    /* members; else 0 */
	uint16_t op, magnitude;
};

struct lateness_row {
	struct class_key key;
	struct lateness_class sums;
	struct class_form *form; /* while it is young; else NULL */
	struct tail usual;	 /* how far members are from the middle one */
	unsigned held;
	UT_hash_handle hh;
};

struct member_row {
	struct {
		const struct lateness_class *of;
		uint64_t process;
	} key;
	struct lateness_member sums;
	UT_hash_handle hh;
};

struct lateness {
	double confidence;
	lateness_take *take;
	void *arg;
	struct lateness_row *classes;
	struct class_form *forms; /* not more than classes */
	const struct lateness_class **list;
	size_t n_list;
	struct member_row *members;
	struct late_once *held;
	struct lateness_row **held_of;
	size_t n_held;
	uint64_t judged; /* members of all meetings */
	bool *came;	 /* by process: it was in one */
	size_t n_came, processes;
	int64_t from_ns, to_ns;
	uint64_t left_out;
	struct overlaps *counted; /* the time that each process has waited */
	struct wait *waits;	  /* of the meeting at hand */
	size_t n_waits;
};

struct lateness *lateness_new(double confidence, lateness_take *take, void *arg)
{
	struct lateness *l = memory_new(1, sizeof(*l));

	l->confidence = confidence;
	l->take = take;
	l->arg = arg;
	l->held = memory_new(HELD_MOST, sizeof(*l->held));
	l->held_of = memory_new(HELD_MOST, sizeof(*l->held_of));
	l->list = memory_new(CLASSES_MOST, sizeof(*l->list));
	l->counted = overlaps_new(WAITS_MOST);
	return l;
}

void lateness_free(struct lateness *l)
{
	struct lateness_row *c, *next_class;
	struct member_row *p, *next_member;

	if (!l)
		return;
	HASH_ITER(hh, l->classes, c, next_class)
	{
		HASH_DEL(l->classes, c);
		free(c);
	}
	class_forms_free(&l->forms);
	HASH_ITER(hh, l->members, p, next_member)
	{
		HASH_DEL(l->members, p);
		middle_fini(&p->sums.late_ns);
		free(p);
	}
	free(l->held);
	free(l->held_of);
	free(l->list);
	free(l->came);
	overlaps_free(l->counted);
	free(l->waits);
	free(l);
}

/* ---- classes and members ---- */

/* @site: where it was called from. */
static struct class_key key_of(const struct meet *m, uint32_t site)
{
	return (struct class_key){
		.comm = m->comm, .site = site, .op = m->op, .magnitude = m->magnitude};
}

/* That of the process with the lowest number. */
static uint32_t site_of(const struct meeting *m)
{
	const struct arrival *first = m->arrivals;

	for (size_t i = 0; i < m->n; i++)
		first = m->arrivals[i].process < first->process ? &m->arrivals[i] : first;
	return first->site;
}

static struct lateness_row *class_find(const struct lateness *l, const struct class_key *key)
{
	struct lateness_row *c;

	HASH_FIND(hh, l->classes, key, sizeof(*key), c);
	return c;
}

static struct lateness_row *class_new(struct lateness *l, const struct class_key *key)
{
	struct lateness_row *c = memory_new(1, sizeof(*c));

	c->key = *key;
	c->sums = (struct lateness_class){.comm = key->comm,
					  .site = key->site,
					  .op = key->op,
					  .magnitude = key->magnitude,
					  .scale = 1};
	HASH_ADD(hh, l->classes, key, sizeof(c->key), c);
	l->list[l->n_list++] = &c->sums;
	return c;
}

/* That of @key, or of its form, of @members, if many young ones are. NULL: there are too many. */
static struct lateness_row *class_of(struct lateness *l, struct class_key key, uint32_t members)
{
	struct lateness_row *c = class_find(l, &key);
	struct class_key any = key;
	struct class_form *form;

	if (c)
		return c;
	any.comm = 0;
	any.members = members;
	c = class_find(l, &any);
	if (l->n_list == CLASSES_MOST)
		return c;
	form = class_form_of(
		&l->forms, &(struct class_form_key){any.site, any.members, any.op, any.magnitude});
	if (class_form_is_full(form))
		return c ? c : class_new(l, &any);
	c = class_new(l, &key);
	c->form = form;
	form->young++;
	return c;
}

/* It has had one more operation. */
static void class_grow(struct lateness_row *c)
{
	if (!c->form || c->sums.meetings < CLASS_FORM_TIMES)
		return;
	c->form->young--;
	c->form = NULL;
}

/* NULL: there are too many. */
static struct lateness_member *member_of(struct lateness *l, struct lateness_row *c,
					 uint32_t process, uint32_t site)
{
	struct member_row *p, look = {.key = {&c->sums, process}};

	HASH_FIND(hh, l->members, &look.key, sizeof(look.key), p);
	if (!p && HASH_COUNT(l->members) == MEMBERS_MOST) {
		l->left_out++;
		return NULL;
	}
	if (!p) {
		p = memory_new(1, sizeof(*p));
		p->key = look.key;
		p->sums.of = &c->sums;
		p->sums.process = process;
		HASH_ADD(hh, l->members, key, sizeof(p->key), p);
	}
	p->sums.site = site;
	return &p->sums;
}

/* ---- sums ---- */

static void process_count(struct lateness *l, uint32_t process)
{
	while (l->n_came <= process && process < PROCESSES_MOST) {
		l->came = memory_room(l->came, l->n_came, sizeof(*l->came));
		l->came[l->n_came++] = false;
	}
	if (process >= PROCESSES_MOST || l->came[process])
		return;
	l->came[process] = true;
	l->processes++;
}

/* What they did since the collective before, if that is known of all of them. */
static void add_between(struct lateness_class *c, const struct meeting *m)
{
	double sum = 0, most = 0;

	for (size_t i = 0; i < m->n; i++) {
		double ns = (double)m->arrivals[i].between_ns;

		if (ns < 0)
			return;
		sum += ns;
		most = ns > most ? ns : most;
	}
	c->between_ns += sum / (double)m->n;
	c->busiest_ns += most;
}

static void add_class(struct lateness *l, struct lateness_class *c, const struct meet *m,
		      const struct meeting_waits *all)
{
	c->meetings++;
	c->members += m->count;
	c->kind = all->kind != WAIT_NONE ? all->kind : c->kind;
	c->spread_ns += all->spread_ns;
	if (c->meetings == 1 || all->spread_ns - all->error_ns > c->spread_most_ns) {
		c->spread_most_ns = all->spread_ns - all->error_ns;
		c->most_number = m->number;
		c->most_process = m->who;
	}
	c->inside_ns += all->inside_ns;
	c->waited_ns += all->waited_ns;
	c->bytes += m->bytes;
	c->untold += all->untold;
	if (!l->from_ns || (int64_t)m->start < l->from_ns)
		l->from_ns = (int64_t)m->start;
	if ((int64_t)m->last_end > l->to_ns)
		l->to_ns = (int64_t)m->last_end;
}

static void add_member(struct lateness_member *p, const struct wait *w, bool late)
{
	p->waited_ns += w->ns;
	p->caused_ns += w->caused_ns;
	if (!late)
		return;
	p->times++;
	middle_add(&p->late_ns, w->late_ns);
	p->late_sum_ns += w->late_ns;
	p->error_ns += w->error_ns;
}

static void add_members(struct lateness *l, struct lateness_row *c, const struct meeting *m,
			const struct meeting_waits *all)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct arrival *a = &m->arrivals[i];
		struct lateness_member *p = member_of(l, c, a->process, a->site);

		process_count(l, a->process);
		if (!p)
			continue;
		p->meetings++;
		add_member(p, &l->waits[i], i == all->late);
	}
}

/* ---- late once ---- */

/*
 * The n-th of all that are judged is told if usual ones are so late with a probability below
 * alpha / (2 n (1 + log n)^2), as the sum of these is below alpha, however many there will be.
 */
static bool judge(struct lateness *l, struct lateness_row *c, struct late_once *late)
{
	double n = (double)l->judged, spent = 2 * pow(1 + log(n), 2);
	double expected =
		tail_expected(&c->usual, late->late_ns - late->error_ns) * n / (double)c->usual.n;

	late->confidence = 1 - expected * spent;
	if (late->confidence < l->confidence)
		return false;
	l->take(l->arg, late);
	return true;
}

/* Judge those of @c (NULL: of all) by what is known now. */
static void judge_held(struct lateness *l, const struct lateness_row *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n_held; i++) {
		if (!c || l->held_of[i] == c) {
			(void)judge(l, l->held_of[i], &l->held[i]);
			l->held_of[i]->held--;
		} else {
			l->held[kept] = l->held[i];
			l->held_of[kept++] = l->held_of[i];
		}
	}
	l->n_held = kept;
}

/* @late is whoever the wait @w is of. */
static void look_at(struct lateness *l, struct lateness_row *c, const struct wait *w,
		    struct late_once late)
{
	late.of = &c->sums;
	late.late_ns = w->late_ns;
	late.error_ns = w->error_ns;
	late.caused_ns = w->caused_ns;
	/* nor is one that nobody has waited for, as another one came yet later */
	if (!w->awaited || w->late_ns <= w->error_ns || w->caused_ns <= 0)
		return;
	if (judge(l, c, &late) || c->usual.n >= SURE || l->n_held == HELD_MOST)
		return;
	l->held[l->n_held] = late;
	l->held_of[l->n_held++] = c;
	c->held++;
}

void lateness_add(struct lateness *l, const struct meeting *m)
{
	const struct meeting_sum sum = meeting_sum_of(m);
	struct lateness_row *c = class_of(l, key_of(&sum.meet, site_of(m)), sum.meet.count);
	struct meeting_waits all;

	if (!c) {
		l->left_out++;
		return;
	}
	if (m->n > l->n_waits) {
		free(l->waits);
		l->waits = memory_new(m->n, sizeof(*l->waits));
		l->n_waits = m->n;
	}
	all = wait_find(m, l->waits);
	wait_once(m, l->waits, &all, l->counted);
	add_class(l, &c->sums, &sum.meet, &all);
	class_grow(c);
	add_between(&c->sums, m);
	add_members(l, c, m, &all);
	for (size_t i = 0; i < m->n && m->n > 1; i++)
		tail_add(&c->usual, fabs(l->waits[i].late_ns));
	l->judged += m->n;
	for (size_t i = 0; i < m->n; i++) {
		const struct arrival *a = &m->arrivals[i];

		look_at(l, c, &l->waits[i],
			(struct late_once){.number = m->key.number,
					   .process = a->process,
					   .site = a->site,
					   .start_ns = a->start_ns});
	}
	if (c->held && c->usual.n >= SURE)
		judge_held(l, c);
}

void lateness_add_sum(struct lateness *l, const struct meeting_sum *sum)
{
	const struct meet *m = &sum->meet;
	struct lateness_row *c = class_of(l, key_of(m, 0), m->count);
	struct lateness_member *p = c ? member_of(l, c, m->who, sum->site) : NULL;
	struct meeting_waits all;
	struct wait last;

	if (!c) {
		l->left_out++;
		return;
	}
	all = wait_find_summed(sum, &last);
	add_class(l, &c->sums, m, &all);
	class_grow(c);
	if (p)
		add_member(p, &last, all.late == 0);
	l->processes = m->count > l->processes ? m->count : l->processes;
	if (!last.awaited)
		return;
	l->judged++;
	tail_add(&c->usual, last.late_ns);
	look_at(l, c, &last,
		(struct late_once){.number = m->number,
				   .process = m->who,
				   .site = sum->site,
				   .start_ns = (int64_t)m->last});
	if (c->held && c->usual.n >= SURE)
		judge_held(l, c);
}

void lateness_end(struct lateness *l)
{
	judge_held(l, NULL);
}

/* ---- late often ---- */

double lateness_share(const struct lateness *l, double ns)
{
	double all = (double)(l->to_ns - l->from_ns) * (double)l->processes;

	return all > 0 ? ns / all : 0;
}

uint64_t lateness_left_out(const struct lateness *l)
{
	return l->left_out;
}

size_t lateness_classes(const struct lateness *l, const struct lateness_class *const **classes)
{
	*classes = l->list;
	return l->n_list;
}

void lateness_scale(struct lateness *l, double (*scale)(void *arg, uint32_t comm), void *arg)
{
	for (struct lateness_row *c = l->classes; c; c = c->hh.next)
		c->sums.scale = scale(arg, c->key.comm);
}

void lateness_each(const struct lateness *l,
		   void (*visit)(void *arg, const struct lateness_member *member), void *arg)
{
	for (const struct member_row *p = l->members; p; p = p->hh.next)
		visit(arg, &p->sums);
}

static int compare_cost(const void *a, const void *b)
{
	const struct late_often *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return (x->member->process > y->member->process) -
	       (x->member->process < y->member->process);
}

size_t lateness_often(const struct lateness *l, double least, struct late_often *found, size_t room)
{
	/* all members are judged */
	double z = proportion_deviations(1 - (1 - l->confidence) / (1.0 + HASH_COUNT(l->members)));
	size_t n = 0;

	for (const struct member_row *p = l->members; p; p = p->hh.next) {
		const struct lateness_member *s = &p->sums;
		struct late_often often = {.member = s,
					   .cost = lateness_cost(l, s->of, s->caused_ns)};

		if (s->times == 0 || often.cost < least)
			continue;
		often.meetings = s->meetings ? s->meetings : s->of->meetings;
		often.share = proportion_of(s->times, often.meetings, z);
		/* by chance, all of a meeting's members are it equally often */
		if (often.share.low <= (double)s->of->meetings / (double)s->of->members)
			continue;
		often.late_ns = middle_value(&s->late_ns);
		often.mean_ns = s->late_sum_ns / (double)s->times;
		often.error_ns = s->error_ns / (double)s->times;
		if (n < room)
			found[n++] = often;
		else if (compare_cost(&found[room - 1], &often) > 0)
			found[room - 1] = often;
		else
			continue;
		if (n == room)
			qsort(found, n, sizeof(*found), compare_cost);
	}
	qsort(found, n, sizeof(*found), compare_cost);
	return n;
}
