package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is whom the server runs under. Postgres refuses to run as root.
type account struct {
	name     string
	uid, gid uint32
	// foreign reports that it is another account than this process's own: files must be given to it.
	foreign bool
}

// unprivileged returns this process's own account, or, for root, postgres where it exists, else nobody.
func unprivileged() (account, error) {
	if uid := os.Geteuid(); uid != 0 {
		return account{name: strconv.Itoa(uid), uid: uint32(uid), gid: uint32(os.Getegid())}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 != nil || err2 != nil || uid == 0 {
			continue
		}
		return account{name: name, uid: uint32(uid), gid: uint32(gid), foreign: true}, nil
	}
	return account{}, errors.New("postgres refuses to run as root, and there is neither an account postgres nor nobody to run it under")
}

// credential is what exec needs; nil for this process's own account.
func (a account) credential() *syscall.Credential {
	if !a.foreign {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// own gives path and all below it to the account, which costs a walk only when path is not the account's yet.
// Path itself comes last: a walk that was cut short is done again.
func (a account) own(path string) error {
	if !a.foreign || a.owns(path) {
		return nil
	}
	err := filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || name == path {
			return err
		}
		return os.Lchown(name, int(a.uid), int(a.gid))
	})
	if err != nil {
		return err
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

func (a account) owns(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == a.uid
}

// enters checks that the account may pass through every folder above path. Root's own home is closed to others,
// and what Postgres says about that does not name the folder.
func (a account) enters(path string) error {
	if !a.foreign {
		return nil
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		need := fs.FileMode(0o001)
		switch {
		case stat.Uid == a.uid:
			need = 0o100
		case stat.Gid == a.gid:
			need = 0o010
		}
		if info.Mode().Perm()&need == 0 {
			return fmt.Errorf("%s cannot be reached by account %s, which Postgres runs under: %s is closed to it (mode %04o)",
				path, a.name, dir, info.Mode().Perm())
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
