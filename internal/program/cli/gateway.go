package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/program/app"
	"github.com/toolfit/toolfit/internal/state/access"
)

// gateway is the REST API of a gateway, wherever it runs.
type gateway struct {
	base       string
	key        string
	http       http.RoundTripper
	standalone bool // it was started for this command
	socket     bool // it was found by its socket, as its own user
}

type askFlags struct {
	url, key, profile string
	standalone        bool
}

func (f *askFlags) add(cmd *cobra.Command) {
	f.addGateway(cmd)
	cmd.Flags().StringVar(&f.profile, "profile", "", "profile to use (default: the caller's own)")
}

// addGateway adds the flags for commands that are not limited to one profile.
func (f *askFlags) addGateway(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "url", "", "URL of the gateway (default: the one running with this configuration, if any)")
	cmd.Flags().StringVar(&f.key, "key", "", "key for the gateway at --url (default: $TOOLFIT_KEY, or the local secret)")
	cmd.Flags().BoolVar(&f.standalone, "standalone", false, "work from the configuration and the store, even if a gateway is running")
}

func (f askFlags) query() url.Values {
	q := url.Values{}
	if f.profile != "" {
		q.Set("profile", f.profile)
	}
	return q
}

// ask calls f with the gateway that the flags name, the one that is running with the
// configuration, or one in this process.
func (c *command) ask(ctx context.Context, flags askFlags, f func(*gateway) error) error {
	g, err := c.running(ctx, flags, runFlags{})
	switch {
	case err != nil:
		return err
	case g != nil:
		return f(g)
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	return c.withApp(ctx, cfg, slog.LevelError, func(a *app.App) error {
		local := func(*http.Request) (access.Principal, error) { return access.Owner(), nil }
		mux := http.NewServeMux()
		mux.Handle("/api/agent-retrieval/", a.Recall(local))
		mux.Handle("/api/v1/", a.API(local))
		mux.Handle("/v1/", a.Chat(local))
		return f(&gateway{base: "http://local", http: inProcess{mux}, standalone: true})
	})
}

// request is one request to the REST API. The zero method is GET.
type request struct {
	method, path string
	query        url.Values
	body         []byte
}

// forServers is the wait of a request that needs the tools of servers.
const forServers = "asking the servers"

// askFor sends one request and shows the answer: with --json as it is, otherwise by text.
func askFor[T any](c *command, cmd *cobra.Command, flags askFlags, wait string, r request, text func(*gateway, T) error) error {
	return c.ask(cmd.Context(), flags, func(g *gateway) error {
		if wait == forServers {
			defer c.waitingForServers(cmd.Context(), g)()
		} else {
			defer c.waiting(wait)()
		}
		var answer T
		if err := g.do(cmd.Context(), r, &answer); err != nil {
			return err
		}
		return c.show(answer, func() error { return text(g, answer) })
	})
}

// running is the gateway that the flags name or that is running with the configuration; nil if
// there is none.
func (c *command) running(ctx context.Context, flags askFlags, over runFlags) (*gateway, error) {
	switch {
	case flags.standalone && flags.url != "":
		return nil, usage("use either --url or --standalone")
	case flags.standalone:
		return nil, nil
	case flags.url == "":
		return c.findGateway(ctx, flags.key, over)
	}
	if _, err := parseURL(flags.url); err != nil {
		return nil, err
	}
	key, err := c.credential(flags)
	if err != nil {
		return nil, err
	}
	return &gateway{base: strings.TrimRight(flags.url, "/"), key: key, http: http.DefaultTransport}, nil
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usage("--url %q is not an http or https URL, such as http://127.0.0.1:8420", text)
	}
	return u, nil
}

// do sends one request and decodes the answer into out.
func (g *gateway) do(ctx context.Context, r request, out any) error {
	target := g.base + "/api/v1" + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	status, data, err := g.send(ctx, r.method, target, nil, r.body)
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return answerError(g.base, status, data)
	}
	if err := json.Unmarshal(data, out); err != nil {
		return noGateway(g.base, status)
	}
	return nil
}

// send sends one request and reads the whole response.
func (g *gateway) send(ctx context.Context, method, target string, header http.Header, body []byte) (status int, data []byte, err error) {
	resp, err := g.open(ctx, method, target, header, body)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("read the answer of %s: %w", g.base, err)
	}
	return resp.StatusCode, data, nil
}

// open sends one request; the caller reads and closes the body of the response.
func (g *gateway) open(ctx context.Context, method, target string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, usage("%q is not a URL", g.base)
	}
	req.Header = g.header(header)
	resp, err := g.http.RoundTrip(req)
	var plain tls.RecordHeaderError
	switch {
	case err == nil:
		return resp, nil
	case ctx.Err() != nil:
		return nil, fault.New(fault.Canceled, "canceled before an answer arrived: %w", context.Cause(ctx))
	case errors.As(err, &plain):
		return nil, fault.New(fault.UpstreamProtocol, "%s does not speak TLS", g.base).
			WithHint("use http:// in --url, unless a TLS proxy should answer there")
	}
	return nil, fault.New(fault.UpstreamDown, "no gateway answers at %s: %w", g.base, err).WithHint("start one with: toolfit serve")
}

// header adds the key to a header, which may be nil.
func (g *gateway) header(h http.Header) http.Header {
	if h == nil {
		h = http.Header{}
	}
	if g.key != "" {
		h.Set("Authorization", "Bearer "+g.key)
	}
	return h
}

// noGateway is the error for an address where something else answers, most often a web page.
func noGateway(base string, status int) error {
	return fault.New(fault.UpstreamProtocol, "%s is not a toolfit gateway: HTTP %d", base, status).
		WithHint("--url is the gateway's own address without /mcp, such as http://127.0.0.1:8420")
}

func answerError(base string, status int, data []byte) error {
	var body struct {
		Error *fault.Error `json:"error"`
	}
	if err := json.Unmarshal(data, &body); err != nil || body.Error == nil || body.Error.Message == "" {
		return noGateway(base, status)
	}
	switch {
	case body.Error.Code == fault.Unauthorized: // the hint of the API is about requests
		body.Error.Hint = "give a key with --key or in TOOLFIT_KEY; create one with: toolfit keys create NAME"
	case body.Error.Code == fault.UnknownTool && body.Error.Hint == "":
		body.Error.Hint = "list the tools with: toolfit tools"
	}
	return body.Error
}
