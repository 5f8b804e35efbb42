package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolfit/toolfit/internal/agent/script"
	"github.com/toolfit/toolfit/internal/gateway/upstream"
	"github.com/toolfit/toolfit/internal/testkit/testparts"
)

// TestAChatGoesOnAtAnotherGatewayOfTheSameStore says odd things, which a database may not
// take: what one gateway stored is what the other tells its model.
func TestAChatGoesOnAtAnotherGatewayOfTheSameStore(t *testing.T) {
	dsn := testparts.NeedPostgres(t).Schema(t)
	one, two := newWorldOn(t, dsn, "", nil), newWorldOn(t, dsn, "", nil)
	one.serve = func(context.Context, upstream.Call) (string, error) {
		return string(textResult("表\x00格 \u2028 " + strings.Repeat("长", 3000))), nil
	}
	one.script(readSheet, script.Answer{Text: "有\x00三行。"})
	session := one.must(one.turn("helper", "读\x00取")).Session
	two.script(script.Answer{Text: "还有。"})
	turn := two.turn("helper", "more")
	turn.Session = session
	two.must(turn)
	told := two.asked[0].Messages
	if len(told) != 6 || told[1].Text() != "读\x00取" || told[4].Text() != "有\x00三行。" ||
		!strings.HasPrefix(told[3].Text(), "表\x00格 \u2028 长") {
		t.Errorf("%s", two.asked[0].Raw)
	}
}

func TestManyChatsAtOnceOnPostgreSQL(t *testing.T) {
	w := newWorldOn(t, testparts.NeedPostgres(t).Schema(t), "", nil)
	w.say = func(_ int, r *script.Request) script.Answer {
		if r.Last().Role == "tool" {
			return script.Answer{Text: "ok"}
		}
		return in("helper", "1", "read_data_from_excel", sheet)
	}
	var work sync.WaitGroup
	for i := range 50 {
		work.Go(func() {
			turn := w.turn("helper", fmt.Sprint("chat ", i))
			turn.Hear = nil
			a, err := w.Answer(t.Context(), turn)
			if err != nil {
				t.Error(err)
				return
			}
			if rows, err := w.store.Messages(t.Context(), a.Session, 0, 0); err != nil || len(rows) != 4 {
				t.Errorf("chat %d: %d messages, %v", i, len(rows), err)
			}
		})
	}
	work.Wait()
}
