package upstream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestClientsOfEqualAbilitiesAreAlike(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"none":                             {`{}`, `{}`},
		"absent":                           {``, `{}`},
		"what is no question is left out":  {`{"experimental":{"x":1},"sampling":{}}`, `{"sampling":{}}`},
		"order and unknown parts do not":   {`{"sampling":{"tools":{"n":1},"z":2},"elicitation":{"url":{},"form":{}}}`, `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}}}`},
		"a list that says when it changes": {`{"roots":{"listChanged":true}}`, `{"roots":{"listChanged":true}}`},
		"a list that does not":             {`{"roots":{"listChanged":false}}`, `{"roots":{}}`},
		"an ability that is none":          {`{"roots":null,"sampling":true}`, `{}`},
		"extensions, but for tasks":        {`{"extensions":{"b":{"y":1, "x":[]},"io.modelcontextprotocol/tasks":{},"a":{}}}`, `{"extensions":{"a":{},"b":{"x":[],"y":1}}}`},
		"numbers as they are written":      {`{"extensions":{"a":{"n":9007199254740993,"x":1.0}}}`, `{"extensions":{"a":{"n":9007199254740993,"x":1.0}}}`},
		"an extension for tasks alone":     {`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, `{}`},
		"too many extensions":              {`{"extensions":{"a":{"x":"` + strings.Repeat("x", maxExtensions) + `"}}}`, `{}`},
	} {
		if got := askable(json.RawMessage(c.in)); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestQuestionsAreCountedByCaller(t *testing.T) {
	var q questions
	for i := range maxAsksOfOne {
		if !q.take("greedy") {
			t.Fatalf("question %d was refused", i)
		}
	}
	if q.take("greedy") || !q.take("modest") {
		t.Error("one caller's questions count for another")
	}
	q.leave("greedy")
	if !q.take("greedy") {
		t.Error("an answered question still counts")
	}
	for i := 0; q.take(fmt.Sprint(i / 10)); i++ {
	}
	if q.open != maxAsks || q.take("late") {
		t.Errorf("%d questions are open", q.open)
	}
}
