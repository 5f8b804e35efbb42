package restapi

import "testing"

func TestAServerThatHoldsOtherToolsIsNews(t *testing.T) {
	one := Server{Held: []string{"a"}, KeptOut: []string{"b"}}
	if !one.like(Server{Held: []string{"a"}, KeptOut: []string{"b"}}) {
		t.Error("the same is news")
	}
	for _, other := range []Server{{Held: []string{"c"}, KeptOut: []string{"b"}}, {Held: []string{"a"}, KeptOut: []string{"c"}},
		{Held: []string{"a"}}} {
		if one.like(other) {
			t.Errorf("%+v is no news", other)
		}
	}
}
