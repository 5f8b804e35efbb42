package access_test

import (
	"testing"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
)

func TestSees(t *testing.T) {
	cases := []struct {
		name    string
		profile config.Profile
		want    bool // of server cloud's tool delete_env
	}{
		{"a profile without servers sees nothing", config.Profile{}, false},
		{"all servers", config.Profile{All: true}, true},
		{"the named server", config.Profile{Servers: []tool.ServerID{"files", "cloud"}}, true},
		{"another server", config.Profile{Servers: []tool.ServerID{"files"}}, false},
		{"allowed by name", config.Profile{All: true, Allow: []string{"cloud__delete_env"}}, true},
		{"allowed by a glob", config.Profile{All: true, Allow: []string{"x", "cloud__*"}}, true},
		{"not among what is allowed", config.Profile{All: true, Allow: []string{"cloud__list*"}}, false},
		{"globs match the whole name", config.Profile{All: true, Allow: []string{"delete_env"}}, false},
		{"denied", config.Profile{All: true, Deny: []string{"*delete*"}}, false},
		{"deny wins over allow", config.Profile{All: true, Allow: []string{"*"}, Deny: []string{"cloud__*"}}, false},
		{"allow does not add a server", config.Profile{Servers: []tool.ServerID{"files"}, Allow: []string{"*"}}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := access.Sees(c.profile, "cloud", "cloud__delete_env"); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
