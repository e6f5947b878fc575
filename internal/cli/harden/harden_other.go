//go:build !unix

package harden

func noCoreDumps() error { return nil }
