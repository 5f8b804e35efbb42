package endpoint

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	firstPause  = 500 * time.Millisecond // before the first retry; each further one waits twice as long
	maxPause    = 8 * time.Second
	maxAskedFor = 2 * time.Minute // who asks for a longer pause gets no retry
)

// send sends a request, again if it was not accepted. With some errors there is a response, too.
func (c *Client) send(ctx context.Context, m *config.Model, body []byte) (*http.Response, error) {
	for try := 0; ; try++ {
		res, err := c.post(ctx, m, body)
		if try >= m.Retries || ctx.Err() != nil || !mayRetry(res) {
			return res, err
		}
		wait := pause(res, try)
		if wait > maxAskedFor {
			return res, err
		}
		if res != nil {
			res.Body.Close()
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

func (c *Client) post(ctx context.Context, m *config.Model, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"toolfit"}}
	if m.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.Key)
	}
	return c.http.Do(req)
}

// mayRetry reports whether a request may be sent again: nothing came back, or the endpoint refused it and says so by a header
// or its status. An answer is never asked for twice.
func mayRetry(res *http.Response) bool {
	switch {
	case res == nil:
		return true
	case res.StatusCode < http.StatusBadRequest:
		return false
	}
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch res.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return res.StatusCode >= http.StatusInternalServerError
}

// pause is how long to wait before the next try: as the endpoint asks, or longer each time, and not exactly as long as others do.
func pause(res *http.Response, try int) time.Duration {
	if res != nil {
		if wait, ok := askedPause(res.Header, time.Now()); ok {
			return wait
		}
	}
	wait := min(firstPause<<try, maxPause)
	return wait - rand.N(wait/4)
}

// askedPause reads the headers with which endpoints say when to ask again: milliseconds, seconds or a date.
func askedPause(h http.Header, now time.Time) (time.Duration, bool) {
	for _, form := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		value := h.Get(form.name)
		if n, err := strconv.ParseFloat(value, 64); n >= 0 && (err == nil || n > 0) { // an error with a number: it is too large
			return time.Duration(min(n*float64(form.unit), float64(maxAskedFor+1))), true
		}
		if at, err := http.ParseTime(value); err == nil {
			return max(0, at.Sub(now)), true
		}
	}
	return 0, false
}

// errorPage reads an error page, or the beginning of one that is long.
func errorPage(res *http.Response) []byte {
	page, _ := io.ReadAll(io.LimitReader(res.Body, maxPage)) // what came of it may tell
	return page
}
