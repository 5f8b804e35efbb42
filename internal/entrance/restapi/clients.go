package restapi

import (
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// ClientList are the MCP clients that have come to this gateway since it started.
type ClientList struct {
	Clients []SeenClient `json:"clients"`
	Since   time.Time    `json:"since"`
	Replica string       `json:"replica,omitempty"` // which gateway this is; the others have their own lists
}

// SeenClient is an MCP client that has come. What it says about itself is not checked.
type SeenClient struct {
	Name    string    `json:"name"`
	Version string    `json:"version,omitempty"`
	Era     mcp.Era   `json:"era"`
	Profile string    `json:"profile"`
	Caller  string    `json:"principal"`
	Who     string    `json:"principal_name"`
	First   time.Time `json:"first_at"`
	Last    time.Time `json:"last_at"`
	Calls   int64     `json:"calls"`
}

// SeenClients returns the clients that have come, the last first. Callers see their own.
func (a *API) SeenClients(who access.Principal) ClientList {
	out := ClientList{Clients: []SeenClient{}, Since: a.Seen.Began(), Replica: a.Replica}
	for _, c := range a.Seen.Clients() {
		if who.MayRead() || c.Caller == who.ID {
			out.Clients = append(out.Clients, SeenClient{c.Name, c.Version, c.Era, c.Profile, c.Caller, c.CallerName, c.First, c.Last, c.Calls})
		}
	}
	return out
}

// Door is how clients of a caller come in.
type Door struct {
	URL      string   // as the configuration says; "": the address that the caller used
	Profiles []string // that the caller may use, its own first
	Keys     bool     // a key opens it
	SignIn   bool     // clients can sign in by themselves
}

// DoorFor tells how clients of the caller come in.
func (a *API) DoorFor(who access.Principal) Door {
	cfg := a.Config()
	d := Door{URL: strings.TrimRight(cfg.PublicURL, "/"), Keys: a.Keys.Any(), SignIn: len(cfg.Identity) > 0}
	own := who.OwnProfile()
	for _, p := range cfg.Profiles {
		switch {
		case p.Name == own:
			d.Profiles = append([]string{own}, d.Profiles...)
		case who.Has(p.Name):
			d.Profiles = append(d.Profiles, p.Name)
		}
	}
	return d
}
