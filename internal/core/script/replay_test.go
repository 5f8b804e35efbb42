package script

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// restless uses everything that could differ from run to run, in an order that depends on answers.
const restless = `const seen = [];
const note = (...x) => { seen.push(x.length); console.log(...x, Date.now(), Math.random()) };
note(new Date(), Date(), new Date().getTimezoneOffset(), new Date(2026, 6, 1).toISOString(), Date.parse("2026-07-01T00:00:00"));
note(crypto.randomUUID(), (1234.5).toLocaleString(), new Date(0).toLocaleString(), "ä".localeCompare("z"), ["b", "ä", "a"].sort());
async function worker(name) {
  for (let i = 0; i < 4; i++) {
    try {
      const v = Math.random() < 0.5 ? await shop[name]({ i, id: crypto.randomUUID() }) : await tools[name].raw({ i });
      note(name, i, v);
    } catch (e) { note(name, "failed", e.message, e.code, e.stack) }
    if (Math.random() < 0.3) await sleep(Math.floor(Math.random() * 1000));
  }
  return name;
}
const first = await Promise.race(["a", "b", "c"].map(worker));
note("first", first, Object.keys({ z: 1, a: 2, 1: 3 }), [...new Map([[{}, 1]]).values()]);
const rest = await Promise.allSettled([search("x"), describe("y"), worker("d")]);
if (Math.random() < 0.3) throw Object.assign(new Error("unlucky"), { code: "c", content: rest });
return { first, rest, seen, at: new Date(), n: 12345678901234567890n };`

// record runs a script with answers in any order, and returns its turns and what it was told.
func record(t *rapid.T, r *Runner, j Job) (turns []Turn, told []Answer) {
	p, turn, err := r.Start(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var open []Call
	now := noon
	for {
		turns = append(turns, turn)
		open = append(open, turn.Calls...)
		if turn.Done {
			return turns, told
		}
		i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
		now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond)
		a := Answer{Seq: open[i].Seq, Now: now}
		switch rapid.IntRange(0, 3).Draw(t, "answer") {
		case 0:
			a.Err = &Thrown{Name: "ToolError", Message: "no", Code: "c", Content: json.RawMessage(`[1]`)}
		case 1:
			a.Value = json.RawMessage(fmt.Sprintf(`{"n": 98765432109876543210, "i": %d}`, i))
		case 2:
			a.Value = json.RawMessage(`"text"`)
		}
		told, open = append(told, a), append(open[:i:i], open[i+1:]...)
		if turn, err = p.Answer(context.Background(), a); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEqualAnswersGiveEqualTurns(t *testing.T) {
	r := newRunner(t, Options{})
	rapid.Check(t, func(t *rapid.T) {
		j := job(restless)
		j.Seed = rapid.String().Draw(t, "seed")
		turns, told := record(t, r, j)
		p, turn, err := r.Start(context.Background(), j)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for i := range turns {
			if !reflect.DeepEqual(turn, turns[i]) {
				t.Fatalf("turn %d\nfirst  %+v\nsecond %+v", i, turns[i], turn)
			}
			if i < len(told) {
				if turn, err = p.Answer(context.Background(), told[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestSeedsAndClock(t *testing.T) {
	r := newRunner(t, Options{})
	out := func(seed string) string {
		j := job(`const t = [Date.now()]; await sleep(1); t.push(Date.now(), Date()); const n = Array.from({ length: 1000 }, Math.random);
return [crypto.randomUUID(), t, n.every(x => x >= 0 && x < 1), new Set(n).size, Math.round(n.reduce((a, b) => a + b) / 100)]`)
		j.Seed = seed
		return ended(play(t.Context(), r, j))
	}
	a, again, b := out("a"), out("a"), out("b")
	if a != again || a == b {
		t.Errorf("a  %s\na  %s\nb  %s", a, again, b)
	}
	var parts []json.RawMessage
	var uuid string
	if err := json.Unmarshal([]byte(a), &parts); err != nil {
		t.Fatal(a)
	}
	json.Unmarshal(parts[0], &uuid)
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(uuid) {
		t.Errorf("%s is no random UUID", uuid)
	}
	if rest := fmt.Sprintf("%s", parts[1:]); rest != `[[1793534400000,1793534401000,"Sun Nov 01 2026 12:00:01 GMT+0000"] true 1000 5]` {
		t.Error(rest)
	}
}
