package catalog

import "strings"

// Fold gives the form under which names that are compared without case are
// looked up. Only ASCII letters fold, exactly as lower(name COLLATE "C") does
// in the database, so that both sides always agree on what is the same name.
func Fold(name string) string {
	for i := range len(name) {
		if c := name[i]; 'A' <= c && c <= 'Z' {
			return foldFrom(name, i)
		}
	}
	return name
}

func foldFrom(name string, first int) string {
	var b strings.Builder
	b.Grow(len(name))
	b.WriteString(name[:first])
	for i := first; i < len(name); i++ {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}
