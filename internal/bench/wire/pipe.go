package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Pipe is one legacy client whose requests go one way and whose answers come another: standard input
// and output, or HTTP+SSE. Many may call at once.
type Pipe struct {
	send    func(message []byte) error
	end     func()
	timeout time.Duration

	mu      sync.Mutex
	last    int64
	waiting map[int64]chan []byte
	broken  error
}

// OpenLines speaks with a process over its standard input and output, which end closes.
func OpenLines(in io.Writer, out io.Reader, end func(), timeout time.Duration) (*Pipe, error) {
	p := newPipe(func(m []byte) error { _, err := in.Write(append(m, '\n')); return err }, end, timeout)
	go func() {
		lines := bufio.NewReaderSize(out, 64<<10)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				p.fail(err)
				return
			}
			p.take(line)
		}
	}()
	return p, p.open()
}

// DialSSE speaks HTTP+SSE with the server whose stream is at address.
func DialSSE(address string, timeout time.Duration) (*Pipe, error) {
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	end := func() {
		cancel()
		client.CloseIdleConnections()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		end()
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		end()
		return nil, err
	}
	stream := newEvents(resp.Body)
	name, data, err := stream.next()
	if err != nil || name != "endpoint" {
		end()
		return nil, fmt.Errorf("http %d at %s, and no endpoint in its stream: %v", resp.StatusCode, address, err)
	}
	to, err := req.URL.Parse(string(data))
	if err != nil {
		end()
		return nil, err
	}
	p := newPipe(func(m []byte) error { return postMessage(ctx, client, to, m) }, end, timeout)
	go func() {
		defer resp.Body.Close()
		for {
			_, data, err := stream.next()
			if err != nil {
				p.fail(err)
				return
			}
			p.take(data)
		}
	}()
	return p, p.open()
}

func postMessage(ctx context.Context, client *http.Client, to *url.URL, m []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(m))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("http %d", resp.StatusCode)
	}
	return nil
}

func newPipe(send func([]byte) error, end func(), timeout time.Duration) *Pipe {
	return &Pipe{send: send, end: end, timeout: timeout, waiting: map[int64]chan []byte{}}
}

// open shakes hands.
func (p *Pipe) open() error {
	answer, err := p.exchange([]byte(initialize), 0)
	if err == nil {
		_, err = agreed(answer)
	}
	if err == nil {
		err = p.send([]byte(initialized))
	}
	if err != nil {
		p.Close()
		return fmt.Errorf("initialize: %w", err)
	}
	return nil
}

// Close ends the client.
func (p *Pipe) Close() { p.end() }

// Call sends a request and waits for its answer. The tool's name is in the params already.
func (p *Pipe) Call(method, _ string, params []byte) ([]byte, error) {
	p.mu.Lock()
	p.last++
	id := p.last
	p.mu.Unlock()
	return p.exchange(request(nil, Legacy, id, method, params), id)
}

func (p *Pipe) exchange(message []byte, id int64) ([]byte, error) {
	answer := make(chan []byte, 1)
	p.mu.Lock()
	p.waiting[id] = answer
	err := p.broken
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
	}()
	if err == nil {
		err = p.send(message)
	}
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(p.timeout)
	defer late.Stop()
	select {
	case m, ok := <-answer:
		if !ok {
			return nil, errors.New("the connection has ended")
		}
		return m, nil
	case <-late.C:
		return nil, fmt.Errorf("no answer in %v", p.timeout)
	}
}

// take gives an answer to whom it is for.
func (p *Pipe) take(text []byte) {
	var m struct {
		ID     *int64
		Method string
	}
	if json.Unmarshal(text, &m) != nil || m.ID == nil || m.Method != "" {
		return // a log line, a notification or a question
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if answer, ok := p.waiting[*m.ID]; ok {
		delete(p.waiting, *m.ID)
		answer <- text
	}
}

// fail tells everybody that waits.
func (p *Pipe) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = err
	for id, answer := range p.waiting {
		delete(p.waiting, id)
		close(answer)
	}
}
