package project_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// labResults are real results, and generated ones of the shapes that APIs have.
func labResults(t testing.TB) (list []labResult) {
	t.Helper()
	for _, file := range corpora.Glob(t, "browser/snapshots/*.yaml") {
		if page := string(corpora.Read(t, file)); len(page) > 1500 {
			list = append(list, labResult{filepath.Base(file), page, pageValues(page)})
		}
	}
	for _, file := range []string{"docker_mcp_registry_tools.jsonl", "openapi_ops_dev.jsonl", "toucan_mcp_tools.jsonl"} {
		lines := strings.SplitN(string(corpora.Read(t, "schemas/"+file)), "\n", 42)
		rows := lines[:min(40, len(lines)-1)]
		list = append(list, jsonResult(t, file[:12]+" 40", `{"tools":[`+strings.Join(rows, ",")+`]}`))
	}
	list = append(list, treeResult(t, "directory tree", string(tree(t, "../../..", 3))), linesResult("file listing", listing(t, "../..")))
	if testparts.Installed() {
		list = append(list, serverResults(t)...)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 8 {
		shape := newShape(r)
		for _, n := range []int{10, 30, 100} {
			list = append(list, jsonResult(t, fmt.Sprintf("rows %c: %d of %d", 'A'+i, n, len(shape)), shape.rows(r, n)))
		}
	}
	for _, n := range []int{10, 30, 100} {
		list = append(list, jsonResult(t, fmt.Sprintf("issues %d", n), issues(r, n)))
	}
	list = append(list, foundPages(r, 12), forecast(t, r, 72), jsonResult(t, "one issue", strings.Trim(issues(r, 1), "[]")))
	return list
}

func jsonResult(t testing.TB, name, text string) labResult {
	t.Helper()
	v, err := decodeNumbers(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var rows [][]scalar
	for _, row := range rowsOfValue(v) {
		rows = append(rows, scalarsOf("", row, 0, nil))
	}
	return labResult{name, text, drawFrom(rows)}
}

// treeResult is a tree, of which every node is a row.
func treeResult(t testing.TB, name, text string) labResult {
	t.Helper()
	v, err := decodeNumbers(text)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]scalar
	for _, s := range scalarsOf("", v, 0, nil) {
		if s.text != "file" && s.text != "directory" {
			rows = append(rows, []scalar{s})
		}
	}
	return labResult{name, text, drawFrom(rows)}
}

func linesResult(name, text string) labResult {
	var rows [][]scalar
	for _, line := range strings.Split(text, "\n") {
		rows = append(rows, []scalar{{line, 1}})
	}
	return labResult{name, text, drawFrom(rows)}
}

var acting = regexp.MustCompile(`- (?:link|button|textbox|checkbox|radio|combobox|tab|menuitem|switch|slider|searchbox|spinbutton|heading|option)` +
	`\b.*?(\[ref=\w+\])`)

// pageValues are the refs of what can be acted upon.
func pageValues(page string) func(*rand.Rand) string {
	var rows [][]scalar
	for _, m := range acting.FindAllStringSubmatch(page, -1) {
		rows = append(rows, []scalar{{m[1], 1}})
	}
	return drawFrom(rows)
}

// tree is a folder as file servers describe it.
func tree(t testing.TB, dir string, depth int) []byte {
	t.Helper()
	type entry struct {
		Name     string            `json:"name"`
		Type     string            `json:"type"`
		Children []json.RawMessage `json:"children,omitempty"`
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []entry
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		row := entry{Name: e.Name(), Type: "file"}
		if e.IsDir() {
			row.Type = "directory"
			if depth > 0 {
				if err := json.Unmarshal(tree(t, filepath.Join(dir, e.Name()), depth-1), &row.Children); err != nil {
					t.Fatal(err)
				}
			}
		}
		list = append(list, row)
	}
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func listing(t testing.TB, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		lines = append(lines, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// field makes the value of one column of a row.
type field struct {
	name string
	make func(r *rand.Rand, i int) any
}

// rowShape is the columns of generated rows.
type rowShape []field

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func sentence(r *rand.Rand, n int) string {
	var words []string
	for range n {
		words = append(words, pick(r, "login", "page", "crash", "when", "the", "server", "returns", "empty", "list", "of", "users", "after",
			"update", "to", "version", "memory", "leak", "in", "worker", "and", "retry", "timeout", "config", "docs", "missing", "for", "new",
			"API", "订单", "页面"))
	}
	return strings.Join(words, " ")
}

func token(r *rand.Rand, bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(b)
}

func moment(r *rand.Rand) string {
	return fmt.Sprintf("2025-%02d-%02dT%02d:%02d:%02dZ", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60))
}

// newShape draws a shape: what identifies, and bulk of every kind, under names of several styles.
func newShape(r *rand.Rand) (s rowShape) {
	camel := r.IntN(2) == 0
	add := func(chance int, name string, make func(r *rand.Rand, i int) any) {
		if r.IntN(100) >= chance {
			return
		}
		if camel {
			parts := strings.Split(name, "_")
			for i := range parts[1:] {
				parts[i+1] = strings.ToUpper(parts[i+1][:1]) + parts[i+1][1:]
			}
			name = strings.Join(parts, "")
		}
		s = append(s, field{name, make})
	}
	if r.IntN(2) == 0 {
		add(100, "id", func(r *rand.Rand, i int) any { return 100000 + r.IntN(900000) })
	} else {
		add(100, "id", func(r *rand.Rand, i int) any {
			h := token(r, 16)
			return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
		})
	}
	add(60, "etag", func(r *rand.Rand, i int) any { return token(r, 20) })
	add(100, pick(r, "name", "title", "subject", "summary"), func(r *rand.Rand, i int) any { return sentence(r, 3+r.IntN(6)) })
	add(80, pick(r, "state", "status", "phase"), func(r *rand.Rand, i int) any { return pick(r, "open", "closed", "pending", "failed") })
	add(70, "self_link", func(r *rand.Rand, i int) any { return fmt.Sprintf("https://api.example.com/v2/things/%d", i) })
	add(60, "web_url", func(r *rand.Rand, i int) any { return fmt.Sprintf("https://example.com/things/%d/%s", i, token(r, 4)) })
	add(80, "created_at", func(r *rand.Rand, i int) any { return moment(r) })
	add(50, "updated_at", func(r *rand.Rand, i int) any { return moment(r) })
	add(70, "description", func(r *rand.Rand, i int) any { return sentence(r, 20+r.IntN(150)) })
	add(60, "tenant", func(r *rand.Rand, i int) any { return "acme-production" })
	add(60, "deleted_at", func(r *rand.Rand, i int) any { return nil })
	add(60, "archived", func(r *rand.Rand, i int) any { return r.IntN(10) == 0 })
	add(60, "size", func(r *rand.Rand, i int) any { return r.IntN(1 << 20) })
	add(60, "owner", func(r *rand.Rand, i int) any { return person(r) })
	add(50, "tags", func(r *rand.Rand, i int) any {
		return []string{pick(r, "bug", "docs", "perf"), pick(r, "p0", "p1", "p2")}
	})
	add(40, "embedding", func(r *rand.Rand, i int) any {
		v := make([]float64, 40)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	})
	add(50, "metadata", func(r *rand.Rand, i int) any {
		return map[string]any{"region": pick(r, "eu-1", "us-2"), "checksum": token(r, 32), "trace": token(r, 8), "schema": 3,
			"labels": map[string]any{}, "annotations": map[string]string{"note": sentence(r, 12), "source": "import"}}
	})
	return s
}

func (s rowShape) rows(r *rand.Rand, n int) string {
	var rows []string
	for i := range n {
		var members []string
		for _, f := range s {
			value, _ := json.Marshal(f.make(r, i))
			members = append(members, fmt.Sprintf("%q: %s", f.name, value))
		}
		rows = append(rows, "    {\n      "+strings.Join(members, ",\n      ")+"\n    }")
	}
	return fmt.Sprintf("{\n  \"total\": %d,\n  \"items\": [\n%s\n  ]\n}", n*3, strings.Join(rows, ",\n"))
}

func person(r *rand.Rand) map[string]any {
	name := pick(r, "ann", "bob", "chen", "dora", "emil", "fatima") + fmt.Sprint(r.IntN(50))
	const api = "https://api.example.com/users/"
	return map[string]any{"login": name, "id": r.IntN(1e7), "node_id": "U_kgDO" + token(r, 5),
		"avatar_url": "https://avatars.example.com/u/" + token(r, 4), "url": api + name, "html_url": "https://example.com/" + name, "followers_url": api + name + "/followers",
		"following_url": api + name + "/following{/other_user}", "type": "User", "site_admin": false}
}

// issues are as a code host lists them.
func issues(r *rand.Rand, n int) string {
	var list []map[string]any
	for i := range n {
		const base = "https://api.example.com/repos/acme/shop/issues/"
		number := 4000 - i
		var labels []map[string]any
		for range r.IntN(4) {
			name := pick(r, "bug", "enhancement", "docs", "good first issue", "wontfix")
			labels = append(labels, map[string]any{"id": r.IntN(1e9), "node_id": "LA_" + token(r, 8), "url": base + "labels/" + name, "name": name,
				"color": token(r, 3), "default": true, "description": sentence(r, 8)})
		}
		var assignee any
		if r.IntN(3) == 0 {
			assignee = person(r)
		}
		list = append(list, map[string]any{"url": base + fmt.Sprint(number), "repository_url": "https://api.example.com/repos/acme/shop",
			"labels_url": base + fmt.Sprint(number) + "/labels{/name}", "comments_url": base + fmt.Sprint(number) + "/comments",
			"events_url": base + fmt.Sprint(number) + "/events", "html_url": "https://example.com/acme/shop/issues/" + fmt.Sprint(number),
			"id": r.IntN(1e10), "node_id": "I_kwDO" + token(r, 6), "number": number, "title": sentence(r, 4+r.IntN(6)),
			"user": person(r), "labels": labels,
			"state": pick(r, "open", "open", "closed"), "locked": false, "assignee": assignee, "milestone": nil, "comments": r.IntN(9),
			"created_at": moment(r), "updated_at": moment(r), "closed_at": nil, "author_association": pick(r, "NONE", "MEMBER"),
			"active_lock_reason": nil, "draft": false, "body": sentence(r, 40+r.IntN(200)), "timeline_url": base + fmt.Sprint(number) + "/timeline",
			"performed_via_app": nil, "state_reason": nil, "reactions": map[string]any{"url": base + fmt.Sprint(number) + "/reactions",
				"total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0, "confused": 0, "heart": 0, "rocket": 0, "eyes": 0}})
	}
	raw, _ := json.Marshal(list)
	return string(raw)
}

// foundPages is what a search for pages gives as text.
func foundPages(r *rand.Rand, n int) labResult {
	var b strings.Builder
	var rows [][]scalar
	for i := range n {
		title := sentence(r, 6)
		url := fmt.Sprintf("https://site%d.example.com/%s", i, strings.ReplaceAll(sentence(r, 3), " ", "-"))
		fmt.Fprintf(&b, "Title: %s\nURL: %s\nPublished: %s\nText: %s\n\n", title, url, moment(r), sentence(r, 250))
		rows = append(rows, []scalar{{title, 1}, {url, 1}})
	}
	return labResult{"found pages", b.String(), drawFrom(rows)}
}

// forecast is what weather services give: a list per quantity.
func forecast(t testing.TB, r *rand.Rand, hours int) labResult {
	t.Helper()
	var times []string
	quantities := map[string][]float64{}
	var rows [][]scalar
	for h := range hours {
		at := fmt.Sprintf("2025-06-%02dT%02d:00", 1+h/24, h%24)
		times = append(times, at)
		rows = append(rows, []scalar{{at, 1}})
		for _, q := range []string{"temperature_2m", "precipitation", "wind_speed_10m", "cloud_cover"} {
			quantities[q] = append(quantities[q], float64(r.IntN(400))/10)
		}
	}
	all := map[string]any{"time": times}
	for q, values := range quantities {
		all[q] = values
	}
	raw, err := json.Marshal(map[string]any{"latitude": 52.52, "longitude": 13.41, "timezone": "Europe/Berlin", "hourly": all})
	if err != nil {
		t.Fatal(err)
	}
	return labResult{"forecast", string(raw), drawFrom(rows)}
}
