package main

import (
	"fmt"
	"html"
	"io"
)

// Colours that those tell apart who do not see all of them (Okabe and Ito), on a
// background of their own, so that the page's may be dark.
const (
	blue       = "#0072b2"
	sky        = "#56b4e9"
	orange     = "#e69f00"
	vermillion = "#d55e00"
	ink        = "#24292f"
	pale       = "#d0d7de"
	paper      = "#ffffff"
)

// svg is a drawing, in pixels from the upper left.
type svg struct{ w io.Writer }

// newSVG begins a drawing; what it shows is said to those who cannot see it.
func newSVG(w io.Writer, width, height int, title string) svg {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `+
		`font-family="system-ui, Helvetica, Arial, sans-serif" font-size="12" fill="%s">`+"\n", width, height, width, height, ink)
	fmt.Fprintf(w, "<title>%s</title>\n", html.EscapeString(title))
	s := svg{w}
	s.rect(0, 0, float64(width), float64(height), paper)
	return s
}

func (s svg) end() { fmt.Fprintln(s.w, "</svg>") }

func (s svg) rect(x, y, width, height float64, colour string) {
	fmt.Fprintf(s.w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, width, height, colour)
}

func (s svg) line(x1, y1, x2, y2 float64, colour, style string) {
	fmt.Fprintf(s.w, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" %s/>`+"\n", x1, y1, x2, y2, colour, style)
}

func (s svg) dot(x, y float64, colour string) {
	fmt.Fprintf(s.w, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", x, y, colour)
}

// text writes at a point: anchor is start, middle or end, style more attributes.
func (s svg) text(x, y float64, anchor, text, style string) {
	fmt.Fprintf(s.w, `<text x="%.1f" y="%.1f" text-anchor="%s" %s>%s</text>`+"\n", x, y, anchor, style, html.EscapeString(text))
}
