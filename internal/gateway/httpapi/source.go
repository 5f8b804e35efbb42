package httpapi

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
	"github.com/toolfit/toolfit/internal/base/visible"
)

// source is where the description of an API comes from.
type source struct {
	spec   string // a file or an address
	inline []byte // the description itself; nil: it is there
	client *http.Client
	limit  int64

	etag, modified string // of what was read last
}

// maxDocument limits a description.
const maxDocument = 64 << 20

// errSame says that the description has not changed.
var errSame = errors.New("not modified")

// read gets the description, or errSame if it has not changed. Not for concurrent use.
func (s *source) read(ctx context.Context, who string) ([]byte, error) {
	if s.inline != nil {
		return s.readInline()
	}
	if !strings.HasPrefix(s.spec, "http://") && !strings.HasPrefix(s.spec, "https://") {
		return s.readFile(who)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.spec, nil)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "%s: spec is not a valid address", who)
	}
	req.Header.Set("Accept", "application/json, application/yaml, text/yaml, */*;q=0.5")
	if s.etag != "" {
		req.Header.Set("If-None-Match", s.etag)
	} else if s.modified != "" {
		req.Header.Set("If-Modified-Since", s.modified)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, explain(ctx, "the description of "+who, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified && (s.etag != "" || s.modified != "") {
		return nil, errSame
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fault.New(fault.UpstreamDown, "the description of %s cannot be had: HTTP %d", who, resp.StatusCode)
	}
	data, err := readLimited(resp.Body, s.limit)
	if err != nil {
		return nil, explain(ctx, "the description of "+who, err)
	}
	if title, page := visible.Page(data); page {
		return nil, fault.New(fault.UpstreamProtocol, "the description of %s is a web page%s", who, title).
			WithHint("name the document itself, such as …/openapi.json, not the page that shows it")
	}
	s.etag = resp.Header.Get("ETag")
	s.modified = resp.Header.Get("Last-Modified")
	return data, nil
}

// readInline gets the description once: it does not change.
func (s *source) readInline() ([]byte, error) {
	if s.modified != "" {
		return nil, errSame
	}
	s.modified = "inline"
	return s.inline, nil
}

// readFile reads the file if it is new or has changed.
func (s *source) readFile(who string) ([]byte, error) {
	f, err := regular.Open(s.spec)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.BadConfig, "%s: there is no file %s", who, s.spec)
	}
	if err != nil {
		return nil, fault.New(fault.BadConfig, "%s: read spec: %w", who, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fault.New(fault.BadConfig, "%s: read spec: %w", who, err)
	}
	stamp := info.ModTime().String() + " " + strconv.FormatInt(info.Size(), 10)
	if stamp == s.modified {
		return nil, errSame
	}
	data, err := readLimited(f, s.limit)
	if err != nil {
		return nil, fault.New(fault.BadConfig, "%s: read spec: %w", who, err)
	}
	s.modified = stamp
	return data, nil
}

// readLimited reads all of r, up to the limit: a small compressed body may expand to a huge one.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fault.New(fault.TooLarge, "the answer is larger than %d bytes", limit).WithHint("ask for less, or raise limits.message")
	}
	return data, err
}
