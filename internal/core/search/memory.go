package search

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Credit records that a query led to a tool. It has the query's terms, not its text, and the
// tools that were called before it for the same query, each as a term of its own.
type Credit struct {
	Tool  string    `json:"tool"` // its ID
	Terms []string  `json:"terms"`
	At    time.Time `json:"at"`
}

// helperTerm is the beginning of a term that stands for a tool. No word has it.
const helperTerm = "@"

// NewCredit credits a tool with a query and the tools that were called before it.
func NewCredit(tool, query string, before []string, at time.Time) Credit {
	var terms []string
	for _, t := range count(clip(query, maxText)) {
		if !vague[t.term] {
			terms = append(terms, t.term)
		}
	}
	terms = terms[:min(len(terms), maxTerms)]
	for _, helper := range before {
		if helper != tool {
			terms = append(terms, helperTerm+helper)
		}
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	return Credit{Tool: tool, Terms: terms, At: at}
}

const (
	maxCredits = 30 // per tool; the oldest is dropped
	maxTerms   = 64 // per credit
)

// halfLife is the time after which a credit counts half.
const halfLife = 90 * 24 * time.Hour

// Memory is what one owner's queries led to. It is safe for concurrent use. Use one Memory per
// owner.
type Memory struct {
	mu     sync.RWMutex
	tools  map[string]int32
	byTool []remembered
	terms  map[string][]trace
	total  float64 // sum of the weights of all credits
	count  int     // number of all credits
}

// remembered is a tool with its credits, oldest first.
type remembered struct {
	id      string
	credits []Credit
	weight  float64 // sum over credits
}

// trace is one credit in the list of a term.
type trace struct {
	tool   int32
	weight float64
}

// NewMemory returns a memory with the given credits.
func NewMemory(credits []Credit) *Memory {
	m := &Memory{tools: map[string]int32{}, terms: map[string][]trace{}}
	for _, c := range credits {
		m.Add(c)
	}
	return m
}

// Add adds a credit. The same query for the same tool is stored once, with its last time.
func (m *Memory) Add(c Credit) {
	if len(c.Terms) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id, ok := m.tools[c.Tool]
	if !ok {
		id = int32(len(m.byTool))
		m.tools[c.Tool] = id
		m.byTool = append(m.byTool, remembered{id: c.Tool})
	}
	list := m.byTool[id].credits
	if at := slices.IndexFunc(list, func(o Credit) bool { return slices.Equal(o.Terms, c.Terms) }); at >= 0 {
		if c.At.Before(list[at].At) {
			return
		}
		list = m.forget(id, list, at)
	}
	at := len(list)
	for at > 0 && list[at-1].At.After(c.At) {
		at--
	}
	list = slices.Insert(list, at, c)
	weight := grown(c.At)
	m.total += weight
	m.count++
	for _, t := range c.Terms {
		m.terms[t] = append(m.terms[t], trace{id, weight})
	}
	if len(list) > maxCredits {
		list = m.forget(id, list, 0)
	}
	m.byTool[id].credits = list
	m.byTool[id].weight = 0
	for _, c := range list {
		m.byTool[id].weight += grown(c.At)
	}
}

// forget removes one credit of a tool and returns the others.
func (m *Memory) forget(tool int32, list []Credit, at int) []Credit {
	gone := trace{tool, grown(list[at].At)}
	m.total -= gone.weight
	m.count--
	for _, t := range list[at].Terms {
		traces := m.terms[t]
		i := slices.Index(traces, gone)
		m.terms[t] = slices.Delete(traces, i, i+1)
		if len(m.terms[t]) == 0 {
			delete(m.terms, t)
		}
	}
	return slices.Delete(list, at, at+1)
}

// Credits returns the credits of a tool, oldest first.
func (m *Memory) Credits(tool string) []Credit {
	m.mu.RLock()
	defer m.mu.RUnlock()
	id, ok := m.tools[tool]
	if !ok {
		return nil
	}
	return slices.Clone(m.byTool[id].credits)
}

// grown is the weight of a credit given at that time, growing from a fixed day on. Divided by
// today's value it is the decayed weight, so that stored weights never change.
func grown(at time.Time) float64 {
	days := at.Sub(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	return math.Exp2(min(max(float64(days)/float64(halfLife), -200), 200))
}

// How much memory counts. A term counts by the number of its credits and the share of them
// that went to the tool; a tool's memory by the number of its credits.
const (
	perMemory  = 20  // before saturation
	mostMemory = 4   // upper bound
	halfTerm   = 1.2 // credits with which a term counts half
	halfTool   = 5   // credits with which a tool's memory counts half
)

// addMemory adds what the terms led to before, as far as the match by words left room for
// doubt. It returns what it added, by tool.
func (s *scores) addMemory(q *Query, terms []counted, room float32) []float32 {
	if q.Memory == nil || room <= 0 {
		return nil
	}
	added := make([]float32, len(s.total))
	for _, r := range q.Memory.recall(terms, q.Now) {
		i, ok := s.x.ids[r.tool]
		if !ok || !s.allow[i] {
			continue
		}
		u := float32(r.strength) * room
		added[i] = mostMemory * u / (mostMemory + u)
		s.total[i] += added[i]
	}
	return added
}

// usedTogether returns how often other tools were called with this one for the same query.
func (m *Memory) usedTogether(tool string) map[string]float32 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	count := map[string]float32{}
	for _, t := range m.terms[helperTerm+tool] {
		count[m.byTool[t.tool].id]++
	}
	if id, ok := m.tools[tool]; ok {
		for _, c := range m.byTool[id].credits {
			for _, term := range c.Terms {
				if helper, ok := strings.CutPrefix(term, helperTerm); ok {
					count[helper]++
				}
			}
		}
	}
	return count
}

// addHelpers lifts the tools that were called together with the best ones, to a place below them: a
// job may need a tool that it does not name, such as the clock for "next Wednesday".
func (s *scores) addHelpers(q *Query) {
	if q.Memory == nil {
		return
	}
	reached := map[int32]float32{}
	for _, r := range s.best(withHelpers) {
		if r.Score < Sure {
			continue
		}
		for tool, n := range q.Memory.usedTogether(s.x.id[r.Index]) {
			if i, ok := s.x.ids[tool]; ok && s.allow[i] {
				reached[i] = max(reached[i], perHelper*r.Score*(n-1)/n) // once may be chance
			}
		}
	}
	for i, v := range reached {
		s.total[i] = max(s.total[i], v)
	}
}

// recalled is a tool and how strongly the terms are associated with it.
type recalled struct {
	tool     string
	strength float64
}

// recall returns the tools that the terms led to.
func (m *Memory) recall(terms []counted, now time.Time) []recalled {
	m.mu.RLock()
	defer m.mu.RUnlock()
	today := 1 / grown(now)
	all := min(max(m.total*today, 1), float64(m.count)) // clocks may be ahead
	sums := make([]float64, len(m.byTool))
	one := make([]float64, len(m.byTool))
	var most float64
	for _, t := range terms {
		traces := m.terms[t.term]
		if len(traces) == 0 {
			continue
		}
		var some float64
		for _, tr := range traces {
			w := min(tr.weight*today, 1)
			one[tr.tool] += w
			some += w
		}
		idf := float64(idf(all, min(some, all)))
		most += idf
		for _, tr := range traces {
			if n := one[tr.tool]; n > 0 {
				sums[tr.tool] += idf * n / (n + halfTerm) * math.Sqrt(n/some)
				one[tr.tool] = 0
			}
		}
	}
	var list []recalled
	for i, sum := range sums {
		if sum > 0 {
			n := min(m.byTool[i].weight*today, float64(len(m.byTool[i].credits)))
			list = append(list, recalled{m.byTool[i].id, perMemory * sum / most * n / (n + halfTool)})
		}
	}
	return list
}
