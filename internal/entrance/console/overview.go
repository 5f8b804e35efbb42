package console

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Activity counts calls, and knows which agents do badly.
type Activity interface {
	Activity(ctx context.Context, who access.Principal, q restapi.ActivityQuery) (restapi.Activity, error)
	FailingAgents(ctx context.Context, who access.Principal) ([]restapi.FailingAgent, error)
}

func (c *Console) overviewSection() section {
	return section{name: "overview", path: "/", key: "o", routes: map[string]handler{
		"GET /{$}":           page("overview", whole, c.overview),
		"GET /overview/live": page("overview", "live", c.overview),
	}}
}

// The overview shows so many of the last calls and of the top tools.
const (
	callsOnOverview = 8
	topTools        = 10
)

type overviewPage struct {
	MCPURL   string
	First    *firstRun // what is left to do until the first call; nil: nothing
	Live     string    // path of the live updates
	Every    int       // how often they come, in seconds
	At       time.Time
	Servers  []restapi.Server
	Concerns []concern
	Own      bool // only the person's own calls are counted
	Activity restapi.Activity
	Ranges   []choice
	Keys     []choice
	Sorts    []choice
	Charts   []chart
	Rows     []chartRow     // the numbers of the charts, the oldest first
	Calls    []restapi.Call // the last few
}

// choice is one of several, as a link.
type choice struct {
	Name string
	Path string
	Here bool
}

func (c *Console) overview(v *visit) (overviewPage, error) {
	asked := v.URL.Query()
	ask := restapi.ActivityQuery{Range: asked.Get("range"), By: asked.Get("by"), Sort: asked.Get("sort"), Limit: topTools}
	p := overviewPage{
		MCPURL: c.base(v) + "/mcp", At: time.Now(), Every: 5, Servers: c.Servers.SeenServers(v.who), Own: !v.who.MayRead(),
	}
	var err error
	if p.Activity, err = c.Activity.Activity(v.Context(), v.who, ask); err != nil {
		return p, err
	}
	chosen := url.Values{}
	for _, key := range []string{"range", "by", "sort"} {
		if asked.Get(key) != "" {
			chosen.Set(key, asked.Get(key))
		}
	}
	p.Live = with(c.at("/overview/live"), chosen, "", "")
	p.Ranges = c.choices(chosen, "range", restapi.ActivityRanges, p.Activity.Range)
	p.Keys = c.choices(chosen, "by", restapi.ActivityKeys, p.Activity.By)
	p.Sorts = c.choices(chosen, "sort", restapi.ActivitySorts, cmp.Or(ask.Sort, restapi.ActivitySorts[0]))
	if p.Activity.Step > 60 {
		p.Every = 15 // a span changes slowly, and reading more of them costs more
	}
	if p.Activity.Total.Calls > 0 {
		p.Charts, p.Rows = chartsOf(v.lang, &p.Activity)
	}
	if p.Concerns, err = c.concerns(v, p.Servers); err != nil {
		return p, err
	}
	last, err := c.Calls.ListCalls(v.Context(), v.who, url.Values{"limit": {strconv.Itoa(callsOnOverview)}}, 0)
	p.Calls = last.Calls
	p.First = c.firstRun(v, p.Servers, p.Calls)
	return p, err
}

// choices are links to this page with another value of the key.
func (c *Console) choices(chosen url.Values, key string, values []string, here string) (all []choice) {
	for _, value := range values {
		all = append(all, choice{value, with(c.at("/"), chosen, key, value), value == here})
	}
	return all
}
