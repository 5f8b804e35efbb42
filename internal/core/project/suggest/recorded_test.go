package suggest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project/suggest"
)

// These are conversations with servers that people use, in the form that those answer: an issue tracker whose tools take
// what others give, files, a knowledge graph, the weather.

// trackerInputs are the arguments of the tracker's tools: most fields of its results are among them.
var trackerInputs = []string{
	"owner", "repo", "issue_number", "title", "body", "state", "labels", "assignees", "milestone", "sha", "path", "name", "description",
	"page", "sort", "draft", "private", "author_association", "number", "comments", "locked",
}

var words = strings.Fields("the gate opens when a call fails and nobody waits for an answer from the other side of it all again")

// prose is text of about n bytes that is different each time.
func prose(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))] + " ")
	}
	return b.String()
}

// token is an opaque id.
func token(r *rand.Rand) string {
	const chars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := []byte("I_kwDO")
	for range 12 {
		b = append(b, chars[r.IntN(len(chars))])
	}
	return string(b)
}

type object = map[string]any

// issue is one of the tracker.
func issue(r *rand.Rand, n int) object {
	api := fmt.Sprintf("https://api.example.com/repos/o/r/issues/%d", n)
	return object{
		"id": 900_000_000 + n*7919, "node_id": token(r), "number": 1000 + n, "title": prose(r, 30), "state": []string{"open", "closed"}[n%2],
		"url": api, "html_url": fmt.Sprintf("https://example.com/o/r/issues/%d", n), "events_url": api + "/events", "labels_url": api + "/labels",
		"repository_url": "https://api.example.com/repos/o/r", "locked": false, "draft": false, "comments": n % 3,
		"created_at": fmt.Sprintf("2024-01-02T03:04:%02dZ", n%60), "updated_at": fmt.Sprintf("2024-02-03T04:05:%02dZ", n%60),
		"closed_at": nil, "author_association": "NONE", "body": prose(r, 600), "performed_via_github_app": nil,
		"user": object{"login": fmt.Sprint("user", n%20), "id": 5000 + n%20, "node_id": token(rand.New(rand.NewPCG(0, uint64(n%20)))),
			"avatar_url": api + "/a", "url": api + "/u",
			"followers_url": api + "/f", "type": "User", "site_admin": false},
	}
}

func asText(v any) []byte {
	inner, _ := json.MarshalIndent(v, "", "  ") // of maps and scalars
	outer, _ := json.Marshal(object{"content": []object{{"type": "text", "text": string(inner)}}})
	return outer
}

// tracked is n conversations: list, then open one issue by its number, then comment on it.
func tracked(n int) (all []suggest.Conversation) {
	r := rand.New(rand.NewPCG(1, 2))
	for c := range n {
		var list []object
		for k := range 6 {
			list = append(list, issue(r, c*6+k))
		}
		open := list[c%6]
		args := func(more string) []byte {
			return fmt.Appendf(nil, `{"owner":"o","repo":"r"%s}`, more)
		}
		number := fmt.Sprintf(`,"issue_number":%d`, open["number"])
		all = append(all, suggest.Conversation{
			{Tool: "t__list_issues", Args: args(`,"state":"open"`), Result: asText(list)},
			{Tool: "t__get_issue", Args: args(number), Result: asText(open)},
			{Tool: "t__add_comment", Args: args(number + `,"body":"` + prose(r, 40) + `"`), Result: asText(object{"id": c, "url": "https://x/y"})},
		})
	}
	return all
}

func keptOf(p suggest.Proposal) (kept, dropped []string) {
	for _, f := range p.Fields {
		if f.Kept {
			kept = append(kept, f.Path)
		} else {
			dropped = append(dropped, f.Path)
		}
	}
	return kept, dropped
}

func has(t *testing.T, what string, list []string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(list, w) {
			t.Errorf("%s: no %s in %v", what, w, list)
		}
	}
}

func TestAServerWhoseToolsTakeWhatOthersGive(t *testing.T) {
	list, none := suggest.Propose("t__list_issues", tracked(80), &suggest.Options{Inputs: trackerInputs})
	if len(list) != 1 {
		t.Fatalf("%+v, %+v", list, none)
	}
	kept, dropped := keptOf(list[0])
	has(t, "kept", kept, "id", "number", "title", "state", "created_at", "updated_at", "url", "user/login")
	has(t, "dropped", dropped, "node_id", "user/node_id", "events_url", "user/avatar_url", "body", "closed_at", "locked", "author_association")
	if p := list[0]; p.Hidden != 0 || p.Saved() < .5 {
		t.Errorf("%s", p)
	}
	// The text of the rows may be what somebody reads: nobody sees that in the record.
	if p := list[0]; p.DropsText != "body" || p.Stage != suggest.Shadow {
		t.Errorf("drops %q, %s", p.DropsText, p.Stage)
	}
}

func TestTheTextOfOneThingIsKept(t *testing.T) {
	list, none := suggest.Propose("t__get_issue", tracked(80), &suggest.Options{Inputs: trackerInputs})
	if len(list) != 1 {
		t.Fatalf("%+v, %+v", list, none)
	}
	kept, dropped := keptOf(list[0])
	has(t, "kept", kept, "id", "number", "title", "body", "state", "created_at", "user/login", "comments")
	has(t, "dropped", dropped, "node_id", "events_url", "labels_url", "closed_at")
	if p := list[0]; p.DropsText != "" || p.Stage != suggest.OfferOn {
		t.Errorf("drops %q, %s", p.DropsText, p.Stage)
	}
}

func TestServersWithNothingToLeaveOut(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	file := prose(r, 3000)
	structured := func(v any) []byte {
		raw, _ := json.Marshal(object{"structuredContent": v})
		return raw
	}
	for _, c := range []struct {
		name, why string
		args      func(i int) string
		result    func(i int) []byte
	}{
		{"files: the same file is read each time", "no field can go", func(int) string { return `{"path":"/a/readme.md"}` },
			func(int) []byte { return structured(object{"content": file}) }},
		{"files: a list", "no field can go", func(int) string { return `{"path":"/a"}` },
			func(i int) []byte {
				return asText([]object{{"name": fmt.Sprint("a", i, ".txt"), "type": "file"}, {"name": "b", "type": "directory"}})
			}},
		{"graph: the texts of one entity are a list", "no field can go", func(i int) string { return fmt.Sprintf(`{"names":["thing_%d"]}`, i) },
			func(i int) []byte {
				return structured(object{"entities": []object{{"name": fmt.Sprint("thing_", i), "entityType": "person",
					"observations": []string{prose(r, 80), prose(r, 80)}}}})
			}},
		{"weather", "no field can go", func(i int) string { return fmt.Sprintf(`{"location":"town %d"}`, i) },
			func(i int) []byte {
				return structured(object{"temperature": i, "unit": "celsius", "conditions": prose(r, 10), "humidity": 100 - i})
			}},
		{"one address, one key", "no field can go", func(i int) string { return fmt.Sprintf(`{"name":"n%d"}`, i) },
			func(i int) []byte {
				return structured(object{"id": 70_000 + i, "upload": "https://example.com/" + token(r), "secret": token(r) + token(r)})
			}},
		{"prose", "its results are not JSON", func(int) string { return `{}` },
			func(int) []byte { return []byte(`{"content":[{"type":"text","text":"a few words"}]}`) }},
		{"errors", "all its stored results are errors", func(int) string { return `{}` },
			func(int) []byte { return []byte(`{"isError":true,"structuredContent":{"a":1}}`) }},
		{"nothing stored", "none of its results is stored", func(int) string { return `{}` }, func(int) []byte { return nil }},
		{"not worth a note", "a rule would save only", func(i int) string { return `{}` },
			func(i int) []byte {
				return structured(object{"name": prose(r, 190), "url": "https://x", "b_url": "https://y"})
			}},
	} {
		var all []suggest.Conversation
		for i := range 70 {
			all = append(all, suggest.Conversation{{Tool: "s__t", Args: []byte(c.args(i)), Result: c.result(i)}})
		}
		list, none := suggest.Propose("s__t", all, nil)
		if len(list) != 0 || len(none) != 1 || !strings.HasPrefix(none[0].Why, c.why) {
			t.Errorf("%s: %+v, %+v", c.name, list, none)
		}
	}
	if list, none := suggest.Propose("s__unknown", nil, nil); len(list) != 0 || len(none) != 1 || none[0].Why == "" {
		t.Errorf("%+v, %+v", list, none)
	}
}

// A path is made of what a list gave; a text names what is asked for next.
func TestWhatWasUsedInAnotherFormIsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var all []suggest.Conversation
	for i := range 30 {
		var rows []object
		for k := range 5 {
			rows = append(rows, object{"id": k, "where": fmt.Sprintf("src/part%d/file%d.go", i, k), "hash": token(r) + token(r),
				"note": prose(r, 250) + fmt.Sprintf("see ticket ABC-%d%d.", 100+i, k), "more": prose(r, 250)})
		}
		all = append(all, suggest.Conversation{
			{Tool: "s__t", Args: []byte(`{"q":"x"}`), Result: asText(rows)},
			{Tool: "s__u", Args: fmt.Appendf(nil, `{"path":"/home/me/src/part%d/file2.go"}`, i), Result: asText(object{})},
			{Tool: "s__v", Args: fmt.Appendf(nil, `{"key":"ABC-%d3"}`, 100+i), Result: asText(object{})},
		})
	}
	list := propose("s__t", all, nil)
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	kept, dropped := keptOf(list[0])
	has(t, "kept", kept, "id", "where", "note")
	has(t, "dropped", dropped, "hash", "more")
}

// A value in several places is needed once, where it costs least.
func TestOnePlaceOfAUsedValueIsEnough(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	var all []suggest.Conversation
	for i := range 30 {
		var rows []object
		for range 6 {
			rows = append(rows, object{"id": i, "a": prose(r, 300), "b": []string{fmt.Sprint("zone ", i), fmt.Sprint("zone ", i), prose(r, 90)},
				"c": object{"zone": fmt.Sprint("zone ", i), "text": prose(r, 100)}, "d": fmt.Sprint("zone ", i)})
		}
		all = append(all, suggest.Conversation{{Tool: "s__t", Args: []byte(`{}`), Result: asText(rows)},
			{Tool: "s__u", Args: fmt.Appendf(nil, `{"in":"zone %d"}`, i), Result: asText(object{})}})
	}
	list := propose("s__t", all, nil)
	if len(list) != 1 || list[0].Keep != "d,id" || list[0].Hidden != 0 {
		t.Errorf("%+v", list)
	}
}

// An id of something else is no duplicate of the id.
func TestIDsOfOtherThingsStay(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	parents := []string{token(r), token(r), token(r)}
	var all []suggest.Conversation
	for i := range 30 {
		var rows []object
		for k := range 6 {
			rows = append(rows, object{"id": i*6 + k + 10_000, "parent_id": parents[k%3], "global_id": token(r), "text": prose(r, 300)})
		}
		all = append(all, suggest.Conversation{{Tool: "s__t", Args: []byte(`{}`), Result: asText(rows)}})
	}
	list := propose("s__t", all, nil)
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	kept, dropped := keptOf(list[0])
	has(t, "kept", kept, "id", "parent_id")
	has(t, "dropped", dropped, "global_id", "text")
	list = propose("s__t", all, &suggest.Options{Inputs: []string{"global_id"}})
	if kept, _ := keptOf(list[0]); !slices.Contains(kept, "global_id") {
		t.Errorf("what another tool takes goes: %v", kept)
	}
}

// What a proposal was learned from never used anything that it hides, whatever the results are like.
func TestNothingThatWasUsedIsHidden(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		var value func(depth int) any
		value = func(depth int) any {
			switch r.IntN(9 - min(depth, 3)*2) {
			case 0:
				return prose(r, r.IntN(400))
			case 1:
				return token(r)
			case 2:
				return r.IntN(1_000_000)
			case 3, 4:
				list := make([]any, r.IntN(5))
				for i := range list {
					list[i] = value(depth + 1)
				}
				return list
			case 5:
				return []any{nil, "", true, 1.5, "2024-01-02", "https://example.com/" + token(r), "列表"}[r.IntN(7)]
			}
			o := object{}
			for range r.IntN(6) {
				o[words[r.IntN(len(words))]] = value(depth + 1)
			}
			return o
		}
		var all []suggest.Conversation
		for range 25 {
			body := value(0)
			raw, _ := json.Marshal(body)
			var used []string
			for _, piece := range strings.FieldsFunc(string(raw), func(r rune) bool { return strings.ContainsRune(`{}[]":,`, r) }) {
				if r.IntN(12) == 0 {
					used = append(used, piece)
				}
			}
			args, _ := json.Marshal(object{"a": used, "b": "/x/" + strings.Join(used, "/")})
			all = append(all, suggest.Conversation{{Tool: "t", Args: []byte(`{}`), Result: asText(body)},
				{Tool: "u", Args: args, Result: asText(1)}})
		}
		for _, p := range propose("t", all, nil) {
			if p.Hidden != 0 || p.Missed != 0 {
				t.Errorf("seed %d: %s by %s", seed, p, p.Keep)
			}
		}
	}
}

func FuzzPropose(f *testing.F) {
	f.Add([]byte(`{"a":"x"}`), []byte(`{"structuredContent":{"a":[{"id":1,"İd":"2024-01-02","b":[[1]]},{"id":2,"b":[]}]}}`),
		[]byte(`{"b":["/x/1234"]}`), "a/b")
	f.Add([]byte(`[`), []byte(`{"content":[{"type":"text","text":"[1,{\"a\":\"Mon, x\"}]"}]}`), []byte(`"\ud800"`), "*")
	f.Fuzz(func(t *testing.T, args, result, next []byte, fetched string) {
		var all []suggest.Conversation
		for range 21 {
			all = append(all, suggest.Conversation{{Tool: "t", Args: args, Result: result, Fetched: []string{fetched}}, {Tool: "u", Args: next}})
		}
		list, none := suggest.Propose("t", all, &suggest.Options{Inputs: []string{"a", "b"}})
		if len(list)+len(none) == 0 {
			t.Error("nothing is said")
		}
		for _, p := range list {
			if p.Hidden != 0 {
				t.Errorf("%s by %s", p, p.Keep)
			}
		}
	})
}
