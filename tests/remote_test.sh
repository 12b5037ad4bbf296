# SPDX-License-Identifier: BSD-3-Clause
# Tests remote elements: fetched to another node exactly, whoever of the agents dies; each tuple is seen once.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

apps=$top_builddir/tests/apps

# remote TEXT: the application map, with that of p2p.
remote() {
	printf 'application windtunnel { ranks rank[0-3]; capacity 4000; %s }\n' \
		"collect wait completion collective env; collect p2p { $1 }" >"$bed_dir/maps/application.map"
}

# refused TEXT WHAT: that map is refused, saying where and what.
refused() {
	remote "$1"
	! evspace map check "$bed_dir/maps" >"$tap_dir/refused" 2>&1 || return
	grep -q "application.map:1:" "$tap_dir/refused" && grep -qF -e "$2" "$tap_dir/refused" ||
		{ cat "$tap_dir/refused"; return 1; }
}

# program RUN OPTION...: four ranks, recorded as the map says, in the background.
program() {
	local run=$1

	shift
	bed_start "$run" evspace run --keep --pathmap "$bed_dir/maps" --run "$run" -- \
		mpirun -np 4 "$apps/windtunnel" "$@"
}

follow() {
	local name=$1

	shift
	bed_start "$name" evspace events --wait --connect "$bed_entry" --json "$@"
}

lines() {
	cat "$bed_dir/$1.out" 2>/dev/null | grep -c "rank.*/$2\""
}

more_than() {
	[ "$(lines "$1" "$2")" -gt "$3" ]
}

# goes_on NAME CHANNEL: more of the channel comes.
goes_on() {
	bed_until more_than "$1" "$2" "$(lines "$1" "$2")"
}

mirrors() {
	ls "$EVSPACE_DIR/$1" | grep -c '\.mirror$'
}

status_of() {
	evspace status --connect "unix:$EVSPACE_DIR/agent-$1.sock"
}

# says NODE TEXT
says() {
	status_of "$1" >"$tap_dir/status" && grep -qE -e "$2" "$tap_dir/status" || { cat "$tap_dir/status"; return 1; }
}

# times_fit NAME: what was fetched of a rank lies between its MPI_Init and its MPI_Finalize, and is right within a
# tenth of the time between these (on a quiet machine within 1 ms).
times_fit() {
	grep '"/A/a0/rank0/t0/' "$bed_dir/$1.out" |
		sed -n 's/.*t0\/\([a-z0-9]*\)".*"start_ns":\([0-9]*\),"end_ns":\([0-9]*\),"error_ns":\([0-9]*\).*/\1 \2 \3 \4/p' |
		awk '$1 == "p2p" { if (!p || $2 < pl) pl = $2; if ($3 > ph) ph = $3; if ($4 > e) e = $4; if ($3 < $2) bad++; p++ }
			$1 == "env" { if (!n++ || $2 < el) el = $2; if ($3 > eh) eh = $3 }
			END { print p, "p2p from", pl - el, "to", eh - ph, "right within", e, bad + 0, "backwards"
				exit !(p > 100 && n && pl + e >= el && ph <= eh + e && e < (eh - el) / 10 && !bad) }'
}

bed_begin
tap_case "a node that is not in the map is refused" refused 'remote nowhere;' 'no node `nowhere`'
tap_case "so is a word that is not known there" refused 'remote front size 3;' '`size` behind the node'
tap_case "so is a capacity that is none" refused 'remote front capacity none;' 'a capacity is'
remote 'capacity 400; remote front capacity 20000;'
tap_case "a right one is shown" eval 'evspace map show "$bed_dir/maps" >"$tap_dir/show" && grep -q "p2p .*to front: 20000 tuples" "$tap_dir/show"'
bed_agents front ga a0 a1 b0 b1 || exit 99

# --- all is well ---

program fine --steps 60
bed_until test -d "$EVSPACE_DIR/fine"
follow all --run fine --backlog --until-end
follow only --run fine --backlog --until-end --select '/**/p2p'
bed_wait fine
bed_wait all
bed_wait only
tap_case "each tuple is seen once, or lost where it was written" bed_accounted all fine all
tap_case "its times are right" times_fit all
tap_case "also by who selects what is remote alone" bed_accounted only fine p2p
tap_case "there is a mirror of each element" [ "$(mirrors fine)" -eq 4 ]
tap_case "it is drained after the end, from both clusters" eval 'says a0 "run fine, rank0: p2p drained to front, at ([0-9]+) of \1$" &&
	says b1 "run fine, rank3: p2p drained to front, at ([0-9]+) of \1$"'
tap_case "the status of who fetches says from where" says front 'run fine, rank0/t0/p2p: from a0, pid [0-9]+ there, not seen alive, at [0-9]+'
tap_case "names are those of the origin" eval 'grep -q "\"/A/a0/rank0/t0/p2p\"" "$bed_dir/all.out" && grep -q "\"/B/b1/rank3/t0/p2p\"" "$bed_dir/all.out"'
follow late --run fine --backlog --until-end
bed_wait late
tap_case "who comes late sees what the mirror holds" bed_accounted late fine all

# --- another map is applied ---

# lifetime TIME N: another map gives that to the mirrors of all four ranks, and N elements change.
lifetime() {
	remote "capacity 400; remote front capacity 20000; $1"
	evspace map apply "$bed_dir/maps" --connect "unix:$EVSPACE_DIR/agent-front.sock" --json >"$tap_dir/applied" 2>&1 &&
		grep -q "\"lifetimes\":4,\"classes\":0,\"unchanged\":\[\]" "$tap_dir/applied" || { cat "$tap_dir/applied"; return 1; }
}

# discards REGEX: that many tuples are too old for one that comes now.
discards() {
	evspace events --connect "$bed_entry" --run fine --backlog --until-end --json >"$tap_dir/said" 2>"$tap_dir/err" &&
		grep '"type":"summary"' "$tap_dir/said" | grep -qE "\"discarded\":$1" || { tail -n 1 "$tap_dir/said"; cat "$tap_dir/err"; return 1; }
}

tap_case "mirrors get the lifetime of a map that is applied" eval 'lifetime "lifetime 1ms;" && discards "[1-9]"'
tap_case "... of patterns, too" eval 'remote "capacity 400; remote front capacity 20000; } elements /**/p2p { lifetime 1h;" &&
	evspace map apply "$bed_dir/maps" --connect "unix:$EVSPACE_DIR/agent-front.sock" >"$tap_dir/applied" && discards "0,"'
tap_case "... and of the map before" eval 'evspace map rollback --connect "unix:$EVSPACE_DIR/agent-front.sock" >"$tap_dir/applied" && discards "[1-9]"'
tap_case "... and none" lifetime ''

# --- what is remote is said of names ---

# What was remote stays so; the agents are started with other maps.
named() {
	local node

	for node in front ga a0 a1 b0 b1; do
		bed_kill TERM "$node"
	done
	remote 'capacity 400; } elements /A/**/rank0/**/p2p { remote front capacity 20000; lifetime 1h;'
	evspace map show "$bed_dir/maps" >"$tap_dir/show" && grep -q 'elements /A/\*\*/rank0/\*\*/p2p lifetime 3600 s remote front capacity 20000' "$tap_dir/show" &&
		bed_agents front ga a0 a1 b0 b1
}

# Only rank 0 has a mirror, as large as the map says; all else is read where it is.
named_is_remote() {
	program names --steps 60 && bed_wait names && follow names-all --run names --backlog --until-end && bed_wait names-all &&
		bed_accounted names-all names all && [ "$(mirrors names)" -eq 1 ] && ls "$EVSPACE_DIR/names" | grep -q '^rank0\..*mirror$' &&
		[ "$(stat -c %s "$EVSPACE_DIR"/names/rank0.*.mirror)" -gt 800000 ] && says a0 'run names, rank0: /A/\*\*/rank0/\*\*/p2p drained to front, at' &&
		status_of a1 >"$tap_dir/status" && ! grep 'remote:.*drained\|remote:.*kept' "$tap_dir/status" || { cat "$tap_dir/status" "$tap_dir/show"; return 1; }
}

tap_case "a pattern may say whose home is elsewhere" named
tap_case "... and these elements alone are fetched" named_is_remote
tap_case "... which no map that is applied changes" eval 'remote "capacity 400; } elements /A/**/rank1/**/p2p { remote front;"
	! evspace map apply "$bed_dir/maps" --connect "unix:$EVSPACE_DIR/agent-front.sock" >"$tap_dir/applied" 2>&1 &&
	grep -q "\`remote\` of /A/\*\*/rank0/\*\*/p2p would change" "$tap_dir/applied"'
for node in front ga a0 a1 b0 b1; do
	bed_kill TERM "$node"
done
remote 'capacity 400; remote front capacity 20000;'
bed_agents front ga a0 a1 b0 b1 || exit 99

# --- agents die ---

program long --seconds 100000 --pause 20
follow long-all --run long --backlog --until-end
bed_until more_than long-all p2p 100
tap_case "the agent that fetches is killed" bed_kill KILL front
tap_case "and comes back" bed_agents front
tap_case "what is remote goes on" goes_on long-all p2p
tap_case "an agent that is fetched from is killed" bed_kill KILL a0
tap_case "and comes back" bed_agents a0
tap_case "what is remote goes on" eval 'goes_on long-all p2p && goes_on long-all wait'
tap_case "the gateway between is killed" bed_kill KILL ga
tap_case "and comes back" bed_agents ga
tap_case "what is remote goes on" goes_on long-all p2p
for pid in $(ls "$EVSPACE_DIR/long" | sed -n 's/^rank[0-9]*\.\([0-9]*\)\.seg$/\1/p'); do
	kill -KILL "$pid"
done
bed_wait long
bed_wait long-all
tap_case "every tuple is accounted for" bed_accounted long-all long all
tap_case "the last event of each thread is known from the mirror" eval 'evspace heartbeat --connect "$bed_entry" --run long --once --json >"$tap_dir/heartbeat";
	[ -s "$tap_dir/heartbeat" ]'

# --- nobody fetches ---

bed_kill TERM front
program alone --steps 20
bed_wait alone
tap_case "without the agent that fetches, what is remote stays" eval '[ "$(mirrors alone)" -eq 0 ] &&
	says a0 "run alone, rank0: p2p kept for front, which does not fetch at present"'
bed_agents front
follow back --run alone --backlog --until-end
bed_wait back
tap_case "when it comes, it fetches what the rings hold; the rest is lost" bed_accounted back alone all
tap_case "discard takes what mirrors hold" eval 'evspace discard --connect "unix:$EVSPACE_DIR/agent-front.sock" --run alone --select "/**/p2p" >"$tap_dir/discard" 2>&1 &&
	grep -q "front: [1-9][0-9]* tuples of 4 elements" "$tap_dir/discard" || { cat "$tap_dir/discard"; exit 1; }'
tap_case "runs and purge know mirrors" eval 'evspace runs --json | grep "\"run\":\"alone\"" | grep -q "\"mirrors\":4" &&
	evspace purge alone fine && [ ! -e "$EVSPACE_DIR/fine" ] && [ ! -e "$EVSPACE_DIR/alone" ]'
tap_done
