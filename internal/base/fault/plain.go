package fault

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// Plain returns an error of the system or the network without the operation, address and package
// that Go puts before it. It unwraps to err.
func Plain(err error) error { return plain{inWords(err), err} }

type plain struct {
	text  string
	cause error
}

func (p plain) Error() string { return p.text }
func (p plain) Unwrap() error { return p.cause }

func inWords(err error) string {
	if scheme := SpokenScheme(err); scheme != "" {
		return "it speaks " + scheme
	}
	var name *net.DNSError
	var number syscall.Errno
	var timed net.Error
	switch {
	case err == context.Canceled: // not one with a cause
		return "the caller has left"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		return "no answer in time"
	case errors.As(err, &name):
		return "its host name is not known"
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "the connection was closed"
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	text := err.Error()
	for _, prefix := range []string{"net/http: ", "http: ", "tls: failed to verify certificate: ", "tls: ", "x509: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// SpokenScheme returns the scheme that the peer speaks, http or https, when err says that the
// other one was used; else "".
func SpokenScheme(err error) string {
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return "http"
	case err != nil && strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`): // a TLS alert
		return "https"
	}
	return ""
}
