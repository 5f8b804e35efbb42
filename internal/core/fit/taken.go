package fit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
)

// Taken is what a tool has taken although its schema lists other values: the list is behind the
// server. It is learned from calls under light validation, which does not check lists, and is safe
// for concurrent use. Nil has nothing.
type Taken struct {
	mu     sync.RWMutex
	values map[takenValue]bool
}

const (
	maxTaken     = 64  // values of one tool
	maxTakenText = 100 // bytes of one
)

func (k *Taken) empty() bool {
	if k == nil {
		return true
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.values) == 0
}

func (k *Taken) has(t *tape, i int32) bool {
	if k.empty() {
		return false
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.values[valueAt(t, i)]
}

func (k *Taken) add(t *tape, list []int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values == nil {
		k.values = map[takenValue]bool{}
	}
	for _, i := range list {
		if len(k.values) < maxTaken {
			k.values[valueAt(t, i)] = true
		}
	}
}

// takenValue is a value and its place, where all items of an array are in the same.
type takenValue struct{ place, text string }

func valueAt(t *tape, i int32) takenValue {
	v := takenValue{text: t.text(i)}
	for ; t.tokens[i].parent >= 0; i = t.tokens[i].parent {
		name := "*"
		if t.tokens[i].keyEnd > 0 {
			name = jsonschema.EscapeToken(t.name(i))
		}
		v.place = "/" + name + v.place
	}
	return v
}

// isTaken reports whether value i is accepted without being listed. While learning, every text is that
// might as well be listed.
func (c *checker) isTaken(s *shape, i int32) bool {
	tok := &c.t.tokens[i]
	if tok.kind != isString || !c.learning && !c.taken.has(c.t, i) {
		return false
	}
	if c.learning {
		text := c.t.text(i)
		texts := 0
		for _, l := range s.enum {
			if l.kind == isString {
				texts++
			}
			if strings.EqualFold(l.text, text) {
				return false // which is repaired
			}
		}
		if texts < 2 || len(text) > maxTakenText {
			return false
		}
	}
	c.unlisted = append(c.unlisted, i)
	return true
}

// Took notes that the tool has accepted the arguments.
func (t *Tool) Took(ctx context.Context, args json.RawMessage) {
	if t.opts.Taken == nil || t.opts.Validation != Light {
		return
	}
	d := t.schema.read()
	checked := d.tapes.Get().(*tape)
	fits := false
	if checked.read(args) == nil {
		fits, _ = check(ctx, d.place, checked, false)
	}
	d.release(checked)
	if fits {
		return // as almost always
	}
	tp, list := t.unlisted(ctx, args, true)
	list = slices.DeleteFunc(list, func(i int32) bool { return t.opts.Taken.has(tp, i) })
	if len(list) > 0 {
		t.opts.Taken.add(tp, list)
	}
}

// unlisted returns the values that only fit because the tool takes them; while learning, those that
// would fit then.
func (t *Tool) unlisted(ctx context.Context, args json.RawMessage, learning bool) (*tape, []int32) {
	tp := &tape{}
	if tp.read(args) != nil {
		return tp, nil
	}
	c := checker{budget: newBudget(ctx, len(args)), t: tp, taken: t.opts.Taken, learning: learning}
	if !c.all(t.schema.read().place, 0) {
		return tp, nil
	}
	return tp, c.unlisted
}

// warned adds which arguments the schema does not list.
func (t *Tool) warned(ctx context.Context, res Result) Result {
	if t.opts.Taken.empty() || t.opts.Validation == Light || len(res.Args) == 0 {
		return res
	}
	tp, unlisted := t.unlisted(ctx, res.Args, false)
	for _, i := range unlisted {
		text := fmt.Sprintf("%s: the tool does not list %s, but has taken it before", cut(tp.pointer(i), 4*maxText), got(tp, i))
		if !slices.Contains(res.Warn, text) {
			res.Warn = append(res.Warn, text)
		}
	}
	return res
}
