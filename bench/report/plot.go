package main

import (
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// ratioPlot is the plot of the ratios, beside the report.
const ratioPlot = "performance.svg"

// Sizes of the plot in pixels.
const (
	plotLabels = 160.0 // the names on the left
	plotWidth  = 560.0
	plotBar    = 10.0
	plotGap    = 8.0  // between the types of a chain
	plotChain  = 14.0 // and more between chains
	plotTop    = 84.0
	plotBottom = 44.0
)

// plotLine is the ratio that is asked of most.
const plotLine = 1.10

// ratioStyle keeps a number readable where it stands on a line.
const ratioStyle = `font-size="9" class="ratio" stroke="` + paper + `" stroke-width="2.5" paint-order="stroke"`

// plotMost is how far the axis goes at the most: longer bars are cut off, and
// say so by their number.
const plotMost = 2.5

// barWidth is how long the bar of a ratio is.
func barWidth(ratio, scale float64) float64 { return min(ratio, plotMost) * scale }

// series are the bars of each kind.
var series = []struct{ name, what, colour string }{
	{"sign", "sign: beside the library's signature", blue},
	{"sign+verify", "sign+verify: beside both", sky},
	{"handle", "handle: beside the keystore's own signature", orange},
}

// plot draws the ratios as bars, chain by chain, with lines where the curve
// operation is and where the project promises to stay.
func plot(w io.Writer, r *results) {
	kinds, most := plotted(r)
	scale := plotWidth / most
	bottom := plotTop
	for i, k := range kinds {
		bottom += k.gapAfter(kinds[:i]) + k.height()
	}
	s := newSVG(w, int(plotLabels+plotWidth+50), int(bottom+plotBottom), "The whole path of a transaction, in units of the bare curve operation")
	defer s.end()
	s.text(16, 24, "start", "The whole path of a transaction, in units of the bare curve operation", `font-size="15" font-weight="bold"`)
	legend(s)
	for mark := 0.0; mark <= most; mark += 0.25 {
		x := plotLabels + mark*scale
		s.line(x, plotTop-4, x, bottom+4, pale, "")
		s.text(x, bottom+20, "middle", strconv.FormatFloat(mark, 'g', -1, 64), "")
	}
	s.text(plotLabels+plotWidth/2, bottom+38, "middle", "times the bare operation (less is better)", "")
	y := plotTop
	for i, k := range kinds {
		y += k.gapAfter(kinds[:i])
		k.y = y
		k.bars(s, scale)
		y += k.height()
	}
	s.line(plotLabels+scale, plotTop-4, plotLabels+scale, bottom+4, ink, `stroke-width="1.5"`)
	x := plotLabels + plotLine*scale
	s.line(x, plotTop-10, x, bottom+4, vermillion, `stroke-width="1.5" stroke-dasharray="5 3"`)
	s.text(x+4, plotTop-4, "start", strconv.FormatFloat(plotLine, 'f', 2, 64), `fill="`+vermillion+`" font-weight="bold"`)
	for _, k := range kinds {
		k.numbers(s, scale)
	}
}

func legend(s svg) {
	x := 16.0
	for _, one := range series {
		s.rect(x, 40, 12, 12, one.colour)
		s.text(x+17, 50, "start", one.what, "")
		x += 34 + 6.1*float64(len(one.what))
	}
}

// kind is the bars of one type of transaction, 0 where there is none.
type kind struct {
	chain, name string
	ratios      [3]float64 // as series
	y           float64    // of its first bar
}

func (k *kind) height() float64 { return float64(len(series)) * plotBar }

// gapAfter is the room above, below those that came before.
func (k *kind) gapAfter(before []*kind) float64 {
	switch {
	case len(before) == 0:
		return 0
	case before[len(before)-1].chain != k.chain:
		return plotGap + plotChain
	}
	return plotGap
}

func (k *kind) bars(s svg, scale float64) {
	s.text(plotLabels-8, k.y+k.height()/2+4, "end", k.chain+" "+k.name, "")
	for i, ratio := range k.ratios {
		s.rect(plotLabels, k.y+float64(i)*plotBar, barWidth(ratio, scale), plotBar-1, series[i].colour)
	}
}

// numbers stand behind the bars, over all lines.
func (k *kind) numbers(s svg, scale float64) {
	for i, ratio := range k.ratios {
		if ratio != 0 {
			s.text(plotLabels+barWidth(ratio, scale)+3, k.y+float64(i+1)*plotBar-2, "start", strconv.FormatFloat(ratio, 'f', 2, 64), ratioStyle)
		}
	}
}

// plotted returns the ratios by kind, in the order of the run, and how far the
// axis goes.
func plotted(r *results) (kinds []*kind, most float64) {
	most = 1.25
	known := map[string]*kind{}
	for _, b := range r.named(regexp.MustCompile(`^Ratio$`)) {
		name, last := b.split()
		k := known[name]
		if k == nil {
			k = &kind{}
			k.chain, k.name, _ = strings.Cut(name, " ")
			known[name] = k
			kinds = append(kinds, k)
		}
		for i := range series {
			if value, measured := b.of("ratio"); measured && series[i].name == last {
				k.ratios[i] = value
				most = max(most, min(plotMost, math.Ceil(value*4)/4))
			}
		}
	}
	return kinds, most
}
