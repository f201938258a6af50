package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"signpost/resolver/catalog"
)

// Limits of bodies.
const (
	maxBody  = 2 << 20 // bytes
	maxDepth = 32      // lists and objects in each other
	bodyTime = 30 * time.Second
)

// decode reads a body of JSON into a struct. Keys match without case, unknown
// ones are refused, and what follows the first value is ignored.
// Source: reference, http conventions, section 10.
func decode(c *call, into any) error {
	empty, err := decodeOptional(c, into)
	if err == nil && empty {
		return undecodable(io.EOF)
	}
	return err
}

// decodeOptional is decode for bodies that may be empty.
func decodeOptional(c *call, into any) (empty bool, err error) {
	body := c.door.buffers.Get().(*[]byte)
	defer c.door.putBuffer(body)
	if *body, err = c.readBody((*body)[:0]); err != nil {
		return false, err
	}
	text := bytes.TrimLeft(*body, " \t\r\n")
	if len(text) == 0 {
		return true, nil
	}
	if err := checkText(text); err != nil {
		return false, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return false, undecodable(err)
	}
	return false, nil
}

func undecodable(err error) error { return invalid("Request decode failed: %s", err) }

// readBody appends the body to b. It must come within bodyTime.
func (c *call) readBody(b []byte) ([]byte, error) {
	r := c.gin.Request
	if r.ContentLength > maxBody {
		return b, tooLarge(r.ContentLength)
	}
	deadline := http.NewResponseController(c.gin.Writer)
	_ = deadline.SetReadDeadline(time.Now().Add(bodyTime)) // not every writer of a test can
	buf := bytes.NewBuffer(b)
	_, err := buf.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	_ = deadline.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		return buf.Bytes(), catalog.Wrap(catalog.Invalid, err, "Request decode failed: the body could not be read")
	case buf.Len() > maxBody:
		return buf.Bytes(), tooLarge(int64(buf.Len()))
	}
	return buf.Bytes(), nil
}

func tooLarge(size int64) error {
	return catalog.Errorf(catalog.TooLarge, "Request body(%d bytes) too large, max size: %d bytes.", size, maxBody)
}

// checkText refuses what must not reach the decoder, or the database.
func checkText(text []byte) error {
	if err := catalog.ValidateText(text); err != nil {
		return err
	}
	if bytes.HasPrefix(text, []byte("null")) {
		return undecodable(errors.New("the body is null"))
	}
	return checkDepth(text)
}

// checkDepth refuses lists and objects that are nested too deep, without
// decoding anything. Text that is no JSON at all passes.
func checkDepth(text []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '[' || b == '{':
			if depth++; depth > maxDepth {
				return invalid("Request decode failed: nested deeper than %d levels", maxDepth)
			}
		case b == ']' || b == '}':
			depth--
		}
	}
	return nil
}
