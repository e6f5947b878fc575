package plaintext

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first used: a process that
// needs none of a package's does not pay for them at its start. It is safe for concurrent
// use.
type Pattern struct{ compiled func() *regexp.Regexp }

// NewPattern returns the pattern of an expression. A wrong one panics at its first use.
func NewPattern(expression string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// Regexp returns the expression, compiled.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compiled() }

// MatchString reports whether a text contains a match.
func (p *Pattern) MatchString(text string) bool { return p.compiled().MatchString(text) }
