package main

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
)

// plotFile is the plot's name, beside the report.
const plotFile = "performance.svg"

// Sizes of the plot in pixels.
const (
	plotLabels = 150 // the names on the left
	plotUnit   = 240 // a ratio of 1
	plotBar    = 9
	plotGap    = 8
	plotTop    = 44
	plotMost   = 2.5 // longer bars are cut off, and say so by their number
)

// series are the bars of each kind, and their colours: blue and orange, which
// those see apart who do not see red and green apart.
var series = []struct{ name, colour string }{{"sign", "#0072b2"}, {"sign+verify", "#56b4e9"}, {"handle", "#e69f00"}}

// plot draws the ratios as bars, with a line where the curve operation is.
func plot(w io.Writer, r *results) {
	names, ratios := plotted(r)
	row := len(series)*plotBar + plotGap
	width, height := plotLabels+int(plotMost*plotUnit)+60, plotTop+len(names)*row+20
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", width, height, width, height)
	fmt.Fprintf(w, "<title>The whole path, in units of the bare curve operation</title>\n")
	fmt.Fprintf(w, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for i, s := range series {
		x := plotLabels + i*130
		fmt.Fprintf(w, `<rect x="%d" y="10" width="12" height="12" fill="%s"/><text x="%d" y="20">%s</text>`+"\n", x, s.colour, x+17, s.name)
	}
	for i, name := range names {
		y := plotTop + i*row
		fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", plotLabels-8, y+row/2, html.EscapeString(name))
		for j, s := range series {
			if ratio, measured := ratios[name][s.name]; measured {
				bar(w, y+j*plotBar, ratio, s.colour)
			}
		}
	}
	for _, mark := range []float64{1, 1.5, 2} {
		x := plotLabels + int(mark*plotUnit)
		fmt.Fprintf(w, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="black" stroke-width="%.1f" stroke-dasharray="%s"/>`+"\n",
			x, plotTop-6, x, height-16, 2-mark*0.7, map[bool]string{true: "none", false: "2 4"}[mark == 1])
		fmt.Fprintf(w, `<text x="%d" y="%d" text-anchor="middle">%g</text>`+"\n", x, height-4, mark)
	}
	fmt.Fprintln(w, "</svg>")
}

func bar(w io.Writer, y int, ratio float64, colour string) {
	width := min(ratio, plotMost) * plotUnit
	fmt.Fprintf(w, `<rect x="%d" y="%d" width="%.0f" height="%d" fill="%s"/>`, plotLabels, y, width, plotBar-1, colour)
	fmt.Fprintf(w, `<text x="%.0f" y="%d" font-size="8">%.2f</text>`+"\n", plotLabels+width+3, y+plotBar-2, ratio)
}

// plotted returns the ratios by kind and series, and the kinds in order.
func plotted(r *results) (names []string, ratios map[string]map[string]float64) {
	ratios = map[string]map[string]float64{}
	for _, b := range r.named(regexp.MustCompile(`^Ratio$`)) {
		last := len(b.path) - 1
		name := strings.Join(b.path[1:last], " ")
		if ratios[name] == nil {
			ratios[name] = map[string]float64{}
			names = append(names, name)
		}
		if value, measured := b.of("ratio"); measured {
			ratios[name][b.path[last]] = value
		}
	}
	return names, ratios
}
