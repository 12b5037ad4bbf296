#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An allreduce over two clusters that are far from each other: along the pathmap's tree, and by the MPI's own algorithms.

usage='usage: tests/bench/steer.sh [--json] [--quick] [--calls N] [--latency MS]
Makes two clusters of hosts as network namespaces on this machine, as root: 4 and 3, so many milliseconds
(5) apart in each direction. MPI_Allreduce of several sizes is timed (calls behind each other, the median of five rows of N) along the
tree that `steer` makes, by what Open MPI chooses itself, and by each algorithm that it lets one choose. Ranks are
placed cluster by cluster, and in turn. No allreduce is faster than
the line, and ranks that poll take turns on few cores. Then what `lead` gives: the last rank comes four lines late to each, and the time
from then on is told, without and with it.'
calls= latency=5 sizes=(8 1024 65536)
. "${0%/*}/bench.sh"
bench_options "quick calls latency" "$@"
calls=${calls:-${quick:+4}}
calls=${calls:-20}
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cluster/bed.sh"

# Of coll_tuned_allreduce_algorithm (ompi_info), and that of hierarchies.
algorithms=(linear:1 nonoverlapping:2 recursive-doubling:3 ring:4 segmented-ring:5 rabenseifner:6 han:)

maps_make() {
	mkdir -p "$cluster_dir/maps"
	echo 'application any { ranks rank[0-6]; }' >"$cluster_dir/maps/application.map"
	echo 'cluster A { nodes a[0-3]; address a[0-3]:7440; gateway ga; }
		cluster B { nodes b[0-2]; address b[0-2]:7440; }
		node ga { address ga:7440; } node front;' >"$cluster_dir/maps/cluster.map"
}

# placed NODES: where ranks are. What is larger than `steer` takes without being told more is the MPI's own, then, too.
placed() {
	printf 'entry front;\nplace rank[0-6] on %s;\nsteer allreduce;\n' "$1" >"$cluster_dir/maps/mapping.map"
}

# timed NAME HOSTS OPTION...: a line for each size, in $cluster_dir/NAME.
timed() {
	local name=$1 hosts=$2 words=()

	shift 2
	[ "$name" != ours ] || words=(evspace run --run "ours$RANDOM" --pathmap "$cluster_dir/maps" --)
	cluster_on a0 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent="$cluster_dir/rsh" \
		OMPI_MCA_plm_rsh_no_tree_spawn=1 OMPI_MCA_mpi_yield_when_idle=1 EVSPACE_DIR=/dev/shm/evspace \
		timeout 120 "${words[@]}" mpirun --host "$hosts" -np 7 --map-by node "$@" "$top_builddir/tests/bench/allreduce" "$calls" \
		"${sizes[@]}" </dev/null >"$cluster_dir/$name" 2>"$cluster_dir/err" || { cat "$cluster_dir/err" >&2; failed "$name"; }
}

took() {
	awk -v n="$2" '$1 == n { print $2 }' "$cluster_dir/$1"
}

# placement NAME NODES HOSTS
placement() {
	local name algorithm number bytes best by

	placed "$2"
	timed ours "$3"
	timed default "$3"
	for algorithm in "${algorithms[@]}"; do
		name=${algorithm%:*} number=${algorithm#*:}
		if [ "$number" ]; then
			timed "$name" "$3" --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm "$number"
		else
			timed "$name" "$3" --mca coll_han_priority 100
		fi
	done
	for bytes in "${sizes[@]}"; do
		best= by=
		for algorithm in "${algorithms[@]}"; do
			name=${algorithm%:*}
			awk -v a="$(took "$name" "$bytes")" -v b="${best:-1e99}" 'BEGIN { exit !(a < b) }' || continue
			best=$(took "$name" "$bytes") by=$name
		done
		report "$1" "$bytes" "$(took ours "$bytes")" "$best" "$by" "$(took default "$bytes")"
	done
}

# Of 8 bytes, cluster by cluster: from when the last rank has come.
leading() {
	local hosts=a0,a1,a2,a3,b0,b1,b2 without with

	placed 'a[0-3] b[0-2]'
	timed ours "$hosts" -x "LATE=6:$((4000 * latency))"
	without=$(took ours 8)
	sed -i 's/^steer allreduce;/steer allreduce { lead rank[6]; }/' "$cluster_dir/maps/mapping.map"
	timed ours "$hosts" -x "LATE=6:$((4000 * latency))"
	with=$(took ours 8)
	if [ "$json" ]; then
		printf '{"schema":1,"bench":"steer","case":"lead","bytes":8,"without_us":%s,"with_us":%s}\n' "$without" "$with"
	else
		printf 'the last rank has come late: %s us more; if it leads %s us\n' "$without" "$with"
	fi
}

# report PLACEMENT BYTES OURS BEST BY DEFAULT
report() {
	if [ "$json" ]; then
		printf '{"schema":1,"bench":"steer","case":"allreduce","placement":"%s","bytes":%s,"ours_us":%s,"best_mpi_us":%s,"best":"%s","default_us":%s}\n' "$@"
	else
		printf '%-10s %6s bytes: %9s us; best of Open MPI %9s (%s), its default %9s\n' "$@"
	fi
}

cluster_allowed || { echo "tests/bench/steer.sh: not here: $cluster_why" >&2; exit 0; }
make -s -C "$top_builddir" tests/bench/allreduce || failed "building what is timed"
cluster_begin && cluster_far router $((2 * latency)) 0 1000 && cluster_join && maps_make || failed "the test bed"
printf '#!/bin/bash\nhost=$1\nshift\nexec ssh -F %s/ssh/config "$host" "$@"\n' "$cluster_dir" >"$cluster_dir/rsh"
chmod +x "$cluster_dir/rsh"
placement clusters 'a[0-3] b[0-2]' a0,a1,a2,a3,b0,b1,b2
placement in-turn 'a0 b0 a1 b1 a2 b2 a3' a0,b0,a1,b1,a2,b2,a3
sizes=(8)
leading
