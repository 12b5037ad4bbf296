# SPDX-License-Identifier: BSD-3-Clause
# Tests that counts are exact: of communicators that come and go, of threads beyond the reserve; that classes are
# switched before their first use; that numbers which were not given are known; that nothing half made stays.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

apps=$top_builddir/tests/apps

mkdir -p "$bed_dir/pids" "$bed_dir/maps"
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR

map() {
	echo 'application comms { ranks any; }' >"$bed_dir/maps/application.map"
	echo 'cluster c { nodes here; }' >"$bed_dir/maps/cluster.map"
	echo 'entry here; place all on here;' >"$bed_dir/maps/mapping.map"
	evspace map check "$bed_dir/maps"
}

# collected RUN OPTION... -- PROGRAM...: run it with two ranks; its summary's classes, a line each, in $tap_dir/RUN.
collected() {
	local run=$1 options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	timeout -k 5 120 evspace run --run "$run" --json --summary "$tap_dir/$run.json" "${options[@]}" -- \
		mpirun -np 2 "${@:2}" >"$tap_dir/$run.out" 2>"$tap_dir/$run.err" || { cat "$tap_dir/$run.err"; return 1; }
	sed 's/{"class"/\n&/g' "$tap_dir/$run.json" | grep '^{"class"' >"$tap_dir/$run"
}

# sum RUN GROUP FIELD: over all classes of the group.
sum() {
	sed -n "s/.*\"group\":\"$2\".*\"$3\":\([0-9]*\).*/\1/p" "$tap_dir/$1" | awk '{ n += $1 } END { print n + 0 }'
}

# same WHAT A B
same() {
	[ "$2" -eq "$3" ] || { echo "$1: $2, not $3"; return 1; }
}

# Two ranks, and each round is Comm_dup, Barrier, Irecv, Isend, Comm_free, Waitall.
come_and_go() {
	local n=5000

	collected "$1" --modes "$1" --capacity 20000 -- "$apps/comms" --rounds $n &&
		same p2p "$(sum "$1" p2p calls)" $((2 * (2 * n + 1))) &&
		same "bytes of p2p" "$(sum "$1" p2p bytes)" $((2 * 2 * n * 4)) &&
		same collective "$(sum "$1" collective calls)" $((2 * (n + 1))) &&
		same comm "$(sum "$1" comm calls)" $((2 * 2 * n)) &&
		same completion "$(sum "$1" completion calls)" $((2 * 2 * n)) &&
		same "wait" "$(sum "$1" wait calls)" $((2 * n)) || { cat "$tap_dir/$1"; return 1; }
	[ "$(wc -l <"$tap_dir/$1")" -lt 100 ] || { wc -l "$tap_dir/$1"; return 1; }
	! grep -q 'more classes than fit' "$tap_dir/$1.json" "$tap_dir/$1.err"
}

# The program counts its own calls; p2p, wait and completions are those that all threads make.
beyond_the_reserve() {
	collected "many$1" --modes "$1" --threads 4 -- "$apps/threads" --threads 12 --rounds 200 --json || return
	same "$1" "$(for group in p2p wait collective comm; do sum "many$1" $group calls; done | awk '{ n += $1 } END { print n }')" \
		"$(grep -v -e MPI_Init -e MPI_Finalize "$tap_dir/many$1.out" | sed -n 's/^{"rank":.*"calls":\([0-9]*\).*/\1/p' |
			awk '{ n += $1 } END { print n }')" &&
		same "completions, $1" "$(sum "many$1" completion calls)" \
			"$(sed -n 's/^{"rank":.*"completions":\([0-9]*\).*/\1/p' "$tap_dir/many$1.out" | awk '{ n += $1 } END { print n }')"
}

agent() {
	bed_start agent evspace agent --pathmap "$bed_dir/maps" --node here
	bed_until bed_ready agent && grep -q 'ready on' "$bed_dir/agent.err" || { cat "$bed_dir/agent.err"; return 1; }
}

switch() {
	timeout -k 5 120 evspace collect --connect "unix:$EVSPACE_DIR/agent-here.sock" --run "$@" >"$tap_dir/switched" 2>&1 ||
		{ cat "$tap_dir/switched"; return 1; }
}

begun() {
	[ "$(ls "$EVSPACE_DIR/$1" | grep -c '\.seg$')" -eq 2 ]
}

# waiting RUN: the program, which goes on when the file RUN.go is there.
waiting() {
	bed_start "$1" evspace run --keep --pathmap "$bed_dir/maps" --run "$1" --json --summary "$tap_dir/$1.json" -- \
		mpirun -np 2 "$apps/comms" --rounds 1 --after "$tap_dir/$1.go"
	bed_until begun "$1" || { cat "$bed_dir/$1.err"; return 1; }
}

go() {
	touch "$tap_dir/$1.go"
	bed_wait "$1" && bed_ended "$1" 0 && sed 's/{"class"/\n&/g' "$tap_dir/$1.json" | grep '^{"class"' >"$tap_dir/$1"
}

before_first_use() {
	waiting first && switch first --class p2p@world,collective@world off && go first || return
	grep -q '"class":"p2p@world",.*"mode":"off",.*"calls":0,' "$tap_dir/first" &&
		grep -q '"class":"collective@world",.*"mode":"off",.*"calls":0,' "$tap_dir/first" &&
		same "p2p of others" "$(sum first p2p calls)" 4 || { cat "$tap_dir/first"; return 1; }
}

# numbered RUN: "OPERATION FLAGS" of each collective of rank 0, in order; 64 are those without a known number.
numbered() {
	timeout -k 5 120 evspace events --connect "unix:$EVSPACE_DIR/agent-here.sock" --run "$1" --backlog --until-end \
		--select '/**/rank0/**/collective' --select '/**/rank0/**/comm' --csv 2>"$tap_dir/said" |
		awk -F , '/MPI_/ { print $3, $5, $NF }' | sort -n | cut -d ' ' -f 2-
}

numbers_are_known() {
	waiting off && switch off --class collective off && switch off --class collective trace && go off || return
	numbered off >"$tap_dir/numbered"
	printf '%s\n' "MPI_Barrier 64" "MPI_Comm_dup 64" "MPI_Barrier 0" "MPI_Comm_free 0" |
		diff - "$tap_dir/numbered"
}

# What a process that was killed at its start has left, while an agent looks on.
half_made() {
	local dead

	sh -c : &
	dead=$!
	wait $dead
	waiting tidy && echo x >"$EVSPACE_DIR/tidy/rank9.$dead.tmp" && go tidy || return
	bed_until [ ! -e "$EVSPACE_DIR/tidy/rank9.$dead.tmp" ] && begun tidy
}

tap_case "5,000 communicators made and freed: counted exactly" come_and_go count
tap_case "the same when all is traced" come_and_go trace
for mode in trace count time sample; do
	tap_case "12 threads, a reserve of 4: exact in mode $mode" beyond_the_reserve $mode
done
tap_case "a pathmap" map
tap_case "an agent" agent
tap_case "classes of the world are switched before their first use" before_first_use
tap_case "numbers after an off period are marked, those of later communicators are not" numbers_are_known
tap_case "what was killed half made goes with the run's last process" half_made
tap_done
