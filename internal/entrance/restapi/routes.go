package restapi

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/state/access"
)

// route is a route below /api/v1.
type route struct {
	pattern string
	needs   needs
	answer  func(*request) (any, error) // a value to encode, a created, a stream, or an error
}

// needs are what a route needs before it is asked.
type needs int

const (
	admin  needs = 1 << iota // an administrator, checked before the body is read; every method checks its caller itself
	body                     // the body of the request
	signed                   // nobody is admitted: the route checks the signature of its body itself
)

// routes are all routes. openapi.json describes each.
func (a *API) routes() []route {
	return []route{
		{"GET /servers", 0, a.listServers},
		{"POST /servers", admin | body, a.addServer},
		{"GET /servers/{id}", 0, a.server},
		{"PUT /servers/{id}", admin | body, a.changeServer},
		{"DELETE /servers/{id}", 0, removes(a.RemoveServer)},
		{"GET /servers/{id}/config", 0, a.serverSettings},
		{"POST /servers/{id}/refresh", 0, byID(a.RefreshServer)},
		{"POST /servers/{id}/restart", 0, byID(a.RestartServer)},
		{"POST /servers/{id}/disable", 0, byID(a.DisableServer)},
		{"POST /servers/{id}/enable", 0, byID(a.EnableServer)},
		{"GET /servers/{id}/held", 0, a.held},
		{"POST /servers/{id}/approve", admin | body, decides("approved", a.ApproveHeld)},
		{"POST /servers/{id}/keep-out", admin | body, decides("kept_out", a.KeepOutHeld)},
		{"GET /tools", 0, a.tools},
		{"GET /tools/{name}", 0, a.tool},
		{"GET /tools/{name}/history", 0, a.toolHistory},
		{"POST /tools/{name}/call", body, a.call},
		{"POST /tools/{name}/curl", body, a.curl},
		{"GET /search", 0, a.search},
		{"GET /prompt", 0, a.prompt},
		{"GET /calls", 0, a.calls},
		{"GET /calls/{id}", 0, a.readCall},
		{"POST /calls/{id}/cancel", 0, byID(a.CancelCall)},
		{"POST /calls/{id}/answers", body, a.answerCall},
		{"GET /results", 0, a.listResults},
		{"GET /results/{ref}", 0, a.result},
		{"POST /results/{ref}/try", body, a.tryRule},
		{"GET /activity", 0, a.activity},
		{"GET /savings", 0, a.savings},
		{"GET /suggestions", 0, a.suggestions},
		{"GET /rules", 0, a.listRules},
		{"PUT /rules/{id}", admin | body, a.putRule},
		{"DELETE /rules/{id}", 0, removes(a.DeleteRule)},
		{"GET /policy", 0, a.policy},
		{"POST /policy/explain", admin | body, a.explainPolicy},
		{"GET /runs", 0, a.runs},
		{"POST /runs", body, a.startRun},
		{"GET /runs/{id}", 0, a.oneRun},
		{"POST /runs/{id}/cancel", 0, cancels(a.cancelRun)},
		{"GET /runs/{id}/report", 0, a.runReport},
		{"GET /runs/{id}/screenshots/{n}", 0, a.screenshot},
		{"GET /agents", 0, a.listAgents},
		{"POST /agents", admin | body, a.createAgent},
		{"GET /agents/{id}", 0, byID(a.readAgent)},
		{"GET /agents/{id}/prompt", 0, a.agentPrompt},
		{"PUT /agents/{id}", admin | body, a.putAgent},
		{"DELETE /agents/{id}", admin, removes(a.deleteAgent)},
		{"GET /sessions", 0, a.listSessions},
		{"POST /sessions", body, a.createSession},
		{"GET /sessions/{id}", 0, byID(a.ReadSession)},
		{"PATCH /sessions/{id}", body, a.patchSession},
		{"DELETE /sessions/{id}", 0, removes(quietly(a.DeleteSession))},
		{"POST /sessions/{id}/cancel", 0, cancels(a.cancelAnswer)},
		{"GET /sessions/{id}/messages", 0, a.sessionMessages},
		{"GET /keys", 0, a.listKeys},
		{"POST /keys", admin | body, a.createKey},
		{"POST /keys/{id}/rotate", admin | body, a.rotateKey},
		{"DELETE /keys/{id}", 0, removes(a.DeleteKey)},
		{"GET /clients", 0, func(q *request) (any, error) { return a.SeenClients(q.who), nil }},
		{"GET /connections", 0, a.listConnections},
		{"POST /connections/{id}", 0, a.beginConnection},
		{"DELETE /connections/{id}", 0, a.endConnection},
		{"POST /connections/{id}/finish", body, a.finishConnection},
		{"POST /connections/{id}/token", body, a.keepToken},
		{"POST /connections/{id}/device", 0, byID(a.BeginDevice)},
		{"POST /connections/{id}/device/finish", body, a.finishDevice},
		{"GET /values", 0, a.listValues},
		{"PUT /values/{id}", body, a.setValue},
		{"DELETE /values/{id}", 0, removes(quietly(a.RemoveValue))},
		{"GET /approvals", 0, a.listApprovals},
		{"GET /approvals/{id}", 0, a.readApproval},
		{"POST /approvals/{id}", body, a.decideApproval},
		{"POST /approvals/{id}/webhook", signed | body, a.decideSigned},
		{"GET /recipes", 0, a.listRecipes},
		{"POST /recipes", admin | body, a.saveRecipe},
		{"GET /recipes/{name}", 0, a.readRecipe},
		{"DELETE /recipes/{name}", 0, a.deleteRecipe},
		{"POST /recipes/{name}/approve", 0, a.approveRecipe},
		{"GET /people", 0, a.listPeople},
		{"POST /people/{id}/disable", 0, byID(a.DisablePerson)},
		{"POST /people/{id}/enable", 0, byID(a.EnablePerson)},
		{"GET /audit", admin, a.audit},
		{"GET /openapi.json", 0, a.openAPI},
		{"GET /events", 0, a.events},
	}
}

// byID is a route that answers about what the id in its path names.
func byID[ID ~string, T any](f func(context.Context, access.Principal, ID) (T, error)) func(*request) (any, error) {
	return func(q *request) (any, error) { return f(q.Context(), q.who, ID(q.id())) }
}

// removes is a route that removes what the id in its path names.
func removes[ID ~string](f func(context.Context, access.Principal, ID) (warning string, err error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		warning, err := f(q.Context(), q.who, ID(q.id()))
		return deleted{q.id(), warning}, err
	}
}

// quietly is a removal without warnings.
func quietly(f func(context.Context, access.Principal, string) error) func(context.Context, access.Principal, string) (string, error) {
	return func(ctx context.Context, who access.Principal, id string) (string, error) { return "", f(ctx, who, id) }
}

// deleted is the answer of a route that removed something.
type deleted struct {
	ID      string `json:"deleted"`
	Warning string `json:"warning,omitempty"`
}

//go:embed openapi.json
var document []byte

// openAPI is the document, with the path at which clients reach this gateway.
func (a *API) openAPI(*request) (any, error) {
	at, err := json.Marshal(a.BasePath + prefix)
	return json.RawMessage(bytes.Replace(document, []byte(`"`+prefix+`"`), at, 1)), err
}

func (a *API) listServers(q *request) (any, error) {
	return map[string]any{"servers": a.SeenServers(q.who)}, nil
}

func (a *API) server(q *request) (any, error) {
	return a.SeenServer(q.who, tool.ServerID(q.id()))
}

func (a *API) addServer(q *request) (any, error) {
	s, err := a.AddServer(q.Context(), q.who, q.body)
	return created{"/servers/" + url.PathEscape(string(s.ID)), s}, err
}

func (a *API) changeServer(q *request) (any, error) {
	return a.ChangeServer(q.Context(), q.who, tool.ServerID(q.id()), q.body)
}

func (a *API) serverSettings(q *request) (any, error) {
	return a.ServerSettings(q.who, tool.ServerID(q.id()))
}

func (a *API) held(q *request) (any, error) {
	held, err := a.HeldOf(q.who, tool.ServerID(q.id()))
	return HeldList{held}, err
}

// decides is a route by which an administrator decides about what is held of a server.
func decides(done string, f func(context.Context, access.Principal, tool.ServerID, ...string) (int, error)) func(*request) (any, error) {
	return func(q *request) (any, error) {
		var in struct {
			Tools []string `json:"tools"` // and whatever else is held
		}
		if q.body != nil {
			if err := q.decode(&in, `{"tools": [names]}`); err != nil {
				return nil, err
			}
		}
		n, err := f(q.Context(), q.who, tool.ServerID(q.id()), in.Tools...)
		return map[string]int{done: n}, err
	}
}

func (a *API) calls(q *request) (any, error) {
	if accepts(q.Request, linesType) && q.query.Get("waiting") != "true" {
		return stream(func(w http.ResponseWriter) { a.ExportCalls(w, q.Request, q.who) }), nil
	}
	return a.ListCalls(q.Context(), q.who, q.query, 0)
}

func (a *API) listResults(q *request) (any, error) {
	limit, err := number(q.query, "limit", 1, maxPage)
	if err != nil {
		return nil, err
	}
	in := ResultQuery{Tool: q.query.Get("tool"), Rule: q.query.Get("rule"), Cursor: q.query.Get("cursor"), Limit: limit}
	return a.ListResults(q.Context(), q.who, in)
}

func (a *API) listRules(q *request) (any, error) {
	rules, err := a.ListRules(q.who)
	return RuleList{rules}, err
}

func (a *API) policy(q *request) (any, error) {
	return a.ListPolicy(q.Context(), q.who)
}

func (a *API) putRule(q *request) (any, error) {
	return a.SaveRule(q.Context(), q.who, q.id(), q.body)
}

func (a *API) runReport(q *request) (any, error) {
	write, err := a.RunReport(q.Context(), q.who, q.id(), cmp.Or(q.query.Get("format"), "html"))
	return stream(write), err
}

func (a *API) screenshot(q *request) (any, error) {
	write, err := a.RunPicture(q.Context(), q.who, q.id(), q.PathValue("n"))
	return stream(write), err
}

func (a *API) startRun(q *request) (any, error) {
	var in RunOrder
	if err := q.decode(&in, `{"steps": …} or {"again": …}`); err != nil {
		return nil, err
	}
	id, err := a.StartRun(q.Context(), q.who, in)
	return created{"/runs/" + id, map[string]string{"id": id}}, err
}

func (a *API) listKeys(q *request) (any, error) {
	keys, err := a.ListKeys(q.Context(), q.who)
	return map[string]any{"keys": keys}, err
}

func (a *API) listPeople(q *request) (any, error) {
	people, err := a.ListPeople(q.Context(), q.who, q.URL.Query().Get("q"))
	return map[string]any{"people": people}, err
}

func (a *API) audit(q *request) (any, error) { return a.ListAudit(q.Context(), q.who, q.query) }

func (a *API) createKey(q *request) (any, error) {
	in := KeyConfig{Role: access.Caller}
	if err := q.decode(&in, `{"name", "profiles", "role", "expires"}`); err != nil {
		return nil, err
	}
	out, err := a.CreateKey(q.Context(), q.who, in)
	return created{"/keys/" + out.ID, out}, err
}

func (a *API) rotateKey(q *request) (any, error) {
	var in KeyRotation
	if q.body != nil {
		if err := q.decode(&in, `{"overlap", "expires"}`); err != nil {
			return nil, err
		}
	}
	return a.RotateKey(q.Context(), q.who, q.id(), in)
}

func (a *API) createSession(q *request) (any, error) {
	in, err := q.session()
	if err != nil {
		return nil, err
	}
	s, err := a.CreateSession(q.Context(), q.who, in)
	return created{"/sessions/" + url.PathEscape(s.ID), s}, err
}

func (a *API) patchSession(q *request) (any, error) {
	in, err := q.session()
	if err != nil {
		return nil, err
	}
	return a.ChangeSession(q.Context(), q.who, q.id(), in)
}

// session is the session in the body.
func (q *request) session() (in SessionConfig, err error) {
	if q.body != nil {
		err = q.decode(&in, `{"title", "metadata", …}`)
	}
	return in, err
}

func (a *API) sessionMessages(q *request) (any, error) {
	limit, err := number(q.query, "limit", 1, maxPage)
	if err != nil {
		return nil, err
	}
	after, err := number(q.query, "after", 0, maxNumber)
	if err != nil {
		return nil, err
	}
	return a.ReadMessages(q.Context(), q.who, q.id(), Stretch{After: int64(after), Limit: limit})
}

// text is an answer of plain text.
func text(s string) stream {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte(s)) // a client that has left needs no answer
	}
}
