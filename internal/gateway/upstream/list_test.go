//go:build unix

package upstream

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/config"
)

// lists is a server over HTTP that says no more than what it lists. Each function gives the
// result of a page by its number.
func lists(t *testing.T, hello string, answers map[string]func(page int) string) (*Pool, map[string]int) {
	t.Helper()
	asked := map[string]int{}
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.Parse(body)
		if err != nil || m.ID == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		result := hello
		if answer := answers[m.Method]; answer != nil {
			result = answer(asked[m.Method]) // a listing asks for one page after the other
			asked[m.Method]++
		} else if m.Method != "initialize" {
			result = `{}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(srv.Close)
	p, _ := newPool(t, nil, config.Server{ID: "much", URL: srv.URL, Timeout: patience, Start: patience})
	return p, asked
}

const legacyHello = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`

// toolsOf is a page with n tools of about so many bytes, and a cursor unless it is empty.
func toolsOf(page, n, size int, cursor string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"name":"t%d_%d","description":"%s","inputSchema":{"type":"object"}}`, page, i, strings.Repeat("x", size))
	}
	out := `{"tools":[` + strings.TrimPrefix(b.String(), ",") + `]`
	if cursor != "" {
		out += `,"nextCursor":` + string(rawjson.AppendString(nil, cursor))
	}
	return out + `}`
}

func TestAListingIsBoundedAndSaysWhatWasLeftOut(t *testing.T) {
	for _, c := range []struct {
		name        string
		page        func(page int) string
		tools, most int // how many are listed, and how many pages are read at most
		note        string
	}{
		{"the same cursor for ever", func(n int) string { return toolsOf(n, 1, 1, "again") }, 2, 2, "the same cursor again"},
		{"pages without end", func(n int) string { return toolsOf(n, 0, 1, fmt.Sprint(n)) }, 0, maxPages, "more than 1000 pages"},
		{"tools without end", func(n int) string { return toolsOf(n, 9000, 1, fmt.Sprint(n)) }, maxItems, 3, "7000 or more tools were left out"},
		{"too many tools on one page", func(n int) string { return toolsOf(n, 20_100, 1, "") }, maxItems, 1, "100 or more tools were left out"},
		{"bytes without end", func(n int) string { return toolsOf(n, 10, 1_000_000, fmt.Sprint(n)) }, 67, 7, "64 MB in all"},
		{"one tool of many bytes", func(int) string {
			return `{"tools":[` + toolsOf(0, 1, 3<<20, "")[len(`{"tools":[`):len(toolsOf(0, 1, 3<<20, ""))-2] + `,{"name":"small","inputSchema":{"type":"object"}}]}`
		}, 1, 1, `"t0_0" of its tools was left out`},
		{"a cursor of many bytes", func(n int) string { return toolsOf(n, 1, 1, strings.Repeat("c", 1<<20)) }, 1, 1, "the cursor has 1048576 bytes"},
		{"as many reasons as tools", func(int) string {
			return `{"tools":[` + strings.Repeat(`{"name":"`+strings.Repeat("n", 1000)+`"},`, 5000) + `{"name":"small","inputSchema":{"type":"object"}}]}`
		}, 1, 1, "and 4980 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, asked := lists(t, legacyHello, map[string]func(int) string{"tools/list": c.page})
			l, err := p.List(t.Context(), "much")
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Tools) != c.tools || asked["tools/list"] > c.most {
				t.Errorf("%d tools of %d pages, want %d of at most %d", len(l.Tools), asked["tools/list"], c.tools, c.most)
			}
			notes := strings.Join(l.Notes, "\n")
			if !strings.Contains(notes, c.note) || len(notes) > 10_000 {
				t.Errorf("notes %.1000q", l.Notes)
			}
		})
	}
}

func TestEveryKindOfListIsBounded(t *testing.T) {
	hello := `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{}},"instructions":"` + strings.Repeat("i", 1<<20) + `",
		"serverInfo":{"name":"` + strings.Repeat("s", 1<<20) + `","version":"1"}}`
	again := func(member, key string) func(int) string {
		return func(int) string {
			item, _ := json.Marshal(map[string]string{"name": "n", key: "x://y"})
			return `{"` + member + `":[` + string(item) + `],"nextCursor":"again"}`
		}
	}
	p, asked := lists(t, hello, map[string]func(int) string{
		"tools/list": func(n int) string { return toolsOf(n, 1, 1, "") }, "prompts/list": again("prompts", "title"),
		"resources/list": again("resources", "uri"), "resources/templates/list": again("resourceTemplates", "uriTemplate"),
	})
	l, err := p.List(t.Context(), "much")
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Tools) != 1 || len(l.Prompts) != 1 || len(l.Resources) != 1 || len(l.Templates) != 1 || l.Instructions != "" || l.Info != nil {
		t.Errorf("%d tools, %d prompts, %d resources, %d templates, %d bytes of instructions", len(l.Tools), len(l.Prompts), len(l.Resources), len(l.Templates), len(l.Instructions))
	}
	for _, what := range []string{"instructions was left out", "serverInfo was left out", "further prompts", "further resources", "further resourceTemplates"} {
		if !strings.Contains(strings.Join(l.Notes, "\n"), what) {
			t.Errorf("no note says %q: %q", what, l.Notes)
		}
	}
	for method, n := range asked {
		if n > 2 {
			t.Errorf("%s was asked %d times", method, n)
		}
	}
}

func TestSkillsAreListedWhereTheyAreDeclared(t *testing.T) {
	entry := func(name string) string {
		return fmt.Sprintf(`{"uri":"skill://%[1]s/SKILL.md", "frontmatter":{"name":"%[1]s","description":"D"},"resources":"dynamic"}`, name)
	}
	pages := func(n int) string {
		next := ""
		if n < 2 {
			next = fmt.Sprintf(`,"nextCursor":"%d"`, n)
		}
		return `{"skills":[` + entry(fmt.Sprintf("s%d", n)) + `,` + entry("again") + `,` + entry("Bad") + `]` + next + `}`
	}
	const declared = `"resources":{},"extensions":{"io.modelcontextprotocol/skills":{}}`
	for hello, want := range map[string]int{
		`{"protocolVersion":"2025-06-18","capabilities":{"tools":{},` + declared + `}}`: 4,
		`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`:                  0,
	} {
		tools := func(n int) string { return toolsOf(n, 1, 1, "") }
		p, asked := lists(t, hello, map[string]func(int) string{"tools/list": tools, "skills/list": pages})
		l, err := p.List(t.Context(), "much")
		if err != nil || len(l.Skills) != want || asked["skills/list"] != want-want/4 {
			t.Fatalf("%d skills of %d pages, %v", len(l.Skills), asked["skills/list"], err)
		}
		if want == 0 {
			continue
		}
		if string(l.Skills[0]) != entry("s0") {
			t.Errorf("a skill is %s", l.Skills[0])
		}
		notes := strings.Join(l.Notes, "\n")
		if !strings.Contains(notes, `skill "skill://Bad/SKILL.md" was left out: its name "Bad"`) || !strings.Contains(notes, "again/SKILL.md is listed twice") {
			t.Errorf("notes %q", l.Notes)
		}
	}
}
