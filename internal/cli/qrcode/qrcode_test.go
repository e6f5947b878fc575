package qrcode

import (
	"strings"
	"testing"
)

// TestCapacity: a text of the promised length fits into a code of the promised size, and
// one more character does not.
func TestCapacity(t *testing.T) {
	for _, window := range []struct{ columns, rows, characters, modules int }{
		{80, 23, 195, 41}, {100, 49, 1153, 93}, {133, 66, 2132, 125}, {24, 12, 0, 0}, {25, 13, 25, 21}, {1000, 1000, 4296, 177},
	} {
		characters, modules := Capacity(window.columns, window.rows)
		if characters != window.characters || modules != window.modules {
			t.Errorf("%d×%d: %d characters in %d modules", window.columns, window.rows, characters, modules)
		}
		if characters == 0 {
			continue
		}
		full, err := New(strings.Repeat("A", characters))
		if err != nil || full.code.Size != modules {
			t.Errorf("%d characters need more than %d modules: %v", characters, modules, err)
		}
		lines := full.Lines()
		if len(lines) > window.rows || strings.Count(lines[0], "█")+strings.Count(lines[0], "▀") > window.columns {
			t.Errorf("%d×%d: the drawing is larger", window.columns, window.rows)
		}
		if more, err := New(strings.Repeat("A", characters+1)); err == nil && more.code.Size == modules {
			t.Errorf("%d modules hold more than %d characters", modules, characters)
		}
	}
}
