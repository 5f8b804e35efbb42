package restapi_test

import (
	"strings"
	"testing"
)

func TestAudit(t *testing.T) {
	g := newGateway(t)
	if status, body := g.ask(t, "root", "POST", "/api/v1/keys", `{"name":"new"}`); status != 201 {
		t.Fatal(status, body)
	}
	for _, c := range []struct {
		rule, who, query string
		status           int
		has              string
	}{
		{"a caller sees nothing", "ann", "", 403, `"code":"forbidden"`},
		{"a viewer sees nothing", "eye", "", 403, `"code":"forbidden"`},
		{"an admin sees who made a change", "root", "?what=new", 200, `"name":"root"},"action":"key.create","subject":"new"`},
		{"changes go page by page", "root", "?limit=1", 200, `"next_cursor":"`},
		{"the last page has no next", "root", "?cursor=1", 200, `{"records":[]}`},
		{"a wrong cursor", "root", "?cursor=x", 400, `cursor must be a whole number`},
		{"a wrong time", "root", "?since=yesterday", 400, `since must be a time`},
		{"a wrong actor", "root", "?actor=%00", 400, `UTF-8 text without NUL`},
		{"later than all", "root", "?since=2999-01-01T00:00:00Z", 200, `{"records":[]}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			status, body := g.ask(t, c.who, "GET", "/api/v1/audit"+c.query, "")
			if status != c.status || !strings.Contains(body, c.has) {
				t.Errorf("HTTP %d, want %d with %s: %.300s", status, c.status, c.has, body)
			}
		})
	}
}
