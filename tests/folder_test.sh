# SPDX-License-Identifier: BSD-3-Clause
# Tests where a user's folder is when another user was first to make the usual one: programs, agents and commands
# agree, also when that one goes again.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

one=65534 other=5	# nobody, games
usual=/dev/shm/evspace-$one
runtime=$tap_dir/runtime
mkdir -p "$bed_dir/pids"
chmod 755 "$tap_dir" "$bed_dir"

# as USER COMMAND...: with nothing in the environment that says where.
as() {
	setpriv --reuid "$1" --regid "$1" --clear-groups env -u EVSPACE_DIR -u XDG_RUNTIME_DIR HOME="$tap_dir" "${@:2}"
}

if [ "$(id -u)" != 0 ] || ! as $one evspace --help >/dev/null 2>&1; then
	tap_skip "another user has made one's folder" "needs root, setpriv, and a build that others may read"
	tap_done
fi
if [ -e "$usual" ] || [ -e "/run/user/$one" ]; then
	tap_skip "another user has made one's folder" "$usual or /run/user/$one is there already"
	tap_done
fi
install -d -o $one -m 700 "$runtime"

tap_cleanup() {
	rm -rf "$usual"
}

# mine COMMAND...: as the one whose folder it is, in a session.
mine() {
	as $one env XDG_RUNTIME_DIR="$runtime" "$@"
}

# folder_is FOLDER COMMAND...: that is what a command finds.
folder_is() {
	[ "$("${@:2}" evspace runs --folder)" = "$1" ] || { "${@:2}" evspace runs --folder; return 1; }
}

taken() {
	as $other mkdir -m 777 "$usual" && folder_is "$runtime/evspace" mine
}

# Somebody else's session, or a folder that others may write to, is no place either.
no_place() {
	folder_is "$usual" as $one && folder_is "$usual" as $one env XDG_RUNTIME_DIR=runtime &&
		as $other mkdir -m 777 "$tap_dir/../others" && folder_is "$usual" as $one env XDG_RUNTIME_DIR="$tap_dir/../others" ||
		return
	rmdir "$tap_dir/../others"
	! as $one evspace agent >"$tap_dir/said" 2>&1 && grep -q 'belongs to another user' "$tap_dir/said"
}

served() {
	bed_start agent setpriv --reuid $one --regid $one --clear-groups env -u EVSPACE_DIR XDG_RUNTIME_DIR="$runtime" \
		HOME="$tap_dir" evspace agent
	bed_until grep -q 'ready on' "$bed_dir/agent.err" && grep -q "ready on unix:$runtime/evspace/agent-" "$bed_dir/agent.err" &&
		[ "$(grep -c "^evspace agent: $usual belongs to another user (uid $other, you are $one): it is not used, $runtime/evspace is" \
			"$bed_dir/agent.err")" -eq 1 ] || { cat "$bed_dir/agent.err"; return 1; }
}

# A program that nobody has told where.
collected() {
	mine env EVSPACE_RUN="$1" LD_PRELOAD="$EVSPACE_LIBDIR/libevspace-mpi.so" OMPI_MCA_orte_tmpdir_base="$runtime" \
		"$top_builddir/tests/apps/comms" --rounds 1 >"$tap_dir/out" 2>&1 || { cat "$tap_dir/out"; return 1; }
	mine evspace runs >"$tap_dir/runs" && grep -q "^$1 .*finished" "$tap_dir/runs" &&
		mine evspace events --run "$1" --backlog --until-end --csv 2>&1 | grep -q MPI_Finalize ||
		{ cat "$tap_dir/runs"; ls -R "$runtime"; return 1; }
}

doctor_says() {
	mine evspace doctor --json >"$tap_dir/doctor"
	grep -q "$usual belongs to another user" "$tap_dir/doctor" || { cat "$tap_dir/doctor"; return 1; }
}

given_back() {
	rmdir "$usual" && folder_is "$runtime/evspace" mine && collected second && [ ! -e "$usual" ]
}

# What is no folder of one's own, whoever has made it.
not_ours() {
	bed_kill TERM agent
	rm -rf "$runtime/evspace"
	as $one mkdir -m 700 "$usual" && folder_is "$usual" mine && as $one chmod 770 "$usual" && folder_is "$runtime/evspace" mine &&
		rmdir "$usual" && as $one ln -s "$runtime" "$usual" && folder_is "$runtime/evspace" mine && rm "$usual"
}

# Without a session it is where sessions are.
sessions() {
	as $other mkdir -m 755 "$usual" &&
		unshare -m sh -c 'mkdir -p /run/user && mount -t tmpfs none /run/user &&
			install -d -o "$1" -m 700 "/run/user/$1" && shift && exec "$@"' sh $one \
			setpriv --reuid $one --regid $one --clear-groups env -u EVSPACE_DIR XDG_RUNTIME_DIR="$2" evspace runs --folder \
			>"$tap_dir/folder" && [ "$(cat "$tap_dir/folder")" = "/run/user/$one/evspace" ] || { cat "$tap_dir/folder"; return 1; }
	rmdir "$usual"
}

tap_case "the usual folder" folder_is "$usual" mine
tap_case "another user has made it: it is in the session's folder" taken
tap_case "there is no such folder: said, and not used" no_place
tap_case "an agent serves there, and says why" served
tap_case "a program is collected there, and commands find it" collected first
tap_case "doctor says it" doctor_says
tap_case "the other user gives the folder back: all stay together" given_back
tap_case "a link, and a folder that others may write to, are passed over, too" not_ours
if unshare -m true 2>/dev/null; then
	tap_case "all find it, in a session or not" eval 'sessions "" "" && sessions "" "$runtime"'
else
	tap_skip "all find it, in a session or not" "needs namespaces"
fi
tap_done
