package picker

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a picker behind a real port.
type desk struct {
	t      *testing.T
	picker *Picker
	url    string
}

func newDesk(t *testing.T, opts *Options) *desk {
	t.Helper()
	d := &desk{t: t}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	d.url = srv.URL
	d.picker = New(func() string { return srv.URL + "/pick" }, opts)
	mux.Handle("/pick/", http.StripPrefix("/pick", d.picker))
	t.Cleanup(func() {
		d.picker.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	return d
}

const rows = `[{"EnvId":"env-a","Alias":"订单<b>","Databases":[{"Id":9007199254740993}]},{"EnvId":"env-b"},null]`

func give(text string) func(context.Context) (json.RawMessage, error) {
	return func(context.Context) (json.RawMessage, error) { return json.RawMessage(text), nil }
}

func (d *desk) open(q Question) *Wait {
	d.t.Helper()
	if q.List == nil {
		q.List = give(rows)
	}
	if q.Timeout == 0 {
		q.Timeout = time.Minute
	}
	w, err := d.picker.Open(q)
	if err != nil {
		d.t.Fatal(err)
	}
	return w
}

func (d *desk) get(url string, header ...string) (int, string, http.Header) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), "GET", url, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

// page is a socket that a test speaks over.
type page struct {
	t *testing.T
	*websocket.Conn
}

func (d *desk) dial(w *Wait, origin string) (*page, error) {
	conn, _, err := websocket.Dial(d.t.Context(), strings.Replace(w.URL(), "http", "ws", 1)+"ws", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		return nil, err
	}
	d.t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return &page{d.t, conn}, nil
}

// join opens a page of the wait and registers it.
func (d *desk) join(w *Wait) *page {
	d.t.Helper()
	p, err := d.dial(w, d.url)
	if err != nil {
		d.t.Fatal(err)
	}
	p.say(`{"type":"registerSession","sessionId":"` + w.session + `"}`)
	return p
}

func (p *page) say(text string) {
	p.t.Helper()
	if err := p.Write(p.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *page) hears(want string) {
	p.t.Helper()
	_, got, err := p.Read(p.t.Context())
	if err != nil || string(got) != want {
		p.t.Fatalf("got %s, %v, want %s", got, err, want)
	}
}

func (p *page) closes(want websocket.StatusCode) {
	p.t.Helper()
	_, got, err := p.Read(p.t.Context())
	if websocket.CloseStatus(err) != want {
		p.t.Fatalf("got %s, %v, want to be closed with %d", got, err, want)
	}
}

const list = `{"type":"envListRefreshed","envs":` + rows + `,"success":true}`

func result(t *testing.T, w *Wait) Choice {
	t.Helper()
	c, err := w.Result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAPersonPicksAmongFullRows(t *testing.T) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	p, other := d.join(w), d.join(w)
	p.hears(list)
	other.hears(list)
	p.say(`{"type":"envId","data":"env-b"}`)
	p.hears(`{"type":"success","envId":"env-b"}`)
	p.closes(websocket.StatusNormalClosure)
	other.hears(`{"type":"success","envId":"env-b"}`) // the same page elsewhere hears of it
	other.closes(websocket.StatusNormalClosure)
	if c := result(t, w); c != (Choice{Picked, "env-b"}) {
		t.Errorf("got %+v", c)
	}
}

func TestOfTwoPicksAtOnceOneCountsAndBothHearOfIt(t *testing.T) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	one, two := d.join(w), d.join(w)
	one.hears(list)
	two.hears(list)
	one.say(`{"type":"envId","data":"env-a"}`)
	two.say(`{"type":"envId","data":"env-b"}`)
	c := result(t, w)
	for _, p := range []*page{one, two} {
		p.hears(`{"type":"success","envId":"` + c.EnvID + `"}`)
	}
}

func TestAPersonSaysNoOrWantsAnotherAccount(t *testing.T) {
	d := newDesk(t, nil)
	for text, want := range map[string]struct {
		outcome Outcome
		code    websocket.StatusCode
	}{
		`{"type":"envId","data":"","cancelled":true}`:               {Canceled, 4001},
		`{"type":"envId","data":"env-a","cancelled":true}`:          {Canceled, 4001},
		`{"type":"envId","data":null,"switch":true}`:                {Switched, 4002},
		`{"type":"envId","switch":true,"cancelled":false,"more":1}`: {Switched, 4002},
	} {
		w := d.open(Question{})
		p := d.join(w)
		p.hears(list)
		p.say(text)
		p.closes(want.code)
		if c := result(t, w); c.Outcome != want.outcome || c.EnvID != "" {
			t.Errorf("%s: got %+v", text, c)
		}
	}
}

func TestRefreshAsksAgainAndSaysWhatWentWrong(t *testing.T) {
	d := newDesk(t, nil)
	answers := make(chan func() (json.RawMessage, error), 3)
	w := d.open(Question{List: func(context.Context) (json.RawMessage, error) { return (<-answers)() }})
	answers <- func() (json.RawMessage, error) {
		return nil, fault.New(fault.Unauthorized, "no key").WithHint("set one")
	}
	p := d.join(w)
	p.hears(`{"type":"envListRefreshed","envs":[],"success":false,"error":"no key (set one)"}`)
	answers <- func() (json.RawMessage, error) { return nil, io.ErrUnexpectedEOF }
	p.say(`{"type":"refreshEnvList"}`)
	p.hears(`{"type":"envListRefreshed","envs":[],"success":false,"error":"internal error"}`)
	answers <- func() (json.RawMessage, error) { return json.RawMessage(`[{"EnvId":"new"}]`), nil }
	p.say(`{"type":"refreshEnvList"}`)
	p.hears(`{"type":"envListRefreshed","envs":[{"EnvId":"new"}],"success":true}`)
	d.join(w).hears(`{"type":"envListRefreshed","envs":[{"EnvId":"new"}],"success":true}`) // without asking again
}

func TestAPersonCanCancelWhileTheCloudIsSlow(t *testing.T) {
	d := newDesk(t, nil)
	began := make(chan struct{})
	w := d.open(Question{List: func(ctx context.Context) (json.RawMessage, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	p := d.join(w)
	<-began
	p.say(`{"type":"refreshEnvList"}`)
	p.say(`{"type":"envId","cancelled":true}`)
	p.closes(4001)
	if c := result(t, w); c.Outcome != Canceled {
		t.Errorf("got %+v", c)
	}
}

func TestClosingTheTabKeepsTheWaitAndEndingTheCallEndsThePage(t *testing.T) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	p := d.join(w)
	p.hears(list)
	p.Close(websocket.StatusGoingAway, "")
	again := d.join(w)
	again.hears(list)
	if status, _, _ := d.get(w.URL()); status != http.StatusOK || w.isOver() {
		t.Fatalf("status %d, over %t", status, w.isOver())
	}
	w.End()
	again.closes(4004)
	if status, body, _ := d.get(w.URL()); status != http.StatusNotFound || strings.Contains(body, w.session) {
		t.Errorf("status %d: %s", status, body)
	}
	if c := result(t, w); c.Outcome != Ended || d.picker.Find(w.Handle(), "") != nil {
		t.Errorf("got %+v", c)
	}
}

func TestNobodyInTimeIsATimeout(t *testing.T) {
	d := newDesk(t, nil)
	w := d.open(Question{})
	p := d.join(w)
	p.hears(list)
	w.timer.Reset(0)
	p.closes(4003)
	if c := result(t, w); c.Outcome != TimedOut {
		t.Errorf("got %+v", c)
	}
}

func TestPagesLiveAsLongAsTheirWaitsAndAnswersALittleLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(func() string { return "http://x" }, nil)
		w, err := p.Open(Question{Timeout: time.Hour, Caller: "me", List: give(rows)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour - time.Second)
		if p.page(w.token) != w || p.Find(w.Handle(), "me") != w {
			t.Error("gone too soon")
		}
		time.Sleep(2 * time.Second)
		if p.page(w.token) != nil || p.Find(w.Handle(), "me") != w {
			t.Error("the page must be gone, the answer not")
		}
		time.Sleep(linger)
		if p.Find(w.Handle(), "me") != nil || len(p.of) > 0 || len(p.byToken) > 0 {
			t.Error("something is left")
		}
		p.Close()
	})
}
