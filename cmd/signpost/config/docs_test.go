package config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const document = "../../../docs/configuration.md"

// row begins the line of the document on a key.
func row(k key) string {
	defaults := Default()
	code := func(s string) string {
		if s == "" {
			return "none"
		}
		return "`" + s + "`"
	}
	variable, flag := envName(k), flagOf(k)
	if inFilesOnly(k) {
		variable = ""
	}
	if flag != "" {
		flag = "--" + flag
	}
	return "| " + strings.Join([]string{code(k.name), code(format(k.field(&defaults))), code(variable), code(flag)}, " | ") + " | "
}

func TestTheDocumentHasEveryKey(t *testing.T) {
	content, err := os.ReadFile(document)
	require.NoError(t, err)
	// The keys' tables have five columns; those of the flags have four.
	var rows []string
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "| `") && strings.Count(line, " | ") >= 4 {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	described := map[string]bool{}
	for _, k := range keys {
		i := slices.IndexFunc(rows, func(r string) bool { return strings.HasPrefix(r, row(k)) })
		require.GreaterOrEqual(t, i, 0, "%s has no line that begins with\n%s", document, row(k))
		meaning := strings.TrimPrefix(rows[i], row(k))
		require.Greater(t, len(meaning), len(" |"), "%s has no meaning", k.name)
		require.Equal(t, slices.Contains(unsupported, k.name), strings.HasPrefix(meaning, "*Not supported yet.*"),
			"the mark of %s and the table in unsupported.go differ", k.name)
		described[rows[i]] = true
	}
	for _, r := range rows {
		require.True(t, described[r] || strings.HasPrefix(r, "| `--"), "no key for the line\n%s", r)
	}
}

func TestTheExampleOfTheDocumentIsValid(t *testing.T) {
	content, err := os.ReadFile(document)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(content), "```hcl\n")
	require.True(t, found)
	example, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	c, faults := loadText(t, "gate.hcl", example)
	require.Empty(t, faults)
	require.Equal(t, "api*=5s,web=10s", format(&c.DNS.ServiceTTL))
}
