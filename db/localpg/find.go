package localpg

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// oldestMajor is the oldest Postgres that the statements of package db run on.
const oldestMajor = 13

// Binaries is one installed Postgres server.
type Binaries struct {
	// Dir holds postgres and initdb. It is an absolute path.
	Dir string
	// Major is the major version, such as 17.
	Major int
}

// ErrNotInstalled says that no Postgres server of version 13 or newer was found on this machine. Its text is one
// line that tells what to install.
var ErrNotInstalled = errors.New("no Postgres 13 or newer is installed: install it (Debian, Ubuntu: " +
	"apt-get install postgresql; Fedora: dnf install postgresql-server; macOS: brew install postgresql@17)")

// places are the patterns of the folders that packages put the server in. Debian keeps it out of PATH.
var places = [...]string{
	"/usr/lib/postgresql/*/bin",
	"/usr/lib/postgresql*/bin",
	"/usr/libexec/postgresql*",
	"/usr/pgsql-*/bin",
	"/usr/local/pgsql*/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// Find returns the newest installed Postgres, or ErrNotInstalled.
func Find() (Binaries, error) {
	all := installed()
	if len(all) == 0 {
		return Binaries{}, ErrNotInstalled
	}
	return all[0], nil
}

// installed lists what is installed, newest first, one of each major version.
func installed() []Binaries {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		// A link in PATH may stand alone: initdb is sought beside the program that it points to.
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, place := range places {
		found, _ := filepath.Glob(place) // the only error is a bad pattern
		dirs = append(dirs, found...)
	}
	var all []Binaries
	for _, dir := range dirs {
		b, err := inspect(dir)
		if err != nil || b.Major < oldestMajor || slices.ContainsFunc(all, sameMajor(b)) {
			continue
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b Binaries) int { return b.Major - a.Major })
	return all
}

func sameMajor(b Binaries) func(Binaries) bool {
	return func(other Binaries) bool { return other.Major == b.Major }
}

var majorVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// inspect asks the server in dir for its version.
func inspect(dir string) (Binaries, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Binaries{}, err
	}
	if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil {
		return Binaries{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return Binaries{}, fmt.Errorf("ask %s/postgres for its version: %w", dir, err)
	}
	match := majorVersion.FindSubmatch(out)
	if match == nil {
		return Binaries{}, fmt.Errorf("%s/postgres does not tell its version", dir)
	}
	major, err := strconv.Atoi(string(match[1]))
	return Binaries{Dir: dir, Major: major}, err
}

// choose returns the newest installed server, or, for a cluster that exists already, the one of its version.
// Postgres reads no data directory of another major version.
func choose(c cluster) (Binaries, error) {
	all := installed()
	if len(all) == 0 {
		return Binaries{}, ErrNotInstalled
	}
	if c.major == 0 {
		return all[0], nil
	}
	for _, b := range all {
		if b.Major == c.major {
			return b, nil
		}
	}
	return Binaries{}, fmt.Errorf("data directory %s was made by Postgres %d, installed is %d: install Postgres %d or choose another directory",
		c.home, c.major, all[0].Major, c.major)
}
