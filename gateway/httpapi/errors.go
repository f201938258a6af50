package httpapi

import (
	"net/http"
	"strings"
	"unicode"

	"signpost/resolver/catalog"
)

// statuses maps every code of the one error type. Refusals that the reference
// answers with 500 although the request is at fault are 400 here.
var statuses = map[catalog.Code]int{
	catalog.Internal:    http.StatusInternalServerError,
	catalog.Invalid:     http.StatusBadRequest,
	catalog.NotFound:    http.StatusNotFound,
	catalog.Conflict:    http.StatusConflict,
	catalog.Denied:      http.StatusForbidden,
	catalog.Unsupported: http.StatusBadRequest,
	catalog.TooLarge:    http.StatusRequestEntityTooLarge,
	catalog.NoPath:      http.StatusBadRequest,
	catalog.Limited:     http.StatusTooManyRequests,
	catalog.Unavailable: http.StatusServiceUnavailable,
	catalog.Unknown:     http.StatusServiceUnavailable,
	catalog.Stale:       http.StatusServiceUnavailable,
}

func statusOf(code catalog.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// oneLine replaces what would break a line or a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}
