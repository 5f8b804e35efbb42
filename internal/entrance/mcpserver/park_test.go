package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/mcp"
	"github.com/toolfit/toolfit/internal/state/access"
)

// parkedCall is a legacy server's side of a call: it may ask.
type parkedCall func(ctx context.Context, client mcp.Peer) (string, error)

// bench is a Server with one call, behind a real front.
type bench struct {
	*Server
	*door
	call  parkedCall
	caps  string
	later atomic.Int64 // by how much the clock is ahead, in nanoseconds
}

func newBench(t *testing.T, call parkedCall) *bench { return newBenchFor(t, time.Minute, call) }

func newBenchFor(t *testing.T, park time.Duration, call parkedCall) *bench {
	b := &bench{call: call, caps: `{"elicitation":{},"sampling":{},"roots":{}}`}
	now := func() time.Time { return time.Now().Add(time.Duration(b.later.Load())) }
	b.Server = New(nil, nil, nil, &Options{Park: park, Now: now})
	b.door = newDoor(t, b.entryOf, nil)
	t.Cleanup(b.Server.Close)
	return b
}

func (b *bench) entryOf(who string) mcp.Entry {
	v := &visitor{server: b.Server, principal: access.Principal{ID: who}, profile: "default"}
	return mcp.Entry{Owner: who, Info: v.info, Handler: mcp.HandlerFunc(func(ctx context.Context, req *mcp.Request) (json.RawMessage, error) {
		raw, err := v.modern(ctx, req, func(ctx context.Context, req *mcp.Request) (*upstream.Outcome, error) {
			raw, err := b.call(ctx, req.Client)
			return &upstream.Outcome{Raw: json.RawMessage(raw)}, err
		})
		if err == errAnswered {
			err = nil
		}
		return raw, err
	})}
}

// request makes the call, or brings something back to it, as principal.
func (b *bench) request(ctx context.Context, principal, params string) (string, error) {
	return b.modern(ctx, principal, b.caps, "prompts/get", params)
}

// waiting is how many calls wait in the lot.
func (b *bench) waiting() int {
	b.parked.mu.Lock()
	defer b.parked.mu.Unlock()
	return len(b.parked.talks) + len(b.parked.of)
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
	ended := make(chan error, 1)
	b := newBenchFor(t, 300*time.Millisecond, func(ctx context.Context, client mcp.Peer) (string, error) {
		_, err := client.Ask(ctx, "roots/list", nil)
		ended <- err
		return "", err
	})
	first, err := b.request(t.Context(), "ann", firstParams)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) < 200*time.Millisecond {
		t.Errorf("the server was told %v after %s", err, time.Since(began))
	}
	_, err = b.request(t.Context(), "ann", back(first, `{"q1":{}}`))
	wantInvalid(t, err, "no longer waits for it")
	b.later.Store(int64(2 * time.Second))
	_, err = b.request(t.Context(), "ann", back(first, `{"q1":{}}`))
	wantInvalid(t, err, "it is too old")
	if b.waiting() != 0 {
		t.Error("something is left of it")
	}
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
	if _, err := b.request(t.Context(), "ann", firstParams); !errors.As(err, &rpc) || rpc.Code != mcp.CodeInternal {
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
		soon(t, "the server is told", ended.Load)
	})
	t.Run("a caller can let only so many wait", func(t *testing.T) {
		b := newBench(t, askTwice)
		var wg sync.WaitGroup
		for range maxParkedOfOne {
			wg.Go(func() {
				if _, err := b.request(t.Context(), "ann", firstParams); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
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

// A client that leaves while it waits for the call after it has answered has canceled it.
func TestClientThatLeavesLaterCancelsItsCall(t *testing.T) {
	ended := make(chan error, 1)
	began := make(chan struct{})
	b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
		client.Ask(ctx, "roots/list", nil)
		close(began)
		<-ctx.Done()
		_, err := client.Ask(ctx, "roots/list", nil)
		ended <- err
		return "{}", nil
	})
	first, err := b.request(t.Context(), "ann", firstParams)
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-began
		hangUp()
	}()
	b.request(ctx, "ann", back(first, `{"q1":{}}`))
	if err := <-ended; err == nil {
		t.Error("it was answered")
	}
	soon(t, "nothing is left", func() bool { return b.waiting() == 0 })
}

func TestClientThatLeavesWhileQuestionsAreGatheredLeavesNothing(t *testing.T) {
	asks := make(chan struct{})
	ended := make(chan error, 1)
	b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
		close(asks)
		_, err := client.Ask(ctx, "roots/list", nil)
		ended <- err
		return "", err
	})
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-asks
		hangUp()
	}()
	b.request(ctx, "ann", firstParams)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	time.Sleep(2 * gather)
	if b.waiting() != 0 {
		t.Error("it waits for nobody")
	}
}

// The server need not wait for the client: its result is there when that comes back.
func TestACallThatEndsWhileItIsParkedKeepsItsResult(t *testing.T) {
	for name, answers := range map[string]string{"with the answers": `{"q1":{}}`, "without them": `{}`} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
				go client.Ask(ctx, "roots/list", nil)
				time.Sleep(3 * gather)
				close(ended)
				return `{"messages":["done"]}`, nil
			})
			first, err := b.request(t.Context(), "ann", firstParams)
			if err != nil {
				t.Fatal(err)
			}
			<-ended
			time.Sleep(10 * time.Millisecond)
			last, err := b.request(t.Context(), "ann", back(first, answers))
			if err != nil || !strings.Contains(last, `"messages":["done"]`) {
				t.Errorf("%s, %v", last, err)
			}
		})
	}
}

// What a server asks while the client is away is asked when it comes back; what it asks no more is not.
func TestQuestionsOfAParkedCall(t *testing.T) {
	parked := make(chan struct{})
	asked := make(chan struct{})
	b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
		dropped, drop := context.WithCancel(ctx)
		defer drop()
		go client.Ask(dropped, "elicitation/create", json.RawMessage(`{"message":"dropped"}`))
		first := make(chan string)
		go func() {
			said, _ := client.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"first"}`))
			first <- string(said)
		}()
		<-parked
		drop()
		go func() {
			time.Sleep(10 * time.Millisecond)
			close(asked)
		}()
		second, err := client.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"second"}`))
		return fmt.Sprintf(`{"messages":[%s,%s]}`, <-first, second), err
	})
	got, err := b.request(t.Context(), "ann", firstParams)
	if err != nil || strings.Count(got, `"method"`) != 2 {
		t.Fatalf("%s, %v", got, err)
	}
	close(parked)
	<-asked
	key := "q1"
	if strings.Contains(string(rawjson.Get([]byte(got), "inputRequests", "q2")), "first") {
		key = "q2"
	}
	got, err = b.request(t.Context(), "ann", back(got, `{"`+key+`":{"n":1}}`))
	if err != nil || !strings.Contains(got, `"inputRequests":{"q3":{"method":"elicitation/create","params":{"message":"second"}}}`) {
		t.Fatalf("%s, %v", got, err)
	}
	got, err = b.request(t.Context(), "ann", back(got, `{"q3":{"n":2}}`))
	if err != nil || !strings.Contains(got, `[{"n":1},{"n":2}]`) {
		t.Errorf("%s, %v", got, err)
	}
}

// A question that comes as the call ends must not cost the result.
func TestQuestionsRaceWithTheEnd(t *testing.T) {
	b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
		client.Ask(ctx, "roots/list", nil)
		go client.Ask(ctx, "roots/list", nil)
		time.Sleep(gather + time.Duration(rand.IntN(4)-2)*time.Millisecond)
		return `{"messages":["done"]}`, nil
	})
	for range 30 {
		got, err := b.request(t.Context(), "ann", firstParams)
		for n := 1; err == nil && !strings.Contains(got, "done"); n++ {
			if n > 3 {
				t.Fatalf("it goes on and on: %s", got)
			}
			got, err = b.request(t.Context(), "ann", back(got, `{"q1":{},"q2":{}}`))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCloseEndsParkedCalls(t *testing.T) {
	ended := make(chan error, 1)
	b := newBench(t, func(ctx context.Context, client mcp.Peer) (string, error) {
		_, err := client.Ask(ctx, "roots/list", nil)
		ended <- err
		return "", err
	})
	if _, err := b.request(t.Context(), "ann", firstParams); err != nil {
		t.Fatal(err)
	}
	b.Server.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	default:
		t.Error("the call goes on")
	}
}

// A client that comes back to a call which was detached meanwhile gets the handle.
func TestADetachedCallGivesItsHandleToWhoComesBack(t *testing.T) {
	detach := make(chan struct{})
	detached := make(chan bool)
	b := newBenchFor(t, 200*time.Millisecond, func(ctx context.Context, client mcp.Peer) (string, error) {
		said, err := client.Ask(ctx, "roots/list", nil)
		if err == nil {
			t.Errorf("it was answered: %s", said)
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	call := b.call
	b.call = func(ctx context.Context, client mcp.Peer) (string, error) {
		go func() {
			<-detach
			detached <- client.(*talk).detached(json.RawMessage(`{"resultType":"task","taskId":"c_1"}`))
		}()
		return call(ctx, client)
	}
	first, err := b.request(t.Context(), "ann", firstParams)
	if err != nil {
		t.Fatal(err)
	}
	close(detach)
	if !<-detached {
		t.Fatal("not detached")
	}
	got, err := b.request(t.Context(), "ann", back(first, `{}`))
	if err != nil || got != `{"resultType":"task","taskId":"c_1"}` {
		t.Errorf("%s, %v", got, err)
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
				if a, b := rawjson.Digest(json.RawMessage(params)), rawjson.Digest(same); a != b && !strings.Contains(params, `\u`) && noTwice(params) {
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
