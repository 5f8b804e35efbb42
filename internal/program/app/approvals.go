package app

import (
	"context"
	"net/http"
	"net/url"

	"github.com/toolfit/toolfit/internal/gateway/approval"
	"github.com/toolfit/toolfit/internal/state/config"
)

// newDesk makes what asks people about calls.
func (a *App) newDesk() *approval.Desk {
	return approval.New(approval.Options{
		Store: a.Store, Config: func() config.Approvals { return a.Config().Approvals }, Page: a.approvalPage, Redact: a.secrets.redact,
		Background: func(work func(context.Context)) { a.work.Go(func() { work(a.background) }) },
		HTTP:       &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, Logger: a.log,
	})
}

// approvalPage is where people decide a question.
func (a *App) approvalPage(id string) string {
	return a.reachedAt() + "/approvals/" + url.PathEscape(id)
}
