package recall

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/state/config"
	"github.com/toolfit/toolfit/schema"
)

// form is how the parameters of a tool are shown.
type form struct {
	bound   map[string]bool // hidden parameters
	dialect schema.Dialect
}

// dialect returns the dialect in which callers see parameters.
func (s *Service) dialect() schema.Dialect {
	if s.recall.Dialect == config.RecallDialect {
		return schema.Inlined
	}
	return schema.Dialect(s.recall.Dialect)
}

// plainForm is for callers that do not use our proxy.
var plainForm = form{dialect: schema.Inlined}

// told is a tool's parameters in a form.
type told struct {
	parameters raw
	strict     bool
	back       *schema.Result  // maps arguments back from the dialect; nil if not needed
	report     []schema.Change // what happened to references
}

// inForm converts a schema: without references, without bound properties, then in the dialect. A
// missing schema takes no arguments.
func (s *Service) inForm(in raw, f form) (told, error) {
	if rawjson.IsNull(in) {
		in = nil
	}
	plan, err := s.plans.Plan(in, schema.Inlined)
	if err != nil {
		return told{}, err
	}
	out := told{parameters: plan.Parameters, report: plan.Report}
	if len(f.bound) > 0 {
		out.parameters = without(out.parameters, f.bound)
	}
	if f.dialect == schema.Inlined {
		return out, nil
	}
	out.back, err = s.plans.Plan(out.parameters, f.dialect)
	if err != nil {
		return told{}, err
	}
	out.parameters = out.back.Parameters
	out.strict = out.back.Strict
	return out, nil
}

// tell is inForm for a response: it updates metrics and logs what is missing.
func (s *Service) tell(name string, in raw, f form) (told, error) {
	out, err := s.inForm(in, f)
	if err != nil {
		s.Metrics.converted("failed")
		return told{}, &problem{status: http.StatusInternalServerError, code: convertFailed,
			details: details{"tool": clipped(name), "reason": ours(err.Error())}, cause: err}
	}
	outcome := "ok"
	for _, change := range out.report {
		if change.Kind == schema.MissingRef {
			outcome = "degraded"
			_, lost, _ := strings.Cut(strings.TrimSuffix(change.Action, " is not there"), ": ")
			s.Logger.Warn("MCP schema definition not found: "+lost, "tool", name, "at", change.Pointer)
		}
	}
	s.Metrics.converted(outcome)
	return out, nil
}

// convert writes a schema without references.
func (s *Service) convert(name string, in raw) (raw, error) {
	out, err := s.tell(name, in, plainForm)
	return out.parameters, err
}

// promised returns the output schema without references; nil if it is unreadable.
func (s *Service) promised(name string, out raw) raw {
	if rawjson.IsNull(out) || !bytes.Contains(out, []byte(`Ref"`)) && !bytes.Contains(out, []byte(`ref"`)) {
		return given(out)
	}
	plan, err := s.plans.Plan(out, schema.Inlined)
	if err != nil {
		s.Logger.Warn("what the tool says of its results cannot be read", "tool", name, "error", err)
		return nil
	}
	return plan.Parameters
}

// without removes properties from a schema, its parts and their required lists.
func without(in raw, names map[string]bool) raw {
	return filtered(in, func(key string, value raw) raw {
		switch key {
		case "properties":
			return filtered(value, func(name string, value raw) raw { return unless(names[name], value) })
		case "required":
			list := filtered(value, func(_ string, value raw) raw {
				text, _ := rawjson.String(value)
				return unless(names[text], value)
			})
			return unless(string(list) == "[]", list) // some readers refuse an empty list
		case "allOf", "anyOf", "oneOf":
			return filtered(value, func(_ string, part raw) raw { return without(part, names) })
		}
		return value
	})
}

func unless(drop bool, value raw) raw {
	if drop {
		return nil
	}
	return value
}

// filtered replaces each member of an object or element of an array by the result of change;
// nil removes it. Other values are unchanged.
func filtered(in raw, change func(key string, value raw) raw) raw {
	switch kindOf(in) {
	case "object":
		out := []byte{'{'}
		for w := rawjson.Object(in); w.Next(); {
			if value := change(string(w.Key), w.Value); value != nil {
				out = member(out, string(w.Key), value)
			}
		}
		return append(out, '}')
	case "array":
		var list []raw
		for w := rawjson.Array(in); w.Next(); {
			if value := change("", w.Value); value != nil {
				list = append(list, value)
			}
		}
		return instances(nil, list)
	}
	return in
}

// member appends a member to an unfinished object.
func member(dst []byte, key string, value raw) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(rawjson.AppendString(dst, key), ':'), value...)
}
