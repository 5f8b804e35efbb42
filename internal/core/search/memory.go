package search

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Credit says that a query led to a tool. It holds the query's terms, not its text.
type Credit struct {
	Tool  string    `json:"tool"` // its ID
	Terms []string  `json:"terms"`
	At    time.Time `json:"at"`
}

// NewCredit credits a tool with a query.
func NewCredit(tool, query string, at time.Time) Credit {
	var terms []string
	for _, t := range count(clip(query, maxText)) {
		terms = append(terms, t.term)
	}
	terms = terms[:min(len(terms), maxTerms)]
	slices.Sort(terms)
	return Credit{Tool: tool, Terms: terms, At: at}
}

const (
	maxCredits = 30 // of one tool; the oldest goes
	maxTerms   = 64 // of one credit
)

// halfLife is after what time a credit counts half.
const halfLife = 90 * 24 * time.Hour

// Memory is what one owner's queries led to. Several goroutines may use it. Whoever holds
// memories of several owners keeps them apart.
type Memory struct {
	mu    sync.RWMutex
	tools map[string]int32
	kept  []remembered
	terms map[string][]trace
	total float64 // of the weights of all credits
	count int     // of all credits
}

// remembered is a tool and its credits, the oldest first.
type remembered struct {
	id      string
	credits []Credit
	weight  float64 // of all of them
}

// trace is one credit, as seen from a term.
type trace struct {
	tool   int32
	weight float64
}

// NewMemory makes a memory of the credits.
func NewMemory(credits []Credit) *Memory {
	m := &Memory{tools: map[string]int32{}, terms: map[string][]trace{}}
	for _, c := range credits {
		m.Add(c)
	}
	return m
}

// Add keeps a credit. The same query for the same tool counts once, the last time.
func (m *Memory) Add(c Credit) {
	if len(c.Terms) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id, ok := m.tools[c.Tool]
	if !ok {
		id = int32(len(m.kept))
		m.tools[c.Tool] = id
		m.kept = append(m.kept, remembered{id: c.Tool})
	}
	list := m.kept[id].credits
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
	m.kept[id].credits = list
	m.kept[id].weight = 0
	for _, c := range list {
		m.kept[id].weight += grown(c.At)
	}
}

// forget drops one credit of a tool and returns the others.
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

// Credits are those of a tool, the oldest first.
func (m *Memory) Credits(tool string) []Credit {
	m.mu.RLock()
	defer m.mu.RUnlock()
	id, ok := m.tools[tool]
	if !ok {
		return nil
	}
	return slices.Clone(m.kept[id].credits)
}

// grown is the weight of a credit of that time, as it grows from a fixed day on. Divided by
// that of today it is the weight that has decayed, so nothing needs to be aged.
func grown(at time.Time) float64 {
	days := at.Sub(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	return math.Exp2(min(max(float64(days)/float64(halfLife), -200), 200))
}

// How far memory counts. What a term led to in all credits counts by how many there are and
// by how large a share of them went to this tool; a tool's memory as a whole by its credits.
const (
	perMemory  = 20  // before it is bounded
	mostMemory = 4   // what it never reaches
	halfTerm   = 1.2 // credits with a term after which the term counts half
	halfTool   = 5   // credits after which a tool's memory counts half
)

// addMemory adds to each tool what the terms led to before, in so far as the words of the
// tools left room for doubt. It returns what it added, by tool.
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

// recalled is a tool and how strongly some terms remind of it.
type recalled struct {
	tool     string
	strength float64
}

// recall gives the tools that the terms led to.
func (m *Memory) recall(terms []counted, now time.Time) []recalled {
	m.mu.RLock()
	defer m.mu.RUnlock()
	today := 1 / grown(now)
	all := min(max(m.total*today, 1), float64(m.count)) // a clock may run ahead
	sums := make([]float64, len(m.kept))
	one := make([]float64, len(m.kept))
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
		idf := float64(tells(all, min(some, all)))
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
			n := min(m.kept[i].weight*today, float64(len(m.kept[i].credits)))
			list = append(list, recalled{m.kept[i].id, perMemory * sum / most * n / (n + halfTool)})
		}
	}
	return list
}
