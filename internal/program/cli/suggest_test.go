package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/store"
)

// remember writes conversations to a store: a list, and the use of a key of it.
func remember(t *testing.T, path string, n int) {
	t.Helper()
	st, err := store.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	at := time.Now().Add(-time.Hour)
	for i := range n {
		for k, c := range []struct {
			tool        tool.Name
			args, value string
		}{
			{"shop__things", `{}`, fmt.Sprintf(`{"things":[{"key":"key-%05d","notes":%[2]q},{"key":"other-%[1]d","notes":%[2]q}]}`, i,
				strings.Repeat("many words ", 30))},
			{"shop__open", fmt.Sprintf(`{"key":"key-%05d"}`, i), `{"ok":true}`},
		} {
			at = at.Add(time.Second)
			call := store.Call{ID: fmt.Sprint(record.FirstID(at), i, k), At: at, Principal: "local", Profile: "default",
				Session: fmt.Sprint("s", i), Tool: c.tool, Outcome: "ok", Level: "info"}
			if err := st.AppendCalls(t.Context(), []store.Call{call}); err != nil {
				t.Fatal(err)
			}
			kept := store.Result{Ref: fmt.Sprint("r_", i, k), Owner: "local", Call: call.ID, Tool: c.tool, Args: json.RawMessage(c.args),
				Body: json.RawMessage(`{"structuredContent":` + c.value + `}`), At: at}
			if err := st.SaveResult(t.Context(), kept); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestASuggestionIsStoredByChoice(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "store: t.db\nmcpServers: {shop: {builtin: demo-shop}}\n")
	remember(t, "t.db", 62)
	code, out, errs := w.run(t, "suggest", "shop__things")
	for _, want := range []string{
		"shop__things\n  keep: things(key)\n  saves ", "would have hidden 0 values that were used later (62 conversations)",
		"leaves out: things/notes (", "turn it on with: toolfit suggest shop__things --on",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit %d, not %q in\n%s%s", code, want, out, errs)
		}
	}
	if _, out, _ := w.run(t, "rules"); !strings.HasPrefix(out, "no rules") {
		t.Errorf("to look stores nothing: %s", out)
	}
	if code, out, errs := w.run(t, "suggest", "shop__things", "--shadow"); code != 0 ||
		!strings.HasPrefix(out, "learned-shop__things is shadow: saves ") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if code, _, errs := w.run(t, "suggest", "shop__things", "--on"); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	_, out, _ = w.run(t, "rules", "--json")
	var list restapi.RuleList
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Rules) != 1 || list.Rules[0].Mode != "on" ||
		list.Rules[0].Keep != "things(key)" {
		t.Errorf("%v: %s", err, out)
	}
	if code, out, _ := w.run(t, "rules", "remove", "learned-shop__things"); code != 0 || out != "removed learned-shop__things\n" {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestWhatTheRecordDoesNotCarryIsNotStored(t *testing.T) {
	w := newWorld(t)
	put(t, "toolfit.yaml", "store: t.db\nmcpServers: {shop: {builtin: demo-shop}}\n")
	remember(t, "t.db", 1)
	if code, _, errs := w.run(t, "suggest", "shop__things", "--shadow"); code != 1 ||
		!strings.Contains(errs, "not yet: 1 conversation recorded, 20 needed") {
		t.Errorf("exit %d: %s", code, errs)
	}
	remember(t, "more.db", 25)
	put(t, "toolfit.yaml", "store: more.db\nmcpServers: {shop: {builtin: demo-shop}}\n")
	if code, _, errs := w.run(t, "suggest", "shop__things", "--on"); code != 1 || !strings.Contains(errs, "--shadow") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, out, errs := w.run(t, "suggest", "shop__things", "--shadow"); code != 0 ||
		!strings.HasPrefix(out, "learned-shop__things is shadow") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	const why = "shop__open: no field can go: each was used, is likely to be asked for, or costs little"
	if code, out, _ := w.run(t, "suggest", "shop__open"); code != 0 || out != "nothing to suggest from 25 conversations\n  "+why+"\n" {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, errs := w.run(t, "suggest", "shop__open", "--shadow"); code != 1 || !strings.Contains(errs, "→ "+why) {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, out, _ := w.run(t, "suggest"); !strings.Contains(out, "keep: things(key)") || !strings.HasSuffix(out, "no suggestion for\n  "+why+"\n") {
		t.Errorf("%s", out)
	}
	if _, out, _ := w.run(t, "suggest", "shop__gone"); !strings.Contains(out, "shop__gone: none of its results is stored") {
		t.Errorf("%s", out)
	}
}
