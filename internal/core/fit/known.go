package fit

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
)

// Known is what is known about a server besides its schemas. The live schema always wins:
// nothing here renames to a key that the tool lacks, or from one that it has.
type Known struct {
	Name     string                     `json:"name"`
	Tools    []string                   `json:"tools"`              // tool names by which the server is recognized
	AtLeast  int                        `json:"atLeast,omitempty"`  // how many of them it must offer; 0: all
	Command  []string                   `json:"command,omitempty"`  // words that must all be in the command line that starts it
	Package  *Package                   `json:"package,omitempty"`  // npm package to install it from
	Inherit  []string                   `json:"inherit,omitempty"`  // environment variables to find its files; safe to share
	Prefixes []string                   `json:"prefixes,omitempty"` // prefixes that clients add to the names of its tools
	Routes   []Route                    `json:"routes,omitempty"`   // tools that have other names in other versions
	Rules    []Rule                     `json:"rules,omitempty"`    // rules for arguments
	Schemas  map[string]json.RawMessage `json:"schemas,omitempty"`  // for tools with an empty schema
	Session  *Session                   `json:"session,omitempty"`  // set if it keeps state for one caller
}

// Package is the npm package of a server.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"` // to download if it is not installed
	Main    string `json:"main"`    // file that Node runs
	Node    int    `json:"node"`    // oldest major version of Node
}

// Session is what a server needs so that several processes of it, one per session, do not
// interfere with each other.
type Session struct {
	Env    map[string]string `json:"env,omitempty"`    // environment variables to set
	Unless []string          `json:"unless,omitempty"` // variables and arguments by which the user has chosen otherwise
}

// For returns the variables to add for a process started with these arguments and variables.
func (s *Session) For(args []string, env map[string]string) map[string]string {
	for _, decided := range s.Unless {
		_, set := env[decided]
		if set || slices.ContainsFunc(args, func(arg string) bool { return arg == decided || strings.HasPrefix(arg, decided+"=") }) {
			return nil
		}
	}
	return s.Env
}

// Route maps a tool that the server does not offer to one that it does.
type Route struct {
	From  string                     `json:"from"`
	To    string                     `json:"to"`
	When  map[string]json.RawMessage `json:"when,omitempty"`  // only with these arguments
	Set   map[string]json.RawMessage `json:"set,omitempty"`   // arguments to add
	Unset []string                   `json:"unset,omitempty"` // arguments to remove
}

// Rule changes the arguments of some tools.
type Rule struct {
	Tool    string      `json:"tool"`              // a glob over the server's own names
	In      string      `json:"in,omitempty"`      // where: "" the arguments, "fields[]" each item of fields
	Aliases []AliasRule `json:"aliases,omitempty"` // other names of a key
	Units   []UnitRule  `json:"units,omitempty"`   // other units of a value
	Words   []WordRule  `json:"words,omitempty"`   // other words for a value
	Text    []string    `json:"text,omitempty"`    // keys whose numbers and booleans are written as text
	Fill    []FillRule  `json:"fill,omitempty"`    // required texts that can be taken from another argument
	Drop    []string    `json:"drop,omitempty"`    // keys to drop if the tool does not have them
	Keep    []string    `json:"keep,omitempty"`    // keys that are never dropped: the call would mean something else
	Filled  []string    `json:"filled,omitempty"`  // keys whose text must not be empty
	Needs   [][]string  `json:"needs,omitempty"`   // of each list, at least one key is required
}

// AliasRule renames a key.
type AliasRule struct {
	From  []string `json:"from"`
	To    string   `json:"to"`
	Match string   `json:"match,omitempty"` // only for text that matches
	Hint  string   `json:"hint,omitempty"`  // hint for text that does not match
	match *regexp.Regexp
}

// UnitRule renames a key and multiplies its number.
type UnitRule struct {
	From  []string    `json:"from"`
	To    string      `json:"to"`
	Times json.Number `json:"times"`
}

// WordRule replaces the value of a key.
type WordRule struct {
	Key   string              `json:"key"`
	When  map[string][]string `json:"when,omitempty"` // only with these values of other keys
	Words map[string][]string `json:"words"`          // value of the tool → words used instead
	Only  bool                `json:"only,omitempty"` // all other values are refused
}

// FillRule takes the text of a required key from the first other key that is present.
type FillRule struct {
	To   string   `json:"to"`
	From []string `json:"from"`
}

// ParseKnown reads and checks the description of a server.
func ParseKnown(data []byte) (*Known, error) {
	k := &Known{}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(k); err != nil {
		return nil, fmt.Errorf("read known server: %w", err)
	}
	if err := k.Check(); err != nil {
		return nil, fmt.Errorf("known server %q: %w", k.Name, err)
	}
	return k, nil
}

// Check validates the description and prepares it for use.
func (k *Known) Check() error {
	switch {
	case k.Name == "":
		return fmt.Errorf("name is missing")
	case len(k.Tools) == 0:
		return fmt.Errorf("tools is empty: nothing says how the server is recognized")
	case k.AtLeast < 0 || k.AtLeast > len(k.Tools):
		return fmt.Errorf("atLeast is %d, and there are %d tools", k.AtLeast, len(k.Tools))
	}
	for i, r := range k.Routes {
		if r.From == "" || r.To == "" {
			return fmt.Errorf("routes[%d]: from and to are needed", i)
		}
	}
	for name, raw := range k.Schemas {
		if rawjson.Check(raw) != nil || raw[0] != '{' {
			return fmt.Errorf("schemas.%s: no object", name)
		}
	}
	for i := range k.Rules {
		if err := k.Rules[i].check(); err != nil {
			return fmt.Errorf("rules[%d].%w", i, err)
		}
	}
	return nil
}

func (r *Rule) check() error {
	if r.Tool == "" {
		return fmt.Errorf(`tool is missing; write "*" for every tool`)
	}
	for i := range r.Aliases {
		a := &r.Aliases[i]
		if len(a.From) == 0 || a.To == "" {
			return fmt.Errorf("aliases[%d]: from and to are needed", i)
		}
		if a.Match == "" {
			continue
		}
		re, err := regexp.Compile(a.Match)
		if err != nil {
			return fmt.Errorf("aliases[%d].match: %w", i, err)
		}
		a.match = re
	}
	for i, u := range r.Units {
		raw := []byte(u.Times)
		if len(u.From) == 0 || u.To == "" || rawjson.Check(raw) != nil || parseDecimal(raw).sign() <= 0 {
			return fmt.Errorf("units[%d]: from, to and a positive times are needed", i)
		}
	}
	for i, w := range r.Words {
		if w.Key == "" || len(w.Words) == 0 {
			return fmt.Errorf("words[%d]: key and words are needed", i)
		}
	}
	for i, f := range r.Fill {
		if f.To == "" || len(f.From) == 0 {
			return fmt.Errorf("fill[%d]: to and from are needed", i)
		}
	}
	return nil
}

//go:embed known/*.json
var files embed.FS

// Builtin lists the servers that are known without configuration.
func Builtin() []*Known {
	names, _ := fs.Glob(files, "known/*.json") // the pattern is valid
	var out []*Known
	for _, name := range names {
		data, _ := files.ReadFile(name) // it was just found
		k, err := ParseKnown(data)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", name, err)) // a test reads every file
		}
		out = append(out, k)
	}
	return out
}

// Server is a server that was recognized.
type Server struct {
	known *Known
	tools []string
}

// Recognize finds the first known server that these tools identify, whatever its configured
// name; nil if there is none.
func Recognize(known []*Known, tools []string) *Server {
	for _, k := range known {
		n := 0
		for _, name := range k.Tools {
			if slices.Contains(tools, name) {
				n++
			}
		}
		if least := k.AtLeast; n == len(k.Tools) || least > 0 && n >= least {
			return &Server{k, tools}
		}
	}
	return nil
}

// Name returns the name of the known server, or "".
func (s *Server) Name() string {
	if s == nil {
		return ""
	}
	return s.known.Name
}

// StartedBy reports whether a command line starts the server.
func (s *Server) StartedBy(command string, args []string) bool {
	if s == nil || len(s.known.Command) == 0 {
		return false
	}
	line := strings.ToLower(command + " " + strings.Join(args, " "))
	return !slices.ContainsFunc(s.known.Command, func(word string) bool { return !strings.Contains(line, word) })
}

// Package returns the npm package of the server, or nil.
func (s *Server) Package() *Package { return s.known.Package }

// Session returns what the server needs to serve one session; nil if sessions can share it.
func (s *Server) Session() *Session {
	if s == nil {
		return nil
	}
	return s.known.Session
}

// KnownTool is what is known about one tool.
type KnownTool struct {
	rules    []*Rule
	schema   json.RawMessage
	carriers map[string]bool
}

// Tool returns what is known about a tool, by its own name on the server, or nil.
func (s *Server) Tool(name string) *KnownTool {
	if s == nil {
		return nil
	}
	t := &KnownTool{schema: s.known.Schemas[name], carriers: map[string]bool{}}
	for i := range s.known.Rules {
		r := &s.known.Rules[i]
		if !tool.Match(r.Tool, name) {
			continue
		}
		t.rules = append(t.rules, r)
		for _, key := range r.Keep {
			t.carriers[key] = true
		}
	}
	if t.rules == nil && t.schema == nil {
		return nil
	}
	return t
}

// isEmptySchema reports whether a schema does not constrain arguments.
func isEmptySchema(raw json.RawMessage) bool {
	w := rawjson.Object(raw)
	for w.Next() {
		switch string(w.Key) {
		case "$schema", "title", "description":
		case "type":
			if string(w.Value) != `"object"` {
				return false
			}
		default:
			return false
		}
	}
	return w.Err() == nil || rawjson.IsNull(raw)
}
