package call

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// noteOf is the last block of a result, and the result without it.
func noteOf(t *testing.T, raw json.RawMessage) (note string, blocks int) {
	t.Helper()
	if !json.Valid(raw) {
		t.Fatalf("no JSON: %.200s", raw)
	}
	for w := rawjson.Array(rawjson.Get(raw, "content")); w.Next(); blocks++ {
		note, _ = rawjson.String(rawjson.Get(w.Value, "text"))
	}
	return note, blocks
}

func TestAResultThatCannotBeKeptIsGivenWholeWithANote(t *testing.T) {
	full := fault.New(fault.StoreDown, "full").Because(errors.New("database or disk is full (13)"))
	for name, config := range map[string]string{"cut": keepIDs, "all are kept": "resultStore: all\n", "cut for its length": ""} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, config, &Options{Results: keeper{func(store.Result) error { return full }}})
			req := Request{Principal: access.Principal{ID: "ann", Role: access.Caller}, Profile: "default", AsListed: true}
			if config == "" {
				req.MaxChars = 100
			}
			res, err := w.as(req, "cloud__env", `{}`)
			if err != nil {
				t.Fatal(err)
			}
			note, blocks := noteOf(t, res.Raw)
			if !strings.Contains(note, "The tool has run, its result could not be kept") || strings.Contains(note, "13") || blocks != 2 {
				t.Errorf("%d blocks, the last says %q", blocks, note)
			}
			if text(t, res.Raw) != text(t, json.RawMessage(w.answer)) || string(rawjson.Get(res.Raw, "structuredContent")) != string(rawjson.Get([]byte(w.answer), "structuredContent")) {
				t.Errorf("not whole: %.300s", res.Raw)
			}
			if string(rawjson.Get(res.Raw, "_meta", "toolfit/notKept")) != "true" || omitted(res.Raw) != nil {
				t.Errorf("got %.300s", res.Raw)
			}
			if rec := w.records[0]; rec.Outcome != "ok" || rec.Level != "warn" || rec.Ref != "" || rec.Rule != "" || !strings.Contains(rec.Message, "could not be kept") {
				t.Errorf("%+v", rec)
			}
		})
	}
}

func TestACallThatHasRunAndIsNotOnRecordSaysSoWithItsResult(t *testing.T) {
	for name, raw := range map[string]string{
		"blocks":       `{"content":[{"type":"text","text":"done"}],"_meta":{"a":1}}`,
		"no content":   `{}`,
		"a tool error": `{"content":[{"type":"text","text":"done"}],"isError":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			sender := fakeSender{call: func(context.Context, upstream.Call) (upstream.Outcome, error) {
				return upstream.Outcome{Raw: json.RawMessage(raw)}, nil
			}}
			caller := New(viewer(t), sender, fakeRecorder{add: func(context.Context, store.Call) error { return errors.New("disk full") }}, nil)
			params, _ := NewParams("files__read", nil)
			res, err := caller.Do(t.Context(), Request{Principal: access.Local(), Profile: "default", Params: params})
			if err != nil {
				t.Fatal(err)
			}
			note, _ := noteOf(t, res.Raw)
			if !strings.Contains(note, "The tool has run, its result could not be kept") || strings.Contains(raw, "done") != strings.Contains(string(res.Raw), `"done"`) {
				t.Errorf("got %s", res.Raw)
			}
			if string(rawjson.Get(res.Raw, "isError")) != string(rawjson.Get([]byte(raw), "isError")) || rawjson.Get([]byte(raw), "_meta", "a") != nil && rawjson.Get(res.Raw, "_meta", "a") == nil {
				t.Errorf("got %s", res.Raw)
			}
		})
	}
}

func TestWhileRecordsCannotBeCommittedOnlyToolsThatReadAreCalled(t *testing.T) {
	sent := 0
	sender := fakeSender{call: func(context.Context, upstream.Call) (upstream.Outcome, error) {
		sent++
		return upstream.Outcome{Raw: json.RawMessage(`{"content":[]}`)}, nil
	}}
	recorder := fakeRecorder{refuses: errors.New("database or disk is full (13)"), add: func(context.Context, store.Call) error { return errors.New("full") }}
	tools := viewerOf(t,
		store.Tool{Name: "reads", Definition: json.RawMessage(`{"name":"reads","annotations":{"readOnlyHint":true}}`)},
		store.Tool{Name: "writes", Definition: json.RawMessage(`{"name":"writes","annotations":{"readOnlyHint":false}}`)},
		store.Tool{Name: "silent", Definition: json.RawMessage(`{"name":"silent"}`)})
	caller := New(tools, sender, recorder, nil)
	for name, want := range map[string]int{"files__reads": 1, "files__writes": 0, "files__silent": 0} {
		sent = 0
		params, _ := NewParams(name, nil)
		res, err := caller.Do(t.Context(), Request{Principal: access.Local(), Profile: "default", Params: params})
		if sent != want || (err == nil) != (want == 1) {
			t.Errorf("%s: sent %d times: %v, %v", name, sent, res, err)
		}
		if err != nil && (!fault.Is(err, fault.StoreDown) || !fault.NotActed(err) || strings.Contains(fault.As(err).Error(), "13")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
