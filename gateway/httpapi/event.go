package httpapi

import (
	"log/slog"
	"time"
)

// began is when a request came in, if somebody wants to know.
func (c *call) began() time.Time {
	if !c.door.log.Enabled(c.gin.Request.Context(), slog.LevelDebug) {
		return time.Time{}
	}
	return time.Now()
}

// note logs the one event of a request. It has the pattern of the path and
// nothing of the query string, in which tokens may stand.
func (c *call) note(began time.Time, err error, internal bool) {
	level := slog.LevelDebug
	if internal {
		level = slog.LevelError
	}
	ctx := c.gin.Request.Context()
	if !c.door.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("operation", c.route.op.Name),
		slog.String("method", c.gin.Request.Method),
		slog.String("route", c.gin.FullPath()),
		slog.Int("status", c.status),
		slog.Int("bytes", c.sent),
	}
	if !began.IsZero() {
		attrs = append(attrs, slog.Duration("duration", time.Since(began)))
	}
	if err != nil {
		attrs = append(attrs, slog.Any("error", err))
	}
	c.door.log.LogAttrs(ctx, level, "http request", attrs...)
}
