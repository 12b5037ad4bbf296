/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wind tunnel of the EventSpace paper (section 6): eight matrices of a lattice gas, each of 2N
 * rows by N columns, cut in slices over ranks x threads that exchange their border rows in every
 * step.
 *
 * The paper's N of "large" is 7680; "medium" and "small" are 1/2 and 1/8 of it. With a bit per
 * particle these have its step times on two cores of today: about 3, 50 and 200 ms.
 *
 * The matrices are tori, so nothing leaves them; a plate stands in the wind, and what momentum
 * the particles give to it is counted, so that mass and momentum must come out exactly.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/apps/app.h"
#include "tests/apps/lattice.h"

enum { MATRICES = 8, CELLS_PER_WORD = 64, THREADS_MAX = 256, REQUESTS = 2 * SIDES * MATRICES };

static const struct size {
	const char *name;
	long n;
	long check; /* default of --check; one costs a third of a step */
} sizes[] = {{"small", 960, 20}, {"medium", 3840, 8}, {"large", 7680, 4}};

static struct {
	const char *size, *while_there, *late;
	long threads, steps, seconds, pause, check, report;
	long break_exchange;
} want = {.size = "small", .threads = 1, .break_exchange = -1};

static const struct app_option options[] = {
	{"size", APP_WORD, &want.size, 0, 0, "small|medium|large", "N = 960, 3840, 7680 (small)"},
	{"threads", APP_NUMBER, &want.threads, 1, THREADS_MAX, NULL, "threads in each rank (1)"},
	{"steps", APP_NUMBER, &want.steps, 1, 1000000000, NULL,
	 "stop after so many (1000 without --seconds and --while)"},
	{"seconds", APP_NUMBER, &want.seconds, 1, 1000000, NULL, "stop after so many"},
	{"while", APP_WORD, &want.while_there, 0, 0, NULL, "stop when rank 0 finds no such file"},
	{"pause", APP_NUMBER, &want.pause, 1, 1000000, NULL,
	 "rest for N milliseconds after every step"},
	{"check", APP_NUMBER, &want.check, 1, 1000000, NULL,
	 "compare mass and momentum every N steps (20, 8, 4)"},
	{"late", APP_WORD, &want.late, 0, 0, NULL,
	 "RANK:US,...: these compute so many microseconds longer in each step"},
	{"report", APP_FLAG, &want.report, 0, 0, NULL, "say steps/s on stderr every second"},
	{"break-exchange", APP_NUMBER, &want.break_exchange, 0, 1000000000, NULL, NULL},
	{0},
};

/* A slice of each of the eight matrices; one thread works on it. */
struct slice {
	int index; /* in all of the matrix, from the north */
	struct lattice lattice[MATRICES];
	struct census census[MATRICES];
	uint64_t checksum;
	pthread_t thread;
};

/* What the threads of a rank share. Only thread 0 writes it, between two barriers. */
static struct tunnel {
	int rank, ranks, slices_in_all;
	struct slice *slices; /* one per thread */
	pthread_barrier_t barrier;
	struct census start[MATRICES];
	double started, reported;
	long steps_reported;
	int stop, broken;
} tunnel;

/* --- exchange ------------------------------------------------------------------------------ */

static int neighbour_of(const struct slice *s, enum lattice_side side)
{
	int step = side == SIDE_NORTH ? -1 : 1;

	return (s->index + step + tunnel.slices_in_all) % tunnel.slices_in_all;
}

static enum lattice_side opposite(enum lattice_side side)
{
	return side == SIDE_NORTH ? SIDE_SOUTH : SIDE_NORTH;
}

/* A message is known by the thread that gets it, the matrix, and the side it comes from. */
static int tag_of(int slice, int matrix, enum lattice_side from)
{
	return (slice % (int)want.threads * MATRICES + matrix) * SIDES + (int)from;
}

static int exchange_post(struct slice *s, enum lattice_side side, MPI_Request *requests)
{
	const int other = neighbour_of(s, side), rank = other / (int)want.threads;
	int n = 0;

	if (rank == tunnel.rank)
		return 0;
	for (int m = 0; m < MATRICES; m++) {
		struct lattice *l = &s->lattice[m];
		const int words = (int)lattice_border_words(l);

		MPI_Irecv(lattice_ghost(l, side), words, MPI_UINT64_T, rank,
			  tag_of(s->index, m, side), MPI_COMM_WORLD, &requests[n++]);
		MPI_Isend(lattice_border(l, side), words, MPI_UINT64_T, rank,
			  tag_of(other, m, opposite(side)), MPI_COMM_WORLD, &requests[n++]);
	}
	return n;
}

static void exchange_copy(struct slice *s, enum lattice_side side)
{
	const int other = neighbour_of(s, side);
	const struct slice *from = &tunnel.slices[other % want.threads];

	if (other / want.threads != tunnel.rank)
		return;
	for (int m = 0; m < MATRICES; m++) {
		memcpy(lattice_ghost(&s->lattice[m], side),
		       lattice_border(&from->lattice[m], opposite(side)),
		       lattice_border_words(&s->lattice[m]) * sizeof(uint64_t));
	}
}

/* For tests: two matrices' border rows change places, as with a wrong tag. */
static void exchange_spoil(struct slice *s)
{
	uint64_t *a = lattice_ghost(&s->lattice[3], SIDE_NORTH);
	uint64_t *b = lattice_ghost(&s->lattice[4], SIDE_NORTH);

	for (size_t i = 0; i < lattice_border_words(&s->lattice[3]); i++) {
		uint64_t was = a[i];

		a[i] = b[i];
		b[i] = was;
	}
}

/* Other ranks' borders come by messages, those of this rank's other threads from memory. */
static void slice_exchange(struct slice *s, long step)
{
	MPI_Request requests[REQUESTS];
	int n = 0;

	n += exchange_post(s, SIDE_NORTH, requests);
	n += exchange_post(s, SIDE_SOUTH, requests + n);
	pthread_barrier_wait(&tunnel.barrier); /* all borders of this rank are of this step */
	exchange_copy(s, SIDE_NORTH);
	exchange_copy(s, SIDE_SOUTH);
	if (n > 0)
		MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
	if (step == want.break_exchange && s->index == 0)
		exchange_spoil(s);
	pthread_barrier_wait(&tunnel.barrier); /* nobody reads our border any more */
}

/* --- checks -------------------------------------------------------------------------------- */

static void census_all(struct census all[MATRICES])
{
	struct census mine[MATRICES] = {{0}};

	for (long t = 0; t < want.threads; t++) {
		for (int m = 0; m < MATRICES; m++) {
			mine[m].mass += tunnel.slices[t].census[m].mass;
			mine[m].east += tunnel.slices[t].census[m].east;
			mine[m].north += tunnel.slices[t].census[m].north;
		}
	}
	MPI_Allreduce(mine, all, 3 * MATRICES, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* All ranks come to the same answer, so all end the same way. */
static int census_differs(const struct census now[MATRICES], long steps)
{
	int wrong = 0;

	for (int m = 0; m < MATRICES; m++) {
		const struct census *was = &tunnel.start[m];

		if (now[m].mass == was->mass && now[m].east == was->east &&
		    now[m].north == was->north)
			continue;
		wrong = 1;
		if (tunnel.rank == 0)
			fprintf(stderr,
				"windtunnel: matrix %d at step %ld: mass %lld, momentum %lld east "
				"%lld north; at the start mass %lld, momentum %lld east %lld "
				"north: a wrong exchange\n",
				m, steps, (long long)now[m].mass, (long long)now[m].east,
				(long long)now[m].north, (long long)was->mass, (long long)was->east,
				(long long)was->north);
	}
	return wrong;
}

static void report(long steps)
{
	double now = app_seconds();

	if (!want.report || tunnel.rank != 0 || now - tunnel.reported < 1)
		return;
	fprintf(stderr, "windtunnel: step %ld, %.1f steps/s\n", steps,
		(double)(steps - tunnel.steps_reported) / (now - tunnel.reported));
	tunnel.reported = now;
	tunnel.steps_reported = steps;
}

/* Called by thread 0 alone, while the others wait: compare, and rank 0 says whether to go on. */
static void tunnel_check(long steps)
{
	struct census now[MATRICES];
	int stop;

	census_all(now);
	tunnel.broken = census_differs(now, steps);
	report(steps);
	stop = (want.steps && steps >= want.steps) ||
	       (want.seconds && app_seconds() - tunnel.started >= (double)want.seconds) ||
	       (want.while_there && access(want.while_there, F_OK));
	MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
	tunnel.stop = stop || tunnel.broken;
}

static void slice_check(struct slice *s, long steps)
{
	for (int m = 0; m < MATRICES; m++)
		s->census[m] = lattice_census(&s->lattice[m]);
	pthread_barrier_wait(&tunnel.barrier);
	if (s == tunnel.slices) {
		if (steps == 0) {
			census_all(tunnel.start);
			tunnel.started = tunnel.reported = app_seconds();
		} else {
			tunnel_check(steps);
		}
	}
	pthread_barrier_wait(&tunnel.barrier);
}

/* --- threads and ranks --------------------------------------------------------------------- */

static long height_of(const struct size *size)
{
	return 2 * size->n;
}

static void slice_init(struct slice *s, const struct size *size)
{
	const long height = height_of(size);
	const long first = height * s->index / tunnel.slices_in_all;
	const long rows = height * (s->index + 1) / tunnel.slices_in_all - first;

	for (int m = 0; m < MATRICES; m++) {
		if (lattice_init(&s->lattice[m], height, size->n / CELLS_PER_WORD, first, rows,
				 (uint64_t)m)) {
			perror("windtunnel: matrices");
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
}

static void slice_fini(struct slice *s)
{
	s->checksum = 0;
	for (int m = 0; m < MATRICES; m++) {
		s->checksum += lattice_checksum(&s->lattice[m]) * (uint64_t)(2 * m + 1);
		lattice_fini(&s->lattice[m]);
	}
}

static const struct size *size_wanted(void)
{
	const struct size *size = sizes;

	while (strcmp(size->name, want.size) != 0)
		size++;
	return size;
}

static long steps_done; /* written by thread 0 at its end */

/* So that a test's program leaves the processors to what is tested, and writes as fast anywhere. */
static void step_pause(void)
{
	const struct timespec rest = {want.pause / 1000, want.pause % 1000 * 1000000};

	if (want.pause)
		nanosleep(&rest, NULL);
}

/* What --late says of this rank, in seconds. */
static double late_s(void)
{
	char mine[16];
	const char *at = want.late;
	size_t n = (size_t)snprintf(mine, sizeof(mine), "%d:", tunnel.rank);

	while (at && strncmp(at, mine, n) != 0)
		at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
	return at ? strtod(at + n, NULL) * 1e-6 : 0;
}

/* Processor time, so that it is as long beside any neighbours. */
static void step_late(double seconds)
{
	struct timespec t, since;

	if (seconds <= 0)
		return;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &since);
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while ((double)(t.tv_sec - since.tv_sec) + (double)(t.tv_nsec - since.tv_nsec) * 1e-9 <
		 seconds);
}

static void *slice_run(void *arg)
{
	struct slice *s = arg;
	double late = late_s();
	long step = 0;

	slice_init(s, size_wanted());
	slice_check(s, 0);
	while (!tunnel.stop) {
		slice_exchange(s, step);
		for (int m = 0; m < MATRICES; m++)
			lattice_step(&s->lattice[m], step);
		step_late(late);
		step_pause();
		step++;
		if (step % want.check == 0 || step == want.steps)
			slice_check(s, step);
	}
	if (s == tunnel.slices)
		steps_done = step;
	slice_fini(s);
	return NULL;
}

static void threads_run(void)
{
	for (long t = 0; t < want.threads; t++)
		tunnel.slices[t].index = tunnel.rank * (int)want.threads + (int)t;
	for (long t = 1; t < want.threads; t++) {
		if (pthread_create(&tunnel.slices[t].thread, NULL, slice_run, &tunnel.slices[t])) {
			fprintf(stderr, "windtunnel: no thread %ld\n", t);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
	slice_run(&tunnel.slices[0]);
	for (long t = 1; t < want.threads; t++)
		pthread_join(tunnel.slices[t].thread, NULL);
}

static void tunnel_run(void)
{
	uint64_t mine = 0, sum = 0;
	double seconds;

	tunnel.slices = calloc((size_t)want.threads, sizeof(*tunnel.slices));
	if (!tunnel.slices || pthread_barrier_init(&tunnel.barrier, NULL, (unsigned)want.threads)) {
		perror("windtunnel: threads");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	threads_run();
	seconds = app_seconds() - tunnel.started;
	for (long t = 0; t < want.threads; t++)
		mine += tunnel.slices[t].checksum;
	MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (tunnel.rank == 0 && !tunnel.broken)
		printf("windtunnel: size %s, %d rank%s x %ld thread%s, %ld steps, %.1f steps/s, "
		       "mass and momentum conserved, checksum %08x\n",
		       want.size, tunnel.ranks, tunnel.ranks == 1 ? "" : "s", want.threads,
		       want.threads == 1 ? "" : "s", steps_done, (double)steps_done / seconds,
		       (unsigned)(sum ^ sum >> 32));
	pthread_barrier_destroy(&tunnel.barrier);
	free(tunnel.slices);
}

static enum app_parsed shape_check(int provided)
{
	const struct size *size = size_wanted();

	if (want.threads > 1 && provided < MPI_THREAD_MULTIPLE)
		return app_wrong("this MPI lacks MPI_THREAD_MULTIPLE: use --threads 1");
	if (tunnel.ranks * want.threads > height_of(size))
		return app_wrong("%d ranks x %ld threads are more than the %ld rows of size %s",
				 tunnel.ranks, want.threads, height_of(size), size->name);
	if (!want.steps && !want.seconds && !want.while_there)
		want.steps = 1000;
	if (!want.check)
		want.check = size->check;
	tunnel.slices_in_all = tunnel.ranks * (int)want.threads;
	return APP_RUN;
}

int main(int argc, char **argv)
{
	enum app_parsed parsed = app_parse(argc, argv, options);
	int provided;

	MPI_Init_thread(&argc, &argv, want.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
			&provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &tunnel.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &tunnel.ranks);
	if (parsed == APP_RUN)
		parsed = shape_check(provided);
	if (parsed == APP_RUN)
		tunnel_run();
	else if (tunnel.rank == 0)
		app_explain(parsed,
			    "A lattice gas in a wind tunnel; see the EventSpace paper, section 6.",
			    options);
	MPI_Finalize();
	return tunnel.broken ? 1 : app_exit_code(parsed);
}
