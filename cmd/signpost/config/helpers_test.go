package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unset is an environment without variables.
func unset(string) (string, bool) { return "", false }

// env is an environment with just these variables.
func env(variables map[string]string) Lookup {
	return func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
}

// write puts a file into a new directory and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// loadText loads one file and nothing else; faults name it without a directory.
func loadText(t *testing.T, name, content string) (Config, []string) {
	t.Helper()
	path := write(t, name, content)
	c, err := Load(Flags{Paths: []string{path}}, unset)
	return c, lines(err, filepath.Dir(path)+"/")
}

// lines splits an error into its faults, with a prefix cut from each.
func lines(err error, prefix string) []string {
	if err == nil {
		return nil
	}
	return strings.Split(strings.ReplaceAll(err.Error(), prefix, ""), "\n")
}
