# SPDX-License-Identifier: BSD-3-Clause
# evspace plan and evspace entropy: the papers' examples, and what is wrong with a table or a sequence.

. "$top_srcdir/tests/tap.sh"

cd "$tap_dir" || exit 99

# table WEIGHT...: the servers of the paper's table 1, with these weights.
table() {
	printf '%s\n' '# table 1' 'class frequency weight duty' "file 359 $1 .30" "window 189 $2 .23" "kernel 153 $3 .09" "font 334 $4 .11" \
		"others 630 $5 .27" >servers
}

# first TEXT: the first line has it.
first() {
	head -n 1 said | grep -q -e "$1" || { cat said; return 1; }
}

papers_plans() {
	table 1 1 1 1 1 && tap_says 0 '"plan":1' evspace plan servers --max-frequency 925 --json &&
		first '"traced":\[\],.*"probing_hz":925.0,"information":925.0,"exact":true,"gap":0.0,"greedy":925.0' &&
		table 2 1 1 1 1 && tap_says 0 '"plan":5' evspace plan servers --max-frequency 925 --json &&
		first '"traced":\["file","window","font"\],.*"probing_hz":43.0,"information":1256.48,"exact":true,"gap":0.0,"greedy":1202.5' &&
		tap_says 0 '"plan":1' evspace plan servers --max-frequency 641 --json &&
		first '"traced":\["file","window"\],.*"information":950.71,'
}

# Each is looked at once.
chained() {
	seq 30000 | awk 'BEGIN { print "class frequency weight duty deduced_from" } { print "c" $1, 1, 1, .5, $1 < 30000 ? "c" $1 + 1 : "-" }' >chain &&
		tap_says 0 'c29999 is in no plan, as another class tells it' timeout 20 evspace plan chain --max-frequency 5
}

budgets() {
	table 2 1 1 1 1 && tap_says 0 'file, window, font' evspace plan servers --budget 5% --t-report 54.054054us --plans 1 && [ "$(grep -c ' Hz ' said)" -eq 1 ] &&
		tap_says 0 'It tells 1284' evspace plan - --budget 5 --t-report 54.054054e-6 --reduce <servers &&
		tap_says 0 '"font":566.0.*"information"' evspace plan - --budget 9% --t-report 100e-6 --reduce --json <<-'EOF' || return
			class frequency weight duty deduced_from
			file 334 2 .3 -
			opened 10 5 .1 file
			font 900 1 .1 -
		EOF
	grep -q '"deduced":\["opened"\]' said &&
		tap_says 0 '"a":50.0,"b":100.0.*"used":0.02,' evspace plan - --budget 2% --t-report 100us --t-detect 1ms --reduce --json <<-'EOF' || return
			class frequency weight duty t_detect
			a 1000 1 .3 5us
			b 100 2 .1 0
		EOF
	# what is left to the probe has to be seen: 4,000 of 5,000 us a second
	tap_says 0 '"traced":\["a"\],"sampled":\["b"\],"deduced":\[\],"counted":\[\],"probing_hz":10.0,"information":105.0' \
		evspace plan - --budget 0.5% --t-report 10us --t-sampling 100us --plans 1 --json <<-'EOF' || return
			class frequency weight duty t_detect
			a 100 1 .3 0
			b 1000 1 .5 3us
		EOF
	# a probe that hits a takes three times as long, and hits it half of the time: 200 us on average
	tap_says 0 '"traced":\[\],"sampled":\["a","b"\],.*"probing_hz":50.0,' \
		evspace plan - --budget 1% --t-report 100us --t-sampling 100us --plans 1 --json <<-'EOF' || return
			class frequency weight duty t_sampling
			a 1000 1 .5 300us
			b 1000 1 .5 0
		EOF
	# what need not be sampled is not said beside a plan that samples without why
	table 1 1 1 1 1 && tap_says 0 'fits the budget, 5000 Hz: there is no need to sample\. By the formula' evspace plan servers --max-frequency 5000 &&
		tap_says 0 'fits the budget, 1665 Hz: there is no need to sample\.$' evspace plan servers --max-frequency 1665 --reduce || return
	tap_says 0 'No plan tells anything under this budget' evspace plan - --max-frequency 0.5 <<-'EOF'
		class frequency weight duty
		a 1000 1 0
	EOF
}

# wrong TEXT LINE...: a table of these lines is refused so.
wrong() {
	local text=$1

	shift
	printf '%s\n' "$@" >wrong
	tap_says 2 "$text" evspace plan wrong --max-frequency 100 && [ "$(wc -l <said)" -eq 1 ]
}

# What is behind a byte 0 is not left out in silence.
wrong_bytes() {
	printf 'class frequency weight duty\na 1 1 .5\n\0b 1 1 .5\nc 1 1 .5\n' >wrong
	tap_says 2 'wrong:3: there is a byte 0' evspace plan wrong --max-frequency 100
}

wrong_tables() {
	local heads='class frequency weight duty'

	wrong 'wrong:2: class "a": the weight "-1" is below 0' "$heads" 'a 1 -1 .5' &&
		wrong 'wrong:2: class "a": the weight "nan" is no number' "$heads" 'a 1 nan .5' &&
		wrong 'the weight of each class is 0' "$heads" 'a 1 0 .5' &&
		wrong 'wrong:2: class "a": the frequency "0" is not above 0' "$heads" 'a 0 1 .5' &&
		wrong 'wrong:2: class "a": the frequency "inf" is too large' "$heads" 'a inf 1 .5' &&
		wrong 'wrong:2: class "a": the frequency "1e308" is too large' "$heads" 'a 1e308 1 .5' &&
		wrong 'wrong:2: class "a": the duty .* "1.5" is not from 0 to 1' "$heads" 'a 1 1 1.5' &&
		wrong 'wrong:3: class "a" is in line 2 already' "$heads" 'a 1 1 .5' 'a 1 1 .5' &&
		wrong 'wrong:2: there are 3 words, where the first line has 4' "$heads" 'a 1 1' &&
		wrong 'wrong:1: "frequenzy" is no column' 'class frequenzy weight duty' &&
		wrong 'wrong:1: the first line names no column duty' 'class frequency weight' &&
		wrong 'wrong:1: there are two columns weight' 'class weight weight duty frequency' &&
		wrong 'wrong:1: there is no class in it' "$heads" &&
		wrong 'wrong:2: there is no class "b" to deduce from' "$heads deduced_from" 'a 1 1 .5 b' &&
		wrong 'wrong:2: class "a" is in the end deduced from itself' "$heads deduced_from" 'a 1 1 .5 b' 'b 1 1 .5 a' &&
		wrong 'wrong:2: class "a" is in the end deduced from itself' "$heads deduced_from" 'a 1 1 .5 b' 'b 1 1 .5 c' 'c 1 1 .5 b' &&
		wrong 'with a column t_trace, t_detect or t_sampling, give --budget' "$heads t_trace" 'a 1 1 .5 20ns' &&
		wrong 'with a column t_trace, t_detect or t_sampling, give --budget' "$heads t_detect" 'a 1 1 .5 0' &&
		wrong 'the frequency "0" is not above 0; leave out a class without events' "$heads" 'a 0 1 .5' &&
		wrong 'wrong:2: class "a": the t_detect "1e-300" is too small' "$heads t_detect" 'a 1 1 .5 1e-300' &&
		wrong 'wrong:2: class "a": the frequency "1e-300" is too small' "$heads" 'a 1e-300 1 .5' &&
		wrong_bytes &&
		wrong 'wrong:2: class "a": the t_detect "-1" is not above 0' "$heads t_detect" 'a 1 1 .5 -1' &&
		wrong 'wrong:2: the line has more than 4095 bytes' "$heads" "$(printf '%5000d' 1)" &&
		wrong 'wrong:1:' "$(head -c 3000 /dev/urandom | tr -d '\0\n')"
}

wrong_budgets() {
	table 1 1 1 1 1 && tap_says 2 'it needs a budget' evspace plan servers && tap_says 2 'give --budget PERCENT alone' evspace plan --budget 1 --t-report 1 &&
		tap_says 2 'are two budgets' evspace plan servers --budget 1 --max-frequency 1 && tap_says 2 'needs --t-report' evspace plan servers --budget 1 &&
		tap_says 2 'not above 0' evspace plan servers --max-frequency 0 && tap_says 2 'is not a share' evspace plan servers --budget x% &&
		tap_says 2 'none: No such file' evspace plan none --max-frequency 1 &&
		tap_says 2 'probed: no --t-sampling' evspace plan servers --budget 1 --t-report 1us --reduce --t-sampling 1us &&
		tap_says 1 'as to see all events takes more already' evspace plan servers --budget 1% --t-report 20us --t-detect 10us &&
		printf '%s\n' 'class frequency weight duty minimum' 'a 100 1 .5 50' >few && tap_says 1 'no plan keeps the budget' evspace plan few --max-frequency 10 &&
		tap_says 1 'no plan keeps the budget: .* take 50 Hz' evspace plan few --max-frequency 10 --reduce
}

papers_entropy() {
	echo A A A A B | tap_says 0 '"at":1,"event":"A","s":0.0866' evspace entropy --events A,B,C,D --window 3 --json && [ "$(wc -l <said)" -eq 5 ] &&
		sed -n 4p said | grep -q '"s":0.000259' && sed -n 5p said | grep -q '"s":0.000629' && [ "$(grep -c '"type":"entropy"' said)" -eq 5 ] &&
		echo A A A A B >sequence && tap_says 0 '4 of 5 events kept' evspace entropy --events A,B,C,D sequence --threshold 0.0005 --window 3
}

wrong_sequences() {
	tap_says 2 'it needs --events' evspace entropy </dev/null && echo A E | tap_says 2 'event 2, "E", is none of --events' evspace entropy --events A,B &&
		tap_says 2 '"A" is there twice' evspace entropy --events A,A </dev/null && tap_says 2 '"" is no name' evspace entropy --events A,,B </dev/null &&
		tap_says 2 'a window of 4 needs 4' evspace entropy --events A --alpha 0.5 </dev/null && tap_says 2 'from .* to' evspace entropy --events A --alpha 1 --window 1 </dev/null &&
		tap_says 2 'alpha .* is no number' evspace entropy --events A --alpha x --window 1 </dev/null && tap_says 2 'window' evspace entropy --events A --window 17 </dev/null &&
		printf '%0300d' 1 | tap_says 2 'more than 255 bytes' evspace entropy --events A && tap_says 2 'No such file' evspace entropy --events A none
}

# The document's examples: what it shows of a file is the file, and of a command what it prints.
documented() {
	local page=$top_srcdir/docs/plans.md shown

	sed -n '/^\$ cat classes/,/^\$ /p' "$page" | grep -v '^\$' >classes && [ -s classes ] || return 1
	while read -r shown; do
		awk -v first="\$ $shown" '$0 == first { on = 1; next } /^```|^\$ / { on = 0 } on' "$page" >shown
		[ -s shown ] && eval "$shown" >said && diff shown said || return 1
	done < <(sed -n 's/^\$ \(.*evspace .*\)/\1/p' "$page")
}

tap_case "the document's examples" documented
tap_case "the paper's plans" papers_plans
tap_case "budgets in percent, reduced frequencies, classes that others tell" budgets
tap_case "classes that are each told by the next one, however many" chained
tap_case "wrong tables, each by its line" wrong_tables
tap_case "wrong budgets" wrong_budgets
tap_case "the paper's entropy" papers_entropy
tap_case "wrong sequences" wrong_sequences
tap_done
