package console

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolfit/toolfit/internal/entrance/restapi"
)

// scriptPart is the script that a call ran, and what it called.
type scriptPart struct {
	Code, Input block
	Fall        *waterfall
}

// maxScriptCalls is how many calls of a script are read; one pass makes fewer.
const maxScriptCalls = 1000

// scriptOf is the script of a call; nil if it ran none.
func (c *Console) scriptOf(v *visit, one restapi.Call) (*scriptPart, error) {
	if one.Script == nil {
		return nil, nil
	}
	rows, more, err := c.madeBy(v, one.ID, one.Script)
	if err != nil {
		return nil, err
	}
	p := &scriptPart{Code: listing(text(v.lang, "script.title"), one.Script.Code)}
	if one.Script.Input != nil {
		p.Input = code(text(v.lang, "script.input"), one.Script.Input)
	}
	whole := fallRow{Call: one}
	p.Fall = waterfallOf(v.lang, rows, "", one.At, whole.end())
	p.Fall.More = more
	p.Fall.Open = one.Open()
	p.Fall.List = with(c.at("/calls"), url.Values{}, "parent", one.ID)
	return p, nil
}

// madeBy are the calls that a call made, by their records and by the log of its script, if it has one. The log knows the names,
// the records the times; each may lack some.
func (c *Console) madeBy(v *visit, id string, script *restapi.Script) (rows []fallRow, more bool, err error) {
	records, err := c.Calls.ListCalls(v.Context(), v.who, url.Values{"parent": {id}, "limit": {strconv.Itoa(maxScriptCalls)}}, 0)
	if err != nil {
		return nil, false, err
	}
	var log []restapi.ScriptCall
	if script != nil {
		log = script.Log
	}
	rows = joined(log, records.Calls)
	for i := range rows {
		rows[i].Parent = id
	}
	return rows, records.Next != "", nil
}

// joined are the calls of the log with their records, and the records that are in no log. What has no record begins with what
// the script called before it.
func joined(log []restapi.ScriptCall, records []restapi.Call) (rows []fallRow) {
	var last time.Time
	for _, e := range log {
		one := fallRow{Name: e.Name, Log: e}
		if i := slices.IndexFunc(records, func(r restapi.Call) bool { return r.ID == e.Call && e.Call != "" }); i >= 0 {
			one.Call = records[i]
			records = slices.Delete(records, i, i+1)
		}
		if one.ID == "" {
			one.At = last
		}
		last = one.At
		rows = append(rows, one)
	}
	slices.Reverse(records)
	return append(rows, fallRows(records)...)
}

// listing is a block of text with a number before each line.
func listing(label, text string) block {
	return newBlock(label, []byte(text), maxProse, func(shown string) template.HTML {
		var b strings.Builder
		for line := range strings.Lines(plain(shown)) {
			b.WriteString(`<span class="line">` + template.HTMLEscapeString(line) + "</span>")
		}
		return template.HTML(b.String())
	})
}
