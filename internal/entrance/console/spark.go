package console

import (
	"fmt"
	"strings"
)

// spark is a small chart of the last hour: one value for each minute, as a line and the area
// below it. The last minute still runs: it is drawn apart, or every minute would begin as if
// all calls had ended. Its label says in words what it shows.
type spark struct {
	Label   string
	Line    string // points of the line
	Area    string // the same, closed at the bottom
	Running string // from the last point to that of the minute that runs
}

const (
	sparkWidth  = 240
	sparkHeight = 40
)

// newSpark draws the values from 0 up, the last of which is not whole yet. All zero is a line
// at the bottom.
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
	whole := max(len(points)-1, 0)
	line := strings.Join(points[:whole], " ")
	end := float64(max(whole-1, 0)) * step
	return spark{label, line, fmt.Sprintf("0,%d %s %.1f,%d", sparkHeight, line, end, sparkHeight), strings.Join(points[max(whole-1, 0):], " ")}
}
