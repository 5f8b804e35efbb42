package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/store"
)

// modeFill writes records to a store instead of measuring: make compare starts gateways with many of them.
const modeFill = "fill"

const (
	fillSpan  = 20 * 24 * time.Hour // how far back the records go; they are retained for longer
	fillBatch = 4096
)

// fill adds so many records to a store, as evenly spread over time as if the gateway had made them.
func fill(ctx context.Context, file, count string, now time.Time) error {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return fmt.Errorf("fill: %q is no number of records", count)
	}
	s, err := store.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	calls := make([]store.Call, 0, fillBatch)
	for i := 0; i < n && err == nil; i++ {
		at := now.Add(-fillSpan + time.Duration(i)*(fillSpan/time.Duration(n)))
		if calls = append(calls, filled(i, at.UTC())); len(calls) == fillBatch || i == n-1 {
			err = s.AppendCalls(ctx, calls)
			calls = calls[:0]
		}
	}
	return errors.Join(err, s.Close())
}

// filled is one record: of seven keys, ten servers with 20 tools each, every 100th an error, every 10th an agent's.
func filled(i int, at time.Time) store.Call {
	server := tool.ServerID(fmt.Sprintf("filled%d", i%10))
	upstream := fmt.Sprintf("tool_%02d", i/10%20)
	c := store.Call{
		ID: string(store.AppendCallTime(nil, at)) + "f0110000", At: at, Principal: fmt.Sprintf("k%07d", i%7), Profile: "default",
		MCPSession: fmt.Sprintf("session%05d", i/200), Server: server, Tool: tool.Name(string(server) + "__" + upstream), Upstream: upstream,
		Outcome: "ok", Level: "info", Duration: time.Duration(i%50+1) * time.Millisecond,
		BytesIn: 120, BytesFull: 2000, BytesSent: 2000, TokensIn: 30, TokensFull: 500, TokensSent: 500,
	}
	if i%100 == 99 {
		c.Outcome, c.Level, c.Code, c.Message = "error", "error", "upstream_timeout", "the server did not answer"
	}
	if i%10 == 9 {
		c.Agent, c.Session = "helper", fmt.Sprintf("ses_%06d", i/500)
	}
	return c
}
