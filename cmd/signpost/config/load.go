package config

import (
	"errors"
	"strings"
)

// Load puts the configuration together: defaults, files, environment, command
// line, each over the ones before, then normalised and validated. The error is
// every *Fault of all of them joined, one line each; a Config comes with it
// only if there is none.
func Load(flags Flags, env Lookup) (Config, error) {
	c := Default()
	var found faults
	d := newDecoder(&c, &found)
	paths := flags.Paths
	if len(paths) == 0 {
		value, _ := env(envFiles)
		paths = split(value)
	}
	d.files(paths)
	d.environment(env)
	d.commandLine(flags)

	c.normalise()
	var invalid faults
	c.validate(&invalid)
	c.checkRequired(flags.Required, &invalid)
	for _, err := range invalid {
		var fault *Fault
		if errors.As(err, &fault) {
			fault.Place = d.origin(fault.Key).String()
		}
	}
	if err := append(found, invalid...).joined(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// normalise brings names that mean the same into one form.
func (c *Config) normalise() {
	c.Datacenter = strings.ToLower(c.Datacenter)
	c.Domain = strings.ToLower(strings.TrimSuffix(c.Domain, "."))
	c.AltDomain = strings.ToLower(strings.TrimSuffix(c.AltDomain, "."))
	if c.Limits.RateLimit.Mode == "" { // the reference's other name for it
		c.Limits.RateLimit.Mode = "disabled"
	}
}

// checkRequired reports the named keys that are empty.
func (c *Config) checkRequired(names []string, found *faults) {
	for _, name := range names {
		k, _ := findKey(name)
		if format(k.field(c)) != "" {
			continue
		}
		ways := envName(k) + " or a file"
		if flag := flagOf(k); flag != "" {
			ways = "--" + flag + ", " + ways
		}
		found.add(place{}, name, "must be given (%s)", ways)
	}
}
