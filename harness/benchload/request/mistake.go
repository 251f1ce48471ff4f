// Package request reads what the user asked for, and says in whole sentences
// what is wrong with it.
package request

import (
	"fmt"
	"strings"
)

// Mistake is an error of the request, not of the work: the program ends with code 2.
type Mistake struct{ text string }

// Error is the whole sentence.
func (m Mistake) Error() string { return m.text }

// Mistakef makes a mistake from a sentence.
func Mistakef(sentence string, values ...any) error {
	return Mistake{fmt.Sprintf(sentence, values...)}
}

// Unknown says that a name is none of the allowed ones, and which one is nearest.
func Unknown(what, found string, allowed []string) error {
	sentence := fmt.Sprintf("%s is %q, which is not known; allowed are %s", what, found, strings.Join(allowed, ", "))
	if nearest := Nearest(found, allowed); nearest != "" {
		sentence += fmt.Sprintf("; did you mean %q?", nearest)
	} else {
		sentence += "."
	}
	return Mistake{sentence}
}

// Nearest is the allowed name with the fewest changes, if there are few enough
// for a slip of the hand.
func Nearest(found string, allowed []string) string {
	best, least := "", 1+(len(found)+1)/2
	for _, name := range allowed {
		if changes := distance(found, name); changes < least {
			best, least = name, changes
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
