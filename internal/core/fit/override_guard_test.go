package fit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolfit/toolfit/internal/base/fault"
)

// openMachine takes arguments that it does not name, as many tools do.
const openMachine = `{"type":"object","properties":{"region":{"type":"string"},"size":{"type":"string"},` +
	`"debugMode":{"type":"boolean"},"k":{"type":"string"},` +
	`"note":{"type":"string"},"Note":{"type":"string"}}}`

const restricted = `{"fix":{"region":"eu","note":"x"},"hide":["debugMode","k"],"enum":{"size":["s","m"]},"rename":{"size":"class"}}`

func TestRestrictionsHoldAgainstNamesThatLookAlike(t *testing.T) {
	cases := []struct{ name, args, want string }{ // want: the arguments, or ! and a part of the refusal
		{"what is allowed passes", `{"class":"s","zone":"a"}`, `{"size":"s","zone":"a","note":"x","region":"eu"}`},
		{"another case of a fixed name", `{"Region":"us"}`, `!/Region: unknown argument`},
		{"all of it", `{"REGION":"us"}`, `!/REGION: unknown argument`},
		{"another case in an escape", `{"\u0052egion":"us"}`, `!/Region: unknown argument`},
		{"beside the name itself", `{"region":"eu","regioN":"us"}`, `!/regioN: unknown argument`},
		{"with signs between the words", `{"re_gion":"us"}`, `!/re_gion: unknown argument`},
		{"a hidden name in snake case", `{"debug_mode":true}`, `!/debug_mode: unknown argument`},
		{"with other signs", `{"debug-mode":true,"Debug Mode":true}`, `!/Debug Mode: unknown argument`},
		{"the Kelvin sign is a k", "{\"\u212a\":\"x\"}", `!: unknown argument`},
		{"the long s is an s", `{"\u017fize":"xl"}`, `!: unknown argument`},
		{"the own name of a renamed one", `{"size":"xl"}`, `!/size: unknown argument`},
		{"and that in another case", `{"Size":"xl"}`, `!/Size: unknown argument`},
		{"a fixed one twice", `{"region":"us","region":"us"}`, `!/region: expected one value, got several`},
		{"a hidden one twice", `{"debugMode":true,"debug\u004dode":true}`, `!/debugMode`},
		{"a listed one twice", `{"class":"xl","class":"s"}`, `!/class: expected one value, got several`},
		{"a value that is not left", `{"class":"xl"}`, `!/class`},
		{"an own property of nearly the same name is its own", `{"Note":"mine"}`, `{"Note":"mine","note":"x","region":"eu"}`},
		{"arguments in a string", `"{\"Region\":\"us\"}"`, `!/Region: unknown argument`},
	}
	for _, validation := range []Validation{Strict, Light} {
		for _, c := range cases {
			t.Run(string(validation)+"/"+c.name, func(t *testing.T) {
				def := definition(t, openMachine)
				v, err := override(t, restricted).Apply(def, nil)
				if err != nil {
					t.Fatal(err)
				}
				res, err := compiled(t, openMachine, &Options{Override: v, Validation: validation}).Fit(t.Context(), []byte(c.args))
				part, refused := strings.CutPrefix(c.want, "!")
				switch {
				case refused && (!fault.Is(err, fault.BadArguments) || !strings.Contains(err.Error(), part)):
					t.Errorf("got %s, %v, want %q", res.Args, err, part)
				case !refused && (err != nil || string(res.Args) != c.want):
					t.Errorf("got %s, %v, want %s", res.Args, err, c.want)
				}
			})
		}
	}
}

func TestARepairOfANameDoesNotReachAHiddenProperty(t *testing.T) {
	schema := `{"type":"object","properties":{"mode":{"type":"string"},"password":{"type":"string"}},` +
		`"if":{"properties":{"mode":{"const":"admin"}},"required":["mode"]},"then":{"required":["password"]}}`
	def := definition(t, schema)
	v, err := override(t, `{"hide":["password"]}`).Apply(def, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool := compiled(t, schema, &Options{Override: v})
	for _, args := range []string{`{"mode":"admin","pasword":"x"}`, `{"mode":"admin","PASSWORD":"x"}`, `{"mode":"admin","password":"x"}`} {
		if res, err := tool.Fit(t.Context(), []byte(args)); err == nil {
			t.Errorf("%s became %s", args, res.Args)
		}
	}
}

// FuzzRestrictions: whatever is sent, a server that does not mind case, signs or the order of
// keys reads no other region than the one that is fixed, and nothing hidden.
func FuzzRestrictions(f *testing.F) {
	for _, s := range []string{`{"class":"s"}`, `{"Region":"us"}`, `{"region":1,"re-gion":2}`, `{"debugMode":true}`, `{"\u017fize":"xl"}`,
		`{"SIZE":"s","class":"m"}`} {
		f.Add(s)
	}
	def := definition(f, openMachine)
	v, err := override(f, restricted).Apply(def, nil)
	if err != nil {
		f.Fatal(err)
	}
	tool := compiled(f, openMachine, &Options{Override: v})
	f.Fuzz(func(t *testing.T, args string) {
		res, err := tool.Fit(t.Context(), []byte(args))
		if err != nil || len(res.Args) == 0 {
			return
		}
		d := json.NewDecoder(strings.NewReader(string(res.Args)))
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if err := d.Decode(&value); err != nil {
				t.Fatal(err)
			}
			switch name := likeness(key.(string)); {
			case name == likeness("region") && value != "eu", name == likeness("debugMode"), name == likeness("k"),
				name == likeness("size") && value != "s" && value != "m":
				t.Fatalf("%s became %s", args, res.Args)
			}
		}
	})
}

func TestNamesAndLevelsKeepToTheOverride(t *testing.T) {
	schema := `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"},` +
		`"filter":{"type":"object","properties":{"year":{"type":"integer"},"ownerId":{"type":"integer"}}}}}`
	cases := []struct{ name, override, args, want string }{ // want: as above
		{"a key in another style", `{"fix":{"filter":{"year":1}}}`, `{"Query":"a"}`, `{"query":"a","filter":{"year":1}}`},
		{"a fixed object gets nothing", `{"fix":{"filter":{"year":1}}}`, `{"query":"a","ownerId":5}`,
			`{"query":"a","ownerId":5,"filter":{"year":1}}`},
		{"and loses nothing", `{"fix":{"filter":{"Year":1,"limit":5}}}`, `{"query":"a"}`, `{"query":"a","filter":{"Year":1,"limit":5}}`},
		{"wrapped", `{"fix":{"limit":3}}`, `{"params":{"query":"a"}}`, `{"query":"a","limit":3}`},
		{"wrapped, with a fixed one", `{"fix":{"limit":3}}`, `{"params":{"limit":9}}`, `{"params":{"limit":9},"limit":3}`},
		{"wrapped, with a hidden one", `{"hide":["limit"]}`, `{"params":{"limit":9}}`, `!/limit: unknown argument`},
		{"a default of the override", `{"default":{"limit":3}}`, `{"arguments":{"query":"a","Limit":5}}`, `{"query":"a","limit":5}`},
		{"the own name of a renamed one", `{"rename":{"limit":"most"}}`, `{"Limit":5}`, `{"Limit":5}`},
		{"a renamed one in another style", `{"rename":{"limit":"at_most"}}`, `{"atMost":5}`, `{"limit":5}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, err := override(t, c.override).Apply(definition(t, schema), nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := compiled(t, schema, &Options{Override: v}).Fit(t.Context(), []byte(c.args))
			part, refused := strings.CutPrefix(c.want, "!")
			switch {
			case refused && (!fault.Is(err, fault.BadArguments) || !strings.Contains(err.Error(), part)):
				t.Errorf("got %s, %v, want %q", res.Args, err, part)
			case !refused && (err != nil || string(res.Args) != c.want):
				t.Errorf("got %s, %v, want %s", res.Args, err, c.want)
			}
		})
	}
}
