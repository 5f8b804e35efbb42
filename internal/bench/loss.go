package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/bench/upstream"
	"github.com/toolfit/toolfit/internal/bench/wire"
)

// The verdicts about one thing that went through a gateway.
const (
	kept    = "kept"
	changed = "changed"
	lost    = "lost"
	failed  = "fails" // the call or the list does
)

// measureLoss sends what is odd through every gateway, and looks what came out.
func (l *lab) measureLoss(ctx context.Context, r *report) error {
	for _, era := range []wire.Era{wire.Legacy, wire.Modern} {
		for _, p := range l.have {
			if p.way != "" || era == wire.Modern && !p.modern {
				continue // the same code, or not its era
			}
			verdicts, err := l.loss(ctx, p, era)
			if err != nil {
				r.trouble(p, fmt.Sprintf("what is lost, %s", era), err)
				continue
			}
			r.Loss = append(r.Loss, reportLoss{p.name, string(era), verdicts})
		}
	}
	return ctx.Err()
}

func (l *lab) loss(ctx context.Context, p *peer, era wire.Era) (map[string]reportVerdict, error) {
	t, err := l.run(ctx, p, era, behind{set: upstream.SetOdd, servers: 1, modern: era == wire.Modern})
	if err != nil {
		return nil, err
	}
	defer t.proc.end()
	tools, err := t.list()
	if err != nil {
		return nil, err
	}
	c, err := t.open()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	verdicts := map[string]reportVerdict{}
	for _, odd := range upstream.OddTools {
		parts, reason := through(c, tools, &odd)
		for _, check := range odd.Checks {
			verdicts[checkName(check)] = judge(check, parts[check.In], reason)
		}
	}
	return verdicts, nil
}

func checkName(c upstream.Check) string { return string(c.In) + ": " + c.Name }

// through calls a tool, and returns its parts as they came; reason says why one is missing.
func through(c caller, tools []listed, odd *upstream.OddTool) (parts map[upstream.Part]json.RawMessage, reason string) {
	parts = map[upstream.Part]json.RawMessage{}
	name := ""
	for _, tool := range tools {
		if strings.HasSuffix(tool.name, odd.Name) {
			name = tool.name
			parts[upstream.Definition] = tool.raw
		}
	}
	if name == "" {
		return parts, "the tool is not listed"
	}
	arguments := odd.Arguments
	if arguments == "" {
		arguments = `{}`
	}
	meta := ""
	if odd.Meta != "" {
		meta = `"_meta":{` + odd.Meta + `},`
	}
	answer, err := c.Call("tools/call", name, fmt.Appendf(nil, `{%s"name":%q,"arguments":%s}`, meta, name, arguments))
	if err != nil {
		return parts, err.Error()
	}
	var r struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(bytes.Clone(answer), &r); err != nil {
		return parts, err.Error()
	}
	if r.Error != nil {
		parts[upstream.Error] = r.Error
		reason = string(r.Error)
	}
	if r.Result != nil {
		parts[upstream.Result] = r.Result
		parts[upstream.Arguments] = mirrored(r.Result)
		reason = "it became a result: " + string(r.Result)
	}
	return parts, reason
}

// mirrored is the params that a server got and sent back as text.
func mirrored(result json.RawMessage) json.RawMessage {
	var r struct{ Content []struct{ Text string } }
	if json.Unmarshal(result, &r) != nil || len(r.Content) == 0 || !json.Valid([]byte(r.Content[0].Text)) {
		return nil
	}
	return json.RawMessage(r.Content[0].Text)
}

// judge compares what came with what was sent, byte by byte but for blanks.
func judge(c upstream.Check, part json.RawMessage, reason string) reportVerdict {
	if part == nil && c.In == upstream.Error {
		return reportVerdict{changed, shorten(reason)} // the caller learns of it, in another way
	} else if part == nil {
		return reportVerdict{failed, shorten(reason)}
	}
	got := lookUp(part, c.Path)
	switch {
	case got == nil:
		return reportVerdict{Verdict: lost}
	case c.Order && strings.Join(keys(got), " ") == strings.Join(keys(json.RawMessage(c.Want)), " "), !c.Order && compact(got) == c.Want:
		return reportVerdict{Verdict: kept}
	case c.Order:
		return reportVerdict{changed, shorten(strings.Join(keys(got), ", "))}
	}
	return reportVerdict{changed, shorten(compact(got))}
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return s
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// lookUp is what is at a path, nil for nothing.
func lookUp(raw json.RawMessage, path []string) json.RawMessage {
	for _, step := range path {
		if i, err := strconv.Atoi(step); err == nil {
			var array []json.RawMessage
			if json.Unmarshal(raw, &array) != nil || i >= len(array) {
				return nil
			}
			raw = array[i]
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil
		}
		raw = object[step]
	}
	return raw
}

// keys are the names of an object's members, in their order.
func keys(raw json.RawMessage) []string {
	in := json.NewDecoder(bytes.NewReader(raw))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var all []string
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil
		}
		all = append(all, fmt.Sprint(key))
		var value json.RawMessage
		if in.Decode(&value) != nil {
			return nil
		}
	}
	return all
}
