package main

import (
	"slices"

	"github.com/toolfit/toolfit/internal/testkit/corpora"
)

// section is a part of the page.
type section struct {
	title, say, chart string
	tables            []table
}

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
	if m.against != "" {
		other, have := figure(row, m.against)
		known = known && have
		limit += other
	}
	const chance = 1e-9 // of reckoning
	return known && (m.most && v > limit+chance || !m.most && v < limit-chance)
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
	{column: "sound", against: "at best", by: -.5, say: "values of the fitted schema that the original does not take, more than half a point beyond its own"},
	{column: "silent", most: true, say: "such values of which the plan says nothing"},
	{column: "complete", by: 100, say: "values that the fitted schema should take, and does not"},
	{column: "comes back", by: 100, say: "values that come back changed"},
	{column: "paths", by: 99, say: "properties that are no longer there, above 1 %"},
	{column: "strict", by: 90, say: "schemas that a strict dialect gets in its strict form, below 90 %"},
}

var schemaTables = []table{
	{"schema toucan_mcp_tools", "Toucan, 870 MCP servers", schemaMarks},
	{"schema docker_mcp_registry_tools", "Docker registry", schemaMarks},
	{"schema openapi_ops_dev", "OpenAPI operations", schemaMarks},
}

var sections = []section{
	{"Schemas for each provider", "Each schema is planned for each dialect ([schema.md](schema.md)). *Accepted*: by the rules of the dialect. " +
		"*Sound*: of values made from the fitted schema, those that the original takes after the way back; *at best* is the same for values made " +
		"from the original, since the generator misses some. *Silent*: unsound, and the plan does not say so. *Complete*: of values that the original takes, " +
		"those that the fitted schema takes too; all must *come back* unchanged. *Paths*: properties that are still there. " +
		"*Strict*: schemas that got the provider's strict form, the others fell back. The chart is what is lost in soundness. " +
		"The last table sends calls of open sets there and back.", "fit-schema.svg",
		append(slices.Clone(schemaTables), table{"schema calls", "calls that are taken and come back", []mark{
			{by: 100, say: "calls that are not taken, or come back changed"},
		}})},
	{"Search", "The share of needed tools among the first ten, and how often the *first* is needed. Plain BM25F has the same fields, weights and stems. " +
		"*Words* is without the built-in model. *Gain elsewhere* leaves the set out: it is the mean gain over plain BM25F on all other sets with †; " +
		"a change of weights was taken only if that rose. Sets without † were never used to choose anything. " +
		"The second table has half of the queries as memory of earlier use, and asks the other half.", "fit-search.svg",
		[]table{
			{"search", "set", []mark{
				{column: "toolfit", against: "plain BM25F", say: "fewer needed tools than plain BM25F"},
				{column: "toolfit", against: "words", say: "fewer needed tools than without the model"},
				{column: "first, toolfit", against: "first, plain", say: "the first tool is needed less often than with plain BM25F"},
				{column: "first, toolfit", against: "first, words", say: "the first tool is needed less often than without the model"},
				{column: "toolfit", by: 75, say: "more than a quarter of the needed tools is not among the first ten"},
				{column: "first, toolfit", by: 50, say: "more often than not the first tool is not needed"},
			}},
			{"search memory", "memory of earlier use", []mark{
				{column: "30 a tool", against: "none", say: "memory makes it worse"},
				{column: "first, 30", against: "first, none", say: "memory makes the first tool worse"},
			}},
		}},
	{"Arguments", "Arguments made for real schemas, as they are and with one mistake each: numbers and objects in strings, Python's spelling, other cases, misspelled " +
		"and missing keys. *Left alone*: right arguments that pass unchanged. *Mended*: exactly what it was before the mistake. *Hopeless*: mistakes that " +
		"nobody can mend; they must be *refused* at the right place. *Valid*: of all that is passed on, what the schema takes, by another validator.", "", []table{
		{"arguments", "set", []mark{
			{column: "left alone", by: 100, say: "right arguments that are changed or refused"},
			{column: "mended", by: 99.9, say: "mistakes that could be mended and are not, above 0.1 %"},
			{column: "refused", by: 100, say: "hopeless mistakes that are not refused at the right place"},
			{column: "valid", by: 100, say: "arguments that are passed on and that the schema does not take"},
			{column: "verdicts alike", by: 100, say: "arguments about which the two validators differ"},
		}},
	}},
	{"Keys and levels", "What models get wrong about keys, where nothing forbids unknown ones. Rules were tuned on one half of the servers; the other columns are the other half " +
		"(only the list of usual words is made from both). *Refused, key named*: the answer names the right key. *Passed on*: the tool gets it as it is. " +
		"Traps look like mistakes that can be mended, and cannot.", "fit-keys.svg", []table{
		{"keys", "mistake", []mark{
			{column: "mended", by: 90, say: "less than 90 % are mended"},
			{column: "mended", against: "tuned half †", by: -2, say: "worse by two points and more than on the half that rules were tuned on"},
			{column: "mended wrongly", most: true, say: "mended into something else"},
			{column: "passed on", by: 5, most: true, say: "more than 5 % are passed on with the mistake"},
		}},
		{"traps", "trap", []mark{{column: "mended wrongly", most: true, say: "mended into something else"}}},
	}},
	{"Calls of open sets", "Calls that people wrote down as the right ones. τ²-bench: the actions that solve its tasks, against schemas read from the signatures of its Python tools; " +
		"*inner* are the calls that banking's agent makes through a text. NESTFUL: the steps of its chains, with a value of the declared type for what an earlier step returns. " +
		"*Right by schema* is the word of another validator: what is not right there is a fault of the data, and is mended or refused. " +
		"The second table makes the mistakes of the two sections above in the right ones.", "fit-calls.svg", []table{
		{"calls", "set", []mark{
			{column: "right, yet not passed on", most: true, say: "right calls that are changed or refused"},
			{column: "refused", most: true, say: "calls of people that are refused, right or not"},
			{column: "mended", most: true, say: "calls of people that are changed, right or not"},
		}},
		{"mistakes in calls", "set", []mark{
			{column: "mended", by: 99, say: "less than 99 % of the mistakes are mended"},
			{column: "refused", by: 100, say: "hopeless mistakes that are not refused at the right place"},
			{column: "valid", by: 100, say: "arguments that are passed on and that the schema does not take"},
			{column: "keys mended", by: 90, say: "less than 90 % of the mistakes in keys are mended"},
			{column: "mended wrongly", most: true, say: "mended into something else"},
		}},
	}},
	{"Results within a budget", "Results of real servers and of the shapes that APIs have, cut to a number of tokens ([results.md](results.md)). Of the values that a later call may need, " +
		"drawn at random, how many are *still there*; a *plain cut* keeps the first tokens of the text. What is not shown is stored and one call away.", "fit-budgets.svg", []table{
		{"budgets", "budget", []mark{
			{column: "still there", against: "plain cut", say: "fewer than a plain cut keeps"},
			{column: "still there", by: 75, say: "more than a quarter of what may be needed is not shown"},
			{column: "too long after it", most: true, say: "results that are over the budget after it"},
		}},
	}},
	{"Elements of pages", "Sentences of people, in Chinese and English, for an element of a recorded page ([steps.md](steps.md)), by page. *Right* includes refusals where nothing, or more than " +
		"one thing, is meant. *None* is a refusal where there was an element, or the other kind of refusal.", "", []table{
		{"finder", "page", []mark{
			{column: "wrong", most: true, say: "another element"}, {column: "none", most: true, say: "no element, or the wrong refusal"},
		}},
	}},
	{"Suspicious definitions", "What the scan ([safety.md](safety.md)) says about labelled definitions, and about real ones that are taken to be harmless, 200 at a time. The lexicon was written after reading the misses: " +
		"before that it found 35 of the 51 attacks and held 8 of the 49 others. That is what to expect of new ones.", "", []table{
		{"scan", "definitions", []mark{
			{column: "found", by: 100, say: "attacks that are not found"}, {column: "held", by: 1, most: true, say: "more than 1 % of the harmless ones are held"},
		}},
	}},
	{"Tokens", "What tools cost as text ([search.md](search.md#tools-as-text)), and what ten jobs cost a model as a list of tools, as a search and as scripts ([scripts.md](scripts.md#what-it-saves)); " +
		"*read in all* is the sum over turns. No model is run: what a good one would send is written down. The jobs are our own, and five chains of NESTFUL.", "", []table{
		{"text", "format", nil},
		{"scripts", "way", nil},
	}},
}

// unmeasured is what nobody can measure with what there is.
var unmeasured = []string{
	"Replay: there are no recorded conversations of people in the repository or in `TOOLFIT_DATA`. Those of τ²-bench are replayed where a copy has them.",
	"Leave one out: weights of the search and rules for keys have figures for what was left out above. Dialects, the finder, budgets and the scan have rules " +
		"that people wrote; they cannot be written anew without one set. Of dialects and arguments, the open sets without † stand for it.",
	"Models: no figure here says how well a model does with toolfit.",
}
