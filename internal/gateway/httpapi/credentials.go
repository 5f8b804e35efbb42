package httpapi

import (
	"context"
	"net/http"
)

// Credentials say who we are to one server. They are asked for every HTTP request, so they may differ by caller and be renewed.
type Credentials interface {
	// Header is what a request of the caller's carries; "" is the gateway itself. It is read-only,
	// and the same pointer while nothing has changed.
	Header(ctx context.Context, caller string) (*http.Header, error)
	// Refused is told that the server answered 401 to a request with that header. True says that it is worth sending once more.
	Refused(ctx context.Context, caller string, sent *http.Header, challenge http.Header) (again bool)
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
