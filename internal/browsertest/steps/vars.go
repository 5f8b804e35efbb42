package steps

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolfit/toolfit/internal/base/doctree"
	"github.com/toolfit/toolfit/internal/base/secret"
)

// Vars are the variables of a run. Values that come from the environment are secrets.
type Vars struct {
	values  map[string]string
	env     func(name string) (string, bool)
	secrets []string
	finder  *secret.Finder // of the secrets; nil for none
}

// NewVars makes variables of layers; later ones win. Env looks up ${env:NAME}; nil for none.
func NewVars(env func(name string) (string, bool), layers ...map[string]string) *Vars {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	return &Vars{values: merged(layers...), env: env}
}

// merged is one map of several; the later ones win.
func merged(layers ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, l := range layers {
		maps.Copy(out, l)
	}
	return out
}

var (
	variable     = regexp.MustCompile(`\$?\$\{([^}]*)\}`)
	variableName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_-]*$`)
)

// maxFill limits the depth of values in values, maxValues their number, maxFilled their length.
const (
	maxFill   = 8
	maxValues = 10_000
	maxFilled = 1 << 20
)

// Fill puts values in place of ${name} and ${env:NAME}. $${x} stands for ${x} itself.
func (v *Vars) Fill(text string) (string, error) { return (&filling{Vars: v}).fill(text, 0) }

// filling is one text on its way.
type filling struct {
	*Vars
	count int // of values that were put in, with those inside of others
}

func (f *filling) fill(text string, depth int) (out string, failed error) {
	if depth > maxFill {
		return "", fmt.Errorf("variables name each other in a circle: %.100s", text)
	}
	size := 0
	out = variable.ReplaceAllStringFunc(text, func(m string) string {
		if failed != nil || strings.HasPrefix(m, "$$") {
			return m[1:]
		}
		var value string
		value, failed = f.value(m[2:len(m)-1], depth)
		f.count++
		size += len(value)
		if failed == nil && (f.count > maxValues || size > maxFilled) {
			failed = fmt.Errorf("the variables are too many or too long: %.100s", text)
		}
		return value
	})
	return out, failed
}

func (f *filling) value(name string, depth int) (string, error) {
	if key, found := strings.CutPrefix(name, "env:"); found {
		value, set := f.env(key)
		if !set {
			return "", fmt.Errorf("the environment has no %s", key)
		}
		f.Hide(value)
		return value, nil
	}
	value, known := f.values[name]
	if !known {
		return "", fmt.Errorf("no variable is called %q%s", name, doctree.DidYouMean(name, slices.Sorted(maps.Keys(f.values))))
	}
	return f.fill(value, depth+1)
}

// Set gives a variable a value, which may name others.
func (v *Vars) Set(name, value string) error {
	filled, err := v.Fill(value)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return v.SetText(name, filled)
}

// SetText gives a variable a value as it stands, whatever it holds.
func (v *Vars) SetText(name, text string) error {
	if !variableName.MatchString(name) {
		return fmt.Errorf("%q is no name for a variable", name)
	}
	v.values[name] = strings.ReplaceAll(text, "${", "$${")
	return nil
}
