# SPDX-License-Identifier: BSD-3-Clause
# What is built of this room.

libclient_la_SOURCES += \
	%D%/connection.c %D%/connection.h %D%/connection-link.c %D%/question.c %D%/evspace-loop.h %D%/evspace-control.h %D%/evspace-reply.h \
	%D%/client-answer.h %D%/client-keep.c %D%/client-keep.h %D%/client-replay.c %D%/client-replay-private.h %D%/client-replay-view.c %D%/client-replay.h %D%/client-budget.c %D%/client-collect.c %D%/client-collect.h %D%/client-budget.h %D%/client-open.c %D%/client-pace.c %D%/client-pace.h %D%/control.c \
	%D%/client-price.c %D%/price.c %D%/price.h %D%/evspace-cost.h %D%/client-monitor.c %D%/client-monitor.h %D%/client-newest.c %D%/client-newest.h %D%/client-read.c %D%/client-stages.c %D%/client-stages.h %D%/client-told.c %D%/client-told.h %D%/client-trial.c %D%/client-trial.h %D%/client-functions.h \
	%D%/client-wave.c %D%/client-wave.h %D%/client.c %D%/client.h \
	%D%/flow-control.c %D%/flow-control.h %D%/evspace-call.h %D%/evspace-client.h %D%/evspace-foreign.h %D%/evspace-record.h %D%/evspace-typed.h %D%/evspace-wave.h \
	%D%/delivery.c %D%/delivery-noted.c %D%/delivery-owing.c %D%/delivery-private.h %D%/delivery.h %D%/namesakes.c %D%/namesakes.h %D%/intervals.c %D%/intervals.h
EXTRA_DIST += %D%/README.md
