package access

import (
	"context"
	"strings"
)

// Sent is the token of an identity provider that a caller has sent with a request. It is in the context of that
// request alone: it is never stored, and whoever goes on with a call later has none.
type Sent struct {
	Owner  string // the principal
	Issuer string
	Text   string
}

type sentKey struct{}

// WithSent adds a caller's token to the context of its request.
func WithSent(ctx context.Context, s Sent) context.Context {
	if s.Text == "" {
		return ctx
	}
	return context.WithValue(ctx, sentKey{}, s)
}

// SentWith is the token that came with a request; the zero value if none did.
func SentWith(ctx context.Context) Sent {
	s, _ := ctx.Value(sentKey{}).(Sent)
	return s
}

// IsOurs tells whether a text can be a key or a local secret, which no identity provider knows.
func IsOurs(text string) bool {
	return strings.HasPrefix(text, keyPrefix) || strings.HasPrefix(text, secretPrefix)
}
