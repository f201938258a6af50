package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// signpost runs one command line and returns what a shell would see.
func signpost(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestExitStatusOfCommandLines(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   []string
		status int
		stderr string // the beginning of the first line
	}{
		{"nothing is help", nil, exitOK, ""},
		{"help", []string{"--help"}, exitOK, ""},
		{"version", []string{"--version"}, exitOK, ""},
		{"an unknown command", []string{"helth"}, exitUsage, `signpost: unknown command "helth" for "signpost"`},
		{"an unknown flag", []string{"health", "--htp", "x"}, exitUsage, "signpost: unknown flag: --htp"},
		{"a flag without value", []string{"health", "--http"}, exitUsage, "signpost: flag needs an argument: --http"},
		{"a flag that does not fit", []string{"health", "--timeout", "x"}, exitUsage, `signpost: invalid argument "x" for "--timeout"`},
		{"too many arguments", []string{"health", "now"}, exitUsage, `signpost: unknown command "now" for "signpost health"`},
		{"too few arguments", []string{"lookup"}, exitUsage, "signpost: accepts 1 arg(s), received 0"},
		{"a configuration that is wrong", []string{"health", "--http", "x"}, exitUsage, `signpost: --http: addresses.http: "x" is not host:port`},
		{"a file that is not there", []string{"health", "--config", "/none.hcl"}, exitUsage, "signpost: /none.hcl: no such file or directory"},
		{"a type that is none", []string{"lookup", "a", "--type", "axfr"}, exitUsage, `signpost: --type "AXFR" is not one of A, AAAA`},
		{"a name that is none", []string{"lookup", "a..b"}, exitUsage, `signpost: "a..b" is not a DNS name`},
		{"a server that is not there", []string{"health", "--http", "127.0.0.1:0"}, exitRun, "signpost: ask for readiness: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, stdout, stderr := signpost(t, tc.args...)
			require.Equal(t, tc.status, status, stderr)
			if tc.status == exitOK {
				require.Empty(t, stderr)
				require.NotEmpty(t, stdout)
				return
			}
			require.True(t, strings.HasPrefix(stderr, tc.stderr), stderr)
			require.Empty(t, stdout)
		})
	}
}

func TestEveryFaultOfTheConfigurationIsALineOnStderr(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hcl")
	require.NoError(t, os.WriteFile(path, []byte("foo = 1\nbar = 2"), 0o600))
	t.Setenv("SIGNPOST_DNS", "nowhere")
	status, _, stderr := signpost(t, "health", "--config", path)
	require.Equal(t, exitUsage, status)
	require.Equal(t, "signpost: "+path+":1: foo: unknown key\n"+
		"signpost: "+path+":2: bar: unknown key\n"+
		"signpost: SIGNPOST_DNS: addresses.dns: \"nowhere\" is not host:port\n", stderr)
}

func TestAMistypedCommandIsToldItsLikeness(t *testing.T) {
	_, _, stderr := signpost(t, "helth")
	require.Equal(t, "signpost: unknown command \"helth\" for \"signpost\"\n"+
		"signpost: Did you mean this?\nsignpost: health\nsignpost: see signpost --help\n", stderr)
}

func TestVersionIsOneLine(t *testing.T) {
	_, stdout, _ := signpost(t, "--version")
	require.Regexp(t, `^signpost \S+\n$`, stdout)
}

func TestWorkBeginsOnlyInTheCommandThatRuns(t *testing.T) {
	begun := 0
	parent := &cobra.Command{Use: "p", SilenceErrors: true, SilenceUsage: true}
	child := &cobra.Command{Use: "c", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return errors.New("failed") }}
	parent.AddCommand(child)
	onStart(parent, func() { begun++ })
	parent.SetArgs([]string{"c", "surplus"})
	require.Error(t, parent.Execute())
	require.Zero(t, begun)
	parent.SetArgs([]string{"c"})
	require.EqualError(t, parent.Execute(), "failed")
	require.Equal(t, 1, begun)
}

func TestTheDocumentHasEveryFlag(t *testing.T) {
	document, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	var walk func(*cobra.Command)
	walk = func(command *cobra.Command) {
		command.Flags().VisitAll(func(f *pflag.Flag) {
			require.Contains(t, string(document), "`--"+f.Name+"`", "of %s", command.CommandPath())
		})
		for _, child := range command.Commands() {
			walk(child)
		}
	}
	walk(newRootCommand())
}

func TestTheLevelOfALoggerCanBeChanged(t *testing.T) {
	var out bytes.Buffer
	logger, level := newLogger(&out, slog.LevelWarn)
	logger.Info("one")
	require.Empty(t, out.String())
	level.Set(slog.LevelDebug)
	logger.Debug("two", "index", 7)
	require.Regexp(t, `^time=\S+ level=DEBUG msg=two index=7\n$`, out.String())
}
