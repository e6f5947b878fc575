package main

import (
	"fmt"
	"slices"
	"strings"
)

// origin is where the rows of a table come from: the sections by what they have in common, and the
// fewest and the most samples of a figure.
type origin struct {
	places       []facts // without loads
	loads        [][]string
	fewest, most int
}

func (o *origin) add(at row, samples int) {
	if o.most == 0 {
		o.fewest = samples
	}
	o.fewest, o.most = min(o.fewest, samples), max(o.most, samples)
	for _, section := range at.sections {
		place := slices.Index(o.places, section.without())
		if place < 0 {
			place = len(o.places)
			o.places, o.loads = append(o.places, section.without()), append(o.loads, nil)
		}
		load := strings.Fields(section.load + " unknown")[0]
		if !slices.Contains(o.loads[place], load) {
			o.loads[place] = append(o.loads[place], load)
		}
	}
}

// usualSamples is how many samples a figure has unless the page says otherwise.
const usualSamples = 6

// text returns the sentence above the table.
func (o *origin) text() string {
	samples := fmt.Sprintf("Medians of %d: ", o.fewest)
	switch {
	case o.most > o.fewest:
		samples = fmt.Sprintf("Medians of %d to %d: ", o.fewest, o.most)
	case o.most == usualSamples:
		samples = ""
	}
	return wrap(samples + o.from() + ".")
}

// from names the files, which say the rest, with machine and loads of each section.
func (o *origin) from() string {
	var places []string
	machine := ""
	for i, f := range o.places {
		place := "load " + strings.Join(o.loads[i], ", ")
		if f.machine() != machine {
			machine = f.machine()
			place = machine + ", " + place
		}
		places = append(places, place)
	}
	return strings.Join(places, "; ")
}

// wrap breaks a paragraph into lines of the page's width.
func wrap(text string) string {
	var lines []string
	current := ""
	for _, word := range strings.Fields(text) {
		if current != "" && len([]rune(current))+len([]rune(word)) >= 98 {
			lines, current = append(lines, current), ""
		}
		current = strings.TrimSpace(current + " " + word)
	}
	return strings.Join(append(lines, current), "\n")
}
