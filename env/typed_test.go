package env_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/toolfit/toolfit/env"
)

type order struct {
	Thing  string            `json:"thing" doc:"What to buy" enum:"pen,ink"`
	Count  uint8             `json:"count,omitempty"`
	Price  *float64          `json:"price"`
	When   time.Time         `json:"when,omitzero"`
	Lines  []struct{ N int } `json:"lines,omitempty"`
	Labels map[string]bool   `json:"labels,omitempty"`
	Any    any               `json:"any,omitempty"`
	hidden int
	Skip   chan int `json:"-"`
}

func TestTheSchemaOfATypedToolIsThatOfItsStruct(t *testing.T) {
	tool := env.NewTool("buy", "Buys", func(_ context.Context, in order) (any, error) {
		in.hidden++
		return in.Thing, nil
	})
	const want = `{"additionalProperties":false,"properties":{"any":{},"count":{"minimum":0,"type":"integer"},` +
		`"labels":{"additionalProperties":{"type":"boolean"},"type":"object"},` +
		`"lines":{"items":{"additionalProperties":false,"properties":{"N":{"type":"integer"}},"required":["N"],"type":"object"},"type":"array"},` +
		`"price":{"type":"number"},"thing":{"description":"What to buy","enum":["pen","ink"],"type":"string"},` +
		`"when":{"format":"date-time","type":"string"}},"required":["thing"],"type":"object"}`
	if string(tool.InputSchema) != want {
		t.Errorf("got  %s\nwant %s", tool.InputSchema, want)
	}
	s := legacy(t, plain{tools: []env.Tool{tool}}, nil)
	if a := s.call("buy", `{"thing":"PEN"}`); a.IsError || a.Content[0].Text != "pen" {
		t.Errorf("got %v", a)
	}
	if a := s.call("buy", `{"thing":"car"}`); !a.IsError {
		t.Errorf("got %v", a)
	}
	if a := s.call("buy", `{"thing":"ink","count":300}`); !a.IsError {
		t.Errorf("a number that the type cannot hold: got %v", a)
	}
}

type loop struct{ Next []*loop }

func TestTypesWithoutASchemaPanic(t *testing.T) {
	for name, makes := range map[string]func(){
		"a type that holds itself": func() { env.NewTool("x", "", func(context.Context, loop) (any, error) { return nil, nil }) },
		"a channel": func() {
			env.NewTool("x", "", func(context.Context, struct{ C chan int }) (any, error) { return nil, nil })
		},
		"a map by numbers": func() { env.NewTool("x", "", func(context.Context, map[int]int) (any, error) { return nil, nil }) },
		"no struct":        func() { env.NewTool("x", "", func(context.Context, json.RawMessage) (any, error) { return nil, nil }) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken", name)
				}
			}()
			makes()
		}()
	}
}
