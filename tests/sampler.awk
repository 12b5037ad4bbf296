# SPDX-License-Identifier: BSD-3-Clause
# Judges samples (a file of `events --csv`, mode=samples) by a full trace (mode=trace), which comes first; slack is how late, in
# ns, a sample may be. Prints precision, recall and share of what is kept.

function key() {
	return $5 (($5 ~ /region|phase/) ? "/" $7 : "")
}

BEGIN { FS = "," }
FNR == 1 { next }

# Segments as the trace has them: the same again at once is the same segment, as for who looks now and then.
mode == "trace" {
	t = $1
	if ($5 == "pvm_exit" || $4 <= $3)
		next
	if (t == last_thread && key() == last_key && $3 - end[n] < slack / 10)
		end[n] = $4
	else {
		n++
		of[n] = t
		what[n] = last_key = key()
		begin[n] = $3
		end[n] = $4
	}
	last_thread = t
	next
}

mode == "samples" {
	m++
	who[m] = $1
	is[m] = key()
	at[m] = $4
	left[m] = $9
}

END {
	for (i = 1; i <= m; i++) {
		total += 1 + left[i]
		opens = i == 1 || who[i - 1] != who[i] || is[i - 1] != is[i]
		closes = i == m || who[i + 1] != who[i] || is[i + 1] != is[i]
		ends += opens + closes - (opens && closes && !left[i])
		found += (opens && !left[i]) + closes - (opens && closes && !left[i])
		right += (opens && !left[i]) || closes
	}
	for (s = 1; s <= n; s++) {
		if (end[s] - begin[s] < 2 * slack)
			continue
		first = last = 0
		for (i = 1; i <= m; i++)
			if (who[i] == of[s] && is[i] == what[s]) {
				first = first || (at[i] >= begin[s] && at[i] <= begin[s] + slack)
				last = last || (at[i] <= end[s] && at[i] >= end[s] - slack)
			}
		long += 2
		seen += first + last
	}
	printf "%d of %d samples kept: %.3f; precision %.3f, recall %.3f; of the ends of %d long segments of the trace %.3f\n",
		m, total, total ? m / total : 0, m ? right / m : 0, ends ? found / ends : 0, long / 2, long ? seen / long : 0
}
