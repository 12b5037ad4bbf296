#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What an archive takes: bytes of a tuple beside OTF2's, hpcc at full rate, kills of the archiver, reading and merging.

usage='usage: tests/bench/archive.sh [--json] [--quick] [--kills N] [--seconds S] [--disk DIR]
Keeps the wind tunnel (4 ranks) and hpcc (4 ranks, N=1000, default elements) in archives in DIR (default: a folder
below $TMPDIR), by an archiver that looks as often as it takes. Of each: tuples a second, what was lost, bytes of
a tuple on the disk, and those of the same events in OTF2. Then the archiver of a wind tunnel of S seconds (60) is
killed N times (50), and each time the archive is checked; at the end it has to have each tuple that the program
has written, once. Then all events of the hpcc archive are read, those of one element and of one second, and it is
merged with itself. --quick: 10 kills in 15 s, and hpcc with N=500.'
kills= seconds= disk=
. "${0%/*}/bench.sh"
bench_options "quick kills seconds disk" "$@"
kills=${kills:-${quick:+10}} seconds=${seconds:-${quick:+15}}
kills=${kills:-50} seconds=${seconds:-60} size=${quick:+500}
size=${size:-1000}
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

tap_cleanup() {
	bed_end
	rm -rf "$EVSPACE_DIR" ${out:+"$out"}
}

fail() {
	echo "tests/bench/archive.sh: $*" >&2
	exit 1
}

# report CASE KEY VALUE...: a line.
report() {
	local of=$1

	shift
	if [ "$json" ]; then
		printf '{"schema":1,"bench":"archive","case":"%s"' "$of"
		printf ',"%s":%s' "$@"
		printf '}\n'
	else
		printf '%-16s' "$of"
		printf '  %s %s' "$@"
		printf '\n'
	fi
}

# account KEY DIR: of what the archive has.
account() {
	sed -n 's/.*"type":"archive".*"'"$1"'":\([0-9]*\)[,}].*/\1/p' "$2.check"
}

check() {
	evspace archive check "$1" --json >"$1.check" 2>"$1.err" || fail "$(cat "$1.err")"
}

ratio() {
	awk -v a="$1" -v b="$2" -v f="${3:-%.2f}" 'BEGIN { printf f, (b > 0 ? a / b : 0) }'
}

# timed COMMAND...: sets $took, in us.
timed() {
	local begin=${EPOCHREALTIME/./}

	"$@" >"$out/said" 2>&1 || fail "$* has failed: $(tail -n 3 "$out/said")"
	took=$((${EPOCHREALTIME/./} - begin))
}

# kept RUN COMMAND...: run it, with an archiver from its begin to its end.
kept() {
	local run=$1 begin

	shift
	bed_start "$run-archive" evspace archive --wait --run "$run" "$out/$run"
	begin=${EPOCHREALTIME/./}
	(cd "$out" && timeout -k 5 900 evspace run --no-summary --run "$run" -- mpirun -np 4 "$@") >"$out/$run.out" 2>&1 ||
		fail "$* has failed: $(tail -n 3 "$out/$run.out")"
	took=$((${EPOCHREALTIME/./} - begin))
	bed_wait "$run-archive" && bed_ended "$run-archive" 0 || fail "its archiver has failed"
	check "$out/$run"
}

# tell CASE RUN: what it has, beside OTF2.
tell() {
	local tuples lost bytes otf2=null

	tuples=$(account tuples "$out/$2") lost=$(account lost "$out/$2")
	bytes=$(du -sb --apparent-size "$out/$2" | cut -f 1)
	if evspace export --to otf2 --from "$out/$2" "$out/$2-otf2" 2>"$out/said"; then
		otf2=$(ratio "$(find "$out/$2-otf2" -type f -printf '%s\n' | awk '{ s += $1 } END { print s }')" "$tuples")
	fi
	rm -rf "$out/$2-otf2"
	report "$1" tuples "$tuples" lost "$lost" unaccounted "$(account unaccounted "$out/$2")" seconds "$(ratio "$took" 1000000)" \
		tuples_per_s "$(ratio "$((tuples * 1000))" "$((took / 1000))" %.0f)" bytes_per_tuple "$(ratio "$bytes" "$tuples")" otf2_bytes_per_tuple "$otf2" \
		archive_mb_per_s "$(ratio "$bytes" "$took" %.3f)" disk_mb_per_s "$disk_rate"
}

# has_grown N: the archive has more than N tuples, or the program is over.
has_grown() {
	bed_gone "$(bed_pid tunnel)" || { evspace archive check "$out/killed" --json >"$out/killed.check" 2>/dev/null && [ "$(account tuples "$out/killed")" -gt "$1" ]; }
}

killed() {
	local i=0 seen=0 now good=0

	bed_start tunnel timeout -k 5 900 evspace run --no-summary --capacity 200000 --run killed -- mpirun -np 4 "$top_builddir/tests/apps/windtunnel" --seconds "$seconds" --pause 10
	while [ "$i" -lt "$kills" ] && ! bed_gone "$(bed_pid tunnel)"; do
		bed_start archive evspace archive --wait --run killed "$out/killed"
		bed_until has_grown "$seen" || fail "the archive does not grow"
		bed_kill KILL archive 2>/dev/null || break
		i=$((i + 1))
		check "$out/killed"
		now=$(account tuples "$out/killed")
		[ "$now" -lt "$seen" ] || good=$((good + 1))
		seen=$now
	done
	timed evspace archive --run killed "$out/killed"
	bed_wait tunnel
	check "$out/killed"
	evspace events --from "$out/killed" --json 2>/dev/null | "$top_builddir/tests/account" "$EVSPACE_DIR/killed" all=0 >"$out/said" 2>&1 ||
		fail "the archive has other tuples than the program has written: $(tail -n 3 "$out/said")"
	report killed kills "$i" whole "$good" tuples "$(account tuples "$out/killed")" lost "$(account lost "$out/killed")" unaccounted "$(account unaccounted "$out/killed")" exact true
}

# read_as CASE TUPLES COMMAND...
read_as() {
	local of=$1 tuples=$2

	shift 2
	timed "$@"
	report "$of" tuples "$tuples" seconds "$(ratio "$took" 1000000 %.3f)" tuples_per_s "$(ratio "$((tuples * 1000))" "$((took / 1000 + 1))" %.0f)"
}

reading() {
	local of=$out/hpcc all

	all=$(account tuples "$of")
	read_as "read: all" "$all" evspace archive check "$of"
	evspace events --from "$of" --select '/**/rank0/**/collective' --json 2>/dev/null | grep -c '"type":"tuple"' >"$out/n"
	read_as "read: 1 element" "$(cat "$out/n")" evspace export --to csv --from "$of" --select '/**/rank0/**/collective' "$out/csv"
	read_as "cut: 1 s" "$all" evspace archive cut --begin 2s --end 3s "$of" "$out/cut"
	read_as "merge" "$((2 * all))" evspace archive merge "$of" "$of" --into "$out/merged"
	for format in otf2 ctf perfetto paje csv; do
		[ "$format" != otf2 ] || [ -e "$EVSPACE_LIBDIR/libevspace-otf2.so" ] || continue
		read_as "export: $format" "$all" evspace export --to "$format" --from "$of" "$out/$format"
		rm -rf "${out:?}/$format"
	done
}

bed_begin
unset EVSPACE_ENTRY
[ -x "$top_builddir/tests/account" ] || fail "make check TESTS= builds what it needs"
out=$(mktemp -d "${disk:-${TMPDIR:-/tmp}}/evspace-bench.XXXXXX") || exit 1
disk_rate=$(dd if=/dev/zero of="$out/probe" bs=1M count=256 conv=fdatasync 2>&1 | awk -F , '/copied/ { split($3, s, " "); print int(256 * 1.048576 / s[1]) }')
rm "$out/probe"
bed_start agent evspace agent
bed_until bed_ready agent || exit 1
kept tunnel "$top_builddir/tests/apps/windtunnel" --seconds 10
tell "wind tunnel" tunnel
if command -v hpcc >/dev/null && [ -e /usr/share/doc/hpcc/examples/_hpccinf.txt ]; then
	sed "s/^1000\\( .*Ns\\)/$size\\1/" /usr/share/doc/hpcc/examples/_hpccinf.txt >"$out/hpccinf.txt"
	kept hpcc hpcc
	tell hpcc hpcc
	reading
else
	echo "tests/bench/archive.sh: no hpcc here (Debian: hpcc)" >&2
fi
killed
exit 0
