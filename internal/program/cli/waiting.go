package cli

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
)

// waiting says on the terminal what the command waits for, if it is a long wait. The returned function removes the
// message, as does the first output; it may be called twice.
func (c *command) waiting(what string) func() {
	p := c.progress()
	if p == nil || p.Clear == nil { // without a count, there is nothing to tell a log
		return func() {}
	}
	p.Say("%s…", c.word(what))
	return p.End
}

// waitingForServers says how many servers have listed their tools, and which have not: the first start of one may have to
// download it. The returned function is that of waiting.
func (c *command) waitingForServers(ctx context.Context, g *gateway) func() {
	p := c.progress()
	if p == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				c.sayLate(ctx, g, p)
			}
		}
	}()
	stop := sync.OnceFunc(func() {
		cancel()
		<-ended
		p.End()
	})
	if p.Clear != nil {
		c.out.before(stop)
		p.Say("%s…", c.word(forServers))
	}
	return stop
}

func (c *command) sayLate(ctx context.Context, g *gateway, p *terminal.Progress) {
	servers, _ := g.servers(ctx) // without an answer, the last text stays
	var late []string
	for _, s := range servers {
		if s.ListedAt == nil && s.CheckedAt == nil && s.Reason == "" && s.State != restapi.Disabled {
			late = append(late, string(s.ID))
		}
	}
	if len(late) > 0 {
		p.Say("%d of %d servers have listed their tools; waiting for %s", len(servers)-len(late), len(servers), c.some(late))
	}
}

// downloads tells how much of each answer has come.
type downloads struct {
	http.RoundTripper
	progress *terminal.Progress
}

func (d downloads) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = &download{ReadCloser: resp.Body, from: r.URL.Host, size: resp.ContentLength, progress: d.progress}
	}
	return resp, err
}

type download struct {
	io.ReadCloser
	from       string
	come, size int64 // bytes; size is negative if it is not known
	progress   *terminal.Progress
}

func (d *download) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.come += int64(n)
	const mega = 1 << 20
	if d.size > 0 {
		d.progress.Say("downloading from %s: %.1f of %.1f MB", d.from, float64(d.come)/mega, float64(d.size)/mega)
	} else {
		d.progress.Say("downloading from %s: %.1f MB", d.from, float64(d.come)/mega)
	}
	return n, err
}
