package localpg

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeInstallation makes a folder whose postgres tells the version given.
func fakeInstallation(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho 'postgres (PostgreSQL) %s'\n", version)
	for _, name := range []string{"postgres", "initdb"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	return dir
}

func TestFindTakesTheNewest(t *testing.T) {
	dir := fakeInstallation(t, "99.3 (Debian 99.3-1)")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	found, err := Find()
	require.NoError(t, err)
	require.Equal(t, Binaries{Dir: dir, Major: 99}, found)
}

func TestFindFollowsALinkToItsFolder(t *testing.T) {
	dir, links := fakeInstallation(t, "99beta1"), t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(dir, "postgres"), filepath.Join(links, "postgres")))
	t.Setenv("PATH", links)
	found, err := Find()
	require.NoError(t, err)
	require.Equal(t, Binaries{Dir: dir, Major: 99}, found)
}

func TestTooOldServersAreNotFound(t *testing.T) {
	t.Setenv("PATH", fakeInstallation(t, "12.20"))
	for _, b := range installed() {
		require.GreaterOrEqual(t, b.Major, oldestMajor)
	}
}

func TestAnExistingClusterGetsTheServerOfItsVersion(t *testing.T) {
	newest, err := Find()
	require.NoError(t, err)
	t.Setenv("PATH", fakeInstallation(t, "99.0")+":"+os.Getenv("PATH"))
	chosen, err := choose(cluster{home: "/somewhere", major: newest.Major})
	require.NoError(t, err)
	require.Equal(t, newest, chosen)

	_, err = choose(cluster{home: "/somewhere", major: 98})
	require.EqualError(t, err, "data directory /somewhere was made by Postgres 98, installed is 99: "+
		"install Postgres 98 or choose another directory")
}
