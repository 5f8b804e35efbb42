package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/toolfit/toolfit/internal/bench/proc"
	"github.com/toolfit/toolfit/internal/bench/upstream"
	"github.com/toolfit/toolfit/internal/bench/wire"
)

func (l *lab) growSessions(ctx context.Context, sizes []int, add adder) error {
	var tooFew error
	sizes = slices.DeleteFunc(slices.Clone(sizes), func(n int) bool {
		err := enoughFiles(n)
		tooFew = errors.Join(tooFew, err)
		return err != nil
	})
	for _, p := range []*peer{byName(toolfit), peers[0]} {
		for _, n := range sizes {
			v, err := l.sessions(ctx, p, n)
			if err != nil {
				return fmt.Errorf("%s, %d: %w", p.name, n, err)
			}
			add(p.name, n, v)
		}
	}
	return tooFew // the others were measured
}

// enoughFiles checks that this process and the gateway, which leaves a quarter for others, may have two connections for each
// session. Go raises what it may by itself, up to the hard limit.
func enoughFiles(sessions int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if need := uint64(sessions*2*4/3 + 500); limit.Max < need {
		return fmt.Errorf("%d sessions need %d open files, and the hard limit is %d: raise it with ulimit -Hn", sessions, need, limit.Max)
	}
	return nil
}

// sessions opens so many at a gateway that nobody has called yet: what calls leave behind would hide what sessions take.
func (l *lab) sessions(ctx context.Context, p *peer, n int) (figuresOf, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t, err := l.run(ctx, p, wire.Legacy, behind{set: upstream.SetBench, tools: benchTools, servers: 1})
	if err != nil {
		return nil, err
	}
	defer t.proc.end()
	idle, err := t.settled(ctx)
	if err != nil {
		return nil, err
	}
	for i := range n {
		end, err := t.join()
		if err != nil {
			return nil, fmt.Errorf("session %d: %w", i+1, err)
		}
		defer end()
	}
	full, err := t.settled(ctx)
	if err != nil {
		return nil, err
	}
	v := figuresOf{"memory": megabytes(full.Memory)}
	if n > 0 {
		v["each"] = float64(full.Memory-idle.Memory) / 1e3 / float64(n)
	}
	files, err := proc.Files(t.proc.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	v["files"] = float64(files)
	v["call"], err = l.cpu(ctx, t, echoCalls())
	return v, err
}

func (l *lab) growPayloads(ctx context.Context, sizes []int, add adder) error {
	for _, era := range []wire.Era{wire.Legacy, wire.Modern} {
		if err := l.payloads(ctx, era, sizes, add); err != nil {
			return fmt.Errorf("%s: %w", era, err)
		}
	}
	return nil
}

// payloads measures the proxy, toolfit passing everything on, and toolfit as it comes, in turns.
func (l *lab) payloads(ctx context.Context, era wire.Era, sizes []int, add adder) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := behind{set: upstream.SetBench, tools: benchTools, servers: 1, modern: era == wire.Modern}
	turns := []*turn{
		{key: "proxy", peer: peers[0], rounds: l.opts.rounds},
		{key: "call", peer: byName(toolfit), rounds: l.opts.rounds, extras: extras{profiles: onlyWhole()}},
	}
	if era == wire.Legacy { // it is the same work in both eras, and much of it
		turns = append(turns, &turn{key: "cut", peer: byName(toolfit), rounds: 1})
	}
	for _, g := range turns {
		var err error
		b.extras = g.extras
		if g.t, err = l.run(ctx, g.peer, era, b); err != nil {
			return err
		}
		defer g.t.proc.end()
	}
	for _, size := range sizes {
		v := figuresOf{}
		runs := map[string][]sample{}
		for round := range l.opts.rounds {
			for _, g := range turns {
				if round >= g.rounds {
					continue
				}
				run, peak, err := l.weigh(ctx, g.t, payload(size, g.key != "cut"))
				if err != nil {
					return fmt.Errorf("%d bytes, %s: %w", size, g.key, err)
				}
				runs[g.key] = append(runs[g.key], *run)
				v[g.key] = summary(runs[g.key]).CPU
				v[g.key+"Peak"] = max(v[g.key+"Peak"], peak)
			}
		}
		v["ratio"] = v["call"] / v["proxy"]
		add(string(era), size, v)
	}
	return nil
}

// turn is a gateway that takes its turns with others.
type turn struct {
	key    string
	peer   *peer
	rounds int
	extras extras
	t      *target
}

// weigh is one run, and the most memory in MB that the gateway had meanwhile.
func (l *lab) weigh(ctx context.Context, t *target, s *scenario) (*sample, float64, error) {
	pid := t.proc.cmd.Process.Pid
	if err := proc.ResetPeak(pid); err != nil {
		return nil, 0, err
	}
	one, err := l.once(ctx, t, s)
	if err != nil {
		return nil, 0, err
	}
	most, err := proc.Peak(pid)
	return one, megabytes(most), err
}

// payload calls for a result of a size, which must come whole, or be one at least.
func payload(size int, whole bool) *scenario {
	return &scenario{fmt.Sprintf("%d bytes", size), 4,
		func(t *target, _ int) (string, string, string) {
			return "tools/call", t.big, fmt.Sprintf(`{"name":%q,"arguments":{"bytes":%d}}`, t.big, size)
		},
		func(answer []byte, _ int) bool {
			if whole {
				return len(answer) > size && bytes.Contains(answer[max(0, len(answer)-1000):], []byte(`{\"id\":-1}]}`))
			}
			return bytes.Contains(answer, []byte(`"result"`)) && !bytes.Contains(answer, []byte(`"isError":true`))
		}}
}
