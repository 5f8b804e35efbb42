// Package static turns texts into vectors: texts with a similar meaning, in English or Chinese,
// get similar vectors. A vector is the normalized sum of the vectors of the text's tokens.
// lab/meaning says how the model was trained.
package static

import (
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"math"
	"sort"
	"strings"
	"sync"
)

// Dims is the number of elements of a vector.
const Dims = 64

// Vector is the meaning of a text: its length is 1, or 0 if no token is known.
type Vector [Dims]float32

// packed is the model: the magic number, four numbers of 32 bits (dimensions, rows, and the
// length of the vocabulary packed and unpacked), the vocabulary, a scale for each row, the rows.
//
//go:embed model.bin
var packed string

// model is the unpacked model. Programs that never search do not need it.
type model struct {
	vocabulary string  // one token per line, sorted
	ends       []int32 // of the lines
	scales     string
	rows       string
}

const header = 8 + 4*4

var unpacked = sync.OnceValue(func() *model {
	number := func(i int) int { return int(binary.LittleEndian.Uint32([]byte(packed[8+4*i : 12+4*i]))) }
	rows := number(1)
	size := number(2)
	text, err := io.ReadAll(flate.NewReader(strings.NewReader(packed[header : header+size])))
	if err != nil || packed[:8] != "TFMEAN01" || number(0) != Dims || len(text) != number(3) {
		panic("the model is damaged") // it is part of the program
	}
	m := &model{vocabulary: string(text), ends: make([]int32, 0, rows)}
	m.scales = packed[header+size:][:4*rows]
	m.rows = packed[header+size+4*rows:]
	for i, b := range text {
		if b == '\n' {
			m.ends = append(m.ends, int32(i))
		}
	}
	m.ends = append(m.ends, int32(len(text)))
	return m
})

// find returns the row of a token.
func (m *model) find(token string) (int, bool) {
	return sort.Find(len(m.ends), func(i int) int { return strings.Compare(token, m.token(i)) })
}

func (m *model) token(i int) string {
	start := int32(0)
	if i > 0 {
		start = m.ends[i-1] + 1
	}
	return m.vocabulary[start:m.ends[i]]
}

// Of returns the vector of a text.
func Of(text string) Vector {
	m := unpacked()
	var v Vector
	tokens(text, func(token string) {
		row, ok := m.find(token)
		if !ok {
			return
		}
		scale := math.Float32frombits(binary.LittleEndian.Uint32([]byte(m.scales[4*row : 4*row+4])))
		for i, b := range []byte(m.rows[Dims*row : Dims*row+Dims]) {
			v[i] += scale * float32(int8(b))
		}
	})
	v.normalize()
	return v
}

// Add adds another vector, times weight.
func (v *Vector) Add(other *Vector, weight float32) {
	for i, x := range other {
		v[i] += weight * x
	}
}

// Unit returns the vector with the length 1.
func (v Vector) Unit() Vector {
	v.normalize()
	return v
}

func (v *Vector) normalize() {
	sum := v.Dot(v)
	if sum == 0 {
		return
	}
	by := float32(1 / math.Sqrt(float64(sum)))
	for i := range v {
		v[i] *= by
	}
}

// Dot returns the dot product, which is the similarity of two vectors.
func (v *Vector) Dot(other *Vector) float32 {
	var a, b, c, d float32 // four sums, which the processor adds at the same time
	for i := 0; i < Dims; i += 8 {
		x := (*[8]float32)(v[i : i+8])
		y := (*[8]float32)(other[i : i+8])
		a += x[0]*y[0] + x[4]*y[4]
		b += x[1]*y[1] + x[5]*y[5]
		c += x[2]*y[2] + x[6]*y[6]
		d += x[3]*y[3] + x[7]*y[7]
	}
	return a + b + c + d
}
