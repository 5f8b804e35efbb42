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

// Rules say what models get of results.
type Rules interface {
	ListRules(who access.Principal) ([]restapi.Rule, error)
	SaveRule(ctx context.Context, who access.Principal, id string, rule []byte) (restapi.Rule, error)
	DeleteRule(ctx context.Context, who access.Principal, id string) (warning string, err error)
}

// ruleList is the rules, and one that is being written.
type ruleList struct {
	Rows  []ruleRow
	Form  ruleForm
	Fault *fault.Error // why the last one was not saved
}

// ruleRow is a rule in the list.
type ruleRow struct {
	restapi.Rule
	When   string
	Way    string
	Text   string // of the way
	Saved  string // "": nothing yet
	Seen   int64  // results that it was for
	Switch bool   // its mode can be changed here
	Own    bool   // it is of the store
	Tone   string
}

// ruleForm is a rule as a person writes it.
type ruleForm struct {
	ID, Tool, When   string
	Way              string // keep, drop or jq
	Expression       string
	Budget, Shape    string
	Mode, Profile    string
	Profiles         []string
	Action           string // where it is sent
	Saved            string // the id under which there is such a rule; "": there is none
	MayJQ, MayChange bool
	Shapes, Modes    []string
}

func (c *Console) listRules(v *visit) (answer, error) {
	return c.rulesPage(v, ruleList{Form: c.newForm(v)})
}

// rulesPage shows the rules. One that the address names is put into the form.
func (c *Console) rulesPage(v *visit, list ruleList) (answer, error) {
	rules, err := c.Gateway.ListRules(v.who)
	if err != nil {
		return answer{}, err
	}
	edit := v.URL.Query().Get("edit")
	for _, r := range rules {
		if edit != "" && r.ID == edit && r.Source != restapi.FromFile && list.Form.Saved == "" {
			list.Form.take(r)
		}
		list.Rows = append(list.Rows, rowOf(r, v.who.MayAdmin()))
	}
	p := resultsTab(v, "rules")
	p.Rules = &list
	return show("results", p)
}

func rowOf(r restapi.Rule, admin bool) ruleRow {
	row := ruleRow{Rule: r, Own: r.Source == restapi.FromStore, Switch: admin && r.Source != restapi.FromFile}
	row.Way, row.Text = wayOf(r)
	if len(r.When) > 0 {
		row.When = compact(r.When)
	}
	n := r.Counts
	row.Seen = n.Projected + n.Whole + n.Mismatch + n.Failed + n.Shadowed
	if n.TokensFull > 0 {
		row.Saved = share(max(0, ratio(n.TokensFull-n.TokensSent, n.TokensFull)))
	}
	switch r.Mode {
	case project.On:
		row.Tone = "good"
	case project.Shadow:
		row.Tone = "warn"
	}
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

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

func (c *Console) newForm(v *visit) ruleForm {
	return ruleForm{
		Way: "keep", Mode: string(project.On), Profiles: c.Profiles(), Action: c.at("/results/rules"), MayJQ: v.who.MayAdmin(), MayChange: v.who.MayAdmin(),
		Shapes: []string{"off", "json", "table", "auto"}, Modes: []string{"on", "shadow", "off"},
	}
}

// take puts a rule into the form.
func (f *ruleForm) take(r restapi.Rule) {
	f.ID, f.Saved, f.Tool, f.Profile, f.Mode, f.Shape = r.ID, r.ID, r.Tool, r.Profile, string(r.Mode), string(r.Shape)
	f.Way, f.Expression = wayOf(r)
	if f.When = ""; len(r.When) > 0 {
		f.When = compact(r.When)
	}
	if f.Budget = ""; r.Budget > 0 {
		f.Budget = strconv.Itoa(r.Budget)
	}
}

// formFor is the rule that cut a result, where it can be changed here; else a new one.
func (c *Console) formFor(v *visit, kept restapi.Result) ruleForm {
	f := c.newForm(v)
	f.Action = c.at("/results/" + kept.Ref + "/rule")
	f.Tool, f.ID = kept.Tool, restapi.RuleID(kept.Tool)
	rules, _ := c.Gateway.ListRules(v.who) // who may not read them begins with an empty form
	for _, r := range rules {
		if r.ID != kept.Rule || kept.Rule == "" || r.Reason != "" {
			continue
		}
		id, saved := f.ID, f.Saved
		if f.take(r); r.Source == restapi.FromFile { // the file is changed by hand
			f.ID, f.Saved = id, saved
		}
		break
	}
	for n := 2; f.Saved == "" && slices.ContainsFunc(rules, func(r restapi.Rule) bool { return r.ID == f.ID }); n++ {
		f.ID = restapi.RuleID(kept.Tool) + "-" + strconv.Itoa(n)
	}
	return f
}

// readForm is the rule that a person sent.
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

// config is the rule in the keys of the file. What is no JSON goes as text: what is wrong
// with it is for the rules to say.
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

// trial is the rule as it is tried: one that says nothing yet leaves everything.
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
	if _, err := c.Gateway.SaveRule(v.Context(), v.who, form.ID, form.config()); err != nil {
		return c.rulesPage(v, ruleList{Form: form, Fault: fault.As(err)})
	}
	return done("/results/rules", "ruleSaved")
}

func (c *Console) saveRuleOfResult(v *visit) (answer, error) {
	form := c.readForm(v)
	_, err := c.Gateway.SaveRule(v.Context(), v.who, form.ID, form.config())
	if err == nil {
		return done("/results/rules", "ruleSaved")
	}
	kept, readErr := c.Gateway.KeptResult(v.Context(), v.who, v.PathValue("ref"))
	if readErr != nil {
		return answer{}, readErr
	}
	a, pageErr := c.resultPage(v, kept, form)
	if p, ok := a.data.(resultsPage); ok {
		p.One.Preview.Fault = fault.As(err)
	}
	return a, pageErr
}

// switchRule changes the mode of a rule. One that is built in gets a copy in the store, which
// counts before it.
func (c *Console) switchRule(v *visit) (answer, error) {
	rules, err := c.Gateway.ListRules(v.who)
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
	if _, err := c.Gateway.SaveRule(v.Context(), v.who, id, form.config()); err != nil {
		return answer{}, err
	}
	return done("/results/rules", "ruleSwitched")
}

func (c *Console) deleteRule(v *visit) (answer, error) {
	if _, err := c.Gateway.DeleteRule(v.Context(), v.who, v.PathValue("id")); err != nil {
		return answer{}, err
	}
	return done("/results/rules", "ruleDeleted")
}
