// Package serverjson reads server.json, which describes a server in an MCP registry, and turns it into a server of the
// configuration. Strangers wrote what it reads: sizes are limited, a package or version cannot pass for a flag, and "${" in
// their text refers to nothing of ours. It never runs anything.
//
//	doc, err := serverjson.Find(ctx, client, serverjson.Official, "io.github.acme/weather", "")
//	plan, err := doc.Choose(serverjson.Wish{})
//	server, open, err := plan.Fill(serverjson.Answers{"API_KEY": {"${API_KEY}"}})
package serverjson

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// Document is what a server.json says about a server, as far as it matters here.
type Document struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Version     string    `json:"version"`
	Packages    []Package `json:"packages"`
	Remotes     []Remote  `json:"remotes"`

	Status string `json:"-"` // "", or what the registry says: active, deprecated or deleted
}

// Package is one way to run the server.
type Package struct {
	Kind        string  `json:"registryType"` // npm, pypi, oci, mcpb, nuget, …
	Base        string  `json:"registryBaseUrl"`
	Identifier  string  `json:"identifier"`
	Version     string  `json:"version"`
	RuntimeHint string  `json:"runtimeHint"`
	SHA256      string  `json:"fileSha256"`
	RuntimeArgs []Input `json:"runtimeArguments"` // of npx, uvx or docker
	Args        []Input `json:"packageArguments"`
	Env         []Input `json:"environmentVariables"`
	Transport   struct {
		Type string `json:"type"`
	} `json:"transport"`
}

// Remote is an address at which the server runs.
type Remote struct {
	Type      string           `json:"type"`
	URL       string           `json:"url"`
	Headers   []Input          `json:"headers"`
	Variables map[string]Input `json:"variables"`
}

// Input is a variable, header or argument. One with a Value is fixed, apart from the {variables} in it.
type Input struct {
	Type        string           `json:"type"` // of an argument: positional or named
	Name        string           `json:"name"`
	Hint        string           `json:"valueHint"`
	Description string           `json:"description"`
	Format      string           `json:"format"`
	Value       Scalar           `json:"value"`
	Default     Scalar           `json:"default"`
	Choices     []string         `json:"choices"`
	Required    bool             `json:"isRequired"`
	Secret      bool             `json:"isSecret"`
	Repeated    bool             `json:"isRepeated"`
	Variables   map[string]Input `json:"variables"`
}

// Scalar is text; some publishers write numbers and booleans bare.
type Scalar string

func (s *Scalar) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(s))
	}
	if data[0] == '{' || data[0] == '[' {
		return fault.New(fault.BadConfig, "expected a text")
	}
	if text := string(data); text != "null" {
		*s = Scalar(text)
	}
	return nil
}

// maxDocument is the largest server.json that is read.
const maxDocument = 1 << 20

var (
	name    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)+/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	version = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_!-]{0,254}$`)
)

// SplitName splits io.github.acme/weather@1.0.2 into name and version, which may be missing. It is not ok if the text is not
// the name of a server in a registry.
func SplitName(text string) (server, at string, ok bool) {
	server, at, has := strings.Cut(text, "@")
	return server, at, len(server) <= 200 && name.MatchString(server) && (!has || version.MatchString(at))
}

// Parse reads a server.json, or the answer of a registry, which has one inside.
func Parse(data []byte) (*Document, error) {
	var answer struct {
		Document
		Server *Document `json:"server"`
		Meta   struct {
			Official struct {
				Status string `json:"status"`
			} `json:"io.modelcontextprotocol.registry/official"`
		} `json:"_meta"`
	}
	if len(data) > maxDocument {
		return nil, fault.New(fault.TooLarge, "the server.json is larger than 1 MB")
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fault.New(fault.BadConfig, "this is not a server.json: %w", err)
	}
	doc := &answer.Document
	if answer.Server != nil {
		doc = answer.Server
	}
	doc.Status = answer.Meta.Official.Status
	if _, _, ok := SplitName(doc.Name); !ok || strings.Contains(doc.Name, "@") {
		return nil, fault.New(fault.BadConfig, "this is not a server.json: %q is not the name of a server", doc.Name).
			WithHint("names look like io.github.acme/weather")
	}
	return doc, nil
}
