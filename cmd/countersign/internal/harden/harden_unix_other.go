//go:build unix && !linux

package harden

func notDumpable() error { return nil }
