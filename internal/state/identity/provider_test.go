package identity

import (
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/testkit/idp"
)

const resource = "https://tools.example.com/mcp/ops"

// provider is one whose tokens are for the resource.
type provider struct{ *idp.Provider }

func newProvider(t testing.TB) provider { return provider{idp.New(t)} }

// good are the claims of a token that is accepted.
func (p provider) good(changes ...any) map[string]any {
	return p.Claims(append([]any{"aud", resource}, changes...)...)
}

func (p provider) config() config.Identity {
	return config.Identity{Issuer: p.URL, Scope: "mcp:tools", Map: []config.Mapping{
		{Groups: []string{"platform"}, Role: "admin"},
		{Groups: []string{"eng"}, Profile: "ops"},
		{Client: "ci-bot", Profile: "ci"},
	}}
}

func verifier(t testing.TB, now func() time.Time, providers ...config.Identity) *Verifier {
	t.Helper()
	return New(providers, &Options{Base: "https://tools.example.com/mcp", Now: now})
}
