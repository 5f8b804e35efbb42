package prompt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// maxKinds limits the topics listed for a server.
const maxKinds = 6

// Overview names the servers and what their tools are about, on one line within the budget: "files
// (directory, file), github (issue, pull request)". It depends only on the tools.
func Overview(tools []Tool, budget int, count func([]byte) int) string {
	byServer := map[string][]Tool{}
	for _, t := range tools {
		byServer[t.Server] = append(byServer[t.Server], t)
	}
	servers := slices.Sorted(maps.Keys(byServer))
	kinds := make([][]string, len(servers))
	for i, s := range servers {
		kinds[i] = kindsOf(s, byServer[s])
	}
	for most := maxKinds; most >= 0; most-- {
		if text := overview(servers, kinds, most); count([]byte(text)) <= budget {
			return text
		}
	}
	for n := len(servers) - 1; n > 0; n-- {
		text := fmt.Sprintf("%s and %d more", overview(servers[:n], kinds, 0), len(servers)-n)
		if count([]byte(text)) <= budget {
			return text
		}
	}
	return fmt.Sprintf("%d servers", len(servers))
}

func overview(servers []string, kinds [][]string, most int) string {
	parts := make([]string, len(servers))
	for i, s := range servers {
		parts[i] = oneLine(s)
		if list := kinds[i][:min(most, len(kinds[i]))]; len(list) > 0 {
			parts[i] += " (" + strings.Join(slices.Sorted(slices.Values(list)), ", ") + ")"
		}
	}
	return strings.Join(parts, ", ")
}

// kindsOf lists the topics of a server's tools, most common first: their tags, or the nouns in
// their names.
func kindsOf(server string, tools []Tool) []string {
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
