package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/doctree"
)

// Agent is a model with tools and limits. The file and the REST API have the same keys.
type Agent struct {
	ID           string
	Name         string // for people; the id unless set
	Description  string
	Personality  string
	Role         string        // primary or sub
	Model        string        // the name of one of models
	Profile      string        // whose tools it has
	Prompt       string        // its system prompt; "": generated from these settings
	Heading      string        // of the tools in a prompt; "": the default
	Language     string        // of our texts for its model: en or zh; "": en, without translated tool descriptions
	Available    []string      // its tools in the order of the prompt: shown or own names, or globs on server__tool; empty: all
	Denied       []string      // in the same form; wins over Available
	Timeout      time.Duration // limit for one answer with all its calls
	Budget       int           // tokens of a result; 0: the profile's
	MaxTokens    int           // of one answer with all its rounds, in and out; 0: no limit
	Capabilities Capabilities
	Metadata     json.RawMessage // an object, not interpreted
}

// Capabilities are what an agent may do, and its limits for one answer.
type Capabilities struct {
	Planning            bool // its prompt asks for a plan before the first call
	ToolCalling         bool
	Reflection          bool // results may lead to further calls; else the next round answers
	Memory              bool // earlier messages of the session are included
	MaxToolCalls        int
	MaxToolResultLength int // characters of one result
	MaxReflections      int // rounds after the first
	MemoryLimit         int // earlier messages
}

// The roles of an agent.
const (
	PrimaryAgent = "primary" // people talk to it
	SubAgent     = "sub"     // other agents do
)

func newAgent(id string) Agent {
	return Agent{
		ID: id, Name: id, Role: PrimaryAgent, Profile: DefaultProfile, Timeout: 10 * time.Minute, Metadata: json.RawMessage("{}"),
		Capabilities: Capabilities{
			ToolCalling: true, Reflection: true, Memory: true,
			MaxToolCalls: 20, MaxToolResultLength: 4000, MaxReflections: 3, MemoryLimit: 100,
		},
	}
}

// AgentNamed finds an agent by its id, or nil.
func (c *Config) AgentNamed(id string) *Agent {
	i := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Agents[i]
}

// readAgents reads agents. Their models may be later in the file.
func (c *draft) readAgents(d *decoder, at place, n *node) {
	d.each(at, n, func(inner place, e entry) {
		a := newAgent(e.Key)
		d.failIf(inner, checkID(e.Key))
		if e.Value.Kind != doctree.Nothing {
			d.object(inner, e.Value, c.agentFields(&a))
		}
		a.Name = cmp.Or(a.Name, a.ID)
		c.Agents = append(c.Agents, a)
		c.agentPlaces = append(c.agentPlaces, inner)
	})
}

func (c *draft) agentFields(a *Agent) []field {
	return []field{
		{"name", textInto(&a.Name, upTo(50))},
		{"description", textInto(&a.Description, upTo(500))},
		{"personality", textInto(&a.Personality, upTo(2000))},
		{"role", oneOf(&a.Role, PrimaryAgent, SubAgent)},
		{"model", textInto(&a.Model, checkFilled)},
		{"profile", c.profileInto(&a.Profile)},
		{"prompt", textInto(&a.Prompt, checkFilled)},
		{"heading", textInto(&a.Heading, checkFilled)},
		{"language", oneOf(&a.Language, "en", "zh")},
		{"available_tools", listInto(&a.Available, checkFilled)},
		{"denied_tools", listInto(&a.Denied, checkFilled)},
		{"timeout", durationInto(&a.Timeout, time.Second)},
		{"budget", countInto(&a.Budget, minBudget, maxBudget)},
		{"max_tokens", countInto(&a.MaxTokens, 100, maxBudget)},
		{"capabilities", section(a.Capabilities.fields())},
		{"metadata", jsonInto(&a.Metadata)},
	}
}

func (c *Capabilities) fields() []field {
	return []field{
		{"enable_planning", boolInto(&c.Planning)},
		{"enable_tool_calling", boolInto(&c.ToolCalling)},
		{"enable_reflection", boolInto(&c.Reflection)},
		{"enable_memory", boolInto(&c.Memory)},
		{"max_tool_calls", countInto(&c.MaxToolCalls, 1, 1000)},
		{"max_tool_result_length", countInto(&c.MaxToolResultLength, 1000, 100_000_000)},
		{"max_reflection_iterations", countInto(&c.MaxReflections, 0, 10)},
		{"memory_limit", countInto(&c.MemoryLimit, 1, 10_000)},
	}
}

// checkAgents finds each agent's model. A single model is the default.
func (c *draft) checkAgents(d *decoder) {
	for i := range c.Agents {
		d.failIf(c.agentPlaces[i], c.chooseModel(&c.Agents[i]))
	}
}

func (c *draft) chooseModel(a *Agent) string {
	var names []string
	for _, m := range c.Models {
		names = append(names, m.Name)
	}
	switch {
	case a.Model == "" && len(names) == 1:
		a.Model = names[0]
	case a.Model == "" && len(names) == 0:
		return "needs model: the name of one of models, and there is none; add it to models"
	case a.Model == "":
		return "needs model: one of " + strings.Join(names, ", ")
	case !slices.Contains(names, a.Model):
		return fmt.Sprintf("there is no model %q%s", a.Model, doctree.DidYouMean(a.Model, names))
	}
	return ""
}

// ParseAgent reads one agent from JSON: the keys of an entry of agents. It is checked like the
// file; cfg has the models and profiles. ${} has no meaning.
func ParseAgent(id string, data []byte, cfg *Config) (Agent, error) {
	what := "agent " + id
	if wrong := checkID(id); wrong != "" {
		return Agent{}, doctree.Problems{{Text: wrong}}.Err(fmt.Sprintf("%.70q", id))
	}
	root, err := readObject(what, data)
	if err != nil {
		return Agent{}, err
	}
	c := &draft{Config: &Config{Profiles: cfg.Profiles, Models: cfg.Models}}
	d := &decoder{plain: true}
	a := newAgent(id)
	d.object(place{}, root, c.agentFields(&a))
	c.checkRefs(d)
	d.failIf(place{}, c.chooseModel(&a))
	a.Name = cmp.Or(a.Name, a.ID)
	return a, d.err(what)
}

// upTo accepts text of at most so many characters.
func upTo(most int) func(string) string {
	return func(s string) string {
		if n := utf8.RuneCountInString(s); n > most {
			return fmt.Sprintf("expected at most %d characters, got %d", most, n)
		}
		return ""
	}
}

// checkID accepts what is safe in a URL, in a log and as the "model" of a request.
func checkID(s string) string {
	other := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:", r)
	}
	switch {
	case strings.ContainsFunc(s, other):
		return `is not a valid id; use letters, digits, "-", "_", "." and ":"`
	case s == "" || len(s) > 64 || strings.Trim(s, ".") == "":
		return "is not a valid id; use 1 to 64 letters"
	}
	return ""
}
