package toll

import "testing"

func TestCondition(t *testing.T) {
	if handedOn(-1) == nil || condition(1) != nil {
		t.Error("condition")
	}
}

func TestIgnored(t *testing.T) { condition(30) }

// TestLeftOut is left out always: TestToll wants the tool to say so.
func TestLeftOut(t *testing.T) { t.Skip("left out: nobody pays") }

func TestCases(t *testing.T) {
	if _, err := cases(101); err == nil {
		t.Error("cases")
	}
}

func TestUnconditional(t *testing.T) {
	if unconditional(2) == nil || unconditional(1) != nil {
		t.Error("unconditional")
	}
}

func TestPredicate(t *testing.T) {
	if predicate(-1) {
		t.Error("predicate")
	}
}

func TestKept(t *testing.T) {
	for _, n := range []int{-1, 1} {
		g := &gate{}
		if g.kept(n); g.err == nil {
			t.Error("kept", n)
		}
	}
}

func TestHazards(t *testing.T) {
	if hazards(-1) == nil || hazard(-1) == "" {
		t.Error("hazards")
	}
}

func TestLiteral(t *testing.T) {
	if literal()(-1) == nil {
		t.Error("literal")
	}
}
