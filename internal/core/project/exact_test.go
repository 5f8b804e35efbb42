package project_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/shape"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// kindsOfText are pieces of each kind of text that costs other tokens than it seems to.
func kindsOfText(t testing.TB) map[string]func() string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	letters := func(n int, from, to rune) string {
		var b strings.Builder
		for range n {
			b.WriteRune(from + rune(r.IntN(int(to-from))))
		}
		return b.String()
	}
	kinds := map[string]func() string{
		"hash":         func() string { return hex.EncodeToString(random(20)) },
		"base64":       func() string { return base64.StdEncoding.EncodeToString(random(60)) },
		"uuid":         func() string { return fmt.Sprintf("%x-%x-%x", random(4), random(2), random(6)) },
		"url":          func() string { return fmt.Sprintf("https://api.example.com/repos/a/b/issues/%d{/name}", r.IntN(1e6)) },
		"digits":       func() string { return letters(30, '0', '9'+1) },
		"small digits": func() string { return fmt.Sprintf("%d,%d,%d,%d", r.IntN(9), r.IntN(9), r.IntN(9), r.IntN(9)) },
		"capitals":     func() string { return letters(40, 'A', 'Z'+1) },
		"signs":        func() string { return letters(40, '!', '0') },
		"words":        func() string { return "The quick brown fox jumps over the lazy dog." },
		"code":         func() string { return "\tfor i := range n {\n\t\tsum += f(x[i], y.Name) // why\n\t}" },
		"Chinese":      func() string { return "环境列表返回所有可用的云开发环境，订单已经付款。" },
		"rare Chinese": func() string { return letters(20, 0x4e00, 0x9fa5) },
		"Korean":       func() string { return letters(20, 0xac00, 0xd7a3) },
		"Tamil":        func() string { return letters(20, 0xb85, 0xbb9) },
		"emoji":        func() string { return letters(15, 0x1f300, 0x1f64f) },
		"beyond":       func() string { return letters(10, 0x20000, 0x2a6d0) },
		"controls":     func() string { return letters(20, 1, 0x1f) },
		"spaces":       func() string { return strings.Repeat(" ", 200) + "x" },
		"one sign":     func() string { return strings.Repeat("=", 200) },
		"JSON":         func() string { return fmt.Sprintf(`{"id":%d,"ok":true,"tags":["a","b"],"x":null}`, r.IntN(1e6)) },
	}
	for _, file := range corpora.Glob(t, "browser/snapshots/*.yaml") {
		lines := strings.Split(string(corpora.Read(t, file)), "\n")
		at := 0
		kinds[file] = func() string { at++; return lines[at%len(lines)] }
	}
	return kinds
}

// resultsOf are results of all forms, made of pieces of text.
func resultsOf(piece func() string, n int) map[string]string {
	block := func(text string) string {
		return `{"type":"text","text":` + string(quote(text)) + `}`
	}
	var lines, rows, blocks, members, jsonl []string
	for i := range n {
		p := piece()
		lines = append(lines, p)
		row := fmt.Sprintf(`{"id":%d,"name":%s,"kind":"same","list":[%s,%d],"in":{"a":%d,"b":%s}}`, i, quote(p), quote(p), i, i, quote(p))
		rows = append(rows, row)
		jsonl = append(jsonl, row)
		members = append(members, fmt.Sprintf(`%s:%s`, quote(fmt.Sprint(i, p)), row))
		blocks = append(blocks, block(p), block(row))
	}
	list := `[` + strings.Join(rows, ",") + `]`
	text := strings.Join(lines, "\n")
	return map[string]string{
		"text":     `{"content":[` + block(text) + `]}`,
		"line":     `{"content":[` + block(strings.Join(lines, "")) + `]}`,
		"rows":     `{"content":[` + block(`{"total":7,"items":`+list+`}`) + `],"structuredContent":{"total":7,"items":` + list + `}}`,
		"array":    `{"content":[` + block(list) + `]}`,
		"fenced":   `{"content":[` + block("```json\n"+list+"\n```") + `]}`,
		"lines":    `{"content":[` + block(strings.Join(jsonl, "\n")) + `]}`,
		"map":      `{"content":[` + block(`{`+strings.Join(members, ",")+`}`) + `]}`,
		"string":   `{"content":[` + block(`{"id":1,"log":`+string(quote(text))+`}`) + `]}`,
		"blocks":   `{"content":[` + strings.Join(blocks, ",") + `]}`,
		"resource": `{"content":[{"type":"resource","resource":{"uri":"file:///a/b","text":` + string(quote(text)) + `}},` + block(text) + `]}`,
		"linked":   `{"content":[{"type":"resource_link","uri":"file:///a/b","name":"b"},` + block(text) + `]}`,
		"deep":     `{"content":[` + block(strings.Repeat(`{"a":[`, 60)+list+strings.Repeat(`]}`, 60)) + `]}`,
	}
}

func quote(text string) []byte {
	raw, _ := json.Marshal(text)
	return raw
}

// TestNoResultIsOverItsBudget: whatever a result is made of, what its reader gets with notes and links
// has at most as many o200k tokens as the budget says.
func TestNoResultIsOverItsBudget(t *testing.T) {
	n := 0
	for kind, piece := range kindsOfText(t) {
		for form, raw := range resultsOf(piece, 150) {
			if !json.Valid([]byte(raw)) {
				t.Fatalf("%s of %s is no JSON", form, kind)
			}
			for i, budget := range []int{50, 200, 500, 2000, 8000} {
				n++
				if !*lab && n%16 != 0 {
					continue
				}
				how := project.How{Budget: budget, Shape: []shape.Mode{"", shape.Auto}[(i+len(kind))%2]}
				checkBudget(t, kind+", "+form, []byte(raw), how)
			}
		}
	}
}

func checkBudget(t *testing.T, name string, raw []byte, how project.How) {
	t.Helper()
	before := project.CountTokens(raw, tokens.Count)
	cut := project.Plan(context.Background(), raw, how)
	defer cut.Release()
	out := cut.Apply("r_7x9qzw4k")
	after := project.CountTokens(out, tokens.Count)
	switch {
	case !json.Valid(out):
		t.Errorf("%s in %d: %.200s", name, how.Budget, out)
	case after > how.Budget:
		t.Errorf("%s: %d tokens in %d: %.300s", name, after, how.Budget, out)
	case before <= how.Budget && exact(t, get(raw, "structuredContent")) <= how.Budget && how.Shape == "" && cut.Outcome != project.Whole &&
		!strings.HasPrefix(name, "one sign"): // which may be taken for too long, see tokens.Fits
		t.Errorf("%s: %d tokens fit in %d, and became %.300s", name, before, how.Budget, out)
	case before > how.Budget && !cut.Leaves() && how.Shape == "":
		t.Errorf("%s: %d of %d tokens, and nothing was left out", name, after, before)
	case before > 3*how.Budget && how.Budget >= 500 && after < how.Budget/3 && !strings.HasPrefix(name, "base64"): // whose length is said
		t.Errorf("%s: only %d of %d tokens are used: %.1000s", name, after, how.Budget, out)
	}
	if structured := get(out, "structuredContent"); exact(t, structured) > how.Budget {
		t.Errorf("%s: %d tokens of structuredContent in %d", name, exact(t, structured), how.Budget)
	}
}

func get(raw []byte, name string) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members[name]
}
