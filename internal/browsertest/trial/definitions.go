package trial

import "encoding/json"

// The names of the tools for browser tests.
const (
	RunSteps    = "run_steps"
	FindElement = "find_element"
)

// Definitions are the tools for browser tests as lists show them.
func Definitions() []json.RawMessage {
	return []json.RawMessage{runStepsDefinition, findElementDefinition}
}

var runStepsDefinition = json.RawMessage(`{"name":"run_steps","title":"Run browser steps",` +
	`"description":"Run steps in the browser and report each: what was done, to which element, and what is there instead of what was expected. ` +
	`One sentence per line, such as: open https://example.com/ / type \"ann\" into the user name field / click Sign in -> see \"Welcome\" / ` +
	`在用户名输入框输入 \"admin\". Or a test file in YAML. No element is guessed: what is ambiguous fails and names the candidates.",` +
	`"inputSchema":{"type":"object","properties":{` +
	`"steps":{"anyOf":[{"type":"string","minLength":1},{"type":"array","minItems":1,"items":{"type":["object","string"]}},{"type":"object"}],` +
	`"description":"The steps, one per line, or a YAML test file; or a list of commands, or one, such as {action: fill, selector: user name field, value: ann} and {action: expect, selector: Welcome, condition: visible}."},` +
	`"base_url":{"type":"string","description":"What stands before addresses that begin with /."},` +
	`"vars":{"type":"object","additionalProperties":{"type":"string"},"description":"Values for ${name}."},` +
	`"model":{"type":"string","description":"A model of the gateway that is asked which element is meant, where the words do not lead to one. Left out: none is."}},` +
	`"required":["steps"],"additionalProperties":false},` +
	`"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}}`)

var findElementDefinition = json.RawMessage(`{"name":"find_element","title":"Find an element of the page",` +
	`"description":"Find the one element of the browser's page that a description means, in English or Chinese, such as: the Delete button in the row of SO-1003. ` +
	`Answers {ref, text, confidence}, or why there is none, with candidates. The ref is good until the page changes.",` +
	`"inputSchema":{"type":"object","properties":{` +
	`"description":{"type":"string","minLength":1,"description":"The element in words, or a selector."},` +
	`"action":{"type":"string","enum":["click","fill","select","check"],"description":"What is to be done with it, which says what kinds of elements count."}},` +
	`"required":["description"],"additionalProperties":false},` +
	`"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":true}}`)
