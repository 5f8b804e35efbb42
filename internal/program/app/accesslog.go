package app

import (
	"cmp"
	"net/http"
	"net/netip"
	"time"

	"github.com/toolfit/toolfit/internal/state/store"
)

// logStart logs that the gateway serves.
func (a *App) logStart(address string) {
	kind := "sqlite"
	if store.IsPostgres(a.started.Store) {
		kind = "postgres"
	}
	log := a.log.With("version", cmp.Or(a.opts.Version, "dev"), "address", address, "store", kind, "servers", len(a.Config().Servers))
	if id := a.replicaID(); id != "" {
		log = log.With("replica", id)
	}
	log.Info("started")
}

// answer counts what is answered.
type answer struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets streams flush and sockets take over the connection.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *answer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *answer) Write(p []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// logged logs each request once it is answered, without its query, which may have secrets.
func (a *App) logged(h http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := time.Now()
		method, path := r.Method, r.URL.Path
		w := &answer{ResponseWriter: rw}
		h.ServeHTTP(w, r)
		e := a.edge.Load()
		client, _, _ := e.proxies.Client(r)
		attrs := []any{"method", method, "path", path, "status", cmp.Or(w.status, http.StatusOK),
			"duration", time.Since(began).Round(time.Microsecond), "bytes", w.bytes, "remote", remote(client)}
		if who, err := e.door.Admit(r); err == nil {
			attrs = append(attrs, "key", who.ID)
		}
		for _, named := range [][2]string{{"Mcp-Method", "mcp"}, {"Mcp-Name", "tool"}} { // of modern clients
			if text := r.Header.Get(named[0]); text != "" {
				attrs = append(attrs, named[1], text[:min(len(text), 200)])
			}
		}
		a.log.Info("request", attrs...)
	})
}

// remote names where a request comes from: commands of this machine's user come over the gateway's socket, without an address.
func remote(client netip.Addr) string {
	if !client.IsValid() {
		return "socket"
	}
	return client.String()
}
