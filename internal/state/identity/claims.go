package identity

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// text is a claim that is a text; "" if it is none.
func (c claims) text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

// subject is a claim that tells people apart. Those that we are told to use may be whole numbers.
func (c claims) subject(name string) string {
	if name != "sub" && whole.Match(c[name]) {
		return string(c[name])
	}
	return c.text(name)
}

var whole = regexp.MustCompile(`^[1-9][0-9]*$`)

// texts is a claim that is a text or a list of texts.
func (c claims) texts(name string) []string {
	list, _ := texts(c[name])
	return list
}

func texts(raw json.RawMessage) (list []string, ok bool) {
	if raw == nil {
		return nil, false
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, true
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	return list, true
}

// time is a claim that is a number of seconds; zero if there is none.
func (c claims) time(name string) (time.Time, error) {
	raw, ok := c[name]
	if !ok {
		return time.Time{}, nil
	}
	var seconds float64
	if err := json.Unmarshal(raw, &seconds); err != nil || string(raw) == "null" || math.Abs(seconds) > 1e11 {
		return time.Time{}, errors.New("not a time")
	}
	return time.UnixMilli(int64(seconds * 1000)), nil
}

// name is what people call who the token is about. It decides nothing.
func (c claims) name() string {
	for _, claim := range []string{"name", "preferred_username", "email", "upn", "login"} {
		if s := c.text(claim); s != "" && len(s) <= 200 {
			return s
		}
	}
	return ""
}

// client is the program that got the token: cid is Okta's name for it, appid that of older tokens of Entra.
func (c claims) client() string {
	for _, claim := range []string{"azp", "client_id", "cid", "appid"} {
		if s := c.text(claim); s != "" {
			return s
		}
	}
	return ""
}

// scopes are in scope or scp, as one text or a list.
func (c claims) scopes() []string {
	var all []string
	for _, name := range []string{"scope", "scp"} {
		for _, s := range c.texts(name) {
			all = append(all, strings.Fields(s)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// groups are at a path, which goes through lists. A name with dots, such as a URL, is one claim where there is
// such a claim.
func (c claims) groups(path string) ([]string, error) {
	var left map[string]json.RawMessage
	if json.Unmarshal(c["_claim_names"], &left) == nil && left[path] != nil {
		return nil, fault.New(fault.Forbidden, "the token leaves out the groups of %s, because they are too many", c.text("sub")).
			WithHint("let the provider send only the groups of this application, or roles, and name that claim in groups")
	}
	if raw := c[path]; raw != nil {
		list, _ := texts(raw)
		return list, nil
	}
	return c.at(path), nil
}

// at are the texts at a path.
func (c claims) at(path string) []string {
	first, rest, more := strings.Cut(path, ".")
	raw := c[first]
	if !more {
		list, _ := texts(raw)
		return list
	}
	var inner claims
	if json.Unmarshal(raw, &inner) == nil {
		return inner.at(rest)
	}
	var several []claims
	json.Unmarshal(raw, &several) // else there are none
	var all []string
	for _, one := range several {
		all = append(all, one.at(rest)...)
	}
	return all
}
