package e2e

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
)

const resultsYAML = `
store: results.db
mcpServers:
  shop: {builtin: demo-shop}
results:
  - {id: orders, tool: shop__list_orders, keep: "orders(id)"}
`

// What a model fetches goes through the real program, which starts itself for a jq program:
// what the child's end means must be the same on both sides.
func TestAModelReadsWhatIsWrongWithWhatItFetches(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("programs of models are run on Linux alone")
	}
	c, err := dialRaw(run(t, write(t, resultsYAML)).url+"/mcp", "")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.request("tools/call", `{"name":"shop__list_orders","arguments":{"limit":2}}`)
	if err != nil {
		t.Fatal(err)
	}
	ref := regexp.MustCompile(`r_[a-z2-9]+`).FindString(raw)
	for _, f := range []struct{ name, args, want string }{
		{"fields", `"fields":"orders[:1](status)"`, `"structuredContent":{"value":{"orders":[{"status":`},
		{"a program", `"jq":".orders|length"`, `"structuredContent":{"value":2}`},
		{"a program without output", `"jq":"empty"`, "the jq program has no output"},
		{"a program that fails", `"jq":"error(\"no such thing\")"`, "no such thing"},
		{"a program that takes too much", `"jq":"\"x\"*1000000000"`, "the jq program took more than 256 MiB"},
		{"a field that is not there", `"fields":"nothing"`, "none of the fields nothing occurs"},
		{"a ref that is not there", `"ref":"r_zzzzzzzz"`, `there is no result \"r_zzzzzzzz\"`},
	} {
		args := f.args
		if !strings.Contains(args, "ref") {
			args += `,"ref":"` + ref + `"`
		}
		raw, err := c.request("tools/call", `{"name":"fetch_result","arguments":{`+args+`}}`)
		if works := strings.Contains(f.want, "structuredContent"); err != nil || !strings.Contains(raw, f.want) ||
			strings.Contains(raw, `"isError":true`) == works {
			t.Errorf("%s: %s, %v; want %s", f.name, raw, err, f.want)
		}
	}
}
