package overlay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

// words is an overlay of texts, whose ids are their first letters, over a store in memory.
func words(t *testing.T, log *strings.Builder, rows map[string]string) *Overlay[string] {
	t.Helper()
	return New(Kind[string]{
		Name: "word",
		ID:   func(word string) string { return word[:1] },
		Rows: func(context.Context) (list []store.Document, err error) {
			for _, id := range strings.Split("abcd", "") {
				if body, ok := rows[id]; ok {
					list = append(list, store.Document{ID: id, Version: int64(len(body)), Body: []byte(body)})
				}
			}
			return list, nil
		},
		Parse: func(row store.Document, _ *config.Config) (string, error) {
			if string(row.Body) == "bad" {
				return "", fault.New(fault.BadConfig, "hush")
			}
			return string(row.Body), nil
		},
		Delete: func(_ context.Context, id string) error {
			if _, ok := rows[id]; !ok {
				return fault.New(fault.NotFound, "gone")
			}
			delete(rows, id)
			return nil
		},
		InFile:    func(string) error { return errors.New("in file") },
		NotStored: func(string) error { return errors.New("not stored") },
		Unknown:   func(string) error { return errors.New("unknown") },
		Stays:     "stays",
	}, slog.New(slog.NewTextHandler(log, nil)), func(text string) string { return strings.ReplaceAll(text, "hush", "***") })
}

func TestTheFileWinsOverTheStoreAndTheStoreOverWhatIsBuiltIn(t *testing.T) {
	var log strings.Builder
	o := words(t, &log, map[string]string{"a": "a stored", "b": "b stored", "c": "bad"})
	changed, err := o.Read(t.Context())
	if err != nil || fmt.Sprint(changed) != "[a b c]" {
		t.Fatal(changed, err)
	}
	for range 2 {
		inForce := o.Apply(nil, []string{"a file"}, []string{"b built in", "c built in"})
		if got := strings.Join(inForce, ", "); got != "a file, b stored, c built in" {
			t.Errorf("in force: %s", got)
		}
	}
	if text := log.String(); strings.Count(text, "both have this word") != 1 || strings.Count(text, "left out") != 1 || strings.Contains(text, "hush") {
		t.Errorf("each is said once, without secrets:\n%s", text)
	}
	if e := o.Find("c"); e == nil || e.Problem != "***" {
		t.Errorf("%+v", e)
	}
	for id, want := range map[string]string{"a": "in file", "b": "<nil>", "d": "<nil>"} {
		if err := o.CheckNotInFile(id); fmt.Sprint(err) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestReadTellsWhatChanged(t *testing.T) {
	rows := map[string]string{"a": "a", "b": "b"}
	o := words(t, new(strings.Builder), rows)
	for _, want := range []string{"[a b]", "[]", "[a b c]"} {
		if want == "[a b c]" {
			rows["a"] = "a changed"
			delete(rows, "b")
			rows["c"] = "c"
		}
		changed, err := o.Read(t.Context())
		if err != nil || fmt.Sprint(changed) != want {
			t.Errorf("got %v, %v, want %s", changed, err, want)
		}
	}
	if !o.Stored("c") || o.Stored("b") {
		t.Error("the rows are those of before")
	}
}

func TestDeleteSaysWhatStays(t *testing.T) {
	o := words(t, new(strings.Builder), map[string]string{"a": "a stored", "b": "b stored"})
	if _, err := o.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Apply(nil, []string{"a file", "c file"}, nil)
	for id, want := range map[string]string{"a": "stays <nil>", "b": " <nil>", "c": " not stored", "d": " unknown"} {
		warning, err := o.Delete(t.Context(), id)
		if got := fmt.Sprint(warning, " ", err); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestOnlyWhatIsInForceOfTheStoreCanBeChanged(t *testing.T) {
	o := words(t, new(strings.Builder), map[string]string{"a": "a stored", "b": "b stored", "c": "bad"})
	if _, err := o.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Apply(nil, []string{"a file", "d file"}, nil)
	for id, want := range map[string]string{"a": "not stored", "b": "<nil>", "c": "<nil>", "d": "not stored", "e": "unknown"} {
		if e, err := o.Changeable(id); fmt.Sprint(err) != want || (e == nil) != (err != nil) {
			t.Errorf("%s: %v, %v, want %s", id, e, err, want)
		}
	}
}
