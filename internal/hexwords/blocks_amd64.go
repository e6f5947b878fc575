//go:build !purego

package hexwords

// blocks says that decodeBlocks and encodeBlocks are there.
const blocks = true

// decodeBlocks is Decode for at least a block of digits.
//
//go:noescape
func decodeBlocks(out []byte, digits string) bool

// encodeBlocks writes the digits of at least a block of bytes, in lower case.
//
//go:noescape
func encodeBlocks(out, raw []byte)
