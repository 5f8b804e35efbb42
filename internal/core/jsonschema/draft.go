package jsonschema

import "strings"

// Draft is the version of JSON Schema that a document is written in.
type Draft int

// The drafts that differ in meaning.
const (
	Draft4    Draft = 4
	Draft6    Draft = 6
	Draft7    Draft = 7
	Draft2019 Draft = 2019
	Draft2020 Draft = 2020
)

var drafts = []struct {
	word  string
	draft Draft
}{{"draft-03", Draft4}, {"draft-04", Draft4}, {"draft-06", Draft6}, {"draft-07", Draft7}, {"2019-09", Draft2019}}

// DraftOf returns the draft named by $schema, or the newest.
func DraftOf(root *Node) Draft {
	name := root.Str("$schema")
	for _, d := range drafts {
		if strings.Contains(name, d.word) {
			return d.draft
		}
	}
	return Draft2020
}

// RefAlone reports whether the draft ignores the keywords beside a $ref.
func (d Draft) RefAlone() bool { return d < Draft2019 }
