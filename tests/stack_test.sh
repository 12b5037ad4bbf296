# SPDX-License-Identifier: BSD-3-Clause
# Tests the door: other tools before and after us, programs that wrap MPI themselves, load it late,
# have it linked into them, or have one that nobody knows; the same with Open MPI and MPICH.

. "$top_srcdir/tests/tap.sh"

preload=$top_builddir/tests/preload
lib=$EVSPACE_LIBDIR/libevspace-mpi.so
dump=$top_builddir/tests/segdump

export EVSPACE_DIR=$tap_dir/space EVSPACE_RUN=run EVSPACE_CAPACITY=1000
unset EVSPACE_THREADS EVSPACE_QUOTA EVSPACE_MODES

# of MPI: which of them, "" or "-mpich"
with_openmpi() {
	mpi='' run='mpirun -x LD_PRELOAD'
}

with_mpich() {
	mpi=-mpich run=$MPICH_RUN
}

# preloaded LIBRARIES PROGRAM [ARG...]: two ranks, into an empty space.
preloaded() {
	local libs=$1

	shift
	rm -rf "$EVSPACE_DIR"
	LD_PRELOAD=$libs timeout -k 5 180 $run -np 2 "$@"
}

# counted OP CALLS...: that many calls on each of the two ranks that made any.
counted() {
	local op calls

	"$dump" "$EVSPACE_DIR/run" --counts >"$tap_dir/counts" || return
	while [ $# -gt 0 ]; do
		op=$1 calls=$2
		shift 2
		[ "$(grep -c "\"op\":\"$op\",\"calls\":$calls," "$tap_dir/counts")" -eq "$((calls > 0 ? 2 : 0))" ] &&
			[ "$(grep -c "\"op\":\"$op\"" "$tap_dir/counts")" -eq "$((calls > 0 ? 2 : 0))" ] || {
			echo "$op: not $calls calls on each rank:"
			cat "$tap_dir/counts"
			return 1
		}
	done
}

# stacked LIBRARIES SAID ALLREDUCES: what the tools say, and what we have counted. The same when
# nothing is recorded.
stacked() {
	local libs=$1 said=$2 allreduces=$3

	[ "$(preloaded "$libs" "$preload/late" "$preload/.libs/plugin$mpi.so" | sort | tr '\n' ',')" = "$said" ] || return
	counted MPI_Barrier 1 MPI_Allreduce "$allreduces" MPI_Init_thread 1 MPI_Finalize 1 || return
	[ "$(EVSPACE_MODES=off preloaded "$libs" "$preload/late" "$preload/.libs/plugin$mpi.so" | sort | tr '\n' ',')" = "$said" ]
}

wrapped() {
	local libs=$1 said=$2

	[ "$(preloaded "$libs" "$preload/wrapped$mpi" | sort | tr '\n' ',')" = "$said" ] || return
	counted MPI_Barrier 3 MPI_Allreduce 0 MPI_Init 1 MPI_Finalize 1 || return
	[ "$(grep -c '"op":"MPI_Send","calls":1,"bytes":4' "$tap_dir/counts")" -eq 1 ]
}

# The tool goes on by RTLD_NEXT, the profiler by PMPI_; each makes an Allreduce of its own.
for each in openmpi mpich; do
	if [ $each = mpich ] && [ -z "$MPICH_RUN" ]; then
		tap_skip "$each" "it was not there when this was built"
		continue
	fi
	with_$each
	tool=$preload/.libs/tool$mpi.so
	profiler=$preload/.libs/profiler$mpi.so
	tap_case "$each: loaded late" stacked "$lib" "plugin: 1," 1
	tap_case "$each: us, tool" stacked "$lib $tool" "plugin: 1,tool: 1 barriers," 1
	tap_case "$each: tool, us" stacked "$tool $lib" "plugin: 1,tool: 1 barriers," 2
	tap_case "$each: us, profiler" stacked "$lib $profiler" "plugin: 1,profiler: 1 barriers," 1
	tap_case "$each: profiler, us" stacked "$profiler $lib" "plugin: 1,profiler: 1 barriers," 1
	tap_case "$each: tool, us, profiler" stacked "$tool $lib $profiler" \
		"plugin: 1,profiler: 1 barriers,tool: 1 barriers," 2
	tap_case "$each: us, tool, profiler" stacked "$lib $tool $profiler" \
		"plugin: 1,profiler: 1 barriers,tool: 1 barriers," 1
	tap_case "$each: a program that wraps MPI" wrapped "$lib" "wrapped: 3 barriers, 1 sends,"
	tap_case "$each: a program that wraps MPI, and a tool that goes unseen" wrapped "$lib $tool" \
		"tool: 0 barriers,wrapped: 3 barriers, 1 sends,"
done

# --- what cannot be seen ---

# said PROGRAM WORDS: run and exec say so before it starts, and it runs as it would.
said() {
	local program=$1 words=$2 status=0

	rm -rf "$EVSPACE_DIR"
	timeout 120 evspace run --no-summary -- "$program" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
	[ $status -eq 7 ] && [ "$(cat "$tap_dir/out")" = "alone: 0" ] &&
		grep -q "^evspace run: .*$words" "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	status=0
	timeout 120 evspace exec "$program" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
	[ $status -eq 7 ] && [ "$(cat "$tap_dir/out")" = "alone: 0" ] &&
		grep -q "^evspace exec: .*$words" "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

printf '#!/bin/sh\n# start it\nexec "%s" "$@"\n' "$preload/alone" >"$tap_dir/start"
chmod +x "$tap_dir/start"
tap_case "a static program: run and exec say so" said "$preload/alone" "alone is statically linked"
tap_case "a script that starts one: they say so" said "$tap_dir/start" "alone is statically linked"
tap_case "a program with its MPI in it: they say so" said "$preload/inside" "inside has its MPI library linked into it"

silent() {
	rm -rf "$EVSPACE_DIR"
	timeout 120 evspace exec /bin/true 2>"$tap_dir/err" && [ ! -s "$tap_dir/err" ]
}

tap_case "another program: they say nothing" silent

other_mpi() {
	rm -rf "$EVSPACE_DIR"
	[ "$(LD_PRELOAD=$lib PMI_RANK=3 "$preload/strange")" = "strange: 0 12345" ] || return
	[ "$(ls "$EVSPACE_DIR/run" | sed 's/\.[0-9]*\./ /')" = "rank3 refused-other-mpi" ] || return
	evspace runs 2>&1 | grep 'neither Open MPI nor MPICH'
}

tap_case "an MPI that nobody knows: calls pass, the reason is on record" other_mpi

no_collector() {
	rm -rf "$EVSPACE_DIR"
	mkdir -p "$tap_dir/lib"
	cp "$lib" "$tap_dir/lib"
	with_openmpi
	[ "$(preloaded "$tap_dir/lib/libevspace-mpi.so" "$preload/wrapped")" = "wrapped: 3 barriers, 1 sends" ] &&
		[ "$(ls "$EVSPACE_DIR/run" | sed 's/\.[0-9]*\./ /')" = $'rank0 refused-no-openmpi\nrank1 refused-no-openmpi' ]
}

tap_case "no collector beside the door: calls pass, the reason is on record" no_collector

# --- what the collectors are ---

thin() {
	local file

	for file in "$EVSPACE_LIBDIR"/libevspace-openmpi.so "$EVSPACE_LIBDIR"/libevspace-mpich.so; do
		[ -e "$file" ] || continue
		! readelf -lW "$file" | grep -w TLS || { echo "$file: thread-local memory of its own"; return 1; }
		! nm -D --undefined-only "$file" | grep -v -e '@GLIBC' -e ' w ' -e ' evspace_door_' -e ' evspace_calls_1$' -e ' evspace_told_1$' ||
			{ echo "$file: wants more than libc and the door"; return 1; }
	done
	! nm -D --undefined-only "$lib" | grep -v -e '@GLIBC' -e ' w '
}

if command -v readelf >/dev/null && command -v nm >/dev/null; then
	tap_case "collectors need libc and the door, and no thread-local memory" thin
else
	tap_skip "collectors need libc and the door" "no binutils"
fi
tap_done
