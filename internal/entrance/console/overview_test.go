package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/browsertest/report"
	"github.com/toolfit/toolfit/internal/browsertest/trial"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// evilOverview are concerns and counts all of whose texts are bad.
type evilOverview struct {
	Decisions
	Runs
}

func (evilOverview) Activity(_ context.Context, _ access.Principal, q restapi.ActivityQuery) (restapi.Activity, error) {
	if q.Range == bad {
		return restapi.Activity{}, fault.New(fault.BadRequest, "unknown range %s", q.Range)
	}
	a := restapi.Activity{Range: "7d", By: "server", Step: 7200, Since: time.Now().Add(-6 * time.Hour), Total: restapi.ActivityCounts{Calls: 9, Errors: 3}}
	if q.By != "" {
		a.By = q.By
	}
	a.Spans = make([]restapi.ActivitySpan, 3)
	for range 9 {
		a.Series = append(a.Series, restapi.ActivitySeries{Key: bad, Calls: []int64{1, 0, 0}, Errors: []int64{0, 1, 0}})
	}
	a.Tools = []restapi.ToolActivity{{Tool: bad, Calls: 3, Errors: 1}, {}}
	return a, nil
}
func (evilOverview) FailingAgents(context.Context, access.Principal) ([]restapi.FailingAgent, error) {
	return []restapi.FailingAgent{{ID: bad, Reason: bad}, {ID: bad, Calls: 9, Failed: 8}}, nil
}
func (evilOverview) ListApprovals(context.Context, approval.Decider, bool, tool.Name) ([]restapi.Approval, error) {
	return []restapi.Approval{{ID: bad, Tool: bad, May: true, About: approval.About{Name: bad}}}, nil
}
func (evilOverview) ListRuns(context.Context, access.Principal, store.RunFilter) (restapi.RunList, error) {
	return restapi.RunList{Runs: []restapi.Run{{ID: bad, At: time.Now(), Outcome: trial.Failed, Summary: trial.Summary{Name: bad}}}}, nil
}

// troubled is a gateway in which everything needs attention.
type troubled struct {
	evilOverview
	Rules
	runs []restapi.Run
}

func (troubled) Activity(context.Context, access.Principal, restapi.ActivityQuery) (restapi.Activity, error) {
	return restapi.Activity{Range: "1h", By: "server", Step: 60}, nil
}
func (troubled) FailingAgents(context.Context, access.Principal) ([]restapi.FailingAgent, error) {
	return []restapi.FailingAgent{{ID: "helper", Calls: 20, Failed: 14}, {ID: "clerk", Reason: "its model is gone"},
		{ID: "mute", Silent: true, Reason: "model m cannot be reached"}}, nil
}
func (troubled) ListApprovals(context.Context, approval.Decider, bool, tool.Name) ([]restapi.Approval, error) {
	return []restapi.Approval{{ID: "a_1", State: "open", Tool: "shop__pay", May: true, About: approval.About{Name: "ann"}}, {ID: "a_2", Tool: "shop__other"}}, nil
}
func (troubled) ListRules(access.Principal) ([]restapi.Rule, error) {
	return []restapi.Rule{
		{ID: "orders", Source: restapi.FromStore, Mode: project.Shadow, Reason: "21 of 100 results were fetched again"},
		{ID: "tried", Source: restapi.FromStore, Mode: project.Shadow}, {ID: "works", Source: restapi.FromStore, Mode: project.On},
	}, nil
}
func (w troubled) ListRuns(_ context.Context, _ access.Principal, f store.RunFilter) (restapi.RunList, error) {
	return restapi.RunList{Runs: w.runs[:min(len(w.runs), f.Limit)]}, nil
}
func (troubled) SeenServers(access.Principal) []restapi.Server {
	return []restapi.Server{
		{ID: "up", State: "up"}, {ID: "web", State: "down", Reason: "no such program"}, {ID: "mail", State: "down", Reason: "HTTP 401"},
		{ID: "files", State: "up", Held: []string{"read", "write"}},
	}
}
func (troubled) SeenServer(access.Principal, tool.ServerID) (restapi.Server, error) {
	return restapi.Server{}, nil
}
func (troubled) ListCalls(context.Context, access.Principal, url.Values, int) (restapi.CallPage, error) {
	return restapi.CallPage{}, nil
}

type noSignIns struct{ Connections }

func (noSignIns) ListConnections(context.Context, access.Principal, bool) ([]restapi.Connection, error) {
	return []restapi.Connection{
		{Server: "mail", As: "gateway", State: "needs_login", Reason: "the token has expired"}, {Server: "wiki", As: "user", Owner: "a", State: "none"},
		{Server: "chat", As: "user", Owner: "a", State: "ready"},
	}, nil
}

type callList struct {
	Calls
	troubled
}

func (c callList) ListCalls(ctx context.Context, who access.Principal, q url.Values, look int) (restapi.CallPage, error) {
	return c.troubled.ListCalls(ctx, who, q, look)
}

type serverList struct {
	Servers
	of troubled
}

func (s serverList) SeenServers(who access.Principal) []restapi.Server { return s.of.SeenServers(who) }

// nobodyNew has neither clients nor a first run.
type nobodyNew struct {
	Clients
	FirstRun
}

func (nobodyNew) SeenClients(access.Principal) restapi.ClientList { return restapi.ClientList{} }
func (nobodyNew) DemoServers(access.Principal) []tool.ServerID    { return nil }

func runOf(id, name, outcome string, ago time.Duration) restapi.Run {
	return restapi.Run{
		ID: id, At: time.Now().Add(-ago), Outcome: outcome, Summary: trial.Summary{Name: name, Totals: report.Totals{Tests: 5, Failed: 2}},
	}
}

func consoleOf(w troubled, role access.Role) *Console {
	return New(Parts{
		Activity: w, Servers: serverList{of: w}, Clients: nobodyNew{}, FirstRun: nobodyNew{}, Tools: evil{}, Decisions: w, Runs: w, Rules: w, Connections: noSignIns{}, Calls: callList{troubled: w},
		Check: func(*http.Request) error { return nil }, Profiles: func() []string { return nil },
		Admit: func(*http.Request) (access.Principal, error) {
			return access.Principal{ID: "a", Name: "ann", Role: role, Profile: access.AnyProfile}, nil
		},
		Address: func(r *http.Request) (string, string) { return "http", r.Host },
	})
}

// concernsOf are the concerns on the overview of somebody: the text, and where the next step leads.
func concernsOf(t *testing.T, w troubled, role access.Role) (all []string) {
	t.Helper()
	c := consoleOf(w, role)
	v := c.visitor(httptest.NewRequest("GET", "/", nil))
	v.who, _ = c.Admit(nil)
	p, err := c.overview(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range p.Concerns {
		all = append(all, one.Text+" → "+one.Path)
	}
	return all
}

func TestWhatNeedsAttentionIsWhatThePersonMayDo(t *testing.T) {
	w := troubled{runs: []restapi.Run{
		runOf("r6", "pay", trial.Running, 0), runOf("r5", "pay", trial.Failed, time.Hour), runOf("r4", "login", trial.Passed, 2*time.Hour),
		runOf("r3", "login", trial.Failed, 3*time.Hour), runOf("r2", "pay", trial.Failed, 4*time.Hour), runOf("r1", "old", trial.Failed, 30*24*time.Hour),
	}}
	all := []string{
		"Server web is down → /servers/web",
		"ann waits for approval to call shop__pay → /approvals/a_1",
		"Server mail needs a sign-in for the gateway → /connect/mail",
		"Server wiki needs you to sign in → /connect/wiki",
		"Agent clerk is not active → /environments#agents",
		"Agent mute: its model did not answer → /chat?agent=mute",
		"Agent helper: 14 of its last 20 calls failed → /calls?agent=helper",
		"Server files: 2 new or changed definitions are held → /servers/files#held",
		"Rule orders was put back to shadow mode → /results/rules?edit=orders#edit",
		"Test pay failed in its last run: 2 of 5 → /runs/r5",
	}
	const mailDown = "Server mail is down → /servers/mail" // who cannot sign in for the gateway learns that it is down
	const noChat = "Agent mute: its model did not answer → /environments#agents"
	for role, want := range map[access.Role][]string{
		access.Admin:  all,
		access.Viewer: {all[0], mailDown, all[1], all[4], noChat, all[6], all[9]},
		access.Caller: {all[0], mailDown, all[1], all[3], all[4], all[5], all[6], all[9]},
	} {
		if got := concernsOf(t, w, role); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s sees\n%s\nwant\n%s", role, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestManyConcernsOfAKindAreOneLine(t *testing.T) {
	var w troubled
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		w.runs = append(w.runs, runOf("r_"+name, name, trial.Failed, time.Hour))
	}
	got := concernsOf(t, w, access.Viewer)
	if last := got[len(got)-1]; last != "and 2 more → /runs?outcome=failed" || strings.Contains(strings.Join(got, " "), "/runs/r_e") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// A test that runs every few minutes does not hide one that runs at night.
func TestARedTestIsAConcernHoweverOftenOthersRun(t *testing.T) {
	var w troubled
	for i := range 500 {
		w.runs = append(w.runs, runOf(fmt.Sprint("r", i), "often", trial.Passed, time.Duration(i)*5*time.Minute))
	}
	w.runs = append(w.runs, runOf("red", "nightly", trial.Failed, 48*time.Hour))
	got := concernsOf(t, w, access.Viewer)
	if last := got[len(got)-1]; !strings.HasSuffix(last, "/runs/red") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// Two parts of a page with one name cannot be told apart by who hears it.
func TestTheTablesOfApprovalsHaveNamesOfTheirOwn(t *testing.T) {
	rec := httptest.NewRecorder()
	consoleOf(troubled{}, access.Admin).ServeHTTP(rec, httptest.NewRequest("GET", "/approvals", nil))
	for _, name := range []string{"To decide", "Decided"} {
		if n := strings.Count(rec.Body.String(), `role="region" aria-label="`+name); n != 1 {
			t.Errorf("%d tables are named %s: %s", n, name, rec.Body)
		}
	}
}

func TestTheOverviewSaysWhatIsChosen(t *testing.T) {
	rec := httptest.NewRecorder()
	consoleOf(troubled{}, access.Admin).ServeHTTP(rec, httptest.NewRequest("GET", "/?range=7d&sort=time", nil))
	page := rec.Body.String()
	for _, want := range []string{
		`hx-get="/overview/live?range=7d&amp;sort=time"`, `href="/?by=outcome&amp;range=7d&amp;sort=time"`, `href="/?range=30d&amp;sort=time"`,
		"No calls in the last hour.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page[strings.Index(page, "<main"):])
		}
	}
}
