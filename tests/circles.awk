# SPDX-License-Identifier: BSD-3-Clause
# Finds the circles of a graph, "FROM TO" a line: the names of each strongly connected part, a line each (Tarjan 1972).

function visit(v,    i, n, list, w, line)
{
	at[v] = low[v] = ++count
	stack[++top] = v
	on[v] = 1
	n = split(to[v], list, " ")
	for (i = 1; i <= n; i++) {
		w = list[i]
		if (!(w in at)) {
			visit(w)
			if (low[w] < low[v])
				low[v] = low[w]
		} else if (on[w] && at[w] < low[v]) {
			low[v] = at[w]
		}
	}
	if (low[v] != at[v])
		return
	line = ""
	n = 0
	do {
		w = stack[top--]
		on[w] = 0
		line = line (n++ ? " " : "") w
	} while (w != v)
	if (n > 1)
		print line
}

$1 != $2 && !(($1, $2) in known) {
	known[$1, $2] = 1
	to[$1] = to[$1] " " $2
	if (!($1 in seen)) {
		seen[$1] = 1
		order[++n_order] = $1
	}
}

END {
	for (k = 1; k <= n_order; k++)
		if (!(order[k] in at))
			visit(order[k])
}
