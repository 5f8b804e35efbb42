package fit

import (
	"strings"
	"testing"
)

// open is a tool that takes names which it does not declare.
const open = `{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"},"start_date":{"type":"string"},` +
	`"minPrice":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}},"language":{"type":"string"},"page":{"type":"integer"},` +
	`"filter":{"type":"object","properties":{"year":{"type":"integer"},"ownerId":{"type":"integer"},"name":{"type":"string"}}},` +
	`"headers":{"type":"object"}},"required":["query"]}`

func TestNamesAndLevels(t *testing.T) {
	obj := func(props, more string) string { return `{"type":"object","properties":{` + props + `}` + more + `}` }
	text := `{"type":"string"}`
	number := `{"type":"integer"}`
	inner := obj(`"input":`+obj(`"city":`+text+`,"days":`+number, `,"required":["city"]`), `,"required":["input"]`)
	loose := obj(`"city":`+text+`,"days":`+number, ``)
	preset := obj(`"city":`+text+`,"days":{"type":"integer","default":3}`, `,"required":["days"]`)
	cases := []struct{ name, schema, args, want, repairs string }{
		{"another case", open, `{"query":"a","Limit":5}`, `{"query":"a","limit":5}`, "/Limit key"},
		{"a letter at the end", open, `{"query":"a","languagel":"de"}`, `{"query":"a","language":"de"}`, "/languagel key"},
		{"another first letter", open, `{"query":"a","kanguage":"de"}`, `{"query":"a","language":"de"}`, "/kanguage key"},
		{"another letter of a short word", open, `{"query":"a","mzn_price":5}`, `{"query":"a","minPrice":5}`, "/mzn_price key"},
		{"another word, and its object proves it", open, `{"query":"a","filler":{"year":1}}`, `{"query":"a","filter":{"year":1}}`,
			"/filler key"},
		{"another style, and the value is repaired", open, `{"query":"a","min-price":"5"}`, `{"query":"a","minPrice":5}`,
			"/min-price key, /min-price number"},
		{"the plural", open, `{"query":"a","languages":"de"}`, `{"query":"a","language":"de"}`, "/languages key"},
		{"the plural of an amount", open, `{"query":"a","limits":5}`, `{"query":"a","limit":5}`, "/limits key"},
		{"an abbreviation", open, `{"query":"a","lang":"de"}`, `{"query":"a","language":"de"}`, "/lang key"},
		{"a synonym of a required key", open, `{"search_query":"a"}`, `{"query":"a"}`, "/search_query key"},
		{"two letters swapped", open, `{"query":"a","lnaguage":"de"}`, `{"query":"a","language":"de"}`, "/lnaguage key"},
		{"a letter is missing, and the separator", open, `{"query":"a","strtdate":"x"}`, `{"query":"a","start_date":"x"}`, "/strtdate key"},
		{"inside an object", open, `{"query":"a","filter":{"owner_id":1}}`, `{"query":"a","filter":{"ownerId":1}}`, "/filter/owner_id key"},
		{"wrapped", open, `{"arguments":{"query":"a","Limit":"5"}}`, `{"query":"a","limit":5}`, "/arguments level, /Limit key, /Limit number"},
		{"wrapped as text", open, `{"input":"{\"query\":\"a\"}"}`, `{"query":"a"}`, "/input level"},
		{"wrapped twice", open, `{"tool":{"params":{"query":"a"}}}`, `{"query":"a"}`, "/tool level, /params level"},
		{"wrapped where nothing is required", loose, `{"get_weather":{"city":"a","days":1}}`, `{"city":"a","days":1}`, "/get_weather level"},
		{"in part", open, `{"query":"a","params":{"limit":5}}`, `{"query":"a","limit":5}`, "/params/limit level"},
		{"one level too deep", open, `{"query":"a","filter":{"year":1,"limit":5}}`, `{"query":"a","filter":{"year":1},"limit":5}`,
			"/filter/limit level"},
		{"one level too high", open, `{"query":"a","filter":{"year":1},"owner_id":5}`, `{"query":"a","filter":{"year":1,"ownerId":5}}`,
			"/owner_id level"},
		{"and its object is not there", open, `{"query":"a","year":1}`, `{"query":"a","filter":{"year":1}}`, "/year level"},
		{"flat for nested", inner, `{"city":"a","days":"2"}`, `{"input":{"city":"a","days":2}}`,
			"/city level, /days level, /input/days number"},
		{"a default is not used when the value is wrapped", preset, `{"params":{"days":5}}`, `{"days":5}`, "/params level"},
		{"in strict schemas too", typical, `{"parameters":{"query":"a","exact":"true"}}`, `{"query":"a","exact":true}`,
			"/parameters level, /exact boolean"},
		{"nothing in a wrapper is nothing", `{"type":"object","additionalProperties":false}`, `{"arguments":{}}`, `{}`, "/arguments level"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := compiled(t, c.schema, nil).Fit(t.Context(), []byte(c.args))
			if err != nil || string(res.Args) != c.want {
				t.Fatalf("got  %s, %v\nwant %s", res.Args, err, c.want)
			}
			var got []string
			for _, r := range res.Repairs {
				got = append(got, r.Field+" "+string(r.Kind))
			}
			if s := strings.Join(got, ", "); s != c.repairs {
				t.Errorf("repairs %q, want %q", s, c.repairs)
			}
			if again, err := compiled(t, c.schema, nil).Fit(t.Context(), res.Args); err != nil || len(again.Repairs) > 0 {
				t.Errorf("it is repaired again: %s, %v", again.Args, err)
			}
		})
	}
}

func TestTheWholeCallAsArguments(t *testing.T) {
	named := `{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}}}`
	cases := []struct{ name, schema, args, want string }{
		{"as JSON", open, `{"name":"find_flights","arguments":{"query":"a","limit":"5"}}`, `{"query":"a","limit":5}`},
		{"with its server, and as text", open, `{"tool":"travel__find_flights","args":"{\"query\":\"a\"}"}`, `{"query":"a"}`},
		{"in an object", open, `{"function":{"name":"find_flights","parameters":{"query":"a"}}}`, `{"query":"a"}`},
		{"as Python", open, `"find_flights(query='a', limit=5)"`, `{"query":"a","limit":5}`},
		{"as Python, without the name", open, `"query='a', tags=['x', 'y']"`, `{"query":"a","tags":["x","y"]}`},
		{"as Python, and not as text", open, `find_flights(query="a")`, `{"query":"a"}`},
		{"another tool's", open, `{"name":"find_trains","arguments":{"query":"a"}}`, ""},
		{"another tool's as Python", open, `"find_trains(query='a')"`, ""},
		{"a value without a name", open, `"find_flights('a')"`, ""},
		{"a name that is not declared", open, `"find_flights(query='a', q=1)"`, ""},
		{"words", open, `"query = everything"`, ""},
		{"more than a call", open, `"find_flights(query='a') or else"`, ""},
		{"a tool that takes these names", named, `{"name":"find_flights","arguments":{"name":"a"}}`,
			`{"name":"find_flights","arguments":{"name":"a"}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := compiled(t, c.schema, &Options{Name: "find_flights"}).Fit(t.Context(), []byte(c.args))
			if (err == nil) != (c.want != "") || string(res.Args) != c.want {
				t.Errorf("got %s, %v", res.Args, err)
			}
		})
	}
}

func TestWordsForNone(t *testing.T) {
	schema := `{"type":"object","properties":{"n":{"type":"integer"},"b":{"type":"boolean"},"o":{"type":"object"},` +
		`"l":{"type":"array","items":{"type":"string"}},"e":{"$ref":"#/$defs/e"},"f":{"enum":["none","all"]},"s":{"type":"string"},` +
		`"u":{"type":["string","integer"],"minLength":1},"z":{"type":["integer","null"]},"r":{"type":"integer"}},` +
		`"required":["r"],"$defs":{"e":{"enum":["asc","desc"]}}}`
	cases := []struct{ args, want string }{
		{`{"r":1,"n":"None"}`, `{"r":1}`}, {`{"r":1,"b":""}`, `{"r":1}`}, {`{"r":1,"o":"null"}`, `{"r":1}`}, {`{"r":1,"l":"None"}`, `{"r":1}`},
		{`{"r":1,"e":""}`, `{"r":1}`}, {`{"r":1,"f":"None"}`, `{"r":1,"f":"none"}`}, {`{"r":1,"s":"None"}`, `{"r":1,"s":"None"}`},
		{`{"r":1,"u":""}`, ""}, {`{"r":1,"z":"None"}`, `{"r":1,"z":null}`}, {`{"r":"None"}`, ""}, {`{"r":1,"x":"None"}`, `{"r":1,"x":"None"}`},
		{`{"r":1,"n":"nil"}`, ""},
	}
	tool := compiled(t, schema, nil)
	for _, c := range cases {
		res, err := tool.Fit(t.Context(), []byte(c.args))
		if (err == nil) != (c.want != "") || string(res.Args) != c.want {
			t.Errorf("%s: got %s, %v", c.args, res.Args, err)
		}
		if err == nil && c.want == `{"r":1}` && (len(res.Repairs) != 1 || res.Repairs[0].Kind != DropNull) {
			t.Errorf("%s: %v", c.args, res.Repairs)
		}
	}
}

func TestNamesThatStay(t *testing.T) {
	obj := func(props string) string { return `{"type":"object","properties":{` + props + `}}` }
	text := `:{"type":"string"}`
	number := `:{"type":"number"}`
	cases := []struct{ name, schema, args string }{
		{"the other end of a range", open, `{"query":"a","maxPrice":5}`},
		{"the name is given already", open, `{"query":"a","limit":1,"Limit":5}`},
		{"two could be meant", obj(`"userId"` + text + `,"user_id"` + text), `{"UserID":"a"}`},
		{"two of the same", open, `{"query":"a","Limit":1,"LIMIT":2}`},
		{"a value that does not fit", open, `{"query":"a","Limit":"many"}`},
		{"a single value for a list", open, `{"query":"a","tag":"x"}`},
		{"which page is not how many", open, `{"query":"a","pages":3}`},
		{"short names", obj(`"to"` + text + `,"id"` + text + `,"x"` + number), `{"by":"a","ip":"b","y":1}`},
		{"words that are close", obj(`"from"` + text + `,"star"` + text + `,"source"` + text + `,"width"` + number + `,"title"` + text +
			`,"country"` + text + `,"path"` + text + `,"content"` + text),
			`{"form":"a","start":"a","resource":"a","depth":1,"tile":"a","county":"a","patch":"a","context":"a"}`},
		{"words that nobody here has seen in a tool", obj(`"path"` + text + `,"season"` + text + `,"sender"` + text),
			`{"oath":"a","treason":"a","render":"a"}`},
		{"a letter that may be a word", obj(`"offset"` + number + `,"min"` + number + `,"code"` + text),
			`{"offsetx":1,"yoffset":2,"xmin":1,"codec":"a"}`},
		{"units", obj(`"timeout_ms"` + number + `,"delay_s"` + number), `{"timeout_s":1,"delay_ms":2}`},
		{"numbered and lettered names", obj(`"line1"` + text + `,"unit_a"` + text + `,"pointx"` + number),
			`{"line2":"a","unit_b":"b","pointy":1}`},
		{"opposites", obj(`"included"` + text + `,"latitude"` + number + `,"ascending"` + text),
			`{"excluded":"a","altitude":1,"descending":"a"}`},
		{"an id of something else", obj(`"merge_request_id"` + number), `{"merge_request_iid":1}`},
		{"a synonym where another property could be meant", obj(`"url"` + text + `,"note"` + text), `{"link":"a"}`},
		{"names that a pattern allows", `{"type":"object","properties":{"limit":{"type":"integer"}},"patternProperties":{"^L":{}}}`,
			`{"Limit":1}`},
		{"names that a schema for others allows", `{"type":"object","properties":{"limit":{"type":"integer"}},` +
			`"additionalProperties":{"type":"integer"}}`, `{"Limit":1}`},
		{"no names at all", `{"type":"object"}`, `{"arguments":{"a":1}}`},
		{"an object that takes any name", open, `{"query":"a","headers":{"limit":5}}`},
		{"an object that means something", open, `{"query":"a","metadata":{"limit":5}}`},
		{"a name that anything has", open, `{"query":"a","name":"x"}`},
		{"names of another branch", `{"anyOf":[{"properties":{"limit":{"type":"integer"}}},{"properties":{"limits":{"type":"integer"}}}]}`,
			`{"limits":1}`},
		{"a wrapper whose content the tool does not know", obj(`"city"` + text), `{"params":{"city":"a","zone":"b"}}`},
		{"text that looks like arguments", obj(`"city"` + text), `{"city":"{\"city\":\"a\"}"}`},
		{"Chinese", obj(`"起始日期"` + text), `{"起止日期":"a"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, validation := range []Validation{Strict, Light} {
				res, err := compiled(t, c.schema, &Options{Validation: validation}).Fit(t.Context(), []byte(c.args))
				if err != nil || string(res.Args) != c.args {
					t.Errorf("%s: got %s, %v", validation, res.Args, err)
				}
			}
		})
	}
}

func TestWhatIsNotClearIsSuggested(t *testing.T) {
	need := func(name, more string) string {
		return `{"type":"object","properties":{"` + name + `":{"type":"string"` + more + `}},"required":["` + name + `"]}`
	}
	cases := []struct{ name, schema, args, want string }{
		{"another end of a range", need("min_price", ""), `{"max_price":"x"}`, "/min_price: missing"},
		{"another word", need("path", ""), `{"patch":"x"}`, "/path: missing, expected string; you gave patch: did you mean path?"},
		{"part of the name", need("file_path", ""), `{"file":"x"}`, "you gave file: did you mean file_path?"},
		{"a short part of it", need("user_id", ""), `{"id":"x"}`, "you gave id: did you mean user_id?"},
		{"the value does not fit", need("query", ""), `{"Query":5}`, "you gave Query: did you mean query?"},
		{"wrapped, and the value does not fit", need("query", ""), `{"params":{"query":5}}`, "params has query: give it one level up"},
		{"a default beside a value that does not fit", need("mode", `,"default":"fast"`), `{"Mode":5}`, "you gave Mode: did you mean mode?"},
		{"a default beside an object that has it", need("mode", `,"default":"fast"`), `{"x":{"mode":5},"y":1}`, "x has mode"},
		{"part of a listed value", need("lang", `,"enum":["en_US","de_DE"]`), `{"lang":"en"}`, "did you mean en_US?"},
		{"a sign in a listed value", need("kind", `,"enum":["in progress","done"]`), `{"kind":"in_progress"}`, "did you mean in progress?"},
		{"a short listed value", need("sort", `,"enum":["asc","desc"]`), `{"sort":"dsc"}`, "did you mean asc or desc?"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			res, err := compiled(t, c.schema, nil).Fit(t.Context(), []byte(c.args))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v\nwant %s", res.Args, err, c.want)
			}
		})
	}
}

// FuzzNames: what is repaired fits and needs no more repairs, no number or truth value is lost, and a declared
// key keeps a value that fits.
func FuzzNames(f *testing.F) {
	strict := strings.Replace(open, `"required"`, `"additionalProperties":false,"required"`, 1)
	union := `{"properties":{"item":{"anyOf":[{"properties":{"size":{"type":"integer"},"color":{"type":"string"}},"required":["size"]},` +
		`{"properties":{"weight":{"type":"number"}},"required":["weight"]},{"type":"string"}]},` +
		`"sizes":{"type":"array","items":{"type":"integer"}}}}`
	var tools []*Tool
	for _, schema := range []string{open, strict, typical, union} {
		tools = append(tools, compiled(f, schema, &Options{Name: "find"}))
	}
	for _, s := range []string{`{"query":"a","Limit":5}`, `{"arguments":{"query":"a","lmit":"5"}}`,
		`{"query":"a","filter":{"limit":5},"year":1}`, `{"item":{"Size":1,"colour":"x"}}`, `{"size":1,"item":{"weight":2,"sizes":[1]}}`,
		`{"params":"{\"query\":\"a\",\"filter\":{\"owner-id\":1}}"}`,
		`{"query":"a","page":1,"Page":2,"pages":3}`, `{"params":{"params":{"params":{"params":{"params":{"query":"a"}}}}}}`,
		`"query='a', limit=5"`, `"find(query='a', tags=['x'])"`, `{"name":"find","arguments":{"query":"a","limit":"None"}}`,
		`{"query":"a","limit":"","filter":"null"}`, `{"siZe":0,"izes":[0] }`, `{"query":"a","limti":5,"oage":1,"filler":{"year":1}}`,
		`{"query":"a","headers":{"query":"b"},"input":{"tags":["x"],"minprice":1.5}}`, `{"query":"a","起":1,"":2,"\u0000":3}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		for _, tool := range tools {
			res, err := tool.Fit(t.Context(), []byte(args))
			if err != nil || len(res.Args) == 0 {
				continue
			}
			again, err := tool.Fit(t.Context(), res.Args)
			if err != nil || len(again.Repairs) > 0 {
				t.Fatalf("%s became %s, and then %s %v, %v", args, res.Args, again.Args, again.Repairs, err)
			}
			before, isObject := editObject([]byte(args))
			after, _ := editObject(res.Args)
			if !isObject {
				continue
			}
			for _, c := range before.members {
				place, known, _ := under(plenty(), []*shape{tool.schema.root}, c.name)
				m := newRepairer(t.Context(), tool, 0)
				if k := before.t.tokens[c.token].kind; c.drop || !known || k >= isArray || !m.fits(place, before.t, c.token, true) {
					continue
				}
				if kept := after.find(c.name); kept == nil || string(after.t.raw(kept.token)) != string(before.t.raw(c.token)) {
					t.Fatalf("%s became %s: %s is another", args, res.Args, c.name)
				}
			}
			if lost := scalars(args); !strings.Contains(args, "null") && lost > scalars(string(res.Args)) {
				t.Fatalf("%s became %s: a value is lost", args, res.Args)
			}
		}
	})
}

// scalars counts the numbers and truth values.
func scalars(raw string) (n int) {
	t := &tape{}
	if t.read([]byte(raw)) != nil {
		return 0
	}
	var visit func(i int32)
	visit = func(i int32) {
		if k := t.tokens[i].kind; k == isNumber || k == isBoolean {
			n++
		}
		for c := t.first(i); t.tokens[i].kind >= isArray && c >= 0; c = t.after(c) {
			visit(c)
		}
	}
	visit(0)
	return n
}
