# SPDX-License-Identifier: BSD-3-Clause
# Tests what an installation brings along: man pages, completion, units, modulefile, sockets that a
# service manager hands over.

. "$top_srcdir/tests/tap.sh"

root=$tap_dir/root
agent=

tap_cleanup() {
	[ -n "$agent" ] && kill "$agent" 2>/dev/null && wait "$agent" 2>/dev/null
}

found() {
	find "$root" -path "*$1" | grep . || { echo "no $1 in $root"; false; }
}

commands() {
	"$top_builddir/evspace" --help | awk '/^  [a-z]+  / { print $1; on = 1; next } on { exit }'
}

# A page for each command, with a name that whatis(1) finds, its options, and no faults.
pages_are_good() {
	local command page

	grep -q '^evspace-certs \\- ' "$(found /man1/evspace-certs.1)" || return
	for command in '' $(commands) 'map apply' 'map diff' 'map rollback' 'map discover'; do
		page=$(found "/man1/evspace${command:+-${command// /-}}.1") || return
		grep -q "^\.SH SYNOPSIS" "$page" && grep -q '^evspace.* \\- ' "$page" || { cat "$page"; return 1; }
		# shellcheck disable=SC2046
		for option in $("$top_builddir/evspace" $command --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
			grep -qF -e "${option//-/\\-}" "$page" || { echo "$page: no $option"; return 1; }
		done
	done
}

# Examples with a comment stand like those without.
pages_have_examples_alike() {
	local page

	for page in $(found '/man1/evspace*.1'); do
		! sed -n '/^\.SH EXAMPLES/,/^\.SH/p' "$page" | grep -A 1 '^\.TP' || { echo "$page"; return 1; }
	done
	sed -n '/^\.SH EXAMPLES/,/^\.SH/p' "$(found /man1/evspace-view.1)" | grep '^evspace view rates # '
}

pages_have_no_faults() {
	local page

	for page in $(found '/man1/evspace*.1') $(found /man5/pathmap.5) $(found '/man3/evspace[-.]*'); do
		[ -z "$(man --warnings -l "$page" 2>&1 >/dev/null)" ] || return
	done
}

pages_have_80_columns() {
	local page

	for page in $(found '/man3/evspace-*'); do
		! MANWIDTH=80 man -l "$page" 2>/dev/null | col -bx | LC_ALL=C.UTF-8 grep '.\{81\}' || return
	done
}

# Whatever a public header declares has a page, by its own name, too.
functions_have_pages() {
	local header name page

	for header in $(found '/include/evspace*.h'); do
		for name in $(grep -v '^typedef ' "$header" | grep -o '\bevspace_[a-z_]*(' | grep -v -e '_find(' -e '_calls(' -e '_scope_end(' | tr -d '(' | sort -u); do
			page=$(found "/man3/$name.3") && page=${page%/*/*}/$(sed -n 's/^\.so //p' "$page") &&
				grep -q "^\.SH \"$name()\"" "$page" || { echo "$header: no page for $name"; return 1; }
		done
	done
}

# words: each of what stdin says, but for what is drawn.
words() {
	tr -cs '[:alnum:]' '\n' | sort -u
}

# Made of the text beside the examples: it says all that this says, but for headings of tables.
page_is_the_text() {
	local page text

	page=$(found /man5/pathmap.5) && text=$(found /examples/README.md) || return
	grep -q '^pathmap \\- ' "$page" &&
		! comm -13 <(man -P cat -l "$page" 2>/dev/null | col -b | cat - "$page" | words) \
			<(grep -v -e '^| [a-z]* |[ a-z]*|$' -e '^# ' "$text" | words) | grep .
}

# They find the evspace that they are installed with.
slurm_scripts_are_there() {
	local script

	for script in prolog epilog agents; do
		[ -x "$(found "/evspace/slurm/$script")" ] || return
	done
	[ -x "$(dirname "$(found /evspace/slurm/agents)")/../../../bin/evspace" ]
}

# completes WANT WORD...: what is offered for the last word, as bash would ask.
completes() {
	local want=$1 got

	shift
	got=$(PATH=$top_builddir:$PATH bash -c '
		. /usr/share/bash-completion/bash_completion
		. "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
		"_${COMP_WORDS[0]//-/_}"
		echo "${COMPREPLY[*]}"' bash "$(found /completions/evspace)" "$@")
	[ "$got" = "$want" ] || { echo "offered: $got"; false; }
}

units_are_sound() {
	local unit for_whom

	for unit in $(found '/systemd/*/evspace-agent*'); do
		mkdir -p "$tap_dir/units/user"
		[[ $unit == */user/* ]] && for_whom=user/ || for_whom=
		sed "s,=[^ ]*/bin/evspace,=$top_builddir/evspace," "$unit" >"$tap_dir/units/$for_whom${unit##*/}"
	done
	systemd-analyze verify --man=no "$tap_dir"/units/evspace* 2>"$tap_dir/said"
	# whoever runs the test may have no service manager of their own
	XDG_RUNTIME_DIR=$tap_dir systemd-analyze verify --user --man=no "$tap_dir"/units/user/evspace* 2>>"$tap_dir/said"
	! grep -F evspace-agent "$tap_dir/said"
}

# The exposure that systemd itself counts: 10 is none at all kept from it.
unit_is_hardened() {
	systemd-analyze security --offline=yes --threshold=30 --no-pager "$tap_dir/units/evspace-agent.service"
}

module_is_sound() {
	local said

	said=$(tclsh <<-EOF
		proc module-whatis text {}
		proc conflict name {}
		proc append-path {name dir} {}
		proc prepend-path {name dir} { puts "\$name=\$dir" }
		source $(found /evspace/modulefile)
	EOF
	) && grep -q '^PATH=.*/bin$' <<<"$said" && grep -q '^MANPATH=.*/man$' <<<"$said"
}

# In a real shell: what was in reach stays so, and all is as before when it is unloaded.
module_loads() {
	local bin

	mkdir "$tap_dir/modules"
	bin=$(dirname "$(found /bin/evspace-certs)")
	sed "s,[^ ]*/bin$,$bin," "$(found /evspace/modulefile)" >"$tap_dir/modules/evspace"
	env -u MANPATH bash -c '
		. /usr/share/modules/init/bash
		before=$PATH
		module use "$1"
		module load evspace && [ "$(type -P evspace-certs)" = "$2/evspace-certs" ] || exit
		! command -v man >/dev/null || man -w man >/dev/null || exit
		module unload evspace
		[ "$PATH" = "$before" ] && [ -z "${MANPATH-}" ]' bash "$tap_dir/modules" "$bin"
}

# The agent uses the socket that it was handed, and says when it is ready.
# Agents of two nodes that are forked by one: each finds its socket among those handed over.
sockets_are_taken() {
	local node

	mkdir -p -m 700 "$tap_dir/several" "$tap_dir/maps"
	echo 'application any { ranks any; }' >"$tap_dir/maps/application.map"
	echo "cluster A { nodes a[0-1]; address unix:$tap_dir/several/at-a[0-1]; }" >"$tap_dir/maps/cluster.map"
	printf 'entry a0;\nplace rank0 on a0;\nplace rank1 on a1;\n' >"$tap_dir/maps/mapping.map"
	EVSPACE_DIR=$tap_dir/several systemd-socket-activate -E EVSPACE_DIR -l "$tap_dir/several/at-a0" \
		-l "$tap_dir/several/at-a1" "$top_builddir/evspace" agent --pathmap "$tap_dir/maps" --node 'a[0-1]' \
		2>"$tap_dir/agent.log" &
	agent=$!
	until [ -S "$tap_dir/several/at-a1" ]; do kill -0 $agent && sleep 0.02 || return; done
	for node in a0 a1; do
		"$top_builddir/evspace" status --connect "unix:$tap_dir/several/at-$node" --json >"$tap_dir/status" &&
			grep -q "\"node\":\"$node\"" "$tap_dir/status" || { cat "$tap_dir/agent.log"; return 1; }
	done
	kill $agent
	wait $agent
	agent=
	[ -S "$tap_dir/several/at-a0" ] && [ -S "$tap_dir/several/at-a1" ]
}
socket_is_taken() {
	local socket=$tap_dir/space/agent-here.sock

	mkdir -m 700 "$tap_dir/space"
	EVSPACE_DIR=$tap_dir/space systemd-socket-activate -E EVSPACE_DIR -l "$socket" \
		"$top_builddir/evspace" agent --node here 2>"$tap_dir/agent.log" &
	agent=$!
	until [ -S "$socket" ]; do kill -0 $agent && sleep 0.02 || return; done
	EVSPACE_DIR=$tap_dir/space "$top_builddir/evspace" status --connect "unix:$socket" --json >"$tap_dir/status" || {
		cat "$tap_dir/agent.log"
		return 1
	}
	grep -q '"here"' "$tap_dir/status" || { cat "$tap_dir/status"; return 1; }
	kill $agent
	wait $agent
	agent=
	# It is the manager's: the next one is started behind the same socket.
	[ -S "$socket" ]
}

readiness_is_told() {
	perl -e '
		use IO::Socket::UNIX;
		my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die;
		my $pid = fork() // die;
		if (!$pid) {
			$ENV{NOTIFY_SOCKET} = $ARGV[0];
			exec @ARGV[1 .. $#ARGV];
		}
		alarm 120;
		recv($s, my $said, 64, 0);
		kill TERM => $pid;
		waitpid($pid, 0);
		exit($said ne "READY=1");' "$tap_dir/notify" env EVSPACE_DIR="$tap_dir/space" \
		"$top_builddir/evspace" agent --node here
}

tap_case "it installs below DESTDIR" tap_install "$root"
tap_case "README and what it points to are among it" eval 'found /doc/evspace/README.md && found /doc/evspace/docs/tour.md'
tap_case "pathmap(5) is what is said beside the examples" page_is_the_text
tap_case "Slurm's prolog and epilog are among it" slurm_scripts_are_there
tap_case "each function of the public headers has a man page" functions_have_pages
if found /man1/evspace.1 >/dev/null; then
	tap_case "each command has a man page with all its options" pages_are_good
	tap_case "... and its examples alike" pages_have_examples_alike
	if command -v man >/dev/null; then
		tap_case "man finds no fault in them" pages_have_no_faults
		tap_case "pages of section 3 have 80 columns" pages_have_80_columns
	else
		tap_skip "man finds no fault in them" "no man here"
	fi
else
	tap_skip "each command has a man page with all its options" "no help2man here"
	tap_skip "... and its examples alike" "no help2man here"
fi
if [ -r /usr/share/bash-completion/bash_completion ]; then
	tap_case "commands are completed" completes heartbeat evspace heartb
	XDG_CONFIG_HOME=$tap_dir/config "$top_builddir/evspace" profile save lab --run x
	export XDG_CONFIG_HOME=$tap_dir/config
	tap_case "so are profiles, and what is behind them" eval 'completes lab evspace --profile l &&
		completes heartbeat evspace --profile lab heartb && completes lab evspace status --profile ""'
	tap_case "options are completed" completes --stuck-after evspace heartbeat --stu
	tap_case "parts of map are completed" completes rollback evspace map ro
	tap_case "so are views and modes" eval 'completes slowest evspace view slo &&
		completes slowest evspace events --view slo && completes sample evspace collect --class p2p sam'
	mkdir "$tap_dir/programs"
	ln -s /bin/true "$tap_dir/programs/evspace-tests-own"
	tap_case "behind -- come commands" \
		eval 'PATH=$PATH:$tap_dir/programs completes evspace-tests-own evspace run --run x -- evspace-te'
	tap_case "and what makes certificates" completes revoke evspace-certs rev
else
	tap_skip "commands and options are completed" "no bash-completion here"
fi
if command -v systemd-analyze >/dev/null; then
	tap_case "systemd accepts the units" units_are_sound
	tap_case "the service is hardened" unit_is_hardened
else
	tap_skip "systemd accepts the units" "no systemd here"
fi
if command -v tclsh >/dev/null; then
	tap_case "the modulefile is sound" module_is_sound
else
	tap_skip "the modulefile is sound" "no tclsh here"
fi
if [ -r /usr/share/modules/init/bash ]; then
	tap_case "module load, module unload" module_loads
else
	tap_skip "module load, module unload" "no environment-modules here"
fi
if command -v systemd-socket-activate >/dev/null; then
	tap_case "an agent takes the socket that it is handed, and leaves it" socket_is_taken
	tap_case "several agents of one machine do, each its own" sockets_are_taken
else
	tap_skip "an agent takes the socket that it is handed" "no systemd here"
fi
tap_case "the service manager is told when the agent is ready" readiness_is_told
tap_done
