package main

import (
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// scalePlot is the plot of what grows, beside the report.
const scalePlot = "performance-scale.svg"

// Sizes of the panels in pixels.
const (
	panelWidth  = 300.0
	panelHeight = 190.0
	panelLeft   = 62.0
	panelTop    = 78.0
	panelBottom = 46.0
)

// panel is one measure by one size, a line for each series.
type panel struct {
	title, size string
	what        *regexp.Regexp
	unit        string
	series      []panelSeries
}

// panelSeries is a line: the benchmarks whose name has the part.
type panelSeries struct{ name, part, colour string }

var panels = []panel{
	{"Look-up, ns", "keys", regexp.MustCompile(`^KeystoreMemoryFind$`), "ns/op",
		[]panelSeries{{"by id", "by=id", blue}, {"by address", "by=keccak", orange}}},
	{"Bitcoin, µs per input", "inputs", regexp.MustCompile(`^Inputs$`), "ns/input",
		[]panelSeries{{"P2WPKH", "P2WPKH", blue}, {"P2TR", "P2TR", orange}, {"P2PKH", "P2PKH", sky}}},
	{"HTTP, requests per second", "clients", regexp.MustCompile(`^HTTPClients$`), "req/s",
		[]panelSeries{{"engine", "", blue}}},
}

// drawScale draws the panels side by side, sizes on a logarithmic scale, measures
// from zero.
func drawScale(w io.Writer, r *results) {
	width := float64(len(panels)) * (panelLeft + panelWidth + 24)
	s := newSVG(w, int(width), int(panelTop+panelHeight+panelBottom), "Look-ups, Bitcoin inputs and clients by their number")
	defer s.end()
	for i, p := range panels {
		p.draw(s, float64(i)*(panelLeft+panelWidth+24)+panelLeft, r)
	}
}

// point is a measure at a size.
type point struct{ size, value float64 }

func (p *panel) draw(s svg, left float64, r *results) {
	lines := make([][]point, len(p.series))
	var all []point
	for i, one := range p.series {
		lines[i] = p.points(r, one)
		all = append(all, lines[i]...)
	}
	s.text(left, 24, "start", p.title, `font-size="14" font-weight="bold"`)
	a := newAxes(left, all)
	a.draw(s, p.size)
	for i, one := range p.series {
		if len(p.series) > 1 {
			s.rect(left+float64(i)*90, 40, 12, 12, one.colour)
			s.text(left+float64(i)*90+16, 50, "start", one.name, "")
		}
		for j, at := range lines[i] {
			if j > 0 {
				before := lines[i][j-1]
				s.line(a.x(before.size), a.y(before.value), a.x(at.size), a.y(at.value), one.colour, `stroke-width="2"`)
			}
			s.dot(a.x(at.size), a.y(at.value), one.colour)
		}
	}
}

// points are the measures of a series, by the number behind the size's name.
func (p *panel) points(r *results, of panelSeries) (points []point) {
	for _, b := range r.named(p.what) {
		value, measured := b.of(p.unit)
		if !measured || !strings.Contains(strings.Join(b.path, "/"), of.part) {
			continue
		}
		if strings.Contains(p.title, "µs") {
			value /= 1000 // the unit has nanoseconds
		}
		for _, part := range b.path {
			name, number, _ := strings.Cut(part, "=")
			if size, err := strconv.ParseFloat(number, 64); err == nil && name == p.size {
				points = append(points, point{size, value})
			}
		}
	}
	return points
}

// axes map sizes and values to pixels.
type axes struct {
	left  float64
	sizes []float64 // in order
	top   float64   // the largest value shown, a round one
}

func newAxes(left float64, points []point) axes {
	a := axes{left: left}
	seen, most := map[float64]bool{}, 0.0
	for _, p := range points {
		if !seen[p.size] {
			seen[p.size] = true
			a.sizes = append(a.sizes, p.size)
		}
		most = max(most, p.value)
	}
	a.top = roundUp(most)
	return a
}

// roundUp returns the next of 1, 2, 4, 5 and 8 times a power of ten: they have
// round quarters.
func roundUp(value float64) float64 {
	if value <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(value)))
	for _, digit := range []float64{1, 2, 4, 5, 8} {
		if value <= digit*power {
			return digit * power
		}
	}
	return 10 * power
}

func (a *axes) x(size float64) float64 {
	if len(a.sizes) < 2 {
		return a.left + panelWidth/2
	}
	from, to := math.Log(a.sizes[0]), math.Log(a.sizes[len(a.sizes)-1])
	return a.left + 10 + (math.Log(size)-from)/(to-from)*(panelWidth-20)
}

func (a *axes) y(value float64) float64 { return panelTop + panelHeight*(1-value/a.top) }

func (a *axes) draw(s svg, size string) {
	for quarter := range 5 {
		value := a.top * float64(quarter) / 4
		s.line(a.left, a.y(value), a.left+panelWidth, a.y(value), pale, "")
		s.text(a.left-8, a.y(value)+4, "end", short(value), "")
	}
	for _, number := range a.sizes {
		s.text(a.x(number), panelTop+panelHeight+18, "middle", short(number), "")
	}
	s.text(a.left+panelWidth/2, panelTop+panelHeight+36, "middle", size, "")
}

// short writes a number of an axis: 1k is a thousand, 1M a million.
func short(value float64) string {
	switch {
	case value >= 1e6:
		return short(value/1e6) + "M"
	case value >= 1e4:
		return short(value/1e3) + "k"
	}
	return strconv.FormatFloat(value, 'g', 4, 64)
}
