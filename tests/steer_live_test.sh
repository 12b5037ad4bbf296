# SPDX-License-Identifier: BSD-3-Clause
# Tests trees of steered collectives that are changed while a program runs, by applying a map: all members of each communicator
# change at one call, the results stay right, and what cannot be read changes nothing.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

apps=$top_builddir/tests/apps
maps=$bed_dir/maps

mkdir -p "$bed_dir/pids" "$maps"
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
trap 'rm -rf "$EVSPACE_DIR"; bed_end' EXIT
export EVSPACE_DIR EVSPACE_CAPACITY=p2p=100,collective=100,user=300000
unset EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_MODES EVSPACE_STEER EVSPACE_RANKS

collect='collect rank[0-3];'

# map STATEMENT...: five ranks, of which 4 may be not collected; both nodes are this host.
map() {
	echo "application demo { ranks rank[0-4]; $collect }" >"$maps/application.map"
	printf 'cluster A { nodes n0; address unix:%s/n0; }\ncluster B { nodes n1; address unix:%s/n1; }\n' "$bed_dir" "$bed_dir" \
		>"$maps/cluster.map"
	printf 'entry n0;\nplace rank[0-1] on n0 by 2;\nplace rank[2-4] on n1 by 3;\n%s\n' "$*" >"$maps/mapping.map"
	evspace map check "$maps"
}

agent() {
	bed_start "$1" evspace agent --pathmap "$maps" --node "$1" --listen "unix:$bed_dir/$1"
	bed_until bed_ready "$1" && grep -q 'ready on' "$bed_dir/$1.err" || { cat "$bed_dir/$1.err"; return 1; }
}

# Rank 4, which is not collected, has begun, too: others hear of it.
is_under_way() {
	[ -d "$EVSPACE_DIR/$1" ] && "$top_builddir/tests/segdump" "$EVSPACE_DIR/$1" --tuples | grep -q '"op":"evspace_steer_up".*"peer":4,'
}

# program RUN LAUNCHER PROGRAM: random calls, compared with the MPI's own, until $bed_dir/RUN.stop is there.
program() {
	bed_start "$1" evspace run --keep --pathmap "$maps" --run "$1" -- $2 -np 5 "$3" 100000000 7 100 "$bed_dir/$1.stop"
	bed_until is_under_way "$1"
}

over() {
	touch "$bed_dir/$1.stop"
	bed_wait "$1" && grep -q '^steered: [0-9]* cases, 0 differ' "$bed_dir/$1.out" || { cat "$bed_dir/$1".*; return 1; }
}

# steered RUN: communicator, its call and the number of rules from it on, of each rank that is collected.
steered() {
	"$top_builddir/tests/segdump" "$EVSPACE_DIR/$1" --tuples |
		sed -n 's/^{"rank":\([0-9]*\),.*"op":"evspace_steer_new".*"bytes":\([0-9]*\),.*"tag":\([0-9]*\),"comm":\([0-9]*\),.*/\1 \4 \3 \2/p' |
		sort -u >"$tap_dir/new"
}

# changed RUN N: the world, as the communicator of all that changed first, has changed so often on each of them.
changed() {
	steered "$1"
	[ "$(awk '{ n[$2 " " $1]++ } END {
		for (k in n) {
			split(k, p, " ")
			if (on[p[1]]++ == 0 || n[k] < least[p[1]])
				least[p[1]] = n[k]
		}
		for (c in on)
			if (on[c] == 4 && least[c] > most)
				most = least[c]
		print most + 0 }' "$tap_dir/new")" -ge "$2" ]
}

apply() {
	evspace map apply "$maps" --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1 || { cat "$tap_dir/applied"; return 1; }
}

# On each communicator the ranks that are in it have changed at the same calls.
alike() {
	steered "$1"
	awk '{ n[$2 " " $3 " " $4]++; ranks[$2 " " $1] } END {
		for (r in ranks) { split(r, p, " "); members[p[1]]++ }
		for (k in n) { split(k, p, " "); if (n[k] != members[p[1]]) { print "not by all: " k; bad = 1 } }
		exit bad }' "$tap_dir/new" || { cat "$tap_dir/new"; return 1; }
}

changes() {
	map 'steer all { bytes any; }' && agent n1 && agent n0 && program "$1" "$2" "$3" || return
	map 'steer all { in order; }' && apply && tap_printed "$tap_dir/applied" -- 'steered along .*!=0.* instead of ' &&
		bed_until changed "$1" 1 || { cat "$tap_dir/new"; return 1; }
	map 'steer all { bytes at most 64; } steer allreduce bcast;' && apply && bed_until changed "$1" 2 || return
	map '' && apply && bed_until changed "$1" 3 || return
	map 'steer all { along latest; }' && apply && bed_until changed "$1" 4 || return
	evspace map rollback --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1 && bed_until changed "$1" 5 || return
	map 'steer all { bytes any; }' && apply && bed_until changed "$1" 6 && over "$1" && alike "$1"
}

# Files that nobody has made of a map, or that others may write: nothing changes.
garbage() {
	local file="$EVSPACE_DIR/garbage/steering"

	map 'steer all;' && program garbage "mpirun --oversubscribe" "$apps/steered" || return
	printf 'all=0(1' >"$EVSPACE_DIR/next" && mv "$EVSPACE_DIR/next" "$file" || return
	printf 'barrier=4(0-3)' >"$EVSPACE_DIR/next" && chmod 666 "$EVSPACE_DIR/next" && mv "$EVSPACE_DIR/next" "$file" || return
	head -c 200000 /dev/zero >"$EVSPACE_DIR/next" && mv "$EVSPACE_DIR/next" "$file" || return
	ln -sf /etc/passwd "$EVSPACE_DIR/next" && mv "$EVSPACE_DIR/next" "$file" || return
	mkfifo "$EVSPACE_DIR/next" && mv "$EVSPACE_DIR/next" "$file" || return
	printf 'barrier=4(0-3)' >"$EVSPACE_DIR/next" && mv "$EVSPACE_DIR/next" "$file" && bed_until changed garbage 1 || return
	over garbage && alike garbage && ! awk '$4 != 1 { exit 1 }' "$tap_dir/new" | grep .
}

tap_case "Open MPI: a map is applied six times; all members change at one call, and results stay right" \
	changes openmpi "mpirun --oversubscribe" "$apps/steered"
tap_case "files that are not sound change nothing" garbage
# Rank 3 is late in every second operation: it is to lead, and with --apply it does, in the program that runs.
suggested() {
	collect=
	map 'steer all { bytes at most 1; }' && apply || return
	bed_start late evspace run --keep --pathmap "$maps" --run late -- mpirun --oversubscribe -np 5 "$apps/late" \
		--operations 1000000 --sums --pause 1000 --late 3:20000:2:0
	bed_until eval 'compgen -G "$EVSPACE_DIR/late/rank4.*.seg" >/dev/null'
	evspace colop --connect "unix:$bed_dir/n0" --run late --duration 5s --suggest >"$tap_dir/said" 2>"$tap_dir/err" &&
		grep -q '^steer allreduce {$' "$tap_dir/said" && grep -q '^	lead rank3' "$tap_dir/said" || { cat "$tap_dir"/said "$tap_dir/err"; return 1; }
	for i in 1 2; do
		evspace colop --connect "unix:$bed_dir/n0" --run late --duration 5s --apply --json >"$tap_dir/said" 2>"$tap_dir/err" &&
			grep -q '"type":"suggestion".*"leads":\[3' "$tap_dir/said" && grep -q 'map rollback takes it back' "$tap_dir/err" ||
			{ cat "$tap_dir"/said "$tap_dir/err"; return 1; }
	done
	bed_until leads_now && evspace map diff "$maps" --connect "unix:$bed_dir/n0" >"$tap_dir/said" 2>&1
	[ "$(grep -o 'allreduce@world<=4096=0(1)|3(2,4)' "$tap_dir/said" | wc -l)" -eq 1 ] || { cat "$tap_dir/said"; return 1; }
	bed_kill TERM late && bed_wait late
	return 0
}

# Rank 3 hears of the others of its host, and of the other host's first.
leads_now() {
	"$top_builddir/tests/segdump" "$EVSPACE_DIR/late" --tuples >"$tap_dir/tuples"
	for peer in 0 2 4; do
		grep -q '"rank":3,.*"op":"evspace_steer_up".*"peer":'"$peer," "$tap_dir/tuples" || return
	done
}

suggest_refused() {
	tap_says 1 'nothing to propose' evspace colop --connect "unix:$bed_dir/n0" --run garbage --backlog --suggest
}

tap_case "colop proposes who is to lead, and puts that into the map of a program that runs" suggested
tap_case "... nothing, where nothing is known" suggest_refused
for node in n0 n1; do
	bed_kill TERM "$node" && bed_wait "$node"
done
if [ -n "$MPICH_RUN" ]; then
	collect='collect rank[0-3];'
	tap_case "MPICH: the same" changes mpich "$MPICH_RUN" "$apps/steered-mpich"
else
	tap_skip "MPICH: the same" "it was not there when this was built"
fi

tap_done
