# SPDX-License-Identifier: BSD-3-Clause
# Tests real programs, unmodified: what they print is the same with and without collectors, but for
# times, and what they did is on record. (hpcc: hpcc_test.sh; tablix2: pvm_test.sh.)

. "$top_srcdir/tests/tap.sh"

lib=$EVSPACE_LIBDIR/libevspace-mpi.so
dump=$top_builddir/tests/segdump
mumps=/usr/lib/mumps

EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR EVSPACE_RUN=run
unset EVSPACE_MODES EVSPACE_ELEMENTS EVSPACE_CAPACITY EVSPACE_THREADS
tap_cleanup() {
	rm -rf "$EVSPACE_DIR"
}

# launch LIBRARY collected|plain PROGRAM...: on two ranks, in the folder that is the current one.
launch() {
	local library=$1 how=$2

	shift 2
	case $library-$how in
	openmpi-plain) timeout -k 5 300 mpirun -np 2 "$@" ;;
	openmpi-collected) timeout -k 5 300 mpirun -np 2 -x LD_PRELOAD="$lib" "$@" ;;
	mpich-plain) timeout -k 5 300 "$MPICH_RUN" -np 2 "$@" ;;
	mpich-collected) timeout -k 5 300 "$MPICH_RUN" -np 2 -genv LD_PRELOAD "$lib" "$@" ;;
	esac
}

# Numbers that are times or follow from them, and memory; dates.
mask() {
	sed -E -e '/^(WALL|CPU)/s/ +[0-9]+\.[0-9]+/ T/g' \
		-e '/[Tt]ime|Elapsed|ELAPSED|MBYTES|Date|Rank of|Finished/s/[0-9.]+(E[-+][0-9]+)?/T/g'
}

# The ops that the segments have, and by how many processes something was written.
recorded() {
	local ranks=$1 ops=$2

	[ "$(find "$EVSPACE_DIR/run" -name '*.seg' | wc -l)" -eq "$ranks" ] &&
		[ "$("$dump" "$EVSPACE_DIR/run" --counts | sed -n 's/.*"op":"\([^"]*\)".*/\1/p' | sort -u | wc -l)" -ge "$ops" ]
}

# same LIBRARY OPS INPUT WORD PROGRAM...: the output holds WORD, and OPS kinds of calls are on record.
same() {
	local library=$1 ops=$2 input=$3 word=$4 how

	shift 4
	rm -rf "$EVSPACE_DIR/run"
	for how in plain collected; do
		launch "$library" "$how" "$@" <"$input" >"$tap_dir/$how.raw" 2>"$tap_dir/$how.err" ||
			{ echo "exit code $?"; tail -n 5 "$tap_dir/$how.err"; return 1; }
		mask <"$tap_dir/$how.raw" >"$tap_dir/$how.txt"
		grep -q "$word" "$tap_dir/$how.txt" || { echo "no \"$word\" in what it prints"; return 1; }
	done
	diff "$tap_dir/plain.txt" "$tap_dir/collected.txt" >"$tap_dir/difference" ||
		{ head -n 20 "$tap_dir/difference"; return 1; }
	recorded 2 "$ops" || { echo "not on record"; return 1; }
}

if [ -x "$mumps/dsimpletest" ]; then
	tap_case "mumps-test (Fortran, Open MPI): the same output, on record" \
		same openmpi 8 "$mumps/input_simpletest_real" "Solution is" "$mumps/dsimpletest"
else
	tap_skip "mumps-test: the same output" "mumps-test is missing (Debian package mumps-test)"
fi

# The shipped problem, smaller: one block size, and the grids that two ranks can make.
scalapack() {
	local library=$1 folder=/usr/lib/$(gcc -print-multiarch)/scalapack/$1-tests

	mkdir -p "$tap_dir/$library"
	awk '/problems sizes/ { $1 = 2 } /number of N[BR]/ || /Number of NB/ { $1 = 1 }
	/process grids/ { $1 = 2 } /values of P/ { $1 = 1; $2 = 2 } /values of Q/ { $1 = 2; $2 = 1 }
	{ print }' \
		"$folder/LU.dat" >"$tap_dir/$library/LU.dat"
	cd "$tap_dir/$library" && same "$library" 5 /dev/null "tests completed and passed" "$folder/xdlu"
}

for library in openmpi mpich; do
	if [ -x "/usr/lib/$(gcc -print-multiarch)/scalapack/$library-tests/xdlu" ] &&
		{ [ $library = openmpi ] || [ -n "$MPICH_RUN" ]; }; then
		tap_case "scalapack-mpi-test (xdlu, $library): the same output, on record" \
			eval "(scalapack $library)"
	else
		tap_skip "scalapack-mpi-test ($library): the same output" \
			"it is missing (Debian package scalapack-mpi-test)"
	fi
done
tap_done
