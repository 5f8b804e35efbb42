package steps

import (
	"regexp"
	"strings"

	"github.com/toolfit/toolfit/internal/browsertest/grammar"
)

// trim takes off what surrounds a sentence without being part of it.
func trim(s string) string {
	s = strings.TrimSpace(unfilled(s))
	s = byWhom.ReplaceAllString(s, "$1")
	s = strings.TrimSpace(strings.TrimRight(s, "。.;；,，!！ "))
	return afterwards.ReplaceAllString(s, "")
}

// unfilled takes off what stands before the verb and says nothing of what is done.
func unfilled(s string) string {
	s = strings.TrimLeft(s, " \t")
	if !grammar.IsPersonName(s) {
		s = strings.TrimLeft(polite.ReplaceAllString(s, ""), " \t")
	}
	for !grammar.IsPersonName(s) {
		rest := fillers.ReplaceAllString(s, "")
		if rest == s || !starts.MatchString(rest) && !fillers.MatchString(rest) && !placeFirst(rest) {
			break
		}
		s = rest
	}
	return s
}

var polite = regexp.MustCompile(`^(?:请|首先|先|最后|然后|接着|[Pp]lease\s+|[Ff]irst,?\s+|[Tt]hen\s+|[Ff]inally,?\s+|(?:When|Given|And|But)\s+)`)

var (
	// fillers stand before a verb and say nothing of what is done, after what follows it.
	fillers = regexp.MustCompile(`(?i)^(?:请你?|麻烦你?|劳驾|帮我|帮忙|依次|分别|你需要|现在|接下来|之后|最后|再|` +
		`(?:please|kindly|just|simply|now|next|first|then|finally|lastly|also|after\s+(?:that|this)|afterwards),?\s+|` +
		`(?:could|can|would|will)\s+you\s+|(?:I|we|you)(?:'d|\s+would)?\s+(?:(?:want|like|need)\s+(?:you\s+)?to|have\s+to` +
		`|should|must|can)\s+|` +
		`let(?:'s|\s+us)\s+|go\s+ahead\s+and\s+|(?:try|remember|be\s+sure|proceed|your\s+task\s+is)\s+to\s+)`)
	asks       = regexp.MustCompile(`(?i)^\s*(?:please\s+)?(?:could|can|would|will)\s`)
	afterwards = regexp.MustCompile(`(?i)\s*,?\s+(?:please|for\s+me|in\s+(?:that|this)\s+order)$` +
		`|\s+(?:in\s+order\s+)?to\s+(?:open|expand|show|select|close)\s+(?:it|them)$`)
)

// byWhom is who does it, and with what, before a verb that would do alone.
var byWhom = regexp.MustCompile(`^(?:(?:I|we|you|We|You)\s+|(?:用|使用)?鼠标(?:左键)?)((?:see|should|must` +
	`|` + anyOf(wordsOf(enWords)) + `)\s|点击|单击|双击|右键|右击)`)

var (
	place      = regexp.MustCompile(`(?i)^(?:in|into|on|from|under|within|inside|for|using|with|as|use)\s+(?:(?:the|an?|this|your)\s+)?`)
	thenVerb   = regexp.MustCompile(`(?i)^\S.{0,80}?,?\s+(?:to\s+)?` + anyOf(wordsOf(enWords)) + `\s`)
	conditions = regexp.MustCompile(`(?i)^(?:if|unless|in\s+case|whenever|as\s+long\s+as|while)\b|^(?:如果|假如|要是|若|除非)`)
	negations  = regexp.MustCompile(`(?i)^(?:do\s+not|don['’]t|never|avoid|refrain|without|不要|别(?:再|点|选|勾|按|输|填)|勿|请勿|不得|无需|不用)`)
)

// placeFirst tells whether a sentence names a place and then says what to do there.
func placeFirst(s string) bool {
	at := place.FindString(s)
	return at != "" && thenVerb.MatchString(s[len(at):])
}
