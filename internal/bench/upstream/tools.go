package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// schema is that of most tools: with it a definition has the size that is common in the wild.
const schema = `{"type":"object",` +
	`"properties":{"path":{"type":"string","description":"Where to look, from the top of the project."},` +
	`"depth":{"type":"integer","minimum":0,"maximum":32,"description":"How far down to go."},` +
	`"order":{"type":"string","enum":["name","size","time"],"description":"What comes first."},` +
	`"match":{"type":"object","properties":{"text":{"type":"string"},"case":{"type":"boolean"}}}},"required":["path"]}`

const echoText = "Return the message."

// filling makes the definitions of echo and big as large as the others, so that a list depends only on how many tools it has.
var filling = strings.Repeat(" "+filler, 18)

const filler = "Its words say nothing of use."

// benchTools holds echo, big and n-2 more, or echo alone.
func benchTools(n int) []byte {
	tools := []string{
		`{"name":"echo","description":"` + echoText + filling + `",` +
			`"inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}`,
		`{"name":"big","description":"Return rows.` + filling + `","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}}`,
	}
	for i := len(tools); i < n; i++ {
		tools = append(tools, fmt.Sprintf(`{"name":"filler_%03d","description":"Tool %d is here to be listed. %s","inputSchema":%s}`,
			i, i, strings.Repeat(filler+" ", 6), schema))
	}
	return toolList(tools[:n])
}

func toolList(tools []string) []byte { return []byte(`{"tools":[` + strings.Join(tools, ",") + `]}`) }

// Words that growth's tools are named with: each server has every pair of a verb and a noun.
var (
	verbs = strings.Fields("archive approve assign cancel compare convert copy count delete download " +
		"export import list merge move publish rename restore review upload")
	nouns = strings.Fields("account address agenda album alert apartment article asset badge balance " +
		"banner basket batch bill booking branch brochure budget building bundle " +
		"calendar campaign card catalogue certificate channel chapter charter claim client " +
		"clinic colour comment commit company component concert contact container contract " +
		"cookbook coupon course courier credit customer dashboard dataset deadline delivery " +
		"deposit device diagram discount document domain donation driver employee engine " +
		"event exam exhibit expense factory festival flight folder forecast form " +
		"garden gift grade graph guest harvest hotel image incident ingredient " +
		"inspection interview invoice item journal journey key label lease ledger " +
		"lesson letter licence lobby locker machine map meal medal meeting")
)

// GrowthName is the i-th tool of a server, and words by which to look for it.
func GrowthName(i int) (name, query string) {
	at := i * 1009 % MostGrowth // coprime to the number of pairs, so that none comes twice
	verb, noun := verbs[at%len(verbs)], nouns[at/len(verbs)]
	return verb + "_" + noun, verb + " a " + noun
}

// MostGrowth is how many tools a server of SetGrowth can have.
var MostGrowth = len(verbs) * len(nouns)

var areas = strings.Fields("sales travel school health music factory office kitchen museum harbour")

// growthTools are n tools of one of several servers.
func growthTools(server, n int) []byte {
	area := areas[server%len(areas)]
	tools := make([]string, n)
	for i := range tools {
		name, query := GrowthName(i)
		tools[i] = fmt.Sprintf(`{"name":%q,"description":"Use this to %s of the %s. It takes where to look and how far down to go, `+
			`and gives what was done, with the time and the person.","inputSchema":%s}`, name, query, area, schema)
	}
	return toolList(tools)
}

// bigResult is so many bytes of JSON as text, as many servers answer.
func bigResult(size int) []byte {
	var rows bytes.Buffer
	rows.WriteString(`{"rows":[`)
	for i := 0; rows.Len() < size; i++ {
		fmt.Fprintf(&rows, `{"id":%d,"label":"row %d","state":"ready","size":%d,"tags":["a","b"]},`, i, i, i*37)
	}
	rows.WriteString(`{"id":-1}]}`)
	text, _ := json.Marshal(rows.String()) // a string always works
	return textResult(text)
}
