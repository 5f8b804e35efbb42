package console

import (
	"fmt"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestLiveRowsAreBoundedAndComeMoreSlowlyWhenThereAreMany(t *testing.T) {
	l := &liveRows{}
	for i := range maxRows + 100 {
		if err := l.add(restapi.Call{ID: fmt.Sprint(i)}, false); err != nil {
			t.Fatal(err)
		}
	}
	got := l.take()
	if len(got.Calls) != maxRows || got.Calls[0].ID != fmt.Sprint(maxRows+99) || !got.Gap {
		t.Errorf("%d rows, the first %s, a gap: %v", len(got.Calls), got.Calls[0].ID, got.Gap)
	}
	if next := l.take(); len(next.Calls) != 0 || next.Gap {
		t.Errorf("they come again: %+v", next)
	}
	if paceOf(fewRows) != flushEvery || paceOf(fewRows+1) != busyEvery {
		t.Error("a burst is as quick as a few calls")
	}
}
