package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/internal/state/store"
)

const (
	exportPage = 1000
	// followEvery is how often new records are looked for.
	followEvery = time.Second
	// lookBack is how far back they are looked for: a call has its place by when it began,
	// and its record comes when it ends.
	lookBack = 10 * time.Minute
	// lookBackEvery is how often that is done; in between the newest are enough.
	lookBackEvery = 15 * time.Second
)

func (c *command) export() *cobra.Command {
	var flags askFlags
	var since string
	x := &exporter{cli: c}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the records of calls as JSON Lines, the oldest first",
		Long: `Print the records of calls as JSON Lines, the oldest first: one line each, with the fields
that the REST API has. A record is there when its call has ended.`,
		Example: `  toolfit export --since 24h > calls.jsonl
  toolfit export --server cloud --follow`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if x.since, err = parseSince(since, time.Now()); err != nil {
				return err
			}
			return c.withRecords(cmd.Context(), flags, func(g *gateway) error {
				x.gateway = g
				return x.run(cmd.Context())
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only calls that began so long ago at most (24h, 7d), or after this time (2026-01-31T00:00:00Z)")
	cmd.Flags().StringVar(&x.server, "server", "", "only calls of this server")
	cmd.Flags().StringVar(&x.tool, "tool", "", "only calls of this tool, by its name server__tool")
	cmd.Flags().BoolVarP(&x.follow, "follow", "f", false, "go on with new calls as they come")
	flags.addGateway(cmd)
	return cmd
}

func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, ok := config.ParseDuration(s); ok {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage("--since %q is neither a duration, such as 24h or 7d, nor a time, such as 2026-01-31T00:00:00Z", s)
}

// withRecords runs f with the records of a running gateway, or with those of the store: no
// server is started to read them.
func (c *command) withRecords(ctx context.Context, flags askFlags, f func(*gateway) error) error {
	if g, err := c.running(ctx, flags, runFlags{}); err != nil || g != nil {
		if err == nil {
			err = f(g)
		}
		return err
	}
	return c.withStore(ctx, func(_ *config.Config, st *store.Store) error {
		api := restapi.New(restapi.Parts{
			Store: st, Logger: slog.New(slog.DiscardHandler),
			Admit: func(*http.Request) (access.Principal, error) { return access.Owner(), nil },
		})
		return f(&gateway{base: "http://local", http: inProcess{api}})
	})
}

// exporter prints records.
type exporter struct {
	cli          *command
	gateway      *gateway
	server, tool string
	since        time.Time
	follow       bool

	seen map[string]time.Time // what was printed, by id, as far as it could come again
}

// exported is a record as it came, and what must be known of it.
type exported struct {
	ID  string    `json:"id"`
	At  time.Time `json:"at"`
	raw json.RawMessage
}

func (x *exporter) run(ctx context.Context) error {
	x.seen = map[string]time.Time{}
	if err := x.all(ctx); err != nil || !x.follow {
		return err
	}
	err := x.goOn(ctx)
	if ctx.Err() != nil {
		return nil // to be stopped is how following ends
	}
	return err
}

// page reads records, the newest first, that are older than the cursor.
func (x *exporter) page(ctx context.Context, cursor string) (rows []exported, next string, err error) {
	q := url.Values{"limit": {strconv.Itoa(exportPage)}}
	for key, value := range map[string]string{"server": x.server, "tool": x.tool, "cursor": cursor} {
		if value != "" {
			q.Set(key, value)
		}
	}
	var answer struct {
		Calls []json.RawMessage `json:"calls"`
		Next  string            `json:"next_cursor"`
	}
	if err := x.gateway.do(ctx, http.MethodGet, "/calls", q, nil, &answer); err != nil {
		return nil, "", err
	}
	for _, raw := range answer.Calls {
		row := exported{raw: raw}
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, "", err
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		answer.Next = ""
	}
	return rows, answer.Next, nil
}

// all prints what there is, the oldest first. Pages come the newest first, so the places
// where they begin are found first: that keeps one id for each page, and not all records.
func (x *exporter) all(ctx context.Context) error {
	cursors := []string{""}
	for {
		rows, next, err := x.page(ctx, cursors[len(cursors)-1])
		if err != nil {
			return err
		}
		if next == "" || rows[len(rows)-1].At.Before(x.since) {
			break
		}
		cursors = append(cursors, next)
	}
	for i, cursor := range slices.Backward(cursors) {
		until := ""
		if i+1 < len(cursors) {
			until = cursors[i+1]
		}
		rows, err := x.between(ctx, cursor, until)
		if err != nil {
			return err
		}
		if err := x.print(rows); err != nil {
			return err
		}
	}
	return nil
}

// between reads the records older than the cursor, down to the one with the id until. There
// may be more than a page of them now: records are written while we read.
func (x *exporter) between(ctx context.Context, cursor, until string) (all []exported, err error) {
	for {
		rows, next, err := x.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if row.ID < until {
				return all, nil
			}
			all = append(all, row)
		}
		if next == "" || next == until || rows[len(rows)-1].At.Before(x.since) {
			return all, nil
		}
		cursor = next
	}
}

// goOn prints new records as they come.
func (x *exporter) goOn(ctx context.Context) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var looked time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			deep := now.Sub(looked) >= lookBackEvery
			if deep {
				looked = now
			}
			if err := x.news(ctx, now, deep); err != nil {
				return err
			}
		}
	}
}

// news prints the records that were not there before. Without deep it stops at the first
// page that has none.
func (x *exporter) news(ctx context.Context, now time.Time, deep bool) error {
	from := now.Add(-lookBack)
	var fresh []exported
	for cursor := ""; ; {
		rows, next, err := x.page(ctx, cursor)
		if err != nil {
			return err
		}
		known := len(fresh)
		for _, row := range rows {
			if _, printed := x.seen[row.ID]; !printed && row.At.After(from) {
				fresh = append(fresh, row)
			}
		}
		if next == "" || rows[len(rows)-1].At.Before(from) || !deep && len(fresh) == known {
			break
		}
		cursor = next
	}
	for id, at := range x.seen {
		if at.Before(from) {
			delete(x.seen, id)
		}
	}
	return x.print(fresh)
}

// print writes rows that come the newest first, the oldest first.
func (x *exporter) print(rows []exported) error {
	var out bytes.Buffer
	recent := time.Now().Add(-lookBack)
	for _, row := range slices.Backward(rows) {
		if row.At.Before(x.since) {
			continue
		}
		if err := json.Compact(&out, row.raw); err != nil {
			return err
		}
		out.WriteByte('\n')
		if x.follow && row.At.After(recent) {
			x.seen[row.ID] = row.At
		}
	}
	_, err := x.cli.env.Out.Write(out.Bytes())
	return err
}
