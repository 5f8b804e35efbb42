package restapi

import (
	"cmp"
	"context"
	"net/url"
	"strconv"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/state/access"
	"github.com/toolfit/toolfit/internal/state/store"
)

// AuditPage is a page of the audit log, the newest first.
type AuditPage struct {
	Records []store.AuditRecord `json:"records"`
	Next    string              `json:"next_cursor,omitempty"` // the cursor of the next page; "" on the last
}

// ListAudit returns a page of the audit log by the filters since, actor, what, cursor and limit.
func (a *API) ListAudit(ctx context.Context, who access.Principal, q url.Values) (AuditPage, error) {
	out := AuditPage{Records: []store.AuditRecord{}}
	if err := needAdmin(who); err != nil {
		return out, err
	}
	f := store.AuditFilter{Actor: q.Get("actor"), What: q.Get("what")}
	if !isText(f.Actor + f.What) {
		return out, fault.New(fault.BadRequest, "the filter must be UTF-8 text without NUL")
	}
	limit, err := number(q, "limit", 1, maxPage)
	if err != nil {
		return out, err
	}
	before, err := number(q, "cursor", 1, maxNumber)
	if err != nil {
		return out, err
	}
	if f.Since, err = parseTime(q, "since"); err != nil {
		return out, err
	}
	f.Limit = cmp.Or(limit, defaultPage)
	f.Before = int64(before)
	records, err := a.Store.AuditRecords(ctx, f)
	out.Records = append(out.Records, records...)
	if len(records) == f.Limit {
		out.Next = strconv.FormatInt(records[len(records)-1].Seq, 10)
	}
	return out, err
}
