# SPDX-License-Identifier: BSD-3-Clause
# Tests the consumers of docs/examples: they are built by what is installed, and what they say is what the commands say.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

root=$tap_dir/root
own=$tap_dir/own

builds() {
	cp -r "$(find "$root" -path '*/docs/examples/clients')" "$own" && make -s -C "$own" CFLAGS='-O2 -Wall -Wextra -Werror'
}

# The events of each operation, by the command.
by_command() {
	evspace events --connect "$bed_entry" --run tunnel --backlog --until-end --json >"$tap_dir/json" 2>"$tap_dir/err"
	sed -n 's/.*"type":"tuple".*"op":"\([^"]*\)".*/\1/p' "$tap_dir/json" | sort | uniq -c | awk '{ print $2, $1 }'
}

blocking_counts() {
	timeout -k 5 120 "$own/blocking" tunnel "$bed_entry" >"$tap_dir/blocking" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	grep -q '^lost 0$' "$tap_dir/blocking" && by_command >"$tap_dir/command" && grep -q MPI_ "$tap_dir/command" &&
		diff "$tap_dir/command" <(grep -v '^lost' "$tap_dir/blocking" | sort)
}

# said NAME PATTERN...: the program has printed all of these.
said() {
	local name=$1 pattern

	shift
	for pattern; do
		grep -q -e "$pattern" "$bed_dir/$name.out" || return
	done
}

poll_does_all() {
	mkfifo "$tap_dir/commands"
	bed_start poll bash -c 'exec "$1" tunnel "$2" <"$3"' poll "$own/poll" "$bed_entry" "$tap_dir/commands"
	exec 7>"$tap_dir/commands"
	bed_until said poll '^heartbeat: wave 3 from 4 of 4' '^events: wave 3 from 4 of 4' || return
	echo status >&7
	bed_until said poll '^status: front has 0 processes' || { cat "$bed_dir/poll.out"; return 1; }
	exec 7>&-
	bed_until bed_gone "$(bed_pid poll)"
}

libevent_sums() {
	local sent

	sent=$(grep '"op":"MPI_\(Is\|S\)end"' "$tap_dir/json" | grep -c '"completion":false')
	bed_start libevent "$own/libevent" tunnel "$bed_entry"
	bed_until said libevent "^[1-9][0-9]* waves: $sent messages of [1-9]" || { cat "$bed_dir"/libevent.* "$tap_dir/command"; return 1; }
	bed_kill INT libevent && tail -n 1 "$bed_dir/libevent.out" | grep "waves: $sent messages"
}

# An entry that is not there: all say why, and end.
fails() {
	! timeout -k 5 60 "$own/blocking" tunnel 127.0.0.1:1 2>"$tap_dir/err" && grep 'no agent listens at 127.0.0.1:1' "$tap_dir/err"
}

bed_begin
tap_case "it installs below DESTDIR" tap_install "$root"
lib=$(dirname "$(find "$root" -name evspace.pc)")
export PKG_CONFIG_PATH=$lib PKG_CONFIG_SYSROOT_DIR=$root LD_LIBRARY_PATH=${lib%/pkgconfig}
tap_case "the examples are built by what is installed" builds
[ -x "$own/libevent" ] || exit 1
sed -i 's/capacity 1000/capacity 50000/' "$bed_dir/maps/application.map"
tap_case "agents" bed_agents front ga a0 a1 b0 b1
bed_start tunnel evspace run --pathmap "$bed_dir/maps" --run tunnel --threads 2 -- mpirun -np 4 \
	"$top_builddir/tests/apps/windtunnel" --threads 2 --steps 40 --pause 20
bed_wait tunnel
tap_case "who waits counts what evspace events prints" blocking_counts
tap_case "poll: two views, a question, and its own input on one connection" poll_does_all
tap_case "libevent: a view of its own beside a timer and a signal" libevent_sums
tap_case "... a run that is nowhere is told" eval 'timeout -k 5 60 "$own/blocking" nowhere "$bed_entry" 2>"$tap_dir/err"; grep "no host has elements of this run" "$tap_dir/err"'
tap_case "an agent that is not there is told" fails
tap_done
