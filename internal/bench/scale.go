package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

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
			fmt.Fprintf(os.Stderr, "%-13s %9s %-8s", row, number(float64(at)), cmp.Or(a.unit, a.name))
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

// whole is a profile that gives every result whole and at once, and so lists no tool of its own to fetch the rest.
func whole() map[string]any { return map[string]any{"budget": 0, "detach": "off"} }

// onlyWhole has no other profile.
func onlyWhole() map[string]any { return map[string]any{"default": whole()} }

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
		b := behind{tools: axisTools / n, servers: n, extras: extras{profiles: onlyWhole()}}
		err := l.grow(ctx, b, func(ctx context.Context, t *target) error {
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
		profiles := onlyWhole()
		for i := 1; i < n; i++ {
			p := whole()
			p["tools"] = map[string]any{"deny": []string{fmt.Sprintf("*__filler_%03d", i+1)}}
			profiles[fmt.Sprintf("p%d", i)] = p
		}
		b := behind{tools: axisTools / servers, servers: servers, extras: extras{profiles: profiles}}
		err := l.grow(ctx, b, func(ctx context.Context, t *target) error {
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
