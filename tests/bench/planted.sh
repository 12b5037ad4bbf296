#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that are late as planned in collective operations: are all of them found, and nobody else?

usage='usage: tests/bench/planted.sh [--json] [--quick] [--operations N] [--ranks N] [--often RANK:US,...] [--once RANK:US,...]
A program of 16 ranks makes 1,000 MPI_Allreduce, as root on seven hosts that are network namespaces of this machine, else
on one. Some ranks are late often, in each second one; others once, by more.
`evspace colop` reads its events and says who was late. Printed is how many were planted, how many of these were
found, who else was named and was not late by what the program itself has written down (false), or was, as the
machine has too few cores (noise), and by how much the lateness of those that were late once is off: beside what
the program itself has written down, and how often by more than the bound of clocks (beyond). --quick: 300 operations.'
operations= ranks=16 often=3:40000,11:60000 once=7:1500000,14:1200000
. "${0%/*}/bench.sh"
bench_options "quick operations ranks often once" "$@"
operations=${operations:-${quick:+300}}
operations=${operations:-1000}
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"
. "$top_srcdir/tests/cluster/bed.sh"
bed_folder= hosts=(a0 a1 a2 a3 b0 b1 b2)

tap_cleanup() {
	cluster_end
	[ -z "$bed_folder" ] || bed_end
	rm -rf "$bed_folder"
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

# Agents on all hosts, of which each has a /dev/shm of its own.
hosts_begin() {
	local host

	cluster_begin 4 3 && cluster_join || return
	mkdir -p "$cluster_dir/maps"
	echo 'application any { ranks any; }' >"$cluster_dir/maps/application.map"
	echo 'cluster A { nodes a[0-3]; address a[0-3]:7440; gateway ga; }
		cluster B { nodes b[0-2]; address b[0-2]:7440; }
		node ga { address ga:7440; } node front { address front:7440; }' >"$cluster_dir/maps/cluster.map"
	echo 'entry front;' >"$cluster_dir/maps/mapping.map"
	printf '#!/bin/bash\nhost=$1\nshift\nexec ssh -F %s/ssh/config "$host" "$@"\n' "$cluster_dir" >"$cluster_dir/rsh"
	chmod +x "$cluster_dir/rsh"
	{ "$top_srcdir/deploy/certs" init "$cluster_dir/tls" && "$top_srcdir/deploy/certs" agent "$cluster_dir/tls" "${hosts[@]}" ga front &&
		"$top_srcdir/deploy/certs" observe "$cluster_dir/tls" observe; } >"$cluster_dir/certs" 2>&1 || return
	export EVSPACE_TLS=$cluster_dir/tls EVSPACE_DIR=/dev/shm/evspace
	for host in "${hosts[@]}" ga front; do
		cluster_on "$host" evspace agent --pathmap "$cluster_dir/maps" --node "$host" </dev/null >"$cluster_dir/$host/agent" 2>&1 &
		disown
	done
	for host in "${hosts[@]}" ga front; do
		cluster_until grep -q 'ready on' "$cluster_dir/$host/agent" || { cat "$cluster_dir/$host/agent" >&2; return 1; }
	done
}

# on HOST COMMAND...: there, or here if there are no hosts.
on() {
	if [ "$cluster_why" ]; then
		shift
		"$@"
	else
		cluster_on "$@"
	fi
}

make -s -C "$top_builddir" tests/apps/late || failed "building the program"
words=()
if cluster_allowed; then
	hosts_begin || failed "the test bed"
	words=(--mca plm_rsh_agent "$cluster_dir/rsh" --mca plm_rsh_no_tree_spawn 1 --mca mpi_yield_when_idle 1 --map-by node
		--host "$(IFS=,; echo "${hosts[*]/%/:$ranks}")")
	look=(--connect front:7440)
else
	bed_begin
	bed_folder=$EVSPACE_DIR look=()
	bed_start agent evspace agent
	bed_until bed_ready agent || failed "the agent"
fi
times=$([ "$cluster_why" ] && echo "$tap_dir" || echo "$cluster_dir")/times # which all hosts have
mkdir "$times"
lags=$(plan)
on a0 evspace run --no-summary --run planted --capacity 100000 -- mpirun --oversubscribe "${words[@]}" -np "$ranks" "$top_builddir/tests/apps/late" \
	--operations "$operations" --sums --pause 2000 --late "${lags%,}" --times "$times" </dev/null >&2 || failed "the program"
on front evspace colop "${look[@]}" --run planted --backlog --until-end --json >"$tap_dir/said" 2>"$tap_dir/err" || { cat "$tap_dir/err" >&2; failed "evspace colop"; }

# What is said of ranks, and what they have written, come together: "often RANK", "late NUMBER RANK NS", "came K RANK US NS".
{
	sed -n 's/.*"type":"often".*"rank":\([0-9]*\),.*/often \1/p' "$tap_dir/said" | sort -u
	sed -n 's/.*"type":"late","number":\([0-9]*\),.*"late_ns":\([0-9]*\),"error_ns":\([0-9.]*\),.*"rank":\([0-9]*\),.*/late \1 \4 \2 \3/p' "$tap_dir/said"
	cat "$times"/* | sed 's/^/came /'
} | awk -v often="$often" -v once="$once" -v json="$json" -v ranks="$ranks" -v hosts="$([ "$cluster_why" ] && echo 1 || echo ${#hosts[@]})" '
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
	$1 == "late" { n++; number[n] = $2; who[n] = $3; by[n] = $4; error[n] = $5 }
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
				beyond += off > error[i] + 10000 # what the program takes from its clock to the call
			}
		}
		if (json)
			printf "{\"schema\":1,\"bench\":\"colop\",\"case\":\"planted\",\"planted\":%d,\"found\":%d,\"false\":%d,\"noise\":%d,\"off_us\":%.1f,\"beyond\":%d,\"hosts\":%d}\n", planted, found, wrong, noise, most / 1e3, beyond, hosts
		else
			printf "%d planted, %d found, %d false; %d that the machine itself made late; on %d hosts; lateness off by %.1f us at most, %d times by more than clocks\n", planted, found, wrong, noise, hosts, most / 1e3, beyond
	}'
