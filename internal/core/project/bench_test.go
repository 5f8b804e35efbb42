package project_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/toolfit/toolfit/internal/core/project"
)

// BenchmarkBudget is what a budget costs: of results far below it, near it, and over it.
func BenchmarkBudget(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ issues, budget int }{{1, 6500}, {10, 25_000}, {25, 25_000}, {10, 2000}, {60, 25_000}, {400, 2000}} {
		raw := []byte(text(issues(r, c.issues)))
		b.Run(fmt.Sprintf("%dKB in %d", len(raw)>>10, c.budget), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				cut := project.Plan(context.Background(), raw, project.How{Budget: c.budget})
				cut.Apply("r_7x9qzw4k")
				cut.Release()
			}
		})
	}
}
