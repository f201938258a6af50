package main

import (
	"io"
	"log/slog"
)

// newLogger writes one text line per record to w, from the level on. The
// LevelVar changes the level of the logger while it is in use.
func newLogger(w io.Writer, level slog.Level) (*slog.Logger, *slog.LevelVar) {
	variable := new(slog.LevelVar)
	variable.Set(level)
	handler := slog.NewTextHandler(w, &slog.HandlerOptions{Level: variable})
	return slog.New(handler), variable
}
