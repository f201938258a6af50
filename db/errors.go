package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"signpost/resolver/catalog"
)

// The SQLSTATEs that mean something to us. All of them stand here.
const (
	stateUniqueViolation     = "23505"
	stateForeignKeyViolation = "23503"
	stateLockNotAvailable    = "55P03"
	stateDeadlock            = "40P01"
	stateSerialization       = "40001"
	stateUndefinedTable      = "42P01"
	stateInvalidSchema       = "3F000"
	stateStartingUp          = "57P03"
	stateShutdown            = "57P01"
	stateCrash               = "57P02"
	stateTooMany             = "53300"
	stateReadOnly            = "25006"
)

// passing are the states that go by themselves.
var passing = []string{
	stateStartingUp, stateShutdown, stateCrash, stateTooMany, stateReadOnly, stateLockNotAvailable, stateDeadlock, stateSerialization,
}

// classes of SQLSTATEs that one write of a group is to blame for.
var blamingClasses = map[string]bool{
	"22": true, // data exception
	"23": true, // integrity constraint violation
	"54": true, // program limit exceeded
}

// refusal is what a constraint means to whoever broke it.
type refusal struct {
	code    catalog.Code
	message string
}

var refusals = map[string]refusal{
	"checks_service":      {catalog.Invalid, "Unknown service ID for check ID"},
	"queries_session":     {catalog.Invalid, "invalid session"},
	"sessions_node":       {catalog.Invalid, "Missing node registration"},
	"queries_folded_name": {catalog.Conflict, "name aliases an existing query name"},
	"queries_catch_all":   {catalog.Conflict, "a query template with an empty name already exists"},
	"nodes_id":            {catalog.Conflict, "node ID is reserved by another node"},
	"nodes_folded_name":   {catalog.Conflict, "node name is reserved by another node"},
}

// blamesOneWrite tells whether err was raised by the contents of a write, so
// that the others of its group would have succeeded without it.
func blamesOneWrite(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && len(pg.Code) == 5 && blamingClasses[pg.Code[:2]]
}

// isServerError tells whether Postgres itself refused, so that it is certain
// that nothing was committed.
func isServerError(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Severity != "FATAL" && pg.Severity != "PANIC"
}

func hasState(err error, state string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == state
}

// public turns an error of Postgres into one for clients.
func public(err error) error {
	var known *catalog.Error
	if errors.As(err, &known) {
		return err
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return catalog.Wrap(catalog.Unavailable, err, "the catalog's database cannot be reached; nothing was changed")
	}
	if r, ok := refusals[pg.ConstraintName]; ok {
		return catalog.Wrap(r.code, err, r.message)
	}
	switch {
	case pg.Code == stateLockNotAvailable:
		return catalog.Wrap(catalog.Unavailable, err, "another transaction holds the catalog's write lock; nothing was changed")
	case blamesOneWrite(err):
		return catalog.Wrap(catalog.Invalid, err, "the database refused the write: "+pg.Message)
	}
	return catalog.Wrap(catalog.Unavailable, err, fmt.Sprintf("the catalog's database refused the write (SQLSTATE %s); nothing was changed", pg.Code))
}

// IsAway tells whether err means that the database could not be reached, so
// that trying again later may help. What the server refused is not away.
func IsAway(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return slices.Contains(passing, pg.Code)
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect) || pgconn.Timeout(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}
