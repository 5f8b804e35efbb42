package env_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
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
	const want = `{"type":"object","properties":{"thing":{"type":"string","enum":["pen","ink"],"description":"What to buy"},` +
		`"count":{"type":"integer","minimum":0},"price":{"type":"number"},"when":{"type":"string","format":"date-time"},` +
		`"lines":{"type":"array","items":{"type":"object","properties":{"N":{"type":"integer"}},"additionalProperties":false,"required":["N"]}},` +
		`"labels":{"type":"object","additionalProperties":{"type":"boolean"}},"any":{}},"additionalProperties":false,"required":["thing"]}`
	if string(tool.InputSchema) != want {
		t.Errorf("got  %s\nwant %s", tool.InputSchema, want)
	}
	if v, err := tool.Call(t.Context(), nil); v != "" || err != nil { // as a test of one's own may do
		t.Errorf("got %v, %v", v, err)
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

type place struct {
	City string `json:"city"`
	Zip  int    `json:"zip,omitempty"`
}

// Named is embedded under a name.
type Named struct{ N int }

type parcel struct {
	place  // its fields are the parcel's, but for zip
	*Named `json:"named"`
	Zip    string        `json:"zip"`
	From   netip.Addr    `json:"from,omitzero"`
	Link   url.URL       `json:"link,omitzero"`
	Raw    *big.Int      `json:"raw"`
	File   []byte        `json:"file,omitempty"`
	Size   [2]int        `json:"size,omitzero"`
	Wait   time.Duration `json:"wait,omitempty"`
	Number int           `json:"number,omitempty,string"`
	Class  int           `json:"class,omitempty" enum:"1,2"`
	Tags   []string      `json:"tags,omitempty" enum:"a,b" doc:"one or more"`
}

func TestEveryFieldIsShownAsItIsRead(t *testing.T) {
	var got parcel
	tool := env.NewTool("send", "", func(_ context.Context, in parcel) (any, error) {
		got = in
		return "sent", nil
	})
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"city": `{"type":"string"}`, "zip": `{"type":"string"}`, "from": `{"type":"string"}`,
		"named": `{"type":"object","properties":{"N":{"type":"integer"}},"additionalProperties":false,"required":["N"]}`,
		"raw":   `{}`, "file": `{"type":"string","contentEncoding":"base64"}`,
		"size": `{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}`, "wait": `{"type":"integer"}`, "number": `{"type":"string"}`,
		"class": `{"type":"integer","enum":[1,2]}`,
		"tags":  `{"type":"array","items":{"type":"string","enum":["a","b"]},"description":"one or more"}`,
	} {
		if string(schema.Properties[name]) != want {
			t.Errorf("%s: got %s, want %s", name, schema.Properties[name], want)
		}
	}
	if fmt.Sprint(schema.Required) != "[city zip]" {
		t.Errorf("required are %v", schema.Required)
	}
	s := legacy(t, plain{tools: []env.Tool{tool}}, nil)
	const args = `{"city":"上海","zip":"200000","named":{"N":1},"from":"::1","raw":123456789012345678901234567890,"file":"aGk=","size":[1,2],"wait":5,"number":"7","class":2,"tags":["a"]}`
	if a := s.call("send", args); a.IsError {
		t.Fatalf("got %v", a)
	}
	if got.City != "上海" || got.Zip != "200000" || got.N != 1 || got.From.String() != "::1" ||
		got.Raw.String() != "123456789012345678901234567890" ||
		string(got.File) != "hi" || got.Size[1] != 2 || got.Number != 7 || got.Class != 2 {
		t.Errorf("got %+v", got)
	}
	for _, args := range []string{`{"city":"a","zip":"b","class":3}`, `{"city":"a","zip":"b","tags":["c"]}`,
		`{"city":"a","zip":"b","size":[1]}`, `{"city":"a","zip":"b","from":"nowhere"}`} {
		if a := s.call("send", args); !a.IsError {
			t.Errorf("%s: got %v", args, a)
		}
	}
}

type loop struct{ Next []*loop }

type inside struct{ *inside }

type left struct{ Side string }
type right struct{ Side string }
type twins struct {
	left
	right
}

type tree map[string]tree
type nest []*nest

func TestTypesWithoutASchemaPanic(t *testing.T) {
	for name, makes := range map[string]func(){
		"a type that holds itself": func() { env.NewTool("x", "", func(context.Context, loop) (any, error) { return nil, nil }) },
		"a map that holds itself":  func() { env.NewTool("x", "", func(context.Context, tree) (any, error) { return nil, nil }) },
		"a list that holds itself": func() {
			env.NewTool("x", "",
				func(context.Context, struct{ L nest }) (any, error) { return nil, nil })
		},
		"a channel": func() {
			env.NewTool("x", "", func(context.Context, struct{ C chan int }) (any, error) { return nil, nil })
		},
		"a map by numbers": func() {
			env.NewTool("x", "",
				func(context.Context, map[int]int) (any, error) { return nil, nil })
		},
		"an embedded type that holds itself": func() {
			env.NewTool("x", "",
				func(context.Context, inside) (any, error) { return nil, nil })
		},
		"an enum of fractions": func() {
			env.NewTool("x", "", func(context.Context, struct {
				F float64 `enum:"1.5"`
			}) (any, error) {
				return nil, nil
			})
		},
		"an enum that is no number": func() {
			env.NewTool("x", "", func(context.Context, struct {
				N int `enum:"one"`
			}) (any, error) {
				return nil, nil
			})
		},
		"a name that is there twice": func() { env.NewTool("x", "", func(context.Context, twins) (any, error) { return nil, nil }) },
		"no struct": func() {
			env.NewTool("x", "",
				func(context.Context, json.RawMessage) (any, error) { return nil, nil })
		},
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
