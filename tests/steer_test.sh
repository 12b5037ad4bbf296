# SPDX-License-Identifier: BSD-3-Clause
# Tests collectives that run over trees of a pathmap (`steer`): with any tree they give what the MPI's own give, with
# Open MPI and MPICH, in C and Fortran; what happens inside is recorded; and what cannot be steered is left alone.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

apps=$top_builddir/tests/apps
maps=$bed_dir/maps
all=barrier,bcast,reduce,allreduce,gather,scatter,allgather

mkdir -p "$bed_dir/pids" "$maps"
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
trap 'rm -rf "$EVSPACE_DIR"; bed_end' EXIT
export EVSPACE_DIR EVSPACE_CAPACITY=50000
unset EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_MODES EVSPACE_STEER

# map STATEMENT...: five ranks on two clusters, behind gateways; a0 has two of them.
map() {
	echo 'application demo { ranks rank[0-4]; }' >"$maps/application.map"
	echo 'cluster A { nodes a[0-1]; address a[0-1].example:1; gateway ga; }
		cluster B { nodes b[0-1]; address b[0-1].example:1; gateway gb; }
		node ga { address ga.example:1; } node gb { address gb.example:1; } node front;' >"$maps/cluster.map"
	printf 'entry front;\nplace rank[0-1] on a0 by 2;\nplace rank[2-4] on a1 b[0-1];\n%s\n' "$*" >"$maps/mapping.map"
	evspace map check "$maps" >"$tap_dir/check" 2>&1
}

# tree TEXT STATEMENT...: what the statements come to.
tree() {
	map "${@:2}" && evspace map show "$maps" | grep '^steered: ' >"$tap_dir/show"
	[ "$(cat "$tap_dir/show")" = "steered: $1" ] || { cat "$tap_dir/check" "$tap_dir/show"; return 1; }
}

refused() {
	! map "$1" && grep -q "$2" "$tap_dir/check" || { cat "$tap_dir/check"; return 1; }
}

# program openmpi|mpich N PROGRAM...: under evspace run, with the map, before which EVSPACE_STEER goes.
program() {
	local launch=(mpirun --oversubscribe) library=$1 n=$2

	shift 2
	[ "$library" = openmpi ] || launch=("$MPICH_RUN")
	rm -rf "$EVSPACE_DIR/run"
	timeout -k 5 200 evspace run --keep --run run --pathmap "$maps" -- "${launch[@]}" -np "$n" "$@" \
		>"$tap_dir/out" 2>"$tap_dir/err"
}

# with LIBRARY TREE CASES SEED [VALUES]: random calls, of which none differs, and some are seen inside.
with() {
	local library=$1 program=$apps/steered steer=$2

	shift 2
	[ "$library" = openmpi ] || program=$apps/steered-mpich
	rm -rf "$EVSPACE_DIR/run"
	case $library in
	openmpi)
		EVSPACE_STEER=$steer timeout -k 5 200 evspace run --keep --run run -- mpirun --oversubscribe -np 5 "$program" "$@"
		;;
	mpich)
		EVSPACE_STEER=$steer timeout -k 5 200 evspace run --keep --run run -- "$MPICH_RUN" -np 5 "$program" "$@"
		;;
	esac >"$tap_dir/out" 2>"$tap_dir/err"
	grep -q "^steered: $1 cases, 0 differ" "$tap_dir/out" && inside || { cat "$tap_dir/out"; tail "$tap_dir/err"; return 1; }
}

inside() {
	"$top_builddir/tests/segdump" "$EVSPACE_DIR/run" --tuples >"$tap_dir/tuples"
	grep -q '"op":"evspace_steer_up"' "$tap_dir/tuples" && grep -q '"op":"evspace_steer_down"' "$tap_dir/tuples"
}

# --- maps ---

tap_case "a tree of ranks is made of the tree of hosts: clusters meet as equals" \
	tree 'allreduce<=4096=0(1-2)|3(4)' 'steer allreduce;'
tap_case "... of the view that is named, with what else is said" \
	tree 'barrier,bcast@world<=4096!=0(1)|2|3|4' \
	'tree flat ignoring gateways; steer bcast barrier { along latest; communicator world; bytes at most 4KiB; in order; }'
tap_case "... several, of which the first that is for a call counts" \
	tree "allreduce<=64=0(1-2)|3(4);$all<=4096=0(1-2)|3(4)" 'steer allreduce { bytes at most 64; } steer all;'
tap_case "... with ranks that stand for others: of their host, and of hosts beside it" \
	tree 'allreduce<=4096=2(0(1))|4(3)' 'steer allreduce { lead rank[4,2]; }'
tap_case "... the first of them before the next" tree 'allreduce<=4096=1(0,2)|3(4)' 'steer allreduce { lead rank1 rank[3,2]; }'
tap_case "what is large is left to the MPI unless the map says otherwise" \
	tree 'allreduce<=65536=0(1-2)|3(4);bcast=0(1-2)|3(4)' 'steer allreduce { bytes at most 64KiB; } steer bcast { bytes any; }'
tap_case "what collectors are around" tree 'bcast<=4096!+rs=0(1-2)|3(4);barrier<=4096+=0(1-2)|3(4);reduce<=4096=0(1-2)|3(4)' \
	'steer bcast { in order; collect send reduce; } steer barrier { collect nothing; } steer reduce { collect arrival; }'
tap_case "another stage" refused 'steer bcast { collect all; }' 'unknown stage `all`'
tap_case "nothing beside something" refused 'steer bcast { collect send nothing; }' '`nothing` beside others'
tap_case "another rank" refused 'steer allreduce { lead rank7; }' 'rank7 is not in the application map'
tap_case "another operation" refused 'steer allreduce scan;' 'unknown operation to steer `scan`'
tap_case "another view" refused 'steer bcast { along nothing; }' 'unknown view `nothing`'
tap_case "a size that is none" refused 'steer bcast { bytes at most many; }' 'mapping.map:4'
tap_case "sizes that are neither" refused 'steer bcast { bytes below 4KiB; }' 'write `bytes at most 4KiB;` or `bytes any;`'
tap_case "nothing to steer" refused 'steer;' 'steer'

# Where the map does not say where ranks are.
no_place() {
	map 'steer bcast;'
	sed -i '/^place/d' "$maps/mapping.map"
	! evspace map check "$maps" >"$tap_dir/check" 2>&1 && grep -q '`steer` needs to know where ranks are' "$tap_dir/check" ||
		{ cat "$tap_dir/check"; return 1; }
}

tap_case "no place" no_place

# --- results ---

# Rank 0 hears of 1 and 2, then of the other cluster; 3 of 4 and of 0; the others of who is above. What does not commute
# comes to 0 alone, and down from there.
paths() {
	map 'steer allreduce { communicator world; }' && program openmpi 5 "$apps/steered" 400 1 40 || { cat "$tap_dir/err"; return 1; }
	inside || return
	sed -n 's/^{"rank":\([0-9]*\),.*"op":"evspace_steer_\([a-z]*\)".*"peer":\([0-9]*\),.*/\1 \2 \3/p' "$tap_dir/tuples" |
		sort | uniq >"$tap_dir/paths"
	diff "$tap_dir/paths" - <<-END
		0 up 1
		0 up 2
		0 up 3
		1 down 0
		2 down 0
		3 down 0
		3 up 0
		3 up 4
		4 down 3
	END
}

# Two collectors around each stage of an inner rank: it has heard of 4, joins that, hears of 0, joins that, and sends to both.
stages() {
	map 'steer allreduce { communicator world; collect arrival reduce send; }' &&
		program openmpi 5 "$apps/steered" 400 1 40 || { cat "$tap_dir/err"; return 1; }
	inside || return
	sed -n 's/^{"rank":3,.*"op":"evspace_steer_\([a-z]*\)","start":\([0-9]*\),"end":\([0-9]*\),.*"peer":\(-*[0-9]*\),"tag":\([0-9]*\),.*/\2 \3 \1 \4 \5/p' \
		"$tap_dir/tuples" >"$tap_dir/stages"
	awk '
		$5 != number { all[path]++; path = ""; number = $5; before = 0 }
		$2 < $1 || ($3 == "reduce" && $1 < before) { wrong++ }
		{ path = path " " $3 $4; before = $2 }
		END {
			whole = all[" up4 reduce-1 send0 up0 reduce-1 send4"] + all[" up4 reduce-1 up0 send0 reduce-1 send4"]
			exit wrong || whole <= 5
		}' "$tap_dir/stages" || { head -n 20 "$tap_dir/stages"; return 1; }
}

tap_case "the map's tree is run, and each step of it is recorded" paths
tap_case "the map places collectors around each stage of it" stages
tap_case "Open MPI, flat: 2,000 random calls" with openmpi "$all=0(1-4)" 2000 1
tap_case "Open MPI, a chain" with openmpi "$all=4(3(2(1(0))))" 2000 2
tap_case "Open MPI, several roots" with openmpi "$all=2|0|4|1(3)" 2000 3
tap_case "Open MPI, in the order of ranks" with openmpi "$all!=0(1,2)|3(4)" 1000 4
tap_case "Open MPI, rules by size" with openmpi "allreduce!=0(1-4);$all<=1000=4(3(2(1(0))));$all=0|1|2|3|4" 1000 5
tap_case "Open MPI, the world alone" with openmpi "$all@world=0(1,2)|3(4)" 1000 6 40
tap_case "Open MPI, small calls alone" with openmpi "$all<=64=3(1)|2(0,4)" 1000 7 40
tap_case "Open MPI, one rank is in no tree" with openmpi "$all=0(1-3)" 1000 8 40

if [ -n "$MPICH_RUN" ]; then
	tap_case "MPICH, flat" with mpich "$all=0(1-4)" 300 1
	tap_case "MPICH, several roots" with mpich "$all=2|0|4|1(3)" 300 3
	tap_case "MPICH, small calls alone" with mpich "$all<=64=3(1)|2(0,4)" 300 7 40
else
	tap_skip "the same with MPICH" "it was not there when this was built"
fi

# same PROGRAM LIBRARY: Fortran, too, sees what it sees without.
same() {
	program "$2" 2 "$1" && sort "$tap_dir/out" >"$tap_dir/plain" || { cat "$tap_dir/err"; return 1; }
	EVSPACE_STEER="$all=0|1" program "$2" 2 "$1" && sort "$tap_dir/out" >"$tap_dir/steered" || { cat "$tap_dir/err"; return 1; }
	[ "$(wc -l <"$tap_dir/plain")" -gt 100 ] && diff "$tap_dir/plain" "$tap_dir/steered" && inside
}

map ''
for door in MPIF F08; do
	if [ -x "$apps/fcalls-openmpi-$door" ]; then
		tap_case "Open MPI, Fortran, $door: the same output" same "$apps/fcalls-openmpi-$door" openmpi
	else
		tap_skip "Open MPI, Fortran, $door" "no mpifort.openmpi"
	fi
done

# Ranks that are not collected, and classes that are off, are steered all the same.
unseen() {
	EVSPACE_MODES=off EVSPACE_RANKS=1-3 with openmpi "$all=0(1,2)|3(4)" 300 9 && return 1
	grep -q '^steered: 300 cases, 0 differ' "$tap_dir/out" || { cat "$tap_dir/out"; tail "$tap_dir/err"; return 1; }
}

tap_case "what is not collected is steered, too" unseen

# Worlds that the program spawns are not steered, nor is what they are merged with. (Open MPI 4.1.4 sometimes never comes
# back from MPI_Comm_spawn, steered or not: then once more.)
spawns() {
	local status=124

	for tries in 1 2 3; do
		[ "$status" -eq 124 ] || break
		rm -rf "$tap_dir/suite" "$EVSPACE_DIR/run"
		mkdir -p "$tap_dir/suite"/{spawned,multiple,ignored}
		status=0
		EVSPACE_STEER="$all=0(1)|2" timeout -k 5 40 evspace run --keep --run run -- mpirun --oversubscribe -np 3 \
			"$top_builddir/tests/conformance/suite" "$tap_dir/suite" spawn >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
	done
	[ "$status" -eq 0 ] && grep -q 'Finalize.*: fine' "$tap_dir/suite/rank0.txt" && inside || { cat "$tap_dir"/out "$tap_dir/err"; return 1; }
}

tap_case "worlds that are spawned are left alone" spawns

# A text that nobody has made of a map: nothing is steered, and the program runs.
garbage() {
	EVSPACE_STEER='barrier=0(1' program openmpi 2 "$apps/steered" 50 1 40 || { cat "$tap_dir/err"; return 1; }
	! inside
}

tap_case "a text that is none: nothing is steered" garbage

# A rank that is killed in the middle ends the program as it does without.
killed() {
	local status=0

	map 'steer all;'
	compgen -G '/dev/shm/vader_segment.*' >"$tap_dir/there"
	bed_start killed timeout 60 evspace run --run killed --pathmap "$maps" -- mpirun --oversubscribe -np 5 "$apps/steered" 1000000 1
	bed_until test -e "$EVSPACE_DIR/killed" && bed_until eval 'pgrep -f "apps/steered 1000000" >/dev/null' || return
	bed_until eval 'compgen -G "$EVSPACE_DIR/killed/rank2.*.seg" >/dev/null' || return
	kill -9 "$(basename "$(compgen -G "$EVSPACE_DIR/killed/rank2.*.seg")" | cut -d. -f2)"
	bed_until bed_gone "$(bed_pid killed)" && ! pgrep -f 'apps/steered 1000000' || return
	compgen -G '/dev/shm/vader_segment.*' >"$tap_dir/left"
	diff "$tap_dir/there" "$tap_dir/left"
}

tap_case "a killed rank ends the program" killed

tap_done
