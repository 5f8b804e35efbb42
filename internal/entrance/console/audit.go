package console

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/linediff"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// Audit is the log of changes to the gateway.
type Audit interface {
	ListAudit(ctx context.Context, who access.Principal, q url.Values) (restapi.AuditPage, error)
}

type auditPage struct {
	Actor, What string
	Records     []auditRow
	Next        string // the query of the next page; "": there is none
}

type auditRow struct {
	store.AuditRecord
	Name string // for who hears the page
	Diff []linediff.Line
	More int // lines of it that are left out
}

// The changes of a page take about so many bytes together, and a line that many more than its text.
const (
	maxDiffs = 90_000
	diffLine = 45
)

// Did names the text that says what happened.
func (r auditRow) Did() string { return strings.ReplaceAll(r.Action, ".", "-") }

func (c *Console) listAudit(v *visit) (auditPage, error) {
	q := v.URL.Query()
	found, err := c.Audit.ListAudit(v.Context(), v.who, q)
	p := auditPage{Actor: q.Get("actor"), What: q.Get("what")}
	for _, r := range found.Records {
		row := auditRow{AuditRecord: r, Name: r.Action + " " + strconv.FormatInt(r.Seq, 10)}
		row.Diff, row.More = cutDiff(diffJSON(r.Before, r.After), maxDiffs/len(found.Records))
		p.Records = append(p.Records, row)
	}
	if found.Next != "" {
		p.Next = url.Values{"actor": {p.Actor}, "what": {p.What}, "cursor": {found.Next}}.Encode()
	}
	return p, err
}

// cutDiff are the first lines that take so many bytes on a page, at least one, and how many others there are.
func cutDiff(lines []linediff.Line, most int) (first []linediff.Line, more int) {
	for i := range lines {
		if most -= len(lines[i].Text) + diffLine; most < 0 && i > 0 {
			return lines[:i], len(lines) - i
		}
	}
	return lines, 0
}
