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
	// followEvery is how often --follow looks for new records.
	followEvery = time.Second
	// lookBack is how far back it looks: records are sorted by start, but appear at the end.
	lookBack = 10 * time.Minute
	// lookBackEvery is how often it looks back so far, rather than at the newest only.
	lookBackEvery = 15 * time.Second
)

func (c *command) export() *cobra.Command {
	var flags askFlags
	var since string
	x := &exporter{cli: c}
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the records of calls as JSON Lines, oldest first",
		Long: `Print the records of calls as JSON Lines, oldest first, with the same fields as in the REST
API. A call is recorded when it ends.`,
		Example: `  toolfit export --since 24h > calls.jsonl
  toolfit export --server cloud --follow`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			x.since, err = parseTime("--since", since, time.Now())
			if err != nil {
				return err
			}
			return c.withRecords(cmd.Context(), flags, func(g *gateway) error {
				x.gateway = g
				return x.run(cmd.Context())
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", sinceHelp)
	cmd.Flags().StringVar(&x.server, "server", "", "only calls of this server")
	cmd.Flags().StringVar(&x.tool, "tool", "", "only calls of this tool, as server__tool")
	cmd.Flags().BoolVarP(&x.follow, "follow", "f", false, "keep printing new calls")
	flags.addGateway(cmd)
	return cmd
}

const sinceHelp = "only from then on: a time such as 2026-01-31T08:00:00Z, or an age such as 12h or 7d"

// parseTime reads the value of a flag: a time, or how long ago.
func parseTime(flag, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, ok := config.ParseDuration(s); ok {
		return now.Add(-d), nil
	}
	if t, ok := config.ParseTime(s); ok {
		return t, nil
	}
	return time.Time{}, usage("%s %q is neither a duration, such as 24h or 7d, nor a time, such as 2026-01-31T00:00:00Z", flag, s)
}

// withRecords calls f with a running gateway, or with the store: reading records starts no
// servers.
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

type exporter struct {
	cli          *command
	gateway      *gateway
	server, tool string
	since        time.Time
	follow       bool

	seen map[string]time.Time // recently printed records, by id
}

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
	err := x.keepOn(ctx)
	if ctx.Err() != nil {
		return nil // following ends when it is stopped
	}
	return err
}

// page reads records older than the cursor, newest first.
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
	if err := x.gateway.do(ctx, request{path: "/calls", query: q}, &answer); err != nil {
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

// all prints all records, oldest first. Pages come newest first, so it finds the cursors of all
// pages first: that keeps one id per page in memory instead of all records.
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

// between reads the records older than the cursor, down to the id until. These may be more than
// one page by now, because records are written meanwhile.
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

// keepOn prints new records as they appear.
func (x *exporter) keepOn(ctx context.Context) error {
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

// news prints new records. Without deep it stops at the first page that has none.
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

// print writes rows in reverse order: oldest first.
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
