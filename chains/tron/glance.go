package tron

import (
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

var _ chains.Glancer = Chain{}

// firstTags are the tags of the fields of raw_data, and of the field of a Transaction that has
// it.
const firstTags = "\x0a\x12\x22\x40\x52\x5a\x70\x90"

// Glance implements chains.Glancer.
func (Chain) Glance(raw []byte) bool {
	return len(raw) > 0 && strings.IndexByte(firstTags, raw[0]) >= 0
}
