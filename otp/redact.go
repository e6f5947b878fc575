package otp

import (
	"fmt"
	"io"
	"log/slog"
)

// Format writes only the one-time password's id, for every verb, so that printing or
// logging a message does not reveal its code.
func (m Message) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, m.redacted()) }

// LogValue returns what Format writes.
func (m Message) LogValue() slog.Value { return slog.StringValue(m.redacted()) }

func (m Message) redacted() string { return "message of one-time password " + m.OTPID + " [redacted]" }

// Format writes only the one-time password's id, for every verb.
func (i *Issue) Format(state fmt.State, verb rune) { i.message.Format(state, verb) }

// LogValue returns what Format writes.
func (i *Issue) LogValue() slog.Value { return i.message.LogValue() }
