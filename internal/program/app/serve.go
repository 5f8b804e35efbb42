package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/entrance/console"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Handler serves everything on the one port.
func (a *App) Handler() http.Handler {
	a.carryOn()
	a.seats.Serve()
	front := mcp.NewFront(a.sessions, &mcp.FrontOptions{
		MaxBody: a.started.Limits.Body, Replicas: a.others(), TakeUp: a.front.TakeUp, Logger: a.log,
	})
	agents := a.limited(a.mcpHandler(front, access.Principal.MayCall, a.front.Entry))
	mux := http.NewServeMux()
	mux.Handle("/mcp", agents)
	mux.Handle("/mcp/{profile}", agents)
	mux.Handle("/mcp/{profile}/env", a.limited(a.mcpHandler(front, mayEnter, a.front.EnvironmentEntry)))
	api := a.API(a.admit)
	mux.Handle("/api/v1/", a.limited(gate(access.CheckContent, refuseInJSON, api)))
	mux.Handle("/v1/", a.limited(gate(access.CheckContent, refuseInJSON, a.trace.Route("/v1/", a.Chat(a.admitChat).ServeHTTP))))
	recall := gate(access.CheckContent, a.refuseRecall, http.HandlerFunc(a.serveRecall))
	mux.Handle("/api/agent-retrieval/", a.limitedIn(recall, a.refuseRecall))
	mux.HandleFunc("/health/", a.serveRecall)
	mux.HandleFunc("GET "+documentPath, a.serveDocument)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", gate(a.checkReader, a.refuse, promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{})))
	mux.Handle(pickPath+"/", a.limited(gate(a.check, a.refuse, http.StripPrefix(pickPath, a.picker))))
	mux.Handle(upstream.SeatPath, a.serveSeats())
	mux.Handle("/", a.console(api))
	all := a.shared(unread(a.check, a.carrying(mux)))
	if a.started.BasePath != "" {
		all = http.StripPrefix(a.started.BasePath, all)
	}
	return a.greeting(a.metadata(a.brokered(all)))
}

// API is the REST API for callers that admit accepts.
func (a *App) API(admit func(*http.Request) (access.Principal, error)) *restapi.API {
	return restapi.New(restapi.Parts{
		Sources: a.sources(), Caller: a.Caller, Store: a.Store, Waiting: a.Waiting, Records: a.Records, Keys: a.Keys, Events: a.events,
		Connections: a.connections, Desk: a.desk, ApprovalPage: a.approvalPage,
		Seen: a.clients, Replica: a.replicaID(), Machine: a, Tests: a, Work: a, Admit: admit, BasePath: a.started.BasePath, MaxBody: a.started.Limits.Body, Metrics: a.requests, Trace: a.trace,
		Logger: a.log,
	})
}

// sources are what the REST API and its events read.
func (a *App) sources() restapi.Sources {
	return restapi.Sources{Catalog: a.Catalog, Pool: a.Pool, Registry: a, Rules: a, Agents: a, Recipes: a, Config: a.Config}
}

// carryOn goes on with waiting calls and follows what others change, from now on: a command that only looks
// something up must not take over the calls of a gateway that has gone.
func (a *App) carryOn() {
	a.carries.Do(func() {
		a.work.Go(func() { a.keepAudit(a.background) })
		a.work.Go(func() { a.Waiting.Run(a.background) })
		a.work.Go(func() { a.follow(a.background) })
		a.work.Go(func() { a.events.Share(a.background, a.Store) })
	})
}

// mayEnter admits to the environment who may call tools or read records.
func mayEnter(who access.Principal) bool { return who.MayCall() || who.MayRead() }

// mcpHandler admits callers to the MCP front of their profile.
func (a *App) mcpHandler(
	front *mcp.Front, may func(access.Principal) bool, enter func(who access.Principal, profile string) mcp.Entry,
) http.Handler {
	alone := front.Alone()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := a.admit(r)
		if err == nil && !may(who) {
			err = who.Forbidden("%s may not call tools")
		}
		var view *catalog.View
		if err == nil {
			view, err = a.Catalog.ViewFor(who, r.PathValue("profile"))
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		entry := enter(who, view.Profile)
		entry.Charge = a.chargeBatch
		if inbound.FromOwner(r) && who == access.Owner() {
			entry.Owner = stdioOwner
		}
		if access.IsPassedOn(r) {
			alone.Serve(w, a.trace.Incoming(r), entry)
			return
		}
		front.Serve(w, a.trace.Incoming(r), entry)
	})
}

// admitCollector identifies who collects metrics. Collectors address each replica directly, which a
// list of hosts cannot cover; a key is enough, because pages of other sites have none.
func (a *App) admitCollector(r *http.Request) (access.Principal, error) {
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && strings.HasPrefix(key, "tf_") && !access.FromBrowser(r) {
		who, err := a.Keys.Authenticate(r.Context(), key)
		a.noteRefused(r, err)
		return who, err
	}
	return a.admit(r)
}

// checkReader accepts callers who may read everything.
func (a *App) checkReader(r *http.Request) error {
	who, err := a.admitCollector(r)
	if err == nil && !who.MayRead() && who != access.Local() {
		err = who.Forbidden("%s may not read this")
	}
	return err
}

// refuse answers with an error in plain text.
func (a *App) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.As(err)
	if f.Hides() {
		a.log.Error("request not served", "path", r.URL.Path, "error", f)
	}
	if s := a.edge.Load().signIn; s != nil {
		s.challenge(w, r, err)
	} else if f.Code == fault.Unauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolfit"`)
	}
	http.Error(w, f.Error(), f.Code.Status())
}

// Serve serves on the listener until ctx ends, and then gives open calls a short time to finish. One of several
// gateways serves on for a while before that. The socket may be nil; it is a listener of inbound.ListenLocal.
func (a *App) Serve(ctx context.Context, l, socket net.Listener) error {
	if err := a.Keys.Reload(ctx); err != nil { // now: a store that goes away later takes no rights away
		l.Close()
		return err
	}
	watched := inbound.Listen(l, nil)
	served := a.Handler()
	if a.opts.AccessLog {
		served = a.logged(served)
	}
	srv := &http.Server{
		Handler: watched.Guard(a.parting(served), a.isHealthCheck), ConnContext: inbound.ConnContext, ConnState: inbound.ConnState,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	srv.RegisterOnShutdown(a.hangUp)
	address := l.Addr().String()
	a.address.Store(&address)
	a.logStart(address)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(watched) }()
	var commands sync.WaitGroup
	if socket != nil {
		commands.Go(func() { srv.Serve(socket) }) // where it breaks, commands work without it
	}
	select {
	case err := <-ended:
		a.log.Error("stopped", "reason", "error", "error", err)
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	signaled := time.Now()
	a.draining.Store(true)
	a.serveOn()
	down, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go a.detachCalls(down)
	left := callsEnd - a.handOver(watched)
	a.leave()
	drain, cancel := context.WithTimeout(down, max(left, 2*shortTime))
	defer cancel()
	err := srv.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	<-ended
	commands.Wait()
	a.log.Info("stopped", "reason", "signal", "drained", time.Since(signaled).Round(time.Millisecond))
	return err
}

func (a *App) isHealthCheck(r *http.Request) bool {
	path := strings.TrimPrefix(r.URL.Path, a.started.BasePath)
	return path == "/healthz" || path == "/readyz" || strings.HasPrefix(path, "/health/")
}

// CheckListen refuses to serve other machines without keys.
func (a *App) CheckListen(addr string) error {
	if access.IsLoopback(addr) || a.edge.Load().door.Closed() {
		return nil
	}
	if r := a.Config().Recall; r != nil && len(r.Trust) > 0 {
		return nil // it serves a network that is trusted; all else is refused without a key
	}
	return fault.New(fault.BadConfig, "%s can be reached from other machines, and there are no keys", addr).
		WithHint("make one first: toolfit keys create NAME --role admin --profile '*'; or listen on 127.0.0.1")
}

// console is the pages for people, on top of the REST API.
func (a *App) console(api *restapi.API) http.Handler {
	return console.New(console.Parts{
		Setup: api, Activity: api, Servers: api, ServerChanges: api, Approvals: api, Tools: api, ToolNames: api, ToolCaller: api, Apps: api, AppRequests: api, Calls: api, CallFeed: api,
		CallChanges: api, Results: api, Rules: api, Policy: api, Suggestions: api, Prompts: api, Sessions: api, SessionChanges: api, Runs: api,
		RunReports: api, Keys: api, KeyChanges: api, People: api, Audit: api, Connections: api, SignIns: api, Values: api, Decisions: api,
		Recipes: api, RecipeChanges: api, Clients: api, FirstRun: api,
		Recall: a.recalls.Load, API: api, Chat: a.runner, Environment: a.Env, CatchUp: a.catchUp,
		Admit: a.admitPerson, Check: a.check, Keyed: a.Keys.Any, Link: a.links.use, Logins: logins{a}, Limit: a.limited,
		Address: a.askedFor, BasePath: a.started.BasePath,
		Version: a.opts.Version, Seal: a.sealKey, Profiles: a.profiles, Models: a.modelsFor, Logger: a.log,
	})
}

// askedFor is the scheme and host that the client used, before any proxies.
func (a *App) askedFor(r *http.Request) (scheme, host string) {
	_, scheme, host = a.edge.Load().proxies.Client(r)
	return scheme, host
}

// ServeStdio serves one client on a pair of pipes until its input ends.
func (a *App) ServeStdio(ctx context.Context, profile string, in io.Reader, out io.Writer) error {
	return a.serveStdio(ctx, profile, a.front.Entry, in, out)
}

// ServeEnvironment serves the profile as an environment to one client on a pair of pipes.
func (a *App) ServeEnvironment(ctx context.Context, profile string, in io.Reader, out io.Writer) error {
	return a.serveStdio(ctx, profile, a.front.EnvironmentEntry, in, out)
}

// stdioOwner owns the sessions on pipes, which need no key.
const stdioOwner = "stdio"

func (a *App) serveStdio(
	ctx context.Context, profile string, enter func(access.Principal, string) mcp.Entry, in io.Reader, out io.Writer,
) error {
	who := access.Owner()
	view, err := a.Catalog.ViewFor(who, profile)
	if err != nil {
		return err
	}
	a.carryOn()
	entry := enter(who, view.Profile)
	entry.Owner = stdioOwner
	return mcp.ServeStdio(ctx, in, out, a.sessions, entry, &mcp.StdioOptions{
		MaxLine: int(a.started.Limits.Body), Logger: a.log,
	})
}
