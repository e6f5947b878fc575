// Package qrcode draws QR codes into terminals and image files.
package qrcode

import (
	"fmt"
	"image"
	"image/color"
	"strings"

	"rsc.io/qr"
	"rsc.io/qr/coding"
)

// quiet is the width in modules of the light border around a drawn code. The standard
// requires 4, but 2 are enough for readers, and leave more room for the code.
const quiet = 2

// Code is a QR code with the lowest error correction level, L: codes that a camera misses
// are shown again.
type Code struct{ code *qr.Code }

// New returns the smallest code for a text. Upper-case letters, digits and $%*+-./: take
// the least room.
func New(text string) (*Code, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil, fmt.Errorf("QR code: %w", err)
	}
	return &Code{code}, nil
}

// dark reports whether a module is dark. Modules of the border and beyond are light.
func (c *Code) dark(x, y int) bool { return c.code.Black(x-quiet, y-quiet) }

// widthOf returns the width in modules of a QR code version, from 1 to 40.
func widthOf(version int) int { return 17 + 4*version }

// Capacity returns the number of upper-case characters in the largest code that fits into
// a window of columns and rows, and the code's width in modules. Both are 0 if none fits.
func Capacity(columns, rows int) (characters, modules int) {
	for version := 1; version <= 40; version++ {
		width := widthOf(version) + 2*quiet
		if width > columns || (width+1)/2 > rows {
			break
		}
		characters, modules = alphanumeric(coding.Version(version)), widthOf(version)
	}
	return characters, modules
}

// alphanumeric returns the number of characters in alphanumeric mode that a version holds at level
// L. After 4 bits of mode and the length, two characters take 11 bits, and a last one takes 6.
func alphanumeric(version coding.Version) int {
	length := 9
	switch {
	case version >= 27:
		length = 13
	case version >= 10:
		length = 11
	}
	bits := 8*version.DataBytes(coding.L) - 4 - length
	characters := bits / 11 * 2
	if bits%11 >= 6 {
		characters++
	}
	return characters
}

// light begins each line of a drawing: white on black regardless of the terminal's
// colors, so that a code is never inverted.
const (
	light = "\x1b[38;5;231;48;5;16m"
	reset = "\x1b[0m"
)

// Lines draws the code in half blocks: a character shows two modules, one above the other.
func (c *Code) Lines() []string {
	blocks := [4]string{"█", "▀", "▄", " "} // index: 1 if the lower module is dark, plus 2 if the upper one is
	width := c.code.Size + 2*quiet
	var lines []string
	for y := 0; y < width; y += 2 {
		var line strings.Builder
		line.WriteString(light)
		for x := range width {
			shape := 0
			if c.dark(x, y+1) {
				shape++
			}
			if c.dark(x, y) {
				shape += 2
			}
			line.WriteString(blocks[shape])
		}
		lines = append(lines, line.String()+reset)
	}
	return lines
}

// Image draws the code with scale pixels per module, and the border that the standard requires.
func (c *Code) Image(scale int) image.Image {
	const border = 4
	width := (c.code.Size + 2*border) * scale
	picture := image.NewGray(image.Rect(0, 0, width, width))
	for y := range width {
		for x := range width {
			shade := color.Gray{Y: 0xff}
			if c.code.Black(x/scale-border, y/scale-border) {
				shade.Y = 0
			}
			picture.SetGray(x, y, shade)
		}
	}
	return picture
}
