package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// fallCall is a call that begins and ends so many seconds after noon.
func fallCall(id, parent string, from, to int) fallRow {
	at := time.Date(2026, 3, 4, 12, 0, from, 0, time.UTC)
	return fallRow{Call: restapi.Call{ID: id, Parent: parent, Tool: id, At: at, DurationMS: float64(1000 * (to - from)), Outcome: "ok"}}
}

func TestCallsStandBelowThoseThatMadeThem(t *testing.T) {
	w := waterfallOf(locale.English, []fallRow{
		fallCall("later", "", 8, 10), fallCall("in", "script", 2, 4), fallCall("script", "", 0, 6), fallCall("deep", "in", 3, 4),
		fallCall("lone", "gone", 1, 2), {Name: "sleep", Call: restapi.Call{Parent: "script", At: fallCall("", "", 2, 2).At}},
	}, "deep", time.Time{}, time.Time{})
	var got []string
	for _, r := range w.Rows {
		got = append(got, fmt.Sprint(strings.Repeat(">", r.Depth), r.Shown(), " ", r.Bar.X, "+", r.Bar.Width))
		if r.Here != (r.ID == "deep") {
			t.Errorf("%s is marked: %v", r.ID, r.Here)
		}
	}
	want := "script 0+600|>in 200+200|>>deep 300+100|>sleep 0+0|lone 100+100|later 800+200"
	if strings.Join(got, "|") != want || w.Took != 10*time.Second || w.Half() != 5*time.Second {
		t.Errorf("got %s over %s", strings.Join(got, "|"), w.Took)
	}
}

func TestAnAxisOfYearsHasItsCallsInPlace(t *testing.T) {
	const year = 365 * 24 * 3600
	w := waterfallOf(locale.English, []fallRow{fallCall("a", "", 0, 1), fallCall("b", "", year, year+1), fallCall("c", "", 2*year, 2*year+1)}, "", time.Time{}, time.Time{})
	if a, b, c := w.Rows[0].Bar.X, w.Rows[1].Bar.X, w.Rows[2].Bar.X; a != 0 || b < 499 || b > 501 || c < 990 {
		t.Errorf("at %d, %d, %d", a, b, c)
	}
}

func TestAWaterfallIsBoundedAndSaysSo(t *testing.T) {
	var rows []fallRow
	for i := range 400 {
		rows = append(rows, fallCall(fmt.Sprint("c", i), "", i, i+1))
	}
	for _, c := range []struct {
		here                string
		before, rows, after int
	}{{"", 0, 150, 250}, {"c0", 0, 40, 360}, {"c200", 180, 40, 180}, {"c399", 360, 40, 0}, {"nobody", 0, 40, 360}} {
		w := waterfallOf(locale.English, rows, c.here, time.Time{}, time.Time{})
		found := c.here == "" || c.here == "nobody"
		for _, r := range w.Rows {
			found = found || r.Here
		}
		if len(w.Rows) != c.rows || w.Before != c.before || w.After != c.after || !found {
			t.Errorf("%s: %d rows, %d before and %d after, found %v", c.here, len(w.Rows), w.Before, w.After, found)
		}
	}
}

func TestARowSaysWhatWentWrongAndWhatWasTriedAgain(t *testing.T) {
	again := fallCall("a", "", 0, 1)
	again.Message = "made again: server a closed its output"
	failed := fallCall("b", "", 1, 2)
	failed.Outcome, failed.Message = "error", strings.Repeat("x", 500)
	thrown := fallRow{Log: restapi.ScriptCall{Error: "no"}}
	w := waterfallOf(locale.Chinese, []fallRow{again, failed, thrown}, "", time.Time{}, time.Time{})
	got := map[string]string{}
	for _, r := range w.Rows {
		got[r.ID] = r.Note
	}
	if got["a"] != "已重试：服务器 a 关闭了输出" || len([]rune(got["b"])) != maxFallNote+1 || got[""] != "no" {
		t.Errorf("got %q", got)
	}
}

func TestCallsLeadBackToWhatTheyArePartOf(t *testing.T) {
	c := &Console{}
	for session, want := range map[string]string{
		"ses_a": "/environments/sessions/ses_a", "run_b/2": "/runs/run_b", "run_b": "", "theirs": "", "": "", "ses_/x": "/environments/sessions/ses_%2Fx",
	} {
		if got := c.homeOf(session); got != want {
			t.Errorf("%s leads to %q, want %q", session, got, want)
		}
	}
}
