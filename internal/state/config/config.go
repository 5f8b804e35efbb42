// Package config reads toolfit.yaml, and the JSON files that MCP clients already have,
// into plain values with every default filled in. It also adds and removes servers in
// such a file without touching its comments or its order.
//
// Every problem of a file is found in one go, each with file, line, field and fix:
//
//	toolfit.yaml:7: mcpServers.files.comand: unknown key; did you mean "command"?
//
// It never starts a server, never opens the store, and never writes a file other than
// the one it was asked to edit. Values from ${VAR} and ${file:PATH} are filled in after
// the text is parsed, so that they can not change its structure.
//
//	cfg, err := config.Load("toolfit.yaml", os.LookupEnv)
package config

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/fit"
	"github.com/toolfit/toolfit/internal/core/project"
)

// Config is one file, read and checked. It is read-only.
type Config struct {
	Path          string         // the file, as it was named to Load
	Listen        string         // address to serve on; 127.0.0.1:8420 unless set
	Store         string         // path of a SQLite file, joined to the file's folder, or an address such as postgres://…
	Hosts         []string       // Host names allowed beside loopback
	Origins       []string       // pages of other origins that may send requests, as scheme://host
	PublicURL     string         // address under which people reach the gateway, for links; "" takes where it listens
	BasePath      string         // prefix of every URL, with a leading and no trailing slash; "" for none
	Proxies       []netip.Prefix // reverse proxies whose word about the client is believed
	Rate          Rate
	Servers       []Server       // in file order
	Profiles      []Profile      // in file order; always holds "default"
	Overrides     []Override     // in file order
	Known         []*fit.Known   // what is known of servers beside their schemas
	Approve       string         // what happens to changed tool definitions: auto, changed or all
	Results       []project.Rule // what is kept of results, in file order
	ResultStore   string         // which full results are kept: cut, all or none
	StoredResults StoredResults
	Records       Records
	Sessions      Sessions
	Limits        Limits
	Embeddings    Embeddings
	Recall        *Recall  // nil: not served
	Models        []Model  // in file order
	Agents        []Agent  // in file order
	Secrets       []string // values to redact everywhere: what came through ${}, headers, credentials, and values of env and of queries that are no plain text
}

// Server is one upstream server. Exactly one of Command, URL, Builtin and API is set.
type Server struct {
	ID        tool.ServerID
	Line      int // where the file names it
	Command   string
	Args      []string
	Env       map[string]string
	Inherit   []string // globs of variables of ours that the process gets beside those that every one gets
	Cwd       string   // joined to the file's folder, which is the default
	URL       string
	Headers   map[string]string
	Builtin   string
	API       *API          // an HTTP API instead of an MCP server
	Type      string        // "", stdio, http, streamable-http or sse
	Timeout   time.Duration // limit for one call
	Timeouts  []ToolTimeout // in file order; the first glob that matches wins over Timeout
	Start     time.Duration // limit for starting and the handshake
	Idle      time.Duration // closed after so long without a call; negative: never closed
	Isolation string        // "", shared or session
	UTF8      string        // "", replace or refuse: what happens to messages that are not UTF-8
	Disabled  bool
	Missing   string        // which ${} of it lead to nothing, for people; such a server can not be used
	Refresh   time.Duration // how old a stored tool list may grow

	Proxy       string // HTTP proxy to reach URL through; "" leaves it to the environment
	Concurrency int    // most calls at once; 0: no limit
	Queue       int    // how many calls may wait for their turn
	Breaker     Breaker
}

// Breaker says when a server that does not work is left alone.
type Breaker struct {
	Failures int           // so many in a row; 0: never
	Pause    time.Duration // how long it is left alone then
}

// Rate bounds how often one caller may ask.
type Rate struct {
	PerKey float64 // requests a second, in the long run; 0: no limit
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
	All     bool            // every server, also ones added later
	Allow   []string        // globs on canonical names; empty: everything is allowed
	Deny    []string        // globs on canonical names; wins over Allow
	Names   string          // prefixed or bare
	Dialect string          // whose schemas MCP lists show; "" shows what the servers said

	Validation string     // of arguments: strict or light
	Without    []fit.Kind // repairs of arguments that are not made
	Budget     int        // estimated tokens of a result that a model gets; 0: any number
	Shape      string     // how the text of results is written: off, json, table or auto
	DropEmpty  bool       // the text of results loses members without a value
	Paging     bool       // callers may ask for other fields and pages
	Tests      bool       // agents get run_steps and find_element
	Safety     Safety
	Output     string // check of results against the tool's output schema: off, warn or strict
	Search     Search

	Environment Environment
}

// Records says how the records of calls are kept.
type Records struct {
	Durable bool          // an acknowledged call is never lost
	Retain  time.Duration // how long records stay
	MaxSize int64         // bytes
}

// Sessions says how long chats and other sessions are kept.
type Sessions struct {
	Retain  time.Duration // after what was last said
	MaxSize int64         // bytes of all
	PerKey  int64         // bytes of one caller's
}

// Limits bound what one peer can make us hold.
type Limits struct {
	Body      int64 // bytes of one HTTP request
	Message   int64 // bytes of one message or result from an upstream
	Processes int   // upstream processes at a time
	Schema    int64 // bytes of one tool's schema that are fitted to a dialect
}

// DefaultProfile is the profile that every configuration has.
const DefaultProfile = "default"

// The defaults of a server. AddServer leaves them out of the file.
const (
	defaultTimeout = time.Minute
	defaultStart   = time.Minute // a first start may download the server
	defaultIdle    = 10 * time.Minute
	defaultRefresh = time.Hour
	defaultQueue   = 100
)

// usualBreaker is the breaker of a server that names none.
var usualBreaker = Breaker{Failures: 5, Pause: 30 * time.Second}

// maxFile bounds what is read of a file: anything larger is not a configuration.
const maxFile = 4 << 20

func defaults(path string) *Config {
	return &Config{
		Path:          path,
		Listen:        "127.0.0.1:8420",
		Store:         "toolfit.db",
		Approve:       "auto",
		ResultStore:   "cut",
		StoredResults: StoredResults{Retain: 24 * time.Hour, MaxSize: 1 << 30, PerKey: 256 << 20},
		Records:       Records{Retain: 30 * 24 * time.Hour, MaxSize: 2 << 30},
		Sessions:      Sessions{Retain: 365 * 24 * time.Hour, MaxSize: 1 << 30, PerKey: 256 << 20},
		Limits:        Limits{Body: 4 << 20, Message: 16 << 20, Processes: 64, Schema: 256 << 10},
	}
}

func defaultServer(id tool.ServerID, line int) Server {
	return Server{
		ID: id, Line: line, Timeout: defaultTimeout, Start: defaultStart, Idle: defaultIdle, Refresh: defaultRefresh,
		Queue: defaultQueue, Breaker: usualBreaker,
	}
}

// Load reads the file at path. A file whose name ends in .json is read as an MCP
// client's own file: only its servers count, and keys we do not know are left alone.
// env looks up variables; nil means os.LookupEnv.
func Load(path string, env func(string) (string, bool)) (*Config, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, env)
}

// Parse is Load for text that was read already. path is used in messages, for the
// format, and as the start of relative paths.
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
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.NotFound, "read %s: %w", path, err).WithHint("name the file with --config, or make one with: toolfit add")
	case err != nil:
		return nil, fault.New(fault.BadConfig, "read %s: %w", path, err).WithHint("check that it is a file, and who may read it")
	}
	return data, nil
}
