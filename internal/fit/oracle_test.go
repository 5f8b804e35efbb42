package fit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// data is the folder of corpora; without it a test skips.
func data(t testing.TB, path ...string) string {
	t.Helper()
	dir := os.Getenv("TOOLFIT_DATA")
	if dir == "" {
		t.Skip("TOOLFIT_DATA is not set: no corpus")
	}
	return filepath.Join(append([]string{dir}, path...)...)
}

var corpora = []string{"toucan_mcp_tools.jsonl", "docker_mcp_registry_tools.jsonl", "openapi_ops_dev.jsonl"}

// corpus reads the schemas of one file, each distinct one once.
func corpus(t testing.TB, name string) []json.RawMessage {
	t.Helper()
	f, err := os.Open(data(t, "schemas", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]bool{}
	var out []json.RawMessage
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row struct {
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if s := string(row.InputSchema); s != "" && !seen[s] {
			seen[s] = true
			out = append(out, row.InputSchema)
		}
	}
	return out
}

// noLoader refuses every document but the one at hand.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, errors.New("nothing is fetched: " + url) }

// anyText stands for a pattern that the engine does not know.
type anyText string

func (anyText) MatchString(string) bool { return true }
func (a anyText) String() string        { return string(a) }

// oracle is another validator, which says what is right.
func oracle(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(s)
		if err != nil {
			return anyText(s), nil
		}
		return re, nil
	})
	for _, name := range []string{ // older drafts assert formats; we never do
		"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email", "date", "time", "date-time",
		"uri", "uri-reference", "uriref", "uri-template", "semver", "idn-hostname", "idn-email", "iri", "iri-reference", "regex",
	} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource("mem:///tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///tool.json")
}

func valid(s *jsonschema.Schema, raw []byte) bool {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	return err == nil && s.Validate(v) == nil
}

// verdict is ours, without the rule that arguments are an object.
func verdict(root *shape, raw []byte) bool {
	t := &tape{}
	if t.read(raw) != nil {
		return false
	}
	fits, _ := check(context.Background(), []*shape{root}, t, false)
	return fits
}

func TestTheVerdictIsThatOfTheStandardSuite(t *testing.T) {
	files, err := filepath.Glob(data(t, "schemas", "jsts", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no suite", err)
	}
	tests, elsewhere, open := 0, 0, 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		if err := json.Unmarshal(raw, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			root, notes := compile(g.Schema)
			for _, c := range g.Tests {
				tests++
				got := verdict(root, c.Data)
				if len(notes) > 0 { // it refers to a document that is not there
					elsewhere++
					if got && !c.Valid {
						open++
						continue
					}
				}
				if got != c.Valid {
					t.Errorf("%s: %s: %s: fits = %v, notes %v\n%s\n%s", filepath.Base(file), g.Description, c.Description, got, notes, g.Schema, c.Data)
				}
			}
		}
	}
	t.Logf("%d tests: all as the suite says, but %d of %d that refer to other documents, which are accepted", tests, open, elsewhere)
}
