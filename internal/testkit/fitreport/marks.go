package main

import "github.com/toolfit/toolfit/internal/testkit/corpora"

// table shows the rows that labs report under an id.
type table struct {
	id, title string
	marks     []mark
}

// mark is what a column, or each if it names none, should reach: a number, or another column and a number of points more or less.
type mark struct {
	column, against string
	by              float64
	most            bool // it should not be more, rather than not less
	say             string
}

func (m mark) missed(row corpora.Row) bool {
	v, known := figure(row, m.column)
	limit := m.by
	slack := 1e-9 // sums are not exact
	if m.against != "" {
		other, have := figure(row, m.against)
		known = known && have
		limit += other
		slack = .05 // which the page does not show
	}
	return known && (m.most && v > limit+slack || !m.most && v < limit-slack)
}

func (m mark) show(row corpora.Row) string {
	text := cell(row, m.column)
	if m.against != "" {
		text += " (" + m.against + " " + cell(row, m.against) + ")"
	}
	return text
}

var schemaMarks = []mark{
	{column: "refused", most: true, say: "schemas for which there is no fitted one"},
	{column: "accepted", by: 100, say: "fitted schemas that the dialect's rules do not take"},
	{column: "dangling", most: true, say: "references that lead nowhere"},
	{column: "sound", against: "at best", by: -.5, say: "values of the fitted schema that the original does not take, more than " +
		"half a point beyond its own"},
	{column: "silent", most: true, say: "such values of which the plan says nothing"},
	{column: "complete", by: 100, say: "values that the fitted schema should take, and does not"},
	{column: "comes back", by: 100, say: "values that come back changed"},
	{column: "paths", by: 99, say: "properties that are no longer there, above 1 %"},
	{column: "strict", by: 90, say: "schemas that a strict dialect gets in its strict form, below 90 %"},
}

// tables are those of the page, in its order.
var tables = []table{
	{"schema toucan_mcp_tools", "Toucan, 870 MCP servers", schemaMarks},
	{"schema docker_mcp_registry_tools", "Docker registry", schemaMarks},
	{"schema openapi_ops_dev", "OpenAPI operations", schemaMarks},
	{"schema calls", "calls through dialects", []mark{{by: 100, say: "not taken, or changed when they come back"}}},
	{"search", "search", []mark{
		{column: "toolfit", against: "plain BM25F", say: "fewer needed tools than plain BM25F finds"},
		{column: "toolfit", against: "words", say: "fewer needed tools than without the model"},
		{column: "first, toolfit", against: "first, plain", say: "the first tool is needed less often than with plain BM25F"},
		{column: "first, toolfit", against: "first, words", say: "the first tool is needed less often than without the model"},
		{column: "toolfit", by: 75, say: "more than a quarter of the needed tools is not among the first ten"},
		{column: "first, toolfit", by: 50, say: "more often than not the first tool is not needed"},
	}},
	{"search memory", "memory of earlier use", []mark{
		{column: "30 a tool", against: "none", say: "it makes the first ten worse"},
		{column: "first, 30", against: "first, none", say: "it makes the first tool worse"},
	}},
	{"arguments", "arguments", []mark{
		{column: "left alone", by: 100, say: "right ones that are changed or refused"},
		{column: "mended", by: 99.9, say: "mistakes that could be mended and are not, above 0.1 %"},
		{column: "refused", by: 100, say: "hopeless mistakes that are not refused at the right place"},
		{column: "valid", by: 100, say: "what is passed on and the schema does not take"},
		{column: "verdicts alike", by: 100, say: "the two validators differ"},
	}},
	{"keys", "mistakes in keys", []mark{
		{column: "mended", by: 90, say: "less than 90 % are mended"},
		{column: "mended", against: "tuned half †", by: -2, say: "two points and more below the half that rules were tuned on"},
		{column: "mended wrongly", most: true, say: "mended into something else"},
		{column: "passed on", by: 5, most: true, say: "more than 5 % are passed on with the mistake"},
	}},
	{"traps", "traps", []mark{{column: "mended wrongly", most: true, say: "mended into something else"}}},
	{"calls", "calls of open sets", []mark{
		{column: "right, yet not passed on", most: true, say: "right ones that are changed or refused"},
		{column: "refused", most: true, say: "refused, right or not"},
		{column: "mended", most: true, say: "changed, right or not"},
	}},
	{"mistakes in calls", "mistakes in calls of open sets", []mark{
		{column: "mended", by: 99, say: "less than 99 % are mended"},
		{column: "refused", by: 100, say: "hopeless ones that are not refused at the right place"},
		{column: "valid", by: 100, say: "what is passed on and the schema does not take"},
		{column: "keys mended", by: 90, say: "less than 90 % of those in keys are mended"},
		{column: "mended wrongly", most: true, say: "mended into something else"},
	}},
	{"budgets", "budgets", []mark{
		{column: "still there", against: "plain cut", say: "less than a plain cut keeps"},
		{column: "still there", by: 75, say: "more than a quarter of what may be needed is not shown"},
		{column: "too long after it", most: true, say: "results that are over the budget after it"},
	}},
	{"finder", "elements of pages", []mark{
		{column: "wrong", most: true, say: "another element"},
		{column: "none", most: true, say: "no element, or the wrong refusal"},
	}},
	{"scan", "suspicious definitions", []mark{
		{column: "found", by: 100, say: "attacks that are not found"},
		{column: "held", by: 1, most: true, say: "more than 1 % of the harmless ones are held"},
	}},
	{"text", "format", nil},
	{"scripts", "way", nil},
}
