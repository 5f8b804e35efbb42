package console

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/visible"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// tryEvent is what the page hears of a call. The first says what is called, the last has the parts of the page.
type tryEvent struct {
	Call      string `json:"call,omitempty"` // the id of its record
	Arguments string `json:"arguments,omitempty"`

	Said  string   `json:"said,omitempty"`  // progress
	Share *float64 `json:"share,omitempty"` // of the work that is done

	Tried string `json:"tried,omitempty"`
	Form  string `json:"form,omitempty"` // only if something in it is wrong: the person may have gone on in it
	Lines string `json:"lines,omitempty"`
}

// streamTry makes the call and streams what happens to it. The call ends with the request: a person who cancels it, or leaves
// the page, ends the request.
func (c *Console) streamTry(w http.ResponseWriter, v *visit, p *toolPage) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies pass events on at once
	s := newTryStream(w)
	record := ""
	err := c.try(v, p, &restapi.Follower{
		Began: func(id string) {
			record = id
			s.tell(tryEvent{Call: id, Arguments: string(p.Form.Arguments())})
		},
		Progress: func(params json.RawMessage) { s.progress(progressOf(v.lang, params)) },
	})
	if err != nil {
		p.Tried.Fault = c.seen(v, err)
		p.Tried.ID = record
	}
	last := tryEvent{Tried: c.block(v, "tried", p), Lines: c.block(v, "lines", p)}
	if err != nil {
		last.Form = c.block(v, "tryForm", p)
	}
	s.end(last)
}

// block is a block of the page of a tool; "" if it cannot be shown.
func (c *Console) block(v *visit, name string, p *toolPage) string {
	var b bytes.Buffer
	if err := c.pages[v.lang]["tool"]().ExecuteTemplate(&b, name, p); err != nil {
		c.Logger.Error("page not rendered", "page", "tool", "block", name, "error", err)
		return ""
	}
	return b.String()
}

// progressEvery is how often a page hears of progress at most.
const progressEvery = 100 * time.Millisecond

// tryStream sends events. Progress may come from any goroutine, and until after the call has ended.
type tryStream struct {
	to    http.ResponseWriter
	flush *http.ResponseController

	beat *time.Timer // proxies take a silent stream for dead

	mu   sync.Mutex
	over bool
	told time.Time // when progress was sent last
	next *tryEvent // progress that came too soon after that; nil: there is none
}

func newTryStream(w http.ResponseWriter) *tryStream {
	s := &tryStream{to: w, flush: http.NewResponseController(w)}
	s.beat = time.AfterFunc(keepAlive, s.stayAlive)
	return s
}

// tell sends an event.
func (s *tryStream) tell(e tryEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(e)
}

// send sends an event. The caller holds mu.
func (s *tryStream) send(e tryEvent) {
	if s.over {
		return
	}
	text, _ := json.Marshal(e) // strings and a number
	s.write("data: " + string(text) + "\n\n")
}

// write writes to the stream. The caller holds mu.
func (s *tryStream) write(text string) {
	_ = s.flush.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := io.WriteString(s.to, text)
	if err == nil {
		err = s.flush.Flush()
	}
	s.over = err != nil // the reader has left
	s.beat.Reset(keepAlive)
}

// stayAlive sends a comment.
func (s *tryStream) stayAlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.write(":\n\n")
	}
}

// progress sends progress, or the last that came soon after another a little later.
func (s *tryStream) progress(e tryEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := s.next != nil
	s.next = &e
	if wait := progressEvery - time.Since(s.told); wait <= 0 {
		s.sendNext()
	} else if !waits {
		time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sendNext()
		})
	}
}

func (s *tryStream) sendNext() {
	if s.next != nil {
		s.send(*s.next)
		s.told = time.Now()
		s.next = nil
	}
}

// end sends the last event.
func (s *tryStream) end(e tryEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(e)
	s.over = true
	s.beat.Stop()
	_ = s.flush.SetWriteDeadline(time.Time{})
}

// progressOf reads a notification of progress.
func progressOf(lang locale.Language, params json.RawMessage) tryEvent {
	const most = 200
	at, total := string(rawjson.Get(params, "progress")), string(rawjson.Get(params, "total"))
	message, _ := rawjson.String(rawjson.Get(params, "message"))
	e := tryEvent{Said: visible.Beginning(plain(message), most)}
	done, err := strconv.ParseFloat(at, 64)
	all, wrong := strconv.ParseFloat(total, 64)
	if err == nil && wrong == nil && done >= 0 && all > 0 {
		share := min(1, done/all)
		e.Share = &share
		at = text(lang, "try.of", at, total)
	}
	if e.Said != "" {
		at += " · " + e.Said
	}
	e.Said = visible.Beginning(plain(at), 2*most)
	return e
}
