package serve

import (
	"math"
	"os"
	"runtime/debug"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/config"
)

// TestLimitMemory checks that the limit is the budgets, what is live and a margin, and that
// GOMEMLIMIT takes precedence.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	if value, set := os.LookupEnv("GOMEMLIMIT"); set {
		_ = os.Unsetenv("GOMEMLIMIT")
		defer func() { _ = os.Setenv("GOMEMLIMIT", value) }()
	}
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(&config.Config{Limits: config.Limits{RequestBytes: 8 << 20, AnswerBytes: 16 << 20}})
	const budgets = 24 << 20
	if limit := debug.SetMemoryLimit(-1); limit < budgets+memoryMargin || limit > budgets+memoryMargin+256<<20 {
		t.Errorf("the limit is %d MiB", limit>>20)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(new(config.Config))
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		t.Errorf("GOMEMLIMIT is set, and the limit is %d", limit)
	}
}
