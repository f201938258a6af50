package config

import "strings"

// nearest gives the known name that a mistyped one most likely means.
func nearest(name string, known []string) (string, bool) {
	const longest = 64
	if len(name) > longest {
		return "", false
	}
	best, found := "", false
	limit := 1 + len(name)/4 // edits that still look like a slip
	for _, candidate := range known {
		if edits := distance(name, candidate); edits <= limit {
			best, found, limit = candidate, true, edits-1
		}
	}
	return best, found
}

// elsewhere gives the full name of a key that belongs into another block.
func elsewhere(name string) (string, bool) {
	for _, k := range keys {
		if strings.HasSuffix(k.name, "."+name) {
			return k.name, true
		}
	}
	return "", false
}

// distance counts the insertions, deletions and replacements of bytes that turn
// one text into the other (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1) // row[j] = distance of the read part of a to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
