package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// parse sets a field from text, as the environment and the command line give
// it. Lists are separated by commas; pairs are name=duration. The error says
// what was expected and does not quote the text, which may be secret.
func parse(target any, s string) error {
	switch t := target.(type) {
	case *string:
		*t = s
	case *Secret:
		*t = Secret(s)
	case *SecretURL:
		*t = SecretURL(s)
	case *bool:
		return parseBool(t, s)
	case *int:
		return parseInt(t, s)
	case *Seconds:
		return parseSeconds(t, s)
	case *float64:
		return parseRate(t, s)
	case *time.Duration:
		return parseDuration(t, s)
	case *slog.Level:
		return parseLevel(t, s)
	case *[]string:
		*t = split(s)
	case *[]netip.Prefix:
		return parsePrefixes(t, split(s))
	case *map[string]time.Duration:
		return parsePairs(t, split(s))
	default:
		return errors.New("can be given only in a file")
	}
	return nil
}

// assign sets a field from a scalar or list of a file. Numbers, true and false
// may stand in quotes; text without quotes is no text.
func assign(target any, n node) error {
	switch t := target.(type) {
	case *[]string:
		items, err := n.texts()
		if err == nil {
			*t = items
		}
		return err
	case *[]netip.Prefix:
		items, err := n.texts()
		if err != nil {
			return err
		}
		return parsePrefixes(t, items)
	}
	also := text
	switch target.(type) {
	case *bool:
		also = truth
	case *int, *Seconds, *float64:
		also = number
	}
	if n.kind == text || n.kind == also {
		return parse(target, n.text)
	}
	if _, isDuration := target.(*time.Duration); isDuration {
		return errDuration
	}
	return fmt.Errorf("expected %s, not %s", also, n.kind)
}

// texts gives the items of a list of texts.
func (n node) texts() ([]string, error) {
	if n.kind != list {
		return nil, fmt.Errorf("expected a list of texts, not %s", n.kind)
	}
	var items []string
	for _, item := range n.items {
		if item.kind != text {
			return nil, fmt.Errorf("expected a list of texts, not with %s in it", item.kind)
		}
		items = append(items, item.text)
	}
	return items, nil
}

func split(s string) []string {
	var items []string
	for item := range strings.SplitSeq(s, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func parseBool(t *bool, s string) error {
	if s != "true" && s != "false" {
		return errors.New("expected true or false")
	}
	*t = s == "true"
	return nil
}

func parseInt(t *int, s string) error {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return errors.New("expected a whole number")
	}
	*t = int(n)
	return nil
}

func parseSeconds(t *Seconds, s string) error {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return errors.New("expected a whole number of seconds, 0 to 2147483647")
	}
	*t = Seconds(n)
	return nil
}

func parseRate(t *float64, s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return errors.New("expected a number")
	}
	*t = n
	return nil
}

var errDuration = errors.New(`expected a duration in quotes, such as "10s" or "72h"`)

func parseDuration(t *time.Duration, s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		return errDuration
	}
	*t = d
	return nil
}

func parseLevel(t *slog.Level, s string) error {
	switch strings.ToLower(s) {
	case "debug":
		*t = slog.LevelDebug
	case "info":
		*t = slog.LevelInfo
	case "warn":
		*t = slog.LevelWarn
	case "error":
		*t = slog.LevelError
	default:
		return errors.New("expected debug, info, warn or error")
	}
	return nil
}

// parsePrefixes reads addresses and CIDR blocks; an address stands for itself.
func parsePrefixes(t *[]netip.Prefix, items []string) error {
	var prefixes []netip.Prefix
	for _, item := range items {
		prefix, err := netip.ParsePrefix(item)
		if address, ferr := netip.ParseAddr(item); ferr == nil && address.Zone() == "" {
			address = address.Unmap()
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return fmt.Errorf("%s is neither an address nor a CIDR block", shown(item))
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	*t = prefixes
	return nil
}

// parsePairs adds name=duration pairs to a map.
func parsePairs(t *map[string]time.Duration, items []string) error {
	for _, item := range items {
		name, value, found := strings.Cut(item, "=")
		var d time.Duration
		if !found || parseDuration(&d, value) != nil {
			return errors.New("expected name=duration pairs with commas between, such as web=10s,*=5s")
		}
		put(t, name, d)
	}
	return nil
}

// put sets one entry of a map that may be nil.
func put[V any](t *map[string]V, name string, value V) {
	if *t == nil {
		*t = map[string]V{}
	}
	(*t)[name] = value
}

// isSecret tells whether the field may not be shown as it is.
func isSecret(target any) bool {
	switch target.(type) {
	case *Secret, *SecretURL:
		return true
	}
	return false
}
