# SPDX-License-Identifier: BSD-3-Clause
# Tests streams that lose: they look oftener by themselves, say what was lost and what helps, and begin with something.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/bed.sh"

bed_begin
bed_start agent evspace agent
bed_until bed_ready agent
touch "$tap_dir/more"
# Rings of 200 are full long before the tenth of a second is over that lies between two looks.
bed_start run evspace run --run wind --capacity 200 -- mpirun -np 2 \
	"$top_builddir/tests/apps/windtunnel" --size small --while "$tap_dir/more"
bed_until sh -c 'evspace runs | grep -q " running  *2/2 .* [0-9,]*[1-9],[0-9]* "'

# field NAME: of all waves of the view's JSON, summed up.
sum() {
	grep '"type":"wave"' "$tap_dir/out" | grep -o "\"$1\":[0-9]*" | cut -d: -f2 | awk '{ n += $1 } END { print n + 0 }'
}

keeps_up() {
	evspace view events --duration 4s --json >"$tap_dir/out" 2>"$tap_dir/err" || return
	echo "lost $(sum lost), read $(sum read)"
	[ "$(sum read)" -gt 2000 ] && [ "$(sum lost)" -lt "$(sum read)" ]
}
tap_case "a stream that nobody gave a rate keeps up" keeps_up
first_has_something() {
	head -n 1 "$tap_dir/out" | grep -q '"wave":1,.*"read":[1-9][0-9]' || { head -n 1 "$tap_dir/out"; return 1; }
}
tap_case "its first wave has more than some events" first_has_something

# says FILE PATTERN: the last command printed it.
says() {
	tap_printed "$tap_dir/$1" -- "$2"
}
evspace view sizes --rate 1 --count 3 >"$tap_dir/out" 2>"$tap_dir/err"
tap_case "a rate that was given is kept, and what helps is said" \
	says out 'wave [23] .* [0-9,]+ of [0-9,]+ tuples lost; --rate [0-9]+ would do'
evspace view sizes --duration 3s >"$tap_dir/out" 2>"$tap_dir/err"
tap_case "who looks oftener by itself says what helps where that is not enough" \
	says out 'wave [0-9]+ .* [0-9,]+ of [0-9,]+ tuples lost; .*evspace run --capacity N'
evspace events --rate 1 --count 3 >"$tap_dir/out" 2>"$tap_dir/err"
tap_case "events says so at once" says err '^evspace events: [0-9,]+ of [0-9,]+ tuples lost; (--rate|more room helps)'
tap_case "... and at what price it looked" says err '% of a core, this command'

# --- figures that a person reads ---

figures() {
	local view

	for view in rates sizes histogram slowest matrix traffic; do
		evspace view "$view" --rate 5 --count 2
	done
	evspace events --duration 2s >/dev/null
	evspace heartbeat --once
	evspace collect
} >"$tap_dir/figures" 2>&1
no_exponents() {
	grep -q '^RATES OF' "$tap_dir/figures" && ! grep -E '[0-9]e[+-][0-9]|nan' "$tap_dir/figures"
}
# of whatever it is a part: of a thread's time, of the program's, of a core
no_more_than_all() {
	grep -oE '[0-9.,]+ ?%' "$tap_dir/figures" | tr -d ' ,%' | awk '$1 > 100 { print; bad = 1 } END { exit bad || NR == 0 }'
}
in_an_order() {
	evspace view rates --level thread --count 1 >"$tap_dir/rows" 2>"$tap_dir/err"
	sed -n 's|^\(/[^ ]*\) .*|\1|p' "$tap_dir/rows" >"$tap_dir/names"
	[ "$(sort -u "$tap_dir/names" | wc -l)" -ge 2 ] && sort -V -c "$tap_dir/names" || { cat "$tap_dir/rows" "$tap_dir/err"; return 1; }
}
figures
tap_case "figures that a person reads have no exponents" no_exponents
tap_case "... no part is more than all" no_more_than_all
tap_case "... and rows are in an order" in_an_order

# --- the agent is gone when the program ends ---

bed_kill TERM agent
rm "$tap_dir/more"
bed_wait run
stays() {
	bed_ended run 0 && grep -q 'elements *kept: the agent that served them is gone' "$bed_dir/run.err" &&
		[ "$(find "$EVSPACE_DIR/wind" -name '*.seg' | wc -l)" -eq 2 ] || { cat "$bed_dir/run.err"; return 1; }
}
tap_case "what an agent has served stays when that is gone at the end" stays

# --- what was gone before ---

# A wave has room for some of the elements: each of them is read first by another wave, when most of it is gone.
gone_before() {
	bed_start agent evspace agent && bed_until bed_ready agent && touch "$tap_dir/more" || return
	bed_start lapped evspace run --run lapped --keep --capacity 20000 -- mpirun -np 2 \
		"$top_builddir/tests/apps/windtunnel" --size small --while "$tap_dir/more"
	bed_until sh -c 'evspace runs | grep -q "^lapped  *running .* [0-9]*,[0-9][0-9][0-9],[0-9]* "'
	rm "$tap_dir/more"
	bed_wait lapped
	timeout -k 5 60 evspace events --run lapped --backlog --until-end --rate 20 --window 32 >/dev/null 2>"$tap_dir/err"
	says err '^evspace events: [0-9,]+ of [0-9,]+ tuples lost; overwritten before this began: for that, more room helps' && ! grep -e '--rate' "$tap_dir/err"
}
tap_case "of what was gone before no rate is said to help" gone_before
bed_kill TERM agent
evspace purge lapped >/dev/null

# --- very many runs ---

for i in $(seq 300); do
	cp -r "$EVSPACE_DIR/wind" "$EVSPACE_DIR/old$i"
done
purges() {
	timeout 60 evspace purge --all >"$tap_dir/out" 2>"$tap_dir/err" && [ -z "$(find "$EVSPACE_DIR" -name '*.seg')" ] &&
		says out '^freed [0-9.]+ [MG]iB: .* and 291 more$' && [ "$(wc -c <"$tap_dir/out")" -lt 300 ]
}
tap_case "of 300 runs that are purged ten are named" purges
tap_done
