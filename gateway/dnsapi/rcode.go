package dnsapi

import (
	"errors"

	"github.com/miekg/dns"

	"signpost/resolver/catalog"
)

// verdict is how a failure is told to a client.
type verdict struct {
	rcode int
	// info is the Extended DNS Error code (RFC 8914) that goes with it, for
	// who speaks EDNS; explained tells whether the failure's own message is
	// for clients. Without explained there is no Extended DNS Error.
	info      uint16
	explained bool
}

// verdicts is the one table from failures to answers. That a name does not
// exist needs no explanation.
var verdicts = map[catalog.Code]verdict{
	catalog.Internal:    {rcode: dns.RcodeServerFailure},
	catalog.Invalid:     {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeOther, explained: true},
	catalog.NotFound:    {rcode: dns.RcodeNameError},
	catalog.Conflict:    {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeOther, explained: true},
	catalog.Denied:      {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeProhibited, explained: true},
	catalog.Unsupported: {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeNotSupported, explained: true},
	catalog.TooLarge:    {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeOther, explained: true},
	catalog.NoPath:      {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeNoReachableAuthority, explained: true},
	catalog.Limited:     {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeOther, explained: true},
	catalog.Unavailable: {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeNotReady, explained: true},
	catalog.Unknown:     {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeNotReady, explained: true},
	catalog.Stale:       {rcode: dns.RcodeServerFailure, info: dns.ExtendedErrorCodeNoReachableAuthority, explained: true},
}

// explain gives the verdict on an error and, if there is one, the text that
// goes with it. Messages are public, causes are not.
func explain(err error) (verdict, string) {
	v := verdicts[catalog.CodeOf(err)]
	var e *catalog.Error
	if v.explained && errors.As(err, &e) {
		return v, e.Message
	}
	return v, ""
}
