# SPDX-License-Identifier: BSD-3-Clause
# Tests elements of programs without a program: evspace element, runs, purge, and what an agent removes.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin

reader=

tap_cleanup() {
	[ -n "$reader" ] && kill "$reader" 2>/dev/null
	bed_end
	rm -rf "$EVSPACE_DIR-far"
}

made_and_read() {
	evspace element make load --run night --fields 'host text[8], load f64, cores i32[2]' --capacity 3 || return
	tap_says 2 'make needs --fields' evspace element make load &&
		tap_says 2 'has the fields "host text\[8\], load f64, cores i32\[2\]", not "load f64"' \
			evspace element make load --fields 'load f64' || return
	evspace element write load host=w1 load=0.5 cores=4,8 &&
		printf '%s\n' 'load=nan host=w2' '' 'load=-1e300' 'cores=-1' | evspace element write load - || return
	evspace element read load >"$tap_dir/out" && tap_printed "$tap_dir/out" -- \
		'^[0-9:.]* #1 host=w2 load=nan cores=0,0$' '#2 host= load=-1e[+]300 cores=0,0$' '#3 host= load=0 cores=-1,0$' &&
		[ "$(wc -l <"$tap_dir/out")" = 3 ] || return
	evspace element read load --newest --json >"$tap_dir/out" && tap_printed "$tap_dir/out" -- \
		'{"schema":1,"run":"night","element":"load","number":3,"time_ns":[0-9]*,"lost":0,"fields":{"host":null,"load":0.0,"cores":\[-1,0\]}}'
}

wrong_words() {
	tap_says 2 '"lod=1" says no field' evspace element write load lod=1 &&
		tap_says 2 'is no value of field load' evspace element write load load=x &&
		tap_says 2 'has 8 bytes' evspace element write load host=123456789 &&
		tap_says 1 'cannot open the element none' evspace element read none --run night &&
		tap_says 2 'no run has an element none' evspace element read none &&
		tap_says 2 'one element at a time' evspace element read load none &&
		tap_says 2 'are for read' evspace element wait load --follow
}

listed() {
	evspace element list >"$tap_dir/out" &&
		tap_printed "$tap_dir/out" -- '^night *load *3 *4 *- *- *host text\[8\], load f64, cores i32\[2\]$' || return
	evspace element list --run other --json >"$tap_dir/out" && [ ! -s "$tap_dir/out" ] || return
	evspace element list --json >"$tap_dir/out" && tap_printed "$tap_dir/out" -- \
		'"run":"night","element":"load","fields":"host text\[8\].*"capacity":3,"patience_ms":0,"written":4,"oldest":1,"writer":false,"readers":0,"program":"evspace"'
}

has_line() {
	[ -s "$tap_dir/waited" ]
}

# Whoever waits gets what is written next, not what there is.
waits() {
	evspace element wait load --json >"$tap_dir/waited" &
	reader=$!
	# some tuple comes after it has begun
	bed_until waits_for_it && wait "$reader" && tap_printed "$tap_dir/waited" -- '"number":[4-9]' || return
	! evspace element wait load --timeout 10ms >"$tap_dir/waited" && ! has_line
}

waits_for_it() {
	evspace element write load load=7 && has_line
}

is_listed() {
	evspace runs --json >"$tap_dir/out" &&
		tap_printed "$tap_dir/out" -- '"run":"night","state":"elements","program":"evspace","processes":0.*"elements":1'
}

waits_for_readers() {
	evspace element make slow --run night --fields 'n u64' --capacity 2 --patience 1ms || return
	for n in 0 1 2 3; do
		evspace element write slow n=$n || return
	done
	evspace element read slow --follow >"$tap_dir/slow" &
	reader=$!
	bed_until [ -s "$tap_dir/slow" ] || return
	bed_until reader_counted || return
	kill -STOP "$reader" || return
	evspace element write slow n=4 && evspace element write slow n=5 &&
		tap_says 1 'a reader has not made room in time' evspace element write slow n=6 || return
	# and goes on when it has gone
	kill -KILL "$reader" && evspace element write slow n=6
}

reader_counted() {
	evspace element list | grep -q '^night *slow .* 1 *n u64$'
}

# Somebody has it open.
purged() {
	evspace element read load --follow >/dev/null &
	reader=$!
	bed_until in_use && tap_says 1 'night stays: a program has one of its elements open' evspace purge night || return
	kill "$reader"
	bed_until eval "! kill -0 $reader 2>/dev/null" && wait "$reader"
	evspace purge --all --older-than 1h >"$tap_dir/out" 2>&1 &&
		tap_printed "$tap_dir/out" -- 'night stays: its elements were used .* ago' || return
	evspace purge night && [ ! -e "$EVSPACE_DIR/night" ]
}

# By what is locked: to try a lock would be in the way of who opens it.
in_use() {
	grep -q "FLOCK.*READ.*:$(stat -c %i "$EVSPACE_DIR/night/load.elem") " /proc/locks
}

# Files that lie are refused, with the reason, and nobody falls over them.
damaged() {
	mkdir -p "$EVSPACE_DIR/night" && chmod 700 "$EVSPACE_DIR/night" &&
		evspace element make whole --run night --fields 'n u64' &&
		truncate -s 5000 "$EVSPACE_DIR/night/whole.elem" || return
	evspace runs >"$tap_dir/out" && tap_printed "$tap_dir/out" -- 'cannot use the element whole .* it was cut short' &&
		tap_says 1 'cut short' evspace element read whole --run night && evspace purge --all
}

# A file that is cut while it is read ends nothing but the reading.
cut_short() {
	evspace element make whole --run night --fields 'n u64' "$@" && evspace element write whole n=1 || return
	: >"$tap_dir/whole"
	evspace element read whole --follow >"$tap_dir/whole" 2>"$tap_dir/err" &
	reader=$!
	bed_until [ -s "$tap_dir/whole" ] && truncate -s 0 "$EVSPACE_DIR/night/whole.elem" || return
	bed_until eval "! kill -0 $reader 2>/dev/null" && wait "$reader"
	[ $? = 1 ] && tap_printed "$tap_dir/err" -- 'its file is damaged, or was cut short' && evspace purge --all --force
}

# The same element from a program of Fortran and from here.
fortran_program() {
	(cd "$tap_dir" && gfortran -O1 -Wall -Werror -o elements "$top_srcdir/node-agent/pastset/evspace-element.f90" \
		"$top_srcdir/tests/apps/elements.f90" -L"$top_builddir/.libs" -levspace-element -Wl,-rpath,"$top_builddir/.libs") || return
	evspace element make answer --run night --fields 'n i32' && evspace element write answer n=42 &&
		EVSPACE_RUN=night "$tap_dir/elements" >"$tap_dir/out" || { cat "$tap_dir/out"; return 1; }
	tap_printed "$tap_dir/out" -- '^answer 42 is number 0$' '^newest: 5 0.03125$' '^third: 3$' 'has the fields "n i64, residual f64", not "n i32"' || return
	evspace element read step --json >"$tap_dir/out" && [ "$(wc -l <"$tap_dir/out")" = 3 ] && tap_printed "$tap_dir/out" -- \
		'"element":"step","number":2,.*"fields":{"n":3,"residual":0.125}' '"number":4,.*"fields":{"n":5,"residual":0.03125}'
}

tap_case "an element is made, written and read" made_and_read
tap_case "wrong words are told" wrong_words
tap_case "elements are listed" listed
tap_case "who waits gets what is written next" waits
tap_case "their run is listed" is_listed
tap_case "a writer waits for readers, as long as they live" waits_for_readers
if command -v gfortran >/dev/null; then
	tap_case "a Fortran program writes and reads them" fortran_program
else
	tap_skip "a Fortran program writes and reads them" "gfortran is missing (Debian package gfortran)"
fi
tap_case "they are purged, unless somebody has one open" purged
# By the entry's agent, of a host that has a folder of its own.
read_from_elsewhere() {
	local far=$EVSPACE_DIR-far at=(--connect "$bed_entry")

	mkdir -m 700 "$far" && bed_agents front ga && EVSPACE_DIR=$far bed_agents a0 || return
	evspace element make here --run night --fields 'n u64' && evspace element write here n=1 || return
	EVSPACE_DIR=$far evspace element make load --run night --fields 'host text[8], load f64' --capacity 3 &&
		EVSPACE_DIR=$far evspace element write load host=w1 load=0.5 || return
	bed_until eval 'evspace element list '"${at[*]}"' | grep -q load' &&
		evspace element list "${at[@]}" >"$tap_dir/out" && tap_printed "$tap_dir/out" -- '^front *night *here *1 *1 *n u64$' \
		'^a0 *night *load *1 *1 *host text\[8\], load f64$' && [ "$(wc -l <"$tap_dir/out")" = 3 ] || return
	evspace element read load "${at[@]}" --json >"$tap_dir/out" && tap_printed "$tap_dir/out" -- \
		'{"schema":1,"node":"a0","run":"night","element":"load","number":0,"time_ns":[0-9]*,"lost":0,"fields":{"host":"w1","load":0.5}}' || return
	evspace element read load "${at[@]}" --follow --json >"$tap_dir/waited" &
	reader=$!
	bed_until has_line || return
	for n in 1 2 3 4 5 6 7 8 9; do
		EVSPACE_DIR=$far evspace element write load load=$n || return
	done
	bed_until grep -q '"number":9,' "$tap_dir/waited" && kill "$reader" &&
		[ "$(sed 's/.*"lost":\([0-9]*\),.*/\1/' "$tap_dir/waited" | awk '{ n += 1 + $1 } END { print n }')" = 10 ] || return
	evspace element read load "${at[@]}" --newest >"$tap_dir/out" && tap_printed "$tap_dir/out" -- ' #9 host= load=9$' &&
		! evspace element wait load "${at[@]}" --timeout 200ms &&
		tap_says 1 'no host that has answered has an element none' evspace element read none "${at[@]}" &&
		tap_says 2 'made and written on their host' evspace element write load load=1 "${at[@]}" || return
	# another one takes its place meanwhile
	rm "$tap_dir/waited"
	evspace element read load "${at[@]}" --follow --json >"$tap_dir/waited" 2>"$tap_dir/said" &
	reader=$!
	bed_until has_line && EVSPACE_DIR=$far evspace purge night >/dev/null &&
		EVSPACE_DIR=$far evspace element make load --run night --fields 'b f64' || return
	for n in 1 2 3 4 5 6 7 8 9 10 11; do
		EVSPACE_DIR=$far evspace element write load b=$n || return
	done
	bed_until eval "! kill -0 $reader 2>/dev/null" && wait "$reader"
	[ $? = 1 ] && grep -qx 'evspace element: it was removed' "$tap_dir/said" && ! grep -q '"b"\|"number":10' "$tap_dir/waited" || return
	# of the same name, and a host that is not there
	EVSPACE_DIR=$far evspace element make here --run night --fields 'n u64' || return
	bed_until eval '[ "$(evspace element list '"${at[*]}"' | grep -c here)" = 2 ]' &&
		tap_says 2 '2 hosts or runs have an element here; say which' evspace element read here "${at[@]}" &&
		evspace element read here "${at[@]}" --node front >"$tap_dir/out" && tap_printed "$tap_dir/out" -- ' #0 n=1$' || return
	bed_kill KILL a0 && tap_says 1 'a0 has not answered: ' evspace element read load "${at[@]}"
}

# Each tuple comes when it is written, whoever else does not answer; and after its own agent was away.
followed() {
	local far=$EVSPACE_DIR-far at=(--connect "$bed_entry") since n

	EVSPACE_DIR=$far bed_agents a0 && bed_agents b0 &&
		EVSPACE_DIR=$far evspace element make steps --run day --fields 'n u64' --capacity 50 || return
	EVSPACE_DIR=$far evspace element write steps n=0
	rm -f "$tap_dir/waited"
	bed_until eval 'evspace element list '"${at[*]}"' | grep -q steps' || return
	evspace element read steps "${at[@]}" --follow --json >"$tap_dir/waited" 2>"$tap_dir/said" &
	reader=$!
	bed_until has_line && kill -STOP "$(bed_pid b0)" || return
	since=$SECONDS
	for n in 1 2 3 4 5; do
		EVSPACE_DIR=$far evspace element write steps n=$n && bed_until grep -q "\"n\":$n}" "$tap_dir/waited" || return
	done
	[ $((SECONDS - since)) -lt 8 ] || { echo "five tuples took $((SECONDS - since)) s"; return 1; }
	kill -CONT "$(bed_pid b0)"
	bed_kill KILL a0 && bed_until grep -q 'a0 has not answered: .*; goes on when it does' "$tap_dir/said" &&
		EVSPACE_DIR=$far evspace element write steps n=6 && EVSPACE_DIR=$far bed_agents a0 &&
		bed_until grep -q '"n":6}' "$tap_dir/waited" && grep -q 'a0 answers again' "$tap_dir/said" || return
	# the entry, too
	bed_kill KILL front && bed_until eval '[ "$(grep -c "goes on when it does" "$tap_dir/said")" = 2 ]' &&
		EVSPACE_DIR=$far evspace element write steps n=7 && bed_agents front &&
		bed_until grep -q '"n":7}' "$tap_dir/waited" && kill "$reader" || { cat "$tap_dir/said"; return 1; }
	[ "$(grep -c '"lost":0' "$tap_dir/waited")" = 8 ]
}

# More than an answer has room for.
many_listed() {
	local far=$EVSPACE_DIR-far i

	bed_kill TERM a0
	(umask 077 && EVSPACE_DIR=$far evspace element make e0000 --run many --fields 'n u64' --capacity 1 &&
		for ((i = 1; i < 1500; i++)); do
			printf -v to 'e%04d' $i
			LC_ALL=C sed "s/e0000/$to/" "$far/many/e0000.elem" >"$far/many/$to.elem" || exit
		done) && EVSPACE_DIR=$far bed_agents a0 || return
	bed_until eval 'evspace element list --connect '"$bed_entry"' | grep -q e1499' || return
	evspace element list --connect "$bed_entry" --run many --json >"$tap_dir/out" &&
		[ "$(grep -o '"element":"e[0-9]*"' "$tap_dir/out" | sort -u | wc -l)" = 1500 ] &&
		[ "$(wc -l <"$tap_dir/out")" = 1500 ] || { wc -l "$tap_dir/out"; return 1; }
	# $EVSPACE_RUN counts with and without agents
	EVSPACE_RUN=day evspace element list --connect "$bed_entry" --json >"$tap_dir/out" && [ "$(wc -l <"$tap_dir/out")" = 1 ] &&
		EVSPACE_DIR=$far EVSPACE_RUN=day evspace element list --json >"$tap_dir/out" && [ "$(wc -l <"$tap_dir/out")" = 1 ]
}

# Their tuples are in views: by name alone, in order, all counted; stages take their fields; archives keep them.
viewed() {
	local far=$EVSPACE_DIR-far at=(--connect "$bed_entry" --run sim) i

	for i in 1 2; do
		EVSPACE_DIR=$far evspace element make residual.$i --run sim --fields 'n u64, r f64' --capacity 10 || return
	done
	for ((i = 0; i < 15; i++)); do echo "n=$i r=-$i"; done | EVSPACE_DIR=$far evspace element write residual.1 - &&
		printf 'n=%s r=10%s.5\n' 0 0 1 1 2 2 | EVSPACE_DIR=$far evspace element write residual.2 - || return
	EVSPACE_DIR=$far PMIX_RANK=3 evspace element make queue --run sim --fields 'long i32' &&
		EVSPACE_DIR=$far evspace element write queue long=-7 || return
	bed_until eval 'evspace element list --connect '"$bed_entry"' | grep -q queue' || return
	evspace events "${at[@]}" --select '/**/element:residual.*' --backlog --count 3 --json >"$tap_dir/out" 2>"$tap_dir/said" &&
		tap_printed "$tap_dir/out" "$tap_dir/said" -- '^{"schema":1,"type":"loss","name":"/A/a0/-/t0/element:residual.1","rank":null,"first":0,"lost":5}' \
			'"type":"element","name":"/A/a0/-/t0/element:residual.1","rank":null,"number":14,"time_ns":[0-9]{19},"error_ns":[0-9.]*,"fields":{"n":14,"r":-14.0}}' \
			'"type":"element","name":"/A/a0/-/t0/element:residual.2",.*"fields":{"n":2,"r":102.5}}' \
			'"type":"summary",.*"delivered":13,"lost":5,.*"unaccounted":0' &&
		[ "$(grep -c '"type":"element"' "$tap_dir/out")" = 13 ] || { cat "$tap_dir/out" "$tap_dir/said"; return 1; }
	# by all patterns that do not name them, none
	evspace events "${at[@]}" --backlog --count 1 --json >"$tap_dir/out" 2>&1
	! grep '"type":"element"' "$tap_dir/out" || return
	evspace events "${at[@]}" --select '/**/element' --backlog --count 2 >"$tap_dir/out" 2>&1 &&
		tap_printed "$tap_dir/out" -- '^[0-9:.]+  /A/a0/rank3/t0/element:queue #0 long=-7$' || return
	# by their fields, of the newest and of all
	evspace view --define 'select /**/element:residual.*; read latest; node reduce max of field r; all reduce max of field r' \
		"${at[@]}" --count 1 --json >"$tap_dir/out" 2>&1 && tap_printed "$tap_dir/out" -- \
		'"type":"figure","name":"/","field":"r","fold":"max","value":102.5,"count":2,"sum":88.5,"min":-14.0,"max":102.5,' || return
	evspace view --define 'select /**/element; read stream; element reduce sum of field n' "${at[@]}" --backlog --count 2 \
		>"$tap_dir/out" 2>"$tap_dir/said" && tap_printed "$tap_dir/out" "$tap_dir/said" -- \
		'^/A/a0/-/t0/element:residual.1 +sum of field n 95 of 10 values' '14 tuples read: 0 delivered, 1 filtered, 13 reduced' || return
	# of some values alone; what is no such element passes
	evspace view --define 'select /**/element; read stream; element filter field r>=102' "${at[@]}" --backlog --count 2 --json \
		>"$tap_dir/out" 2>"$tap_dir/said" && tap_printed "$tap_dir/out" "$tap_dir/said" -- '"fields":{"n":2,"r":102.5}' ' 1 delivered, 13 filtered, ' &&
		[ "$(grep -c '"type":"element"' "$tap_dir/out")" = 1 ] || { cat "$tap_dir/out" "$tap_dir/said"; return 1; }
	# one that is made, and what is written, while a stream is open
	evspace events "${at[@]}" --select '/**/element:*' --json >"$tap_dir/waited" 2>"$tap_dir/said" &
	reader=$!
	bed_until live_seen '"long":1' queue long=1 && EVSPACE_DIR=$far evspace element make late --run sim --fields 'x f32' &&
		EVSPACE_DIR=$far evspace element write late x=1 && bed_until grep -q element:late "$tap_dir/waited" &&
		kill -INT "$reader" && wait "$reader"
	! grep -q '"long":-7' "$tap_dir/waited" && tap_printed "$tap_dir/waited" -- '"name":"/A/a0/-/t0/element:late","rank":null,"number":0,' || return
	evspace archive "${at[@]}" --select '/**/element:residual.*' --duration 3s "$tap_dir/kept" >"$tap_dir/said" 2>&1 &&
		evspace events --from "$tap_dir/kept" --json >"$tap_dir/out" 2>>"$tap_dir/said" &&
		[ "$(grep -c '"type":"element",.*"fields":{"n":' "$tap_dir/out")" = 13 ] &&
		tap_printed "$tap_dir/out" -- '"delivered":13,"lost":5,.*"unaccounted":0' || { cat "$tap_dir/out" "$tap_dir/said"; return 1; }
	evspace export --to jsonl --from "$tap_dir/kept" "$tap_dir/jsonl" 2>"$tap_dir/said" &&
		[ "$(grep -c '"type":"element",.*"fields":{"n":' "$tap_dir/jsonl")" = 13 ] || { cat "$tap_dir/said" "$tap_dir/jsonl"; return 1; }
	tap_says 0 "13 tuples of programs' own elements left out" evspace export --to csv --from "$tap_dir/kept" "$tap_dir/csv" &&
		tap_says 1 "only tuples of programs' own elements" evspace export --to ctf --from "$tap_dir/kept" "$tap_dir/ctf" || return
	# those of another time and other elements, in one archive with them, each once
	EVSPACE_DIR=$far evspace element write residual.1 n=15 r=-15 && EVSPACE_DIR=$far evspace element write residual.2 n=3 r=103.5 &&
		evspace archive "${at[@]}" --select '/**/element' --duration 3s "$tap_dir/more" >"$tap_dir/said" 2>&1 &&
		evspace archive merge "$tap_dir/more" "$tap_dir/kept" --into "$tap_dir/merged" >>"$tap_dir/said" 2>&1 &&
		evspace events --from "$tap_dir/merged" --json >"$tap_dir/out" 2>>"$tap_dir/said" && evspace archive check "$tap_dir/merged" >>"$tap_dir/said" &&
		[ "$(grep -o '"name":"[^"]*:residual.*"number":[0-9]*' "$tap_dir/out" | sort | uniq | wc -l)" = 15 ] &&
		[ "$(grep -c ':residual.1".*"fields":{"n":15,"r":-15.0}\|:residual.2".*"fields":{"n":[0-3],"r":10[0-3].5}\|:queue".*"fields":{"long":-\?[0-9]*}' "$tap_dir/out")" -ge 7 ] &&
		tap_printed "$tap_dir/out" -- '"lost":5,.*"unaccounted":0' || { cat "$tap_dir/out" "$tap_dir/said"; return 1; }
	tap_says 2 'is not a channel; did you mean' evspace view --define 'select /**/elemnt:x' "${at[@]}" &&
		tap_says 2 'does nothing with total' evspace view --define 'node reduce sum of bytes; all reduce max of field r' "${at[@]}"
}

# The map has agents make them when it is applied, and removes those that it does not have any more, unless in use.
made_by_map() {
	local far=$EVSPACE_DIR-far at=(--connect "$bed_entry" --identity control) other=$tap_dir/other i

	bed_agents a1 b1 && cp -r "$bed_dir/maps" "$other" || return
	sed -i 's/^application windtunnel {/&\n\telement residual { u64 n; f64 r[2]; text phase[8]; capacity 50; on a0 front; }\n\telement findings { text what[64]; run night; patience 2s; }/' \
		"$other/application.map"
	evspace map diff "$other" "${at[@]}" >"$tap_dir/said" 2>&1
	tap_printed "$tap_dir/said" -- 'elements are made by the map' && evspace map apply "$other" "${at[@]}" >"$tap_dir/said" 2>&1 ||
		{ cat "$tap_dir/said"; return 1; }
	bed_until eval '[ "$(evspace element list --connect '"$bed_entry"' | grep -cE "residual +0 +0 +n u64, r f64.2., phase text.8.|findings +0 +0")" = 3 ]' ||
		{ evspace element list --connect "$bed_entry"; return 1; }
	EVSPACE_DIR=$far evspace element write residual --run windtunnel n=1 r=2,3 phase=x || return
	evspace element list --json >"$tap_dir/out" && tap_printed "$tap_dir/out" -- '"element":"findings",.*"capacity":200,"patience_ms":2000,' &&
		tap_says 1 'windtunnel stays: the map has an agent keep elements of it' evspace purge windtunnel &&
		[ -e "$EVSPACE_DIR/windtunnel/residual.elem" ] || return
	EVSPACE_DIR=$far evspace element read residual --run windtunnel --follow >"$tap_dir/waited" 2>/dev/null &
	reader=$!
	bed_until [ -s "$tap_dir/waited" ] && evspace map rollback "${at[@]}" >"$tap_dir/said" 2>&1
	tap_printed "$tap_dir/said" -- 'elements of .A.a0 stay as they are: the element residual of run windtunnel is not in the map, and stays: a program has it open' &&
		bed_until eval '[ ! -e "$EVSPACE_DIR/windtunnel/residual.elem" ] && [ ! -e "$EVSPACE_DIR/night/findings.elem" ]' || return
	kill "$reader"
	bed_until eval "! kill -0 $reader 2>/dev/null"
	evspace map apply "$other" "${at[@]}" >"$tap_dir/said" 2>&1 && evspace map rollback "${at[@]}" >"$tap_dir/said" 2>&1 &&
		bed_until [ ! -e "$far/windtunnel/residual.elem" ] || { cat "$tap_dir/said"; return 1; }
	for i in 'f64 a a;' '' 'f64 a[40];' 'f64 a; on nowhere;' 'f64 3a;' 'f64 a; capacity 0;'; do
		sed -i "s/^\telement residual.*/\telement residual { $i }/" "$other/application.map"
		! evspace map check "$other" >"$tap_dir/said" 2>&1 && grep -q 'application.map:[0-9]' "$tap_dir/said" || { echo "$i"; cat "$tap_dir/said"; return 1; }
	done
}

# Of the agents that share a folder one shows an element: that of its rank's node, else the first that has ranks.
one_shows() {
	local at=(--connect "$bed_entry" --run shared)

	PMIX_RANK=2 evspace element make seen.2 --run shared --fields 'n u64' && evspace element make seen --run shared --fields 'n u64' &&
		evspace element write seen.2 n=1 && evspace element write seen n=1 || return
	bed_until eval '[ "$(evspace element list --connect '"$bed_entry"' | grep -c " shared ")" = 2 ]' || return
	evspace events "${at[@]}" --select '/**/element:seen*' --backlog --count 3 --json >"$tap_dir/out" 2>"$tap_dir/said" &&
		tap_printed "$tap_dir/out" -- '"name":"/B/b0/rank2/t0/element:seen.2"' '"name":"/A/a1/-/t0/element:seen",' &&
		[ "$(grep -c '"type":"element"' "$tap_dir/out")" = 2 ] || { cat "$tap_dir/out" "$tap_dir/said"; return 1; }
	tap_says 0 "2 tuples of programs' own elements are left out: CSV has no columns" evspace events "${at[@]}" --select '/**/element:seen*' \
		--backlog --count 3 --csv
}

# The stream has begun when it has what is written.
live_seen() {
	EVSPACE_DIR=$EVSPACE_DIR-far evspace element write "${@:2}" && grep -q "$1" "$tap_dir/waited"
}

tap_case "files that lie are refused" damaged
tap_case "a file that is cut while it is read" cut_short
tap_case "... also by one for whom its writer would wait" cut_short --patience 500us
tap_case "other hosts' are read by their agents" read_from_elsewhere
tap_case "they are followed beside an agent that does not answer, and over restarts" followed
tap_case "all of a host that has very many are listed" many_listed
tap_case "views have their tuples, stages their fields" viewed
tap_case "agents make those of the map" made_by_map
tap_case "one of the agents that share a folder shows one" one_shows
tap_done
