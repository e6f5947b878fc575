// Package toll refuses in every way that there is, and its tests miss some.
package toll

import "errors"

// Hazard is what the command knows hazards by.
type Hazard string

var errRefused = errors.New("refused")

type gate struct{ err error }

func (g *gate) fail(err error) { g.err = err }

func condition(n int) error {
	if n < 0 {
		return errRefused
	}
	if half := n / 2; half > 10 {
		return errRefused // the test ignores it
	}
	return nil
}

func cases(n int) (int, error) {
	switch {
	case n < 0, n > 100:
		return 0, errRefused
	case n == 50: // no test comes here
		return 0, errRefused
	}
	return n, nil
}

func unconditional(n int) error {
	switch n {
	case 1:
		return nil
	default:
		return errRefused
	}
}

func predicate(n int) bool {
	if n < 0 {
		return false
	}
	return true
}

func (g *gate) kept(n int) {
	if n < 0 {
		g.err = errRefused
	}
	if n > 0 {
		g.fail(errRefused)
	}
}

func hazards(n int) (found []Hazard) {
	if n < 0 {
		found = append(found, "toll/negative")
	}
	return found
}

func hazard(n int) Hazard {
	if n < 0 {
		return "toll/negative"
	}
	return ""
}

// handedOn decides nothing: it has no refusal of its own.
func handedOn(n int) error { return condition(n) }

func literal() func(int) error {
	return func(n int) error {
		if n < 0 {
			return errRefused
		}
		return nil
	}
}
