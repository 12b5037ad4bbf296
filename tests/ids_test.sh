# SPDX-License-Identifier: BSD-3-Clause
# Tests that each communicator has one id on all its members and no other has it, with either MPI; that it is on record
# while it is there; that nothing is received from nobody.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

apps=$top_builddir/tests/apps
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
failing=$top_builddir/tests/preload/.libs/failing
dump=$top_builddir/tests/segdump
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR EVSPACE_CAPACITY=20000 EVSPACE_RUN=run

# collected MPI RANKS PRELOAD OPTION...: run the program; what it prints is in $tap_dir/out.
collected() {
	local mpi=$1 ranks=$2 preload=$3

	shift 3
	rm -rf "$EVSPACE_DIR"/run
	if [ "$mpi" = mpich ]; then
		timeout -k 5 120 "$MPICH_RUN" -np "$ranks" -genv LD_PRELOAD "$preload" "$apps/ids-mpich" "$@"
	else
		timeout -k 5 120 mpirun -np "$ranks" -x LD_PRELOAD="$preload" "$apps/ids" "$@"
	fi >"$tap_dir/out" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

# "NUMBER ID" of each communicator that has been said something on, once.
labels() {
	"$dump" "$EVSPACE_DIR/run" --tuples | sed -n 's/.*"op":"MPI_Send",.*"tag":\([0-9]*\),"comm":\([0-9]*\),.*/\1 \2/p' | sort -u
}

# Each number has one id, each id one number, and there are as many as the program says.
ids_are_right() {
	labels >"$tap_dir/labels"
	[ "$(wc -l <"$tap_dir/labels")" -eq "$(cat "$tap_dir/out")" ] &&
		[ -z "$(cut -d ' ' -f 1 "$tap_dir/labels" | sort | uniq -d)$(cut -d ' ' -f 2 "$tap_dir/labels" | sort | uniq -d)" ] &&
		! grep -q ' 0$' "$tap_dir/labels" || { echo "of $(cat "$tap_dir/out"):"; sort -n "$tap_dir/labels" | head -n 40; return 1; }
}

no_notes() {
	[ -z "$("$dump" "$EVSPACE_DIR/run" --headers | grep -v '"notes":""')" ] || { "$dump" "$EVSPACE_DIR/run" --headers; return 1; }
}

rounds() {
	collected "$1" 2 "$lib" --make rounds && ids_are_right && no_notes
}

groups() {
	collected "$1" 3 "$lib" --make groups && ids_are_right
}

idup() {
	local suffix=

	[ "$1" != mpich ] || suffix=-mpich
	collected "$1" 2 "$lib:$failing$suffix.so" --make idup && ids_are_right
}

retry() {
	collected "$1" 2 "$lib" --make retry && ids_are_right
}

# What is there at the end is on record, with its members.
churn() {
	collected "$1" 3 "$lib" --make churn && ids_are_right && no_notes &&
		[ "$("$dump" "$EVSPACE_DIR/run" --comms | grep -c "\"comm\":$(cut -d ' ' -f 2 "$tap_dir/labels"),.*\"members\":\[2,1,0\]}")" -eq 3 ] ||
		{ cat "$tap_dir/labels"; return 1; }
}

# Of all that receives the peer is nobody.
nobody() {
	collected "$1" 1 "$lib" --make nobody || return
	# TUPLE_COMPLETION is 2; MPI_Recv has none
	"$dump" "$EVSPACE_DIR/run" --tuples |
		sed -n 's/.*"op":"\(MPI_[A-Za-z]*[rR]ecv[a-z_]*\)".*"peer":\(-*[0-9]*\),.*"flags":\([0-9]*\)}/\1 \2 \3/p' |
		awk '$1 == "MPI_Recv" || int($3 / 2) % 2 { n[$2]++ } END { for (i in n) print n[i], "from", i }' >"$tap_dir/from"
	[ "$(cat "$tap_dir/from")" = "$(cat "$tap_dir/out") from -1" ] || { cat "$tap_dir/from"; return 1; }
}

for mpi in openmpi mpich; do
	if [ $mpi = mpich ] && [ -z "$MPICH_RUN" ]; then
		tap_skip "MPICH" "it was not there when this was built"
		continue
	fi
	tap_case "$mpi: 600 communicators of 300 tags" rounds $mpi
	tap_case "$mpi: a group without rank 0, and with it, of one tag" groups $mpi
	tap_case "$mpi: communicators after 100 requests for others that failed" idup $mpi
	tap_case "$mpi: one rank has tried twice" retry $mpi
	tap_case "$mpi: 1,000 come and go, and what is there is on record" churn $mpi
	tap_case "$mpi: nothing is received from nobody" nobody $mpi
done

worlds() {
	collected openmpi 2 "$lib" --make worlds && ids_are_right && no_notes
}

tap_case "two worlds that are merged, split, and meet again" worlds
tap_done
