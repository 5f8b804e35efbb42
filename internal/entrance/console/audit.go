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
}

// Did names the text that says what happened.
func (r auditRow) Did() string { return strings.ReplaceAll(r.Action, ".", "-") }

func (c *Console) listAudit(v *visit) (auditPage, error) {
	q := v.URL.Query()
	found, err := c.Audit.ListAudit(v.Context(), v.who, q)
	p := auditPage{Actor: q.Get("actor"), What: q.Get("what")}
	for _, r := range found.Records {
		p.Records = append(p.Records, auditRow{r, r.Action + " " + strconv.FormatInt(r.Seq, 10), diffJSON(r.Before, r.After)})
	}
	if found.Next != "" {
		p.Next = url.Values{"actor": {p.Actor}, "what": {p.What}, "cursor": {found.Next}}.Encode()
	}
	return p, err
}
