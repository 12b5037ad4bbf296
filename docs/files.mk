# SPDX-License-Identifier: BSD-3-Clause
# Documents: installed where README.md points to them.

nobase_dist_doc_DATA = README.md CHANGELOG.md CONTRIBUTING.md \
	docs/architecture.md \
	docs/collecting.md \
	docs/consumers.md \
	docs/deploying.md \
	docs/glossary.md \
	docs/plans.md \
	docs/guarantees.md \
	docs/installing.md \
	docs/pathmap.md \
	docs/performance.md \
	docs/rights.md \
	docs/tour.md \
	docs/decisions/README.md \
	docs/decisions/0001-ring-without-locks.md \
	docs/decisions/0002-map-grammar.md \
	docs/decisions/0003-deploy-by-one-script.md \
	docs/decisions/0004-leaves-remember.md \
	docs/decisions/0005-entry-plans.md \
	docs/decisions/0006-agents-forked.md \
	docs/decisions/0007-remap-second-tree.md \
	docs/decisions/0008-applied-map-stays.md \
	docs/decisions/0009-parts-in-the-body.md \
	docs/decisions/0010-consumer-says-room.md \
	docs/decisions/0011-compress-by-sender.md \
	docs/decisions/0012-rates-of-counters.md \
	docs/decisions/0013-records-in-runs.md \
	docs/decisions/0014-certificates-reload.md \
	docs/decisions/0015-tls-on-own-bios.md \
	docs/decisions/0016-state-line-element.md \
	docs/decisions/0017-overflow-element.md \
	docs/decisions/0018-classes-made-again.md \
	docs/decisions/0019-numbers-of-collectives.md \
	docs/decisions/0020-mirror-keeps-numbers.md \
	docs/decisions/0021-monitors-are-a-run.md \
	docs/decisions/0022-one-thread-a-process.md \
	docs/decisions/0023-communicator-ids.md \
	docs/decisions/0024-wrappers-from-a-table.md \
	docs/decisions/0025-views-of-consumers.md \
	docs/decisions/0026-tuples-as-columns.md \
	docs/decisions/0027-parts-fold.md \
	docs/decisions/0029-same-question-one-tree.md \
	docs/decisions/0030-experiments-at-numbers.md \
	docs/decisions/0031-urgency-by-scope.md \
	docs/decisions/0032-samples-are-elements.md \
	docs/decisions/0033-modes-are-leased.md docs/decisions/0041-signatures-in-tuples.md \
	docs/examples/clients/Makefile \
	docs/examples/clients/blocking.c \
	docs/examples/clients/libevent.c \
	docs/examples/clients/poll.c \
	docs/examples/stage/Makefile \
	docs/examples/stage/peers.c \
	docs/examples/stage/sketch.c \
	docs/examples/stage/sketch.h \
	docs/examples/stage/volume.c \
	docs/examples/stage/maps/application.map \
	docs/examples/stage/maps/cluster.map \
	docs/examples/stage/maps/mapping.map \
	docs/extending.md \
	docs/decisions/0028-stages-of-others.md
