package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
)

// follow decides about a redirect. Only read requests are redirected: others could run twice, or as another method.
func follow(r *http.Request, via []*http.Request) error {
	if method := via[0].Method; method != http.MethodGet && method != http.MethodHead {
		return http.ErrUseLastResponse
	}
	return origin.Redirect(r, via)
}

// explain says why a request got no answer. The address is left out: it may contain a key.
func explain(ctx context.Context, who string, err error) error {
	var f *fault.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &f):
		return fault.New(f.Code, "%s: %s", who, f.Message).WithHint("%s", f.Hint)
	}
	down := fault.New(fault.UpstreamDown, "%s cannot be reached: %w", who, fault.Plain(err))
	if scheme := fault.SpokenScheme(err); scheme != "" {
		down = down.WithHint("write %s:// in its address", scheme)
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		down = down.Unsent() // there was no connection to act on
	}
	return down
}
