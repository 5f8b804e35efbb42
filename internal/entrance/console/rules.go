package console

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/toolfit/toolfit/internal/base/fault"
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Rules manages the rules for results.
type Rules interface {
	ListRules(who access.Principal) ([]restapi.Rule, error)
	SaveRule(ctx context.Context, who access.Principal, id string, rule []byte) (restapi.Rule, error)
	DeleteRule(ctx context.Context, who access.Principal, id string) (warning string, err error)
}

type ruleList struct {
	Rows  []ruleRow
	Form  ruleForm
	Fault *fault.Error // why the rule was not saved
}

type ruleRow struct {
	restapi.Rule
	When   string
	Way    string
	Text   string // expression
	Saved  string // "": nothing yet
	Seen   int64  // results that it matched
	Switch bool   // the mode can be changed here
	Own    bool   // it is in the store
	Tone   string
}

type ruleForm struct {
	ID, Tool, When   string
	Way              string // keep, drop or jq
	Expression       string
	Budget, Shape    string
	Mode, Profile    string
	Profiles         []string
	Action           string // path to which it is sent
	Saved            string // id of the saved rule; "": it is new
	Reason           string // why that was put back to shadow; "": it was not
	MayJQ, MayChange bool
	Shapes, Modes    []string
}

// listRules lists the rules. The form gets the rule that the query names.
func (c *Console) listRules(v *visit, form ruleForm) (resultsPage, error) {
	list := ruleList{Form: form}
	rules, err := c.Rules.ListRules(v.who)
	edit := v.URL.Query().Get("edit")
	for _, r := range rules {
		if edit != "" && r.ID == edit && r.Source != restapi.FromFile && list.Form.Saved == "" {
			list.Form.take(r)
		}
		list.Rows = append(list.Rows, rowOf(r, v.who.MayAdmin()))
	}
	p := resultsTab(v, "rules")
	p.Rules = &list
	return p, err
}

func rowOf(r restapi.Rule, admin bool) ruleRow {
	row := ruleRow{Rule: r, Own: r.Source == restapi.FromStore, Switch: admin && r.Source != restapi.FromFile}
	row.Way, row.Text = wayOf(r)
	row.When = compact(r.When)
	n := r.Counts
	row.Seen = n.Projected + n.Whole + n.Mismatch + n.Failed + n.Shadowed
	if n.TokensFull > 0 {
		row.Saved = share(max(0, ratio(n.TokensFull-n.TokensSent, n.TokensFull)))
	}
	row.Tone = tone("rule", r.Mode)
	if r.Reason != "" {
		row.Tone = "bad"
	}
	return row
}

func wayOf(r restapi.Rule) (way, text string) {
	switch {
	case r.Drop != "":
		return "drop", r.Drop
	case r.JQ != "":
		return "jq", r.JQ
	}
	return "keep", r.Keep
}

// compact is a JSON value as text; "" for an empty one.
func compact[T any](v map[string]T) string {
	text, err := json.Marshal(v)
	if err != nil || len(v) == 0 {
		return ""
	}
	return string(text)
}

func (c *Console) newForm(v *visit) ruleForm {
	return ruleForm{
		Way: "keep", Mode: string(project.On), Profiles: c.Profiles(), Action: c.at("/results/rules"),
		MayJQ: v.who.MayAdmin(), MayChange: v.who.MayAdmin(),
		Shapes: []string{"off", "json", "table", "auto"}, Modes: []string{"on", "shadow", "off"},
	}
}

// take puts a rule into the form.
func (f *ruleForm) take(r restapi.Rule) {
	f.ID = r.ID
	f.Saved = r.ID
	f.Reason = r.Reason
	f.Tool = r.Tool
	f.Profile = r.Profile
	f.Mode = string(r.Mode)
	f.Shape = string(r.Shape)
	f.Way, f.Expression = wayOf(r)
	f.When = compact(r.When)
	f.Budget = ""
	if r.Budget > 0 {
		f.Budget = strconv.Itoa(r.Budget)
	}
}

// formFor is the rule that trimmed a result, if it can be changed here, or a new one.
func (c *Console) formFor(v *visit, stored restapi.Result) ruleForm {
	f := c.newForm(v)
	f.Action = c.at("/results/" + stored.Ref + "/rule")
	f.Tool = stored.Tool
	f.ID = restapi.RuleID(stored.Tool)
	rules, _ := c.Rules.ListRules(v.who) // none if the person may not read them
	for _, r := range rules {
		if r.ID != stored.Rule || stored.Rule == "" || r.Reason != "" {
			continue
		}
		id := f.ID
		f.take(r)
		if r.Source == restapi.FromFile { // only edited by hand
			f.ID = id
			f.Saved = ""
		}
		break
	}
	for n := 2; f.Saved == "" && slices.ContainsFunc(rules, func(r restapi.Rule) bool { return r.ID == f.ID }); n++ {
		f.ID = restapi.RuleID(stored.Tool) + "-" + strconv.Itoa(n)
	}
	return f
}

func (c *Console) readForm(v *visit) ruleForm {
	f := c.newForm(v)
	for name, into := range map[string]*string{
		"id": &f.ID, "saved": &f.Saved, "tool": &f.Tool, "when": &f.When, "way": &f.Way, "expression": &f.Expression,
		"budget": &f.Budget, "shape": &f.Shape, "mode": &f.Mode, "profile": &f.Profile,
	} {
		*into = strings.TrimSpace(v.PostForm.Get(name))
	}
	f.Way = cmp.Or(f.Way, "keep")
	if ref := v.PathValue("ref"); ref != "" {
		f.Action = c.at("/results/" + ref + "/rule")
	}
	return f
}

// config is the rule as configuration. Invalid JSON goes as text, for which the rules report a
// problem.
func (f *ruleForm) config() []byte {
	out := []byte{'{'}
	add := func(name, value string, isJSON bool) {
		if value == "" {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendString(out, name), ':')
		if isJSON && rawjson.Check([]byte(value)) == nil {
			out = append(out, value...)
		} else {
			out = rawjson.AppendString(out, value)
		}
	}
	add("tool", f.Tool, false)
	add("when", f.When, true)
	add(f.Way, f.Expression, false)
	add("budget", f.Budget, true)
	add("shape", f.Shape, false)
	add("mode", f.Mode, false)
	add("profile", f.Profile, false)
	return append(out, '}')
}

// trial is the rule for the preview: an empty one keeps everything.
func (f *ruleForm) trial() []byte {
	if f.Expression == "" && f.Budget == "" && f.Shape == "" {
		whole := *f
		whole.Shape = "off"
		return whole.config()
	}
	return f.config()
}

func (c *Console) saveRule(v *visit) (answer, error) {
	form := c.readForm(v)
	if _, err := c.Rules.SaveRule(v.Context(), v.who, form.ID, form.config()); err != nil {
		p, listErr := c.listRules(v, form)
		p.Rules.Fault = fault.As(err)
		return answer{page: "results", data: p}, listErr
	}
	return done("/results/rules", "ruleSaved")
}

func (c *Console) saveRuleOfResult(v *visit) (answer, error) {
	form := c.readForm(v)
	_, err := c.Rules.SaveRule(v.Context(), v.who, form.ID, form.config())
	if err == nil {
		return done("/results/rules", "ruleSaved")
	}
	stored, readErr := c.result(v)
	if readErr != nil {
		return answer{}, readErr
	}
	p := c.resultPage(v, stored, form)
	p.One.Preview.Fault = fault.As(err)
	return show("results", p)
}

// switchRule changes the mode of a rule. A built-in rule gets a copy in the store, which
// overrides it.
func (c *Console) switchRule(v *visit) (answer, error) {
	rules, err := c.Rules.ListRules(v.who)
	if err != nil {
		return answer{}, err
	}
	id := v.PathValue("id")
	at := slices.IndexFunc(rules, func(r restapi.Rule) bool { return r.ID == id })
	if at < 0 {
		return answer{}, fault.New(fault.NotFound, "there is no rule %.100q", id)
	}
	form := c.newForm(v)
	form.take(rules[at])
	form.Mode = v.PostForm.Get("mode")
	if _, err := c.Rules.SaveRule(v.Context(), v.who, id, form.config()); err != nil {
		return answer{}, err
	}
	return done("/results/rules", "ruleSwitched")
}

func (c *Console) deleteRule(v *visit) (answer, error) {
	if _, err := c.Rules.DeleteRule(v.Context(), v.who, v.PathValue("id")); err != nil {
		return answer{}, err
	}
	return done("/results/rules", "ruleDeleted")
}
