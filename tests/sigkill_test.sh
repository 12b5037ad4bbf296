# SPDX-License-Identifier: BSD-3-Clause
# Tests what is left of processes that are killed at random moments: KILLS of them (default 50; ask
# for 1000 now and then). Most use the collector without MPI, which is the same code and takes
# milliseconds; one in ten is an MPI program on its own, and one in fifty is a rank under mpirun.

. "$top_srcdir/tests/tap.sh"

kills=${KILLS:-50}
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
killed=$top_builddir/tests/killed
steady=$top_builddir/tests/apps/steady

EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR EVSPACE_RUN=run EVSPACE_CAPACITY=200
unset EVSPACE_MODES EVSPACE_ELEMENTS EVSPACE_QUOTA EVSPACE_THREADS
pids=()

tap_cleanup() {
	[ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2>/dev/null
	rm -rf "$EVSPACE_DIR"
}

segments() {
	find "$EVSPACE_DIR/run" -name '*.seg' 2>/dev/null
}

# until N PID: so many segments are there; not when PID has ended before.
until_segments() {
	while [ "$(segments | wc -l)" -lt "$1" ]; do
		kill -0 "$2" 2>/dev/null || return
		sleep 0.02
	done
}

# Somewhere in the tenth of a second after its segment has come.
moment() {
	sleep "0.0$((RANDOM % 100 + 100))"
}

look() {
	"$killed" --check "$EVSPACE_DIR/run" >>"$tap_dir/found" || { tail -n 3 "$tap_dir/found"; return 1; }
}

alone() {
	local i

	for ((i = 0; i < $1; i++)); do
		LD_PRELOAD=$lib "$steady" >/dev/null 2>&1 &
		pids=($!)
		until_segments 1 $! || { echo "it ended by itself"; return 1; }
		moment
		kill -KILL $!
		wait $! 2>/dev/null
		pids=()
		look || { echo "at kill $i"; return 1; }
	done
	sums
}

# The launcher ends the other rank: by SIGTERM, at a moment of its own.
ranks() {
	local i victim

	for ((i = 0; i < $1; i++)); do
		timeout -k 5 60 mpirun -np 2 -x LD_PRELOAD="$lib" "$steady" >/dev/null 2>&1 &
		pids=($!)
		until_segments 2 $! || { echo "it ended by itself"; return 1; }
		moment
		victim=$(segments | shuf -n 1 | sed 's/.*\.\([0-9]*\)\.seg/\1/')
		kill -KILL "$victim" || return
		wait $! 2>/dev/null
		pids=()
		look || { echo "at kill $i"; return 1; }
	done
	sums
}

# Numbers of all that were looked at: delivered + lost = written, nothing torn.
sums() {
	awk -F '[ ,]+' '
	{ written += $2; held += $4; lost += $6; torn += $8 }
	END {
		printf "written %d, held %d, lost %d, torn %d\n", written, held, lost, torn
		exit torn || !written || held + lost != written
	}' "$tap_dir/found"
}

directly() {
	mkdir -p "$EVSPACE_DIR/run"
	"$killed" "$EVSPACE_DIR/run" "$1"
}

few=$(((kills + 9) / 10))
fewest=$(((kills + 49) / 50))
tap_case "$((kills - few - fewest)) writers killed: readable, complete, not torn" directly $((kills - few - fewest))
tap_case "$few MPI programs killed: the same" alone "$few"
tap_case "$fewest ranks under mpirun killed: the same" ranks "$fewest"
tap_done
