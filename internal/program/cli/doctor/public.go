package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/state/config"
)

const metadataPath = "/.well-known/oauth-protected-resource"

// public checks what clients that sign in see of the gateway under publicURL, by way of all proxies.
func (d *doctor) public(ctx context.Context, cfg *config.Config, running bool) {
	const subject = "publicURL"
	base := strings.TrimRight(cfg.PublicURL, "/")
	u, err := url.Parse(base)
	if err != nil {
		return // reported with the configuration
	}
	below := base + metadataPath + "/mcp"
	if f := seenMetadata(ctx, cfg, below); f.Status != good {
		if f.Status == warning && !running {
			f.Message = "no gateway is running, so what clients see of it was not checked"
			f.Hint = "start it and run this again"
		}
		d.say(f.Status, subject, f.Message, f.Hint)
		return
	}
	found := true
	if first := origin.Of(u) + metadataPath + u.EscapedPath() + "/mcp"; first != below {
		if f := seenMetadata(ctx, cfg, first); f.Status != good {
			d.say(warning, subject, f.Message+"; some clients look there first", f.Hint)
			found = false
		}
	}
	if cfg.Broker != nil {
		if f := seenBroker(ctx, origin.Of(u)+"/.well-known/oauth-authorization-server"+u.EscapedPath(), base); f.Status != good {
			d.say(f.Status, subject, f.Message, f.Hint)
			found = false
		}
	}
	if f := seenChallenge(ctx, base+"/mcp", below); f.Status != good {
		d.say(f.Status, subject, f.Message, f.Hint)
		found = false
	}
	if found {
		d.say(good, subject, base+"/mcp tells clients where to sign in", "")
	}
}

// seenMetadata reads the metadata as a client does.
func seenMetadata(ctx context.Context, cfg *config.Config, address string) Finding {
	const pass = "let the proxy pass this path to the gateway unchanged, and check publicURL"
	resp, raw, err := visit(ctx, address)
	if err != nil {
		return unreached(address, err)
	}
	var said struct {
		Resource string   `json:"resource"`
		Name     string   `json:"resource_name"`
		Servers  []string `json:"authorization_servers"`
	}
	wrong := func(message, hint string) Finding { return Finding{Status: Problem, Message: message, Hint: hint} }
	switch err = json.Unmarshal(raw, &said); {
	case resp.StatusCode != http.StatusOK:
		message := address + " answers " + resp.Status
		if text := strings.TrimSpace(string(raw)); text != "" && len(text) < 300 && text[0] != '<' {
			message += ": " + text
		}
		return wrong(message, pass)
	case bytes.HasPrefix(bytes.TrimSpace(raw), []byte("<")):
		return wrong(address+" leads to a web page of "+origin.Of(resp.Request.URL)+", not to the gateway", pass)
	case err != nil || said.Resource == "":
		return wrong(address+" answers with something other than the metadata of the gateway", pass)
	}
	base := strings.TrimRight(cfg.PublicURL, "/")
	want := base + "/mcp"
	switch {
	case said.Resource != want && said.Name == "toolfit":
		return wrong(fmt.Sprintf("%s leads to another gateway, whose publicURL is %.200s", address, strings.TrimSuffix(said.Resource, "/mcp")),
			"correct publicURL of one of them, or what the proxy passes on; a gateway that runs may need a restart")
	case said.Resource != want:
		return wrong(fmt.Sprintf("%s speaks for %.200q, not for %s", address, said.Resource, want), pass)
	case !slices.Equal(said.Servers, cfg.AuthorizationServers()):
		return wrong(fmt.Sprintf("%s sends clients to other identity providers: %.300s", address, strings.Join(said.Servers, ", ")),
			"the gateway there runs with another configuration")
	case resp.Header.Get("Access-Control-Allow-Origin") != "*":
		return Finding{Status: Problem, Message: "clients in web pages cannot read " + address + ": Access-Control-Allow-Origin is missing",
			Hint: "let the proxy keep that header"}
	}
	return Finding{Status: good}
}

// seenBroker reads the metadata of the broker, where clients look for it.
func seenBroker(ctx context.Context, address, base string) Finding {
	resp, raw, err := visit(ctx, address)
	if err != nil {
		return unreached(address, err)
	}
	var said struct {
		Issuer string `json:"issuer"`
	}
	if resp.StatusCode == http.StatusOK && json.Unmarshal(raw, &said) == nil && said.Issuer == base {
		return Finding{Status: good}
	}
	message := "clients look for the broker at " + address + ", which answers " + resp.Status + " without its metadata"
	return Finding{Status: Problem, Message: message, Hint: "let the proxy pass this path to the gateway unchanged"}
}

// seenChallenge asks as a client does that is not signed in.
func seenChallenge(ctx context.Context, address, metadata string) Finding {
	resp, _, err := visit(ctx, address)
	if err != nil {
		return unreached(address, err)
	}
	said := resp.Header.Get("WWW-Authenticate")
	switch {
	case resp.StatusCode != http.StatusUnauthorized:
		return Finding{Status: Problem, Message: address + " answers " + resp.Status + " to a client that is not signed in, not 401",
			Hint: "let the proxy pass " + address + " to the gateway, without a sign-in of its own"}
	case !strings.Contains(said, `resource_metadata="`+metadata+`"`):
		return Finding{Status: Problem, Message: address + " does not tell clients where to sign in: WWW-Authenticate is missing or changed",
			Hint: "let the proxy keep that header"}
	}
	return Finding{Status: good}
}

// visit fetches an address without a credential, and follows where it leads.
func visit(ctx context.Context, address string) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp, raw, err
}

// unreached is a warning, because clients elsewhere may reach what this machine does not.
func unreached(address string, err error) Finding {
	return Finding{Status: warning, Message: "this machine cannot reach " + address + ": " + fault.Plain(err).Error(),
		Hint: "check publicURL, the name server and the proxy; clients must reach it"}
}
