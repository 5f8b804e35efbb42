package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
)

func TestBackTakesArgumentsAsModelsSendThem(t *testing.T) {
	res := mustPlan(t, `{"type":"object","properties":{"a":{"type":"string"},"j":{},"m":{"type":"object","additionalProperties":{"enum":[1,2]}}}}`, GeminiParams, nil)
	for _, c := range []struct{ name, in, want, fails string }{
		{"nothing is an empty object", ``, `{}`, ""},
		{"null is an empty object", ` null `, `{}`, ""},
		{"an object that was encoded twice", `"{\"a\":\"x\"}"`, `{"a":"x"}`, ""},
		{"unknown keys are kept", `{"z":1.0,"a":"x"}`, `{"z":1.0,"a":"x"}`, ""},
		{"a value of another kind is left to validation", `{"m":5,"a":[]}`, `{"m":5,"a":[]}`, ""},
		{"steps inside steps", `{"m":[{"key":"k","value":"2"}],"j":"{\"x\":9007199254740993}"}`, `{"m":{"k":2},"j":{"x":9007199254740993}}`, ""},
		{"no JSON", `{"a":`, "", "/"},
		{"no object", `[1]`, "", "/"},
		{"plain words where any value may stand are a string", `{"j":"hello"}`, `{"j":"hello"}`, ""},
		{"text that is broken JSON", `{"j":"{\"x\":"}`, "", "/j"},
		{"text as Python writes it", `{"j":"{'x': [None, True,]}"}`, `{"j":{"x":[null,true]}}`, ""},
		{"text that ends too early", `{"j":"{'x': 'y'"}`, "", "/j"},
		{"text that can be read in two ways", `{"j":"['x' 'y']"}`, "", "/j"},
		{"a key twice", `{"m":[{"key":"k","value":"1"},{"key":"k","value":"2"}]}`, "", "/m"},
		{"a pair without a value", `{"m":[{"key":"k"}]}`, "", "/m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := res.Back([]byte(c.in))
			var e *Error
			switch {
			case c.fails == "" && (err != nil || string(got) != c.want):
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			case c.fails != "" && (!errors.As(err, &e) || e.Reason != BadArguments || e.Pointer != strings.TrimSuffix(c.fails, "/")):
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestBackNamesWhatItUndid(t *testing.T) {
	res := mustPlan(t, `{"type":"object","properties":{"$a":{"type":"object","additionalProperties":{"type":"string"}}}}`, GeminiParams, nil)
	_, fixes, err := res.Back([]byte(`{"a":[{"key":"k","value":"v"}]}`))
	if want := []Fix{{"/a", "rename"}, {"/a", "pairs"}}; err != nil || len(fixes) != 2 || fixes[0] != want[0] || fixes[1] != want[1] {
		t.Errorf("got %v, %v", fixes, err)
	}
}

func TestAStoredPlanLeadsTheSameWayBack(t *testing.T) {
	in := `{"type":"object","description":"a < b","properties":{"v":{"anyOf":[{"type":"object","properties":{"m":{"enum":[1]}},"required":["m"]},{"type":"array","items":{"enum":[true]}}]},"n":{"$ref":"#/properties/v"}}}`
	res := mustPlan(t, in, GeminiParams, nil)
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	var again Result
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(res.Parameters, again.Parameters) {
		t.Errorf("the parameters changed to %s", again.Parameters)
	}
	args := []byte(`{"v":{"m":"1"},"n":["true"]}`)
	one, _, err := res.Back(args)
	two, _, err2 := again.Back(args)
	if err != nil || err2 != nil || !bytes.Equal(one, two) || string(one) != `{"v":{"m":1},"n":[true]}` {
		t.Errorf("got %s, %v and %s, %v", one, err, two, err2)
	}
}

func TestPlansAreTheSameEachTimeAndLeaveTheInputAlone(t *testing.T) {
	all := references()
	for _, name := range []string{"diamond", "cross", "manyto"} {
		in := all[name]
		for _, d := range []Dialect{OpenAI, OpenAIStrict, GeminiParams, Inlined} {
			raw := []byte(in)
			one, err := Plan(raw, d, nil)
			two, err2 := Plan(raw, d, nil)
			if string(raw) != in {
				t.Fatalf("%s, %s: the input was changed", name, d)
			}
			if err != nil || err2 != nil {
				continue
			}
			x, _ := json.Marshal(one)
			y, _ := json.Marshal(two)
			if !bytes.Equal(x, y) {
				t.Errorf("%s, %s: two plans differ", name, d)
			}
		}
	}
}

func TestNamesFitAndLeadBack(t *testing.T) {
	var list []Named
	long := strings.Repeat("x", 64)
	for i := range 100 {
		list = append(list, Named{"s", long + itoa(i)}, Named{"s", "get contents" + strings.Repeat("!", i)})
	}
	list = append(list, Named{"a", "search"}, Named{"b", "search"}, Named{"a", "1st"}, Named{"a", "fine"})
	names := FitNames(list)
	fits := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	for i, n := range list {
		shown := names.Shown(i)
		if back, ok := names.Back(shown); !ok || back != n || !fits.MatchString(shown) {
			t.Errorf("%v is shown as %q, which leads to %v", n, shown, back)
		}
	}
	if names.Shown(len(list)-1) != "fine" {
		t.Errorf("a name that fits was changed to %q", names.Shown(len(list)-1))
	}
}
