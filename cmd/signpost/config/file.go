package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxFileSize bounds a configuration file, in bytes.
const maxFileSize = 2 << 20

// files lays every file of the paths over the configuration, in their order.
// A directory stands for its *.hcl and *.json files in lexical order.
func (d *decoder) files(paths []string) {
	for _, path := range paths {
		names, err := filesOf(path)
		if err != nil {
			d.found.add(place{source: path}, "", "%s", reason(err))
			continue
		}
		for _, name := range names {
			top, err := readFile(name)
			if err != nil {
				*d.found = append(*d.found, err)
				continue
			}
			d.file(top)
		}
	}
}

// filesOf expands a directory; a file stands for itself. Hidden files are left
// out, as a shell's *.hcl leaves them out.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		name := filepath.Join(path, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") || !isConfig(name) {
			continue
		}
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

func isConfig(name string) bool {
	ending := filepath.Ext(name)
	return ending == ".hcl" || ending == ".json"
}

// readFile parses one file by its ending. An error is one or more *Fault.
func readFile(name string) (node, error) {
	fault := func(problem string) (node, error) {
		return node{}, &Fault{Place: name, Problem: problem}
	}
	if !isConfig(name) {
		return fault("a file must end in .hcl or .json")
	}
	src, err := readBounded(name, maxFileSize)
	if err != nil {
		return fault(reason(err))
	}
	return parseSource(name, src)
}

// parseSource parses text by the ending of its name.
func parseSource(name string, src []byte) (node, error) {
	if line, ok := firstInvalid(src); !ok {
		return node{}, &Fault{Place: place{name, line}.String(), Problem: "not UTF-8 text"}
	}
	if filepath.Ext(name) == ".json" {
		return parseJSON(name, src)
	}
	return parseHCL(name, src)
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name) // before opening, which would wait at a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(src)) > limit {
		err = fmt.Errorf("larger than %d bytes", limit)
	}
	return src, err
}

// firstInvalid gives the line of the first byte that is not UTF-8.
func firstInvalid(src []byte) (line int, ok bool) {
	line = 1
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		if r == utf8.RuneError && size == 1 {
			return line, false
		}
		if r == '\n' {
			line++
		}
		src = src[size:]
	}
	return line, true
}

// reason leaves the path out of an error of the file system, since the place of
// the fault says it already.
func reason(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}
