package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"
)

// The test's own program is the child as well.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Argument {
		syscall.Exit(Main(os.Stdin, os.Stdout)) // os.Exit waits a second under the race detector
	}
	os.Exit(m.Run())
}

// newRunner makes one that keeps nothing warm, unless told otherwise.
func newRunner(t testing.TB, opts Options) *Runner {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if opts.Warm == 0 {
		opts.Warm = -1
	}
	r := New(exe, &opts)
	t.Cleanup(r.Close)
	return r
}

var start0 = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// job is a script with the server shop.
func job(code string) Job {
	return Job{Who: "me", Code: code, Globals: map[string]string{"shop": "shop"}, Seed: "seed", Now: start0}
}

// play runs a script to its end. Every call is answered, the oldest first, with what it is, or with
// what the tool's arguments say under value or error. It returns all turns.
func play(ctx context.Context, r *Runner, j Job) (turns []Turn, err error) {
	p, turn, err := r.Start(ctx, j)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var open []Call
	for n := 1; ; n++ {
		turns = append(turns, turn)
		open = append(open, turn.Calls...)
		if turn.Done {
			return turns, nil
		}
		if turn, err = p.Answer(ctx, reply(open[0], n)); err != nil {
			return turns, err
		}
		open = open[1:]
	}
}

func reply(c Call, n int) Answer {
	var args struct {
		Value json.RawMessage
		Error *Thrown
	}
	json.Unmarshal(c.Args, &args)
	if args.Value == nil {
		args.Value, _ = json.Marshal(map[string]any{"do": c.Do, "server": c.Server, "tool": c.Tool, "args": c.Args, "raw": c.Raw})
	}
	return Answer{Seq: c.Seq, Value: args.Value, Err: args.Error, Now: start0.Add(time.Duration(n) * time.Second)}
}

// ended is how a script ended, in words.
func ended(turns []Turn, err error) string {
	if err != nil {
		return "fault: " + err.Error()
	}
	last := turns[len(turns)-1]
	if e := last.Err; e != nil {
		return fmt.Sprintf("%s: %s at %d", e.Name, e.Message, e.Line)
	}
	if last.Result == nil {
		return "undefined"
	}
	return string(last.Result)
}

func TestScripts(t *testing.T) {
	r := newRunner(t, Options{Time: 20 * time.Second})
	for _, c := range []struct{ name, code, want string }{
		{"a value", `return { a: [1, "x", null, true] }`, `{"a":[1,"x",null,true]}`},
		{"nothing", `1`, `undefined`},
		{"a tool", `return await shop.list_orders({ state: "open" })`,
			`{"args":{"state":"open"},"do":"call","raw":false,"server":"shop","tool":"list_orders"}`},
		{"a tool by its name", `return await tools["odd-name"]()`, `{"args":{},"do":"call","raw":false,"server":"","tool":"odd-name"}`},
		{"the whole result", `return (await shop.f.raw({})).raw`, `true`},
		{"what throws", "let a\na.b", `TypeError: cannot read property 'b' of undefined at 2`},
		{"a syntax error", "let a = 1\nlet b = ;", `SyntaxError: unexpected token in expression: ';' at 2`},
		{"a call that fails", "try {\n await shop.f({ error: { name: 'ToolError', message: 'no', code: 'c', hint: 'h' } })\n} catch (e) { return [e instanceof Error, e.name, e.message, e.code, e.hint] }",
			`[true,"ToolError","no","c","h"]`},
		{"one that nobody catches", "\nawait shop.f({ error: { name: 'ToolError', message: 'no' } })", `ToolError: no at 2`},
		{"all at once", `return (await Promise.all([1, 2, 3].map(value => shop.f({ value })))).join()`, `"1,2,3"`},
		{"a promise of nobody", `await new Promise(() => {})`, `Error: the script waits for a promise that nothing resolves: it has no open call at 0`},
		{"deep recursion", `let n = 0; function f() { n++; f() } try { f() } catch (e) { return [e.message, n > 1000] }`, `["stack overflow",true]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ended(play(t.Context(), r, job(c.code))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
