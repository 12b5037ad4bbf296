#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a consumer gets over 100 ms, 1 % loss and 10 Mbit/s, beside what that wire can carry; and after a cut.

usage='usage: tests/bench/distance.sh [--json] [--cut SECONDS]
Makes hosts as network namespaces on this machine, as root, one of them far away: 50 ms in each direction,
1 % loss, 10 Mbit/s. Waves a second are beside one (32) a round trip; tuples a second beside those of 40
bytes that a bare connection would carry there. Then the wire is cut (30 s) under a stream.'
cut=30
. "${0%/*}/bench.sh"
bench_options "cut" "$@"
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"
. "$top_srcdir/tests/cluster/far.sh"

# report CASE FIGURE LIMIT UNIT
report() {
	local ratio

	ratio=$(awk -v a="$2" -v b="$3" 'BEGIN { printf "%.2f", (b > 0 ? a / b : 0) }')
	if [ "$json" ]; then
		printf '{"schema":1,"bench":"distance","case":"%s","figure":%s,"limit":%s,"unit":"%s","ratio":%s}\n' \
			"$1" "$2" "$3" "$4" "$ratio"
	else
		printf '%-28s %10s %-9s limit %10s; ratio %s\n' "$1" "$2" "$4" "$3" "$ratio"
	fi
}

waves() {
	far_events waves past --rate max --window "$1" --count "$2" || failed waves
	report "waves, $1 under way" "$(far_rate waves waves)" $(($1 * 1000 / far_round_ms)) waves/s
}

# stream CASE OPTION...
stream() {
	local what=$1

	shift
	far_events "$what" past --backlog --until-end --rate max --window 32 "$@" && far_accounted "$what" past >&2 ||
		failed "$what"
	report "stream, $what" "$(far_rate "$what" delivered)" $((far_bare / 40)) tuples/s
}

cluster_allowed || { echo "tests/bench/distance.sh: not here: $cluster_why" >&2; exit 0; }
far_begin && far_run past 320000 --steps 4000 && far_away && far_bare 5000000 || failed "the test bed"
report "a bare connection" "$far_bare" $((far_mbit * 125000)) B/s
waves 1 100
waves 32 2000
stream plain --compress never
stream compressed
far_run live 200000 --size medium --seconds $((cut + 15)) &
far_events live live --backlog --until-end &
watcher=$!
cluster_until test -s "$cluster_dir/live.json" && cluster_cut out && sleep "$cut" &&
	far_mend live || failed "the cut"
cluster_until cluster_gone "$watcher"
far_accounted live live >&2 || failed "the account"
report "lost by a cut of $cut s" "$(far_figure live lost)" "$(far_figure live delivered)" tuples
report "going on after it" "$far_resumed" "$cut" s
