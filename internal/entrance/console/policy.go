package console

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/toolfit/toolfit/internal/base/locale"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
	"github.com/toolfit/toolfit/internal/state/access"
)

// Policy are the rules about calls.
type Policy interface {
	ListPolicy(ctx context.Context, who access.Principal) (restapi.PolicyList, error)
	ExplainPolicy(ctx context.Context, who access.Principal, in restapi.PolicyQuestion) (restapi.PolicyAnswer, error)
}

func (c *Console) policySection() section {
	return section{name: "policy", path: "/policy", key: "y", may: access.Principal.MayRead, routes: map[string]handler{
		"GET /policy":          page("policy", whole, c.showPolicy),
		"POST /policy/explain": c.explainPolicy,
	}}
}

// ruling is what a rule does, such as "deny" or "limit 20/h", in words.
func ruling(lang locale.Language, says string) string {
	does, how, _ := strings.Cut(says, " ")
	return strings.TrimSpace(cmp.Or(text(lang, "policy.says."+does), plain(does)) + " " + plain(how))
}

type policyPage struct {
	restapi.PolicyList
	May      bool // ask what would be decided
	Profiles []string
	Input    input
	Answer   *restapi.PolicyAnswer // nil: nothing was asked
	Fitted   block
}

func (c *Console) showPolicy(v *visit) (policyPage, error) {
	list, err := c.Policy.ListPolicy(v.Context(), v.who)
	return policyPage{PolicyList: list, May: v.who.MayAdmin(), Profiles: c.Profiles(), Input: input{values: v.PostForm}}, err
}

func (c *Console) explainPolicy(v *visit) (answer, error) {
	form := func(name string) string { return strings.TrimSpace(v.PostForm.Get(name)) }
	q := restapi.PolicyQuestion{Tool: form("tool"), Profile: form("profile"), As: restapi.PolicyCaller{Who: form("who")}}
	if text := form("arguments"); text != "" {
		q.Arguments = json.RawMessage(text)
	}
	if groups := strings.FieldsFunc(form("groups"), func(r rune) bool { return r == ',' || r == ' ' }); len(groups) > 0 {
		q.As.Groups = groups
	}
	found, err := c.Policy.ExplainPolicy(v.Context(), v.who, q)
	p, listErr := c.showPolicy(v)
	if err != nil {
		in, ok := rejected(v, err)
		if !ok {
			return answer{}, err
		}
		p.Input = in
		return answer{page: "policy", data: p}, listErr
	}
	p.Answer = &found
	if found.Fitted != nil {
		p.Fitted = code(text(v.lang, "policy.fitted"), found.Fitted.Arguments)
	}
	return answer{page: "policy", data: p}, listErr
}
