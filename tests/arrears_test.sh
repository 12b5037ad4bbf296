# SPDX-License-Identifier: BSD-3-Clause
# Tests hosts that are away while maps are applied: they take up the map in effect when they are back, whatever map they go by, and also if
# the entry was killed meanwhile.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

maps=$bed_dir/maps

mkdir -p "$bed_dir/pids" "$maps"
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR
unset EVSPACE_MODES EVSPACE_LIFETIMES EVSPACE_RANKS EVSPACE_THREADS

# map STATEMENT...: ranks 0 and 1 are on n0, 2 on n1, 3 on n2, all of them this host; rank 4, which there is none of, on n3.
map() {
	printf 'application tunnel { ranks rank[0-4]; %s }\n' "$*" >"$maps/application.map"
	printf 'cluster C { nodes n[0-3]; address unix:%s/n[0-3]; }\n' "$bed_dir" >"$maps/cluster.map"
	printf 'entry n0;\nplace rank[0-1] on n0 by 2;\nplace rank[2] on n1;\nplace rank[3] on n2;\nplace rank[4] on n3;\n' >"$maps/mapping.map"
	evspace map check "$maps" >/dev/null
}

# agents NODE...
agents() {
	local node

	for node; do
		bed_start "$node" evspace agent --pathmap "$maps" --node "$node" --listen "unix:$bed_dir/$node"
		bed_until bed_ready "$node" && grep -q 'ready on' "$bed_dir/$node.err" || { cat "$bed_dir/$node.err"; return 1; }
	done
}

# modes NODE RANK CLASSES: what is not traced there, as JSON, a regular expression.
modes() {
	evspace status --connect "unix:$bed_dir/$1" --json >"$tap_dir/status" 2>&1
	grep -o "\"name\":\"$2\",[^}]*}" "$tap_dir/status" | grep -q "\"run\":\"tunnel\".*\"not_traced\":$3" || { cat "$tap_dir/status"; return 1; }
}

# applied CODE COMMAND [OPTION...]: it is applied, or rolled back, with that exit code.
applied() {
	local code=0 wanted=$1

	shift
	if [ "$1" = apply ]; then set -- apply "$maps" "${@:2}"; fi
	evspace map "$@" --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1 || code=$?
	[ "$code" -eq "$wanted" ] || { cat "$tap_dir/applied"; return 1; }
}

says() {
	tap_printed "$tap_dir/applied" -- "$@"
}

begins() {
	touch "$bed_dir/goes" && agents n0 n1 n2 || return
	bed_start tunnel evspace run --keep --pathmap "$maps" --run tunnel -- mpirun -np 4 "$top_builddir/tests/apps/windtunnel" \
		--pause 5 --while "$bed_dir/goes"
	bed_until modes n1 rank2 null && bed_until modes n2 rank3 null
}

# n2 takes it up, n1 and n3 are away.
one_is_away() {
	bed_kill TERM n1 && map 'elements /**/rank3/*/p2p { mode count; } elements /**/rank2/*/p2p { mode count; }' && applied 1 apply &&
		says 'elements of /C/n1 stay' 'elements of /C/n3 stay' && ! grep /n2 "$tap_dir/applied" && modes n2 rank3 '"p2p[^"]* count[^"]*"'
}

# The others go by that map already, n2 does not.
another_is_away() {
	bed_kill TERM n2 && applied 1 rollback && says 'elements of /C/n2 stay' && map '' && applied 1 apply &&
		says 'nothing is applied' 'elements of /C/n1 stay' 'elements of /C/n2 stay' 'elements of /C/n3 stay' &&
		applied 1 apply --json && says '"type":"applied",.*"unchanged":\[{.*/C/n1".*/C/n2".*/C/n3"'
}

all_are_told() {
	agents n2 && bed_until modes n2 rank3 null && bed_until grep -q 'audit: relayed by .*: "the entry" gave ' "$bed_dir/n2.err"
}

# A node that is in no map any more is nobody's.
who_has_left_is_forgotten() {
	map '' && sed -i 's/n\[0-3\]/n[0-2]/g' "$maps/cluster.map" && sed -i 's/on n3;/on n2;/' "$maps/mapping.map" &&
		evspace map check "$maps" >/dev/null && evspace map apply "$maps" --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1
	applied 1 apply && says 'nothing is applied' 'elements of /C/n1 stay' && ! grep 'n3\|null' "$tap_dir/applied" && agents n1 && bed_until applied 0 apply
}

# The answers of n2, which is stopped, are waited for when the entry is killed.
killed_between() {
	bed_kill TERM n1 && kill -STOP "$(bed_pid n2)" && sed -i 's/^application.*/application tunnel { ranks rank[0-4]; elements \/**\/rank2\/*\/p2p { mode off; } }/' \
		"$maps/application.map" && evspace map check "$maps" >/dev/null || return
	bed_start apply evspace map apply "$maps" --connect "unix:$bed_dir/n0"
	bed_until grep -qa 'mode off' "$EVSPACE_DIR/agent-n0.map" && bed_kill KILL n0
	kill -CONT "$(bed_pid n2)"
	bed_until bed_gone "$(bed_pid apply)" && ! grep '^applied' "$bed_dir/apply.out" && agents n0 n1 && bed_until modes n1 rank2 '"p2p[^"]* off[^"]*"' &&
		bed_until applied 0 apply && says 'nothing is applied'
}

map ''
tap_case "a program on three hosts begins" begins
tap_case "of a map that is applied who is away is named" one_is_away
tap_case "... also who is so when the one before is put back, and by --json" another_is_away
tap_case "... and is told when it is back, though others would have nothing to do" all_are_told
tap_case "who is in no map any more is not waited for" who_has_left_is_forgotten
tap_case "an entry that is killed before all have answered still tells them" killed_between
tap_done
