# SPDX-License-Identifier: BSD-3-Clause
# Tests what the application map says of elements by name, and which ranks and threads are collected at all: at the start of
# a program, and when a map is applied while it runs.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

maps=$bed_dir/maps

mkdir -p "$bed_dir/pids" "$maps"
EVSPACE_DIR=$(mktemp -d /dev/shm/evspace-test.XXXXXX) || exit 99
export EVSPACE_DIR
unset EVSPACE_CAPACITY EVSPACE_MODES EVSPACE_LIFETIMES EVSPACE_RANKS EVSPACE_THREADS

# map STATEMENT...: ranks 0 and 1 are on n0 of cluster A, 2 and 3 on n1 of B; both nodes are this host.
map() {
	printf 'application tunnel { ranks rank[0-3]; capacity 1000; %s }\n' "$*" >"$maps/application.map"
	printf 'cluster A { nodes n0; address unix:%s/n0; }\ncluster B { nodes n1; address unix:%s/n1; }\n' "$bed_dir" "$bed_dir" \
		>"$maps/cluster.map"
	printf 'entry n0;\nplace rank[0-1] on n0 by 2;\nplace rank[2-3] on n1 by 2;\n' >"$maps/mapping.map"
	evspace map check "$maps"
}

# agent NODE
agent() {
	bed_start "$1" evspace agent --pathmap "$maps" --node "$1" --listen "unix:$bed_dir/$1"
	bed_until bed_ready "$1" && grep -q 'ready on' "$bed_dir/$1.err" || { cat "$bed_dir/$1.err"; return 1; }
}

# tunnel RUN OPTION...: four ranks with two threads each; it ends when $bed_dir/RUN.goes is gone.
tunnel() {
	local run=$1

	shift
	touch "$bed_dir/$run.goes"
	bed_start "$run" evspace run --keep --pathmap "$maps" --run "$run" "$@" -- mpirun -np 4 \
		"$top_builddir/tests/apps/windtunnel" --threads 2 --pause 5 --while "$bed_dir/$run.goes"
	bed_until calls "$run" || { cat "$bed_dir/$run.err"; return 1; }
}

# calls RUN: its threads have elements for collectives, which they make last.
calls() {
	"$top_builddir/tests/segdump" "$EVSPACE_DIR/$1" --elements >"$tap_dir/elements" &&
		grep -q '"rank":0,"thread":0,"channel":"p2p"' "$tap_dir/elements" && grep -q '"rank":2,' "$tap_dir/elements"
}

over() {
	rm "$bed_dir/$1.goes" && bed_until bed_gone "$(bed_pid "$1")" && grep -q 'exit code 0$' "$bed_dir/$1.err" || { cat "$bed_dir/$1.err"; return 1; }
}

# has RUN NAME CAPACITY LIFETIME: elements of rank, thread and channel (a regular expression) have these, and there are some.
has() {
	"$top_builddir/tests/segdump" "$EVSPACE_DIR/$1" --elements >"$tap_dir/elements"
	grep -E "$2" "$tap_dir/elements" >"$tap_dir/these" &&
		! grep -v "\"capacity\":$3,\"lifetime_ns\":$4}" "$tap_dir/these" || { cat "$tap_dir/elements"; return 1; }
}

# status NODE OPTION...
status() {
	evspace status --connect "unix:$bed_dir/$1" "${@:2}" >"$tap_dir/status" 2>&1 || { cat "$tap_dir/status"; return 1; }
}

# not_traced NODE RANK CLASSES: as JSON, a regular expression.
not_traced() {
	status "$1" --json && grep -o "\"name\":\"$2\",[^}]*}" "$tap_dir/status" | grep -q "\"run\":\"tunnel\".*\"not_traced\":$3" ||
		{ cat "$tap_dir/status"; return 1; }
}

by_pattern() {
	has tunnel '"rank":[01],"thread":[0-9]*,"channel":"p2p"' 5000 600000000000 &&
		has tunnel '"rank":2,"thread":0,"channel":"p2p"' 300 0 &&
		has tunnel '"rank":2,"thread":1,"channel":"p2p"' 1000 0 &&
		has tunnel '"rank":[0-2],"thread":[0-9]*,"channel":"(env|wait)"' 1000 0
}

# No elements, no memory; the others know that it is in the world.
rank_is_not() {
	! ls "$EVSPACE_DIR/tunnel/" | grep '^rank3\..*seg$' && ls "$EVSPACE_DIR/tunnel/" | grep -q '^rank3\.[0-9]*\.refused-map$' &&
		"$top_builddir/tests/segdump" "$EVSPACE_DIR/tunnel" --headers | grep -q '"rank":0,"world_size":4,' &&
		status n1 && grep -q '^not collected: run tunnel: ranks 3 are not collected: they are not among those that are' "$tap_dir/status" &&
		[ "$(grep -c 'rank3\|ranks 3' "$tap_dir/status")" -eq 1 ] || { ls "$EVSPACE_DIR/tunnel"; cat "$tap_dir/status"; return 1; }
}

looks() {
	evspace heartbeat --connect "unix:$bed_dir/n0" --run tunnel --once --json >"$tap_dir/said" 2>"$tap_dir/err" &&
		grep -q '/B/n1/rank2/t0' "$tap_dir/said" && ! grep rank3 "$tap_dir/said" "$tap_dir/err" &&
		evspace heartbeat --connect "unix:$bed_dir/n0" --run tunnel --check --stuck-after 3s >"$tap_dir/said" 2>"$tap_dir/err" ||
		{ cat "$tap_dir/said" "$tap_dir/err"; return 1; }
}

# apply: what becomes of it is in $tap_dir/applied.
apply() {
	evspace map apply "$maps" --connect "unix:$bed_dir/n0" "$@" >"$tap_dir/applied" 2>&1 || { cat "$tap_dir/applied"; return 1; }
}

# says PATTERN...: it was printed.
says() {
	tap_printed "$tap_dir/applied" -- "$@"
}

applied() {
	map 'collect rank[0-2]; elements /A/**/p2p { capacity 7000; lifetime 5s; } elements /**/rank2/*/wait /**/rank1/**/p2p { mode count; }' &&
		apply && says 'elements /A/\*\*/p2p capacity 7000 lifetime 5 s, now, but its capacity for what starts later' &&
		says 'elements /\*\*/rank2/\*/wait mode count, now' && says 'no longer elements /B/\*\*/t0/p2p capacity 300, for what starts later' &&
		says '^4 elements with another lifetime, [1-9][0-9]* classes switched$'
}

now_is() {
	has tunnel '"rank":[01],"thread":[0-9]*,"channel":"p2p"' 5000 5000000000 && has tunnel '"rank":2,"thread":0,"channel":"p2p"' 300 0 &&
		not_traced n1 rank2 '"wait[^"]* count[^"]*"' && not_traced n0 rank1 '"p2p[^"]* count[^"]*"' && not_traced n0 rank0 null
}

# What the map before says of elements holds again.
restored() {
	evspace map rollback --connect "unix:$bed_dir/n0" --json >"$tap_dir/applied" 2>&1 &&
		says '"type":"applied".*"lifetimes":4,"classes":[1-9][0-9]*,"unchanged":\[\]' && by_pattern &&
		not_traced n0 rank1 '"collective[^"]* count[^"]*"' && not_traced n1 rank2 null &&
		evspace map rollback --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1 && now_is || { cat "$tap_dir/applied"; return 1; }
}

# Who is not there stays as it is, and is named; the others do not.
is_away() {
	local code=0

	bed_kill TERM n1
	evspace map apply "$maps" --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1 || code=$?
	[ "$code" -eq 1 ] && says 'elements of /B/n1 stay as they are: ' && says '^4 elements with another' &&
		has tunnel '"rank":[01],"thread":[0-9]*,"channel":"p2p"' 5000 6000000000 || { cat "$tap_dir/applied"; return 1; }
}

# again PATTERN...: the map in effect is not applied again; what is not as it says is said.
again() {
	local code=0

	evspace map apply "$maps" --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1 || code=$?
	[ "$code" -eq $(($# > 0)) ] && says '  nothing is different' '^nothing is applied: map generation [0-9]* stays$' "$@" || { cat "$tap_dir/applied"; return 1; }
}

# The host that was away is told, also by an entry that was away meanwhile.
is_told() {
	again 'elements of /B/n1 stay as they are: it has not answered since; it is told when it is back' && bed_kill TERM n0 && agent n0 &&
		again 'elements of /B/n1 stay as they are: ' && agent n1 && bed_until not_traced n1 rank2 '"wait[^"]* off[^"]*"' &&
		bed_until grep -q 'audit: the entry: tell n1 of map generation [0-9]*: done, 0 elements .*, [1-9][0-9]* class' "$bed_dir/n0.err" && again
}

comes_back() {
	evspace map rollback --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1 && now_is
}

# discarded WORD: that many of the tuples that the ranks of A hold are too old, in a program that has ended.
discards() {
	evspace events --connect "unix:$bed_dir/n0" --run tunnel --select '/A/**/p2p' --backlog --until-end --json >"$tap_dir/said" 2>"$tap_dir/err" &&
		grep '"type":"summary"' "$tap_dir/said" | grep -qE "\"discarded\":$1" || { tail -n 1 "$tap_dir/said"; cat "$tap_dir/err"; return 1; }
}

# The tuples of a program that has ended are older than 1 ms, and were younger than ten minutes.
expires() {
	map 'elements /A/**/p2p { lifetime 10m; }' && apply && says '^4 elements with' && over tunnel && discards '0,'
}

threads_only() {
	map 'collect t0;' && tunnel one && has one '"thread":0' '[0-9]*' 0 && ! has one '"thread":1' '.*' '.*' >/dev/null &&
		over one && "$top_builddir/tests/segdump" "$EVSPACE_DIR/one" --headers >"$tap_dir/headers" &&
		[ "$(grep -c '"threads":1,.*"notes":""' "$tap_dir/headers")" -eq 4 ] || { cat "$tap_dir/headers" "$tap_dir/elements"; return 1; }
}

# What is said for all goes before the map.
flags_go_before() {
	map 'elements /**/p2p { capacity 5000; lifetime 10m; } collect rank[0-2];' && tunnel two --capacity 400 --ranks 0,2-3 &&
		has two '"channel":"p2p"' 400 600000000000 && ls "$EVSPACE_DIR/two" | grep -q '^rank1\..*refused-map' &&
		ls "$EVSPACE_DIR/two" | grep -q '^rank3\.[0-9]*\.seg$' && over two
}

summary() {
	grep -q '^  left out    rank 3: not among those that are to be collected$' "$bed_dir/tunnel.err" &&
		! grep '^  not here' "$bed_dir/tunnel.err" &&
		! grep refused "$bed_dir/tunnel.err" ||
		{ cat "$bed_dir/tunnel.err"; return 1; }
}

# Agents at addresses of the map listen nowhere else.
elements_stay() {
	evspace run --pathmap "$maps" --run stays -- mpirun -np 1 "$top_builddir/tests/apps/windtunnel" --steps 2 >"$tap_dir/said" 2>&1 &&
		grep 'elements    kept: the agent holds them' "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

wrong_ranks() {
	local ranks

	for ranks in 3,x 3-1 0-1,3-1; do
		tap_says 2 "^evspace run: --ranks $ranks: .*it must be a list of ranks, as 0-7,12" evspace run --ranks "$ranks" -- true || return
	done
}

map 'collect rank[0-2]; elements /A/**/p2p { capacity 5000; lifetime 10m; } elements /B/**/p2p { capacity 200; }
	elements /B/**/p2p { capacity 1000; } elements /B/**/t0/p2p { capacity 300; } elements /**/rank1/**/collective { mode count; }' \
	>"$tap_dir/begun" && agent n0 >>"$tap_dir/begun" && agent n1 >>"$tap_dir/begun" || { sed 's/^/# /' "$tap_dir/begun"; exit 99; }
tap_case "a program whose elements are what the map says of their names" tunnel tunnel
tap_case "... capacity and lifetime, of which the last that says it counts" by_pattern
tap_case "... mode" eval 'not_traced n0 rank1 "\"collective[^\"]* count[^\"]*\"" && not_traced n0 rank0 null'
tap_case "a rank that the map does not collect has nothing, and status says so" rank_is_not
tap_case "... heartbeat does not miss it" looks
tap_case "a map that is applied says what is changed now, and what later" applied
tap_case "... and that is so" now_is
tap_case "... rollback puts back what it was" restored
map 'collect rank[0-2]; elements /A/**/p2p { capacity 7000; lifetime 5s; } elements /**/rank2/*/wait /**/rank1/**/p2p /**/rank0/** { mode count; }' >/dev/null
tap_case "... also of a name that means all elements of a rank" eval 'apply && not_traced n0 rank0 "\"p2p[^\"]*collective[^\"]*\"" &&
	evspace map rollback --connect "unix:$bed_dir/n0" >"$tap_dir/applied" 2>&1 && now_is'
map 'collect rank[0-2]; elements /A/**/p2p { capacity 7000; lifetime 6s; } elements /**/rank2/*/wait { mode off; } elements /**/rank1/**/p2p { mode count; }' >/dev/null
tap_case "... a host that is away is named" is_away
tap_case "... and takes up the map when it is back" is_told
tap_case "... rollback puts back what was done" comes_back
map 'collect rank[0-2]; elements /A/**/p2p { capacity 7000; lifetime 5s; } elements /**/rank2/*/wait /**/rank1/**/p2p { mode count; }' >/dev/null
tap_case "... a second time there is nothing to do" eval 'apply && says "nothing is applied"'
tap_case "tuples stay as long as the map says now" expires
tap_case "... when their process has ended, too, of which the summary says who was left out" summary
tap_case "only the first thread" threads_only
tap_case "flags go before the map" flags_go_before
tap_case "elements stay where only agents of the map serve them" elements_stay
tap_case "ranks that are none are told" wrong_ranks
tap_done
