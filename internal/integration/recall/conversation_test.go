package recall

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the recorded conversations anew")

// TestRecordedConversations plays the files in testdata. Each has
//
//	-- config --              the configuration
//	-- server ID --           definitions of the tools of a server of ours
//	-- result ID TOOL --      what it answers, or "fault CODE"
//	-- upstream METHOD PATH -- what the other services answer: status and body, "hang" or "close"
//
// and then requests, each with the response and with what was sent on for it. Bytes count.
func TestRecordedConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out := play(t, a)
			if !*update {
				return
			}
			if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// play runs a conversation, and gives it as it went.
func play(t *testing.T, a *txtar.Archive) *txtar.Archive {
	text := ""
	own := map[string]string{}
	for _, f := range a.Files {
		if id, ok := strings.CutPrefix(f.Name, "server "); ok {
			own[id] = string(f.Data)
		} else if f.Name == "config" {
			text = string(f.Data)
		}
	}
	w := newWorld(t, text, own)
	out := &txtar.Archive{Comment: a.Comment}
	var res, sent string
	for _, f := range a.Files {
		switch kind, rest, _ := strings.Cut(f.Name, " "); kind {
		case "upstream":
			w.mu.Lock()
			w.answers[rest] = string(f.Data)
			w.mu.Unlock()
		case "result":
			w.results[rest] = string(f.Data)
		case "request":
			r := w.do(string(f.Data))
			res = fmt.Sprintf("%d %s\n%s\n", r.Code, r.Header().Get("Content-Type"), r.Body)
			sent = ""
			if list := w.takeSent(); len(list) > 0 {
				sent = strings.Join(list, "\n") + "\n"
			}
			out.Files = append(out.Files, f, txtar.File{Name: "response", Data: []byte(res)})
			if sent != "" {
				out.Files = append(out.Files, txtar.File{Name: "sent", Data: []byte(sent)})
			}
			continue
		case "response":
			if !*update && string(f.Data) != res {
				t.Errorf("answered\n%s\nwant\n%s", res, f.Data)
			}
			continue
		case "sent":
			if !*update && string(f.Data) != sent {
				t.Errorf("sent\n%s\nwant\n%s", sent, f.Data)
			}
			sent = ""
			continue
		}
		out.Files = append(out.Files, f)
	}
	return out
}
