//go:build !unix

package keystore

func lockedPages(size int) []byte { return make([]byte, size) }
