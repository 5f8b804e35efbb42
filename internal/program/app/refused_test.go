package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestManyRefusedCallersAreCountedAndSummedUpOnceAMinute(t *testing.T) {
	var log bytes.Buffer
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := &refusals{log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return now }}
	for range 10_000 {
		f.note("unknown key")
	}
	if n := strings.Count(log.String(), "\n"); n != maxRefused {
		t.Errorf("%d lines, want %d", n, maxRefused)
	}
	now = now.Add(time.Minute)
	f.sumUp()
	if !strings.Contains(log.String(), `msg="more callers refused" reason="unknown key" count=9980`) {
		t.Errorf("no sum: %s", log.String()[log.Len()-200:])
	}
}
