#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are late as planned in collective operations: are all of them found, and nobody else?

usage='usage: tests/bench/planted.sh [--json] [--quick] [--operations N] [--ranks N] [--often RANK:US,...] [--once RANK:US,...]
A program of 16 ranks makes 1,000 MPI_Allreduce. Some ranks are late often, in each second one; others once, by more.
`evspace colop` reads its events and says who was late. Printed is how many were planted, how many of these were
found, who else was named and was not late by what the program itself has written down (false), or was, as the
machine has too few cores (noise), and by how much the lateness of those that were late once is off: beside what
the program itself has written down, less the bound of clocks. --quick: 300 operations.'
operations= ranks=16 often=3:40000,11:60000 once=7:1500000,14:1200000
. "${0%/*}/bench.sh"
bench_options "quick operations ranks often once" "$@"
operations=${operations:-${quick:+300}}
operations=${operations:-1000}
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

tap_cleanup() {
	bed_end
	rm -rf "$EVSPACE_DIR"
}

# plan: what the program is told. Each of those that are late often has operations of its own, as has each of the others.
plan() {
	local i=0 lag

	for lag in ${often//,/ }; do
		printf '%s:2:%d,' "$lag" $((i++ % 2))
	done
	i=1
	for lag in ${once//,/ }; do
		printf '%s:%d:%d,' "$lag" "$operations" $((operations * i++ / 4 + operations / 4))
	done
}

failed() {
	echo "$0: $1 failed" >&2
	exit 1
}

make -s -C "$top_builddir" tests/apps/late || failed "building the program"
bed_begin
bed_start agent evspace agent
bed_until bed_ready agent || failed "the agent"
mkdir "$tap_dir/times"
lags=$(plan)
evspace run --no-summary --run planted --capacity 100000 -- mpirun --oversubscribe -np "$ranks" "$top_builddir/tests/apps/late" \
	--operations "$operations" --sums --pause 2000 --late "${lags%,}" --times "$tap_dir/times" >&2 || failed "the program"
evspace colop --run planted --backlog --until-end --json >"$tap_dir/said" 2>"$tap_dir/err" || { cat "$tap_dir/err" >&2; failed "evspace colop"; }

# What is said of ranks, and what they have written, come together: "often RANK", "late NUMBER RANK NS", "came K RANK US NS".
{
	sed -n 's/.*"type":"often".*"rank":\([0-9]*\),.*/often \1/p' "$tap_dir/said" | sort -u
	sed -n 's/.*"type":"late","number":\([0-9]*\),.*"late_ns":\([0-9]*\),.*"rank":\([0-9]*\),.*/late \1 \3 \2/p' "$tap_dir/said"
	cat "$tap_dir"/times/* | sed 's/^/came /'
} | awk -v often="$often" -v once="$once" -v json="$json" -v ranks="$ranks" '
	function others_middle(k, rank,    n, i, j, x, at) {
		for (i = 0; i < ranks; i++)
			if (i != rank)
				at[++n] = came[k, i]
		for (i = 2; i <= n; i++) {
			x = at[i]
			for (j = i - 1; j > 0 && at[j] > x; j--)
				at[j + 1] = at[j]
			at[j + 1] = x
		}
		return n % 2 ? at[(n + 1) / 2] : (at[n / 2] + at[n / 2 + 1]) / 2
	}
	BEGIN {
		planted = split(often, list, ",")
		for (i in list) { split(list[i], lag, ":"); is_often[lag[1]] = 1 }
		planted += split(once, list, ",")
		for (i in list) { split(list[i], lag, ":"); is_once[lag[1]] = 1 }
	}
	$1 == "often" { if ($2 in is_often) found++; else wrong++ }
	$1 == "late" { n++; number[n] = $2; who[n] = $3; by[n] = $4 }
	$1 == "came" { came[$2, $3] = $5; lag_of[$2, $3] = $4 }
	END {
		for (i = 1; i <= n; i++) {
			late = came[number[i], who[i]] - others_middle(number[i], who[i])
			if (lag_of[number[i], who[i]] == 0 && late < by[i] / 2)
				wrong++
			else if (lag_of[number[i], who[i]] == 0)
				noise++
			else if (who[i] in is_once && !(who[i] in seen)) {
				seen[who[i]] = 1
				found++
			}
			if (who[i] in is_once) {
				off = by[i] - late
				off = off < 0 ? -off : off
				most = off > most ? off : most
			}
		}
		if (json)
			printf "{\"schema\":1,\"bench\":\"colop\",\"case\":\"planted\",\"planted\":%d,\"found\":%d,\"false\":%d,\"noise\":%d,\"off_us\":%.1f}\n", planted, found, wrong, noise, most / 1e3
		else
			printf "%d planted, %d found, %d false; %d that the machine itself made late; lateness off by %.1f us at most\n", planted, found, wrong, noise, most / 1e3
	}'
