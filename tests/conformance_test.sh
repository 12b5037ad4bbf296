# SPDX-License-Identifier: BSD-3-Clause
# Tests that results are unchanged, bit for bit: the conformance suite with and without collectors,
# in C and by each of Fortran's doors, with Open MPI and MPICH, in every mode; and that no call of
# the table is left out.

. "$top_srcdir/tests/tap.sh"

suites=$top_builddir/tests/conformance
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
dump=$top_builddir/tests/segdump

export EVSPACE_RUN=run EVSPACE_CAPACITY=20000 EVSPACE_THREADS=6
unset EVSPACE_QUOTA EVSPACE_MODES EVSPACE_ELEMENTS

# MPICH's processes never sleep: no more of them than a small machine has cores.
launch() {
	local library=$1

	shift
	case $library in
	openmpi) timeout -k 5 "$limit" mpirun -np 3 "$@" ;;
	mpich) timeout -k 5 "$limit" "$MPICH_RUN" -np 2 "$@" ;;
	esac
}

preloading() {
	case $1 in
	openmpi) echo "-x LD_PRELOAD=$lib" ;;
	mpich) echo "-genv LD_PRELOAD $lib" ;;
	esac
}

# suite_run LIBRARY PROGRAM FOLDER OPTION [LAUNCHER-OPTION...]: what each process saw is in FOLDER.
suite_run() {
	local library=$1 program=$2 folder=$3 option=$4 status=0 limit=120

	shift 4
	[ "$option" != spawn ] || limit=40
	rm -rf "$folder"
	mkdir -p "$folder"/{spawned,multiple,ignored}
	# $option: nothing, or a word
	launch "$library" "$@" "$program" "$folder" $option >"$folder/output" 2>&1 || status=$?
	[ "$status" -ne 124 ] || [ "$option" != spawn ] || return 124
	echo "exit code $status" >"$folder/status.txt"
	[ -s "$folder/rank0.txt" ] || { cat "$folder/output"; return 1; }
	# words of the launcher and of the libraries may come in any order
	rm "$folder/output"
}

# Open MPI 4.1.4 sometimes never comes back from MPI_Comm_spawn, collectors or not: then once more.
suite_run_again() {
	local tries status

	for tries in 1 2 3; do
		status=0
		suite_run "$@" || status=$?
		[ "$status" -eq 124 ] || break
	done
	return $status
}

# Without collectors; the reference for all that follows.
plain() {
	local library=$1 program=$2 option=${3-}

	suite_run_again "$library" "$program" "$tap_dir/plain" "$option" || return
	grep -q 'exit code 0' "$tap_dir/plain/status.txt" && grep -q 'Finalize.*: fine' "$tap_dir/plain/rank0.txt"
}

# The segments are in shared memory: a disk would be too slow for so many large elements.
collected() {
	local library=$1 program=$2 option=${3-}

	rm -rf "$EVSPACE_DIR"
	# shellcheck disable=SC2046 # its words are options
	suite_run_again "$library" "$program" "$tap_dir/collected" "$option" $(preloading "$library") ||
		return
	diff -r "$tap_dir/plain" "$tap_dir/collected" >"$tap_dir/difference" && return
	head -n 40 "$tap_dir/difference"
	return 1
}

# Calls of which there are tuples in the segments.
made() {
	"$dump" "$EVSPACE_DIR/run" --counts | sed -n 's/.*"op":"\(MPI_[^"]*\)","calls":[1-9].*/\1/p'
}

# rows C|FORTRAN PROGRAM: calls of the table that the libraries of the program have.
rows() {
	local language=$1 program=$2

	ldd "$program" | sed -n 's/.*libmpi.* => \([^ ]*\) .*/\1/p' | while read -r library; do
		nm -D --defined-only "$library" | awk '{ print $NF }'
	done >"$tap_dir/symbols"
	awk -v language="$language" '
	FNR == NR { have[$1]; next }
	$1 !~ /^[0-9]/ || $2 !~ /^MPI_/ { next }
	{
		name = before = $2
		for (i = 5; i <= NF && $i != "|"; i++) {
			if ($i ~ /^before=/)
				before = substr($i, 8)
			if ($i ~ /^since=4/ && language == "fortran")
				next
		}
		if (language == "fortran") {
			if ((tolower(name) "_") in have)
				print name
		} else if (name in have || before in have)
			print name
	}' "$tap_dir/symbols" "$top_srcdir/tree/data/ops.tab" | sort
}

# none_left_out C|FORTRAN LIBRARY PROGRAM: $tap_dir/made has all calls but those that are exempt.
none_left_out() {
	local language=$1 library=$2 program=$3

	rows "$language" "$program" >"$tap_dir/rows"
	[ "$(wc -l <"$tap_dir/rows")" -gt 100 ] || { echo "the table was not read"; return 1; }
	awk -v language="$language" -v library="$library" '
	!/^#/ && ($1 == "any" || $1 == language || $1 == library) { print $2 }' \
		"$top_srcdir/tests/conformance/exempt" | sort -u >"$tap_dir/exempt"
	comm -23 "$tap_dir/rows" <(sort -u "$tap_dir/made" "$tap_dir/exempt") >"$tap_dir/left"
	[ ! -s "$tap_dir/left" ] || { echo "not made, or not recorded:" $(cat "$tap_dir/left"); return 1; }
}

in_mode() {
	local EVSPACE_MODES=$1

	shift
	export EVSPACE_MODES
	collected "$@"
}

# suite_cases NAME C|FORTRAN LIBRARY PROGRAM MODE...
suite_cases() {
	local name=$1 language=$2 library=$3 program=$4 option mode

	shift 4
	if ! [ -x "$program" ]; then
		tap_skip "$name: results are the same" "$library or its compiler is missing (see deploy/packages)"
		return
	fi
	: >"$tap_dir/made"
	for option in spawn threads ""; do
		tap_case "$name${option:+, $option}: the suite runs" plain "$library" "$program" "$option"
		tap_case "$name${option:+, $option}: the same with collectors" \
			collected "$library" "$program" "$option"
		made >>"$tap_dir/made"
	done
	tap_case "$name: no call is left out" none_left_out "$language" "$library" "$program"
	for mode; do
		tap_case "$name: the same in mode $mode" in_mode "$mode" "$library" "$program"
	done
}

EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR
tap_cleanup() {
	rm -rf "$EVSPACE_DIR"
}

suite_cases "Open MPI, C" c openmpi "$suites/suite" off count time sample
suite_cases "MPICH, C" c mpich "$suites/suite-mpich" count
for door in MPIF USE F08; do
	suite_cases "Open MPI, Fortran, $door" fortran openmpi "$suites/fortran-openmpi-$door"
	suite_cases "MPICH, Fortran, $door" fortran mpich "$suites/fortran-mpich-$door"
done
tap_done
