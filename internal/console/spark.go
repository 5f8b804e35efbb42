package console

import (
	"fmt"
	"strings"
)

// spark is a small chart of the last hour: one value for each minute, as a line and the area
// below it. Its label says in words what it shows.
type spark struct {
	Label string
	Line  string // points of the line
	Area  string // the same, closed at the bottom
}

const (
	sparkWidth  = 240
	sparkHeight = 40
)

// newSpark draws the values from 0 up. All zero is a line at the bottom.
func newSpark(label string, values []float64) spark {
	highest := 0.0
	for _, v := range values {
		highest = max(highest, v)
	}
	if highest == 0 {
		highest = 1
	}
	step := float64(sparkWidth) / float64(max(len(values)-1, 1))
	points := make([]string, len(values))
	for i, v := range values {
		points[i] = fmt.Sprintf("%.1f,%.1f", float64(i)*step, sparkHeight-1-max(v, 0)/highest*(sparkHeight-3))
	}
	line := strings.Join(points, " ")
	return spark{label, line, fmt.Sprintf("0,%d %s %d,%d", sparkHeight, line, sparkWidth, sparkHeight)}
}
