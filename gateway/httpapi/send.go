package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const (
	indentation = "    "
	gzipFrom    = 1400 // bytes; less is not worth it
)

// send writes the answer: headers first, then text or body.
// Source: reference, http conventions, sections 3 and 11.
func (c *call) send() {
	h := c.gin.Writer.Header() // empty until now, so that a blocked reader is small
	c.door.commonHeaders(h)
	if c.asked && (c.route.sort == read || c.route.sort == watch) {
		c.readHeaders(h)
	}
	body := c.body
	switch {
	case c.text != "":
		h["Content-Type"] = valueText
		body = []byte(c.text)
	default:
		h["Content-Type"] = valueJSON
		if c.pretty {
			body = indent(body)
		}
	}
	if len(body) >= gzipFrom && wantsGzip(c.gin.Request.Header) {
		z := c.door.zippers.Get().(*zipper)
		defer c.door.zippers.Put(z)
		body = z.compress(body)
		h["Content-Encoding"] = valueGzip
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	if c.status == 0 {
		c.status = http.StatusOK
	}
	c.gin.Status(c.status)
	c.gin.Writer.WriteHeaderNow()
	c.sent = len(body)
	if len(body) > 0 {
		_, _ = c.gin.Writer.Write(body) // a client that is gone needs no answer
	}
}

func indent(body []byte) []byte {
	if len(body) == 0 {
		return body
	}
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", indentation); err != nil {
		return body
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// wantsGzip tells whether the client accepts gzip. Weights other than zero
// are all the same.
func wantsGzip(h http.Header) bool {
	for _, value := range h["Accept-Encoding"] {
		for coding := range strings.SplitSeq(value, ",") {
			name, weight, _ := strings.Cut(coding, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") {
				return !isZeroWeight(weight)
			}
		}
	}
	return false
}

func isZeroWeight(weight string) bool {
	number, ok := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
	if !ok {
		return false
	}
	q, err := strconv.ParseFloat(number, 64)
	return err == nil && q == 0
}

// zipper compresses into a buffer of its own, at the cheapest level.
type zipper struct {
	w   *gzip.Writer
	out bytes.Buffer
}

func newZipper() *zipper {
	z := &zipper{}
	z.w, _ = gzip.NewWriterLevel(&z.out, gzip.BestSpeed) // fails for unknown levels only
	return z
}

// compress gives bytes that are valid until the zipper is used again.
func (z *zipper) compress(b []byte) []byte {
	z.out.Reset()
	z.w.Reset(&z.out)
	_, _ = z.w.Write(b) // a buffer takes everything
	_ = z.w.Close()
	return z.out.Bytes()
}
