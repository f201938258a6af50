package config

import "strings"

// Lookup gives an environment variable, as os.LookupEnv does.
type Lookup func(name string) (value string, ok bool)

const (
	envPrefix = "SIGNPOST_"
	envFiles  = envPrefix + "CONFIG" // stands in for --config, with commas
	maxSecret = 64 << 10             // bytes of a file named by a _FILE variable
)

// envName derives the variable of a key: SIGNPOST_ and the key in upper case
// with _ for dots, without "addresses." in front and ".url" at the end.
func envName(k key) string {
	name := strings.TrimSuffix(strings.TrimPrefix(k.name, "addresses."), ".url")
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
}

// inFilesOnly tells whether a key has no form that fits into a variable.
func inFilesOnly(k key) bool { return k.name == "federation" }

// environment lays the variables over the configuration. An empty variable
// counts as not set. Variables that belong to no key are left alone: orchestrators
// invent such names from those of services (SIGNPOST_SERVICE_HOST).
func (d *decoder) environment(env Lookup) {
	for _, k := range keys {
		if inFilesOnly(k) {
			continue
		}
		name := envName(k)
		value, _ := env(name)
		path, _ := env(name + "_FILE")
		switch {
		case value != "" && path != "":
			d.found.add(place{source: name}, k.name, "given twice, also by %s_FILE", name)
		case value != "":
			d.parse(k, place{source: name}, value)
		case path != "":
			d.secretFile(k, place{source: name + "_FILE"}, path)
		}
	}
}

// secretFile takes a value from a file, without the line ends after it.
func (d *decoder) secretFile(k key, at place, path string) {
	value, err := readBounded(path, maxSecret)
	if err != nil {
		d.found.add(at, k.name, "read %s: %s", path, reason(err))
		return
	}
	d.parse(k, at, strings.TrimRight(string(value), "\r\n"))
}
