package console

import (
	"slices"
	"sync"

	"github.com/toolfit/toolfit/internal/core/project"
	"github.com/toolfit/toolfit/internal/core/project/fields"
	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// maxTrees is how many field trees are held: one for each person who is choosing fields.
const maxTrees = 16

// trees holds the field trees of the results that were looked at last. A kept result never
// changes, and every tick needs its tree again. The zero value is ready.
type trees struct {
	mu   sync.Mutex
	last []heldTree // the newest last
}

type heldTree struct {
	call, ref string
	tree      *fields.Node // read-only
}

// of is the tree of a result that the person may read.
func (t *trees) of(kept restapi.Result) *fields.Node {
	same := func(h heldTree) bool { return h.call == kept.Call && h.ref == kept.Ref }
	t.mu.Lock()
	if i := slices.IndexFunc(t.last, same); i >= 0 {
		held := t.last[i]
		t.last = append(slices.Delete(t.last, i, i+1), held)
		t.mu.Unlock()
		return held.tree
	}
	t.mu.Unlock()
	tree := fields.Of(project.Values(kept.Result)...) // a large one takes its time
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(slices.DeleteFunc(t.last, same), heldTree{kept.Call, kept.Ref, tree})
	if over := len(t.last) - maxTrees; over > 0 {
		t.last = slices.Delete(t.last, 0, over)
	}
	return tree
}
