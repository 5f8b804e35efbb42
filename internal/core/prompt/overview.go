package prompt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode"
)

// maxKinds limits the topics listed for a server.
const maxKinds = 6

// Server is a server in an overview.
type Server struct {
	Name   string
	Topics []string // as Topics returns them
}

// Overview names the servers and what their tools are about, on one line within the budget: "files
// (directory, file), github (issue, pull request)".
func Overview(list []Server, budget int, count func([]byte) int) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	fits := func(text string) bool { return count([]byte(text)) <= budget }
	if names := overview(list, 0); fits(names) {
		for most := maxKinds; most > 0; most-- {
			if text := overview(list, most); fits(text) {
				return text
			}
		}
		return names
	}
	some := func(n int) string { return fmt.Sprintf("%s and %d more", overview(list[:n], 0), len(list)-n) }
	// A name always costs more than a digit less of the number.
	if n := sort.Search(len(list), func(n int) bool { return n > 0 && !fits(some(n)) }) - 1; n > 0 {
		return some(n)
	}
	return fmt.Sprintf("%d servers", len(list))
}

func overview(servers []Server, most int) string {
	parts := make([]string, len(servers))
	for i, s := range servers {
		parts[i] = oneLine(s.Name)
		if list := s.Topics[:min(most, len(s.Topics))]; len(list) > 0 {
			parts[i] += " (" + strings.Join(slices.Sorted(slices.Values(list)), ", ") + ")"
		}
	}
	return strings.Join(parts, ", ")
}

// Topics lists the topics of a server's tools, most common first: their tags, or the nouns in
// their names. They depend only on the tools.
func Topics(server string, tools []Tool) []string {
	times := map[string]int{}
	for _, t := range tools {
		for _, tag := range t.Tags {
			times[oneLine(tag)]++
		}
	}
	if len(times) == 0 {
		for _, t := range tools {
			for _, word := range subject(strings.TrimPrefix(t.Name, server+"__")) {
				times[word]++
			}
		}
	}
	delete(times, strings.ToLower(server))
	list := slices.Sorted(maps.Keys(times))
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	return list
}

// subject returns the words of a tool's name that say what it is about.
func subject(name string) []string {
	var list []string
	var word []rune
	end := func() {
		if w := strings.ToLower(string(word)); len(w) > 2 && !verbs[w] {
			list = append(list, w)
		}
		word = word[:0]
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(r) && lower {
			end()
		}
		lower = !unicode.IsUpper(r)
		word = append(word, r)
	}
	end()
	return list
}

// verbs are words in names that say what is done, or nothing.
var verbs = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`get set list read write create delete remove update edit add put post patch fetch find search query
		run execute call send make show view check new all with for and the from into tool tools mcp api info information data details by
		start stop open close move copy upload download generate analyze calculate convert manage upsert insert`) {
		set[w] = true
	}
	return set
}()
