# SPDX-License-Identifier: BSD-3-Clause
# Tests the MPI programs that other tests watch: right by themselves, before anything watches them.

. "$top_srcdir/tests/tap.sh"

apps=$top_builddir/tests/apps

# run RANKS PROGRAM [OPTION...]
run() {
	local ranks=$1 program=$2

	shift 2
	timeout -k 5 120 mpirun -np "$ranks" "$apps/$program" "$@"
}

# exits_with STATUS COMMAND...
exits_with() {
	local want=$1 status=0

	shift
	"$@" || status=$?
	[ "$status" -eq "$want" ] || { echo "exit status $status, not $want"; false; }
}

# --- windtunnel ---

# result RANKS THREADS OPTION...: the last line from "steps/s" on.
result() {
	local ranks=$1 threads=$2

	shift 2
	run "$ranks" windtunnel --threads "$threads" "$@" | sed -n '$s#.* steps/s, ##p'
}

one_thread=$(result 1 1 --steps 45)

same_result() {
	local got

	[[ $one_thread =~ ^"mass and momentum conserved, checksum "[0-9a-f]{8}$ ]] &&
		got=$(result "$1" "$2" --steps 45) && [ "$got" = "$one_thread" ] && return
	echo "'$got' is not one thread's '$one_thread'"
	return 1
}

for shape in "1 3" "2 1" "2 2" "3 1" "3 3" "4 2"; do
	read -r ranks threads <<<"$shape"
	tap_case "windtunnel: $ranks ranks x $threads threads come to what one thread does" \
		same_result "$ranks" "$threads"
done

other_steps_differ() {
	[ "$(result 1 1 --steps 46)" != "$one_thread" ]
}

tap_case "windtunnel: the checksum follows the steps" other_steps_differ
tap_case "windtunnel: a wrong exchange between ranks is seen" \
	tap_says 1 "matrix 3 at step 20" run 2 windtunnel --break-exchange 12
tap_case "windtunnel: a wrong exchange between threads is seen" \
	tap_says 1 "matrix 4 at step 5" run 1 windtunnel --threads 3 --check 5 --break-exchange 0
tap_case "windtunnel: stops after --seconds" tap_says 0 "mass and momentum conserved" \
	run 2 windtunnel --seconds 1 --report
tap_case "windtunnel: says what is wrong with an option" \
	tap_says 2 "--size wants one of small|medium|large, not 'huge'" run 2 windtunnel --size huge
tap_case "windtunnel: more threads than rows" \
	tap_says 2 "more than the 1920 rows of size small" run 8 windtunnel --threads 256
tap_case "windtunnel: --help" tap_says 0 "usage: mpirun" run 2 windtunnel --help

# --- calls and threads ---

for ranks in 1 2 3 4; do
	tap_case "calls: all results are right with $ranks ranks" run "$ranks" calls
done

# What depends on timing is left out.
counts() {
	run 3 "$@" --json | grep -v 'Waitsome\|Testsome' | sed 's/,*"polls":[0-9]*//'
}

counts_come_again() {
	counts "$@" >"$tap_dir/first" && counts "$@" >"$tap_dir/second" &&
		diff "$tap_dir/first" "$tap_dir/second" &&
		[ "$(grep -c '"op":"MPI_Finalize","calls":1,' "$tap_dir/first")" -eq 3 ]
}

tap_case "calls: counts the same in each run" counts_come_again calls

for shape in "1 1" "1 3" "2 4" "3 2"; do
	read -r ranks threads <<<"$shape"
	tap_case "threads: $ranks ranks x $threads threads" run "$ranks" threads --threads "$threads"
done
tap_case "threads: counts the same in each run" counts_come_again threads

# --- stuck ---

# It says that it is stuck, and is then there until it is ended.
gets_stuck() {
	local line stuck

	mkfifo "$tap_dir/stuck" && exec 3<>"$tap_dir/stuck" || return
	mpirun -np 3 "$apps/stuck" "$@" 2>&3 &
	stuck=$!
	while read -r -t 60 line <&3 && [[ $line != "stuck: rank "* ]]; do
		echo "$line"
	done
	echo "$line"
	kill "$stuck" && exits_with 1 wait "$stuck" && [ "$line" = "stuck: rank 2 sleeps before barrier" ]
}

tap_case "stuck: in a barrier, until it is ended" gets_stuck --seconds 300
tap_case "stuck: in a receive" tap_says 0 "stuck: rank 1 sleeps before send" \
	run 3 stuck --rank 1 --in recv --seconds 0
tap_case "stuck: the last rank, and all go on" tap_says 0 "stuck: rank 2 sleeps before barrier" \
	run 3 stuck --seconds 0
tap_case "stuck: the rank ends without MPI_Finalize" tap_says 3 "stuck: rank 0 sleeps" \
	run 2 stuck --rank 0 --seconds 0 --then-exit
tap_case "stuck: no such rank" tap_says 2 "--rank 3: there are only 3 ranks" run 3 stuck --rank 3
tap_done
