package suggest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/project/suggest"
)

// propose leaves out why there is no proposal.
func propose(name tool.Name, all []suggest.Conversation, opts *suggest.Options) []suggest.Proposal {
	list, _ := suggest.Propose(name, all, opts)
	return list
}

func result(value string) []byte { return []byte(`{"structuredContent":` + value + `}`) }

// environments is a list as a cloud answers it: ids that are used next, and much else.
func environments(n, seed int) string {
	var rows []string
	for i := range n {
		id := seed*100 + i
		rows = append(rows, fmt.Sprintf(`{"EnvId":"env-%06d","Alias":"alias %d","Status":"NORMAL","CreateTime":"2024-01-02 `+
			`10:11:%02d","Source":"miniapp","Tags":[],"Bucket":"6d63-%032d",`+
			`"Logs":[{"Topic":"t-%032d","Period":30}],"Quota":%d,"Text":"%s"}`, id, id, i%60, id, id, id*7919,
			strings.Repeat("some words of text ", 12)))
	}
	return `{"EnvList":[` + strings.Join(rows, ",") + `],"RequestId":"` + fmt.Sprintf("%032d", seed) + `"}`
}

// record is n conversations that list and then use one id, and the quota of it every so often.
func record(n int, quota int) (all []suggest.Conversation) {
	for i := range n {
		c := suggest.Conversation{
			{Tool: "cloud__env", Args: []byte(`{"action":"list"}`), Result: result(environments(6, i))},
			{Tool: "cloud__use", Args: fmt.Appendf(nil, `{"path":"/envs/env-%06d/info"}`, i*100+3), Result: result(`{"ok":true}`)},
			{Tool: "cloud__env", Args: []byte(`{"action":"info"}`),
				Result: result(fmt.Sprintf(`{"Info":{"EnvId":"env-%06d","Domain":"%s"}}`, i, strings.Repeat("d", i%5)))},
		}
		if quota > 0 && i%quota == 0 {
			c = append(c, suggest.Call{Tool: "cloud__set", Args: fmt.Appendf(nil, `{"limit":%d}`, (i*100+4)*7919), Result: result(`{}`)})
		}
		all = append(all, c)
	}
	return all
}

func TestProposeLearnsFromWhatARuleWouldCut(t *testing.T) {
	all := record(20, 0)
	want := propose("cloud__env", all, nil)
	for _, c := range all {
		for i := range c { // text beside the value, as people read it
			c[i].Result = append([]byte(`{"content":[{"type":"text","text":"see below"}],`), c[i].Result[1:]...)
		}
	}
	got := propose("cloud__env", all, nil)
	if len(got) != 1 || len(want) != 1 || got[0].Keep != want[0].Keep {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestProposeLearnsFromEveryBlock(t *testing.T) {
	row := func(i, k int) string {
		return fmt.Sprintf(`{"type":"text","text":"{\"ref\":\"ref-%d-%d\",\"code\":\"%s\",\"notes\":\"%s\"}"}`, i, k,
			strings.Repeat("c", 9+k), strings.Repeat("many words ", 30))
	}
	var all []suggest.Conversation
	for i := range 30 {
		list := `{"content":[` + row(i, 0) + "," + row(i, 1) + "," + row(i, 2) + `]}`
		all = append(all, suggest.Conversation{{Tool: "t", Args: []byte(`{}`), Result: []byte(list)},
			{Tool: "u", Args: fmt.Appendf(nil, `{"x":"ref-%d-0"}`, i), Result: []byte(`{}`)}})
	}
	if p := propose("t", all, nil); len(p) != 1 || !strings.Contains(p[0].Keep, "ref") || p[0].Full < 30*3*60 {
		t.Errorf("%+v", p)
	}
}

func TestProposeKeepsWhatWasUsed(t *testing.T) {
	got := propose("cloud__env", record(80, 0), nil)
	if len(got) != 1 {
		t.Fatalf("%d proposals: %v", len(got), got)
	}
	p := got[0]
	if p.When["action"] != "list" || p.Stage != suggest.OfferOn || p.Missed != 0 || p.HeldOut != 0 || p.Conversations != 80 {
		t.Errorf("%+v", p)
	}
	if p.Keep != "EnvList(Alias,CreateTime,EnvId,Status),RequestId" {
		t.Errorf("keeps %s", p.Keep)
	}
	if p.Saved() < .7 || !strings.HasPrefix(p.String(), "saves ") ||
		!strings.Contains(p.String(), "would have hidden 0 values that were used later") {
		t.Errorf("%s", p)
	}
	if _, err := mask.Parse(p.Keep); err != nil {
		t.Error(err)
	}
}

func TestAValueThatIsUsedOnceInAWhileIsKept(t *testing.T) {
	p := propose("cloud__env", record(60, 10), nil)
	if len(p) != 1 || !strings.Contains(p[0].Keep, "Quota") || p[0].Missed != 0 {
		t.Errorf("%+v", p)
	}
}

func TestAFetchedFieldIsKept(t *testing.T) {
	all := record(60, 0)
	all[7][0].Fetched = []string{"EnvList/Text", "((wrong"}
	p := propose("cloud__env", all, nil)
	if len(p) != 1 || !strings.Contains(p[0].Keep, "Text") {
		t.Errorf("%+v", p)
	}
}

func TestInputsOfSisterToolsAreKept(t *testing.T) {
	p := propose("cloud__env", record(60, 0), &suggest.Options{Inputs: []string{"bucket"}})
	if len(p) != 1 || !strings.Contains(p[0].Keep, "Bucket") {
		t.Errorf("%+v", p)
	}
}

func TestFewConversationsAreWatched(t *testing.T) {
	for n, want := range map[int]suggest.Stage{19: suggest.Watch, 20: suggest.Shadow, 60: suggest.OfferOn} {
		if p := propose("cloud__env", record(n, 0), nil); len(p) != 1 || p[0].Stage != want {
			t.Errorf("%d conversations: %+v", n, p)
		}
	}
}

func TestOneIsNotSeveral(t *testing.T) {
	for want, p := range map[string]suggest.Proposal{
		"saves 50 %, would have hidden 1 value that was used later (1 conversation)":    {Full: 2, Sent: 1, Hidden: 1, Conversations: 1},
		"saves 50 %, would have hidden 0 values that were used later (2 conversations)": {Full: 2, Sent: 1, Conversations: 2},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNothingIsProposedForWhatIsSmallOrOdd(t *testing.T) {
	for name, value := range map[string]string{
		"small": `{"id":12345,"name":"x"}`, "prose": `"words"`, "empty": `{}`, "rows of rows": `[[1,2],[3]]`,
	} {
		var all []suggest.Conversation
		for range 30 {
			all = append(all, suggest.Conversation{{Tool: "t", Args: []byte(`{`), Result: result(value)}})
		}
		if p := propose("t", all, nil); len(p) > 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := propose("t", []suggest.Conversation{{{Tool: "t",
		Result: []byte(`{"isError":true,"structuredContent":` + environments(9, 1) + `}`)}}}, nil); len(p) > 0 {
		t.Errorf("errors: %+v", p)
	}
}

func TestTheSameRecordGivesTheSameProposal(t *testing.T) {
	first, _ := json.Marshal(propose("cloud__env", record(30, 3), nil))
	for range 2 {
		if again, _ := json.Marshal(propose("cloud__env", record(30, 3), nil)); string(again) != string(first) {
			t.Fatalf("got  %s\nthen %s", first, again)
		}
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name string
		use  suggest.Use
		off  bool
	}{
		{"few calls", suggest.Use{Calls: 39, Fetched: 39}, false},
		{"clearly above 5 %", suggest.Use{Calls: 40, Fetched: 8}, true},
		{"perhaps above 5 %", suggest.Use{Calls: 40, Fetched: 3}, false},
		{"many calls, 5 %", suggest.Use{Calls: 10_000, Fetched: 500}, false},
		{"many calls, 6 %", suggest.Use{Calls: 10_000, Fetched: 600}, true},
		{"another form", suggest.Use{Calls: 100, Mismatches: 2}, true},
		{"another schema", suggest.Use{SchemaChanged: true}, true},
		{"all well", suggest.Use{Calls: 1000, Fetched: 10, Mismatches: 10}, false},
	} {
		if off, why := suggest.Judge(c.use); off != c.off || off != (why != "") {
			t.Errorf("%s: %v, %q", c.name, off, why)
		} else if off && locale.Chinese.Translate(why) == why { // people read it
			t.Errorf("%s: %q is not said in Chinese", c.name, why)
		}
	}
}

func BenchmarkPropose(b *testing.B) {
	all := record(100, 5)
	b.ReportAllocs()
	for b.Loop() {
		propose("cloud__env", all, nil)
	}
}
