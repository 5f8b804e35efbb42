// Package suggest learns from recorded calls which fields of a tool's results are needed,
// and proposes a mask. It only proposes: a person decides. What a field was used for is
// seen in later arguments and fetches of the same conversation; what a model told its user
// is not seen, so that names which people ask for are kept even when nobody used them.
//
//	for _, p := range suggest.Propose("cloud__envQuery", conversations, nil) {
//		fmt.Println(p.Keep, p) // saves 89 %, would have hidden 0 values that were used later (143 conversations)
//	}
package suggest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
)

// Call is one recorded call.
type Call struct {
	Tool    tool.Name
	Args    []byte   // raw JSON
	Result  []byte   // the full result
	Fetched []string // masks with which more of this result was fetched later
}

// Conversation is the calls of one session, in order.
type Conversation []Call

// Stage is how strong the evidence for a proposal is.
type Stage string

const (
	Watch   Stage = "watch"   // too few conversations
	Shadow  Stage = "propose" // may run in shadow
	OfferOn Stage = "offer"   // may be switched on
)

// Zero misses in n conversations bound the true rate to about 3/n: 15 % and 5 %.
const (
	LeastPropose = 20
	leastOffer   = 60
)

// leastSaved is the share of tokens below which a rule is not worth its note.
const leastSaved = .2

// Options change what is proposed. The zero value is usable.
type Options struct {
	Inputs []string // names of arguments that tools of the same server take; ids of such names are kept
}

// Proposal is a rule supported by the recorded calls.
type Proposal struct {
	Tool          tool.Name
	When          map[string]any // the argument that distinguishes these calls; nil: all calls
	Keep          string         // the mask
	Stage         Stage
	Conversations int // replayed
	Full, Sent    int // tokens of their results, estimated
	Hidden        int // values that were used later and would have been hidden
	Missed        int // conversations in which that would have happened
	HeldOut       int // the same, with each half judged by what was learned from the other
	Fields        []Field
	DropsText     string // the longest text that the mask drops, which may be what the results are about; "": none
}

// Field says why a part of the results is kept or dropped.
type Field struct {
	Path  string
	Kept  bool
	Share float64 // of the bytes
	Why   string
}

// Saved returns the share of tokens saved.
func (p Proposal) Saved() float64 { return 1 - float64(p.Sent)/float64(max(1, p.Full)) }

func (p Proposal) String() string {
	values := "values that were"
	conversations := "conversations"
	if p.Hidden == 1 {
		values = "value that was"
	}
	if p.Conversations == 1 {
		conversations = "conversation"
	}
	return fmt.Sprintf("saves %.0f %%, would have hidden %d %s used later (%d %s)", 100*p.Saved(), p.Hidden, values,
		p.Conversations, conversations)
}

// Carries reports whether the evidence is strong enough for the mode.
func (s Stage) Carries(m project.Mode) bool {
	return s == OfferOn || s == Shadow && m != project.On
}

// None says why there is no proposal for calls of a tool.
type None struct {
	Tool tool.Name
	When map[string]any // the argument that distinguishes these calls; nil: all calls
	Why  string
}

// Propose finds masks for a tool's results: one, or one per value of an argument that decides their
// form. Where there is none, it says why.
func Propose(name tool.Name, all []Conversation, opts *Options) (proposals []Proposal, none []None) {
	if opts == nil {
		opts = &Options{}
	}
	samples, why := collect(name, all)
	if len(samples) == 0 {
		return nil, []None{{name, nil, why}}
	}
	argument, groups := split(samples)
	for _, g := range groups {
		p := Proposal{Tool: name, Conversations: conversations(g.samples)}
		if argument != "" {
			p.When = map[string]any{argument: g.value}
		}
		l, why := learn(g.samples, opts)
		if why == "" {
			p.replay(l, g.samples, opts)
			if p.Saved() >= leastSaved {
				proposals = append(proposals, p)
				continue
			}
			why = fmt.Sprintf("a rule would save only %.0f %%", 100*max(0, p.Saved()))
		}
		none = append(none, None{name, p.When, why})
	}
	return proposals, none
}

// replay tries what was learned on the samples.
func (p *Proposal) replay(l learned, samples []sample, opts *Options) {
	p.Keep = l.keep
	p.Fields = l.fields
	p.DropsText = l.text
	r := replay(l.mask, samples)
	p.Full = r.full
	p.Sent = r.sent
	p.Hidden = r.hidden
	p.Missed = r.missed
	p.HeldOut = heldOut(samples, opts)
	p.Stage = stage(*p)
}

func stage(p Proposal) Stage {
	switch {
	case p.Conversations < LeastPropose || p.Missed > 0:
		return Watch
	case p.Conversations < leastOffer || p.HeldOut > 0 || p.DropsText != "": // what a model reads of a text leaves no trace
		return Shadow
	}
	return OfferOn
}

func conversations(samples []sample) int {
	seen := map[int]bool{}
	for _, s := range samples {
		seen[s.conversation] = true
	}
	return len(seen)
}

// group is the samples of calls that have the same value of an argument.
type group struct {
	value   string
	samples []sample
}

// maxKinds limits the values of an argument that distinguishes kinds of calls.
const maxKinds = 8

// split finds the argument that decides the form of the results; "" and one group when there is none.
func split(samples []sample) (argument string, groups []group) {
	best := 1
	for name := range arguments(samples) {
		kinds := map[string][]sample{}
		forms := map[string]bool{}
		for _, s := range samples {
			v, ok := rawjson.String(rawjson.Get(s.args, name))
			if !ok {
				kinds = nil
				break
			}
			kinds[v] = append(kinds[v], s)
		}
		if len(kinds) < 2 || len(kinds) > maxKinds {
			continue
		}
		for _, g := range kinds {
			forms[commonForm(g)] = true
		}
		if len(forms) < best || len(forms) == best && (best == 1 || name > argument) {
			continue // of two that tell as many forms the first by name, for the same answer each time
		}
		best = len(forms)
		argument = name
		groups = nil
		for v, g := range kinds {
			groups = append(groups, group{v, g})
		}
	}
	if argument == "" {
		return "", []group{{samples: samples}}
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.value, b.value) })
	return argument, groups
}

func arguments(samples []sample) map[string]bool {
	names := map[string]bool{}
	for _, s := range samples {
		for w := rawjson.Object(s.args); w.Next(); {
			names[string(w.Key)] = true
		}
	}
	return names
}

// commonForm is the names that most of the results have at their root.
func commonForm(samples []sample) string {
	count := map[string]int{}
	form := ""
	for _, s := range samples {
		var names []string
		for w := rawjson.Object(s.body); w.Next(); {
			names = append(names, string(w.Key))
		}
		slices.Sort(names)
		f := fmt.Sprintf("%c%q", s.body[0], names)
		count[f]++
		if count[f] > count[form] || count[f] == count[form] && f < form {
			form = f
		}
	}
	return form
}
