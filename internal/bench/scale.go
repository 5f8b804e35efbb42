package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/toolfit/toolfit/internal/bench/proc"
	"github.com/toolfit/toolfit/internal/bench/upstream"
	"github.com/toolfit/toolfit/internal/bench/wire"
)

const (
	axisTools = 1000 // behind all servers, where servers or profiles grow: their list is one page
	changes   = 5    // of a server's list
	lookups   = 10   // of calls in the records
)

// measureAxes measures how toolfit grows.
func (l *lab) measureAxes(ctx context.Context, r *report) error {
	for _, a := range l.opts.chosen() {
		began := time.Now()
		sizes := a.sizes
		if l.opts.quick {
			sizes = a.quick
		}
		err := a.run(l, ctx, sizes, func(row string, at int, values figuresOf) {
			r.Points = append(r.Points, reportPoint{a.name, row, at, values})
			fmt.Fprintf(os.Stderr, "%-13s %9s %-8s", row, number(float64(at)), a.name)
			for _, m := range a.measures {
				fmt.Fprintf(os.Stderr, "  %s %s", m.head, figures(values[m.key]))
			}
			fmt.Fprintln(os.Stderr)
		})
		if ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			r.trouble(byName(toolfit), "growth with "+a.title, err)
		}
		fmt.Fprintf(os.Stderr, "%s took %.0f s\n", a.name, time.Since(began).Seconds())
	}
	return nil
}

// plain is one profile as it comes. With profiles of its own, a gateway gets the key of an administrator.
func plain() map[string]any { return map[string]any{"default": map[string]any{}} }

// grow starts toolfit for one size. What runs behind it ends with it.
func (l *lab) grow(ctx context.Context, b behind, do func(context.Context, *target) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.set = upstream.SetBench
	t, err := l.run(ctx, byName(toolfit), wire.Legacy, b)
	if err != nil {
		return err
	}
	defer t.proc.end()
	return do(ctx, t)
}

// cpu is the CPU time of a call in µs, the median of the rounds.
func (l *lab) cpu(ctx context.Context, t *target, s *scenario) (float64, error) {
	var runs []sample
	for range l.opts.rounds {
		one, err := l.once(ctx, t, s)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.name, err)
		}
		runs = append(runs, *one)
	}
	return summary(runs).CPU, nil
}

func echoCalls() *scenario { return scenarios[0] }

// listCalls lists all tools.
func listCalls() *scenario {
	s := *scenarios[2]
	s.good = func(answer []byte, _ int) bool { return bytes.Count(answer, []byte(`"inputSchema"`)) == axisTools }
	return &s
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }

// echoOfEach calls one server after the other.
func echoOfEach() *scenario {
	s := *echoCalls()
	s.params = func(t *target, n int) (method, tool, params string) {
		one := *t
		one.echo = t.servers[n%len(t.servers)].name + "__echo"
		return echoCalls().params(&one, n)
	}
	return &s
}

func (l *lab) growServers(ctx context.Context, sizes []int, add adder) error {
	for _, n := range sizes {
		err := l.grow(ctx, behind{tools: axisTools / n, servers: n, extras: extras{profiles: plain()}}, func(ctx context.Context, t *target) error {
			u, err := t.settled(ctx)
			if err != nil {
				return err
			}
			v := figuresOf{"ready": t.ready.Seconds(), "start": t.cpu.Seconds(), "settled": u.CPU.Seconds(), "memory": megabytes(u.Memory)}
			if v["call"], err = l.cpu(ctx, t, echoOfEach()); err != nil {
				return err
			}
			v["list"], err = l.cpu(ctx, t, listCalls())
			add(toolfit, n, v)
			return err
		})
		if err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return nil
}

func (l *lab) growProfiles(ctx context.Context, sizes []int, add adder) error {
	for _, n := range sizes {
		profiles := plain()
		for i := 1; i < n; i++ {
			profiles[fmt.Sprintf("p%d", i)] = map[string]any{"tools": map[string]any{"deny": []string{fmt.Sprintf("*__filler_%03d", i+1)}}}
		}
		err := l.grow(ctx, behind{tools: axisTools / servers, servers: servers, extras: extras{profiles: profiles}}, func(ctx context.Context, t *target) error {
			v, err := l.profiles(ctx, t, profiles)
			if err != nil {
				return err
			}
			v["call"], err = l.cpu(ctx, t, echoCalls())
			add(toolfit, n, v)
			return err
		})
		if err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return nil
}

// profiles measures start, lists and changes of one server's list.
func (l *lab) profiles(ctx context.Context, t *target, profiles map[string]any) (figuresOf, error) {
	first, err := t.settled(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.listEach(profiles, ""); err != nil {
		return nil, err
	}
	listed, err := t.settled(ctx)
	if err != nil {
		return nil, err
	}
	var changing, listing time.Duration
	before := listed
	for range changes {
		text, err := t.change(ctx)
		if err != nil {
			return nil, err
		}
		between, err := t.usage()
		if err == nil {
			err = t.listEach(profiles, text)
		}
		if err != nil {
			return nil, err
		}
		after, err := t.usage()
		if err != nil {
			return nil, err
		}
		changing += between.CPU - before.CPU
		listing += after.CPU - between.CPU
		before = after
	}
	last, err := t.settled(ctx)
	per := func(d time.Duration, n int) float64 { return d.Seconds() * 1000 / float64(n) }
	return figuresOf{
		"start": first.CPU.Seconds(), "memory": megabytes(first.Memory), "listed": megabytes(listed.Memory), "changed": megabytes(last.Memory),
		"change": per(changing, changes), "list": per(listing, changes*len(profiles)),
	}, err
}

// listEach lets a client of every profile list its tools, in which the text must be.
func (t *target) listEach(profiles map[string]any, text string) error {
	for name := range profiles {
		c, err := t.openAt([]string{t.urls[0] + "/" + name}, 0)
		if err != nil {
			return err
		}
		want := axisTools
		if name != "default" {
			want -= servers // one of each
		}
		list, err := c.Call("tools/list", "", []byte(`{}`))
		if n := bytes.Count(list, []byte(`"inputSchema"`)); err == nil && (n != want || !bytes.Contains(list, []byte(text))) {
			err = fmt.Errorf("profile %s lists %d tools, want %d and %q", name, n, want, text)
		}
		c.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// change lets the first server list something else, and waits until that is served: soon after it was fetched.
func (t *target) change(ctx context.Context) (text string, err error) {
	answer, err := ask(ctx, http.MethodPost, strings.TrimSuffix(t.servers[0].url, "/mcp")+"/change", "")
	if err == nil {
		_, err = ask(ctx, http.MethodPost, "http://"+t.addr+"/api/v1/servers/"+t.servers[0].name+"/refresh", t.key)
	}
	if err == nil {
		err = pause(ctx, time.Second)
	}
	return string(answer), err
}

// ask sends a request without a body, and returns what was answered.
func ask(ctx context.Context, method, url, key string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: http %d: %.200s", method, url, resp.StatusCode, text)
	}
	return text, err
}

func (l *lab) growRecords(ctx context.Context, sizes []int, add adder) error {
	if err := goBuild(ctx, l.opts.root, l.filler(), "./internal/testkit/bench"); err != nil {
		return err
	}
	for _, n := range sizes {
		b := behind{tools: benchTools, servers: 1, extras: extras{plain(), n}}
		err := l.grow(ctx, b, func(ctx context.Context, t *target) error {
			u, err := t.settled(ctx)
			v := figuresOf{"ready": t.ready.Seconds(), "memory": megabytes(u.Memory)}
			files, _ := filepath.Glob(filepath.Join(t.dir, "toolfit.db*")) // the pattern is well formed
			for _, file := range files {
				if info, err := os.Stat(file); err == nil {
					v["store"] += megabytes(info.Size())
				}
			}
			for key, query := range map[string]string{"newest": "", "errors": "&level=error", "none": "&tool=filled1__none"} {
				if err == nil { // before the calls, which make records, too
					v[key], err = t.lookUp(ctx, query)
				}
			}
			if err != nil {
				return err
			}
			v["call"], err = l.cpu(ctx, t, echoCalls())
			add(toolfit, n, v)
			return err
		})
		if err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	return nil
}

// filler is the program that writes records to a store.
func (l *lab) filler() string { return filepath.Join(l.dir, "fill") }

// lookUp is the time of a page of calls in ms, the median of some after the first.
func (t *target) lookUp(ctx context.Context, query string) (float64, error) {
	var times []float64
	for i := range lookups + 1 {
		from := time.Now()
		if _, err := ask(ctx, http.MethodGet, "http://"+t.addr+"/api/v1/calls?limit=100"+query, t.key); err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, time.Since(from).Seconds()*1000)
		}
	}
	return median(times), nil
}

func (l *lab) growSessions(ctx context.Context, sizes []int, add adder) error {
	most := sizes[len(sizes)-1]
	if err := enoughFiles(most); err != nil {
		return err
	}
	for _, p := range []*peer{byName(toolfit), peers[0]} {
		for _, n := range sizes {
			v, err := l.sessions(ctx, p, n)
			if err != nil {
				return fmt.Errorf("%s, %d: %w", p.name, n, err)
			}
			add(p.name, n, v)
		}
	}
	return nil
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
	proxy, err := l.run(ctx, peers[0], era, b)
	if err != nil {
		return err
	}
	defer proxy.proc.end()
	b.profiles = map[string]any{"default": map[string]any{}, "whole": map[string]any{"budget": 0}}
	cut, err := l.run(ctx, byName(toolfit), era, b)
	if err != nil {
		return err
	}
	defer cut.proc.end()
	whole := *cut
	whole.urls = []string{cut.urls[0] + "/whole"}
	for _, size := range sizes {
		v := figuresOf{}
		runs := map[string][]sample{}
		for range l.opts.rounds {
			for _, turn := range []struct {
				key string
				t   *target
			}{{"proxy", proxy}, {"call", &whole}, {"cut", cut}} {
				one, peak, err := l.weigh(ctx, turn.t, payload(size, turn.key != "cut"))
				if err != nil {
					return fmt.Errorf("%d bytes, %s: %w", size, turn.key, err)
				}
				runs[turn.key] = append(runs[turn.key], *one)
				v[turn.key] = summary(runs[turn.key]).CPU
				v[turn.key+"Peak"] = max(v[turn.key+"Peak"], peak)
			}
		}
		v["ratio"] = v["call"] / v["proxy"]
		add(string(era), size, v)
	}
	return nil
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
