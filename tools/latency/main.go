// Command latency draws the latency of requests that come at a fixed rate, by store, from a
// recorded run of BenchmarkHTTPOpen.
//
//	go run ./latency ../bench/results/DATE.txt > ../docs/images/latency.svg
package main

import (
	"bufio"
	"fmt"
	"image/color"
	"io"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// run is one store under one load.
type run struct {
	store   string
	percent int // of what the server answers at most
	rate    float64
	ms      [len(quantiles)]float64
}

// quantiles are the units of the benchmark, and what they are called.
var quantiles = [...]struct {
	unit, name string
	color      color.RGBA
	shape      draw.GlyphDrawer
}{
	{"p50-ms", "half of them", color.RGBA{0x2b, 0x6c, 0xb0, 0xff}, draw.CircleGlyph{}},
	{"p99-ms", "99 %", color.RGBA{0xc0, 0x56, 0x21, 0xff}, draw.BoxGlyph{}},
	{"p999-ms", "99.9 %", color.RGBA{0x9b, 0x2c, 0x2c, 0xff}, draw.PyramidGlyph{}},
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: latency RESULTS")
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	runs, err := read(file, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	if err := picture(out, runs); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

// read returns the runs in a file of results, in their order.
func read(file io.Reader, name string) (runs []run, err error) {
	reader := benchfmt.NewReader(file, name)
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok || string(result.Name.Base()) != "HTTPOpen" {
			continue
		}
		_, parts := result.Name.Parts()
		if len(parts) < 2 {
			return nil, fmt.Errorf("%s: expected HTTPOpen/STORE/load=PERCENT", result.Name)
		}
		at := run{store: strings.TrimPrefix(string(parts[0]), "/")}
		if at.percent, err = strconv.Atoi(strings.TrimPrefix(string(parts[1]), "/load=")); err != nil {
			return nil, fmt.Errorf("%s: %w", result.Name, err)
		}
		at.rate, _ = result.Value("req/s")
		for i, quantile := range quantiles {
			if at.ms[i], ok = result.Value(quantile.unit); !ok {
				return nil, fmt.Errorf("%s: no %s", result.Name, quantile.unit)
			}
		}
		runs = append(runs, at)
	}
	if len(runs) == 0 && reader.Err() == nil {
		return nil, fmt.Errorf("%s: no result of BenchmarkHTTPOpen", name)
	}
	return runs, reader.Err()
}

// picture draws the runs beside each other, over milliseconds on a logarithmic scale.
func picture(out io.Writer, runs []run) error {
	p := plot.New()
	p.Title.Text = "From when a request is due to its answer"
	p.Y.Label.Text = "milliseconds"
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Title.Padding, p.Legend.Padding = vg.Points(8), vg.Points(3)
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs = true, true, vg.Points(6)
	names := make([]string, len(runs))
	for i, at := range runs {
		names[i] = fmt.Sprintf("%s\nat %d %%\n%.0f/s", strings.Replace(at.store, "postgres", "PostgreSQL", 1), at.percent, at.rate)
	}
	p.Add(plotter.NewGrid())
	for i, quantile := range quantiles {
		points := make(plotter.XYs, len(runs))
		for j, at := range runs {
			points[j] = plotter.XY{X: float64(j), Y: at.ms[i]}
		}
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		scatter.GlyphStyle = draw.GlyphStyle{Color: quantile.color, Shape: quantile.shape, Radius: vg.Points(4)}
		p.Add(scatter)
		p.Legend.Add(quantile.name, scatter)
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(runs))-0.5
	lowest, highest := bounds(runs)
	p.Y.Min, p.Y.Max = lowest/2, highest*12 // with room for the legend
	canvas := vgsvg.New(18*vg.Centimeter, 10*vg.Centimeter)
	p.Draw(draw.New(canvas))
	_, err := canvas.WriteTo(out)
	return err
}

// bounds returns the lowest and the highest latency.
func bounds(runs []run) (lowest, highest float64) {
	var all []float64
	for _, at := range runs {
		all = append(all, at.ms[:]...)
	}
	return slices.Min(all), slices.Max(all)
}
