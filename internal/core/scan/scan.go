// Package scan looks for attacks on the model in what a server offers: text that a person does not
// see, orders to the model, requests for secrets, orders about other servers' tools, and names that
// imitate theirs. It reads a definition and says what it found; it never changes one, and does no I/O.
//
//	for _, f := range scan.Definition(raw, scan.NewNames(own, others)) {
//		fmt.Println(f.Where, f.Message, f.Quote)
//	}
//
// It knows words, not meaning: an attack in other words, or in a language that the lexicon does not
// have, passes.
package scan

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/visible"
)

// Kind is what a finding is about.
type Kind string

const (
	Hidden      Kind = "hidden"      // text that a person does not see
	Instruction Kind = "instruction" // an order to the model
	Secrets     Kind = "secrets"     // a request for secrets, files or the conversation
	CrossTool   Kind = "cross-tool"  // an order about tools of other servers
	Shadow      Kind = "shadow"      // a name that another server's tool has, or that looks like it
)

// Finding is something suspicious in a definition.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Where   string `json:"where"` // path within the definition, such as inputSchema.properties.path.description
	Quote   string `json:"quote"` // the words, with nothing hidden in them
	Message string `json:"message"`
	Note    bool   `json:"note,omitempty"` // worth knowing, but no reason to hold the definition
}

// String is the finding in one line.
func (f Finding) String() string {
	where := ""
	if f.Where != "" {
		where = f.Where + ": "
	}
	return where + f.Message + ": “" + f.Quote + "”"
}

// Suspicious reports whether findings are a reason to hold a definition.
func Suspicious(findings []Finding) bool {
	for _, f := range findings {
		if !f.Note {
			return true
		}
	}
	return false
}

const (
	maxText     = 256 << 10 // bytes of text of one definition that are examined
	maxFindings = 16        // of one definition
	maxQuote    = 160       // characters
)

// scanner examines one definition.
type scanner struct {
	names    *Names
	params   map[string]bool // names of the tool's own parameters
	left     int             // bytes of text that may still be examined
	words    []word
	findings []Finding
}

// Definition returns what is suspicious in the definition of a tool, prompt or resource, or in the
// instructions of a server: every string and every name in it is examined. Names may be nil.
func Definition(raw json.RawMessage, names *Names) []Finding {
	s := &scanner{names: names, left: maxText, params: map[string]bool{}}
	for w := rawjson.Object(rawjson.Get(raw, "inputSchema", "properties")); w.Next(); {
		s.params[string(w.Key)] = true
	}
	if w := rawjson.Object(raw); w.Err() == nil {
		s.members(&w, nil)
	} else {
		s.literal(raw, nil)
	}
	if name, ok := rawjson.String(rawjson.Get(raw, "name")); ok {
		description, _ := rawjson.String(rawjson.Get(raw, "description"))
		s.name(name, description)
	}
	return s.findings
}

// members examines the members of an object or array. Their depth is limited by rawjson.
func (s *scanner) members(w *rawjson.Walk, path []string) {
	for i := 0; w.Step() && s.left >= 0; i++ {
		inner := append(path, strconv.Itoa(i))
		if w.Key != nil {
			inner[len(path)] = string(w.Key)
			s.text(string(w.Key), inner)
		}
		in := w.Into()
		if in.Err() == nil { // an object or array
			s.members(&in, inner)
			w.Out(&in)
			continue
		}
		if w.Skip() {
			s.literal(w.Value, inner)
		}
	}
}

func (s *scanner) literal(raw []byte, path []string) {
	if text, ok := rawjson.String(raw); ok {
		s.text(text, path)
	}
}

// icon is a picture and nothing else, of which no model reads anything.
var icon = regexp.MustCompile(`^data:image/[a-z+.-]+;base64,[A-Za-z0-9+/]*=*$`)

// text examines one string of the definition.
func (s *scanner) text(text string, path []string) {
	if len(text) < 8 && isPlain(text) || icon.MatchString(text) { // a keyword
		return
	}
	if s.left -= len(text); s.left < 0 {
		s.add(Hidden, path, text[:min(len(text), maxQuote)], "it is too long for anybody to read, and was not examined to its end")
		return
	}
	plain := s.reveal(text, path)
	s.phrases(plain, path)
	s.encoded(plain, path)
}

// add adds a finding. One of each kind and message is enough for a place.
func (s *scanner) add(kind Kind, path []string, quote, message string) {
	where := visible.Beginning(visible.Text(strings.Join(path, ".")), maxQuote)
	quote = visible.Beginning(visible.Text(strings.Join(strings.Fields(strings.ToValidUTF8(quote, "�")), " ")), maxQuote)
	for _, f := range s.findings {
		if f.Where == where && f.Message == message {
			return
		}
	}
	if len(s.findings) < maxFindings {
		s.findings = append(s.findings, Finding{Kind: kind, Where: where, Quote: quote, Message: message})
	}
}
