package replicas

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// fakeStore is a store in memory, which counts how often it was read.
type fakeStore struct {
	all   []store.Replica
	owner string
	err   error
	reads atomic.Int32
	last  store.Replica // whose heart beat
}

func (s *fakeStore) BeatReplica(_ context.Context, r store.Replica) error {
	s.last = r
	return s.err
}

func (s *fakeStore) Replicas(context.Context, time.Duration) ([]store.Replica, error) {
	s.reads.Add(1)
	return s.all, s.err
}

func (s *fakeStore) DropHomes(context.Context, string) error { return s.err }

func (s *fakeStore) LeaveReplica(context.Context, string) error { return s.err }

func (s *fakeStore) DropReplica(context.Context, string) error { return s.err }

func (s *fakeStore) Home(context.Context, store.Home) (string, error) { return s.owner, s.err }

func (s *fakeStore) DeadHomes(context.Context, string, time.Duration, int) ([]store.Home, error) {
	return nil, s.err
}

func (s *fakeStore) ClaimHome(_ context.Context, _ store.Home, replica, _ string, _ time.Duration) (string, []byte, error) {
	return cmp.Or(s.owner, replica), nil, s.err
}

func (s *fakeStore) DropHome(context.Context, store.Home, string) error { return s.err }

func (s *fakeStore) StoreHome(context.Context, store.Home, string, []byte) error { return s.err }

type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(0, c.at.Load()) }

func (c *clock) pass(d time.Duration) { c.at.Add(int64(d)) }

var ann = access.Principal{ID: "k1", Name: "ann", Role: access.Caller, Profile: "ops"}

// made makes a replica whose callers are all ann.
func made(t *testing.T, st Store, change func(*Options)) (*Replicas, *clock) {
	t.Helper()
	c := &clock{}
	c.pass(time.Hour)
	opts := &Options{
		URL: "http://127.0.0.1:1", Key: []byte("a key"), Now: c.now,
		Admit: func(*http.Request) (access.Principal, error) { return ann, nil },
	}
	if change != nil {
		change(opts)
	}
	r, err := New(st, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, c
}

func TestWrongAddressesAndKeysAreRefused(t *testing.T) {
	for _, url := range []string{"10.1.2.3:8420", "ftp://h", "http://", "http://h/path", "http://u:p@h", "http://%zz"} {
		if _, err := New(&fakeStore{}, &Options{URL: url, Key: []byte("k")}); err == nil {
			t.Errorf("%q was accepted", url)
		}
	}
	if _, err := New(&fakeStore{}, &Options{URL: "http://h"}); err == nil || !strings.Contains(err.Error(), "TOOLFIT_SECRET_KEY") {
		t.Errorf("no key: %v", err)
	}
}

func TestAPassOpensOneDoorForOneRequestForAShortTime(t *testing.T) {
	from, _ := made(t, &fakeStore{}, nil)
	to, time1 := made(t, &fakeStore{}, nil)
	request := func(method, uri string, passes ...string) *http.Request {
		r := httptest.NewRequest(method, uri, nil)
		r.Header[access.PassHeader] = passes
		return r
	}
	good := from.seal(to.ID(), ann, "POST", "/mcp/ops?x=1")
	if who, ok := to.Admitted(request("POST", "/mcp/ops?x=1", good)); !ok || who != ann {
		t.Fatalf("not admitted: %v, %v", who, ok)
	}
	stranger, _ := made(t, &fakeStore{}, func(o *Options) { o.Key = []byte("another key") })
	for what, r := range map[string]*http.Request{
		"another method":  request("DELETE", "/mcp/ops?x=1", good),
		"another path":    request("POST", "/mcp/all?x=1", good),
		"another query":   request("POST", "/mcp/ops", good),
		"another replica": request("POST", "/mcp/ops", from.seal(from.ID(), ann, "POST", "/mcp/ops")),
		"another key":     request("POST", "/mcp/ops", stranger.seal(to.ID(), ann, "POST", "/mcp/ops")),
		"changed":         request("POST", "/mcp/ops?x=1", good[:len(good)-2]+"AA"),
		"cut":             request("POST", "/mcp/ops?x=1", good[:10]),
		"empty":           request("POST", "/mcp/ops?x=1", ""),
		"none":            request("POST", "/mcp/ops?x=1"),
		"two":             request("POST", "/mcp/ops?x=1", good, good),
		"no base64":       request("POST", "/mcp/ops?x=1", "世界"),
	} {
		if who, ok := to.Admitted(r); ok || who != (access.Principal{}) {
			t.Errorf("%s: admitted %v", what, who)
		}
	}
	time1.pass(passFor + time.Millisecond)
	if _, ok := to.Admitted(request("POST", "/mcp/ops?x=1", good)); ok {
		t.Error("an old pass was accepted")
	}
}

func TestPassesWhileTheKeyIsChanged(t *testing.T) {
	const older, newer = "the-older-of-two-keys", "the-newer-of-two-keys"
	var gateways []*Replicas
	for _, key := range []string{older + "," + newer, newer + "," + older, newer + " " + older} {
		one, _ := made(t, &fakeStore{}, func(o *Options) { o.Key = []byte(key) })
		gateways = append(gateways, one)
	}
	for i, from := range gateways {
		for j, to := range gateways {
			r := httptest.NewRequest("POST", "/mcp", nil)
			r.Header.Set(access.PassHeader, from.seal(to.ID(), ann, "POST", "/mcp"))
			if who, ok := to.Admitted(r); !ok || who != ann {
				t.Errorf("from %d to %d: not admitted", i, j)
			}
		}
	}
}

func TestATokenTravelsSealedForOneGateway(t *testing.T) {
	from, _ := made(t, &fakeStore{}, nil)
	to, _ := made(t, &fakeStore{}, nil)
	third, _ := made(t, &fakeStore{}, nil)
	sent := access.Sent{Owner: ann.ID, Issuer: "https://idp", Text: strings.Repeat("t", 8<<10)}
	request := func(pass string) *http.Request {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header.Set(access.PassHeader, pass)
		return r
	}
	pass := from.sealWith(sent, to.ID(), ann, "POST", "/mcp")
	if strings.Contains(pass, "tttt") || len(pass) > 16<<10 {
		t.Errorf("a pass of %d bytes shows the token, or is too long", len(pass))
	}
	if got := to.Sent(request(pass)); got != sent {
		t.Errorf("got %v", got)
	}
	if got := third.Sent(request(pass)); got != (access.Sent{}) {
		t.Errorf("another gateway got %v", got)
	}
	if got := to.Sent(request(from.seal(to.ID(), ann, "POST", "/mcp"))); got != (access.Sent{}) {
		t.Errorf("without a token: %v", got)
	}
	sent.Owner = "somebody else"
	if got := to.Sent(request(from.sealWith(sent, to.ID(), ann, "POST", "/mcp"))); got != (access.Sent{}) {
		t.Errorf("another's token: %v", got)
	}
}

func TestAPassSaysAllThatIsKnownOfSomebodyWithAToken(t *testing.T) {
	from, _ := made(t, &fakeStore{}, nil)
	to, _ := made(t, &fakeStore{}, nil)
	groups := make([]string, 600) // as many as fit into what is read about a token
	for i := range groups {
		groups[i] = fmt.Sprintf("%036d", i)
	}
	sent := access.Principal{ID: "u_x", Name: "Ann 王", Kind: access.KindUser, Role: access.Caller, Profile: "ops,dev", Token: &access.Identity{
		Issuer: "https://login.example.com", Subject: "7", Client: "editor", Groups: groups, Scopes: []string{"mcp:tools"}, Expires: time.Unix(2e9, 0).UTC(),
	}}
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header.Set(access.PassHeader, from.seal(to.ID(), sent, "POST", "/mcp"))
	if n := len(r.Header.Get(access.PassHeader)); n > 48<<10 {
		t.Errorf("%d bytes leave little room for other headers", n)
	}
	got, ok := to.Admitted(r)
	if !ok || !reflect.DeepEqual(got, sent) {
		t.Errorf("%+v, %+v", got, got.Token)
	}
}

func TestTheOthersAreReadOnceASecondAndRememberedWithoutTheStore(t *testing.T) {
	st := &fakeStore{all: []store.Replica{{ID: "other"}}}
	r, c := made(t, st, nil)
	st.all = append(st.all, store.Replica{ID: r.ID()})
	for range 100 {
		if others := r.Others(t.Context()); len(others) != 1 || others["other"].ID != "other" {
			t.Fatal(others)
		}
	}
	c.pass(lookEvery)
	st.err = errors.New("gone")
	for range 100 {
		if others := r.Others(t.Context()); len(others) != 1 {
			t.Fatal(others)
		}
	}
	if n := st.reads.Load(); n != 2 {
		t.Errorf("read %d times", n)
	}
}

func TestALateHeartbeatIsSaidSo(t *testing.T) {
	st := &fakeStore{}
	late := 0
	r, c := made(t, st, func(o *Options) { o.Late = func() { late++ } })
	for _, pause := range []time.Duration{0, 19 * time.Second, 20 * time.Second, time.Second} {
		c.pass(pause)
		if err := r.Beat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if late != 1 {
		t.Errorf("late %d times", late)
	}
}

func TestOneThatGoesDownTakesNoMoreSessions(t *testing.T) {
	st := &fakeStore{}
	r, c := made(t, st, nil)
	if home, _ := r.Home(t.Context(), "s", ""); home != r.ID() {
		t.Errorf("the home is %s", home)
	}
	r.HandOver()
	r.HandOver()
	if home, _ := r.Home(t.Context(), "s", ""); home != r.ID() {
		t.Errorf("the only one sends a session to %s", home)
	}
	st.all = []store.Replica{{ID: "one"}, {ID: r.ID()}, {ID: "two"}}
	c.pass(lookEvery)
	for gone, want := range map[string]string{"one": "two", "two": "one"} {
		if home, _ := r.Home(t.Context(), "s", gone); home != want {
			t.Errorf("a session goes to %s", home)
		}
	}
	r.Beat(t.Context())
	if st.last.URL == "" {
		t.Error("it cannot be reached any more")
	}
	r.Leave()
	r.Beat(t.Context())
	if st.last.URL != "" {
		t.Error("it can be reached after it has left")
	}
}

// pair are two replicas; the second serves what it is passed on with the handler.
func pair(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, who access.Principal)) (front *httptest.Server) {
	t.Helper()
	front, _ = pairOf(t, handle)
	return front
}

func pairOf(
	t *testing.T, handle func(w http.ResponseWriter, r *http.Request, who access.Principal),
) (front *httptest.Server, first *Replicas) {
	t.Helper()
	second, clock2 := made(t, &fakeStore{}, nil)
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, ok := second.Admitted(r)
		if !ok {
			t.Errorf("%s %s was not admitted", r.Method, r.RequestURI)
		}
		handle(w, r, who)
	}))
	t.Cleanup(back.Close)
	first, _ = made(t, &fakeStore{all: []store.Replica{{ID: second.ID(), URL: back.URL}, {ID: "down", URL: "http://127.0.0.1:1"}}},
		func(o *Options) { o.Now = clock2.now })
	front = httptest.NewServer(http.StripPrefix("/base", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		to := r.Header.Get("X-To")
		switch {
		case to == "tell":
			first.Tell(r, body, "")
		case to == "":
			to = second.ID()
			fallthrough
		default:
			if !first.Forward(w, r, body, to) {
				io.WriteString(w, "here")
			}
		}
	})))
	t.Cleanup(front.Close)
	return front, first
}

func post(t *testing.T, url, body string, header ...string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(resp.Body)
	return string(said)
}

func TestARequestReachesItsReplicaWithoutTheClientsSecrets(t *testing.T) {
	front := pair(t, func(w http.ResponseWriter, r *http.Request, who access.Principal) {
		for _, name := range []string{"Authorization", "Cookie", "Origin", "X-Forwarded-For", "Keep-Alive"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s was passed on", name)
			}
		}
		body, _ := io.ReadAll(r.Body)
		io.WriteString(w, who.Name+" "+r.RequestURI+" "+r.Header.Get("Mcp-Session-Id")+" "+string(body))
	})
	said := post(t, front.URL+"/base/mcp/%E4%B8%96?x=1", "body", "Authorization", "Bearer tf_x_y", "Cookie", "a=b", "Origin", "http://evil",
		"X-Forwarded-For", "1.2.3.4", "Mcp-Session-Id", "s1", "Connection", "Keep-Alive", "Keep-Alive", "5")
	if said != "ann /base/mcp/%E4%B8%96?x=1 s1 body" {
		t.Error(said)
	}
	for _, to := range []string{"down", "unknown"} {
		if said := post(t, front.URL+"/base/mcp", "body", "X-To", to); said != "here" {
			t.Errorf("%s: %q", to, said)
		}
	}
}

func TestAMessageIsToldToAllThatAnswer(t *testing.T) {
	heard := make(chan string, 1)
	front := pair(t, func(w http.ResponseWriter, r *http.Request, who access.Principal) {
		body, _ := io.ReadAll(r.Body)
		heard <- who.Name + " " + r.Header.Get("Mcp-Session-Id") + " " + string(body)
	})
	post(t, front.URL+"/base/mcp", "body", "X-To", "tell", "Mcp-Session-Id", "s1")
	if said := <-heard; said != "ann s1 body" {
		t.Error(said)
	}
}

func TestAStreamThatIsPassedOnEndsWellWhenWeGoDown(t *testing.T) {
	front, first := pairOf(t, func(w http.ResponseWriter, r *http.Request, _ access.Principal) {
		io.WriteString(w, "data: 1\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	resp, err := http.Get(front.URL + "/base/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first.HandOver()
	if said, err := io.ReadAll(resp.Body); string(said) != "data: 1\n\n" || err != nil {
		t.Errorf("%q, %v", said, err)
	}
}

func TestAStreamIsPassedOnAtOnceAndEndsWithItsClient(t *testing.T) {
	left := make(chan struct{})
	front := pair(t, func(w http.ResponseWriter, r *http.Request, _ access.Principal) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, "GET", front.URL+"/base/mcp", nil)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); line != "data: 1\n" || err != nil {
		t.Fatal(line, err)
	}
	cancel()
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Error("the stream goes on without its client")
	}
}

// TestAnotherGatewayAtTheAddressIsNotTheReplica: it was killed and started again, and has another id.
func TestAnotherGatewayAtTheAddressIsNotTheReplica(t *testing.T) {
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer back.Close()
	st := &fakeStore{}
	first, c := made(t, st, nil)
	forward := func(method string) bool {
		return first.Forward(httptest.NewRecorder(), httptest.NewRequest(method, "/mcp", nil), nil, "old")
	}
	if forward("POST") {
		t.Error("passed on to nobody")
	}
	c.pass(time.Millisecond)
	st.all = []store.Replica{{ID: "old", URL: back.URL}} // it has come since
	for _, method := range []string{"POST", "GET"} {
		reads := st.reads.Load()
		if forward(method) || st.reads.Load() != reads+1 && method == "POST" {
			t.Errorf("%s: taken for an answer, after %d looks", method, st.reads.Load()-reads)
		}
	}
}

// TestNobodyIsDeadBecauseTheStoreWasAway: when it is back, the heartbeats of all are old.
func TestNobodyIsDeadBecauseTheStoreWasAway(t *testing.T) {
	st := &fakeStore{all: []store.Replica{{ID: "other", URL: "http://127.0.0.1:1"}}}
	r, c := made(t, st, nil)
	known := func() bool {
		_, there := r.Others(t.Context())["other"]
		return there
	}
	for _, step := range []struct {
		name string
		err  error
		all  []store.Replica
		pass time.Duration
		want bool
	}{
		{"at first", nil, st.all, lookEvery, true},
		{"while the store is away", errors.New("away"), nil, time.Minute, true},
		{"when it is back", nil, nil, lookEvery, true},
		{"when it had the time to say so", nil, nil, r.opts.Silent / 4, false},
	} {
		c.pass(step.pass)
		st.err = step.err
		st.all = step.all
		if known() != step.want {
			t.Errorf("%s: known: %v", step.name, !step.want)
		}
	}
}
