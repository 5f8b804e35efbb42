package console

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

func TestTreesAreHeldForTheLastResultsAlone(t *testing.T) {
	var held trees
	result := func(i int) restapi.Result {
		return restapi.Result{Call: fmt.Sprint("c_", i), Ref: "r_1", Result: json.RawMessage(fmt.Sprintf(`{"structuredContent":{"a%d":1}}`, i))}
	}
	first := held.of(result(0))
	for i := range 3 * maxTrees {
		if tree := held.of(result(i)); tree.Children[0].Name != fmt.Sprint("a", i) || held.of(result(i)) != tree {
			t.Fatalf("the tree of %d is of %s, or made twice", i, tree.Children[0].Name)
		}
		if i > 0 && i < maxTrees && held.of(result(0)) != first {
			t.Fatal("the tree of a result that is looked at was forgotten")
		}
	}
	if len(held.last) != maxTrees {
		t.Errorf("%d trees are held", len(held.last))
	}
}
