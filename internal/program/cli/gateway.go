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
	standalone bool // it was made for this command
}

// askFlags say which gateway to ask.
type askFlags struct {
	url, key, profile string
	standalone        bool
}

func (f *askFlags) add(cmd *cobra.Command) {
	f.addGateway(cmd)
	cmd.Flags().StringVar(&f.profile, "profile", "", "profile to look through (default: the caller's own)")
}

// addGateway adds the flags for commands that look at all profiles.
func (f *askFlags) addGateway(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "url", "", "ask the gateway at this URL (default: the one that runs with this configuration, if any)")
	cmd.Flags().StringVar(&f.key, "key", "", "key for the gateway at --url (default: $TOOLFIT_KEY, or the local secret)")
	cmd.Flags().BoolVar(&f.standalone, "standalone", false, "work from configuration and store, even while a gateway runs")
}

// ask runs f with the gateway that the flags name, the one that runs with the configuration,
// or one made for it.
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

// running is the gateway that the flags name, or that runs with the configuration; nil when
// there is none.
func (c *command) running(ctx context.Context, flags askFlags, over runFlags) (*gateway, error) {
	switch {
	case flags.standalone && flags.url != "":
		return nil, usage("give --url or --standalone, not both")
	case flags.standalone:
		return nil, nil
	case flags.url == "":
		return c.findGateway(ctx, flags.key, over)
	}
	if u, err := url.Parse(flags.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usage("--url %q is no URL of http or https; write it like http://127.0.0.1:8420", flags.url)
	}
	key, err := c.credential(flags)
	if err != nil {
		return nil, err
	}
	return &gateway{base: strings.TrimRight(flags.url, "/"), key: key, http: http.DefaultTransport}, nil
}

// do sends one request and decodes the answer into out.
func (g *gateway) do(ctx context.Context, method, path string, query url.Values, body []byte, out any) error {
	target := g.base + "/api/v1" + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	status, data, err := g.send(ctx, method, target, nil, body)
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

// send sends one request and gives the answer as it came.
func (g *gateway) send(ctx context.Context, method, target string, header http.Header, body []byte) (status int, data []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, usage("%q is no URL", g.base)
	}
	if header != nil {
		req.Header = header
	}
	if g.key != "" {
		req.Header.Set("Authorization", "Bearer "+g.key)
	}
	resp, err := g.http.RoundTrip(req)
	if err != nil && ctx.Err() != nil {
		return 0, nil, fault.New(fault.Canceled, "ended before there was an answer: %w", context.Cause(ctx))
	}
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) {
		return 0, nil, fault.New(fault.UpstreamProtocol, "what answers at %s does not speak TLS", g.base).WithHint("write http:// in --url, unless a proxy with TLS is meant to stand there")
	}
	if err != nil {
		return 0, nil, fault.New(fault.UpstreamDown, "no gateway answers at %s: %w", g.base, err).WithHint("start one with: toolfit serve")
	}
	defer resp.Body.Close()
	if data, err = io.ReadAll(resp.Body); err != nil {
		return 0, nil, fmt.Errorf("read the answer of %s: %w", g.base, err)
	}
	return resp.StatusCode, data, nil
}

// noGateway is about an address where something else answers, most often a page.
func noGateway(base string, status int) error {
	return fault.New(fault.UpstreamProtocol, "what answers at %s is no toolfit gateway: HTTP %d", base, status).
		WithHint("--url is the gateway's own address, without /mcp, such as http://127.0.0.1:8420")
}

func answerError(base string, status int, data []byte) error {
	var body struct {
		Error *fault.Error `json:"error"`
	}
	if err := json.Unmarshal(data, &body); err != nil || body.Error == nil || body.Error.Message == "" {
		return noGateway(base, status)
	}
	switch {
	case body.Error.Code == fault.Unauthorized: // what a command can do about it, instead of a request
		body.Error.Hint = "give one with --key or in TOOLFIT_KEY; make one with: toolfit keys create NAME"
	case body.Error.Code == fault.UnknownTool && body.Error.Hint == "":
		body.Error.Hint = "see what there is: toolfit tools"
	}
	return body.Error
}

// printJSON prints a value as the API would, indented for people.
func (c *command) printJSON(v any) error { return printJSON(c.env.Out, v) }

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
