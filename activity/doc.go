// Package activity is the wire: what a client asks for, what it is answered,
// and how it is told that it cannot have it.
//
// It is pure: no input or output, no clock.
package activity
