package serverjson

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/regular"
)

// Official is the public registry.
const Official = "https://registry.modelcontextprotocol.io"

const (
	fetchTime    = 15 * time.Second
	maxRedirects = 3
	maxFiles     = 10_000 // of a folder
)

// NewClient returns a client that follows few redirects, and none from https to http.
func NewClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		if len(before) > maxRedirects || before[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
			return errors.New("redirected too often, or to an address without TLS")
		}
		return nil
	}}
}

// IsURL tells whether a source is a web address.
func IsURL(source string) bool {
	return strings.HasPrefix(source, "https://") || strings.HasPrefix(source, "http://")
}

// Find looks a server up: in a registry at a URL, in a folder of server.json files, or in one file. Without a version it is the
// latest of a registry, and the only one of a folder.
func Find(ctx context.Context, client *http.Client, from, server, at string) (*Document, error) {
	const latest = "latest"
	if at == latest {
		at = ""
	}
	place := from
	if IsURL(from) {
		place = strings.TrimRight(from, "/") + "/v0.1/servers/" + url.PathEscape(server) + "/versions/" + url.PathEscape(cmp.Or(at, latest))
	} else if info, err := os.Stat(from); err == nil && info.IsDir() {
		return inFolder(from, server, at)
	}
	doc, err := Read(ctx, client, place)
	if err == nil && (doc.Name != server || at != "" && doc.Version != at) {
		return nil, fault.New(fault.NotFound, "%s has %s %s, not %s %s", from, doc.Name, doc.Version, server, at)
	}
	return doc, err
}

// Read reads the server.json at a path or URL.
func Read(ctx context.Context, client *http.Client, source string) (*Document, error) {
	if IsURL(source) {
		return fetch(ctx, client, source)
	}
	data, err := regular.Read(source, maxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "there is no file %s", source)
	}
	if err != nil {
		return nil, fault.New(fault.BadRequest, "%w", err)
	}
	return Parse(data)
}

func fetch(ctx context.Context, client *http.Client, address string) (*Document, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fault.New(fault.BadRequest, "%w", err)
	}
	req.Header.Set("Accept", "application/json")
	unreachable := func(err error) error {
		return fault.New(fault.UpstreamDown, "%s could not be reached: %w", req.URL.Host, errors.Unwrap(err)).
			WithHint("read a server.json that you have: --registry FILE, or that of a mirror: --registry URL")
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return nil, fault.New(fault.NotFound, "%s has no such server or version", req.URL.Host).WithHint("check the name: %s", address)
	case resp.StatusCode != http.StatusOK:
		return nil, fault.New(fault.UpstreamError, "%s answered with %s", req.URL.Host, resp.Status)
	case err != nil:
		return nil, unreachable(&url.Error{Err: err})
	}
	return Parse(data)
}

// inFolder finds a server in the files of a folder and the folders below. Files of another kind are skipped.
func inFolder(dir, server, at string) (found *Document, err error) {
	left := maxFiles
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fault.New(fault.TooLarge, "%s has more than %d files", dir, maxFiles)
		}
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) != ".json" {
			return err
		}
		data, err := regular.Read(path, maxDocument)
		if err != nil {
			return err
		}
		doc, err := Parse(data)
		if err != nil || doc.Name != server || at != "" && doc.Version != at {
			return nil
		}
		if found != nil {
			return fault.New(fault.Conflict, "%s has %s more than once: %s and %s", dir, server, found.Version, doc.Version).
				WithHint("say which one: %s@%s", server, doc.Version)
		}
		found = doc
		return nil
	})
	if err == nil && found == nil {
		err = fault.New(fault.NotFound, "%s has no server.json of %s", dir, strings.TrimRight(server+"@"+at, "@"))
	}
	return found, err
}
