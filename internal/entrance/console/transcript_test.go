package console

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func transcript(messages ...string) (list []restapi.TranscriptMessage) {
	for i, m := range messages {
		list = append(list, restapi.TranscriptMessage{Position: int64(i + 1), Message: json.RawMessage(m)})
	}
	return list
}

func TestEachCallOfATranscriptHasItsOwnEnd(t *testing.T) {
	const asks = `{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}},{"id":"2","function":{"name":"b","arguments":"{"}}]}`
	turns := turnsOf(locale.English, transcript(
		`{"role":"system","content":"be kind"}`, `{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image_url"}]}`,
		asks, `{"role":"tool","tool_call_id":"2","content":"no","toolfit":{"status":"failed","duration_ms":5,"call":"c_2"}}`, `{"role":"tool","tool_call_id":"1","content":"yes"}`,
		asks, `{"role":"tool","tool_call_id":"1","content":"again","toolfit":{"status":"skipped"}}`, `{"role":"tool","tool_call_id":"9","content":"of nobody"}`,
		`{"role":"assistant","content":"Done","toolfit":{"agent":"helper","stopped":"left"}}`, `{"role":"user","content":"Bye"}`,
	))
	var got []string
	for _, one := range turns {
		for _, p := range one.Parts {
			if p.Call != nil {
				got = append(got, p.Call.Tool+" "+string(p.Call.Status)+" "+p.Call.Took.String())
			} else {
				got = append(got, p.Text+p.Stopped)
			}
		}
	}
	if want := "Hi|a success 0s|b failed 5ms|a skipped 0s|b lost 0s|Doneleft|Bye"; strings.Join(got, "|") != want || len(turns) != 3 {
		t.Errorf("%d turns: %q", len(turns), got)
	}
}

func TestTimesOfFormsAreMeantAsClocksShowThem(t *testing.T) {
	want := time.Date(2026, 1, 2, 15, 4, 0, 0, time.Local)
	for _, text := range []string{"2026-01-02T15:04", "2026-01-02T15:04:00", want.Format(time.RFC3339)} {
		if got, err := timeOf(text); err != nil || !got.Equal(want) {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add(`{"role":"assistant","content":"x","tool_calls":[{"id":"1","function":{"name":"a"}}]}`,
		`{"role":"tool","tool_call_id":"1","content":null}`)
	f.Add(`{"role":"tool"}`, `{"role":"user","content":{"a":1}}`)
	f.Add(`[[`, "{\"role\":\"user\",\"content\":\"\xff\u202e\"}")
	page := New(Parts{}).pages[locale.English]["session"]()
	f.Fuzz(func(t *testing.T, one, two string) {
		for _, turn := range turnsOf(locale.English, transcript(one, two, one, two)) {
			var b strings.Builder
			if err := page.ExecuteTemplate(&b, "turn", turn); err != nil || strings.ContainsAny(b.String(), "\u202e\u200b\x00") {
				t.Errorf("%q %q: %v %s", one, two, err, b.String())
			}
		}
	})
}

func FuzzFilters(f *testing.F) {
	f.Add("level=warn&limit=20&since=2026-01-02T15:04&metadata=a%3D1&agent=x")
	f.Add("limit=-1&until=9999-99-99&metadata=%3D&since=%00")
	f.Fuzz(func(t *testing.T, query string) {
		q, _ := url.ParseQuery(query) // what could be read is tried
		if ask, err := logQuery(q); err == nil && ask.Check() != nil {
			t.Errorf("%q asks for what nobody answers: %+v", query, ask)
		}
		asked, err := sessionFilter(q)
		for name, value := range asked.Metadata {
			if err == nil && !json.Valid(value) {
				t.Errorf("%q: %s is no JSON: %s", query, name, value)
			}
		}
	})
}
