package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"signpost/gateway"
	"signpost/resolver/catalog"
)

// call is one request on its way through the door. Handlers fill in either
// body or text; the rest is the door's.
type call struct {
	door  *door
	gin   *gin.Context
	route *route

	params   params
	pretty   bool
	maxStale time.Duration // an older answer is asked for again; 0: never
	request  gateway.Request

	asked   bool // the read has begun: its headers are known
	index   catalog.Index
	contact gateway.Contact

	status int    // 0: 200
	body   []byte // JSON
	buffer *[]byte
	text   string // instead of a body
	sent   int    // bytes of the body as sent
}

// serve makes the function that gin calls for a route.
func (d *door) serve(r *route) gin.HandlerFunc {
	return func(g *gin.Context) {
		c := d.calls.Get().(*call)
		c.gin, c.route = g, r
		c.serve()
		c.release()
	}
}

func (c *call) serve() {
	began := c.began()
	err := c.run()
	if errors.Is(err, context.Canceled) && c.gin.Request.Context().Err() != nil {
		err = catalog.Wrap(catalog.Unknown, err, "the client went away") // but may still read, having closed its half only
	}
	if err != nil {
		c.refuse(err)
	}
	c.send()
	c.note(began, err, err != nil && catalog.CodeOf(err) == catalog.Internal)
}

// run reads what requests have in common and runs the handler. A panic in it
// is an internal error, which costs nobody else's connection.
func (c *call) run() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	r := c.gin.Request
	if err := checkOrigin(r); err != nil {
		return err
	}
	if err := checkPath(r.URL.Path); err != nil {
		return err
	}
	if c.route.sort != probe {
		if err := c.readCommon(r.URL); err != nil {
			return err
		}
	}
	return c.route.handle(c)
}

func (c *call) readCommon(u *url.URL) (err error) {
	if c.params, err = c.params.parse(u.RawQuery); err != nil {
		return err
	}
	if err := c.readCaller(); err != nil {
		return err
	}
	if c.route.sort == read || c.route.sort == watch {
		if err := c.readOptions(); err != nil {
			return err
		}
	}
	return c.door.isStarted()
}

// checkOrigin refuses requests that a page of another site makes in a
// browser. Programs send no Origin.
func checkOrigin(r *http.Request) error {
	origin := r.Header["Origin"]
	if len(origin) == 0 {
		return nil
	}
	u, err := url.Parse(origin[0])
	if len(origin) > 1 || err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
		return catalog.Errorf(catalog.Denied, "Permission denied: requests from pages of another origin are refused")
	}
	return nil
}

func checkPath(path string) error {
	for i := range len(path) {
		if b := path[i]; b < 0x20 || b > 0x7e {
			return checkPathText(path)
		}
	}
	return nil
}

func checkPathText(path string) error {
	if !utf8.ValidString(path) || strings.IndexFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
		return invalid("Invalid URL path: it contains characters that are not printable")
	}
	return nil
}

// rawName is the name in the path, decoded; empty if the route has none.
func (c *call) rawName() string {
	if len(c.gin.Params) == 0 {
		return ""
	}
	name := c.gin.Params[0].Value
	if c.gin.Request.URL.RawPath != "" { // gin matched the path as it was sent
		if decoded, err := url.PathUnescape(name); err == nil {
			return decoded
		}
	}
	return name
}

// name is the name in the path. what is the sort of thing it names.
func (c *call) name(what string) (string, error) {
	name := c.rawName()
	if len(name) > catalog.MaxName {
		return "", invalid("Invalid %s: longer than %d bytes", what, catalog.MaxName)
	}
	return name, nil
}

// ask runs a read and writes its answer with encode. Blocked readers who
// share a reply share its bytes, too.
func ask[P, A any](c *call, op *gateway.Read[P, A], p P, encode func(*call, []byte, A) []byte) error {
	ctx := c.gin.Request.Context()
	c.asked, c.index = true, 1
	reply, err := gateway.Ask(ctx, c.door.gateway, op, &c.request, p)
	if err == nil && c.maxStale > 0 && reply.Contact.Age > c.maxStale {
		reply, err = askFresh(ctx, c, op, p)
	}
	if err != nil {
		c.contact = c.door.gateway.Contact()
		return err
	}
	c.index, c.contact = reply.Index, reply.Contact
	if c.request.MinIndex == 0 {
		c.buffer = c.door.buffers.Get().(*[]byte)
		c.body = encode(c, (*c.buffer)[:0], reply.Value)
		*c.buffer = c.body
		return nil
	}
	written := reply.Encoded.Load()
	if written == nil {
		b := encode(c, nil, reply.Value)
		written = &b
		reply.Encoded.Store(written)
	}
	c.body = *written
	return nil
}

// askFresh repeats a read whose answer is older than the caller allows, as a
// leader would answer it: with everything that was committed, or not at all.
func askFresh[P, A any](ctx context.Context, c *call, op *gateway.Read[P, A], p P) (*gateway.Reply[A], error) {
	request := c.request
	request.Consistency = gateway.Consistent
	c.request.Consistency = gateway.Default // as which it is reported
	return gateway.Ask(ctx, c.door.gateway, op, &request, p)
}

// do runs a write.
func do[P, A any](c *call, op *gateway.Change[P, A], p P) (A, error) {
	return gateway.Do(c.gin.Request.Context(), c.door.gateway, op, &c.request, p)
}

// refuse turns an error into its status and text.
func (c *call) refuse(err error) {
	c.body = nil
	c.status, c.text = statusOf(catalog.CodeOf(err)), "internal error"
	var known *catalog.Error
	if errors.As(err, &known) && known.Code != catalog.Internal {
		c.text = oneLine(known.Message)
	}
}

// release empties the call for the next request.
func (c *call) release() {
	const longList = 64
	if c.buffer != nil {
		c.door.putBuffer(c.buffer)
	}
	kept := c.params[:0]
	if cap(kept) > longList {
		kept = nil
	}
	clear(kept[:cap(kept)])
	d := c.door
	*c = call{door: d, params: kept}
	d.calls.Put(c)
}

// putBuffer keeps a buffer for later, unless it has become large.
func (d *door) putBuffer(b *[]byte) {
	const large = 256 << 10
	if cap(*b) <= large {
		d.buffers.Put(b)
	}
}
