/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a segment file: header, control page, tables (docs/architecture.md). */
#ifndef EVSPACE_SEGMENT_LAYOUT_H
#define EVSPACE_SEGMENT_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#include "node-agent/segment/segment-entry.h"
#include "node-agent/segment/segment-mode.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

#define SEGMENT_MAGIC	"EVSPACE"
#define SEGMENT_VERSION 3u
#define SEGMENT_SUFFIX	".seg"
#define SEGMENT_PAGE	4096u
#define SEGMENT_TRIALS	3u

/** Offsets into the file, and how many entries fit. */
struct segment_layout {
	uint64_t control_at, threads_at, counts_at, elements_at, classes_at, comms_at, members_at;
	uint64_t rings_at, rings_bytes;
	uint64_t modules_at;
	uint64_t labels_at;
	uint64_t marks_at; /* at the end, on pages of its own */
	uint32_t threads_max;
	uint32_t elements_max;
	uint32_t classes_max;
	uint32_t comms_max;
	uint32_t members_max; /* in int32_t */
	uint32_t modules_max;
	uint32_t labels_max;
};

/** The first page: written before the file gets its name; later only the atomics change. */
struct segment_header {
	char magic[8];
	uint32_t version;
	uint32_t tuple_layout;
	uint64_t byte_order; /* 0x0102030405060708 as the writer stores it */
	uint64_t size;	     /* bytes of the file */
	char boot_id[40];
	uint32_t pid;
	uint32_t uid;
	uint64_t pid_start; /* field 22 of /proc/PID/stat: with pid and boot id the process's
			       identity */
	int32_t rank;	    /* in MPI_COMM_WORLD; of a PVM task its id; see process.h */
	int32_t world_size; /* 0: PVM, where tasks come and go, and monitors */
	uint32_t world;	    /* id of MPI_COMM_WORLD; spawned worlds have their own */
	uint32_t clock_kind;
	struct clock_pair born; /* when the segment was made */
	int64_t born_real_ns;
	_Atomic uint32_t cost_ps; /* picoseconds that one event costs on average, as measured so
				     far; 0: not known yet */
	uint32_t parent; /* id of the intercommunicator to its parents (MPI-3.1 10.3); 0: not
			    spawned */
	char run[64];
	char host[64];
	char program[128];
	char job[64]; /* what the launcher calls the job (PMIX_NAMESPACE), "" if unknown */
	uint64_t lifetime_ns[CHANNEL_MAX]; /* of tuples, by channel; 0: they stay */
	struct segment_layout layout;
	/* entries in use */
	_Atomic uint32_t threads;
	_Atomic uint32_t elements;
	_Atomic uint32_t classes;
	_Atomic uint32_t comms;
	_Atomic uint32_t members;
	_Atomic uint32_t modules;
	_Atomic uint32_t labels;
	_Atomic uint64_t rings_used;
	_Atomic uint32_t finished;     /* MPI_Finalize or pvm_exit has returned */
	_Atomic uint32_t note;	       /* enum segment_note bits: why collecting is not complete */
	_Atomic uint64_t classes_left; /* how often a class's communicator was freed */
	/* CPUs the launcher gave it; zero in segments of releases that did not record them */
	uint32_t cpu;  /* where it ran when the segment was made, from 1; 0: not known */
	char cpus[60]; /* where it may run, "0-3,8"; "": not known, or a longer list */
	_Atomic uint32_t comms_remade; /* how often a freed communicator's entry was reused */
	/* calls that were not recorded: nested in others (MPI calls functions of the program);
	 * left by an exception or longjmp(3) */
	_Atomic uint64_t inside, left;
	uint64_t pid_space; /* inode of pid's namespace; 0: not known */
	char removed[128];  /* runs that were removed to make room for it, "a, b and 12 more" */
	/* 1: behind the marks is the lifetime of each element's tuples; 0 in segments of releases
	 * that had none there */
	uint32_t lifetimes;
	uint32_t trials; /* SEGMENT_TRIALS: the control page has what it has now; else it has not */
	uint64_t timed_at;     /* segment-timed.h; 0 in segments of releases that had none */
	uint64_t told_at;      /* segment-told.h; likewise */
	_Atomic uint32_t asks; /* the program has asked for the newest wave of a view */
	uint64_t functions_at; /* segment-function.h; 0 in segments of releases that had none */
};

/** Why a process is not (fully) collected; `evspace status` prints them as text. */
enum segment_note {
	SEGMENT_NOTE_THREADS =
		1 << 0, /* more threads than the reserve: the rest is counted, its tuples lost */
	SEGMENT_NOTE_COMMS =
		1 << 1, /* more communicators than fit: some have no members on record */
	SEGMENT_NOTE_REQUESTS = 1 << 2, /* more open requests than fit: some are unattributed */
	SEGMENT_NOTE_CLOCK = 1 << 3,	/* no reliable TSC: CLOCK_MONOTONIC, which costs more */
	SEGMENT_NOTE_SETTINGS = 1 << 4, /* an EVSPACE_ variable is not valid: the default is used */
	SEGMENT_NOTE_CLASSES =
		1 << 5, /* more classes than fit: the rest counts as on no communicator */
	SEGMENT_NOTE_ELEMENTS = 1 << 6, /* more elements than the reserve: counted as lost */
	SEGMENT_NOTE_INSIDE = 1 << 7,	/* segment_header.inside */
	SEGMENT_NOTE_LEFT = 1 << 8,	/* segment_header.left */
	SEGMENT_NOTE_ROOM = 1 << 9,	/* ended runs were removed to make room for it */
};

/** The second page. Agents may write only this, the marks, and what the program is told. */
struct segment_control {
	_Atomic uint8_t mode[SEGMENT_CLASSES_MAX]; /* enum segment_mode, by class */
	_Atomic uint8_t fresh[CHANNEL_MAX];	   /* mode of classes made later */
	_Atomic uint64_t
		died_mono_ns; /* when an agent first saw the process gone, 0 while it lives */
	/* by channel, 1: all its classes are off, also later ones; 0: see the class */
	_Atomic uint8_t quiet[CHANNEL_MAX];
	struct segment_trial trial;
};

_Static_assert(sizeof(struct segment_header) <= SEGMENT_PAGE, "the header is one page");
_Static_assert(sizeof(struct segment_control) <= SEGMENT_PAGE, "the control page is one page");

#endif
