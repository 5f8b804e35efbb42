package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// openSet is a public set that is measured where somebody has it. Nothing of it is in the repository, and nothing was chosen on
// it but what the page says.
type openSet struct {
	Name, Title, Repo, Commit, License string

	Used    string   // the commit that was read; "" if none
	Missing []string // what was not measured, and why

	dir  string
	read func(*openSet, *output) error
}

func openSets() []*openSet {
	return []*openSet{
		{Name: "tau2", Title: "τ²-bench", Repo: "github.com/sierra-research/tau2-bench", License: "MIT",
			Commit: "a2c024725189473d2d7cea3a5cfdbcc67478e41f", read: readTau2},
		{Name: "nestful", Title: "NESTFUL", Repo: "github.com/IBM/NESTFUL", License: "Apache-2.0",
			Commit: "053cbde0446dddd31e8293f179085e1b39ab79b5", read: readNestful},
		{Name: "mcpproxy", Title: "mcpproxy-go", Repo: "github.com/smart-mcp-proxy/mcpproxy-go", License: "MIT",
			Commit: "20a3e5094ad613cf0b153648b19e13fd6ef1615d", read: readDescriptions},
	}
}

// locate puts the folders into the sets: "tau2=/path nestful=/path".
func locate(sets []*openSet, folders string) error {
	for _, one := range strings.Fields(folders) {
		name, dir, _ := strings.Cut(one, "=")
		i := slices.IndexFunc(sets, func(s *openSet) bool { return s.Name == name })
		if i < 0 {
			return fmt.Errorf("SETS: no set is called %q; there are tau2, nestful and mcpproxy", name)
		}
		s := sets[i]
		s.dir = dir
		head, err := s.git("rev-parse", "HEAD")
		if err != nil || dir == "" {
			return fmt.Errorf("SETS: %s=%s is no git repository", name, dir)
		}
		s.Used = strings.TrimSpace(string(head))
		if _, err := s.git("cat-file", "-e", s.Commit+"^{commit}"); err == nil {
			s.Used = s.Commit
		}
	}
	return nil
}

// git asks the repository of the set, which may be bare. What it lacks is not fetched.
func (s *openSet) git(args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-C", s.dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1")
	return cmd.Output()
}

// file is one of the commit.
func (s *openSet) file(path string) ([]byte, error) {
	text, err := s.git("show", s.Used+":"+path)
	if err != nil {
		return nil, fmt.Errorf("%s is not in this copy", path)
	}
	return text, nil
}

// files are the paths below a folder.
func (s *openSet) files(folder string) []string {
	text, err := s.git("ls-tree", "-r", "-z", "--name-only", s.Used, folder)
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == 0 })
}

func (s *openSet) lacks(format string, args ...any) {
	s.Missing = append(s.Missing, fmt.Sprintf(format, args...))
}

// output is a folder in which labs find what was read.
type output struct {
	dir   string
	calls bytes.Buffer
}

// add writes down a call. Its schema must be one.
func (o *output) add(c corpora.Call) error { return json.NewEncoder(&o.calls).Encode(c) }

func (o *output) write(name string, text []byte) error {
	file := filepath.Join(o.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// readSets reads all sets that were named. One that cannot be read is not measured.
func readSets(sets []*openSet, dir string) error {
	o := &output{dir: dir}
	for _, s := range sets {
		if s.Used == "" {
			s.lacks("it was not named by SETS")
		} else if err := s.read(s, o); err != nil {
			s.lacks("%v", err)
		}
	}
	if o.calls.Len() == 0 {
		return nil
	}
	return o.write("calls.jsonl", o.calls.Bytes())
}

const descriptions = "specs/065-evaluation-foundation/datasets/"

// readDescriptions takes the labelled definitions of mcpproxy-go.
func readDescriptions(s *openSet, o *output) error {
	for _, name := range []string{"detect_corpus_v1.json", "security_corpus_v1.json"} {
		text, err := s.file(descriptions + name)
		if err == nil {
			err = o.write("scan/"+name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// action is a call as τ²-bench writes it, both for what is right and for what a model did.
type action struct {
	Name      string
	Arguments json.RawMessage
}

// readTau2 reads the tools of each domain from their Python source, and the calls that solve its tasks.
func readTau2(s *openSet, o *output) error {
	for _, domain := range []string{"airline", "retail", "telecom", "banking_knowledge"} {
		source := newPython()
		for _, file := range []string{"data_model.py", "user_data_model.py", "tools.py", "user_tools.py"} {
			if text, err := s.file("src/tau2/domains/" + domain + "/" + file); err == nil {
				source.read(string(text))
			}
		}
		short, _, _ := strings.Cut(domain, "_")
		var tasks []struct {
			Criteria struct{ Actions []action } `json:"evaluation_criteria"`
		}
		data := "data/tau2/domains/" + domain + "/tasks.json"
		text, err := s.file(data)
		if err != nil {
			s.lacks("%v; tasks_small.json stands for it", err)
			text, err = s.file(strings.Replace(data, ".json", "_small.json", 1))
		}
		if err != nil {
			s.lacks("%v", err)
			continue
		}
		if err := json.Unmarshal(text, &tasks); err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
		var actions []action
		for _, t := range tasks {
			actions = append(actions, t.Criteria.Actions...)
		}
		if err := s.actions(o, source, "τ² "+short, actions); err != nil {
			return err
		}
		if err := s.replay(o, source, short); err != nil {
			return err
		}
		if len(source.unknown) > 0 {
			s.lacks("types of %s that the reader does not know take anything: %d", short, len(source.unknown))
		}
	}
	return nil
}

// actions writes down calls. Those of banking that carry a call in a text count as both.
func (s *openSet) actions(o *output, source *python, set string, list []action) error {
	without := map[string]int{}
	for _, a := range list {
		schema, known := source.tool(a.Name)
		if !known {
			without[a.Name]++
			continue
		}
		raw := cmp.Or(string(a.Arguments), "{}")
		if err := o.add(corpora.Call{Set: set, Tool: a.Name, Schema: schema, Arguments: compact(raw)}); err != nil {
			return err
		}
		var inner struct {
			Name      string `json:"agent_tool_name"`
			Arguments string
		}
		if json.Unmarshal(a.Arguments, &inner) != nil || inner.Name == "" || !json.Valid([]byte(inner.Arguments)) {
			continue
		}
		if schema, known := source.tool(inner.Name); known {
			if err := o.add(corpora.Call{Set: set + ", inner", Tool: inner.Name, Schema: schema, Arguments: compact(inner.Arguments)}); err != nil {
				return err
			}
		}
	}
	for _, tool := range sorted(without) {
		s.lacks("%s: %d calls of %s, of which there is no definition", set, without[tool], tool)
	}
	return nil
}

// replay writes down what models called in the recorded conversations of a domain, where the copy has these.
func (s *openSet) replay(o *output, source *python, domain string) error {
	var lacking int
	for _, file := range s.files("data/tau2/results/final") {
		if !strings.HasSuffix(file, ".json") || !strings.Contains(filepath.Base(file), "_"+domain+"_") {
			continue
		}
		text, err := s.file(file)
		if err != nil {
			lacking++
			continue
		}
		var run struct {
			Simulations []struct {
				Messages []struct {
					Calls []action `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal(text, &run); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		var actions []action
		for _, sim := range run.Simulations {
			for _, m := range sim.Messages {
				actions = append(actions, m.Calls...)
			}
		}
		if err := s.actions(o, source, "τ² "+domain+", replayed", actions); err != nil {
			return err
		}
	}
	if lacking > 0 {
		s.lacks("%d files with recorded conversations of %s (data/tau2/results/final) are not in this copy: nothing is replayed", lacking, domain)
	}
	return nil
}

// compact writes JSON without blanks, as models send it.
func compact(text string) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return json.RawMessage(text)
	}
	return b.Bytes()
}
