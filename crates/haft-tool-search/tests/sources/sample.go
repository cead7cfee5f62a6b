// Package shapes has shapes.
package shapes

import (
	"fmt"
)

const MostCorners = 64

const (
	Open Kind = iota
	Closed
)

var (
	registry = map[string]*Shape{}
	first, second int
)

// Kind tells shapes apart.
type Kind int

type Shape struct {
	Corners []Point
	name, title string
	Base
}

type (
	Area interface {
		Area() float64
		fmt.Stringer
	}
	Points = []Point
)

func New[T any](corners []T, name string) (*Shape, error) {
	type local struct{ x int }
	part := func(a, b Point) float64 { return a.X * b.Y }
	return &Shape{name: name}, nil
}

func (s *Shape) Area() float64 {
	return measure(s.Corners)
}

func measure(corners []Point) float64 { return 0 }
