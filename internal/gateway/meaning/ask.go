package meaning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolfit/toolfit/internal/state/config"
)

const (
	maxAnswer = 32 << 20 // bytes of an answer
	maxLength = 16 << 10 // numbers of a vector
)

// ask gets the vectors of some texts, in their order.
func (m *Model) ask(ctx context.Context, s config.Embeddings, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": s.Model, "input": texts})
	if err != nil {
		return nil, err
	}
	target := strings.TrimRight(s.URL, "/") + "/embeddings"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask for embeddings: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	resp, err := m.opts.HTTP.Do(req)
	if err != nil {
		var sent *url.Error
		if errors.As(err, &sent) {
			err = sent.Err // without the address, which may contain a key
		}
		return nil, fmt.Errorf("ask for embeddings: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read embeddings: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for embeddings: HTTP %d: %.200s", resp.StatusCode, bytes.TrimSpace(data))
	}
	return parse(data, len(texts))
}

// parse reads an answer: a vector for each of the texts, and all of one length.
func parse(data []byte, texts int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("read embeddings: %w", err)
	}
	vectors := make([][]float32, texts)
	for _, d := range answer.Data {
		length := len(d.Embedding)
		if d.Index < 0 || d.Index >= texts || length == 0 || length > maxLength || length != len(answer.Data[0].Embedding) {
			return nil, fmt.Errorf("read embeddings: element %d has %d numbers", d.Index, length)
		}
		vectors[d.Index] = d.Embedding
	}
	for i, v := range vectors {
		if v == nil {
			return nil, fmt.Errorf("read embeddings: element %d is missing", i)
		}
	}
	return vectors, nil
}
