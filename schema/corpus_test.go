package schema

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// corpus reads the schemas of one file of the data folder, each distinct one once.
func corpus(t testing.TB, name string) [][]byte {
	t.Helper()
	dir := os.Getenv("TOOLFIT_DATA")
	if dir == "" {
		t.Skip("TOOLFIT_DATA is not set: no schema corpus")
	}
	f, err := os.Open(filepath.Join(dir, "schemas", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]bool{}
	var out [][]byte
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
			out = append(out, []byte(s))
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

var corpora = []string{"toucan_mcp_tools.jsonl", "docker_mcp_registry_tools.jsonl", "openapi_ops_dev.jsonl"}

// noLoader refuses every document but the one at hand.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) { return nil, errors.New("nothing is fetched: " + url) }

// anyText stands for a pattern that the engine does not know.
type anyText struct{ s string }

func (a anyText) MatchString(string) bool { return true }
func (a anyText) String() string          { return a.s }

func compile(raw []byte) (*jsonschema.Schema, error) { return compileFor(raw, false) }

func compileFor(raw []byte, formats bool) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if formats {
		c.AssertFormat()
	}
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(s)
		if err != nil {
			return anyText{s}, nil
		}
		return re, nil
	})
	if err := c.AddResource("mem:///tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///tool.json")
}
