package project_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// serverResults are what real servers answer.
func serverResults(t testing.TB) []labResult {
	t.Helper()
	node := testparts.Need(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	files := ask(t, node.Command("mcp-server-filesystem", root), []call{
		{"list_directory_with_sizes", fmt.Sprintf(`{"path":%q}`, root+"/project")}, {"directory_tree", fmt.Sprintf(`{"path":%q}`, root)},
		{"search_files", fmt.Sprintf(`{"path":%q,"pattern":"**/*.go"}`, root)},
		{"read_text_file", fmt.Sprintf(`{"path":%q}`, root+"/project/fit.go")},
	})
	var entities []string
	for i := range 60 {
		const entity = `{"name":"Entity %d","entityType":"thing","observations":["seen in room %d","owned by %d"]}`
		entities = append(entities, fmt.Sprintf(entity, i, i*7, i%5))
	}
	graph := ask(t, node.Command("mcp-server-memory"), []call{
		{"create_entities", `{"entities":[` + strings.Join(entities, ",") + `]}`}, {"read_graph", `{}`},
	})
	return []labResult{
		linesResult("files: directory", files[0]), treeResult(t, "files: tree", files[1]), linesResult("files: search", files[2]),
		linesResult("files: a file", files[3]), jsonResult(t, "memory: graph", graph[1]),
	}
}

type call struct{ tool, args string }

// ask starts a server, makes the calls, and returns the texts that it answers.
func ask(t testing.TB, command []string, calls []call) (texts []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = append(cmd.Environ(), "MEMORY_FILE_PATH="+t.TempDir()+"/memory.jsonl")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		cmd.Wait()
	}()
	answers := bufio.NewReader(out)
	request(t, in, answers, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"lab","version":"1"}}`)
	io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	for _, c := range calls {
		text := project.Text(request(t, in, answers, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, c.tool, c.args)))
		texts = append(texts, text)
	}
	return texts
}

// request sends a request and returns its result.
func request(t testing.TB, in io.Writer, answers *bufio.Reader, method, params string) []byte {
	t.Helper()
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
	for {
		line, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
		}
		if json.Unmarshal(line, &answer) == nil && answer.ID == 1 && answer.Result != nil {
			return answer.Result
		}
	}
}
