// Package shape writes a JSON text shorter without losing anything: without white space,
// and arrays of like objects as tables, with columns that are the same in all rows named
// once. It never changes what is already short, and never makes a text longer.
//
//	{"total":3,"items":[{"id":1,"owner":{"login":"a"},"state":"open"}, …]}
//
// becomes
//
//	total: 3
//	items[3]:
//	all rows: state=open
//	id,owner.login
//	1,a
//	2,b
//	3,"c, d"
//
// A line is "name: value", or "name[rows]:" and a table; the members of an object that
// holds a table are named "object.member". A table is an optional line of constants, a
// line of columns, and the rows. A value is JSON, or a string without its quotes where it
// cannot be taken for anything else. An empty cell is a member that the row does not have.
package shape

import (
	"github.com/toolfit/toolfit/internal/base/rawjson"
	"github.com/toolfit/toolfit/internal/core/project/mask"
	"github.com/toolfit/toolfit/internal/core/tokens"
)

// Mode says how texts may be written.
type Mode string

const (
	Off   Mode = "off"   // as they came
	JSON  Mode = "json"  // JSON without white space
	Table Mode = "table" // tables wherever that is shorter
	Auto  Mode = "auto"  // tables where that is shorter by a tenth or more, else JSON without white space
)

// Text writes a JSON text in the mode. False: it stays as it is, or would not get shorter.
func Text(src []byte, mode Mode) ([]byte, bool) {
	if mode != JSON && mode != Table && mode != Auto {
		return nil, false
	}
	compact, err := mask.Compact(make([]byte, 0, len(src)), src)
	if err != nil || len(compact) == 0 {
		return nil, false
	}
	if mode != JSON && rawjson.Check(compact) == nil { // not so deep that a walk would end early
		most := tokens.Estimate(compact) - 1
		if mode == Auto {
			most = most * 9 / 10
		}
		if table, ok := document(compact); ok && len(table) < len(src) && tokens.Estimate(table) <= most {
			return table, true
		}
	}
	return compact, len(compact) < len(src)
}
