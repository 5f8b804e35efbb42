package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/inbound"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/catalog"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Handler is everything that is served on the one port.
func (a *App) Handler() http.Handler {
	front := mcp.NewFront(a.sessions, &mcp.FrontOptions{MaxBody: a.started.Limits.Body, Logger: a.log})
	agents := a.limited(a.mcpHandler(front, access.Principal.MayCall, a.front.Entry))
	mux := http.NewServeMux()
	mux.Handle("/mcp", agents)
	mux.Handle("/mcp/{profile}", agents)
	mux.Handle("/mcp/{profile}/env", a.limited(a.mcpHandler(front, mayEnter, a.front.EnvironmentEntry)))
	api := a.API(a.admit)
	mux.Handle("/api/v1/", a.limited(sent(api, refuseInJSON)))
	mux.Handle("/v1/", a.limited(sent(a.Chat(a.admitChat), refuseInJSON)))
	mux.Handle("/api/agent-retrieval/", a.limitedIn(sent(http.HandlerFunc(a.serveRecall), a.refuseRecall), a.refuseRecall))
	mux.HandleFunc("/health/", a.serveRecall)
	mux.HandleFunc("GET /healthz", plain("ok"))
	mux.HandleFunc("GET /readyz", a.ready)
	mux.Handle("GET /metrics", a.guarded(promhttp.HandlerFor(a.registry, promhttp.HandlerOpts{})))
	mux.Handle(pickPath+"/", a.limited(a.checked(http.StripPrefix(pickPath, a.picker))))
	mux.Handle("/", a.console(api))
	all := a.shared(unread(a.check, mux))
	if a.started.BasePath != "" {
		all = http.StripPrefix(a.started.BasePath, all)
	}
	return a.greeting(all)
}

// API is the REST API for whoever admit lets in.
func (a *App) API(admit func(*http.Request) (access.Principal, error)) *restapi.API {
	return restapi.New(restapi.Parts{
		Sources: a.sources(), Caller: a.Caller, Store: a.Store, Records: a.Records, Keys: a.Keys, Events: a.events, Tests: a,
		Admit: admit, BasePath: a.started.BasePath, MaxBody: a.started.Limits.Body, Metrics: a.requests, Logger: a.log,
	})
}

// sources are where the REST API and its events read what there is.
func (a *App) sources() restapi.Sources {
	return restapi.Sources{Catalog: a.Catalog, Pool: a.Pool, Registry: a, Rules: a, Agents: a, Config: a.Config}
}

func plain(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, text)
	}
}

// mayEnter lets those to the environment who may call tools or read records.
func mayEnter(who access.Principal) bool { return who.MayCall() || who.MayRead() }

// mcpHandler lets known callers who may enter through to the MCP front of their profile.
func (a *App) mcpHandler(front *mcp.Front, may func(access.Principal) bool, enter func(who access.Principal, profile string) mcp.Entry) http.Handler {
	charge := a.chargeBatch
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := a.admit(r)
		if err == nil && !may(who) {
			err = who.Lacks("%s may not call tools")
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
		entry.Charge = charge
		if inbound.FromOwner(r) && who == access.Owner() {
			entry.Owner = stdioOwner
		}
		front.Serve(w, r, entry)
	})
}

// admitCollector lets in who collects metrics. A collector finds each replica by its
// address, which no list of hosts can name, so a key is enough: a page of another site, from
// which the list protects, has none to send.
func (a *App) admitCollector(r *http.Request) (access.Principal, error) {
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && strings.HasPrefix(key, "tf_") && !access.FromBrowser(r) {
		return a.Keys.Authenticate(r.Context(), key)
	}
	return a.admit(r)
}

// guarded serves pages to callers who may read everything.
func (a *App) guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := a.admitCollector(r)
		if err == nil && !who.MayRead() && who != access.Local() {
			err = who.Lacks("%s may not read this")
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// checked refuses what the door refuses of everybody.
func (a *App) checked(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.check(r); err != nil {
			a.refuse(w, r, err)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// refuse answers a request that does not come in, with one clear line.
func (a *App) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.As(err)
	if f.Hides() {
		a.log.Error("request not served", "path", r.URL.Path, "error", f)
	}
	if f.Code == fault.Unauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="toolfit"`)
	}
	http.Error(w, f.Error(), f.Code.Status())
}

// Serve answers on the listener until ctx ends, then lets open calls finish for a short time.
// Socket, unless it is nil, is a listener of inbound.ListenLocal, and ends with it.
func (a *App) Serve(ctx context.Context, l, socket net.Listener) error {
	if err := a.Keys.Reload(ctx); err != nil { // now: a store that goes away later takes no rights away
		l.Close()
		return err
	}
	watched := inbound.Listen(l, nil)
	srv := &http.Server{
		Handler: watched.Guard(a.Handler(), a.isHealthCheck), ConnContext: inbound.ConnContext, ConnState: inbound.ConnState,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	srv.RegisterOnShutdown(a.sessions.Drain)
	address := l.Addr().String()
	a.address.Store(&address)
	srv.RegisterOnShutdown(a.picker.Close)
	srv.RegisterOnShutdown(a.events.Close) // a server knows nothing of connections that were taken over
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(watched) }()
	var commands sync.WaitGroup
	if socket != nil {
		commands.Go(func() { srv.Serve(socket) }) // where it breaks, commands work without it
	}
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	a.draining.Store(true)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := srv.Shutdown(drain)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	<-ended
	commands.Wait()
	return err
}

// isHealthCheck tells whether a request asks whether we are well.
func (a *App) isHealthCheck(r *http.Request) bool {
	path := strings.TrimPrefix(r.URL.Path, a.started.BasePath)
	return path == "/healthz" || path == "/readyz" || strings.HasPrefix(path, "/health/")
}

// CheckListen refuses to serve other machines without keys.
func (a *App) CheckListen(addr string) error {
	if access.IsLoopback(addr) || a.Keys.Any() {
		return nil
	}
	if r := a.Config().Recall; r != nil && len(r.Trust) > 0 {
		return nil // it serves a network that is trusted; all else is refused without a key
	}
	return fault.New(fault.BadConfig, "%s can be reached from other machines, and there are no keys", addr).
		WithHint("make one first: toolfit keys create NAME --role admin --profile '*'; or listen on 127.0.0.1")
}
