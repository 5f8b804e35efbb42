package script

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// rows is an answer of about 45 KB.
func rows() json.RawMessage {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `,{"id":%d,"state":"%s","customer":{"name":"Customer %d","email":"c%d@example.com"},"total":%d.5,`+
			`"note":"left at the door, rang twice"}`, i, []string{"open", "closed"}[i%2], i, i, i)
	}
	return json.RawMessage("[" + b.String()[1:] + "]")
}

func BenchmarkScripts(b *testing.B) {
	answer := rows()
	ten := `const pages = await Promise.all(Array.from({ length: 10 }, (_, page) => shop.list_orders({ page })));
return pages.flat().filter(o => o.state === "open" && o.total > 290).map(o => o.id)`
	for _, c := range []struct {
		name, code string
		warm       int
	}{{"one turn, cold", `return input`, -1}, {"one turn, warm", `return input`, 2}, {"ten answers of 45 KB, warm", ten, 2}} {
		b.Run(c.name, func(b *testing.B) {
			r := newRunner(b, Options{Warm: c.warm})
			one := func() {
				p, turn, err := r.Start(b.Context(), job(c.code))
				for n := 1; err == nil && !turn.Done; n++ {
					turn, err = p.Answer(b.Context(), Answer{Seq: n, Value: answer})
				}
				if err != nil || turn.Err != nil {
					b.Fatal(err, turn.Err)
				}
			}
			one()
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				r.busy.Wait() // until children are warm
				b.StartTimer()
				one()
			}
		})
	}
}

func BenchmarkReadingLargeIntegers(b *testing.B) {
	plain := rows()
	big := json.RawMessage(strings.Replace(string(plain), `"id":7,`, `"id":9007199254740993,`, 1))
	r := newRunner(b, Options{Calls: 1 << 30, CPU: 1 << 40, Time: 1 << 60})
	for name, answer := range map[string]json.RawMessage{"without": plain, "with one": big} {
		b.Run(name, func(b *testing.B) {
			p, _, err := r.Start(b.Context(), job(`for (;;) await shop.f()`))
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			b.SetBytes(int64(len(answer)))
			for n := 1; b.Loop(); n++ {
				if _, err := p.Answer(b.Context(), Answer{Seq: n, Value: answer}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
