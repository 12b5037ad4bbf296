# SPDX-License-Identifier: BSD-3-Clause
# Tests what a new user tries first: deploy/quickstart, without a terminal, on one, with Ctrl-C; what
# docs/tour.md has to be pasted. Nothing is left behind.

. "$top_srcdir/tests/copy.sh"
. "$top_srcdir/tests/tap.sh"

if [ -n "$copy_why" ] || [ ! "$top_builddir" -ef "$top_srcdir/build" ]; then
	tap_skip "quickstart" "${copy_why:-it builds in build/, and this build is elsewhere}"
	tap_done
fi
# Nothing that the tests have set is a new user's.
quickstart="env -i HOME=$tap_dir TERM=vt100 PATH=$PATH $top_srcdir/deploy/quickstart"
before=

left() {
	ls -A /tmp /var/tmp /dev/shm
	pgrep -fa '(evspace|mpirun|windtunnel) '
}

nothing_left() {
	diff <(echo "$before") <(left)
}

shows() {
	local text

	for text; do
		grep -q -e "$text" "$tap_dir/screen" && continue
		echo "no '$text' in:"
		cat "$tap_dir/screen"
		return 1
	done
}

shows_all() {
	shows '^== agents: ' ' on 4 of 4 hosts' 'rank3/t1.* MPI_' 'tuples delivered' ' 4 of 4 processes collected' \
		'^What to try next'
}

in_a_log() {
	$quickstart --seconds 1 </dev/null >"$tap_dir/screen" 2>&1 && shows_all
}

# on_terminal CODE [TEXT]: it ends with CODE; Ctrl-C is typed when TEXT has come.
on_terminal() {
	local code=$1 tries status

	rm -f "$tap_dir/keys"
	mkfifo "$tap_dir/keys"
	timeout -k 5 300 script -qefc "$quickstart --seconds $(($# > 1 ? 60 : 1))" /dev/null \
		<"$tap_dir/keys" >"$tap_dir/screen" 2>&1 &
	exec 3>"$tap_dir/keys"
	if [ $# -gt 1 ]; then
		for ((tries = 0; tries < 1200; tries++)); do
			grep -q -e "$2" "$tap_dir/screen" && break
			sleep 0.1
		done
		printf '\003' >&3
	fi
	wait $!
	status=$?
	exec 3>&-
	sed -i 's/\r$//' "$tap_dir/screen"
	[ "$status" -eq "$code" ] || { echo "exit code $status"; cat "$tap_dir/screen"; return 1; }
}

# pasted: the block of docs/tour.md that says so, in a shell of somebody who is in the clone.
pasted() {
	cd "$top_srcdir" &&
		awk '/paste it as it is/ { on = 1 } on && /^```/ { if (inside) exit; inside = 1; next } inside' docs/tour.md \
			>"$tap_dir/block" && grep -q 'evspace heartbeat' "$tap_dir/block" || { cat "$tap_dir/block"; return 1; }
	env -i HOME="$tap_dir" TMPDIR="$tap_dir" TERM=vt100 PATH="$PATH" bash "$tap_dir/block" >"$tap_dir/screen" 2>&1
	shows ' on 4 of 4 hosts' 'rank3/t1.* MPI_' 'tuples delivered' ' 4 of 4 processes collected' &&
		[ "$(wc -l <"$(ls "$tap_dir"/tmp.*/events.csv)")" -gt 1000 ] || return
	# the folder that everybody's runs are in, with none
	! ls -d "/dev/shm/evspace-$(id -u)/windtunnel" 2>/dev/null && rm -r "/dev/shm/evspace-$(id -u)"
}

before=$(left)
tap_case "in a log: all agents, all threads, every tuple" in_a_log
tap_case "... nothing is left" nothing_left
tap_case "on a terminal" eval 'on_terminal 0 && shows_all'
tap_case "... nothing is left" nothing_left
tap_case "Ctrl-C while agents start" on_terminal 130 '== agents: '
tap_case "... nothing is left" nothing_left
tap_case "Ctrl-C while consumers look" on_terminal 130 'rank3/t1'
tap_case "... nothing is left" nothing_left
tap_case "docs/tour.md: what is to be pasted works" pasted
tap_case "... nothing is left" nothing_left
tap_case "what it does not know is refused" eval '! $quickstart --second 1 2>"$tap_dir/screen" && shows "^usage: "'
tap_done
