package oauth

import (
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// storm is whose new tokens a server has refused. One that refuses everybody is broken: to end all connections would
// make everybody sign in again, for nothing.
type storm struct {
	owners map[string]bool
	last   time.Time // when it refused one
}

const (
	maxEnded  = 3           // connections that end before a server is taken for broken
	stormTime = time.Minute // without refusals, after which it is not
)

// refusesAll notes that a server refuses an owner's token though it is new, and tells whether it does so to too many.
func (c *Connections) refusesAll(o owned) bool {
	now := c.opts.Now()
	c.storming.Lock()
	defer c.storming.Unlock()
	s := c.storm[o.server]
	if s == nil || now.Sub(s.last) > stormTime {
		s = &storm{owners: map[string]bool{}}
		c.storm[o.server] = s
	}
	s.last = now
	if len(s.owners) <= maxEnded {
		s.owners[o.owner] = true
	}
	return len(s.owners) > maxEnded
}

// isRefusingAll tells whether a server is taken for broken.
func (c *Connections) isRefusingAll(server tool.ServerID) bool {
	c.storming.Lock()
	defer c.storming.Unlock()
	s := c.storm[server]
	return s != nil && len(s.owners) > maxEnded && c.opts.Now().Sub(s.last) <= stormTime
}

// refusing is the error of a server that refuses everybody.
func (c *Connections) refusing(server tool.ServerID) error {
	return fault.New(fault.UpstreamDown, "server %s refuses the tokens of several people, also new ones (HTTP 401)", server).
		WithHint("try again later; if others can use it, open %s, or run: toolfit login %s", c.opts.Page(server), server)
}
