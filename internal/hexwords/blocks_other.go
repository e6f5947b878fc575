//go:build !amd64 || purego

package hexwords

const blocks = false

func decodeBlocks([]byte, string) bool { panic("hexwords: no blocks here") }
func encodeBlocks(_, _ []byte)         { panic("hexwords: no blocks here") }
