package catalog

import (
	"errors"
	"fmt"
)

// Code is the sort of a failure. Each door has one table from codes to its
// own statuses.
type Code uint8

// The codes. Internal is the zero value, so that a forgotten code leaks no
// text to clients.
const (
	Internal    Code = iota
	Invalid          // the request cannot be right as it is
	NotFound         // what it names does not exist
	Conflict         // it contradicts what is stored
	Denied           // the caller may not
	Unsupported      // a feature that is switched off
	TooLarge         // over a size limit
	NoPath           // another datacenter that is unknown or out of reach
	Limited          // over a rate limit
	Unavailable      // Postgres cannot be asked; nothing was changed
	Unknown          // Postgres went away during the commit; it may have happened
	Stale            // the memory is older than postgres.max_stale
	numCodes
)

var codeNames = [numCodes]string{
	"internal", "invalid", "not found", "conflict", "denied", "unsupported",
	"too large", "no path", "limited", "unavailable", "outcome unknown", "stale",
}

func (c Code) String() string {
	if c < numCodes {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Codes lists every code, for tests that a table is complete.
func Codes() []Code {
	out := make([]Code, numCodes)
	for i := range out {
		out[i] = Code(i)
	}
	return out
}

// Error is the one error type that crosses packages. Message is shown to
// clients as it stands: one line, and nothing secret. Cause is for the log.
type Error struct {
	Code    Code
	Message string
	Cause   error
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an Error from a cause that clients do not see.
func Wrap(code Code, cause error, message string) *Error {
	return &Error{Code: code, Message: message, Cause: cause}
}

// CodeOf tells the code of err: Internal unless an Error is in its chain.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

// ErrQueryNotFound has the text that clients match on
// (reference, prepared queries, section 2).
var ErrQueryNotFound = &Error{Code: NotFound, Message: "Query not found"}

// NoSuchQuery is the error of an update or a removal of a prepared query that
// does not exist (reference, prepared queries, section 2).
func NoSuchQuery(id string) error {
	return Errorf(NotFound, "Cannot modify non-existent prepared query: '%s'", id)
}
