# SPDX-License-Identifier: BSD-3-Clause
# Tests views that consumers define: they say what the same ones of the map say, the map says who may and what, and a
# map that is changed under them keeps them or ends them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

own='element filter op=MPI_Send|MPI_Isend; node reduce sum of bytes by op; all reduce sum of bytes by op'
new=$tap_dir/new

view() {
	timeout -k 5 120 evspace view --connect "$bed_entry" --run tunnel --rate 20 "$@"
}

# answer OPTIONS...: what a view has said of the whole run, in any order, and without what is of the moment.
answer() {
	view "$@" --backlog --until-end --json 2>"$tap_dir/err" | grep -v '"type":"wave"' |
		sed -E 's/"(start|end|error|time)_ns":[0-9]*,|,"ns_per_s":[^}]*//g' | sort >"$tap_dir/answer"
	[ "$(wc -l <"$tap_dir/answer")" -gt 0 ] && ! grep UNACCOUNTED "$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
}

# is_as VIEW TEXT OPTIONS...: the view defined so says what that one of the map does.
is_as() {
	local name=$1 text=$2

	shift 2
	answer "$name" "$@" && mv "$tap_dir/answer" "$tap_dir/wanted" && answer --define "$text" "$@" &&
		diff "$tap_dir/wanted" "$tap_dir/answer"
}

# says CODE TEXT OPTIONS...: a view ends with that code, and has said the text.
says() {
	tap_says "$1" "$2" view "${@:3}"
}

# by STATEMENTS: the entry goes by the map with these in `views { }` from now on.
by() {
	rm -rf "$new"
	cp -r "$bed_dir/maps" "$new"
	sed -i "s/^\tview volume/\tviews { $1 }\n&/" "$new/application.map"
	evspace map apply "$new" --connect "$bed_entry" --identity control >"$tap_dir/applied" 2>&1 ||
		{ cat "$tap_dir/applied"; return 1; }
}

issue_example() {
	view --define 'select /**/p2p; thread filter bytes>=10k; node reduce max of duration; all slowest 5' --backlog \
		--until-end >"$tap_dir/said" 2>"$tap_dir/err" || { cat "$tap_dir/err"; return 1; }
	grep -q '^defined of tunnel, wave 1 ' "$tap_dir/said" && ! grep UNACCOUNTED "$tap_dir/err"
}

# largest TEXT: names of a view's totals, the largest maximum first. (Each time clocks are related anew, to a ns or so.)
largest() {
	view --define "$1" --backlog --until-end --json 2>"$tap_dir/err" |
		sed -n 's/.*"type":"total","name":"\([^"]*\)".*"max":\([0-9]*\).*/\2 \1/p' | sort -k 1,1nr | cut -d ' ' -f 2
}

largest_groups() {
	largest 'thread reduce max' >"$tap_dir/wanted"
	largest 'thread reduce max; all slowest 3' >"$tap_dir/got"
	[ "$(grep -c . "$tap_dir/wanted")" -gt 3 ] && head -n 3 "$tap_dir/wanted" | diff - "$tap_dir/got"
}

# Nobody is asked: there is nobody.
told_before() {
	local code=0

	evspace view --connect unix:/nowhere --define "$2" >"$tap_dir/said" 2>&1 || code=$?
	[ "$code" -eq 2 ] && grep -q -F -e "$1" "$tap_dir/said" || { cat "$tap_dir/said"; return 1; }
}

# Whom its host's map does not know above it: the entry's word is enough.
other_heads() {
	says 0 '"name":"/B"' --define 'select /B/b[1-2]/**; cluster reduce count' --level cluster --backlog --count 1 --json &&
		grep -q '"hosts":2,"answered":2,' "$tap_dir/said" || { cat "$tap_dir/said" "$bed_dir/b2.err"; return 1; }
}

watchers_start() {
	local i

	for i in 1 2 3 4; do
		bed_start "own$i" evspace view --connect "$bed_entry" --run tunnel --rate 1 --duration 100s --define 'use latest' --json
	done
	for i in 1 2 3 4; do
		bed_until grep -q '"type":"wave"' "$bed_dir/own$i.out" || { cat "$bed_dir/own$i.err"; return 1; }
	done
}

one_less() {
	bed_kill INT own4 && bed_until says 0 wave --define 'use latest' --count 1
}

# Those that were open go on by the new map; the consumer is told.
stays() {
	by 'stages at most 1;' && bed_until grep -q '"type":"remapped"' "$bed_dir/own1.out"
}

# The third begins when the entry looks again whether the first two have ended.
waits() {
	"$top_builddir/tests/attacker" window "$bed_entry" "$EVSPACE_TLS" observe tunnel >"$tap_dir/window" 2>&1
	! grep refused "$tap_dir/window" && grep -E '^wave 3 after [1-9][0-9]+ ms$' "$tap_dir/window" || { cat "$tap_dir/window"; return 1; }
}

# narrow_waves: how many waves it has.
narrow_waves() {
	grep -c '"type":"wave"' "$bed_dir/narrow.out"
}

# What it has asked for, or asks for before it hears of the map, waits its turn.
narrows() {
	local had

	by '' && bed_start narrow evspace view --connect "$bed_entry" --run tunnel --rate max --window 32 --duration 200s --json \
		--define 'use latest'
	bed_until eval '[ "$(narrow_waves)" -gt 100 ]' && by 'window at most 1;' && bed_until grep -q '"type":"remapped"' "$bed_dir/narrow.out" &&
		had=$(narrow_waves) && bed_limit=20 bed_until eval '[ "$(narrow_waves)" -gt $((had + 100)) ]' && bed_kill INT narrow &&
		! grep 'under way, which' "$bed_dir/narrow.err" || { tail -n 2 "$bed_dir/narrow.out"; cat "$bed_dir/narrow.err"; return 1; }
}

ends() {
	local i

	by 'defined by none;' && [ "$(grep -c '^evspace map apply: view `(defined)` of observe ends: .*the map lets no consumer' "$tap_dir/applied")" -eq 3 ] ||
		{ cat "$tap_dir/applied"; return 1; }
	for i in 1 2 3; do
		bed_until bed_gone "$(bed_pid "own$i")" &&
			grep '^evspace view: the map has been changed to one by which this view cannot stay open: .*the map lets no consumer' \
				"$bed_dir/own$i.err" || { cat "$bed_dir/own$i.err"; return 1; }
	done
}

# Only b0 itself is missing, not those below it.
stands_in() {
	bed_start mine evspace view --connect "$bed_entry" --run tunnel --rate 10 --duration 200s --define 'use latest' --json
	bed_until grep -q '"hosts":5,"answered":5,' "$bed_dir/mine.out" && bed_kill KILL b0 &&
		bed_limit=30 bed_until grep -q '"hosts":5,"answered":4,' "$bed_dir/mine.out" ||
		{ tail -n 1 "$bed_dir/mine.out"; grep -h 'open here already' "$bed_dir"/*.err; return 1; }
}

# waves OPTIONS...: what the view `events` has of the whole run, whichever tree answers it.
waves() {
	view events --backlog --until-end --json "$@" 2>"$tap_dir/err" | grep -c '"type":"tuple"'
}

# All of it, by another tree than the hosts below know of.
chosen() {
	local all got

	by 'trees flat fanout; concurrency at most 3;' && all=$(waves) || return
	for tree in flat 'fanout 2' by-cluster; do
		got=$(waves --tree "$tree" --concurrency 3)
		[ "$all" -gt 100 ] && [ "$got" = "$all" ] || { echo "$tree: $got of $all"; cat "$tap_dir/err"; return 1; }
	done
}

# No other map is kept away by a tree that it does not allow; who has chosen it is told.
chosen_ends() {
	bed_start flat evspace view --connect "$bed_entry" --run tunnel --rate 1 --duration 100s latest --tree flat --json
	bed_until grep -q '"type":"wave"' "$bed_dir/flat.out" && by 'trees fanout;' && bed_until bed_gone "$(bed_pid flat)" &&
		grep 'by which this view cannot stay open: .*the map lets no consumer choose the tree `flat` for view .*, or trees fanout;' "$bed_dir/flat.err" ||
		{ cat "$bed_dir/flat.err"; return 1; }
}

# However many share an id: views of one id that came to others' trees count one by one.
of_one_id() {
	"$top_builddir/tests/attacker" again "$bed_entry" "$EVSPACE_TLS" observe tunnel >"$tap_dir/again" 2>&1 &&
		[ "$(grep -c '^refused: observe has 4 views of its own open already' "$tap_dir/again")" -ge 4 ] || { cat "$tap_dir/again"; return 1; }
}

bed_begin
sed -i 's/nodes   b\[0-1\]/nodes   b[0-2]/; s/:\[\([0-9]*\)4-\([0-9]*\)5\]/:[\14-\16]/' "$bed_dir/maps/cluster.map"
sed -i 's/ranks rank\[0-3\]/ranks rank[0-4]/; s/capacity 1000/capacity 50000/' "$bed_dir/maps/application.map"
sed -i 's/^place rank\[2-3\] on b\[0-1\]/place rank[2-4] on b[0-2]/' "$bed_dir/maps/mapping.map"
"$top_srcdir/deploy/certs" agent "$EVSPACE_TLS" b2 >>"$bed_dir/certs.log" 2>&1
bed_agents front ga a0 a1 b0 b1 b2 || exit 99
bed_start tunnel evspace run --pathmap "$bed_dir/maps" --run tunnel --threads 2 -- mpirun -np 5 \
	"$top_builddir/tests/apps/windtunnel" --threads 2 --steps 60 --pause 20
bed_wait tunnel

tap_case "the example of the manual" issue_example
tap_case "slowest of totals are those with the largest figure" largest_groups
tap_case "a defined view is as the map's" is_as volume "select /**/p2p; read stream; $own"
tap_case "... without saying how it reads" is_as volume "select /**/p2p; $own;"
tap_case "... up to a level" is_as volume "select /**/p2p; $own" --level node
tap_case "... that uses others" is_as largest 'use largest'
tap_case "... of counts" is_as rates 'thread counts by channel by comm; node counts by channel by comm; cluster counts by channel by comm;
	all counts by channel by comm # in lines'
tap_case "hosts that their own maps do not have above others" other_heads
tap_case "what is wrong is told before anything is sent: a level" told_before 'evspace view: --define:1:1: unknown word in `view`: `nod`; did you mean `node`?' 'nod reduce max'
tap_case "... in the second line" told_before 'evspace view: --define:2:6: `reduce maximum`' $'read stream;\nnode reduce maximum'
tap_case "... a control character" told_before '--define:1:6: a control character' $'node \a reduce max'
tap_case "... too long a text" told_before 'the text of a view has 4096 at most' "$(printf 'select /**/p2p; %.0s' {1..300})"
tap_case "... two" tap_says 2 '^evspace view: --define: it can be given only once' evspace view --connect unix:/nowhere --define 'use latest' \
	--define 'use volume'
tap_case "... none" told_before '--define: no text' ''
tap_case "what is wrong by the entry's map is told by it: a view" says 2 '--define:1:5: there is no view `volum`; did you mean `volume`?' \
	--define 'use volum'
tap_case "... a stage" says 2 '--define:1:6: there is no stage "reduc"; did you mean "reduce"?' --define 'node reduc max of bytes'
tap_case "... with its line, and a mark under it" eval 'view --define "thread sort;
node reduc max of bytes" >"$tap_dir/said" 2>&1; grep -A 1 -x "	node reduc max of bytes" "$tap_dir/said" | grep -x "	     ^"'
tap_case "... too many stages" says 2 '--define:1:.*: more than 8 stages, which is what the map lets consumers define' \
	--define 'thread sort; thread sort; thread sort; thread sort; thread sort; thread sort; thread sort; thread sort; thread sort'
tap_case "... with those of a view that it uses" says 2 'more than 8 stages with those of the views that it uses' \
	--define "use volume; all sort; all sort; all sort; all sort; all sort; all sort"
tap_case "... nothing that is there" says 2 'view `(defined)` selects nothing' --define 'select /C/**'
tap_case "... a name and a text" says 2 'exclude each other' volume --define 'use volume'
tap_case "no more than the map says" by 'stages at most 2; kinds filter reduce;'
tap_case "... stages" says 2 '--define:1:[0-9]*: more than 2 stages' --define "$own"
tap_case "... which are named where there is no such stage" says 2 '--define:1:6: there is no stage "reduc"; the map lets consumers.* own views have `filter`, `reduce`' \
	--define 'node reduc max'
tap_case "... kinds" says 2 '--define:1:6: the map lets consumers. own views have no stage `matrix`, but `filter`, `reduce`' \
	--define 'node matrix by node'
tap_case "... cost" eval 'by "cost at most 10us;" && says 2 "a wave of this view takes .* the map lets consumers define what takes 0.01 ms" \
	--define "use events"'
tap_case "... of which it can be seen before" tap_says 2 '^evspace map: a wave of this view takes .* what takes 0.01 ms' \
	evspace map show "$new" --define "use events"
tap_case "... and what costs less is allowed" eval 'by "cost at most 1s;" && says 0 wave --define "use latest" --count 1'
tap_case "... waves under way" eval 'by "window at most 2;" && says 0 wave --define "use latest" --rate max --window 32 --count 40 --json &&
	grep "^evspace view: 2 waves under way at most, as the map says of such a view, instead of 32$" "$tap_dir/said" &&
	evspace map show "$new" >"$tap_dir/said" && grep "^consumers may define views .*, 2 waves of each under way" "$tap_dir/said"'
tap_case "... nor of some hosts, as if they were asked again: more wait" waits
tap_case "... of streams, too" says 0 wave --define "use volume" --rate max --window 32 --count 40 --backlog --json
tap_case "... a map that allows fewer keeps who has more" narrows
tap_case "by control alone" eval 'by "defined by control;" && says 3 "may not define views" --define "use latest" --count 1'
tap_case "... who has it, may" says 0 wave --identity control --define 'use latest' --count 1
tap_case "by nobody" eval 'by "defined by none;" && says 3 "the map lets no consumer define views" --identity control --define "use latest"'
tap_case "a map says so" eval 'evspace map show "$new" >"$tap_dir/said" && grep "^consumers may define views by none$" "$tap_dir/said" &&
	evspace map diff "$bed_dir/maps" --connect "$bed_entry" >"$tap_dir/said" 2>&1 &&
	grep "^  consumers may define views by observe, 8 stages and 4 views at once at most instead of by none$" "$tap_dir/said"'
tap_case "another tree than the map's is refused" says 2 \
	'the map lets no consumer choose the tree `flat` for view `latest`, only its own, by-cluster; whoever keeps the map' latest --tree flat --count 1
tap_case "... more at once is" eval 'by "concurrency at most 3;" && sed -i "s/^entry/concurrency 2; &/" "$new/mapping.map" &&
	evspace map apply "$new" --connect "$bed_entry" --identity control >"$tap_dir/applied" 2>&1 &&
	says 2 "the map lets consumers ask 3 children at once in view .latest., not 4" latest --concurrency 4 --count 1 &&
	says 0 wave latest --concurrency sequential --count 1'
tap_case "... what is none is told before anything is sent" eval 'code=0; evspace view latest --connect unix:/nowhere --tree flet \
	>"$tap_dir/said" 2>&1 || code=$?; [ "$code" -eq 2 ] && grep "no tree .flet.; did you mean .flat.?" "$tap_dir/said"'
tap_case "... which the map allows, brings the same" chosen
tap_case "... of a view of its own" says 0 '"hosts":5,"answered":5,' --define 'use latest' --tree flat --concurrency sequential --count 1 --json
tap_case "... can be seen before" eval 'evspace map show "$new" --view events --tree flat --concurrency 2 >"$tap_dir/said" &&
	grep "at most 2 asked at once by each" "$tap_dir/said" && grep "^  b1 " "$tap_dir/said" &&
	evspace map show "$new" >"$tap_dir/said" && grep "^consumers may choose for any view: trees flat fanout, concurrency 3 at most$" "$tap_dir/said"'
tap_case "... a map that allows less ends it" chosen_ends
tap_case "what is there is said once, also of nodes that have one folder" says 1 \
	'there is \(/[AB]/[ab][0-2]/rank[0-4], \)\{4\}and 1 more, with threads' events --select '/nosuch/**' --backlog --until-end
tap_case "four at once, also if many have one id" eval 'by "" && of_one_id'
tap_case "four at once" eval 'by "" && watchers_start'
tap_case "... the fifth is refused" says 2 'observe has 4 views of its own open already, which is the most by the map' --define 'use latest'
tap_case "... another consumer has its own four" says 0 wave --identity control --define 'use latest' --count 1
tap_case "... and one of the map does not count" says 0 wave latest --count 1
tap_case "... until one is closed" one_less
tap_case "a map that allows less, and enough, keeps them open" stays
tap_case "a map that forbids them ends them" ends
tap_case "the entry stands in for a host of such a one" eval 'by "" && stands_in'
tap_case "what is shown of one" eval 'evspace map show "$bed_dir/maps" --define "$own" >"$tap_dir/said" && grep "^view (defined): stream of /\*\*" "$tap_dir/said" &&
	grep "^predicted: " "$tap_dir/said"'
tap_case "... by a map that does not allow it" eval 'sed -i "s/views { .*/views { defined by none; }/" "$new/application.map" && ! evspace map show "$new" --define "$own" >"$tap_dir/said" 2>&1 && grep "lets no consumer" "$tap_dir/said"'
tap_done
