package config

import (
	"encoding/json"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// RecallDialect is the form of parameters in the older service.
const RecallDialect = "recall"

// Recall configures how the actions of knowledge networks are offered as tools.
type Recall struct {
	Name         string // host in the addresses for callers; "": that of listen
	Port         int    // port in these; 0: that of listen
	Answer       string // form of the answer: proxy or driver
	Fixed        string // how fixed parameters are handled: return or bind
	Echo         bool   // bound parameters are returned as well
	Depth        int    // nested references that are followed
	Dialect      string // of the parameters of tools that our proxy calls
	IsErrorAlias bool   // is_error is sent in addition to isError
	Project      bool   // results of proxy calls are cut as for a model
	Profile      string // of callers of a trusted network
	Language     string // default for errors: zh-CN or en-US
	Trust        []netip.Prefix

	OntologyQuery       RecallUpstream
	OperatorIntegration RecallUpstream
	Actions             []RecallAction
}

// RecallUpstream is a service that recall uses.
type RecallUpstream struct {
	URL     string // such as http://ontology-query:13018; "": not used
	Timeout time.Duration
}

// RecallAction is an action that is defined in the file.
type RecallAction struct {
	Network    string // kn_id
	ActionType string // at_id
	Server     string // mcp_id; "" with Tool
	ServerTool string // tool_name, the server's own name for it
	Tool       string // canonical name of an operation of apis; "" with Server
	Parameters json.RawMessage
}

// RecallAddress returns the host and port for callers of recall.
func (c *Config) RecallAddress() string {
	host, port, _ := net.SplitHostPort(c.Listen)
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "agent-retrieval"
	}
	if c.Recall.Name != "" {
		host = c.Recall.Name
	}
	if c.Recall.Port != 0 {
		port = strconv.Itoa(c.Recall.Port)
	}
	return net.JoinHostPort(host, port)
}

// readRecall reads recall. The key alone enables it.
func (c *draft) readRecall(d *decoder, at place, n *node) {
	r := &Recall{
		Answer: "proxy", Fixed: "return", Depth: 3, Dialect: RecallDialect, IsErrorAlias: true, Profile: DefaultProfile, Language: "en-US",
		OntologyQuery: RecallUpstream{Timeout: 2 * time.Second}, OperatorIntegration: RecallUpstream{Timeout: 30 * time.Second},
	}
	if d.complete(at, n, c.recallFields(r)) && r.Answer == "driver" && r.OntologyQuery.URL == "" {
		d.fail(at, "answer: driver needs ontologyQuery.url, which runs the actions")
	}
	c.Recall = r
}

func (c *draft) recallFields(r *Recall) []field {
	return []field{
		{"name", textInto(&r.Name, checkHost)},
		{"port", countInto(&r.Port, 1, 65535)},
		{"answer", oneOf(&r.Answer, "proxy", "driver")},
		{"fixed", oneOf(&r.Fixed, "return", "bind")},
		{"echo", boolInto(&r.Echo)},
		{"depth", countInto(&r.Depth, 1, 16)},
		{"dialect", oneOf(&r.Dialect, append(dialects(), RecallDialect)...)},
		{"isErrorAlias", boolInto(&r.IsErrorAlias)},
		{"project", boolInto(&r.Project)},
		{"profile", c.profileInto(&r.Profile)},
		{"language", oneOf(&r.Language, "zh-CN", "en-US")},
		{"trust", networksInto(&r.Trust)},
		{"ontologyQuery", r.OntologyQuery.read},
		{"operatorIntegration", r.OperatorIntegration.read},
		{"actions", r.readActions},
	}
}

func (u *RecallUpstream) read(d *decoder, at place, n *node) {
	if d.complete(at, n, u.fields()) && u.URL == "" {
		d.fail(at, "needs url, such as http://ontology-query:13018")
	}
	u.URL = strings.TrimRight(u.URL, "/")
	d.secretsIn(u.URL)
}

func (u *RecallUpstream) fields() []field {
	return []field{
		{"url", textInto(&u.URL, urlLike("https://example.com"))},
		{"timeout", durationInto(&u.Timeout, time.Millisecond)},
	}
}

func (r *Recall) readActions(d *decoder, at place, n *node) {
	seen := map[[2]string]bool{}
	d.items(at, n, func(inner place, item *node) {
		a := RecallAction{Parameters: json.RawMessage("{}")}
		if d.complete(inner, item, a.fields()) {
			id := [2]string{a.Network, a.ActionType}
			switch {
			case a.Network == "" || a.ActionType == "":
				d.fail(inner, "needs kn_id and at_id")
			case seen[id]:
				d.fail(inner, "the action is there twice; keep one")
			case (a.Server == "") == (a.Tool == "") || (a.Server == "") != (a.ServerTool == ""):
				d.fail(inner, "needs mcp_id and tool_name, or tool: an operation of apis, such as petstore__addPet")
			}
			seen[id] = true
		}
		r.Actions = append(r.Actions, a)
	})
}

func (a *RecallAction) fields() []field {
	return []field{
		{"kn_id", textInto(&a.Network, checkFilled)},
		{"at_id", textInto(&a.ActionType, checkFilled)},
		{"mcp_id", textInto(&a.Server, checkFilled)},
		{"tool_name", textInto(&a.ServerTool, checkFilled)},
		{"tool", textInto(&a.Tool, checkFilled)},
		{"parameters", jsonInto(&a.Parameters)},
	}
}
