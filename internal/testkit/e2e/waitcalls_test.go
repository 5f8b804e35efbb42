package e2e

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
)

var handlePattern = regexp.MustCompile(`c_\w+`)

// handle is the handle of a call that goes on.
func handle(t *testing.T, result string, err error) string {
	t.Helper()
	id := handlePattern.FindString(result)
	if err != nil || id == "" {
		t.Fatalf("no handle: %s, %v", result, err)
	}
	return id
}

// collect asks for the result of a call until it has ended.
func collect(t *testing.T, url, id string) string {
	t.Helper()
	c, err := dialRaw(url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	var result string
	eventually(t, id+" has ended", func() bool {
		result, err = c.request("tools/call", `{"name":"fetch_result","arguments":{"ref":"`+id+`","wait":"5s"}}`)
		return err != nil || !strings.Contains(result, "Call fetch_result again")
	})
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return result
}

// modernTask sends a request of a modern client with tasks.
func modernTask(t *testing.T, url, method, name, params string) string {
	t.Helper()
	meta := strings.Replace(modernMeta, `{"elicitation":{}}`, `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`, 1)
	resp, err := modernPost(t.Context(), url, method, name, `{"_meta":`+meta+`,`+params+`}`)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	result, err := resultOf(data)
	if err != nil {
		t.Fatalf("%s %s: %v", method, name, err)
	}
	return result
}

func taskStatus(t *testing.T, url, id string) string {
	t.Helper()
	var m struct{ Status string }
	if err := json.Unmarshal([]byte(modernTask(t, url, "tasks/get", id, `"taskId":"`+id+`"`)), &m); err != nil {
		t.Fatal(err)
	}
	return m.Status
}
