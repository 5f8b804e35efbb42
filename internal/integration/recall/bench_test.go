package recall

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// BenchmarkRecall is get_action_info with a warm catalog and an action of the configuration.
func BenchmarkRecall(b *testing.B) {
	w := newWorld(b, `
listen: 0.0.0.0:30779
mcpServers: {shop: {command: shop}}
recall: {trust: [192.0.2.0/24], actions: [{kn_id: k, at_id: a, mcp_id: shop, tool_name: orders, parameters: {limit: 5}}]}
`, map[string]string{"shop": ordersTool})
	benchmark(b, w, private+"/kn/get_action_info", `{"kn_id":"k","at_id":"a","_instance_identities":[{"id":"1"}]}`)
}

// BenchmarkProxy is a call of a tool of our own by the proxy, without the time of the tool.
func BenchmarkProxy(b *testing.B) {
	w := newWorld(b, "listen: 0.0.0.0:30779\nmcpServers: {shop: {command: shop}}\nrecall: {trust: [192.0.2.0/24]}",
		map[string]string{"shop": ordersTool})
	w.results["shop orders"] = `{"content":[{"type":"text","text":"` + strings.Repeat("order ", 50) + `"}],"isError":false}`
	benchmark(b, w, private+"/mcp/proxy/shop/tools/orders/call", `{"limit":5,"filter":{"status":"open"}}`)
}

const ordersTool = `[{"name":"orders","description":"Orders","inputSchema":{"type":"object","properties":{"limit":{"type":"integer"},` +
	`"filter":{"$ref":"#/$defs/F"},"more":{"$ref":"#/$defs/F"}},"$defs":{"F":{"type":"object",` +
	`"properties":{"status":{"type":"string"},"next":{"$ref":"#/$defs/F"}}}}}}]`

func benchmark(b *testing.B, w *world, path, body string) {
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Host = "agent-retrieval"
		res := httptest.NewRecorder()
		w.ServeHTTP(res, r)
		if res.Code != 200 {
			b.Fatalf("%d %s", res.Code, res.Body)
		}
		w.sent = nil
		w.records = nil
	}
}
