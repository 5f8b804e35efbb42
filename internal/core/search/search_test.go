package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"identifiers are cut at humps and acronyms", "getHTTPServerStatus2", "get http server status 2"},
		{"and at every other sign", "browser_take-screenshot.v3", "brows tak screenshot v 3"},
		{"endings do not count", "searches searching searched query queries", "search search search query query"},
		{"words that say nothing are left out", "Please show me what I can do with the files", "show fil"},
		{"Han characters stand alone and in pairs", "读取文件", "读 取 读取 文 取文 件 文件"},
		{"fillers stand in pairs only", "我的文件", "文 的文 件 文件"},
		{"two fillers say nothing", "请帮我", ""},
		{"scripts may be mixed", "用Excel打开", "用 excel 打 开 打开"},
		{"full-width letters are letters", "ＡＰＩ", "api"},
		{"accents do not count", "Café résumé", "caf resum"},
		{"a genitive is no word", "album's user’s", "album user"},
		{"Japanese and Korean are cut like Han", "検索 검색", "検 索 検索 검 색 검색"},
		{"Russian is lower-cased", "Создать Файл", "создать файл"},
		{"what is no UTF-8 is passed over", "a\xffbc \xc3", "bc"},
		{"keys and hashes are passed over", strings.Repeat("x", 80), ""},
		{"nothing gives nothing", " \t\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			words(c.text, func(term string) { got = append(got, term) })
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

// small is a catalog in two languages.
var small = []Doc{
	{ID: "files__read_file", Name: "read_file", Server: "files", Description: "Read the contents of a text file.", Schema: []byte(`{"properties":{"path":{"type":"string"}}}`)},
	{ID: "files__write_file", Name: "write_file", Server: "files", Description: "Write a text file."},
	{ID: "files__list_directory", Name: "list_directory", Server: "files", Description: "List what is in a directory."},
	{ID: "mail__send", Name: "send", Server: "mail", Description: "Send an email to somebody.", Tags: []string{"communication"}},
	{ID: "cloud__envQuery", Name: "envQuery", Server: "cloud", ServerDescription: "腾讯云开发", Description: "查询云开发环境列表和详情"},
	{ID: "cloud__deleteEnv", Name: "deleteEnv", Server: "cloud", ServerDescription: "腾讯云开发", Description: "删除一个环境"},
	{ID: "shop__orders", Name: "orders", Server: "shop", Description: "订单管理", Schema: []byte(`{"properties":{"filter":{"properties":{"state":{"enum":["refunded","paid"],"description":"退款状态"}}}}}`)},
	{ID: "odd__get", Name: "get", Server: "odd"},
	{ID: "weather__forecast", Name: "forecast", Server: "weather", Description: "Weather of the next days", Path: "GET /v1/forecast/{city}"},
}

func find(x *Index, text string) (names []string) {
	for _, r := range x.Search(Query{Text: text, Limit: 3}) {
		names = append(names, small[r.Index].ID)
	}
	return names
}

func TestSearchFinds(t *testing.T) {
	x := New(Read(small))
	cases := []struct{ name, text, want string }{
		{"by words of the description", "the contents of this file", "files__read_file"},
		{"a Chinese tool by a Chinese sentence", "帮我查一下有哪些云环境", "cloud__envQuery"},
		{"a Chinese tool by its act", "删除环境", "cloud__deleteEnv"},
		{"an English tool by a Chinese sentence", "读取文件", "files__read_file"},
		{"a Chinese tool by an English sentence", "remove the environment", "cloud__deleteEnv"},
		{"by another word for the same", "erase env", "cloud__deleteEnv"},
		{"by an enum value deep in the schema", "refunded", "shop__orders"},
		{"by text deep in the schema", "退款", "shop__orders"},
		{"by a tag", "communication", "mail__send"},
		{"by the server", "weather", "weather__forecast"},
		{"by the path of an operation", "city", "weather__forecast"},
		{"by its name, even one of words that say nothing", "get", "odd__get"},
		{"by its whole name", " Files__Write_File ", "files__write_file"},
		{"a word that is not written out", "direct", "files__list_directory"},
		{"several tools of one task", "Read the file of last week's notes, then send it by email to Ann.", "mail__send"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := find(x, c.text)
			if len(got) == 0 || got[0] != c.want && !(strings.Contains(c.name, "several") && slices.Contains(got[:2], c.want)) {
				t.Errorf("%q found %v, want %s", c.text, got, c.want)
			}
		})
	}
	for _, text := range []string{"", "   ", "the of and", "请帮我", "\xff\xfe"} {
		if got := find(x, text); got != nil {
			t.Errorf("%q found %v, want nothing", text, got)
		}
	}
}

func TestWhatIsNotAllowedIsNeitherFoundNorAMeasure(t *testing.T) {
	x := New(Read(small))
	q := Query{Text: "files__read_file", Allow: func(i int) bool { return i != 0 }, Memory: NewMemory([]Credit{NewCredit("files__read_file", "files__read_file", nil, labTime)})}
	got := x.Search(q)
	if len(got) == 0 || got[0].Score < 1 {
		t.Fatalf("the best of the allowed has the score %v, want at least 1", got)
	}
	for _, r := range got {
		if r.Index == 0 {
			t.Error("found what is not allowed")
		}
	}
	if near := x.Near("read_fil", 3, q.Allow); slices.Contains(near, 0) {
		t.Error("what is not allowed is near")
	}
}

func TestValuesAreTold(t *testing.T) {
	var got []string
	pieces(`send "hello world" and /etc/hosts to ann@example.com, it's v2 of 'x y'`, func(piece string, value bool) {
		if value {
			got = append(got, piece)
		}
	})
	if s := strings.Join(got, "|"); s != `"hello world"|/etc/hosts|ann@example.com,|v2|'x y'` {
		t.Error(s)
	}
}

func TestSearchIsDeterministic(t *testing.T) {
	docs := slices.Clone(small)
	for i := range 200 {
		docs = append(docs, Doc{Name: fmt.Sprintf("tool_%d", i), Description: "read some file again"})
	}
	q := Query{Text: "read a file, then send it by email; delete the environment", Limit: 50}
	want := New(Read(docs)).Search(q)
	for range 20 {
		if diff := cmp.Diff(want, New(Read(docs)).Search(q)); diff != "" {
			t.Fatal(diff)
		}
	}
	for _, at := range []int{0, 1, 3, 100, len(docs)} { // however the tools are grouped
		if diff := cmp.Diff(want, New(Read(docs[:at]), Read(docs[at:])).Search(q)); diff != "" {
			t.Fatal(diff)
		}
	}
	for i := 1; i < len(want); i++ {
		if a, b := want[i-1], want[i]; a.Score < b.Score || a.Score == b.Score && a.Index > b.Index {
			t.Errorf("%v stands before %v", a, b)
		}
	}
}

func TestNear(t *testing.T) {
	x := New(Read(small))
	cases := []struct{ name, text, want string }{
		{"a slip", "files__raed_file", "files__read_file"},
		{"another way to write it", "Files.ReadFile", "files__read_file"},
		{"without its server", "write-file", "files__write_file"},
		{"its words in another order", "directory_listing", "files__list_directory"},
		{"of another server", "drive__send", "mail__send"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := x.Near(c.text, 3, nil); len(got) == 0 || small[got[0]].ID != c.want {
				t.Errorf("near %s is %v, want %s", c.text, got, c.want)
			}
		})
	}
	if got := x.Near("", 3, nil); got != nil {
		t.Errorf("near nothing is %v", got)
	}
}

func TestOddSchemasAreRead(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"p":`, 300) + `{}` + strings.Repeat(`}}`, 300)
	for _, s := range []string{"", "null", "true", "[]", `{"properties":[]}`, `{"properties":{"a":1}}`, `{"enum":"x"}`, `{"anyOf":{}}`, `{"a`, deep,
		`{"$defs":{"n":{"properties":{"kid":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`, "{\"description\":\"\xff\"}"} {
		if x := New(Read([]Doc{{Name: "a_tool", Schema: []byte(s)}})); len(x.Search(Query{Text: "tool"})) != 1 {
			t.Errorf("a tool with the schema %.40q is not found", s)
		}
	}
	if x := New(Read(nil)); x.Len() != 0 || len(x.Search(Query{Text: "a tool"})) > 0 || len(x.Near("tool", 1, nil)) > 0 {
		t.Error("an empty index finds something")
	}
}

func TestAnOutsideModelWins(t *testing.T) {
	x := New(Read(small))
	vectors := [][]float32{{1, 0}, nil, {0, 1}, {1}, {.6, .8}}
	score := func(v []float32) map[int]float32 {
		all := map[int]float32{}
		for _, r := range x.Search(Query{Text: "zzzz", Limit: 9, Vector: v, Vectors: vectors}) {
			all[r.Index] = r.Score
		}
		return all
	}
	if got := score([]float32{0, 2}); got[2] != perMeaning || got[0] > 0 || got[1] > 0 || got[3] > 0 {
		t.Errorf("got %v", got)
	}
	nan := float32(0)
	nan /= nan
	for _, v := range [][]float32{{0, 0}, {nan, 1}} {
		if got := score(v); got[2] > 0 {
			t.Errorf("the vector %v finds %v", v, got)
		}
	}
}

func TestTheBuiltInModelFindsWhatWordsDoNot(t *testing.T) {
	x := New(Read(small))
	for text, want := range map[string]string{"rain and sunshine": "weather__forecast", "电子信箱": "mail__send"} {
		got := x.Search(Query{Text: text, Limit: 1, Allow: func(i int) bool { return small[i].Server != "cloud" }})
		if len(got) == 0 || small[got[0].Index].ID != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestThereIsAlwaysAnAnswer(t *testing.T) {
	x := New(Read([]Doc{{Name: "alpha"}, {Name: "beta"}}))
	got := x.Search(Query{Text: "zzzzqqqq", Allow: func(i int) bool { return i == 1 }})
	if len(got) != 1 || got[0].Index != 1 || got[0].Score >= Sure {
		t.Errorf("got %v", got)
	}
}

func TestWordsCountForWhatTheyAre(t *testing.T) {
	x := New(Read([]Doc{
		{Name: "parking", Description: "Parking lots near an address"},
		{Name: "web_search", Description: "Search the web"},
		{Name: "github_issues", Description: "List issues of a GitHub repository"},
		{Name: "send_message", Server: "whatsapp", Description: "Send a message to a chat"},
		{Name: "translate", Description: "Translate a text"},
		{Name: "uv_index", Description: "UV index of a place"},
	}))
	cases := []struct{ name, text, want string }{
		{"a name is not another word with its stem", "who is Park Ji-sung", "web_search"},
		{"a vague word alone is all there is", "Find the best restaurants in Miami", "web_search"},
		{"a brand is one word, however it is written", "write to Ann on WhatsApp", "send_message"},
		{"and the other way round", "open bugs on github", "github_issues"},
		{"a quoted text is a value", `translate "where can I find parking"`, "translate"},
		{"an address is a value", "search for https://docs.example.com/uv/index", "web_search"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := x.Search(Query{Text: c.text})
			if len(got) == 0 || x.id[got[0].Index] != c.want {
				t.Errorf("%s found %v", c.text, got)
			}
		})
	}
}

func FuzzSearch(f *testing.F) {
	x := New(Read(small))
	m := NewMemory([]Credit{NewCredit("mail__send", "write to Ann", nil, labTime), NewCredit("gone", "write", nil, labTime)})
	for _, s := range []string{"read a file", "000", "读取文件，然后发送邮件。", "a.b;c,d?e!f", "getHTTPServer", "\xff\xfe", "’s", "İstanbul ß"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		q := Query{Text: text, Limit: limit % 100, Memory: m, Now: labTime}
		got := x.Search(q)
		if most := q.Limit; most > 0 && len(got) > most {
			t.Fatalf("%d results, want at most %d", len(got), most)
		}
		for _, r := range got {
			if !(r.Score >= 0) || r.Index < 0 || r.Index >= x.Len() {
				t.Fatalf("%q: %v", text, r)
			}
		}
		x.Near(text, 3, nil)
	})
}

func FuzzPieces(f *testing.F) {
	for _, s := range []string{`say "hi there" to Ann's "x`, "open /etc/hosts and https://a.b/c?d=1", "把「你好」发给 a@b.cn，编号 A-12", "'a' ‘b’ `c` \xff\"", "~/x ./y / ."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var all strings.Builder
		pieces(text, func(piece string, _ bool) { all.WriteString(piece) })
		if all.String() != text {
			t.Fatalf("the pieces of %q are %q", text, all.String())
		}
		if same := eachName(text, func(word string) string { return word }); same != text {
			t.Fatalf("%q became %q", text, same)
		}
	})
}

func FuzzSchemaText(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"items":{"anyOf":[{"enum":["x"]}]}}},"$defs":{"d":{"description":"text"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		New(Read([]Doc{{Name: "a", Schema: raw}, {Name: "b", Schema: raw}}))
	})
}

// wide is a catalog of ten thousand tools: those of the sets, again under other names.
func wide(b testing.TB) ([]Doc, []labQuery) {
	s, _ := readSet(b, "sealtools")
	docs := s.docs()
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; len(docs) < 10_000; i++ {
		d := docs[i]
		other := docs[r.IntN(len(s.Tools))]
		d.ID = ""
		d.Name = d.Name + "Of" + other.Name
		d.Description = other.Description
		docs = append(docs, d)
	}
	return docs, s.Queries
}

func BenchmarkBuild10000(b *testing.B) {
	docs, _ := wide(b)
	b.ReportAllocs()
	for b.Loop() {
		New(Read(docs))
	}
}

func BenchmarkSearch500(b *testing.B) {
	docs, queries := wide(b)
	x := New(Read(docs[:500]))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Search(Query{Text: queries[i%len(queries)].Text, Limit: 10})
	}
}

func BenchmarkSearch10000(b *testing.B) {
	docs, queries := wide(b)
	x := New(Read(docs))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Search(Query{Text: queries[i%len(queries)].Text, Limit: 10})
	}
}
