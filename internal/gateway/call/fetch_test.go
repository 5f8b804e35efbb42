package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/tokens"
	"github.com/toolfit/toolfit/internal/state/access"
)

func TestCallersChooseFieldsAndPages(t *testing.T) {
	w := newWorld(t, keepIDs+"profiles: {default: {paging: true}}\n", nil)
	for args, want := range map[string]string{
		`{"_fields":"rows(name)"}`:                      `{"rows":[{"name":"row"},{"name":"row"},{"name":"row"}],`,
		`{"_limit":1}`:                                  `{"rows":[{"id":1}],"total":3,`,
		`{"_offset":2,"action":"list"}`:                 `{"rows":[{"id":3}],"total":3,`,
		`{"_fields":"total"}`:                           `{"total":3,`,
		`{"_fields":"!rows/blob","_limit":1}`:           `{"rows":[{"id":1,"name":"row"}],"total":3,"secret":"s",`,
		`{"_fields":null,"_limit":null,"_offset":null}`: `{"rows":[{"id":1},{"id":2},{"id":3}],"total":3,`,
	} {
		res := w.must("ann", "cloud__env", args)
		if got := string(rawjson.Get(res.Raw, "structuredContent")); !strings.HasPrefix(got, want) || !strings.Contains(got, res.Ref) || res.Ref == "" {
			t.Errorf("%s: %s", args, got)
		}
		last := w.sent[len(w.sent)-1]
		if strings.Contains(string(last.Params), "_fields") || strings.Contains(string(last.Params), "_limit") || strings.Contains(string(last.Params), "_offset") {
			t.Errorf("%s: the server got %s", args, last.Params)
		}
	}
	if w.must("ann", "cloud__own", `{"_limit":7}`); !strings.Contains(string(w.sent[len(w.sent)-1].Params), `"_limit":7`) {
		t.Error("an argument of the tool's own was taken from it")
	}
	res, err := w.as(Request{Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default", Reader: Person}, "cloud__env", `{"_fields":"total"}`)
	if err != nil || !strings.Contains(string(res.Raw), `"structuredContent":{"total":3,"_omitted"`) {
		t.Errorf("a person who asks gets %.300s, %v", res.Raw, err)
	}
}

func TestAWrongPageIsRefusedBeforeAnythingIsSent(t *testing.T) {
	w := newWorld(t, "profiles: {default: {paging: true}}\n", nil)
	for args, want := range map[string]string{
		`{"_fields":"rows(id"}`: "/_fields",
		`{"_fields":"a,,b"}`:    "/_fields",
		`{"_fields":7}`:         "/_fields: expected text, got a number",
		`{"_limit":-1}`:         "/_limit",
		`{"_limit":"many"}`:     "/_limit",
		`{"_offset":1.5}`:       "/_offset",
		`{"_offset":[]}`:        "/_offset",
	} {
		_, err := w.do("ann", "cloud__env", args)
		if !fault.Is(err, fault.BadArguments) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if len(w.sent) > 0 {
		t.Errorf("%d calls were made", len(w.sent))
	}
}

func TestWhatANotePrintsCanBeFetched(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	res := w.must("ann", "cloud__env", `{}`)
	names := string(rawjson.Get(omitted(res.Raw), "fields"))
	if names != `["blob","name","secret"]` {
		t.Fatalf("the note names %s", names)
	}
	value, _ := w.part("ann", `{"ref":"`+res.Ref+`","fields":`+names+`}`)
	if !strings.HasPrefix(string(value), `{"rows":[{"name":"row","blob":"`) || !strings.Contains(string(value), `"secret":"s"`) || strings.Contains(string(value), `"id"`) {
		t.Errorf("got %.200s", value)
	}
	if m := w.records[len(w.records)-1].Message; m != Fetched+"rows/blob,rows/name,secret" {
		t.Errorf("the record says %q", m)
	}
	raw := w.must("ann", "fetch_result", `{"ref":"`+res.Ref+`","fields":["secret","nmae"]}`).Raw
	if got := string(rawjson.Get(raw, "structuredContent")); got != `{"value":{"secret":"s"},"known":["rows","total","secret","rows/id","rows/name","rows/blob"],"unknown":["nmae"]}` {
		t.Errorf("got %s", got)
	}
}

func TestAFetchThatIsWrongSaysWhat(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	ref := w.must("ann", "cloud__env", `{}`).Ref
	for args, want := range map[string]string{
		`{"ref":"` + ref + `","fields":"rows(id"}`:       "at byte",
		`{"ref":"` + ref + `","fields":"nope"}`:          "none of the fields nope occurs",
		`{"ref":"` + ref + `","offset":100}`:             "beyond the last of 3 rows",
		`{"ref":"` + ref + `","fields":"a","color":"x"}`: "color",
		`{}`: "ref",
	} {
		if _, err := w.do("ann", "fetch_result", args); err == nil || !strings.Contains(err.Error()+fault.As(err).Hint, want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestJQOfAModelRunsApart(t *testing.T) {
	w := newWorld(t, keepIDs, nil)
	ref := w.must("ann", "cloud__env", `{}`).Ref
	if _, err := w.choose(t.Context(), "me", []byte(`{}`), fetching{Ref: ref, JQ: "."}); !fault.Is(err, fault.BadArguments) {
		t.Errorf("%v", err)
	}
	ran := ""
	w.opts.JQ = func(_ context.Context, _, program string, value []byte) ([]byte, error) {
		ran = program
		return value[:0:0], project.ErrNoOutput
	}
	if _, err := w.choose(t.Context(), "me", []byte(`{}`), fetching{Ref: ref, JQ: ".a"}); !errors.Is(err, project.ErrNoOutput) || ran != ".a" {
		t.Errorf("%q, %v", ran, err)
	}
	if _, err := w.choose(t.Context(), "me", []byte(`{}`), fetching{Ref: ref, JQ: ".a", Fields: project.Wanted{"a"}}); !fault.Is(err, fault.BadArguments) {
		t.Errorf("%v", err)
	}
}

func TestALargeAnswerBecomesAPreviewAndAHandle(t *testing.T) {
	const sentence, row = "All the words of a long answer. ", `{"id":12,"name":"中文 words 中文 words 中文 words 中文 words 中文 words 中文 words"}`
	w := newWorld(t, "profiles: {default: {budget: 6500}}\n", nil)
	for _, c := range []struct{ name, body, last string }{
		{"prose", strings.Repeat(sentence, 13_600), fmt.Sprintf(`"offset":%d`, 13_599*len(sentence))},
		{"rows", `{"rows":[` + strings.Repeat(row+",", 6000) + row + `]}`, `"offset":6000`},
	} {
		if n := utf8.RuneCountInString(c.body); n < 432_774 {
			t.Fatalf("%s: only %d characters", c.name, n)
		}
		w.answer = string(rawjson.AppendString([]byte(`{"content":[{"type":"text","text":`), c.body)) + `}]}`
		res := w.must("ann", "cloud__env", `{}`)
		if n := tokens.Estimate([]byte(res.Raw)); n > 8000 || res.Ref == "" || !strings.Contains(string(res.Raw), res.Ref) {
			t.Errorf("%s: %d tokens, ref %q", c.name, n, res.Ref)
		}
		first, next := w.part("ann", `{"ref":"`+res.Ref+`"}`)
		second, _ := w.part("ann", `{"ref":"`+res.Ref+`","offset":`+next+`}`)
		if got := inner(first) + inner(second); len(got) < 20_000 || !strings.HasPrefix(inner(json.RawMessage(c.body)), got) {
			t.Errorf("%s: two pages are not its beginning: %d bytes", c.name, len(got))
		}
		if last, next := w.part("ann", `{"ref":"`+res.Ref+`",`+c.last+`}`); next != "" || inner(last) != sentence && inner(last) != row+"," {
			t.Errorf("%s: the last page is %s, next %s", c.name, last, next)
		}
	}
}

// inner is the text of a page, or its rows with a comma after each.
func inner(value json.RawMessage) string {
	if s, ok := rawjson.String(value); ok {
		return s
	}
	if rows, ok := bytes.CutPrefix(value, []byte(`{"rows":[`)); ok {
		return string(bytes.TrimSuffix(rows, []byte(`]}`))) + ","
	}
	return string(value)
}
