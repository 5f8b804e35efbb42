package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/origin"
)

const (
	releasesPage  = "https://github.com/toolfit/toolfit/releases"
	releasesIndex = "https://api.github.com/repos/toolfit/toolfit/releases"
	maxIndex      = 4 << 20         // bytes of an index
	indexTime     = 5 * time.Second // to read it
)

// upgrade is the command that says how to upgrade. It never installs anything: whoever installed the program knows better.
func (c *command) upgrade() *cobra.Command {
	var check bool
	var index string
	cmd := &cobra.Command{
		Use: "upgrade", Short: "Say how to upgrade, and with --check whether there is something newer", Args: noArguments,
		Example: `  toolfit upgrade
  toolfit upgrade --check
  toolfit upgrade --check --index https://mirror.example.com/toolfit/releases.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !check && cmd.Flags().Changed("index") {
				return usage("--index is for --check")
			}
			a := advice{installation: c.installed(), Version: c.env.Version}
			if check {
				if err := a.check(cmd.Context(), index); err != nil {
					return err
				}
			}
			return c.show(a, func() error { return c.advise(a) })
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "read the list of releases, and tell what is newer")
	cmd.Flags().StringVar(&index, "index", releasesIndex, "`URL` of the list of releases, for a mirror: JSON with tag_name, prerelease, html_url")
	return cmd
}

// advice is what the command tells.
type advice struct {
	installation
	Version string `json:"version"`
	Newest  string `json:"newest,omitempty"` // release; empty: not asked
	Newer   bool   `json:"newer"`            // than this program
	URL     string `json:"url,omitempty"`    // of the newest release
}

func (a *advice) check(ctx context.Context, index string) error {
	list, err := releasesAt(ctx, index)
	if err != nil {
		return err
	}
	newest := newestOf(list, semver.Prerelease(a.Version) != "")
	if newest == nil {
		return fault.New(fault.NotFound, "%s lists no release yet", origin.Shown(index))
	}
	a.Newest = newest.Tag
	a.URL = newest.URL
	a.Newer = semver.IsValid(a.Version) && semver.Compare(newest.Tag, a.Version) > 0
	return nil
}

func (c *command) advise(a advice) error {
	switch {
	case a.Newest == "":
		c.say("toolfit %s\n", a.Version)
	case a.Newer:
		c.say("toolfit %s is newer than this one, %s: %s\n", a.Newest, a.Version, line(a.URL))
	case !semver.IsValid(a.Version):
		c.say("the newest release is %s; this program, %s, is none: %s\n", a.Newest, a.Version, line(a.URL))
	case semver.Compare(a.Newest, a.Version) < 0:
		return c.say("toolfit %s is newer than the newest release, %s\n", a.Version, a.Newest)
	default:
		return c.say("toolfit %s is the newest release\n", a.Version)
	}
	return c.say("installed by %s at %s\nto upgrade: %s\n", c.word(a.By), a.Program, c.translate(a.Line))
}

// published is a release as an index lists it, with the names of GitHub's API.
type published struct {
	Tag        string `json:"tag_name"`
	Prerelease bool   `json:"prerelease"`
	Draft      bool   `json:"draft"`
	URL        string `json:"html_url"`
}

// newestOf returns the newest release. Those before a release are for who has one already.
func newestOf(list []published, early bool) (newest *published) {
	for i := range list {
		p := &list[i]
		if !semver.IsValid(p.Tag) || p.Draft || !early && (p.Prerelease || semver.Prerelease(p.Tag) != "") {
			continue
		}
		if newest == nil || semver.Compare(p.Tag, newest.Tag) > 0 {
			newest = p
		}
	}
	return newest
}

// releasesAt reads an index: a list of releases, or one of them.
func releasesAt(ctx context.Context, index string) ([]published, error) {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, index, nil)
	if err != nil || req.URL.Host == "" {
		return nil, usage("--index %q is not an http or https URL", index)
	}
	req.Header = http.Header{"Accept": {"application/json"}, "User-Agent": {"toolfit"}}
	resp, err := (&http.Client{CheckRedirect: origin.Redirect}).Do(req)
	if err != nil {
		return nil, unreachable(index, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fault.New(fault.UpstreamError, "the list of releases at %s cannot be read: it answered %s", origin.Shown(index), resp.Status).
			WithHint("%s", elsewhere)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxIndex+1))
	switch {
	case err != nil:
		return nil, unreachable(index, err)
	case len(data) > maxIndex:
		return nil, fault.New(fault.TooLarge, "the list of releases at %s has more than %d MB", origin.Shown(index), maxIndex>>20).
			WithHint("%s", elsewhere)
	}
	return readReleases(index, data)
}

func readReleases(index string, data []byte) (list []published, err error) {
	if data = bytes.TrimSpace(data); bytes.HasPrefix(data, []byte("{")) {
		list = make([]published, 1)
		err = json.Unmarshal(data, &list[0])
	} else {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, fault.New(fault.UpstreamError, "what %s answered is no list of releases", origin.Shown(index)).WithHint("%s", elsewhere)
	}
	return list, nil
}

const elsewhere = "see " + releasesPage + ", or name a mirror with --index"

func unreachable(index string, reason error) error {
	if errors.Is(reason, context.DeadlineExceeded) {
		return fault.New(fault.UpstreamTimeout, "the list of releases at %s did not come within %s", origin.Shown(index), indexTime).
			WithHint("%s", elsewhere)
	}
	return fault.New(fault.UpstreamDown, "the list of releases at %s cannot be reached: %w", origin.Shown(index), fault.Plain(reason)).
		WithHint("%s", elsewhere)
}
