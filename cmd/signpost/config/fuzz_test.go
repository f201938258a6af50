package config

import (
	"strings"
	"testing"
)

// FuzzFile holds that no text panics the readers or what comes behind them,
// that errors are faults with a place, and that what is accepted prints.
func FuzzFile(f *testing.F) {
	for _, k := range keys {
		f.Add([]byte(asHCL(k.name, samples[k.name].literal)), false)
		f.Add([]byte(asJSON(k.name, samples[k.name].literal)), true)
	}
	for _, src := range []string{
		"limits { rate_limit { mode = \"x\" } request_limits = [{}] }", "a = <<E\nx\nE\n", "a = <<-E\n x\n E\n", "a \"b\" c {}",
		"a = [[1], {b = -0x1F}, .5e-3, 017]", "/* */ a = \"${b(\"c\")} \\u00e9 \\777\" // d", "a = [{", "\x00", "}", "a = -", "federation = [null]",
	} {
		f.Add([]byte(src), false)
	}
	for _, src := range []string{`{"acl":[{"enabled":null},{}]}`, `[`, `{"a":{"a":1}}`, `1e999`, `{"federation":{"":{"":null}}}`} {
		f.Add([]byte(src), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, isJSON bool) {
		name := "fuzz.hcl"
		if isJSON {
			name = "fuzz.json"
		}
		c := Default()
		var found faults
		d := newDecoder(&c, &found)
		top, err := parseSource(name, src)
		if err != nil {
			if !strings.HasPrefix(err.Error(), name+":") {
				t.Fatalf("no place in %q", err)
			}
			return
		}
		d.file(top)
		c.normalise()
		c.validate(&found)
		if err := found.joined(); err != nil {
			_ = err.Error()
		}
		if _, err := parseSource(name, src); err != nil {
			t.Fatalf("accepted once, then refused: %v", err)
		}
		if c.String() == "" {
			t.Fatal("no text")
		}
	})
}
