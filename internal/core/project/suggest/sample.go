package suggest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/base/tool"
	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/mask"
)

// sample is one result of the tool, in its conversation.
type sample struct {
	conversation int
	body         []byte
	args         []byte
	call         int    // its place in the conversation
	given        *given // of the conversation
	fetched      []*mask.Mask
	parts        []string // values given soon after that are only found inside of its texts
}

// uses visits what of a leaf the arguments of later calls have, and none before had.
func (s *sample) uses(leaf []byte, visit func(value string)) {
	v := valueOf(leaf)
	if first, ok := s.given.first[v]; ok && first > s.call {
		visit(v)
	}
	if len(s.parts) == 0 || leaf[0] != '"' {
		return
	}
	text, _ := rawjson.String(leaf)
	for _, part := range s.parts {
		if strings.Contains(text, part) {
			visit(part)
		}
	}
}

// findParts finds the values that are given soon after and are in the result only as parts of texts.
func (s *sample) findParts() {
	var open []string
	for _, marks := range s.given.marks[s.call+1 : min(len(s.given.marks), s.call+1+soon)] {
		for _, v := range marks {
			quoted := rawjson.AppendString(nil, v)
			if bytes.Contains(s.body, quoted[1:len(quoted)-1]) {
				open = append(open, v)
			}
		}
	}
	if len(open) == 0 {
		return
	}
	whole := map[string]bool{}
	leaves(s.body, nil, func(_ [][]byte, leaf []byte) { whole[valueOf(leaf)] = true })
	s.parts = slices.DeleteFunc(open, func(v string) bool { return whole[v] })
}

const noResult = "none of its results is stored"

// collect collects the tool's results from the conversations. If there are none, why says so.
func collect(name tool.Name, all []Conversation) (samples []sample, why string) {
	why = noResult
	for i, c := range all {
		var g *given
		for k, call := range c {
			switch {
			case call.Tool != name || len(call.Result) == 0:
				continue
			case string(rawjson.Get(call.Result, "isError")) == "true":
				if why == noResult {
					why = "all its stored results are errors"
				}
				continue
			}
			body := together(project.Values(call.Result)) // what a rule would cut
			if len(body) == 0 || body[0] != '{' && body[0] != '[' {
				why = "its results are not JSON: only a budget can cut them"
				continue
			}
			if g == nil {
				g = givenIn(c)
			}
			s := sample{conversation: i, body: body, args: call.Args, call: k, given: g}
			s.findParts()
			for _, src := range call.Fetched {
				if m, err := mask.Parse(src); err == nil {
					s.fetched = append(s.fetched, m)
				}
			}
			samples = append(samples, s)
		}
	}
	return samples, why
}

// together merges values into one array: a list is often written as one text per row.
func together(values [][]byte) []byte {
	switch len(values) {
	case 0:
		return nil
	case 1:
		return values[0]
	}
	return project.Rows(values)
}
