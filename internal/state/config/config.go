// Package config reads toolfit.yaml, or the JSON file of an MCP client, into plain values with all
// defaults filled in. It also adds and removes servers in such a file without touching comments
// or order.
//
// All problems of a file are found at once, each with file, line, field and fix:
//
//	toolfit.yaml:7: mcpServers.files.comand: unknown key; did you mean "command"?
//
// Values of ${VAR} and ${file:PATH} are filled in after the text is parsed, so that they cannot
// change its structure.
//
//	cfg, err := config.Load("toolfit.yaml", os.LookupEnv)
package config

import (
	"cmp"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/base/sandbox"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/policy"
	"github.com/toolfit/toolfit/internal/core/project"
)

// Config is one file, read and checked. It is read-only.
type Config struct {
	Path          string         // the file, as given to Load
	Listen        string         // address to serve on; 127.0.0.1:8420 unless set
	Store         string         // path of a SQLite file, relative to the configuration, or an address such as postgres://…
	Hosts         []string       // host names allowed besides loopback
	Origins       []string       // pages of other origins that may send requests, as scheme://host
	PublicURL     string         // address of the gateway in links; "": where it listens
	BasePath      string         // prefix of every URL, with a leading and no trailing slash; "" for none
	Proxies       []netip.Prefix // trusted reverse proxies
	Replica       Replica
	Rate          Rate
	Servers       []Server       // in file order
	Profiles      []Profile      // in file order; always has "default"
	Overrides     []Override     // in file order
	Policy        []policy.Rule  // what may be called, in file order
	Approvals     Approvals      // how people are asked by rules that want their yes
	Known         []*fit.Known   // facts about servers that their schemas lack
	Approve       string         // which definitions are held until approved, one of approvals; a server may say otherwise
	Results       []project.Rule // how results are cut, in file order
	ResultStore   string         // which full results are stored: cut, all or none
	Detach        Detach         // for all tools, unless a profile, server or override says otherwise
	StoredResults Retention      // full results
	Records       Records
	Sessions      Retention // chats and other sessions, from the last message on
	Limits        Limits
	Embeddings    Embeddings
	Telemetry     Telemetry
	Audit         Audit
	Identity      []Identity
	Broker        *Broker  // nil: off
	Recall        *Recall  // nil: not served
	Models        []Model  // in file order
	Agents        []Agent  // in file order
	Secrets       []string // values to redact everywhere: of ${}, headers, credentials, and env and queries unless plain text
}

// Replica is this gateway among others that share its store.
type Replica struct {
	URL   string        // where the others reach it, as scheme://host:port; "": there are no others
	Drain time.Duration // how long it serves on when it goes down, so that balancers notice
}

// approvals are what may be held until somebody approves it: nothing, suspicious definitions, also changed and new ones, all.
var approvals = []string{"auto", "suspicious", "changed", "all"}

// Server is one upstream server. Exactly one of Command, URL, Builtin and API is set.
type Server struct {
	ID        tool.ServerID
	Line      int // in the file
	Command   string
	Args      []string
	Env       map[string]string
	Inherit   []string       // globs of our variables that the process gets in addition to the standard ones
	Cwd       string         // relative to the configuration's folder, which is the default
	Sandbox   *sandbox.Rules // nil: the process has all our rights
	URL       string
	Headers   map[string]string
	OAuth     *OAuth // nil: no tokens are got
	Builtin   string
	API       *API          // an HTTP API instead of an MCP server
	Type      string        // "", stdio, http, streamable-http or sse
	Timeout   time.Duration // limit for one call; 0: not set, see CallTimeout
	Timeouts  []ToolTimeout // in file order; the first glob that matches wins over Timeout
	Detach    Detach
	Approve   string        // "": as the configuration says
	Start     time.Duration // limit for starting and the handshake
	Idle      time.Duration // closed after so long without a call; negative: never
	Isolation string        // "", shared or session
	UTF8      string        // "", replace or refuse: what happens to messages that are not UTF-8
	Disabled  bool
	Missing   string        // which ${} have no value, for people; such a server cannot be used
	Refresh   time.Duration // how old a stored tool list may get

	Proxy       string // HTTP proxy for URL; "": as the environment says
	Concurrency int    // most calls at once; 0: no limit
	Queue       int    // most calls that wait
	Breaker     Breaker
}

// CallTimeout is the limit for one call that stays with its request.
func (s Server) CallTimeout() time.Duration { return cmp.Or(s.Timeout, time.Minute) }

// Breaker says when calls to a failing server are suspended.
type Breaker struct {
	Failures int           // after so many in a row; 0: never
	Pause    time.Duration // for so long
}

// Rate limits the requests of one caller.
type Rate struct {
	PerKey float64 // requests a second; 0: no limit
	Burst  int     // requests at once
}

// ToolTimeout is the limit for calls of the tools whose raw name matches the glob.
type ToolTimeout struct {
	Glob    string
	Timeout time.Duration
}

// Profile is what one kind of caller sees.
type Profile struct {
	Name    string
	Servers []tool.ServerID // in file order; empty when All
	All     bool            // every server, including ones added later
	Allow   []string        // globs on canonical names; empty: everything is allowed
	Deny    []string        // globs on canonical names; wins over Allow
	Closed  bool            // calls need a rule of the policy that allows them
	Names   string          // prefixed or bare
	Dialect string          // of the schemas in MCP lists; "": as the servers sent them

	Validation string     // of arguments: strict or light
	Without    []fit.Kind // disabled repairs of arguments
	Budget     int        // tokens of a result for a model; 0: none was set
	TextBudget int        // where no budget was set: tokens of a result's text; 0: no limit
	Shape      string     // form of the text of results: off, json, table or auto
	DropEmpty  bool       // members without a value are removed from the text of results
	Detach     Detach
	Paging     bool // callers may ask for other fields and pages
	Tests      bool // agents get run_steps and find_element
	Code       bool // agents get run_script
	Safety     Safety
	Output     string // check of results against the tool's output schema: off, warn or strict
	Search     Search

	Environment Environment
}

// Records configures the records of calls.
type Records struct {
	Durable bool          // a call is recorded before it is answered
	Retain  time.Duration // how long records are kept
	MaxSize int64         // bytes
}

// Retention says how long and how much is kept.
type Retention struct {
	Retain  time.Duration
	MaxSize int64 // bytes in all
	PerKey  int64 // bytes of one caller
}

// Limits bound what one peer can make us use.
type Limits struct {
	Body      int64 // bytes of one HTTP request
	Message   int64 // bytes of one message or result from an upstream
	Processes int   // upstream processes at a time
	Sessions  int   // MCP sessions and listening clients at a time
	Schema    int64 // bytes of a tool's schema that is converted to a dialect
}

// DefaultProfile is a profile that every configuration has.
const DefaultProfile = "default"

// The defaults of a server. AddServer leaves them out of the file.
const (
	defaultStart   = time.Minute // a first start may download the server
	defaultIdle    = 10 * time.Minute
	defaultRefresh = time.Hour
	defaultQueue   = 100
)

// usualBreaker is the default breaker of a server.
var usualBreaker = Breaker{Failures: 5, Pause: 30 * time.Second}

// maxFile bounds what is read of a file: anything larger is not a configuration.
const maxFile = 4 << 20

func defaults(path string) *Config {
	return &Config{
		Path:          path,
		Listen:        "127.0.0.1:8420",
		Store:         "toolfit.db",
		Replica:       Replica{Drain: 5 * time.Second},
		Approve:       "auto",
		Approvals:     Approvals{Expire: 10 * time.Minute},
		ResultStore:   "cut",
		StoredResults: Retention{Retain: 24 * time.Hour, MaxSize: 1 << 30, PerKey: 256 << 20},
		Records:       Records{Retain: 30 * 24 * time.Hour, MaxSize: 2 << 30},
		Sessions:      Retention{Retain: 365 * 24 * time.Hour, MaxSize: 1 << 30, PerKey: 256 << 20},
		Audit:         Audit{Keep: 400 * day},
		Limits:        Limits{Body: 4 << 20, Message: 16 << 20, Processes: 64, Sessions: 10_000, Schema: 256 << 10},
	}
}

func defaultServer(id tool.ServerID, line int) Server {
	return Server{
		ID: id, Line: line, Start: defaultStart, Idle: defaultIdle, Refresh: defaultRefresh,
		Queue: defaultQueue, Breaker: usualBreaker,
	}
}

// RecipeServer is the server that lists recipes. People have saved what it lists, so that nothing of it is held.
func RecipeServer() Server {
	s := defaultServer(tool.Recipes, 0)
	s.Builtin = string(tool.Recipes)
	s.Approve = "auto"
	return s
}

// ServerNamed returns the server of that name.
func (c *Config) ServerNamed(id tool.ServerID) (s Server, ok bool) {
	i := slices.IndexFunc(c.Servers, func(s Server) bool { return s.ID == id })
	if i < 0 {
		return Server{}, false
	}
	return c.Servers[i], true
}

// Load reads the file at path. A .json file is read as one of an MCP client: only its servers
// count, and unknown keys are ignored. env looks up variables; nil means os.LookupEnv.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, env)
}

// Parse is Load for text that was read already. path is for messages, the format, and relative
// paths.
func Parse(path string, data []byte, env func(string) (string, bool)) (*Config, error) {
	src, problems := readSource(path, data)
	if src == nil {
		return nil, problems.Err(path)
	}
	if env == nil {
		env = os.LookupEnv
	}
	d := &decoder{dir: filepath.Dir(path), env: env, client: src.JSON, problems: problems}
	cfg := d.config(path, src)
	if len(d.problems) > 0 {
		return nil, d.problems.Err(path)
	}
	return cfg, nil
}

// ReadFile reads a configuration file, but never more than a configuration can be.
func ReadFile(path string) ([]byte, error) {
	data, err := regular.Read(path, maxFile)
	var why *fs.PathError
	if errors.As(err, &why) {
		err = why.Err // which does not repeat the path
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "read %s: %w", path, err).WithHint("name the file with --config, or make one with: toolfit add")
	case err != nil:
		return nil, fault.New(fault.BadConfig, "read %s: %w", path, err).WithHint("check that it is a file, and who may read it")
	}
	return data, nil
}
