package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// parkedCall is a legacy server's side of a call: it may ask.
type parkedCall func(ctx context.Context, client mcp.Peer) (string, error)

// bench is a Server with one call.
type bench struct {
	*Server
	t    *testing.T
	call parkedCall
	caps string
}

func newBench(t *testing.T, call parkedCall) *bench {
	b := &bench{Server: New(nil, nil, nil, &Options{Park: time.Minute}), t: t, call: call, caps: `{"elicitation":{},"sampling":{},"roots":{}}`}
	t.Cleanup(b.Close)
	return b
}

// request makes the call, or brings something back to it, as principal.
func (b *bench) request(ctx context.Context, principal, params string) (string, error) {
	v := &visitor{server: b.Server, principal: access.Principal{ID: principal}, profile: "default"}
	req := &mcp.Request{
		ID: json.RawMessage("1"), Method: "prompts/get", Params: json.RawMessage(params), Client: mcp.Deaf,
		Meta: &mcp.Meta{Version: mcp.ModernVersion, Capabilities: json.RawMessage(b.caps)},
	}
	raw, err := v.modern(ctx, req, func(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
		raw, err := b.call(ctx, req.Client)
		return &upstream.Outcome{Raw: json.RawMessage(raw)}, err
	})
	return string(raw), err
}

// back are the params that bring the answers and the state of an interim result.
func back(interim, answers string) string {
	state := rawjson.Get([]byte(interim), "requestState")
	return fmt.Sprintf(`{"name":"x","arguments":{"b":2,"a":1},"inputResponses":%s,"requestState":%s}`, answers, state)
}

const firstParams = `{"name":"x","arguments":{"a":1,"b":2}}`

func wantInvalid(t *testing.T, err error, text string) {
	t.Helper()
	var rpc *mcp.Error
	if !errors.As(err, &rpc) || rpc.Code != mcp.CodeInvalidParams || !strings.Contains(rpc.Message, text) {
		t.Errorf("got %v, want invalid params: %s", err, text)
	}
}

// askTwice asks for a name and then for a color.
func askTwice(ctx context.Context, client mcp.Peer) (string, error) {
	name, err := client.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"name?","elicitationId":"old"}`))
	if err != nil {
		return "", err
	}
	color, err := client.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"color?"}`))
	return fmt.Sprintf(`{"messages":[%s,%s]}`, name, color), err
}

func TestParkedCallIsResumedByTheAnswers(t *testing.T) {
	b := newBench(t, askTwice)
	first, err := b.request(t.Context(), "ann", firstParams)
	if err != nil || !strings.HasPrefix(first, `{"resultType":"input_required","inputRequests":{"q1":{"method":"elicitation/create","params":{"message":"name?"}}},"requestState":"`) {
		t.Fatalf("%s, %v", first, err)
	}
	// Nothing and nonsense are asked again; what was not asked is passed over.
	again, err := b.request(t.Context(), "ann", back(first, `{"other":{},"q1":5}`))
	if err != nil || !strings.Contains(again, `"q1":{"method":"elicitation/create"`) {
		t.Fatalf("%s, %v", again, err)
	}
	second, err := b.request(t.Context(), "ann", back(again, `{"q1":{"action":"accept","content":{"big":9007199254740993}},"other":{}}`))
	if err != nil || !strings.Contains(second, `"inputRequests":{"q2":{"method":"elicitation/create","params":{"message":"color?"}}}`) {
		t.Fatalf("%s, %v", second, err)
	}
	last, err := b.request(t.Context(), "ann", back(second, `{"q2":{"action":"decline"}}`))
	want := `"messages":[{"action":"accept","content":{"big":9007199254740993}},{"action":"decline"}]}`
	if err != nil || !strings.HasPrefix(last, `{"resultType":"complete",`) || !strings.HasSuffix(last, want) {
		t.Fatalf("%s, %v", last, err)
	}
	for name, used := range map[string]string{"the first": first, "the second": second, "one that was asked again": again} {
		if _, err := b.request(t.Context(), "ann", back(used, `{"q1":{},"q2":{}}`)); err == nil {
			t.Errorf("%s was taken twice", name)
		}
	}
}

func TestStateThatIsNotTheCallersIsRefused(t *testing.T) {
	b := newBench(t, askTwice)
	first, err := b.request(t.Context(), "ann", firstParams)
	if err != nil {
		t.Fatal(err)
	}
	good := back(first, `{"q1":{}}`)
	state, _ := rawjson.String(rawjson.Get([]byte(first), "requestState"))
	changed := []byte(state)
	changed[len(changed)/2] ^= 1
	for _, c := range []struct{ name, principal, params, want string }{
		{"another caller's", "bob", good, "of another call or caller"},
		{"of another tool", "ann", strings.Replace(good, `"x"`, `"y"`, 1), "of another call or caller"},
		{"of other arguments", "ann", strings.Replace(good, `"a":1`, `"a":2`, 1), "of another call or caller"},
		{"changed", "ann", strings.Replace(good, state, string(changed), 1), "it was changed"},
		{"with something behind it", "ann", strings.Replace(good, state, state+"-TAMPERED", 1), "it was changed"},
		{"cut", "ann", strings.Replace(good, state, state[:20], 1), "it was changed"},
		{"nobody's", "ann", strings.Replace(good, state, "open sesame", 1), "it was changed"},
		{"empty", "ann", strings.Replace(good, state, "", 1), "must be the text"},
		{"twice", "ann", strings.Replace(good, `"name"`, `"requestState":"x","name"`, 1), "stands there twice"},
		{"with answers that are none", "ann", strings.Replace(good, `{"q1":{}}`, `[1]`, 1), "must be an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.request(t.Context(), c.principal, c.params)
			wantInvalid(t, err, c.want)
		})
	}
	other := newBench(t, askTwice) // as after a restart
	_, err = other.request(t.Context(), "ann", good)
	wantInvalid(t, err, "make the call anew")
	if _, err := b.request(t.Context(), "ann", good); err != nil {
		t.Errorf("the right one was spoiled by the wrong ones: %v", err)
	}
}

func TestReplicaThatDoesNotHaveTheCallSaysSo(t *testing.T) {
	key := []byte("the same for all")
	v := &visitor{principal: access.Principal{ID: "ann"}, profile: "default"}
	one := newSeal(key, time.Now)
	req := &mcp.Request{Method: "prompts/get", Params: json.RawMessage(firstParams)}
	sealed := one.close(state{Kind: stateParked, Talk: "t", Replica: "another", Round: 1}, v.binding(req), time.Minute)
	b := newBench(t, askTwice)
	b.seal = newSeal(key, time.Now)
	_, err := b.request(t.Context(), "ann", back(`{"requestState":"`+sealed+`"}`, `{}`))
	wantInvalid(t, err, "waits at another replica")
}

func TestParkedCallWhoseClientNeverReturnsIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
			_, err := client.Ask(ctx, "roots/list", nil)
			ended <- err
			return "", err
		})
		first, err := b.request(t.Context(), "ann", firstParams)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Second)
		select {
		case err := <-ended:
			t.Fatalf("it ended early: %v", err)
		default:
		}
		time.Sleep(2 * time.Second)
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the server was told %v", err)
		}
		_, err = b.request(t.Context(), "ann", back(first, `{"q1":{}}`))
		wantInvalid(t, err, "it is too old")
		if len(b.parked.talks)+len(b.parked.of) != 0 {
			t.Error("something is left of it")
		}
	})
}

func TestClientThatHangsUpCancelsItsCall(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(ctx context.Context, _ mcp.Peer) (string, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return "", ctx.Err()
	})
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-began
		hangUp()
	}()
	if _, err := b.request(ctx, "ann", firstParams); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-ended
}

func TestPanicOfACallIsItsOwn(t *testing.T) {
	b := newBench(t, func(context.Context, mcp.Peer) (string, error) { panic("a bug") })
	var rpc *mcp.Error
	if _, err := b.request(t.Context(), "ann", firstParams); err == nil || errors.As(err, &rpc) || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("got %v", err)
	}
}

func TestQuestionsHaveLimits(t *testing.T) {
	t.Run("a client is asked only what it declared", func(t *testing.T) {
		b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
			_, err := client.Ask(ctx, "sampling/createMessage", nil)
			return "{}", err
		})
		b.caps = `{"elicitation":{}}`
		var rpc *mcp.Error
		if _, err := b.request(t.Context(), "ann", firstParams); !errors.As(err, &rpc) || rpc.Code != mcp.CodeMethodNotFound {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a server that asks without end is cut off", func(t *testing.T) {
		var ended atomic.Bool
		b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
			for {
				if _, err := client.Ask(ctx, "roots/list", nil); err != nil {
					ended.Store(true)
					return "", err
				}
			}
		})
		got, err := b.request(t.Context(), "ann", firstParams)
		for i := 1; err == nil; i++ {
			if i > 2*maxRounds {
				t.Fatal("it goes on and on")
			}
			got, err = b.request(t.Context(), "ann", back(got, fmt.Sprintf(`{"q%d":{"roots":[]}}`, i)))
		}
		if !strings.Contains(err.Error(), "asked for more 32 times") {
			t.Error(err)
		}
		b.Close()
		if !ended.Load() {
			t.Error("the server was not told")
		}
	})
	t.Run("a caller can let only so many wait", func(t *testing.T) {
		b := newBench(t, askTwice)
		for range maxParkedOfOne {
			if _, err := b.request(t.Context(), "ann", firstParams); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.request(t.Context(), "ann", firstParams); err == nil || !strings.Contains(err.Error(), "too many calls wait") {
			t.Errorf("got %v", err)
		}
		if _, err := b.request(t.Context(), "bob", firstParams); err != nil {
			t.Errorf("another caller is held up by it: %v", err)
		}
	})
}

func TestConcurrentReplaysAreAnsweredOnce(t *testing.T) {
	b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
		said, err := client.Ask(ctx, "roots/list", nil)
		return string(said), err
	})
	first, err := b.request(t.Context(), "ann", firstParams)
	if err != nil {
		t.Fatal(err)
	}
	var good atomic.Int32
	done := make(chan struct{})
	for range 8 {
		go func() {
			if _, err := b.request(t.Context(), "ann", back(first, `{"q1":{"roots":[]}}`)); err == nil {
				good.Add(1)
			}
			done <- struct{}{}
		}()
	}
	for range 8 {
		<-done
	}
	if good.Load() != 1 {
		t.Errorf("%d were answered", good.Load())
	}
}

func FuzzState(f *testing.F) {
	s := newSeal([]byte("k"), func() time.Time { return time.Unix(0, 0) })
	binding := []byte("ann")
	f.Add(s.close(state{Kind: stateRepeat}, binding, time.Minute), `{"a":[1,"x"]}`)
	f.Add("tf1.", `null`)
	f.Fuzz(func(t *testing.T, text, params string) {
		if st, err := s.open(text, binding); err == nil && st.Kind != stateRepeat {
			t.Fatalf("%q gave %+v", text, st)
		}
		if json.Valid([]byte(params)) {
			var v any
			d := json.NewDecoder(strings.NewReader(params))
			d.UseNumber()
			if d.Decode(&v) == nil {
				same, _ := json.Marshal(v) // members in another order, other blanks and escapes
				if a, b := digest(json.RawMessage(params)), digest(same); a != b && !strings.Contains(params, `\u`) && noTwice(params) {
					t.Fatalf("%s and %s differ", params, same)
				}
			}
			parseRetry(json.RawMessage(params))
		}
	})
}

// noTwice tells whether no object has a member twice, as far as the length tells.
func noTwice(params string) bool {
	var v any
	if json.Unmarshal([]byte(params), &v) != nil {
		return false
	}
	out, _ := json.Marshal(v)
	return strings.Count(string(out), ":") == strings.Count(params, ":")
}
