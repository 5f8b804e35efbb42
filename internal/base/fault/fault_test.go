package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

func TestFaultIsFoundInAChainAndKeepsItsCause(t *testing.T) {
	err := fmt.Errorf("call x: %w", fault.New(fault.UpstreamDown, "server s is down: %w", io.EOF).WithHint("start %s", "s"))
	f := fault.As(err)
	if f.Code != fault.UpstreamDown || f.Error() != "server s is down: EOF (start s)" || !errors.Is(err, io.EOF) || !fault.Is(err,
		fault.UpstreamDown) {
		t.Errorf("got %+v", f)
	}
}

func TestAnyOtherErrorIsInternalAndHidesItsText(t *testing.T) {
	f := fault.As(io.ErrUnexpectedEOF)
	if f.Code != fault.Internal || f.Error() != "internal error" || !errors.Is(f, io.ErrUnexpectedEOF) {
		t.Errorf("got %+v", f)
	}
}

func TestHintAndDetailsMakeACopy(t *testing.T) {
	base := fault.New(fault.NotFound, "no")
	if base.WithHint("h").WithDetails(map[string]int{"n": 1}); base.Hint != "" || base.Details != nil {
		t.Errorf("the original was changed: %+v", base)
	}
}
