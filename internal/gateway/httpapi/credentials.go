package httpapi

import (
	"context"
	"net/http"
)

// Credentials authenticate us to one server. They are looked up for every HTTP request, so they may differ by caller and be renewed.
type Credentials interface {
	// Header returns the headers for a caller's request; "" is the gateway itself. It is read-only,
	// and the same pointer while nothing has changed.
	Header(ctx context.Context, caller string) (*http.Header, error)
	// Refused is called when the server answered 401 to a request with that header. True: retry once.
	Refused(ctx context.Context, caller string, sent *http.Header, challenge http.Header) (again bool)
}

// SignIns are credentials for which somebody signs in.
type SignIns interface {
	// Rejected is called when the server has refused a request with that header for good: with 401, or with 403.
	// It returns the error if somebody has to sign in, again or for more; nil: that would not help.
	Rejected(ctx context.Context, caller string, sent *http.Header, status int, challenge http.Header) error
}

// Static are credentials that never change: headers from the configuration.
func Static(headers map[string]string) Credentials {
	header := make(http.Header, len(headers))
	for name, value := range headers {
		header.Set(name, value)
	}
	return static{&header}
}

type static struct{ header *http.Header }

func (s static) Header(context.Context, string) (*http.Header, error) { return s.header, nil }

func (static) Refused(context.Context, string, *http.Header, http.Header) bool { return false }
