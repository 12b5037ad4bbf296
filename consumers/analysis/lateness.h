/* SPDX-License-Identifier: BSD-3-Clause */
/* Lateness: which processes are late in which operations, how often, by how much, and what that
 * costs, from one meeting after the other. Pure. */
#ifndef EVSPACE_LATENESS_H
#define EVSPACE_LATENESS_H

#include "consumers/analysis/middle.h"
#include "consumers/analysis/proportion.h"
#include "consumers/analysis/wait.h"

/** Whole meetings of one operation on one communicator, from one call site (that of the process
 * with the lowest number), of about one size. Of communicators that come and go all but the first
 * few are one class. Times are sums, in ns. */
struct lateness_class {
	uint32_t comm, site; /* comm 0: communicators that come and go; site 0: any, or not known */
	uint16_t op;
	uint16_t magnitude; /* no member had 2^magnitude bytes */
	enum wait_kind kind;
	uint64_t meetings, members; /* of all these together */
	uint64_t untold; /* waits that may have been, but for less than clocks can tell */
	uint64_t bytes;
	double spread_ns;	       /* from the first start to the last one */
	double spread_most_ns;	       /* the largest one, less what clocks may be off: */
	uint32_t most_number;	       /* of that meeting, */
	uint32_t most_process;	       /* and who came last */
	double inside_ns;	       /* from the last start to the last end */
	double waited_ns;	       /* by all members, threads of one beside each other once */
	double scale;		       /* of its time in that of all: lateness_scale() */
	double between_ns, busiest_ns; /* since the collective before: of the mean member, and
					* of the one that took longest */
};

/** One process in one class. */
struct lateness_member {
	const struct lateness_class *of;
	uint32_t process, site;
	uint64_t meetings;     /* that it was in; 0: not known, as of sums */
	uint64_t times;	       /* it was the late one (wait.h) */
	struct middle late_ns; /* of these, by how much */
	double late_sum_ns;    /* all together */
	double error_ns;       /* sum over these */
	double caused_ns;      /* that others have waited for it */
	double waited_ns;      /* that it has waited */
};

/** A process was late once, by more than is usual for its class. */
struct late_once {
	const struct lateness_class *of;
	uint32_t number; /* of the meeting */
	uint32_t process, site;
	int64_t start_ns;
	double late_ns, error_ns;
	double caused_ns;  /* that others have waited for it */
	double confidence; /* that none of all that were told so far was usual, if this were */
};

/** A process is late often. */
struct late_often {
	const struct lateness_member *member;
	uint64_t meetings;	 /* of its class, that it was in */
	struct proportion share; /* of these in which it was the late one */
	double late_ns, mean_ns; /* of these: median, and mean */
	double error_ns;	 /* how far each may be off */
	double cost;		 /* share of the time of all processes that others waited for it */
};

/** Gets each one that was late once. */
typedef void lateness_take(void *arg, const struct late_once *late);

struct lateness;

/** Nothing yet. What is told is so with @confidence (0.99), all together. */
struct lateness *lateness_new(double confidence, lateness_take *take, void *arg);

/** NULL is fine. */
void lateness_free(struct lateness *lateness);

/** Take a whole @meeting. Processes are numbered from 0, without large gaps. */
void lateness_add(struct lateness *lateness, const struct meeting *meeting);

/** Take what is known of a whole meeting, @sum (wait_find_summed()). Of its class only the process
 * that started last is judged; a class has the meetings of all call sites. */
void lateness_add_sum(struct lateness *lateness, const struct meeting_sum *sum);

/** No more will come: tell of those that were kept until it is known better what is usual. */
void lateness_end(struct lateness *lateness);

/** The classes so far, in the order of coming. Valid until the next lateness_add(). */
size_t lateness_classes(const struct lateness *lateness,
			const struct lateness_class *const **classes);

/** Visit each process in each class. */
void lateness_each(const struct lateness *lateness,
		   void (*visit)(void *arg, const struct lateness_member *member), void *arg);

/** Find the @room costliest processes that are the late one more often than by
 * chance, and cost @least at least. Returns how
 * many there are in @found, the costliest first. Their members are valid until lateness_free(). */
size_t lateness_often(const struct lateness *lateness, double least, struct late_often *found,
		      size_t room);

/** Share of the time of all processes, from the first start of a meeting to the last end, that @ns
 * of one are. */
double lateness_share(const struct lateness *lateness, double ns);

/** Of each communicator (0: of those that come and go) one operation in @scale is known: 1, unless
 * this is said. Costs are of all. */
void lateness_scale(struct lateness *lateness, double (*scale)(void *arg, uint32_t comm),
		    void *arg);

/** lateness_share() of what is known of a class, for all operations of its kind. */
static inline double lateness_cost(const struct lateness *lateness, const struct lateness_class *of,
				   double ns)
{
	return lateness_share(lateness, ns) * of->scale;
}

/** Meetings, and members of meetings, of too many kinds to be kept apart. */
uint64_t lateness_left_out(const struct lateness *lateness);

#endif
