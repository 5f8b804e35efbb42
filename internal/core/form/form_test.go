package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolfit/toolfit/internal/core/jsonschema"
	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// of is a schema with one property p, which is required.
func of(property string) *Schema {
	return Read([]byte(`{"type":"object","properties":{"p":` + property + `},"required":["p"],"$defs":{` +
		`"word":{"type":"string","description":"A word."},` +
		`"tree":{"type":"object","properties":{"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}},"up":{"$ref":"#/$defs/tree"}}}}}`))
}

func TestFormAsksForWhatTheSchemaSays(t *testing.T) {
	for _, tt := range []struct {
		name, property string
		kind           Kind
		options        string // labels
	}{
		{"text", `{"type":"string"}`, Text, ""},
		{"long text by its limit", `{"type":"string","maxLength":5000}`, Long, ""},
		{"a short body is no long text", `{"type":"string","maxLength":80,"title":"body"}`, Text, ""},
		{"a whole number", `{"type":"integer"}`, Number, ""},
		{"a number or null", `{"type":["number","null"]}`, Number, ""},
		{"a type that null may stand for", `{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null}`, Number, ""},
		{"two types are a choice", `{"type":["number","string"]}`, Variant, "string number"},
		{"yes or no", `{"type":"boolean"}`, Choice, "true false"},
		{"a list to choose from", `{"type":"string","enum":["a","乙"]}`, Choice, "a 乙"},
		{"values of several types", `{"enum":["a",null,1.0]}`, Choice, `"a" null 1.0`},
		{"values with titles", `{"oneOf":[{"const":1,"title":"One"},{"const":2,"title":"Two"}]}`, Choice, "One Two"},
		{"one value", `{"const":{"x":1}}`, Fixed, `{"x":1}`},
		{"texts of two formats are texts", `{"anyOf":[{"type":"string","format":"date"},{"type":"string"}]}`, Text, ""},
		{"suggestions are no list", `{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"string"}]}`, Text, ""},
		{"any of some values", `{"type":"array","items":{"enum":["a","b"]}}`, Many, "a b"},
		{"a list of texts", `{"type":"array","items":{"type":"string"}}`, List, ""},
		{"a list of anything", `{"type":"array"}`, JSON, ""},
		{"a tuple", `{"type":"array","prefixItems":[{"type":"string"}]}`, JSON, ""},
		{"an object", `{"type":"object","properties":{"a":{"type":"string"}}}`, Object, ""},
		{"an object by its properties", `{"properties":{"a":{"type":"string"}}}`, Object, ""},
		{"an object of any members", `{"type":"object"}`, JSON, ""},
		{"a map", `{"type":"object","additionalProperties":{"type":"integer"}}`, Map, ""},
		{"parts that belong together", `{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`, Object, ""},
		{"forms with names", `{"oneOf":[{"type":"object","properties":{"kind":{"const":"file"},"path":{"type":"string"}}},{"type":"object","properties":{"kind":{"const":"url"},"at":{"type":"string"}}}]}`, Variant, "file url"},
		{"forms that cannot be told apart", `{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`, JSON, ""},
		{"branches that only want something more", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, Object, ""},
		{"a reference", `{"$ref":"#/$defs/word"}`, Text, ""},
		{"a reference to nothing", `{"$ref":"#/$defs/none"}`, JSON, ""},
		{"a reference to itself", `{"$ref":"#/properties/p"}`, JSON, ""},
		{"true allows everything", `true`, JSON, ""},
		{"false allows nothing", `false`, JSON, ""},
		{"an enum that is no list", `{"type":"string","enum":5}`, Text, ""},
		{"a type that is none", `{"type":5}`, JSON, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := of(tt.property).Form(nil)
			if f.Whole || len(f.Fields) != 1 || f.Fields[0].Kind != tt.kind || !f.Fields[0].Required {
				t.Fatalf("got %+v", f.Fields)
			}
			var labels []string
			for _, o := range f.Fields[0].Choices {
				labels = append(labels, o.Label)
			}
			if got := strings.Join(labels, " "); got != tt.options {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestATextsInputIsThatOfItsFormat(t *testing.T) {
	for format, want := range map[string]string{"date": "date", "date-time": "datetime-local", "time": "time", "email": "email", "uri": "url", "ipv4": "text"} {
		f := of(`{"type":"string","format":"` + format + `"}`).Form(nil).Fields[0]
		if f.Type != want || f.Zoned != (format == "date-time" || format == "time") {
			t.Errorf("%s: %+v", format, f)
		}
	}
	f := of(`{"type":"string","format":"date"}`).Form(url.Values{"a:p": {"tomorrow"}}).Fields[0]
	if f.Type != "text" || f.Value != "tomorrow" {
		t.Errorf("the input would not show what was entered: %+v", f)
	}
}

func TestAToolWithoutArgumentsHasNoFields(t *testing.T) {
	for _, schema := range []string{``, `{"type":"object"}`, `{"type":"object","properties":{}}`} {
		f := Read([]byte(schema)).Form(nil)
		if f.Whole || len(f.Fields) != 0 || string(f.Arguments()) != "{}" {
			t.Errorf("%s: %+v", schema, f)
		}
	}
}

const order = `{"type":"object","required":["customer","lines"],"properties":{
	"customer":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"note":{"type":"string"}}},
	"lines":{"type":"array","items":{"type":"object","required":["item"],"properties":{"item":{"type":"string"},"count":{"type":"number"},"tags":{"type":"array","items":{"type":"string"}}}}},
	"due":{"type":"string","format":"date"},
	"at":{"type":"string","format":"date-time"},
	"ship":{"type":"object","properties":{"fast":{"type":"boolean"},"to":{"type":"array","items":{"type":"string"}}},"required":["to"]},
	"days":{"type":"array","items":{"enum":["mo","tu","we"]}},
	"labels":{"type":"object","additionalProperties":{"type":"string"}},
	"pay":{"oneOf":[{"type":"object","properties":{"by":{"const":"card"},"number":{"type":"string"}},"required":["by"]},{"type":"object","properties":{"by":{"const":"cash"}},"required":["by"]}]},
	"free":{}},
	"additionalProperties":{"type":"integer"}}`

func TestArgumentsAreWhatThePersonTyped(t *testing.T) {
	s := Read([]byte(order))
	for _, tt := range []struct{ name, query, want string }{
		{"nothing but what is required around it", ``, `{"customer":{},"lines":[]}`},
		{"digits stay as they are", `a:customer/id=90071992547409931&r:lines=0&a:lines/0/item=x&a:lines/0/count=1.0`, `{"customer":{"id":90071992547409931},"lines":[{"item":"x","count":1.0}]}`},
		{"what is no number is text", `a:customer/id=five&r:lines=0&a:lines/0/count=%2B5`, `{"customer":{"id":"five"},"lines":[{"count":"+5"}]}`},
		{"rows are in the order of the page, blank ones are left out", `r:lines=7&r:lines=2&r:lines=9&a:lines/2/item=second&a:lines/7/item=first`, `{"customer":{},"lines":[{"item":"first"},{"item":"second"}]}`},
		{"rows in rows", `r:lines=0&r:lines/0/tags=1&r:lines/0/tags=0&a:lines/0/tags/0=b&a:lines/0/tags/1=a`, `{"customer":{},"lines":[{"tags":["a","b"]}]}`},
		{"a time gets its seconds and its zone", `a:at=2026-11-18T20:13&z:at=%2B08:00&a:due=2026-11-18`, `{"customer":{},"lines":[],"due":"2026-11-18","at":"2026-11-18T20:13:00+08:00"}`},
		{"a zone may be left out", `a:at=2026-11-18T20:13:05&z:at=`, `{"customer":{},"lines":[],"at":"2026-11-18T20:13:05"}`},
		{"an object that need not be sent is, with what it requires", `a:ship/fast=true`, `{"customer":{},"lines":[],"ship":{"fast":true,"to":[]}}`},
		{"ticks", `a:days="we"&a:days="mo"`, `{"customer":{},"lines":[],"days":["mo","we"]}`},
		{"names and values", `r:labels=0&r:labels=1&r:labels=2&k:labels/0=a&a:labels/0=x&k:labels/1=b&r:~2=0&k:~2/0=n&a:~2/0=5`, `{"customer":{},"lines":[],"labels":{"a":"x","b":""},"n":5}`},
		{"a member with a field is not named again", `r:~2=0&k:~2/0=due&a:~2/0=5&r:~2=1&k:~2/1=x&a:~2/1=1&r:~2=2&k:~2/2=x&a:~2/2=2`, `{"customer":{},"lines":[],"x":2}`},
		{"a variant", `v:pay=1`, `{"customer":{},"lines":[],"pay":{"by":"cash"}}`},
		{"a variant with what it has", `v:pay=0&a:pay/number=7`, `{"customer":{},"lines":[],"pay":{"by":"card","number":"7"}}`},
		{"a variant that there is not", `v:pay=5&a:pay/number=7`, `{"customer":{},"lines":[]}`},
		{"JSON as it is, else text", `a:free={"x": [1.0]}&j:lines=1&a:lines={`, `{"customer":{},"lines":"{","free":{"x": [1.0]}}`},
		{"rows that no page has", `r:lines=-1&r:lines=x&r:lines=01&r:lines=3&r:lines=3&a:lines/3/item=a`, `{"customer":{},"lines":[{"item":"a"}]}`},
		{"line ends of browsers", `a:customer/note=a%0D%0Ab`, `{"customer":{"note":"a\nb"},"lines":[]}`},
	} {
		values, err := url.ParseQuery(strings.ReplaceAll(tt.query, ";", "%3B"))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.Form(values).Arguments()); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
	if got := Read([]byte(`{"properties":{"甲\n/~":{"type":"string"}}}`)).Form(url.Values{"a:甲~ua;~1~0": {`"`}}).Arguments(); string(got) != `{"甲\n/~":"\""}` {
		t.Errorf("a name that inputs cannot have: %s", got)
	}
}

// TestValuesComeBackFromTheForm holds that nothing changes, whether fields express it or JSON has to; raw are those fields.
func TestValuesComeBackFromTheForm(t *testing.T) {
	s := Read([]byte(order))
	for _, tt := range []struct{ args, raw string }{
		{`{"customer":{"id":1},"lines":[{"item":"a","count":1.50,"tags":["x","y"]},{"item":"b"}],"due":"2026-11-18","at":"2026-11-18T20:13:05Z","days":["mo","we"],"labels":{"a":"x","b":""},"pay":{"by":"cash"},"free":[1,{"a":null}],"n":5}`, ""},
		{`{"at":"2026-11-18T20:13:05+08:00","customer":{},"lines":[]}`, ""},
		{`{"customer":{},"lines":[],"at":"2026-11-18T20:13:05.250Z","due":"tomorrow"}`, ""},
		{`{"customer":{},"lines":[],"at":"2026-11-18T20:13Z"}`, "at"},
		{`{"customer":{"id":"five","note":""},"lines":[]}`, "customer/note"},
		{`{"customer":{"id":"5"},"lines":[]}`, "customer/id"},
		{`{"customer":{"note":"a\r\nb"},"lines":[]}`, "customer/note"},
		{`{"customer":{"note":"a\u202eb"},"lines":[]}`, "customer/note"},
		{`{"customer":{"x":1},"lines":[]}`, "customer"},
		{`{"customer":{},"lines":[{}]}`, "lines"},
		{`{"customer":{},"lines":{"item":"a"}}`, "lines"},
		{`{"customer":{},"lines":[],"ship":{}}`, "ship"},
		{`{"customer":{},"lines":[],"days":["we","mo"]}`, "days"},
		{`{"customer":{},"lines":[],"days":["fr"]}`, "days"},
		{`{"customer":{},"lines":[],"due":null}`, "due"},
		{`{"customer":{},"lines":[],"pay":{"by":"shell"}}`, "pay"},
		{`{"lines":[]}`, ""},
		{`{"customer":{},"lines":[],"x":"no number"}`, ""},
	} {
		values := s.Fill([]byte(tt.args))
		f := s.Form(values)
		want, _ := jsonschema.Parse([]byte(tt.args))
		if !same(f.Arguments(), want) {
			t.Errorf("%s\nbecomes %s", tt.args, f.Arguments())
		}
		var raw []string
		for name := range values {
			if rest, ok := strings.CutPrefix(name, inRaw); ok {
				raw = append(raw, rest)
			}
		}
		if f.Whole {
			raw = []string{"*"}
		}
		if got := strings.Join(raw, " "); got != tt.raw {
			t.Errorf("%s: JSON of %q, want %q", tt.args, got, tt.raw)
		}
	}
}

func TestWhatHasFieldsIsFilledIntoThem(t *testing.T) {
	deep, value := `{"type":"string"}`, `"x"`
	for range maxDepth - 1 {
		deep = `{"type":"array","items":` + deep + `}`
		value = "[" + value + "]"
	}
	for schema, args := range map[string]string{
		`{"type":"object","properties":{"p":` + deep + `}}`:                                    `{"p":` + value + `}`,
		`{"type":"object","properties":{"p":{"type":"array","items":` + deep + `}}}`:           `{"p":[` + value + `]}`,
		`{"type":"object","properties":{"a":{"type":"string"},"up":{"$ref":"#"}}}`:             `{"a":"x","up":{"a":"y"}}`,
		`{"type":"object","properties":{"p":{"anyOf":[{"type":"string"},{"type":"object"}]}}}`: `{"p":{"a":1}}`,
	} {
		s := Read([]byte(schema))
		if f := s.Form(s.Fill([]byte(args))); f.Whole || f.Fields[0].Raw || string(f.Arguments()) != args {
			t.Errorf("%s: %s", args, f.Arguments())
		}
	}
}

func TestNullIsTickedOrJSON(t *testing.T) {
	const list, object = `"type":["array","null"],"items":`, `"type":["object","null"],`
	for _, tt := range []struct {
		property string
		ticked   bool
	}{
		{`{"type":["string","null"]}`, true},
		{`{"type":["integer","null"]}`, true},
		{`{"type":["boolean","null"]}`, true},
		{`{` + object + `"properties":{"a":{"type":"string"}}}`, false},
		{`{` + object + `"additionalProperties":{"type":"string"}}`, false},
		{`{` + list + `{"type":"string"}}`, false},
		{`{` + list + `{"enum":["a","b"]}}`, false},
		{`{"anyOf":[{"type":"string"},{"type":"boolean"},{"type":"null"}]}`, false},
	} {
		s := of(tt.property)
		values := s.Fill([]byte(`{"p":null}`))
		f := s.Form(values)
		if got := string(f.Arguments()); got != `{"p":null}` || f.Fields[0].Null != tt.ticked || f.Fields[0].Raw == tt.ticked {
			t.Errorf("%s: %s, %+v", tt.property, got, f.Fields[0])
		}
		if empty := s.Form(nil).Fields[0]; empty.MayNull != tt.ticked {
			t.Errorf("%s: %+v", tt.property, empty)
		}
	}
}

// TestFormsOfRealSchemasShowWhatTheyGive enters something in every field, two of everything that has rows.
func TestFormsOfRealSchemasShowWhatTheyGive(t *testing.T) {
	for _, name := range corpora.Tools {
		for _, schema := range corpora.Schemas(t, name) {
			s := Read(schema)
			entered := everything(s)
			args := s.Form(entered).Arguments()
			filled := s.Fill(args)
			f := s.Form(filled)
			if want, _ := jsonschema.Parse(args); !same(f.Arguments(), want) {
				t.Errorf("%s\n%s\nbecomes %s", schema, args, f.Arguments())
			}
			if f.Whole && !s.none {
				t.Errorf("%s\nhas no fields for %s", schema, args)
			}
			for input := range filled {
				if strings.HasPrefix(input, inRaw) {
					t.Errorf("%s\nshows %s of %s as JSON", schema, input, args)
				}
			}
		}
	}
}

// everything is what a person enters who leaves nothing out.
func everything(s *Schema) url.Values {
	v := url.Values{}
	for range maxDepth { // the fields that a round makes are filled in the next
		var enter func(f *Field)
		enter = func(f *Field) {
			for _, kid := range f.kids() {
				enter(kid)
			}
			name := f.Input
			switch f.Kind {
			case Text:
				texts := map[string]string{"date": "2026-11-18", "time": "09:30:00", "datetime-local": "2026-11-18T09:30:00"}
				v.Set(inValue+name, cmp.Or(texts[f.Type], "x"))
			case Long:
				v.Set(inValue+name, "x\ny")
			case Number:
				v.Set(inValue+name, "1.0")
			case Choice, Many, Fixed:
				v.Set(inValue+name, f.Choices[0].Value)
			case JSON:
				v.Set(inValue+name, `{"x":1}`)
			case Variant:
				v.Set(inVariant+name, "0")
			case List:
				v[inRow+name] = []string{"0", "1"}
			case Map:
				v[inRow+name] = []string{"0", "1"}
				v.Set(inKey+name+"/0", "one of them")
				v.Set(inKey+name+"/1", "another")
			}
		}
		next := s.Form(v)
		if next.Whole {
			return v
		}
		enter(next.root)
	}
	return v
}

func TestButtonsChangeTheForm(t *testing.T) {
	s := Read([]byte(order))
	v := url.Values{"a:due": {"2026-11-18"}}
	press := func(buttons ...string) {
		for _, b := range buttons {
			v = s.Change(v, b)
		}
	}
	check := func(want string) {
		t.Helper()
		if got := string(s.Form(v).Arguments()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	press("add lines", "add lines")
	v.Set("a:lines/0/item", "a")
	v.Set("a:lines/1/item", "b")
	press("down lines/0")
	check(`{"customer":{},"lines":[{"item":"b"},{"item":"a"}],"due":"2026-11-18"}`)
	press("up lines/0", "up lines/0", "down lines/1", "remove lines/0", "remove lines/8", "nonsense", "up", "add none")
	check(`{"customer":{},"lines":[{"item":"b"}],"due":"2026-11-18"}`)
	press("add lines")
	if rows := v[inRow+"lines"]; len(rows) != 2 || rows[0] == rows[1] {
		t.Errorf("rows are %v", rows)
	}
	if f := s.Form(v).Fields[1].Fields[1].Fields[0]; f.Focus == "" {
		t.Errorf("a person does not go on in the new row, but: %+v", f)
	}
	press("json lines")
	if f := s.Form(v).Fields[1]; f.Kind != JSON || !f.Raw || f.Value != `[{"item":"b"}]` {
		t.Errorf("as JSON it is %+v", f)
	}
	press("form lines")
	check(`{"customer":{},"lines":[{"item":"b"}],"due":"2026-11-18"}`)
	if f := s.Form(v).Fields[1]; f.Kind != List || len(f.Fields) != 1 {
		t.Errorf("as a list it is %+v", f)
	}
	press("json lines")
	v.Set("a:lines", `[{"item":""}]`)
	press("form lines")
	if f := s.Form(v).Fields[1]; f.Kind != List || f.Fields[0].Fields[0].Value != `""` {
		t.Errorf("empty text is %+v", f)
	}
	press("json")
	if f := s.Form(v); !f.Whole || !strings.Contains(f.JSON, `"item":""`) {
		t.Errorf("all as JSON is %+v", f)
	}
	v.Set(Whole, "{")
	press("form")
	if f := s.Form(v); !f.Whole || f.JSON != "{" {
		t.Errorf("broken JSON becomes %+v", f)
	}
	v.Set(Whole, `{"customer":{"id":7},"lines":[]}`)
	press("form")
	check(`{"customer":{"id":7},"lines":[]}`)
}

func TestWhatIsWrongStandsAtItsField(t *testing.T) {
	s := Read([]byte(order))
	values, _ := url.ParseQuery(`r:lines=4&r:lines=5&a:lines/5/item=x&a:lines/5/count=1&a:ship/fast=true&r:~2=0&k:~2/0=n&a:~2/0=five&v:pay=0`)
	f := s.Form(values)
	f.Arguments()
	for pointer, want := range map[string]string{
		"/customer/id": "customer/id", "/lines/0/count": "lines/5/count", "/lines/1": "lines", "/ship/to/0": "ship/to", "/n": "~2/0",
		"/pay/number": "pay/number", "": "", "/none": "",
	} {
		if found := f.Mark(pointer, pointer); found != (want != "") {
			t.Errorf("%s: found is %v", pointer, found)
			continue
		}
		if at := f.find(want); want != "" && (len(at.Wrong) != 1 || at.Wrong[0] != pointer) {
			t.Errorf("%s is not at %s", pointer, want)
		}
	}
	f = s.Form(url.Values{"j:ship": {"1"}, "a:ship": {`{"fast": tru}`}, "a:free": {"text"}})
	if err := f.Check(); err == nil || len(f.find("ship").Wrong) != 1 || len(f.find("free").Wrong) != 0 {
		t.Errorf("broken JSON: %v", err)
	}
}

func TestARecursiveSchemaHasAnEnd(t *testing.T) {
	s := of(`{"$ref":"#/$defs/tree"}`)
	v := url.Values{}
	path := "p/kids"
	for range 10 {
		v = s.Change(v, "add "+path)
		path += "/0/kids"
	}
	depth := 0
	for f := s.Form(v).Fields[0]; f.Kind == Object; depth++ {
		if up := f.Fields[2]; up.Kind != JSON {
			t.Errorf("the object in itself is %s", up.Kind)
		}
		if len(f.Fields[1].Fields) == 0 {
			break
		}
		f = f.Fields[1].Fields[0]
	}
	if depth < 1 || depth > maxDepth {
		t.Errorf("%d levels", depth)
	}
}

func TestAFormIsNeverTooLarge(t *testing.T) {
	many := func(n int, property string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"a%d":%s`, i, property))
		}
		return `{"type":"object","properties":{` + strings.Join(all, ",") + `}}`
	}
	words := strings.Repeat(`"word",`, 300)
	for name, schema := range map[string]string{
		"61 properties":      many(61, `{"type":"string"}`),
		"nested without end": many(10, many(10, many(10, many(10, `{"type":"string"}`)))),
		"a few wide ones":    many(8, many(40, `{"type":"string","description":"`+strings.Repeat("x", 300)+`"}`)),
		"long lists":         many(20, `{"enum":[`+words[:len(words)-1]+`]}`),
		"lists of 200":       many(50, `{"enum":[`+words[:len(`"word",`)*200-1]+`]}`),
		"references that double": `{"type":"object","properties":{"a":{"$ref":"#/$defs/a0"}},"$defs":{` + func() (all string) {
			for i := range 20 {
				all += fmt.Sprintf(`"a%d":{"type":"object","properties":{"x":{"$ref":"#/$defs/a%d"},"y":{"$ref":"#/$defs/a%d"}}},`, i, i+1, i+1)
			}
			return all + `"a20":{"type":"string"}}}`
		}(),
	} {
		f := Read([]byte(schema)).Form(nil)
		if !f.Whole && f.root.weight() > maxWeight {
			t.Errorf("%s: %d bytes", name, f.root.weight())
		}
	}
	s := of(`{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}`)
	v := url.Values{}
	for i := range maxRows + 10 {
		v = s.Change(v, "add p")
		v.Set(fmt.Sprintf("a:p/%d/a", i), "x")
		if f := s.Form(v); f.Fields[0].Kind == JSON { // too heavy: it goes on as JSON
			if !strings.HasPrefix(f.Fields[0].Value, `[`) || strings.Count(string(f.Arguments()), `"x"`) != i+1 {
				t.Errorf("after %d rows the value is lost: %.100s", i, f.Arguments())
			}
			return
		}
	}
	t.Error("a list grew without end")
}

// A schema of a megabyte takes no seconds: what no form shows is not looked at.
func TestWhatIsTooLongForAFormIsNotRead(t *testing.T) {
	long := func(one string) string { return strings.TrimSuffix(strings.Repeat(one, 1000), ",") }
	s := of(`{"anyOf":[` + long(`{"type":"string"},`) + `]}`)
	if f := s.Form(nil); f.Fields[0].Kind != JSON {
		t.Errorf("a union of 1,000 is %s", f.Fields[0].Kind)
	}
	members := ""
	for i := range 1000 {
		members += fmt.Sprintf(`"m%d":true,`, i)
	}
	s = Read([]byte(`{"type":"object","properties":{` + strings.TrimSuffix(members, ",") + `}}`))
	if p := s.spec(s.root); len(p.members()) > maxMembers+1 {
		t.Errorf("%d members are read", len(p.members()))
	}
}

func TestDeepJSONIsNotMostlyIndentation(t *testing.T) {
	for _, depth := range []int{100, 500, 20_000} {
		args := `{"free":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
		values := Read([]byte(order)).Fill([]byte(args))
		if shown := values.Get(Whole) + values.Get(inValue+"free"); len(shown) < 2*depth || len(shown) > len(args) {
			t.Errorf("%d levels become %d bytes", depth, len(shown))
		}
	}
}

func TestASchemaThatCannotBeReadIsJSON(t *testing.T) {
	for _, schema := range []string{`{`, `[]`, `{"type":"string"}`, `{"oneOf":[{"type":"object","properties":{"a":{}}},{"type":"object","properties":{"b":{}}}]}`} {
		s := Read([]byte(schema))
		if f := s.Form(nil); !f.Only || !f.Whole || string(f.Arguments()) != "{}" {
			t.Errorf("%s: %+v", schema, f)
		}
		if f := s.Form(s.Fill([]byte(`{"a":1}`))); f.JSON != `{"a":1}` {
			t.Errorf("%s: %+v", schema, f)
		}
	}
}

func FuzzForm(f *testing.F) {
	for _, args := range []string{`{"customer":{"id":1},"lines":[{"item":""}],"pay":{"by":"card"}}`, `{"a":[{}],"n":-0.0e-1}`, "{\"a\":\"\\ud800\x7f\"}"} {
		f.Add(order, args, "a:free={&r:lines=0", "add lines")
	}
	f.Add(`{"properties":{"":{"type":"string"},"a/b~":{"properties":{"":{"type":["string","null"]}}}}}`, `{"":"","a/b~":{"":null}}`, "", "json a~1b~0")
	f.Add(`[[[[`, `{"a":`, "a:a=%00", "form")
	f.Fuzz(func(t *testing.T, schema, args, query, button string) {
		s := Read([]byte(schema))
		posted, _ := url.ParseQuery(query) // what could be read is tried
		posted.Del(As)
		changed := s.Change(posted, button)
		for _, values := range []url.Values{posted, changed, s.Fill([]byte(args))} {
			form := s.Form(values)
			got := form.Arguments()
			if (!form.Whole || values.Get(As) == "") && !json.Valid(got) {
				t.Fatalf("no JSON: %q of %v", got, values)
			}
			form.Mark("/a", "x")
			_ = form.Check()
		}
		v, err := jsonschema.Parse([]byte(args))
		if err != nil || v.Kind != jsonschema.Object || !utf8.ValidString(args) { // nobody posts other text
			return
		}
		if got := s.Form(s.Fill([]byte(args))).Arguments(); !same(got, v) {
			t.Fatalf("%s comes back as %s", args, got)
		}
	})
}
