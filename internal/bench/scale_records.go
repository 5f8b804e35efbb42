package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func (l *lab) growRecords(ctx context.Context, sizes []int, add adder) error {
	if err := goBuild(ctx, l.opts.root, l.filler(), "./internal/testkit/bench"); err != nil {
		return err
	}
	for _, n := range sizes {
		b := behind{tools: benchTools, servers: 1, extras: extras{onlyWhole(), n}}
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
