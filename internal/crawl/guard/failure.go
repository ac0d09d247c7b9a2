package guard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// A Kind is what went wrong with a fetch.
type Kind string

// The kinds of failure.
const (
	BadAddress       Kind = "bad_address"        // not an http or https address, or one with a password in it
	BlockedAddress   Kind = "blocked_address"    // not on the public web
	BlockedPort      Kind = "blocked_port"       // not a web port
	NoSuchHost       Kind = "no_such_host"       // DNS has no address for the name
	DNS              Kind = "dns"                // DNS did not answer, or answered nonsense
	Refused          Kind = "refused"            // nothing listens there
	Unreachable      Kind = "unreachable"        // no connection for another reason
	Overloaded       Kind = "overloaded"         // the host keeps answering that it has too much to do
	Timeout          Kind = "timeout"            // not done within the time limit
	Reset            Kind = "reset"              // the server broke the connection
	TLSExpired       Kind = "tls_expired"        // the certificate is out of date
	TLSName          Kind = "tls_name"           // the certificate is for another host
	TLSAuthority     Kind = "tls_authority"      // the certificate is signed by nobody known
	TLSVersion       Kind = "tls_version"        // the server speaks only outdated TLS
	TLS              Kind = "tls"                // another failure of the secure connection
	Protocol         Kind = "protocol"           // the answer is not HTTP
	HeaderTooLarge   Kind = "header_too_large"   // the headers exceed the limit
	BodyTooLarge     Kind = "body_too_large"     // the body exceeds the limit
	Encoding         Kind = "encoding"           // the body is compressed in a way that was not asked for, or is broken
	Incomplete       Kind = "incomplete"         // the body is shorter than announced
	RedirectLoop     Kind = "redirect_loop"      // a redirect leads back
	TooManyRedirects Kind = "too_many_redirects" // more than the limit
	BadRedirect      Kind = "bad_redirect"       // a redirect leads nowhere, or to what is not http or https
	Robots           Kind = "robots"             // robots.txt disallows it
	Canceled         Kind = "canceled"           // the caller stopped
)

// A Failure is why a fetch has no usable end.
type Failure struct {
	Kind Kind
	Text string // one sentence for people
	Err  error  // the cause, for logs; may be nil
}

// Error is the sentence.
func (f *Failure) Error() string { return f.Text }

// Unwrap is the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Down says that no answer came at all: the host may be down, and asking it for more is of little use.
func (f *Failure) Down() bool {
	switch f.Kind {
	case NoSuchHost, DNS, Refused, Unreachable, Timeout, Reset, TLSExpired, TLSName, TLSAuthority, TLSVersion, TLS, BlockedAddress, BlockedPort:
		return true
	}
	return false
}

func fail(kind Kind, text string, err error) *Failure {
	return &Failure{Kind: kind, Text: text, Err: err}
}

// explain turns the error of a connection, a request or a body into a failure. The caller's context says whether it has
// stopped, the one within whether the time was up.
func explain(ctx, within context.Context, err error) *Failure {
	if ctx.Err() != nil {
		return fail(Canceled, "the fetch was stopped", err)
	}
	for _, find := range []func(error) *Failure{explainGuard, explainTLS, explainDNS, explainAnswer} {
		if f := find(err); f != nil {
			return f
		}
	}
	var timeout net.Error
	switch {
	case within.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fail(Timeout, "the server did not finish its answer in time", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail(Refused, "the server refused the connection", err)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), strings.Contains(err.Error(), "server closed"):
		return fail(Reset, "the server broke off the connection", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fail(Incomplete, "the answer ended before it was complete", err)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return fail(Unreachable, "the server could not be reached", err)
	}
	return fail(Protocol, "the answer is not valid HTTP", err)
}

func explainGuard(err error) *Failure {
	switch {
	case errors.Is(err, errAddress):
		return fail(BlockedAddress, "the address is not on the public web and is not reached from here", err)
	case errors.Is(err, errPort):
		return fail(BlockedPort, "the port is not a web port and is not reached from here", err)
	}
	return nil
}

func explainTLS(err error) *Failure {
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var authority x509.UnknownAuthorityError
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fail(TLSExpired, "the certificate has expired or is not yet valid", err)
	case errors.As(err, &name):
		return fail(TLSName, "the certificate is for another host", err)
	case errors.As(err, &authority):
		return fail(TLSAuthority, "the certificate is not signed by an authority that browsers trust", err)
	case strings.Contains(err.Error(), "protocol version"):
		return fail(TLSVersion, "the server offers only outdated versions of TLS", err)
	case errors.As(err, &verification), errors.As(err, &record), errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return fail(TLS, "the secure connection failed", err)
	}
	return nil
}

func explainDNS(err error) *Failure {
	var dns *net.DNSError
	switch {
	case !errors.As(err, &dns):
		return nil
	case dns.IsNotFound:
		return fail(NoSuchHost, "there is no such host", err)
	}
	return fail(DNS, "the host's name could not be looked up", err)
}

// explainAnswer knows what net/http tells only in words.
func explainAnswer(err error) *Failure {
	text := err.Error()
	switch {
	case strings.Contains(text, "response headers exceeded"), strings.Contains(text, "header list larger"), strings.Contains(text, "too many 1xx"):
		return fail(HeaderTooLarge, "the headers of the answer are too large", err)
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return fail(TLS, "the server speaks http where https was asked for", err)
	}
	return nil
}
