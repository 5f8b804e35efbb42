package doctor

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/base/origin"
	"github.com/toolfit/toolfit/internal/program/cli/terminal"
	"github.com/toolfit/toolfit/internal/state/config"
)

// proxies says which servers use the proxies of the environment: those by URL, unless they are on
// this machine or in NO_PROXY. Started programs get the variables but may ignore them. HTTP APIs
// are reached directly, because their guard checks addresses, and a proxy resolves names.
func (d *doctor) proxies(cfg *config.Config) {
	const subject = "proxy"
	var set []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		value, _ := d.Lookup(name)
		_, err := url.Parse(value)
		_, short := url.Parse("http://" + value)
		switch {
		case value == "":
		case err != nil && short != nil:
			d.say(warning, subject, name+" is not the address of a proxy and is ignored", "write it as http://HOST:PORT")
		default:
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		if value, _ := d.Lookup("ALL_PROXY"); value != "" {
			d.say(warning, subject, "ALL_PROXY is set, which toolfit does not use; it is passed on to started programs",
				"set HTTPS_PROXY and HTTP_PROXY, or proxy of a server")
		}
		return
	}
	var through, direct, apis, programs []string
	for _, s := range cfg.Servers {
		switch {
		case s.Disabled || s.Proxy != "" || s.Missing != "":
		case s.API != nil:
			apis = append(apis, string(s.ID))
		case s.Command != "":
			programs = append(programs, string(s.ID))
		case s.URL != "":
			if proxy := proxyFor(s.URL); proxy == "" {
				direct = append(direct, string(s.ID))
			} else {
				through = append(through, string(s.ID)+" by "+proxy)
			}
		}
	}
	parts := []string{strings.Join(set, ", ") + " of the environment"}
	for _, part := range []struct {
		what  string
		names []string
	}{
		{"reached through it", through},
		{"reached directly (on this machine, in NO_PROXY, or no proxy for the scheme)", direct},
		{"reached directly (HTTP APIs only use their own proxy setting)", apis},
		{"started with it in their environment, which they may ignore", programs},
	} {
		if len(part.names) > 0 {
			parts = append(parts, part.what+": "+terminal.Some(part.names))
		}
	}
	if len(parts) == 1 {
		parts = append(parts, "no server uses it")
	}
	d.say(good, subject, strings.Join(parts, "; "), "")
}

// proxyFor is the proxy of the environment for an address, without credentials; "" for none.
func proxyFor(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // reported with the server
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		return origin.Of(proxy)
	}
	return ""
}
