# SPDX-License-Identifier: BSD-3-Clause
# Of what tests/code.awk tells: which file uses a function of which other one, "FROM TO" a line.

$1 == "function" && $5 == "public" { home[$3] = $2 }
$1 == "function" && $5 == "static" { own[$2, $3] = 1 }
$1 == "use" { uses[++n] = $2 " " $3 }

END {
	for (i = 1; i <= n; i++) {
		split(uses[i], use, " ")
		if ((use[2] in home) && home[use[2]] != use[1] && !((use[1], use[2]) in own))
			print use[1], home[use[2]]
	}
}
