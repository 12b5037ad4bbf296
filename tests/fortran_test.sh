# SPDX-License-Identifier: BSD-3-Clause
# Tests that a program is recorded alike in C and by each of Fortran's doors (mpif.h, use mpi,
# use mpi_f08), with Open MPI and MPICH, each call once, and that it does not notice.

. "$top_srcdir/tests/tap.sh"

apps=$top_builddir/tests/apps
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
dump=$top_builddir/tests/segdump

export EVSPACE_DIR=$tap_dir/space EVSPACE_RUN=run EVSPACE_CAPACITY=8000
unset EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_MODES EVSPACE_ELEMENTS

# launch LIBRARY PROGRAM [collected]: its output, in the order of its lines. MPICH's launcher mixes
# what processes write, also within lines; its processes never sleep: no more of them than a small
# machine has cores.
launch() {
	local library=$1 program=$2 preload=${3:+$lib} status=0

	rm -f "$tap_dir"/output*
	case $library in
	openmpi)
		timeout -k 5 120 mpirun -np 2 ${preload:+-x LD_PRELOAD="$preload"} "$program" \
			>"$tap_dir/output" 2>"$tap_dir/errors" || status=$?
		;;
	mpich)
		timeout -k 5 120 "$MPICH_RUN" -np 2 -outfile-pattern "$tap_dir/output%r" \
			${preload:+-genv LD_PRELOAD "$preload"} "$program" \
			>"$tap_dir/errors" 2>&1 || status=$?
		;;
	esac
	[ "$status" -eq 0 ] || { cat "$tap_dir/errors"; return 1; }
	sort -k1n -k2n "$tap_dir"/output*
}

# same_output LIBRARY PROGRAM: without collectors, once for all cases, and with them.
same_output() {
	local plain=$tap_dir/plain-${2##*/}

	[ -s "$plain" ] || { launch "$1" "$2" >"$plain.new" && mv "$plain.new" "$plain"; } || return
	[ "$(wc -l <"$plain")" -gt 100 ] || { cat "$plain"; return 1; }
	rm -rf "$EVSPACE_DIR"
	launch "$1" "$2" collected >"$tap_dir/seen" || return
	diff "$plain" "$tap_dir/seen"
}

# Every tuple of what has just run: its rank, channel, operation, bytes, peer, tag, flags and
# communicator, which is numbered as it comes up (its id differs between runs).
tuples() {
	"$dump" "$EVSPACE_DIR/run" --tuples | sed 's/[{}"]//g; s/:/,/g' |
		awk -F, '{
			for (i = 1; i < NF; i += 2)
				value[$i] = $(i + 1)
			at = value["rank"] " " value["comm"]
			if (value["comm"] && !(at in number))
				number[at] = ++n[value["rank"]]
			print value["rank"], value["thread"], value["channel"], value["op"], value["bytes"],
				value["peer"], value["tag"], value["flags"],
				value["comm"] ? number[at] : 0
		}' | sort -s -k1,1n -k3,3
}

# alike LIBRARY PROGRAM: it is recorded as the C program is.
alike() {
	same_output "$1" "$2" || return
	tuples >"$tap_dir/tuples"
	diff "$tap_dir/tuples-$1" "$tap_dir/tuples"
}

# the C program's own tuples, of $1 as the reference.
recorded() {
	same_output "$1" "$2" || return
	tuples >"$tap_dir/tuples-$1"
	[ "$(wc -l <"$tap_dir/tuples-$1")" -gt 3000 ] || { wc -l "$tap_dir/tuples-$1"; return 1; }
}

# What is off is recorded nowhere, neither by the wrapper nor by what the library calls inside.
off() {
	EVSPACE_MODES=off same_output "$1" "$2" || return
	[ -z "$(tuples)" ]
}

library_tests() {
	local library=$1 c=$2 compiler=$3 door program

	tap_case "$library, C: the same output" recorded "$library" "$c"
	for door in MPIF USE F08; do
		program=$apps/fcalls-$library-$door
		if [ ! -x "$program" ]; then
			tap_skip "$library, $door" "$compiler"
			continue
		fi
		tap_case "$library, $door: the same output, recorded as in C" alike "$library" "$program"
		tap_case "$library, $door: what is off is recorded nowhere" off "$library" "$program"
	done
}

library_tests openmpi "$apps/fcalls" "no mpifort.openmpi"
if [ -x "$apps/fcalls-mpich" ] && [ -n "$MPICH_RUN" ]; then
	library_tests mpich "$apps/fcalls-mpich" "no mpifort.mpich"
else
	tap_skip "the same with MPICH" "no MPICH"
fi

tap_done
