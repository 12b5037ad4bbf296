# SPDX-License-Identifier: BSD-3-Clause
# Says what a test run has come to, of its record (deploy/progress.sh): one line for the last thing that
# happened; how many tests have ended, of how many, and how long the rest may take.
#
#	jobs N			so many tests run at once
#	plan TEST SECONDS	what it took last time
#	begin TEST TIME		times are seconds of the clock on the wall
#	end TEST TIME RESULT...
#	still - TIME		nothing has happened for a while

function span(s) {
	s = int(s + 0.5)
	if (s < 100)
		return s " s"
	return int((s + 30) / 60) " min"
}

# What is done, in the seconds that were expected of it, took so long; so will the rest. The plan alone
# counts as if GUESS seconds had gone by it, or the first test would foretell the day.
function left(now,   done, all, test) {
	for (test in plan) {
		all += plan[test]
		if (test in ended)
			done += plan[test]
		else if (test in began)
			done += now - began[test] < plan[test] ? now - began[test] : plan[test]
	}
	return (all - done) * (now - start + GUESS) / (done + GUESS * jobs)
}

function running(now,   test, text) {
	for (test in began)
		if (!(test in ended))
			text = text (text ? ", " : "") test " (" span(now - began[test]) ")"
	return text
}

BEGIN { GUESS = 30 }

$1 == "jobs" { jobs = $2; next }
$1 == "plan" { plan[$2] = $3; tests++; next }

{ now = $3; start = start ? start : now }

$1 == "begin" { began[$2] = now; said = $2 " begins" }
$1 == "end" {
	ended[$2] = 1
	n_ended++
	said = $2 ": " result($0) ", " span(now - began[$2])
}
$1 == "still" { said = "still running: " running(now) }

function result(line) {
	sub(/^end [^ ]+ [^ ]+ /, "", line)
	return line
}

END {
	if (said)
		printf "== [%d of %d] %s; %s\n", n_ended, tests, said,
			n_ended < tests ? "about " span(left(now)) " left" : "all have ended"
}
