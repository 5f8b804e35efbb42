package record_test

import (
	"fmt"
	"testing"

	"github.com/toolfit/toolfit/internal/gateway/record"
	"github.com/toolfit/toolfit/internal/state/store"
)

func TestRecordsOfOtherGatewaysAreHeardOnce(t *testing.T) {
	l := record.New(&sink{}, nil)
	defer closeLog(t, l)
	ch, end := l.Subscribe(100)
	defer end()
	own := l.NewID()
	l.Hear([]store.Call{{ID: "old1"}, {ID: "old2"}}, 0, true)
	for range 3 {
		l.Hear([]store.Call{{ID: "old2"}, {ID: "a"}, {ID: own}, {ID: "b"}}, 0, false)
	}
	expect(t, "each once", events(ch), "a b")
	l.Hear([]store.Call{{ID: "c"}}, 7, false)
	l.Drained(ch)
	l.Hear([]store.Call{{ID: "d"}}, 0, false)
	expect(t, "what was too much is a gap", events(ch), "c -7 d")
	expect(t, "they are not our last ones", joined(l.Last(5)), "")
	for i := range 3 * record.Recent {
		l.Hear([]store.Call{{ID: fmt.Sprint("x", i)}}, 0, true)
	}
	l.Hear([]store.Call{{ID: fmt.Sprint("x", 3*record.Recent-1)}, {ID: fmt.Sprint("x", 2*record.Recent)}}, 0, false)
	expect(t, "the last are remembered", events(ch), "")
}
