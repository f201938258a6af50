package catalog

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a length of time that clients write as text with a unit
// ("10s") or as a number of nanoseconds, and read as text.
// Source: reference, http conventions, section 10.
type Duration time.Duration

// MarshalJSON writes the text form.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads either form; null and "" are zero.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*d = 0
	case float64:
		*d = Duration(v)
	case string:
		if v == "" {
			*d = 0
			return nil
		}
		parsed, err := time.ParseDuration(v)
		if err != nil {
			return err
		}
		*d = Duration(parsed)
	default:
		return fmt.Errorf("a duration is text with a unit or a number of nanoseconds, not %s", b)
	}
	return nil
}
