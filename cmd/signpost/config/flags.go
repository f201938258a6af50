package config

import (
	"slices"

	"github.com/spf13/pflag"
)

// Flags is what a command line says about the configuration.
type Flags struct {
	Paths    []string          // --config, in order
	Values   map[string]string // by key name, only what was given
	Required []string          // key names that must be given somehow
}

// flag names a key on the command line.
type flag struct{ name, key, usage string }

// commonFlags are the flags of the commands that run a gateway.
var commonFlags = []flag{
	{"http", "addresses.http", "answer HTTP on `ADDR`"},
	{"dns", "addresses.dns", "answer DNS on `ADDR`, udp and tcp"},
	{"domain", "domain", "answer DNS below the `DOMAIN`"},
	{"datacenter", "datacenter", "be part of the datacenter `DC`"},
	{"postgres", "postgres.url", "keep the catalog in the Postgres at `URL`"},
	{"data-dir", "data_dir", "keep data in `DIR`"},
	{"log-level", "log_level", "log from `LEVEL` on: debug, info, warn, error"},
}

// AddFlags declares --config and the common flags, or of them only those named,
// and returns where their values will be after parsing.
func AddFlags(set *pflag.FlagSet, only ...string) *Flags {
	flags := &Flags{Values: map[string]string{}}
	set.StringArrayVar(&flags.Paths, "config", nil, "read the file, or the .hcl and .json files of the directory, at `PATH` (repeatable)")
	defaults := Default()
	for _, f := range commonFlags {
		if len(only) > 0 && !slices.Contains(only, f.name) {
			continue
		}
		k, _ := findKey(f.key) // a test holds that every flag has its key
		set.Var(&flagValue{flags, f.key}, f.name, f.usage)
		set.Lookup(f.name).DefValue = format(k.field(&defaults))
	}
	return flags
}

// flagValue stores a flag under the name of its key.
type flagValue struct {
	flags *Flags
	key   string
}

func (v *flagValue) Set(s string) error { v.flags.Values[v.key] = s; return nil }
func (v *flagValue) Type() string       { return "string" }
func (v *flagValue) String() string     { return "" }

// commandLine lays the flags over the configuration.
func (d *decoder) commandLine(flags Flags) {
	for _, k := range keys {
		if value, given := flags.Values[k.name]; given {
			d.parse(k, place{source: "--" + flagOf(k)}, value)
		}
	}
}

// flagOf gives the flag of a key, empty if it has none.
func flagOf(k key) string {
	for _, f := range commonFlags {
		if f.key == k.name {
			return f.name
		}
	}
	return ""
}
