package schema

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

func compile(raw []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
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

func TestEverySchemaOfTheCorpusIsFittedCompilesAndIsAccepted(t *testing.T) {
	for _, file := range corpora {
		t.Run(file, func(t *testing.T) {
			schemas := corpus(t, file)
			for d := range dialects {
				refused, strict := 0, 0
				for _, raw := range schemas {
					res, err := Plan(raw, d, nil)
					if err != nil {
						refused++
						if refused < 6 {
							t.Logf("%s: %v", d, err)
						}
						continue
					}
					if res.Strict {
						strict++
					}
					if bad := Check(res.Parameters, res.Dialect); len(bad) > 0 {
						t.Errorf("%s: %v\n%.600s\n%.600s", d, bad[0], raw, res.Parameters)
					}
					if _, err := compile(res.Parameters); err != nil {
						t.Errorf("%s: %v\n%.600s\n%.600s", d, err, raw, res.Parameters)
					}
					if !dialects[res.Dialect].refs && strings.Contains(string(res.Parameters), `"$ref":"`) {
						t.Errorf("%s: a reference is left: %.300s", d, res.Parameters)
					}
				}
				t.Logf("%s: %d schemas, %d refused, %d strict", d, len(schemas), refused, strict)
				if refused*200 > len(schemas) {
					t.Errorf("%s: %d of %d schemas are refused", d, refused, len(schemas))
				}
			}
		})
	}
}
