package config

import (
	"log/slog"
	"net/url"
)

const redacted = "(redacted)"

// Secret is a token or password. It prints as "(redacted)" by every verb of
// fmt, in slog and in JSON; string(s) gives the value itself.
type Secret string

// String hides a non-empty value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the value from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the value from JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// SecretURL is a URL, or a connection string of the form "host=… user=…", that
// may carry a password. It prints without the password and without parameters,
// any of which may be secret; string(u) gives the value itself.
type SecretURL string

// String gives scheme, user, host and path of a URL, with the password hidden;
// of everything that is not a URL it shows nothing.
func (u SecretURL) String() string {
	if u == "" {
		return ""
	}
	parsed, err := url.Parse(string(u))
	if err != nil || parsed.Scheme == "" || parsed.Opaque != "" {
		return redacted
	}
	parsed.RawQuery, parsed.Fragment, parsed.RawFragment = "", "", ""
	return parsed.Redacted()
}

// GoString hides the password from %#v.
func (u SecretURL) GoString() string { return u.String() }

// LogValue hides the password from slog.
func (u SecretURL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText hides the password from JSON.
func (u SecretURL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }
