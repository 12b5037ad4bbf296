/* SPDX-License-Identifier: BSD-3-Clause */
/* A request of MIR as data: what its document says, or what is wrong with it. */
#ifndef EVSPACE_REQUEST_H
#define EVSPACE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The object with the reader, which alone needs libxml2, and what it is called there. */
#define REQUEST_OBJECT "libevspace-mir.so"
#define REQUEST_SYMBOL "mir_request_read"

/** Most faults of a document that are told; most elements and attributes that it has, attributes of
 * one element, names of namespaces, sources, and entities. */
#define REQUEST_FAULTS	   16
#define REQUEST_ELEMENTS   100000u
#define REQUEST_ATTRIBUTES 64u
#define REQUEST_SPACES	   16u
#define REQUEST_RESOURCES  256u
#define REQUEST_ENTITIES   1024u

enum mir_kind { MIR_SIRREQ, MIR_SNAPSHOTREQ, MIR_INSTRREQ, MIR_CTRLREQ };

/** What may be observed, from the largest to the smallest. */
enum mir_level { MIR_SITE, MIR_NODE, MIR_COMMUNICATOR, MIR_PROCESS, MIR_THREAD, MIR_LEVELS };

enum mir_function { MIR_AVERAGE, MIR_MAXIMUM, MIR_MINIMUM, MIR_SUM, MIR_VARIANCE, MIR_FUNCTIONS };

enum mir_action { MIR_VALUE, MIR_ACTIVATE, MIR_DEACTIVATE, MIR_RESET, MIR_REMOVE };

/** Where an element begins: in which line of its document, in which column, in bytes; from 1. */
struct mir_place {
	uint32_t line, column; /* 0: not known */
	char element[32];      /* its name, "": the document */
};

/** A word with its place: the name of a metric, the id of a probe. */
struct mir_word {
	char *text;
	struct mir_place place;
};

/** A site, node, communicator, process or thread that is meant. */
struct mir_entity {
	enum mir_level level;
	size_t within; /* the one that it is nested in, by number from 1; 0: none */
	bool nests;    /* others are nested in it */
	struct mir_word id;
};

/** What is wrong, and what would be right. */
struct mir_fault {
	struct mir_place place;
	char *text;
};

/** When values are taken, and where they go. */
struct mir_measuring {
	bool said, has_interval, has_duration, has_delivery;
	uint64_t interval, duration; /* in ms */
	int64_t delivery;	     /* in ms; 0: when asked, -1: each value */
	char *destination;	     /* NULL: none */
	bool aggregates;	     /* there are elements `aggregate` */
	enum mir_function *functions;
	size_t n_functions;
	struct mir_place place;
};

struct mir_request {
	enum mir_kind kind;
	struct mir_place place;
	/* sirreq */
	struct mir_word *resources; /* what to read: URIs */
	char **outs;		    /* of each: where to write it back; NULL: nowhere */
	size_t n_resources;
	bool writes;	   /* one of them is written back */
	uint64_t asker;	   /* whose it is, among those whose sources wait to be read */
	const char *below; /* only of this folder, "": of none; NULL: of any. Borrowed */
	/* snapshotreq */
	bool named;
	uint64_t stack;
	/* instrreq, ctrlreq */
	bool activated, flush, events;
	enum mir_action action;
	struct mir_word from, to; /* NULL: none */
	struct mir_word *metrics, *probes;
	size_t n_metrics, n_probes;
	struct mir_measuring measuring;
	struct mir_entity *entities;
	size_t n_entities;
	size_t bytes; /* of the document that says it, if it defines a probe */
	/* what is wrong; all else counts only if nothing is */
	struct mir_fault faults[REQUEST_FAULTS];
	size_t n_faults;
};

/** Read the document of @n bytes; @lenient: also by the words of the report's examples, which its
 * DTDs lack. Free it with request_free(). */
typedef struct mir_request *mir_request_function(const char *text, size_t n, bool lenient);

/** The words for them. */
extern const char *const request_levels[MIR_LEVELS];
extern const char *const request_functions[MIR_FUNCTIONS];

/** Say what is wrong at @place, if there is room for more. */
void request_complain(struct mir_request *request, const struct mir_place *place,
		      const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Does it change none of the probes that it names? */
bool request_only_looks(const struct mir_request *request);

/** Does it change any probe, or have a source written back? */
bool request_changes(const struct mir_request *request);

/** Does it change what is in a file of probes: more than what they have measured? */
bool request_is_kept(const struct mir_request *request);

/** Only `measuring`, in an instrreq: what it says holds for requests that do not say it. */
bool request_is_of_defaults(const struct mir_request *request);

/** Free it. */
void request_free(struct mir_request *request);

#endif
